/* weights.h: the readers of files of tensors. Each maps its file and checks every size against
 * it before it is believed. Everything returned lives in the arena, the map until
 * tensor_file_close; NULL and false come after errors reported at `at`. */
#ifndef WEIGHTS_H
#define WEIGHTS_H

#include "dtypes.h"

/* Little-endian. */
static inline uint32_t bytes_u32(const unsigned char *p)
{
    return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

/* ---- numbers of a tensor -------------------------------------------------------------------------------- */

/* Of a matrix that lies in blocks of Q8_0 or Q4_0, each 32 numbers of a row: the bits of a
 * number, and the blocks of a row. 0 and NULL where it does not lie so, or not whole. */
int  tensor_block_bits(const TensorSource *t);
const unsigned char *tensor_blocks(const TensorSource *t, int64_t row);
/* Whether every number of it is a bf16 of a file, as it stands there. */
bool tensor_is_bf16(const TensorSource *t);
/* All elements as f32, row-major, into out[tensor_elements]. Reads unaligned files safely. */
void tensor_read(const TensorSource *t, float *out);
/* Some of its rows, along the first dimension, as a tensor of their own; false where that is not
 * possible. */
bool tensor_rows(const TensorSource *t, int64_t first, int64_t rows, TensorSource *part);
/* Whether `view` is that matrix with rows and columns exchanged. */
bool tensor_is_transposed(const TensorSource *view, const TensorSource *parent);

/* Map a safetensors file and check it by every rule of the format; NULL after errors reported to
 * `d` at `at`. */
TensorFile *safetensors_open(Arena *a, Diag *d, Loc at, const char *path);
/* A file or folder of tensors, by its content: safetensors, pytorch_model.bin (weights_torch.c),
 * a llama2.c checkpoint; a folder's model.safetensors, the shards of
 * model.safetensors.index.json, or pytorch_model.bin. NULL after errors. */
TensorFile *weights_open(Arena *a, Diag *d, Loc at, const char *path);
const TensorSource *tensor_file_find(const TensorFile *f, const char *name);   /* NULL if absent */
void tensor_file_close(TensorFile *f);
/* Weights are read again for every engine: whether they are still those of the model; false after
 * an error, which names the file that was written to since it was opened. */
bool weights_stay(Diag *d, const Model *m);
void tensor_file_sort(TensorFile *f);               /* its tensors by name, as tensor_file_find needs them */
/* The tensors of f->parts as its own. False after an error: a name in two parts. */
bool tensor_file_join(Arena *a, Diag *d, Loc at, TensorFile *f);
/* Take from its names what wrappers of training put there, such as module. and _orig_mod.: no
 * model has such parts. False after an error: two tensors of one name. */
bool tensor_file_unwrap(Arena *a, Diag *d, Loc at, TensorFile *f);
/* The file of weights of a folder; where there is none, what it would be called. */
const char *weights_file_of(Arena *a, const char *folder);

/* ---- formats -------------------------------------------------------------------------------------------- */

/* ggml's blocks: elements that share factors. Row i of ggml_blocks.c's table; NULL where there
 * is none. */
enum { BLOCK_MOST = 256 };
typedef struct BlockFormat {
    DType dtype;
    int ggml;                       /* its number of this type */
    /* All its elements, at most BLOCK_MOST. */
    void (*decode)(float *restrict out, const unsigned char *restrict block);
} BlockFormat;
const BlockFormat *block_format(DType dtype);
const BlockFormat *block_format_of_ggml(uint32_t type);

/* A zip of stored entries with a pickle, as torch.save writes. Nothing of the pickle is
 * executed: of what it may call only what makes tensors is known, anything else is refused by
 * name. */
TensorFile *torch_open(Arena *a, Diag *d, Loc at, const char *path);

/* What the header of a llama2.c checkpoint says; false after an error reported at `at`. */
typedef struct Checkpoint {
    int version;
    int64_t d, hidden, layers, heads, kv_heads, vocab, length;
    bool tied;
    int group;                      /* of version 2 */
    int64_t begin;                  /* bytes of the header */
} Checkpoint;
bool checkpoint_header(Diag *d, Loc at, const char *path, const unsigned char *data, size_t size, Checkpoint *out);
bool is_checkpoint(const unsigned char *data, size_t size);        /* a llama2.c checkpoint begins so */
/* A llama2.c checkpoint of version 0, 1 or 2; its tensors are called as Meta's:
 * layers.N.attention.wq.weight. */
TensorFile *checkpoint_open(Arena *a, Diag *d, Loc at, const char *path);

/* A GGUF file, or the parts of a split one; its tensors are called as there. */
TensorFile *gguf_open(Arena *a, Diag *d, Loc at, const char *path);

/* The tensors of an encoder's file and those of linears behind it, one file each; file i has
 * linear.weight, which is found as head.<i>.weight. The files are closed with what is returned,
 * and where NULL is. */
TensorFile *weights_with_linears(Arena *a, Diag *d, Loc at, TensorFile *encoder, const FieldList *files);

/* Note the tensors among the used ones, [count], that hold numbers which are not finite: no
 * answer comes of those. Whether there are any. */
bool weights_tell_strange(Diag *d, Loc at, const TensorFile *f, const bool *used);

/* The weight_map of a model.safetensors.index.json: which file each tensor lies in, files with
 * their folder. */
typedef struct WeightIndex {
    const char **tensor, **file_of;  int count;
    const char **file;  int files;          /* each once */
} WeightIndex;
bool weight_index_read(Arena *a, Diag *d, const char *path, WeightIndex *out);

#endif
