/* rt_lines.h: the lines of an open file, and whether there is one without waiting for it. */
#ifndef RT_LINES_H
#define RT_LINES_H

#include "rt_line.h"

#ifdef __cplusplus
extern "C" {
#endif

/* All zero: standard input, nothing read yet. Nobody else may read from it. */
typedef struct RtLines {
    int fd;
    char *data;  size_t begin, end, room;   /* what was read and not yet given */
    int ended;
    size_t most;                    /* bytes of a line with its end; 0: as many as there are */
} RtLines;

/* The next line, without its end (a line feed, with a carriage return before it or not): (*line)[*bytes], NUL-terminated, until the
 * next call. Returns 1; 0 where there is none any more; -1 with errno where it cannot be read, or there is no memory; RT_LINE_TOO_LONG. */
int rt_lines_next(RtLines *l, char **line, size_t *bytes);
/* Whether rt_lines_next would answer at once. */
int rt_lines_ready(RtLines *l);
void rt_lines_free(RtLines *l);

#ifdef __cplusplus
}
#endif

#endif
