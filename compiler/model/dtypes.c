/* dtypes.c: the tables of number formats, and conversions of f16 and bf16 to f32. */
#include "dtypes.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "text.h"

/* The dtypes of safetensors, stored element by element. */
static const struct { const char *name; int bits; DType dtype; } dtypes[] = {
    { "F32", 32, DTYPE_F32 }, { "F16", 16, DTYPE_F16 }, { "BF16", 16, DTYPE_BF16 }, { "F64", 64, DTYPE_F64 },
    { "I8", 8, DTYPE_I8 }, { "U8", 8, DTYPE_U8 }, { "I16", 16, DTYPE_I16 }, { "U16", 16, DTYPE_U16 },
    { "I32", 32, DTYPE_I32 }, { "U32", 32, DTYPE_U32 }, { "I64", 64, DTYPE_I64 }, { "U64", 64, DTYPE_U64 },
    { "BOOL", 8, DTYPE_BOOL }, { "F4", 4, DTYPE_OTHER }, { "F6_E2M3", 6, DTYPE_OTHER }, { "F6_E3M2", 6, DTYPE_OTHER },
    { "F8_E5M2", 8, DTYPE_OTHER }, { "F8_E4M3", 8, DTYPE_OTHER }, { "F8_E8M0", 8, DTYPE_OTHER },
    { "F8_E4M3FNUZ", 8, DTYPE_OTHER }, { "F8_E5M2FNUZ", 8, DTYPE_OTHER }, { "C64", 64, DTYPE_OTHER },
};

/* The block formats of ggml: elements and bytes of a block. */
static const struct { const char *name; DType dtype; int elements, bytes; } blocks[] = {
    { "Q8_0", DTYPE_Q8_0, 32, 34 },   { "Q4_0", DTYPE_Q4_0, 32, 18 },   { "Q4_1", DTYPE_Q4_1, 32, 20 },
    { "Q5_0", DTYPE_Q5_0, 32, 22 },   { "Q4_K", DTYPE_Q4_K, 256, 144 }, { "Q5_K", DTYPE_Q5_K, 256, 176 },
    { "Q6_K", DTYPE_Q6_K, 256, 210 },
};

enum { BLOCKS = sizeof blocks / sizeof *blocks };

/* The row of a dtype in `blocks`; -1 if it has no blocks. */
static int block_of(DType dtype)
{
    for (int i = 0; i < BLOCKS; i++)
        if (blocks[i].dtype == dtype) return i;
    return -1;
}

int dtype_bits(const char *name, DType *dtype)
{
    for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++) {
        if (strcmp(dtypes[i].name, name)) continue;
        *dtype = dtypes[i].dtype;
        return dtypes[i].bits;
    }
    return 0;
}

const char *dtype_name(DType dtype)
{
    const int block = block_of(dtype);
    if (dtype == DTYPE_OTHER) return "other";
    if (block >= 0) return blocks[block].name;
    for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++)
        if (dtypes[i].dtype == dtype) return dtypes[i].name;
    die("no dtype %d", (int)dtype);
}

bool dtype_is_float(DType dtype)
{
    return dtype == DTYPE_F32 || dtype == DTYPE_F16 || dtype == DTYPE_BF16 || dtype == DTYPE_F64 || block_of(dtype) >= 0;
}

size_t dtype_bytes(DType dtype)
{
    const int block = block_of(dtype);
    if (block >= 0) return (size_t)blocks[block].bytes;
    return dtype == DTYPE_F64 ? 8 : dtype == DTYPE_F32 ? 4 : dtype == DTYPE_I8 ? 1 : 2;
}

int dtype_block(DType dtype)
{
    const int block = block_of(dtype);
    return block >= 0 ? blocks[block].elements : 1;
}

static inline float from_bits(uint32_t bits)
{
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}

/* The f32 bits of an f16. A subnormal is read with the exponent of 2^-14, and the implicit leading
 * 1 is subtracted. Masks replace branches, so that compilers vectorise loops that call it. */
static inline uint32_t bits_of_half(uint32_t h)
{
    const uint32_t sign = (h & 0x8000) << 16, bits = (h & 0x7FFF) << 13;
    const float tiny = from_bits(bits + (113u << 23)) - 0x1p-14f;
    const uint32_t usual = bits + (112u << 23), beyond = bits + (224u << 23);
    const uint32_t is_tiny = 0u - (bits < 1u << 23), is_beyond = 0u - (bits >= 31u << 23);
    uint32_t small;
    memcpy(&small, &tiny, sizeof small);
    return sign | (small & is_tiny) | (beyond & is_beyond) | (usual & ~(is_tiny | is_beyond));
}

float float_of_half(uint16_t h) { return from_bits(bits_of_half(h)); }

float float_of_bf16(uint16_t h) { return from_bits((uint32_t)h << 16); }

/* Convert sixteen at a time, since compilers vectorise a loop of known length. */
static void floats_of_short(float *out, const unsigned char *from, int64_t n, bool half)
{
    enum { TOGETHER = 16 };
    for (int64_t i = 0; i < n; i += TOGETHER) {
        uint16_t h[TOGETHER] = { 0 };
        float x[TOGETHER];
        const size_t here = (size_t)(n - i < TOGETHER ? n - i : TOGETHER);
        memcpy(h, from + 2 * i, here * sizeof *h);
        if (half)
            for (int k = 0; k < TOGETHER; k++) x[k] = from_bits(bits_of_half(h[k]));
        else
            for (int k = 0; k < TOGETHER; k++) x[k] = from_bits((uint32_t)h[k] << 16);
        memcpy(out + i, x, here * sizeof *x);
    }
}

void floats_of_half(float *out, const unsigned char *from, int64_t n)
{
    floats_of_short(out, from, n, true);
}

void floats_of_bf16(float *out, const unsigned char *from, int64_t n)
{
    floats_of_short(out, from, n, false);
}

const char *shape_text(Arena *a, const int64_t *shape, int rank)
{
    Text t = text_new(a);
    for (int i = 0; i < rank; i++) text_printf(&t, "%s%" PRId64, i ? ", " : "", shape[i]);
    return arena_format(a, "[%s]", t.data);
}
