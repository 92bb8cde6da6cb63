/* machine.h: what this machine can do at most: bytes read from each level of its memory, and multiply-adds.
 *
 * Measured by loops that do nothing else, each on one and on several threads. They use the widest vectors that the
 * processor has, whatever xformc was compiled for; on processors other than x86 and ARM, vectors of four floats. */
#ifndef MACHINE_H
#define MACHINE_H

#include <stdbool.h>
#include <stddef.h>

#include "arena.h"
#include "rt.h"

typedef enum LimitLevel { LEVEL_L2, LEVEL_L3, LEVEL_DRAM, LIMIT_LEVELS } LimitLevel;
enum { LIMIT_THREADS = 16 };

typedef struct Limits {
    const char *isa;                                        /* what the loops were compiled for: "avx512" */
    size_t bytes[LIMIT_LEVELS];                             /* that a level holds: L2 for each thread; 0: no such level, or no end */
    double bandwidth[LIMIT_LEVELS][LIMIT_THREADS + 1];        /* bytes a second, by threads; 0: not measured */
    double peak[LIMIT_THREADS + 1];                           /* FLOPs a second, by threads */
} Limits;

extern const char *const limit_level_names[LIMIT_LEVELS];   /* "L2", "L3", "DRAM" */

/* The name of the processor as Linux tells it; "" elsewhere. */
const char *machine_processor(Arena *a);

/* Measure with each of the `n` numbers of threads, 1 .. LIMIT_THREADS, in about 0.2 s each. Where *l holds measurements,
 * the better ones stay: another process can only slow them. False where the system gives no memory or no thread. */
bool limits_probe(Limits *l, const int *threads, int n);

/* The level that holds so many bytes, shared out over threads. */
LimitLevel limits_level(const Limits *l, double bytes, int threads);

/* The least time for `flops` and for reading `bytes` from a level, in seconds: the longer of the two. */
double limits_seconds(const Limits *l, double flops, double bytes, LimitLevel from, int threads);

#endif
