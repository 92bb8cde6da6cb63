/* line.h: lines of a stream that may have no end. */
#ifndef LINE_H
#define LINE_H

#include <stddef.h>
#include <stdio.h>

enum { LINE_NONE = -1, LINE_TOO_LONG = -2 };

/* The next line with its end, NUL-terminated in *line[*room], which grows by realloc and belongs to the caller; returns its bytes.
 * LINE_NONE at the end of the stream, and with ferror or without memory, errno said. LINE_TOO_LONG for one of more than `most` bytes,
 * of which so many were read, and no more. */
long long line_read(char **line, size_t *room, size_t most, FILE *from);

#endif
