/* reading.h: read bytes in the ways that may be fastest on a processor: one stream or four, with
 * prefetching of what lies AHEAD bytes ahead, or without. */
#ifndef READING_H
#define READING_H

#include "measuring.h"

enum { LINES = 8, CHUNK = 64 * LINES, AHEAD = 2048 };
typedef int64_t Line __attribute__((vector_size(64)));

static const struct { int streams, ahead; } ways[] = { { 1, 0 }, { 4, 0 }, { 1, AHEAD }, { 4, AHEAD } };
enum { WAYS = sizeof ways / sizeof *ways };

/* Inlined: each constant number of streams gets its own loop. */
static inline __attribute__((always_inline)) int64_t sum_of(const unsigned char *from, size_t n, int streams, int ahead)
{
    const size_t share = n / (size_t)streams;
    Line sum[LINES] = { { 0 } };
    int64_t all = 0;
    for (size_t at = 0; at < share; at += CHUNK / (size_t)streams)
        for (int i = 0; i < LINES; i++) {
            const int stream = i % streams, line = i / streams;
            const unsigned char *p = from + (size_t)stream * share + at + 64 * (size_t)line;
            if (ahead) __builtin_prefetch(p + ahead);
            sum[i] += *(const Line *)(const void *)p;
        }
    for (int i = 0; i < LINES; i++) all += sum[i][0];
    return all;
}

/* Read n bytes, a multiple of CHUNK; `from` is aligned to 64 bytes. The sum that is returned
 * matters only because it keeps the compiler from removing the reads. */
static inline int64_t read_in_way(int way, const unsigned char *from, size_t n)
{
    return ways[way].streams == 4 ? sum_of(from, n, 4, ways[way].ahead) : sum_of(from, n, 1, ways[way].ahead);
}

/* The fastest way, from TRIES calls of read_all in each; it reads the same bytes at each call. */
static inline int fastest_way(void (*read_all)(void *context, int way), void *context)
{
    enum { TRIES = 4 };
    int64_t best = INT64_MAX;
    int fastest = 0;
    for (int i = 0; i < TRIES * WAYS; i++) {
        const int64_t begin = now_ns();
        read_all(context, i / TRIES);
        const int64_t time = now_ns() - begin;
        if (time < best) best = time, fastest = i / TRIES;
    }
    return fastest;
}

#endif
