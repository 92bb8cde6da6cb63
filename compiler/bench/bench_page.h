/* bench_page.h: parts of the HTML pages that `bench` writes. A page is self-contained; it is dark
 * for readers who prefer dark colours, and fits a phone screen. */
#ifndef BENCH_PAGE_H
#define BENCH_PAGE_H

#include "bench.h"

/* bench_page_begin: everything up to and including <h1>head</h1>. bench_page_end: the end of the
 * page. */
void bench_page_begin(Text *t, const char *title, const char *head);
void bench_page_end(Text *t);
/* A paragraph: the processor, if its name is known, and the instruction set of the loops that
 * probed its limits. */
void bench_page_machine(Text *t, const Bench *b);
/* Begin a table that scrolls sideways, with its row of headings. A heading that begins with | is
 * for a column of numbers. The caller adds the rows and "</table></div>". */
void bench_page_heads(Text *t, const char *const *heads, int n);
void bench_page_cell(Text *t, bool number, const char *s);
/* A cell of words, which may take several lines. */
void bench_page_words(Text *t, const char *s);

#endif
