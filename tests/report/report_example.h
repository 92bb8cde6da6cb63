/* report_example.h: a page of `bench --report` from made-up numbers that are hard to draw: shares
 * of 129 %, memory levels of almost the same speed, speeds of very different magnitude. */
#ifndef REPORT_EXAMPLE_H
#define REPORT_EXAMPLE_H

#include "bench.h"

typedef struct ReportExample { Bench *benches[2]; int count; Text page, chart; } ReportExample;

/* An encoder-decoder; with `sentences`, an encoder. Free it with report_example_free. */
ReportExample report_example(bool sentences);
void report_example_free(ReportExample *x);

#endif
