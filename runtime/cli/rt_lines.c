/* rt_lines.c: buffered reading of lines; see rt_lines.h. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "rt_lines.h"
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Read once into the buffer, after the bytes in it, with room for a NUL. Returns 1; 0 at the end of
 * the file; -1 with errno. */
static int read_more(RtLines *l)
{
    enum { LEAST = 1 << 14 };
    if (l->begin) memmove(l->data, l->data + l->begin, l->end - l->begin);
    l->end -= l->begin, l->begin = 0;
    if (l->room - l->end < LEAST) {
        char *more = realloc(l->data, 2 * l->room + 2 * LEAST);
        if (!more) return -1;
        l->data = more, l->room = 2 * l->room + 2 * LEAST;
    }
    ssize_t n;
    do n = read(l->fd, l->data + l->end, l->room - l->end - 1);
    while (n < 0 && errno == EINTR);
    if (n < 0) return -1;
    l->ended = n == 0;
    l->end += (size_t)n;
    return n > 0;
}

/* 1 if the buffer holds more bytes than a line may have. */
static int is_too_long(const RtLines *l) { return l->most && l->end - l->begin > l->most; }

static char *line_end(const RtLines *l, size_t from) { return l->end > from ? memchr(l->data + from, '\n', l->end - from) : NULL; }

int rt_lines_next(RtLines *l, char **line, size_t *bytes)
{
    char *end = line_end(l, l->begin);
    while (!end && !l->ended && !is_too_long(l)) {
        const size_t seen = l->end - l->begin;
        if (read_more(l) < 0) return -1;
        end = line_end(l, l->begin + seen);
    }
    if (!end && l->begin == l->end) return 0;
    *line = l->data + l->begin;
    *bytes = end ? (size_t)(end - *line) : l->end - l->begin;
    if (l->most && *bytes > l->most) return RT_LINE_TOO_LONG;
    l->begin = end ? l->begin + *bytes + 1 : l->end;
    if (*bytes && (*line)[*bytes - 1] == '\r') --*bytes;
    (*line)[*bytes] = '\0';
    return 1;
}

int rt_lines_ready(RtLines *l)
{
    struct pollfd p = { .fd = l->fd, .events = POLLIN };
    while (!l->ended && !is_too_long(l) && !line_end(l, l->begin)) {
        if (poll(&p, 1, 0) != 1) return 0;
        if (read_more(l) < 0) return 0;
    }
    return 1;
}

void rt_lines_free(RtLines *l) { free(l->data); }
