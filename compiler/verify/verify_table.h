/* verify_table.h: the distances found, one row for each tensor of two engines, and how they are printed. */
#ifndef VERIFY_TABLE_H
#define VERIFY_TABLE_H

#include <stdbool.h>
#include <stdio.h>

#include "arena.h"

typedef struct VerifyRow {
    const char *name, *engine, *against;
    double distance, tolerance;     /* infinity: missing, of another shape, not a number, or bits that differ in signs alone */
    double end_to_end;              /* of what was computed from the inputs on; so is `distance` */
    bool alone;                     /* unless this: it is of an operation alone, verify_alone.c */
    int order, made;                /* place of the tensor in order of execution; of the row, as it came */
} VerifyRow;

/* unknown: tensors of a reference that the model has not. Zeroed but for its arena. Texts given to it must live as long. */
typedef struct VerifyTable { Arena *arena; VerifyRow *rows; int count, room, expected; int unknown; } VerifyTable;

/* Enter a distance; of the same three names the largest stays. */
void table_add(VerifyTable *t, VerifyRow row);
/* Rows in order of execution. */
void table_sort(VerifyTable *t);
bool row_differs(const VerifyRow *row);
int table_differing(const VerifyTable *t);
const VerifyRow *table_first_differing(const VerifyTable *t);   /* NULL when all agree; of a sorted table */

/* Aligned columns and a summary; of a sorted table. Unless `all`, one row for each tensor: the one that differs most. */
void table_print(const VerifyTable *t, bool all, FILE *to);
/* One object. A distance that is not finite is null. */
void table_print_json(const VerifyTable *t, const char *const *engines, int n, const char *more, FILE *to);
/* "decoder.0.ffn (native (gcc) against generic): 3.1e-02 > 1e-05" */
const char *row_text(Arena *a, const VerifyRow *row);

#endif
