/* bench_table.c: print a Markdown table with aligned columns. */
#include "bench_table.h"

static int width_of(const BenchTable *t, int column)
{
    int widest = 0;
    for (int r = 0; r < t->rows; r++) {
        int n = 0;
        for (const char *s = t->cells[r][column]; *s; s++) n += (*s & 0xc0) != 0x80;
        if (n > widest) widest = n;
    }
    return widest;
}

static void print_cell(const char *text, int width, bool left, FILE *to)
{
    int n = 0;
    for (const char *s = text; *s; s++) n += (*s & 0xc0) != 0x80;
    if (left) fprintf(to, "| %s%*s ", text, width - n, "");
    else fprintf(to, "| %*s%s ", width - n, "", text);
}

void bench_table_print(const BenchTable *t, FILE *to)
{
    for (int r = 0; r < t->rows; r++) {
        for (int c = 0; c < t->columns; c++) print_cell(t->cells[r][c], width_of(t, c), c < t->left, to);
        fputs("|\n", to);
        for (int c = 0; r == 0 && c < t->columns; c++) {
            fputs("| ", to);
            for (int i = 1; i < width_of(t, c); i++) fputc('-', to);
            fputs(c < t->left ? "- " : ": ", to);
        }
        if (r == 0) fputs("|\n", to);
    }
}
