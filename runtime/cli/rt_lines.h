/* rt_lines.h: the lines of an open file, and whether there is one without waiting for it. */
#ifndef RT_LINES_H
#define RT_LINES_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { RT_LINE_TOO_LONG = -2 };

/* All zero: standard input, nothing read yet. Nobody else may read from it. */
typedef struct RtLines {
    int fd;
    size_t most;                            /* bytes of a line; 0: any number */
    char *data;  size_t begin, end, room;   /* what was read and not yet given */
    int ended;
} RtLines;

/* The next line, without its end (a line feed, with a carriage return before it or not): (*line)[*bytes], NUL-terminated, until the
 * next call. Returns 1; 0 where there is none any more; -1 with errno where it cannot be read, or there is no memory; RT_LINE_TOO_LONG
 * for one of more than l->most bytes, which is not read to its end. */
int rt_lines_next(RtLines *l, char **line, size_t *bytes);
/* Whether rt_lines_next would answer at once. */
int rt_lines_ready(RtLines *l);
void rt_lines_free(RtLines *l);

/* Bytes of a line for a model of so many positions: twice the longest piece that a tokenizer may have, for each, and 4 MiB at least, so
 * that what does not fit is mostly counted before it is refused. */
static inline size_t rt_line_most(int positions)
{
    const size_t least = 4 << 20, most = (size_t)(positions > 0 ? positions : 0) * 4096;
    return most > least ? most : least;
}

#ifdef __cplusplus
}
#endif

#endif
