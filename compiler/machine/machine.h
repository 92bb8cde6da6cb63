/* machine.h: measure the limits of this machine, which are the bandwidth of each memory level and
 * FLOP/s, and name its processor.
 *
 * Loops that only read, or only multiply and add, measure the limits, on one and on several
 * threads. On x86, the loops use AVX-512 or AVX2 if the processor has it, whatever xformc was
 * compiled for; otherwise, they use vectors of four floats. */
#ifndef MACHINE_H
#define MACHINE_H

#include <stdbool.h>
#include <stddef.h>

#include "arena.h"
#include "rt.h"

typedef enum LimitLevel { LEVEL_L2, LEVEL_L3, LEVEL_DRAM, LIMIT_LEVELS } LimitLevel;
enum { LIMIT_THREADS = 16 };

typedef struct Limits {
    const char *isa;                    /* instruction set of the loops: "avx512" */
    size_t bytes[LIMIT_LEVELS];         /* size of a level, of L2 per thread; 0: no such level, or
                                         * no limit */
    double bandwidth[LIMIT_LEVELS][LIMIT_THREADS + 1];    /* bytes/s, by threads; 0: not measured */
    double peak[LIMIT_THREADS + 1];                       /* FLOP/s, by threads */
} Limits;

extern const char *const limit_level_names[LIMIT_LEVELS];   /* "L2", "L3", "DRAM" */

/* The processor's name as Linux reports it; "" if it does not. */
const char *machine_processor(Arena *a);

/* Measure with each of the `n` numbers of threads, 1 .. LIMIT_THREADS, about 0.2 s each. If *l
 * holds earlier measurements, the better ones stay, since other processes can only lower a rate.
 * False if there is no memory or no thread. */
bool limits_probe(Limits *l, const int *threads, int n);

/* The level of memory that holds `bytes`, divided among threads. */
LimitLevel limits_level(const Limits *l, double bytes, int threads);

/* The least time in seconds: that of `flops`, or of reading `bytes` from a level, whichever is
 * longer. */
double limits_seconds(const Limits *l, double flops, double bytes, LimitLevel from, int threads);

#endif
