/* dtypes.h: number formats by their safetensors names. */
#ifndef DTYPES_H
#define DTYPES_H

#include "model.h"

int  dtype_bits(const char *name, DType *dtype);    /* bits of an element; 0 for an unknown name */
const char *dtype_name(DType dtype);
size_t dtype_bytes(DType dtype);                    /* of an element that tensor_read accepts; of blocks: of a block */
int  dtype_block(DType dtype);                      /* elements of a block; 1: each stands alone */
bool dtype_is_float(DType dtype);                   /* one that tensor_read accepts */
float half_to_float(uint16_t half);

/* "[64, 256]" */
const char *shape_text(Arena *a, const int64_t *shape, int rank);

#endif
