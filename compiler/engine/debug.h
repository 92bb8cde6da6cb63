/* debug.h: the environment variable XFORMC_DEBUG makes the jit engine print to stderr:
 *   1  how long it took to plan, emit, compile and pack
 *   2  and each operation that runs: name, shape, time, GFLOP/s, GB/s, share of the machine's limit
 *   3  and the plan        4  and the C text */
#ifndef DEBUG_H
#define DEBUG_H

#include "engine.h"

/* The level; 0 if unset or invalid; an invalid value is reported once. */
int debug_level(void);
/* Print what the level asks for about a new jit engine, whose plan took plan_ns. From level 2 on it
 * must have been opened with EMIT_WATCHES. */
void debug_engine(Engine *e, int64_t plan_ns);

#endif
