/* weights_pickle.h: read the tensors in a pickle written by torch.save. A pickle is a program for a
 * stack machine; the machine here executes only what makes tensors and plain values such as
 * dictionaries, and stops at anything else. It never calls a function that a pickle names. */
#ifndef WEIGHTS_PICKLE_H
#define WEIGHTS_PICKLE_H

#include "model.h"

/* A tensor whose elements are at offset + the sum of index * stride in the storage `key`. Nothing
 * here checks that they are within the storage. */
typedef struct PickleTensor {
    const char *name, *key;
    DType dtype;
    int rank;
    int64_t offset, shape[MAX_RANK], stride[MAX_RANK];      /* not negative */
} PickleTensor;

/* A storage that the pickle names, with or without tensors in it. */
typedef struct PickleStorage { const char *key; DType dtype; int64_t elements; } PickleStorage;

/* used: size of the pickle in bytes; the data may continue after it. */
typedef struct PickleTensors {
    PickleTensor *tensors;  int count;
    PickleStorage *storages;  int storage_count;
    size_t used;
    const char *fault;
} PickleTensors;

/* Read the tensors of a dictionary, named by its keys; if it has none, those of an inner dictionary
 * such as "state_dict" or "model". Other values are ignored. False: `fault` is the reason; if a
 * name is not allowed, it quotes the name. Everything lives in the arena. */
bool pickle_tensors(Arena *a, const unsigned char *data, size_t size, PickleTensors *out);

/* The strings of a list; the number at a key of a dictionary. NULL or -1 if there is no such thing,
 * or the pickle is invalid. */
const char **pickle_texts(Arena *a, const unsigned char *data, size_t size, int *count, size_t *used);
int64_t pickle_number(Arena *a, const unsigned char *data, size_t size, const char *key, size_t *used);

#endif
