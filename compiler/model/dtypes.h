/* dtypes.h: number formats by their safetensors names. */
#ifndef DTYPES_H
#define DTYPES_H

#include "model.h"

int  dtype_bits(const char *name, DType *dtype);    /* bits of an element; 0 for an unknown name */
const char *dtype_name(DType dtype);
size_t dtype_bytes(DType dtype);                    /* of an element that tensor_read accepts; of blocks: of a block */
int  dtype_block(DType dtype);                      /* elements of a block; 1: each stands alone */
bool dtype_is_float(DType dtype);                   /* one that tensor_read accepts */

/* "[64, 256]" */
const char *shape_text(Arena *a, const int64_t *shape, int rank);

void tensor_file_sort(TensorFile *f);               /* its tensors by name, as tensor_file_find needs them */

/* ggml's blocks: elements that share factors. Row i of blocks.c's table; NULL where there is none. */
typedef struct BlockFormat {
    DType dtype;
    const char *name;
    int ggml, elements, bytes;      /* ggml: its number of this type */
    float (*read)(const unsigned char *block, int i);
} BlockFormat;
const BlockFormat *block_format(DType dtype);
const BlockFormat *block_format_of_ggml(uint32_t type);
float half_to_float(uint16_t half);

#endif
