/* report_example.h: the page and the chart of `bench` from made-up numbers that are hard to draw:
 * shares of 129 %, memory levels of almost the same speed, speeds of very different magnitude. */
#ifndef REPORT_EXAMPLE_H
#define REPORT_EXAMPLE_H

#include "bench.h"

typedef struct ReportExample { Bench *benches[2]; int count; Text page, chart; } ReportExample;

/* Benches of an encoder-decoder, or of an encoder if `sentences` is set, with their page and chart.
 * The caller frees the example with report_example_free. */
ReportExample report_example(bool sentences);
void report_example_free(ReportExample *x);

#endif
