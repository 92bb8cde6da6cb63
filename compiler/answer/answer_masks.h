/* answer_masks.h: what a masked language model answers in the places of its masks. */
#ifndef ANSWER_MASKS_H
#define ANSWER_MASKS_H

#include "answer_vectors.h"
#include "tokenizer.h"

/* The numbers of a source, a row of logits for each id, and that source. */
typedef struct Masks {
    const Vectors *vectors;
    const int *ids;                 /* [vectors->rows] */
    int id;                         /* of a mask */
    const RtTokenizer *tokenizer;   /* NULL: ids are shown */
} Masks;

/* How many masks there are among ids[n]. */
int masks_count(const Masks *m, int n);
/* As a program prints them: of each mask the likeliest tokens with their probabilities. */
void masks_print(const Masks *m, Text *to);
/* As a member of an object, with a comma before it. */
void masks_print_json(const Masks *m, Text *to);

#endif
