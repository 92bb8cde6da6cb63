/* rt_generation_range.c: check that settings made by a program are in the ranges of
 * rt_generation_options.def. A command line uses rt_generation_set instead, setting by setting. */
#include "rt_generation.h"
#include "rt_stops.h"

/* One function per kind of the table. 0 means off, even if the range excludes it; NaN is in no
 * range. */
static int in_INTEGER(const int *n, double least, double most) { return *n == 0 || (*n >= least && *n <= most); }
static int in_REAL(const float *x, double least, double most) { return (double)*x >= least && (double)*x <= most; }
static int in_ABOVE(const float *x, double least, double most) { return in_REAL(x, least, most); }
static int in_DOUBLE(const double *x, double least, double most) { return *x >= least && *x <= most; }
static int in_SEED(const uint64_t *n, double least, double most) { return (void)n, (void)least, (void)most, 1; }

static int in_WORD(const RtBeamStop *w, double least, double most)
{
    (void)least, (void)most;
    return *w == RT_BEAM_STOP_FALSE || *w == RT_BEAM_STOP_TRUE || *w == RT_BEAM_STOP_NEVER;
}

int rt_generation_in_range(const RtGeneration *g)
{
    const RtProcessors *p = &g->processors;
    const int counts[] = { g->max_length, g->end_count, p->bad_words_room, p->min_length, p->min_new,
                           p->suppress_count, p->begin_suppress_count };
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        if (counts[i] < 0) return 0;
    if (!rt_stops_good(g->stops, g->stop_count)) return 0;
#define RT_GENERATION_OPTION(id, letter, name, argument, doc, more, kind, member, least, most, expected) \
    if (!in_##kind(&g->member, least, most)) return 0;
#include "rt_generation_options.def"
#undef RT_GENERATION_OPTION
    return 1;
}
