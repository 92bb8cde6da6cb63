/* quantise.c: round numbers to f16 and bf16, and activations, keys and values to int8; see
 * quantise.h. */
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
    /* Subnormal: a multiple of 2^-24. 1024 of these are the smallest normal number. */
    if (size < 0x1p-14f) return (uint16_t)(sign | (int)rintf(size * 0x1p24f));
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

/* The largest absolute value in a group; NaN if any is NaN. The loop has a fixed length and
 * compares only integers, so that compilers vectorise it. */
static float largest(const float x[QUANTISE_GROUP])
{
    int32_t bits[QUANTISE_GROUP], most = 0;
    float size;
    memcpy(bits, x, sizeof bits);
    for (int i = 0; i < QUANTISE_GROUP; i++) {
        const int32_t magnitude = bits[i] & 0x7FFFFFFF;
        most = magnitude > most ? magnitude : most;
    }
    memcpy(&size, &most, sizeof size);
    return size;
}

/* 127 / most, or 0 if the numbers cannot be written as bytes: all are close to 0, or one is not
 * finite. */
static float factor_of(float most)
{
    return most > 0 && most < INFINITY && 127 / most < INFINITY ? 127 / most : 0;
}

void quantise_activations(float *to, const float *x, int64_t n)
{
    for (int64_t i = 0; i < n; i += QUANTISE_GROUP) {
        float group[QUANTISE_GROUP] = { 0 };
        const int count = n - i < QUANTISE_GROUP ? (int)(n - i) : QUANTISE_GROUP;
        memcpy(group, x + i, (size_t)count * sizeof *group);
        const float most = largest(group), d = most / 127;
        const float factor = factor_of(most);
        for (int k = 0; k < count; k++) to[i + k] = factor > 0 ? d * rintf(group[k] * factor) : 0 * most;
    }
}

void round_to_int8(float *to, const float *x, int64_t n)
{
    float most = 0;
    for (int64_t i = 0; i < n; i++) most = isnan(x[i]) || isnan(most) ? NAN : fmaxf(most, fabsf(x[i]));
    const float factor = factor_of(most);
    for (int64_t i = 0; i < n; i++) to[i] = factor > 0 ? most / 127 * rintf(x[i] * factor) : 0 * most;
}

void round_to_f16(float *to, const float *x, int64_t n)
{
    const float most = 65504;
    for (int64_t i = 0; i < n; i++) to[i] = fabsf(x[i]) > most ? copysignf(most, x[i]) : float_of_half(half_of_float(x[i]));
}
