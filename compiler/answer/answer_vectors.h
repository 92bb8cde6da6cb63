/* answer_vectors.h: what an encoder alone answers, by `run` and at the prompt. */
#ifndef ANSWER_VECTORS_H
#define ANSWER_VECTORS_H

#include "engine.h"
#include "text.h"

/* Rows of numbers of the last source: its hidden states, or what the head makes of them. */
typedef struct Vectors {
    Engine *engine;
    const Buffer *buffer;
    bool one;                       /* one vector, however long the source */
    int rows, width;
    float *values;                  /* [rows][width], dense */
    int *places;                    /* [width]: of labels in order */
    float *all;                     /* of all texts of a batch, which `values` points into */
} Vectors;

/* On an engine whose model has an encoder alone; it lives in the arena. */
Vectors *vectors_new(Arena *a, Engine *e);
/* Encode ids[n], of which `first` from the start are of type 0, and read what comes out; the engine's status. */
rt_status vectors_encode(Vectors *v, const int *ids, int n, int first);
/* The same for several sources at once, one behind the other in ids: as many as vectors_fit lets in. Each is then read by vectors_take. */
rt_status vectors_encode_batch(Vectors *v, const int *ids, const int *lengths, const int *firsts, int count);
/* The numbers of the text whose ids began at `from` and whose length is n, the `text`th of the batch. */
void vectors_take(Vectors *v, int text, int from, int n);
/* Sources that a batch may have, and whether n more ids fit behind those whose lengths, rounded up to 16, sum to `place`. */
int vectors_most(const Vectors *v);
int vectors_rows(const Vectors *v);                         /* ids that they may have together */
bool vectors_fit(const Vectors *v, int place, int n);
/* As a program prints it: numbers with blanks between, or the likeliest label, or those that hold, with their scores. */
void vectors_print(const Vectors *v, Text *to);
/* As members of an object, each with a comma before it. */
void vectors_print_json(const Vectors *v, Text *to);
/* As floats of 32 bits, the lowest byte first. */
void vectors_print_raw(const Vectors *v, Text *to);

#endif
