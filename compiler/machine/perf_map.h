/* perf_map.h: names of the jit's functions for `perf`, which reads them in /tmp/perf-PID.map. Only
 * with XFORMC_PERF_MAP=1 in the environment. */
#ifndef PERF_MAP_H
#define PERF_MAP_H

#include "arena.h"
#include "diag.h"
#include "tcc.h"

bool perf_map_wanted(void);

/* The C text with functions that are not static, for libtcc lists only such symbols. */
const char *perf_map_text(Arena *a, const char *text);

/* Add the functions of compiled code, without those of symbols[n], which lie elsewhere. A file that
 * cannot be written, or is not this user's, is a remark. */
void perf_map_add(Arena *a, Diag *d, CMemory *code, const CSymbol *symbols, int n);

#endif
