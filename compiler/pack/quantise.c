/* quantise.c: see quantise.h. tests/engines/test_quantise.c has the same number by number. */
#include "quantise.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

uint16_t half_of_float(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    const uint16_t sign = (uint16_t)(bits >> 16 & 0x8000);
    if (isnan(x)) return (uint16_t)(sign | 0x7E00);
    const float size = fabsf(x);
    if (size >= 65520) return (uint16_t)(sign | 0x7C00);
    if (size < 0x1p-14f) return (uint16_t)(sign | (int)rintf(size * 0x1p24f));       /* 1024 of these are the smallest with a full fraction */
    const uint32_t even = bits >> 13 & 1;
    return (uint16_t)(sign | (((bits & 0x7FFFFFFF) + 0xFFF + even - (112u << 23)) >> 13));
}

uint16_t bf16_of_float(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    if (isnan(x)) return (uint16_t)(bits >> 16 | 0x40);
    return (uint16_t)((bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
}

void round_to_bf16(float *w, int64_t n)
{
    for (int64_t i = 0; i < n; i++) w[i] = float_of_bf16(bf16_of_float(w[i]));
}

/* Loops over a group have a known length, no calls, and compare integers alone: compilers make
 * vectors of them. */

enum { LEAST_NAN = 0x7F800001 };        /* as bits, without its sign */

/* Bits of the largest size among the numbers of a group. */
static int32_t largest_bits(const float x[QUANTISE_GROUP])
{
    int32_t bits[QUANTISE_GROUP], most = 0;
    memcpy(bits, x, sizeof bits);
    for (int i = 0; i < QUANTISE_GROUP; i++) {
        const int32_t size = bits[i] & 0x7FFFFFFF;
        most = size > most ? size : most;
    }
    return most;
}

/* The largest size; NaN where one of them is NaN. */
static float largest(const float x[QUANTISE_GROUP])
{
    const int32_t bits = largest_bits(x);
    float size;
    memcpy(&size, &bits, sizeof size);
    return size;
}

/* The number of that size, the first of equals; NaN where there is one. */
static float extreme(const float x[QUANTISE_GROUP])
{
    const int32_t most = largest_bits(x), least = most < LEAST_NAN ? most : LEAST_NAN;
    for (int i = 0; most && i < QUANTISE_GROUP; i++) {
        int32_t size;
        memcpy(&size, &x[i], sizeof size);
        if ((size & 0x7FFFFFFF) >= least) return x[i];
    }
    return 0;
}

/* x / d to the nearest, halves away from zero; all 0 where d is 0, infinite or NaN. */
static QuantisedGroup bytes_of(const float x[QUANTISE_GROUP])
{
    QuantisedGroup g = { 0, { 0 } };
    const float d = largest(x) / 127, inverse = d > 0 && 1 / d < INFINITY ? 1 / d : 0;
    g.d = half_of_float(d);
    if (!(inverse > 0)) return g;
    for (int i = 0; i < QUANTISE_GROUP; i++) {
        const int halves = (int)(x[i] * inverse * 2);           /* at most 254 */
        g.q[i] = (int8_t)((halves + (halves < 0 ? -1 : 1)) / 2);
    }
    return g;
}

typedef float Floats __attribute__((vector_size(16)));
typedef int32_t Integers __attribute__((vector_size(16)));
enum { WIDTH = 4, VECTORS = QUANTISE_GROUP / WIDTH };

static Integers nearest_nibbles(Floats x, float inverse)
{
    const Integers near = __builtin_convertvector(x * inverse + 8.5f, Integers);
    const Integers above = near & (near > 0), fits = above < 15;
    return ((above & fits) | (15 & ~fits)) - 8;
}

static float sum_of(Floats a, Floats b)
{
    return a[0] + a[1] + a[2] + a[3] + b[0] + b[1] + b[2] + b[3];
}

/* How numbers are met that stand one factor from each other: `d`, the factor that leaves the
 * least squares, and how much of the sum of squares it takes away. */
typedef struct Met { uint16_t d; float gain; } Met;

static Met meet(const Floats x[VECTORS], float inverse)
{
    Floats product0 = { 0 }, product1 = { 0 }, square0 = { 0 }, square1 = { 0 };
    for (int i = 0; i < VECTORS; i += 2) {
        const Floats q0 = __builtin_convertvector(nearest_nibbles(x[i], inverse), Floats);
        const Floats q1 = __builtin_convertvector(nearest_nibbles(x[i + 1], inverse), Floats);
        product0 += x[i] * q0;
        product1 += x[i + 1] * q1;
        square0 += q0 * q0;
        square1 += q1 * q1;
    }
    const float product = sum_of(product0, product1), square = sum_of(square0, square1);
    const uint16_t d = half_of_float(square > 0 ? product / square : 0);
    const float factor = float_of_half(d);
    return (Met){ d, factor * (2 * product - factor * square) };
}

/* Where -8 is not among them, signs may change sides: the factor is positive then. */
static void turn_positive(QuantisedGroup *g)
{
    int least = 0;
    for (int i = 0; i < QUANTISE_GROUP; i++) least = g->q[i] < least ? g->q[i] : least;
    if (least == -8 || !(g->d & 0x8000)) return;
    g->d &= 0x7FFF;
    for (int i = 0; i < QUANTISE_GROUP; i++) g->q[i] = (int8_t)-g->q[i];
}

/* The number of largest size, m, may be 7 to 9.5 factors: where it is more than 8 it is cut, and
 * all others are met the closer. Numbers that were rounded so before stay as they are, for the
 * largest of those is -7 or -8 factors. */
static QuantisedGroup least_squares(const float numbers[QUANTISE_GROUP], float m)
{
    enum { PLACES = 6 };
    static const float places[PLACES] = { -8, -7, -7.5f, -8.5f, -9, -9.5f };
    Floats x[VECTORS];
    Met met[PLACES];
    QuantisedGroup g = { 0, { 0 } };
    memcpy(x, numbers, sizeof x);
    for (int i = 0; i < PLACES; i++) met[i] = meet(x, places[i] / m);     /* they overlap */
    int best = 0;
    for (int i = 1; i < PLACES; i++)
        if (met[i].gain > met[best].gain) best = i;
    if (!(met[best].gain > 0)) return g;
    g.d = met[best].d;
    for (int i = 0; i < VECTORS; i++) {
        const Integers q = nearest_nibbles(x[i], places[best] / m);
        for (int k = 0; k < WIDTH; k++) g.q[WIDTH * i + k] = (int8_t)q[k];
    }
    turn_positive(&g);
    return g;
}

QuantisedGroup quantise_group(const float *numbers, int n, int bits)
{
    float x[QUANTISE_GROUP] = { 0 };
    memcpy(x, numbers, (size_t)n * sizeof *x);
    if (n == 0) return (QuantisedGroup){ 0 };
    if (bits == 8) return bytes_of(x);
    const float m = extreme(x);
    if (fabsf(m) > 1e-15f && fabsf(m) < 1e15f) return least_squares(x, m);
    /* Numbers whose squares are no f32, and NaN: an f16 of their size is 0, infinite or NaN,
     * whatever the places. */
    return (QuantisedGroup){ .d = half_of_float(m / -8) };
}

void quantise_rows(float *w, int64_t rows, int64_t width, int bits)
{
    for (int64_t r = 0; r < rows; r++, w += width)
        for (int64_t i = 0; i < width; i += QUANTISE_GROUP) {
            const int n = width - i < QUANTISE_GROUP ? (int)(width - i) : QUANTISE_GROUP;
            const QuantisedGroup g = quantise_group(w + i, n, bits);
            const float d = float_of_half(g.d);
            for (int k = 0; k < n; k++) w[i + k] = d * (float)g.q[k];
        }
}

void quantise_activations(float *to, const float *x, int64_t n)
{
    for (int64_t i = 0; i < n; i += QUANTISE_GROUP) {
        float group[QUANTISE_GROUP] = { 0 };
        const int count = n - i < QUANTISE_GROUP ? (int)(n - i) : QUANTISE_GROUP;
        memcpy(group, x + i, (size_t)count * sizeof *group);
        const float most = largest(group), d = most / 127;
        const bool whole = most > 0 && most < INFINITY && 127 / most < INFINITY;
        for (int k = 0; k < count; k++)
            to[i + k] = whole ? d * rintf(group[k] * (127 / most)) : 0 * most;
    }
}

void round_to_f16(float *to, const float *x, int64_t n)
{
    const float most = 65504;
    for (int64_t i = 0; i < n; i++) to[i] = fabsf(x[i]) > most ? copysignf(most, x[i]) : float_of_half(half_of_float(x[i]));
}
