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

typedef struct PickleTensors { PickleTensor *tensors; int count; const char *fault; } PickleTensors;

/* The tensors of a dictionary by its keys, or of that under "state_dict" or "model" where it holds none; what else it holds is passed
 * over. False: `fault` says why, with what is not allowed by name. Everything lives in the arena. */
bool pickle_tensors(Arena *a, const unsigned char *data, size_t size, PickleTensors *out);

#endif
