/* rt_lines.h: read the lines of an open file, and test without waiting whether one is ready. */
#ifndef RT_LINES_H
#define RT_LINES_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { RT_LINE_TOO_LONG = -2 };

/* All zero: standard input, nothing read yet. Nothing else may read from the file. */
typedef struct RtLines {
    int fd;
    size_t most;                            /* the most bytes of a line; 0: any number */
    char *data;  size_t begin, end, room;   /* bytes read and not yet returned */
    int ended;
} RtLines;

/* Read the next line, without its LF or CR LF: (*line)[*bytes], NUL-terminated, valid until the
 * next call of this function or of rt_lines_ready. Returns 1; 0: there are no more lines; -1 with
 * errno: it cannot be read, or there is no memory; RT_LINE_TOO_LONG: it is longer than l->most
 * bytes, and is not read to its end. */
int rt_lines_next(RtLines *l, char **line, size_t *bytes);
/* 1 if rt_lines_next would return without waiting; 0 if it may wait, or reading fails. */
int rt_lines_ready(RtLines *l);
void rt_lines_free(RtLines *l);

/* The most bytes of a line for a model of `positions` positions: twice the longest piece of a
 * tokenizer for each, and at least 4 MiB, so that most texts that do not fit are counted before
 * they are rejected. */
static inline size_t rt_line_most(int positions)
{
    const size_t least = 4 << 20, most = (size_t)(positions > 0 ? positions : 0) * 4096;
    return most > least ? most : least;
}

#ifdef __cplusplus
}
#endif

#endif
