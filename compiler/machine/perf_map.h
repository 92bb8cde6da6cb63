/* perf_map.h: names of the jit's functions for `perf`, which reads them from /tmp/perf-PID.map. The
 * file is written only if the value of XFORMC_PERF_MAP is neither empty nor 0. */
#ifndef PERF_MAP_H
#define PERF_MAP_H

#include "arena.h"
#include "diag.h"
#include "tcc.h"

bool perf_map_wanted(void);

/* The C text with its static functions made external, because libtcc lists only external
 * symbols. */
const char *perf_map_text(Arena *a, const char *text);

/* Add the symbols of compiled code, without symbols[n], which are elsewhere in memory. If the file
 * cannot be written, or belongs to another user, a remark says so. */
void perf_map_add(Arena *a, Diag *d, CMemory *code, const CSymbol *symbols, int n);

#endif
