/* measuring.h: shared by the programs that measure: arguments, the time, memory, numbers to compute
 * with, and the end of the output. */
#ifndef MEASURING_H
#define MEASURING_H

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

enum { CACHE_LINE = 64, LARGE_PAGE = 2 << 20 };

/* The whole number that the text is, or -1 if it is none from 1 to `most`. */
static inline int64_t whole_number(const char *text, int64_t most)
{
    char *end;
    errno = 0;
    const long long n = strtoll(text, &end, 10);
    return errno || end == text || *end || n < 1 || n > most ? -1 : n;
}

/* The exit status of a program that has printed all: 74, after a message, if it cannot be written. */
static inline int end_output(const char *program)
{
    if (!fflush(stdout) && !ferror(stdout)) return 0;
    fprintf(stderr, "%s: cannot write\n", program);
    return 74;
}

static inline int64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* begin: from now_ns. */
static inline double seconds_since(int64_t begin) { return 1e-9 * (double)(now_ns() - begin); }

/* Allocate memory for at least `bytes` bytes and set it to `value`; the caller frees it. `alignment`
 * is CACHE_LINE or LARGE_PAGE; with the latter, large pages are used if the system provides them.
 * Exits with 69 if there is not enough memory. */
static inline void *room(size_t bytes, size_t alignment, int value)
{
    const size_t all = (bytes + alignment) / alignment * alignment;
    void *p = aligned_alloc(alignment, all);
    if (!p) {
        fprintf(stderr, "no memory for %zu bytes\n", all);
        exit(69);
    }
    if (alignment == LARGE_PAGE) madvise(p, all, MADV_HUGEPAGE);
    memset(p, value, all);
    return p;
}

/* n floats from -1 to 1, other ones at each call; the caller frees them. */
static inline float *random_floats(size_t n)
{
    static uint32_t state = 12345;
    float *p = room(n * sizeof *p, CACHE_LINE, 0);
    for (size_t i = 0; i < n; i++) {
        state = state * 1664525u + 1013904223u;
        p[i] = (float)(int)(state >> 8) / 8388608.0f - 1;
    }
    return p;
}

#endif
