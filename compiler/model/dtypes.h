/* dtypes.h: number formats, by their names in safetensors and ggml; conversions to f32. */
#ifndef DTYPES_H
#define DTYPES_H

#include "model.h"

/* The bits of an element, and *dtype, by the dtype's name in safetensors; 0 for another name. */
int  dtype_bits(const char *name, DType *dtype);
const char *dtype_name(DType dtype);
/* The bytes of an element, or of a whole block; only for a dtype that tensor_read accepts. */
size_t dtype_bytes(DType dtype);
int  dtype_block(DType dtype);                      /* elements of a block; 1: no blocks */
bool dtype_is_float(DType dtype);                   /* F32, F16, BF16, F64 or a block format */

/* Convert an f16 or a bf16 to f32; the payload of a NaN is kept. */
float float_of_half(uint16_t h);
float float_of_bf16(uint16_t h);
/* Convert n numbers, which are little-endian and may be unaligned. */
void floats_of_half(float *out, const unsigned char *from, int64_t n);
void floats_of_bf16(float *out, const unsigned char *from, int64_t n);

/* "[64, 256]" */
const char *shape_text(Arena *a, const int64_t *shape, int rank);

#endif
