/* rt_timing.c: measure an answer and print three lines about it; see rt_timing.h. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "rt_timing.h"
#include <stdio.h>
#include <time.h>

static int64_t now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

void rt_timing_begin(RtTiming *t, int input, int prompt, int kept)
{
    *t = (RtTiming){ .input = input - kept, .prompt = prompt - kept, .kept = kept, .begin = now() };
    t->first = t->last = t->begin;
}

void rt_timing_anew(RtTiming *t)
{
    t->input += t->kept, t->prompt += t->kept;
    t->kept = 0;
}

void rt_timing_fed(RtTiming *t, int rows)
{
    const int within = t->fed < t->prompt;
    t->fed += rows;
    t->last = now();
    if (within) t->first = t->last;
    else t->steps++;
}

static void print_rate(const char *name, const char *what, double ms, int tokens)
{
    const double each = tokens ? ms / tokens : 0, rate = ms > 0 ? 1e3 * tokens / ms : 0;
    fprintf(stderr, "%s: %16s = %10.2f ms / %5d tokens (%8.2f ms per token, %8.2f tokens per second)\n", name, what, ms, tokens, each, rate);
}

void rt_timing_print(const RtTiming *t, const char *name)
{
    const double prompt = (double)(t->first - t->begin) / 1e6, steps = (double)(t->last - t->first) / 1e6;
    print_rate(name, "prompt eval time", prompt, t->input);
    print_rate(name, "eval time", steps, t->steps);
    fprintf(stderr, "%s: %16s = %10.2f ms / %5d tokens\n", name, "total time", prompt + steps, t->input + t->steps);
}
