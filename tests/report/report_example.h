/* report_example.h: a page of `bench --report` of numbers that are made up, so that all that is
 * hard to draw comes: shares of 129 %, levels of memory that are almost equally fast, speeds of
 * very different sizes. */
#ifndef REPORT_EXAMPLE_H
#define REPORT_EXAMPLE_H

#include "bench.h"

typedef struct ReportExample { Bench *benches[2]; int count; Text page, chart; } ReportExample;

/* Of an encoder-decoder, or with `sentences` of an encoder; report_example_free after it. */
ReportExample report_example(bool sentences);
void report_example_free(ReportExample *x);

#endif
