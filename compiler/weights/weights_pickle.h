/* weights_pickle.h: the pickle of torch.save as tensors. It is a program for a small machine of stacks; ours knows what makes tensors and
 * dictionaries of them, and stops at anything else: no name that it holds is ever called. */
#ifndef WEIGHTS_PICKLE_H
#define WEIGHTS_PICKLE_H

#include "model.h"

/* Elements offset + sum of place * stride of the storage `key`. Nothing is compared with the storage's size. */
typedef struct PickleTensor {
    const char *name, *key;
    DType dtype;
    int rank;
    int64_t offset, shape[MAX_RANK], stride[MAX_RANK];      /* not negative */
} PickleTensor;

/* A storage that the pickle names, whether a tensor is made of it or not. */
typedef struct PickleStorage { const char *key; DType dtype; int64_t elements; } PickleStorage;

/* used: bytes up to the pickle's end, behind which more may stand. */
typedef struct PickleTensors {
    PickleTensor *tensors;  int count;
    PickleStorage *storages;  int storage_count;
    size_t used;
    const char *fault;
} PickleTensors;

/* The tensors of a dictionary by its keys, or of that under "state_dict" or "model" where it holds none; what else it holds is passed
 * over. False: `fault` says why, with what is not allowed by name. Everything lives in the arena. */
bool pickle_tensors(Arena *a, const unsigned char *data, size_t size, PickleTensors *out);

/* The texts of a list, and the number of a dictionary's key; NULL, -1 where there is no such thing, or the pickle is none. */
const char **pickle_texts(Arena *a, const unsigned char *data, size_t size, int *count, size_t *used);
int64_t pickle_number(Arena *a, const unsigned char *data, size_t size, const char *key, size_t *used);

#endif
