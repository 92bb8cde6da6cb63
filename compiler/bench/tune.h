/* tune.h: find the fastest of several ways to do the same work on this machine. Ways are measured
 * in turn, and one is chosen only if it wins by more than the measurement noise.
 *
 * A *way* differs from the default one in a single choice that changes no bit of a result.
 * Everything lives in the session's arena. */
#ifndef TUNE_H
#define TUNE_H

#include "bench.h"

/* The caller fills all of it. */
typedef struct Tune {
    Bench bench;                    /* needs: session, arena, plan, threads, tests; repetitions: the
                                     * rounds; seconds: for each way, over all rounds */
    Tuning *result;
} Tune;

/* Choose one of `ways`; 0 is the default one. ns[way][round] are times, all above 0. For each other
 * way take the ratios of its times to those of way 0, round by round. It qualifies if their median
 * is below 1 by at least 0.02 and by more than their interquartile range; at least three rounds are
 * needed. Returns the qualifying way with the least median, else 0. */
int tune_choose(Arena *a, const double *const *ns, int ways, int rounds);

/* Find the best cut of every linear: with the jit on one thread, run each test, except e2e and
 * batches, with every cut, in turn. gives: result->calls, in the order of NAME_kernels.h. False
 * after an error. */
bool tune_calls(Tune *t);

/* Choose threads, form of layers and instruction set by timing whole runs with the jit. gives:
 * result->threads, layers, isa and their notes. False after an error. */
bool tune_whole(Tune *t);

/* True if two engines of emitted code run a test without an error and give the same bits. */
bool tune_same(const Tune *t, const BenchTest *test, Engine *a, Engine *b);

/* Open a jit engine with the session's options, but one thread and this tuning; an isa other than
 * NULL and a layers form other than 0 replace those of the options. watched: its operations can be
 * watched. NULL after an error. */
Engine *tune_engine(Tune *t, const Tuning *tuning, const char *isa, LayersForm layers, bool watched);

/* Show on a progress line what is being measured; `what` NULL clears the line. */
void tune_progress(const Tune *t, const char *what, int round);

#endif
