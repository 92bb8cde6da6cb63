/* bench_page.h: parts of the pages of HTML that `bench` writes. A page needs no other file; it is dark
 * for readers who prefer dark colours, and fits a phone. */
#ifndef BENCH_PAGE_H
#define BENCH_PAGE_H

#include "bench.h"

/* Everything up to and including <h1>head</h1>; and the end. */
void bench_page_begin(Text *t, const char *title, const char *head);
void bench_page_end(Text *t);
/* A paragraph: the processor, and the instruction set of the kernels. */
void bench_page_machine(Text *t, const Bench *b);
/* Begin a table that scrolls sideways: its row of heads. A head that begins with | is of a column of
 * numbers. The caller adds the rows and "</table></div>". */
void bench_page_heads(Text *t, const char *const *heads, int n);
void bench_page_cell(Text *t, bool number, const char *s);

#endif
