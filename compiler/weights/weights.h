/* weights.h: the readers of files of tensors. Each maps its file and checks every size against it before it is believed.
 * Everything returned lives in the arena, the map until tensor_file_close; NULL and false come after errors told at `at`. */
#ifndef WEIGHTS_H
#define WEIGHTS_H

#include "fields.h"

uint32_t bytes_u32(const unsigned char *p);         /* little-endian */

/* A zip of stored entries with a pickle, as torch.save writes. Nothing of the pickle is executed: of what it may call only what makes
 * tensors is known, anything else is refused by name. */
TensorFile *torch_open(Arena *a, Diag *d, Loc at, const char *path);
/* A llama2.c checkpoint of version 0, 1 or 2; its tensors are called as Meta's: layers.N.attention.wq.weight. */
TensorFile *checkpoint_open(Arena *a, Diag *d, Loc at, const char *path);

/* A GGUF file; its tensors are called as there. */
TensorFile *gguf_open(Arena *a, Diag *d, Loc at, const char *path);

/* The tensors of an encoder's file and those of linears behind it, one file each; file i has linear.weight, which is found as
 * head.<i>.weight. The files are closed with what is returned, and where NULL is. */
TensorFile *weights_with_linears(Arena *a, Diag *d, Loc at, TensorFile *encoder, const Whole *files);

/* Note the tensors among the used ones, [count], that hold numbers which are not finite: no answer comes of those. */
void weights_tell_strange(Diag *d, Loc at, const TensorFile *f, const bool *used);

/* The weight_map of a model.safetensors.index.json: which file each tensor lies in, files with their folder. */
typedef struct WeightIndex {
    const char **tensor, **file_of;  int count;
    const char **file;  int files;          /* each once */
} WeightIndex;
bool weight_index_read(Arena *a, Diag *d, const char *path, WeightIndex *out);

#endif
