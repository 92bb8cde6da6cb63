/* verify_table.h: a table of distances, one row for each tensor of each pair compared, and printing
 * it. */
#ifndef VERIFY_TABLE_H
#define VERIFY_TABLE_H

#include <stdbool.h>
#include <stdio.h>

#include "arena.h"

typedef struct VerifyRow {
    const char *name, *engine, *against;
    double distance, tolerance;     /* distance: infinity if the tensor is missing, has a different
                                     * shape or is not finite, or, if all bits must agree, if only
                                     * signs of zeros differ */
    double end_to_end;              /* the distance of results computed from the model's inputs, not
                                     * in isolation */
    bool alone;                     /* for some input, the distance is that of the operation in
                                     * isolation: verify_alone.c */
    int order, made;                /* index of the tensor in order of execution; index of the row
                                     * in order of entry */
} VerifyRow;

/* Begins zeroed except for its arena. Strings in rows must live as long as the table. unknown: the
 * number of tensors of a reference that the model lacks. */
typedef struct VerifyTable { Arena *arena; VerifyRow *rows; int count, room, expected; int unknown; } VerifyTable;

/* Add a distance; among rows with the same three names, only the largest distance is kept. */
void table_add(VerifyTable *t, VerifyRow row);
/* Sort the rows in order of execution. */
void table_sort(VerifyTable *t);
bool row_differs(const VerifyRow *row);
int table_differing(const VerifyTable *t);
const VerifyRow *table_first_differing(const VerifyTable *t);   /* of a sorted table; NULL: none */

/* Print a sorted table in aligned columns, and a summary. Unless `all`, print for each tensor only
 * the row that differs most. */
void table_print(const VerifyTable *t, bool all, FILE *to);
/* Print a JSON object. A distance that is not finite is null. */
void table_print_json(const VerifyTable *t, const char *const *engines, int n, const char *more, FILE *to);
/* "decoder.0.ffn (native (gcc) against generic): 3.1e-02 > 1e-05" */
const char *row_text(Arena *a, const VerifyRow *row);

#endif
