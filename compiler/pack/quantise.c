/* quantise.c: see quantise.h. Plain, for it is what kernels are compared with. */
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

float float_of_half(uint16_t h)
{
    const int exponent = h >> 10 & 31, fraction = h & 1023;
    const float tiny = ldexpf((float)fraction, -24), usual = ldexpf((float)(1024 + fraction), exponent - 25);
    const float size = exponent == 0 ? tiny : exponent < 31 ? usual : fraction ? NAN : INFINITY;
    return h & 0x8000 ? -size : size;
}

uint16_t bf16_of_float(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    if (isnan(x)) return (uint16_t)(bits >> 16 | 0x40);
    return (uint16_t)((bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
}

float float_of_bf16(uint16_t h)
{
    const uint32_t bits = (uint32_t)h << 16;
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

void round_to_bf16(float *w, int64_t n)
{
    for (int64_t i = 0; i < n; i++) w[i] = float_of_bf16(bf16_of_float(w[i]));
}

/* The number of largest size, the first of equals; what is not a number, where there is such. */
static float extreme(const float *x, int n)
{
    float most = 0;
    for (int i = 0; i < n; i++)
        if (!(fabsf(x[i]) <= fabsf(most))) most = x[i];
    for (int i = 0; i < n; i++)
        if (isnan(x[i])) return x[i];
    return most;
}

static QuantisedGroup bytes_of(const float *x, int n)
{
    QuantisedGroup g = { 0, { 0 } };
    const float d = fabsf(extreme(x, n)) / 127, inverse = d > 0 && 1 / d < INFINITY ? 1 / d : 0;
    g.d = half_of_float(d);
    for (int i = 0; i < n; i++) {
        const float q = roundf(x[i] * inverse);
        g.q[i] = q > 127 ? 127 : q == q ? (int)q : 0;
    }
    return g;
}

/* Of a group padded with zeros: the nearest of -8..7, in q, and with them the factor that leaves the least squares. Returns how much
 * of the sum of squares it takes away. */
static float nibbles_of(QuantisedGroup *g, const float x[QUANTISE_GROUP], float inverse)
{
    enum { LANES = 8 };
    float products[LANES] = { 0 }, product = 0;
    int squares = 0;
    for (int i = 0; i < QUANTISE_GROUP; i++) {
        const int q = (int)(x[i] * inverse + 8.5f);
        g->q[i] = (q < 0 ? 0 : q > 15 ? 15 : q) - 8;
        squares += g->q[i] * g->q[i];
    }
    for (int i = 0; i < QUANTISE_GROUP; i += LANES)
        for (int k = 0; k < LANES; k++) products[k] += x[i + k] * (float)g->q[i + k];
    for (int k = 0; k < LANES; k++) product += products[k];
    g->d = half_of_float(squares ? product / (float)squares : 0);
    const float d = float_of_half(g->d);
    return d * (2 * product - d * (float)squares);
}

/* Where -8 is not among them, signs may change sides: the factor is positive then. */
static void turn_positive(QuantisedGroup *g)
{
    int least = 0;
    for (int i = 0; i < QUANTISE_GROUP; i++) least = g->q[i] < least ? g->q[i] : least;
    if (least == -8 || !(g->d & 0x8000)) return;
    g->d &= 0x7FFF;
    for (int i = 0; i < QUANTISE_GROUP; i++) g->q[i] = -g->q[i];
}

/* The number of largest size may be 7 to 9.5 factors: where it is more than 8 it is cut, and all others are met the closer. Numbers that
 * were rounded so before stay as they are, for the largest of those is -7 or -8 factors. */
static QuantisedGroup least_squares(const float *x, int n)
{
    static const float places[] = { -8, -7, -7.5f, -8.5f, -9, -9.5f };
    float padded[QUANTISE_GROUP] = { 0 }, most = 0;
    const float m = extreme(x, n);
    QuantisedGroup best = { 0, { 0 } }, g;
    memcpy(padded, x, (size_t)n * sizeof *x);
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        const float gain = nibbles_of(&g, padded, places[i] / m);
        if (gain > most) best = g, most = gain;
    }
    turn_positive(&best);
    return best;
}

QuantisedGroup quantise_group(const float *x, int n, int bits)
{
    const float size = n ? fabsf(extreme(x, n)) : 0;
    if (n == 0) return (QuantisedGroup){ 0 };
    if (bits == 8) return bytes_of(x, n);
    if (size > 1e-15f && size < 1e15f) return least_squares(x, n);
    /* Numbers whose squares are no f32, and no numbers: an f16 of their size is 0, infinite or no number, whatever the places. */
    return (QuantisedGroup){ .d = half_of_float(extreme(x, n) / -8) };
}

void quantise_rows(float *w, int64_t rows, int64_t width, int bits)
{
    for (int64_t r = 0; r < rows; r++, w += width)
        for (int64_t i = 0; i < width; i += QUANTISE_GROUP) {
            const int n = width - i < QUANTISE_GROUP ? (int)(width - i) : QUANTISE_GROUP;
            const QuantisedGroup g = quantise_group(w + i, n, bits);
            for (int k = 0; k < n; k++) w[i + k] = float_of_half(g.d) * (float)g.q[k];
        }
}

void quantise_activations(float *to, const float *x, int64_t n)
{
    for (int64_t i = 0; i < n; i += QUANTISE_GROUP) {
        const int count = n - i < QUANTISE_GROUP ? (int)(n - i) : QUANTISE_GROUP;
        const float most = fabsf(extreme(x + i, count)), d = most / 127;
        const bool whole = most > 0 && most < INFINITY && 127 / most < INFINITY;
        for (int k = 0; k < count; k++) to[i + k] = whole ? d * rintf(x[i + k] * (127 / most)) : 0 * most;
    }
}

void round_to_f16(float *to, const float *x, int64_t n)
{
    const float most = 65504;
    for (int64_t i = 0; i < n; i++) to[i] = fabsf(x[i]) > most ? copysignf(most, x[i]) : float_of_half(half_of_float(x[i]));
}
