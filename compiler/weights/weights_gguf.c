/* weights_gguf.c: open a GGUF file as a TensorFile, with dimensions in reverse order and names as
 * in the file. */
#include "weights.h"

#include <stdlib.h>
#include <string.h>

#include "dtypes.h"
#include "gguf.h"

static bool number_format(uint32_t ggml, DType *dtype)
{
    enum { GGML_F32 = 0, GGML_F16 = 1, GGML_F64 = 28, GGML_BF16 = 30 };
    const BlockFormat *block = block_format_of_ggml(ggml);
    if (block) *dtype = block->dtype;
    else if (ggml == GGML_F32) *dtype = DTYPE_F32;
    else if (ggml == GGML_F16) *dtype = DTYPE_F16;
    else if (ggml == GGML_F64) *dtype = DTYPE_F64;
    else if (ggml == GGML_BF16) *dtype = DTYPE_BF16;
    else *dtype = DTYPE_OTHER;
    return *dtype != DTYPE_OTHER;
}

/* ggml's name of an unsupported type; NULL if it is not in this table. */
static const char *ggml_name(uint32_t type)
{
    static const char *const names[] = {
        [7] = "Q5_1", [9] = "Q8_1", [10] = "Q2_K", [11] = "Q3_K", [15] = "Q8_K", [16] = "IQ2_XXS",
        [17] = "IQ2_XS", [18] = "IQ3_XXS", [19] = "IQ1_S", [20] = "IQ4_NL", [21] = "IQ3_S",
        [22] = "IQ2_S", [23] = "IQ4_XS", [24] = "I8", [25] = "I16", [26] = "I32", [27] = "I64",
        [29] = "IQ1_M", [34] = "TQ1_0", [35] = "TQ2_0", [39] = "MXFP4", [40] = "NVFP4",
    };
    return type < sizeof names / sizeof *names ? names[type] : NULL;
}

/* The size of a tensor in bytes; 0 if it has more blocks than `most`, the size of the file in
 * bytes. No dimension may be 0, and the first must be a multiple of the block's size. */
static uint64_t bytes_of(const GgufTensor *from, DType dtype, uint64_t most)
{
    const uint64_t block = (uint64_t)dtype_block(dtype);
    uint64_t n = 1;
    for (int k = 0; k < from->rank; k++) {
        if (from->dims[k] > most * block / n) return 0;
        n *= from->dims[k];
    }
    return n / block * dtype_bytes(dtype);
}

/* Why a tensor of this dtype cannot have these dimensions, or NULL. */
static const char *dims_fault(Arena *a, const GgufTensor *from, DType dtype)
{
    const int block = dtype_block(dtype);
    for (int k = 0; k < from->rank; k++)
        if (!from->dims[k]) return "has a dimension of 0";
    if (from->dims[0] % (uint64_t)block == 0) return NULL;
    return arena_format(a, "has rows of %llu element%s, not a multiple of its block size, %d",
                        (unsigned long long)from->dims[0], from->dims[0] == 1 ? "" : "s", block);
}

/* Where the data of a tensor is in the file. */
typedef struct Extent { uint64_t begin, end; GgufText name; } Extent;

static int by_begin(const void *a, const void *b)
{
    const Extent *x = a, *y = b;
    return x->begin < y->begin ? -1 : x->begin > y->begin;
}

static bool are_apart(Arena *a, Diag *d, Loc at, const char *path, Extent *extents, size_t n)
{
    qsort(extents, n, sizeof *extents, by_begin);
    for (size_t i = 1; i < n; i++) {
        if (extents[i].begin >= extents[i - 1].end) continue;
        diag_error(d, EXIT_BAD_DATA, at, "%s: tensor \"%s\" overlaps \"%s\"", path,
                   gguf_shown(a, extents[i].name), gguf_shown(a, extents[i - 1].name));
        return false;
    }
    return true;
}

static bool take_tensor(Arena *a, Diag *d, Loc at, TensorFile *f, const GgufTensor *from, TensorSource *t, Extent *extent)
{
    const char *name = gguf_shown(a, from->name);
    DType dtype;
    if (!number_format(from->type, &dtype)) {
        const char *type = ggml_name(from->type);
        if (!type) type = arena_format(a, "number %u", (unsigned)from->type);
        diag_error(d, EXIT_BAD_DATA, at, "%s: tensor \"%s\" has the ggml type %s, which is not "
                   "supported; F32, F16, BF16, F64, Q8_0, Q4_0, Q4_1, Q5_0, Q4_K, Q5_K and Q6_K "
                   "are", f->path, name, type);
        return false;
    }
    const char *fault = dims_fault(a, from, dtype);
    if (fault) {
        diag_error(d, EXIT_BAD_DATA, at, "%s: tensor \"%s\" %s", f->path, name, fault);
        return false;
    }
    const uint64_t bytes = bytes_of(from, dtype, f->map.size);
    if (!bytes || bytes > f->map.size || from->offset > f->map.size - bytes) {
        diag_error(d, EXIT_BAD_DATA, at, "%s: tensor \"%s\" extends past the end of the file", f->path,
                   name);
        return false;
    }
    *extent = (Extent){ from->offset, from->offset + bytes, from->name };
    *t = (TensorSource){ .kind = SOURCE_FILE, .dtype = dtype, .rank = from->rank, .file = f, .offset = (size_t)from->offset };
    t->name = t->file_name = arena_copy(a, from->name.s, from->name.n);
    int64_t stride = 1;
    for (int k = 0; k < t->rank; k++) {
        t->shape[t->rank - 1 - k] = (int64_t)from->dims[k];
        t->stride[t->rank - 1 - k] = stride;
        stride *= (int64_t)from->dims[k];
    }
    return true;
}

/* Make a TensorFile of a part; it takes over the part's map. */
static TensorFile *open_part(Arena *a, Diag *d, Loc at, const GgufPart *part)
{
    TensorFile *f = arena_alloc(a, sizeof *f);
    f->path = part->path;
    f->map = part->map;
    f->tensors = arena_array(a, (size_t)part->head.tensor_count, sizeof *f->tensors);
    Extent *extents = arena_array(a, (size_t)part->head.tensor_count, sizeof *extents);
    for (uint64_t i = 0; i < part->head.tensor_count; i++, f->count++)
        if (!take_tensor(a, d, at, f, &part->head.tensors[i], &f->tensors[i], &extents[i])) return NULL;
    if (f->count && !are_apart(a, d, at, f->path, extents, (size_t)f->count)) return NULL;
    tensor_file_sort(f);
    for (int i = 1; i < f->count; i++)
        if (!strcmp(f->tensors[i - 1].name, f->tensors[i].name)) {
            diag_error(d, EXIT_BAD_DATA, at, "%s: tensor \"%.100s\" appears twice", f->path,
                       f->tensors[i].name);
            return NULL;
        }
    return f;
}

TensorFile *gguf_open(Arena *a, Diag *d, Loc at, const char *path)
{
    GgufParts parts;
    if (!gguf_open_parts(a, d, at, path, &parts)) return NULL;
    TensorFile *f = arena_alloc(a, sizeof *f);
    f->path = parts.part->path;
    f->parts = arena_array(a, (size_t)parts.count, sizeof *f->parts);
    while (f->part_count < parts.count) {
        TensorFile *part = open_part(a, d, at, &parts.part[f->part_count]);
        if (!part) break;
        f->parts[f->part_count++] = part;
    }
    const bool good = f->part_count == parts.count;
    if (good && parts.count == 1) return f->parts[0];
    if (good && tensor_file_join(a, d, at, f)) return f;
    gguf_close_parts(&parts);
    return NULL;
}
