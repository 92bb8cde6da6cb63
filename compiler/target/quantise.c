/* quantise.c: see quantise.h. Plain, for it is what kernels are held to. */
#include "quantise.h"

#include <math.h>
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

/* The number of largest size, the first of equals; what is no number, where there is such. */
static float extreme(const float *x, int n)
{
    float most = 0;
    for (int i = 0; i < n; i++)
        if (!(fabsf(x[i]) <= fabsf(most))) most = x[i];
    for (int i = 0; i < n; i++)
        if (isnan(x[i])) return x[i];
    return most;
}

QuantisedGroup quantise_group(const float *x, int n, int bits)
{
    QuantisedGroup g = { 0, { 0 } };
    if (n == 0) return g;
    const int most = (1 << (bits - 1)) - 1;
    const float m = extreme(x, n), d = bits == 8 ? fabsf(m) / 127 : m / -8, inverse = fabsf(d) > 0 ? 1 / d : 0;
    g.d = half_of_float(d);
    for (int i = 0; i < n; i++) {
        const float scaled = x[i] * inverse, q = bits == 8 ? roundf(scaled) : floorf(scaled + 8.5f) - 8;
        g.q[i] = q > (float)most ? most : q == q ? (int)q : 0;
    }
    return g;
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
        for (int k = 0; k < count; k++) to[i + k] = most > 0 && most < INFINITY ? d * rintf(x[i + k] * (127 / most)) : 0 * most;
    }
}

void round_to_f16(float *to, const float *x, int64_t n)
{
    const float most = 65504;
    for (int64_t i = 0; i < n; i++) to[i] = fabsf(x[i]) > most ? copysignf(most, x[i]) : float_of_half(half_of_float(x[i]));
}
