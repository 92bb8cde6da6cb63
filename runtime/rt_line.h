/* rt_line.h: lines of a stream that may have no end. */
#ifndef RT_LINE_H
#define RT_LINE_H

#include <stddef.h>
#include <stdio.h>

enum { RT_LINE_NONE = -1, RT_LINE_TOO_LONG = -2 };

/* The next line with its end, NUL-terminated in *line[*room], which grows by realloc and belongs to the caller; returns its bytes.
 * RT_LINE_NONE at the end of the stream, and with ferror or without memory, errno said. RT_LINE_TOO_LONG for one of more than `most` bytes,
 * of which so many were read, and no more. */
long long rt_line_read(char **line, size_t *room, size_t most, FILE *from);

/* Bytes of a line for a model of so many positions: twice the longest piece that a tokenizer may have, for each, and 4 MiB at least, so
 * that what does not fit is mostly counted before it is refused. */
static inline size_t rt_line_most(int positions)
{
    enum { EACH = 4096, LEAST = 4 << 20 };
    const size_t most = (size_t)(positions > 0 ? positions : 0) * EACH;
    return most > LEAST ? most : LEAST;
}

#endif
