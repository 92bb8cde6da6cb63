/* debug.h: XFORMC_DEBUG, an environment variable: what happens in the engine jit, on stderr.
 *   1  how long each pass took
 *   2  and each operation that runs: name, shape, time, GFLOP/s, GB/s, share of the machine's limit
 *   3  and the plan        4  and the C text */
#ifndef DEBUG_H
#define DEBUG_H

#include "engine.h"

/* 0 where it is not set; and where it is none of these, which is noted once. */
int debug_level(void);
/* Tell of an engine that was opened with EMIT_WATCHES from level 2 on; its plan took plan_ns. */
void debug_engine(Engine *e, int64_t plan_ns);

#endif
