/* answer.c: run a model of any kind, in any form. Prints `ids N...`, the ids of its answer
 * (decoders only), and `bits H`, a hash of the bits of its results. The exit code is 1 + the status
 * if that is not RT_OK, or 99 if the weights file cannot be opened.
 *
 * -DMODEL=name -DMODEL_H='"name.h"' -DMODEL_UPPER=NAME; -DHAS_ENCODER, -DHAS_DECODER (with
 * -DSCORES=scores or -DSCORES=logits) or both; for a graph -DGRAPH_CALLS='"calls.h"', which defines
 * SET_INPUTS and GET_OUTPUTS as lists of X(name, elements), with MASK(name) for a mask.
 * Weights: -DEMBED, -DLITERAL, or the path of the packed file as the first argument. The second
 * argument is the number of threads. -DVARIANT: also print the name of the variant that runs.
 * -DALONE: freestanding, for Linux on ARM, without a C library. */
#include MODEL_H

#define GLUE(a, b) a##b
#define JOIN(a, b) GLUE(a, b)
#define CALL(call) JOIN(JOIN(MODEL, _), call)
#define SIZE(size) JOIN(JOIN(MODEL_UPPER, _), size)

static struct MODEL model;
static JOIN(MODEL, _state) state;
static uint32_t hash = 2166136261u;

/* Hash the bits of floats with FNV-1a. */
static void take(const float *values, int n)
{
    for (int i = 0; i < n; i++) {
        union { float f; uint32_t u; } bits;
        bits.f = values[i];
        for (int b = 0; b < 4; b++) hash = (hash ^ (bits.u >> 8 * b & 255)) * 16777619u;
    }
}

/* ---- printing -------------------------------------------------------------------------------- */

static void put(const char *s);

static void put_number(unsigned n, unsigned base)
{
    char digits[33], *s = digits + sizeof digits;
    *--s = 0;
    do *--s = "0123456789abcdef"[n % base];
    while (n /= base);
    put(s);
}

/* ---- the kinds of models --------------------------------------------------------------------- */

#define TRY(call) do { const rt_status status = (call); if (status != RT_OK) return status; } while (0)

#if defined(HAS_DECODER)
enum { STEPS = 6 };

/* Decode some rows in one call; then take greedy steps, and then one step, each time from the
 * start. */
static rt_status decode(int first)
{
    const int rows = SIZE(ROWS) < 3 ? 1 : 3, longest = SIZE(MAX_TARGET) < STEPS ? SIZE(MAX_TARGET) : STEPS;
    rt_token row[3];
    int id = first;
    for (int i = 0; i < rows; i++) {
        row[i].slot = 0;
        row[i].pos = i;
        row[i].id = (first + 2 * i) % SIZE(VOCAB);
    }
    TRY(CALL(decode)(&model, &state, row, rows));
    for (int i = 0; i < rows; i++) take(CALL(SCORES)(&state) + i * SIZE(LOGITS_STRIDE), SIZE(VOCAB));
    TRY(CALL(clear)(&state, 0));
    put("ids");
    for (int i = 0; i < longest; i++) {
        TRY(CALL(next)(&model, &state, id, &id));
        put(" ");
        put_number((unsigned)id, 10);
    }
    put("\n");
    TRY(CALL(clear)(&state, 0));
    TRY(CALL(step)(&model, &state, first));
    take(CALL(SCORES)(&state), SIZE(VOCAB));
    return RT_OK;
}
#endif

#if defined(HAS_ENCODER)
static int source[SIZE(MAX_SOURCE)];
static int make_source(void)
{
    const int n = SIZE(MAX_SOURCE) < 19 ? SIZE(MAX_SOURCE) : 19;
    for (int i = 0; i < n; i++) source[i] = (4 + 3 * i) % SIZE(SOURCE_VOCAB);
    return n;
}
#endif

static rt_status answer(void)
{
#if defined(GRAPH_CALLS)
#include GRAPH_CALLS
    static float values[65536], mask[65536];
    for (int i = 0; i < 65536; i++) {
        values[i] = (float)((i * 37 + 11) % 64) / 32 - 0.9f;
        mask[i] = (float)(i % 3 != 1);
    }
    (void)mask;                         /* unused in a graph without masks */
#define X(call, elements) CALL(call)(&state, values + elements % 7);
#define MASK(call) CALL(call)(&state, mask);
    SET_INPUTS
#undef X
#undef MASK
    TRY(CALL(run)(&model, &state));
#define X(call, elements) CALL(call)(&state, values); take(values, elements);
    GET_OUTPUTS
#undef X
#elif defined(HAS_ENCODER) && defined(HAS_DECODER)
    TRY(CALL(encode)(&model, &state, 0, source, make_source()));
    TRY(decode(SIZE(START)));
#elif defined(HAS_ENCODER)
    const int n = make_source();
    TRY(CALL(encode)(&model, &state, 0, source, n));
    for (int i = 0; i < n; i++) take(CALL(hidden)(&state) + i * SIZE(HIDDEN_STRIDE), 16);
#else
    TRY(decode(3 % SIZE(VOCAB)));
#endif
    put("bits ");
    put_number(hash, 16);
    put("\n");
    return RT_OK;
}

/* ---- freestanding or with a C library -------------------------------------------------------- */

#if defined(EMBED)
extern const unsigned char CALL(weights)[];
#define INSIDE CALL(weights)
#elif defined(LITERAL)
extern const void *const CALL(literal);
#define INSIDE CALL(literal)
#endif

#if defined(ALONE)
static int system_call(int number, int a, const void *b, size_t c)
{
    register int r7 __asm__("r7") = number, r0 __asm__("r0") = a;
    register const void *r1 __asm__("r1") = b;
    register size_t r2 __asm__("r2") = c;
    __asm__ volatile("svc 0" : "+r"(r0) : "r"(r7), "r"(r1), "r"(r2) : "memory");
    return r0;
}

static void put(const char *s)
{
    size_t n = 0;
    while (s[n]) n++;
    system_call(4, 1, s, n);
}

/* Compilers insert calls of these. */
void *memcpy(void *to, const void *from, size_t n);
void *memset(void *to, int c, size_t n);
void *memcpy(void *to, const void *from, size_t n)
{
    rt_copy(to, from, n);
    return to;
}
void *memset(void *to, int c, size_t n)
{
    for (size_t i = 0; i < n; i++) ((unsigned char *)to)[i] = (unsigned char)c;
    return to;
}

void _start(void);
void _start(void)
{
    rt_status status = CALL(bind)(&model, INSIDE, SIZE(WEIGHTS_BYTES));
    if (status == RT_OK) status = answer();
    for (;;) system_call(1, status == RT_OK ? 0 : 1 + (int)status, NULL, 0);
}
#else
#include <stdio.h>
#include <stdlib.h>
#include "rt_weights.h"

static void put(const char *s) { fputs(s, stdout); }

int main(int argc, char **argv)
{
    rt_status status;
#if defined(INSIDE)
    status = CALL(bind)(&model, INSIDE, SIZE(WEIGHTS_BYTES));
#else
    RtWeights file;
    if (argc < 3 || rt_weights_open(&file, argv[1])) return 99;
    status = CALL(bind)(&model, file.data, file.bytes);
#endif
#if defined(VARIANT)
    if (status == RT_OK) printf("variant %s\n", CALL(variant)(&model));
#endif
    if (status == RT_OK) status = CALL(threads)(&model, argc > 2 ? atoi(argv[2]) : 1);
    if (status == RT_OK) status = answer();
    CALL(threads)(&model, 1);
    return status == RT_OK ? 0 : 1 + (int)status;
}
#endif
