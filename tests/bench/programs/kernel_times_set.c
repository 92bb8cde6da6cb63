/* kernel_times_set.c: the hottest kernels, and multiply-adds for the peak, compiled by COMPILER for
 * ISA_NAME as SET. */
#include "rt_simd.h"
#define RT_KERNELS_H
#undef RT_KERNEL
#define RT_KERNEL static inline __attribute__((always_inline))
#include "linear_f32.c"
#include "norm_f32.c"
#include "element_f32.c"
#include "rotary_f32.c"
#include "attention_f32.c"
#include "vocabulary_f32.c"
#include "kernel_times.h"

#define LINEAR(rows, inputs, outputs, pad)                                                                         \
    {                                                                                                              \
        static const RtLinear shape = { .in = inputs, .out = outputs, .x_stride = DEEP + pad, .y_stride = WIDE + pad }; \
        rt_linear_f32(&shape, w->y, w->x, w->w, rows, 0, outputs / 16);                                            \
    }
static void linear_1x288x768(Work *w) LINEAR(1, 288, 768, PAD)
static void linear_64x512x512(Work *w) LINEAR(64, 512, 512, PAD)
static void linear_64x512x2048(Work *w) LINEAR(64, 512, 2048, PAD)
static void linear_64x2048x512(Work *w) LINEAR(64, 2048, 512, PAD)
static void linear_64x288x768(Work *w) LINEAR(64, 288, 768, PAD)
static void linear_64x2048x512_unpadded(Work *w) LINEAR(64, 2048, 512, 0)

#define ATTENTION(rows)                                                                                                     \
    {                                                                                                                       \
        static const RtAttention shape = { HEADS, HEADS, HEAD, HEAD, LENGTH, DEEP + PAD, WIDE + PAD, 0, 0, 0.14433757f, 0 }; \
        rt_attention_f32(&shape, w->y, w->x, w->k, w->v, w->scratch, NULL, w->visible + LENGTH - rows, rows, 0, HEADS);     \
    }
static void attention_1x512(Work *w) ATTENTION(1)
static void attention_64x512(Work *w) ATTENTION(64)

static void norm_288(Work *w)
{
    static const RtNorm shape = { 1, MODEL, DEEP + PAD, WIDE + PAD, RT_NORM_RMS, 1e-5f };
    rt_norm_f32(&shape, w->y, w->x, w->w, ROWS);
}

static void rotary_6x48(Work *w)
{
    static const RtRotary shape = { HEADS, HEAD, HEAD, 1, DEEP + PAD, WIDE + PAD };
    rt_rotary_f32(&shape, w->y, w->x, w->table, w->positions, ROWS, 0, HEADS);
}

static void gate_768(Work *w)
{
    static const RtElement shape = { HIDDEN, DEEP + PAD, DEEP + PAD, WIDE + PAD, RT_SILU };
    rt_gate_f32(&shape, w->y, w->x, w->x + HIDDEN, ROWS, 0, HIDDEN / 16);
}

static void argmax_32000(Work *w)
{
    static const RtVocabulary shape = { .size = VOCABULARY, .x_stride = VOCABULARY };
    rt_argmax_f32(&shape, &w->best, w->logits, 1);
}

/* Multiply-adds in enough sums to hide their latency, and nothing else: this processor's peak. */
static void peak(Work *w)
{
    rt_v16 sum[PEAK_SUMS];
    const rt_v16 a = rt_set1(0.999f), b = rt_set1(w->x[0]);
    for (int i = 0; i < PEAK_SUMS; i++) sum[i] = rt_set1((float)i);
    for (int k = 0; k < PEAK_TURNS / 16 / PEAK_SUMS; k++)
        RT_UNROLL for (int i = 0; i < PEAK_SUMS; i++)
            sum[i] = rt_fma(sum[i], a, b);
    for (int i = 1; i < PEAK_SUMS; i++) sum[0] = rt_add(sum[0], sum[i]);
    w->best = rt_sum(sum[0]) > 0;
}

#define ROW(function, rows, width, stride, flops) { #function, function, rows, width, stride, flops },
static const TimedKernel kernels[] = { TIMED_KERNELS(ROW) };
extern const TimedSet SET;
const TimedSet SET = { COMPILER, ISA_NAME, kernels, sizeof kernels / sizeof *kernels, RT_ISA_BUILT };
