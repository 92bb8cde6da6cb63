/* bench_table.h: a Markdown table with aligned columns, readable as plain text. */
#ifndef BENCH_TABLE_H
#define BENCH_TABLE_H

#include <stdbool.h>
#include <stdio.h>

enum { BENCH_COLUMNS = 12 };

/* cells[rows]: row 0 has the headings. The first `left` columns are aligned to the left, and the
 * others to the right. Texts are UTF-8; each character counts as one column of the terminal. */
typedef struct BenchTable { const char *(*cells)[BENCH_COLUMNS]; int rows, columns, left; } BenchTable;

void bench_table_print(const BenchTable *t, FILE *to);

#endif
