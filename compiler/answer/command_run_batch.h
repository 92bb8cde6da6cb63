/* command_run_batch.h: lines that wait to be read at once by an encoder alone, with what was said of them on the way. */
#ifndef COMMAND_RUN_BATCH_H
#define COMMAND_RUN_BATCH_H

#include <stdio.h>

#include "answer_vectors.h"

/* One line: offsets in `texts` of the line and of its messages, and its number. */
typedef struct BatchItem { size_t at, bytes, said, said_bytes, number; } BatchItem;

typedef struct Batch {
    Vectors *vectors;               /* NULL: texts are answered one by one */
    int *ids, *lengths, *firsts;    /* of all lines, one behind the other; their lengths; how many ids of each are of type 0 */
    BatchItem *items;
    int count, rows, place;         /* lines; ids; the same with each length rounded up to 16 */
    Text texts;
    FILE *said;                     /* what is said of the line that is being read */
    char *words;  size_t word_bytes;
} Batch;

/* All but `said` lives in the arena. */
void batch_open(Batch *b, Arena *a, Vectors *v);
void batch_close(Batch *b);
bool batch_fits(const Batch *b, int n);
/* One more, which fits. What was said of it since the last is kept with it. */
void batch_add(Batch *b, const int *ids, int n, int first, const char *text, size_t bytes, size_t number);
/* What was said since the last line was kept; then it is forgotten. */
const char *batch_words(Batch *b);
/* Forget all lines. */
void batch_clear(Batch *b);

#endif
