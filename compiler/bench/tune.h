/* tune.h: which of several ways to do the same is the fastest here: measured in turns, and taken only where it is sure.
 *
 * A *way* differs from the usual one in a single choice that changes no bit. Everything lives in the session's arena. */
#ifndef TUNE_H
#define TUNE_H

#include "bench.h"

/* What is measured. needs: all of it. */
typedef struct Tune {
    Bench bench;                    /* with session, arena, plan, tests, limits; repetitions: the rounds; seconds: for each way, in all */
    Tuning *result;
} Tune;

/* The way to take of `ways`, 0 the usual one: ns[way][round], every time above 0. Another is taken where it is faster by at least a
 * fiftieth and by more than the spread: the median of its times over those of way 0, round by round, is that far below 1, the spread is
 * from the first quartile of these ratios to the third. Of several that one with the least median. */
int tune_choose(Arena *a, const double *const *ns, int ways, int rounds);

/* How every linear is best cut: on the jit, on one thread, runs of each test cut in every way, in turns. gives: result->calls, in the
 * order of NAME_kernels.h. False after an error. */
bool tune_calls(Tune *t);

/* Threads, layers and instruction sets, by whole runs on the jit. gives: result->threads, layers, isa and their notes. */
bool tune_whole(Tune *t);

/* Whether two engines of emitted code left the same bits after one run each of a test. */
bool tune_same(const Tune *t, const BenchTest *test, Engine *a, Engine *b);

/* The jit with one choice other than the given ones, to be watched or not; NULL after an error. */
Engine *tune_engine(Tune *t, const Tuning *tuning, const char *isa, LayersForm layers, bool watched);

/* "\r…" on a terminal: what is being measured. NULL: nothing any more. */
void tune_progress(const Tune *t, const char *what, int round);

#endif
