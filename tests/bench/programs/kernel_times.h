/* kernel_times.h: the kernels that one compiler compiled for one instruction set, for
 * kernel_times.c. Shapes are constants, as in native code. All kernels share the buffers
 * of one Work. */
#ifndef KERNEL_TIMES_H
#define KERNEL_TIMES_H

#include "rt.h"

enum {
    ROWS = 64, DEEP = 2048, WIDE = 2048, HEADS = 6, HEAD = 48, LENGTH = 512, MODEL = HEADS * HEAD, HIDDEN = 768, VOCABULARY = 32000,
    PAD = 16                            /* floats */
};

typedef struct Work {
    float *x, *y, *w;                   /* [ROWS][DEEP + PAD], [ROWS][WIDE + PAD], panels of [WIDE][DEEP] */
    float *k, *v, *scratch, *table;     /* [HEADS][LENGTH / 16][HEAD][16], [HEADS][HEAD / 16][LENGTH][16]; cosines and sines */
    float *logits;                      /* [VOCABULARY] */
    int *positions, *visible, best;     /* [LENGTH] */
} Work;

/* run: run the kernel once. rows, width, stride: of the results in y, width and stride in floats;
 * rows 0: only `best` is set. flops 0: only the time is shown. */
typedef struct TimedKernel { const char *name; void (*run)(Work *w); int rows, width, stride; double flops; } TimedKernel;
typedef struct TimedSet { const char *compiler, *isa; const TimedKernel *kernels; int n; unsigned needs; } TimedSet;

#define TIMED_KERNELS(X) /* X(function, rows, width and stride of y, FLOPs) */                                     \
    X(linear_1x288x768, 1, HIDDEN, WIDE + PAD, 2.0 * MODEL * HIDDEN)                                               \
    X(linear_64x512x512, ROWS, 512, WIDE + PAD, 2.0 * ROWS * 512 * 512)                                            \
    X(linear_64x512x2048, ROWS, 2048, WIDE + PAD, 2.0 * ROWS * 512 * 2048)                                         \
    X(linear_64x2048x512, ROWS, 512, WIDE + PAD, 2.0 * ROWS * 2048 * 512)                                          \
    X(linear_64x288x768, ROWS, HIDDEN, WIDE + PAD, 2.0 * ROWS * MODEL * HIDDEN)                                    \
    X(linear_64x2048x512_unpadded, ROWS, 512, WIDE, 2.0 * ROWS * 2048 * 512)                                       \
    X(attention_1x512, 1, MODEL, WIDE + PAD, 0)                                                                    \
    X(attention_64x512, ROWS, MODEL, WIDE + PAD, 0)                                                                \
    X(norm_288, ROWS, MODEL, WIDE + PAD, 0)                                                                        \
    X(rotary_6x48, ROWS, MODEL, WIDE + PAD, 0)                                                                     \
    X(gate_768, ROWS, HIDDEN, WIDE + PAD, 0)                                                                       \
    X(argmax_32000, 0, 0, 0, 0)                                                                                    \
    X(peak, 0, 0, 0, 2.0 * PEAK_TURNS)

enum { PEAK_SUMS = 6, PEAK_TURNS = 16 * PEAK_SUMS * 20000 };

#endif
