/* weights.h: readers of tensor files. Each maps its file and checks every size against the file's
 * before using it. All results live in the arena; the map lasts until tensor_file_close. Functions
 * that take a Diag return NULL or false after errors, unless a comment says otherwise. */
#ifndef WEIGHTS_H
#define WEIGHTS_H

#include "dtypes.h"

/* Little-endian. */
static inline uint32_t bytes_u32(const unsigned char *p)
{
    return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

/* ---- numbers of a tensor -------------------------------------------------------------------------------- */

/* For a matrix that is used as stored, in whole Q8_0 or Q4_0 blocks with 32 numbers of a row each:
 * the bits of a number, and the first block of a row. 0 and NULL for any other tensor. */
int  tensor_block_bits(const TensorSource *t);
const unsigned char *tensor_blocks(const TensorSource *t, int64_t row);
/* True if all numbers are stored as bf16 in a file and used unchanged. */
bool tensor_is_bf16(const TensorSource *t);
/* Read all elements as f32, row-major, into out[tensor_elements]. Data may be unaligned. */
void tensor_read(const TensorSource *t, float *out);
/* Make a tensor of some of the rows, along the first dimension; false if that is not possible. */
bool tensor_rows(const TensorSource *t, int64_t first, int64_t rows, TensorSource *part);
/* True if `view` and `parent` are two matrices, and the shape and strides of `view` are those of
 * the transpose of `parent`. */
bool tensor_is_transposed(const TensorSource *view, const TensorSource *parent);

/* Map a safetensors file and check it by every rule of the format; NULL after errors reported to
 * `d` at `at`. */
TensorFile *safetensors_open(Arena *a, Diag *d, Loc at, const char *path);
/* Open a file or folder of tensors. The content of a file decides its type: safetensors, torch.save
 * (weights_torch.c), a llama2.c checkpoint, GGUF, or an index of shards. In a folder, the first of
 * these files that exists is opened: model.safetensors, model.safetensors.index.json,
 * pytorch_model.bin, pytorch_model.bin.index.json. NULL after errors. */
TensorFile *weights_open(Arena *a, Diag *d, Loc at, const char *path);
const TensorSource *tensor_file_find(const TensorFile *f, const char *name);   /* NULL if absent */
void tensor_file_close(TensorFile *f);
/* Check that no weight file of the model has been written to since it was opened: every engine
 * reads the weights again. False after an error, which names the file. */
bool weights_stay(Diag *d, const Model *m);
void tensor_file_sort(TensorFile *f);               /* by name, for tensor_file_find */
/* Join the tensors of f->parts into f. False after an error: two parts have a tensor of the same
 * name. */
bool tensor_file_join(Arena *a, Diag *d, Loc at, TensorFile *f);
/* Remove the prefixes that training wrappers add to names, such as module. and _orig_mod. (no
 * model's own names have them). False after an error: two tensors then have the same name. */
bool tensor_file_unwrap(Arena *a, Diag *d, Loc at, TensorFile *f);
/* The path of the weight file of a folder; if there is none, that of model.safetensors in it. */
const char *weights_file_of(Arena *a, const char *folder);

/* ---- formats -------------------------------------------------------------------------------------------- */

/* A block format of ggml: elements that share factors. Both functions return NULL for a type that
 * is not in the table of ggml_blocks.c. */
enum { BLOCK_MOST = 256 };
typedef struct BlockFormat {
    DType dtype;
    int ggml;                       /* the ggml_type value */
    /* Decode all elements of a block, at most BLOCK_MOST. */
    void (*decode)(float *restrict out, const unsigned char *restrict block);
} BlockFormat;
const BlockFormat *block_format(DType dtype);
const BlockFormat *block_format_of_ggml(uint32_t type);

/* Open a file written by torch.save. No function named in its pickle is called: only the names that
 * tensors and dictionaries need are known, and any other name is an error that quotes it. */
TensorFile *torch_open(Arena *a, Diag *d, Loc at, const char *path);

/* The header of a llama2.c checkpoint; false after an error reported at `at`. */
typedef struct Checkpoint {
    int version;
    int64_t d, hidden, layers, heads, kv_heads, vocab, length;
    bool tied;
    int group;                      /* version 2: how many numbers share a factor */
    int64_t begin;                  /* size of the header, in bytes */
} Checkpoint;
bool checkpoint_header(Diag *d, Loc at, const char *path, const unsigned char *data, size_t size, Checkpoint *out);
bool is_checkpoint(const unsigned char *data, size_t size);        /* begins like one of llama2.c */
/* Open a llama2.c checkpoint of version 0, 1 or 2; its tensors have Meta's names, such as
 * layers.N.attention.wq.weight. */
TensorFile *checkpoint_open(Arena *a, Diag *d, Loc at, const char *path);

/* Open a GGUF file, or the parts of a split one; tensors keep their GGUF names. */
TensorFile *gguf_open(Arena *a, Diag *d, Loc at, const char *path);

/* Join the tensors of an encoder's file with those of the linears after it, which have one file
 * each. linear.weight of file i becomes head.<i>.weight. tensor_file_close of the result closes all
 * of them; they are also closed if NULL is returned. */
TensorFile *weights_with_linears(Arena *a, Diag *d, Loc at, TensorFile *encoder, const FieldList *files);

/* Remark on tensors with used[i], i < f->count, that contain infinities or NaN, which spoil the
 * model's results: name the first three, and count the rest. True if there are any. Only dense F32,
 * F16 and BF16 tensors and the factors of dense I8 tensors are checked. */
bool weights_tell_strange(Diag *d, Loc at, const TensorFile *f, const bool *used);

/* The weight_map of an index of shards, such as model.safetensors.index.json: the file of each
 * tensor, as a path. */
typedef struct WeightIndex {
    const char **tensor, **file_of;  int count;
    const char **file;  int files;          /* without duplicates */
} WeightIndex;
bool weight_index_read(Arena *a, Diag *d, const char *path, WeightIndex *out);

#endif
