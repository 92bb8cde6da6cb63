/* line.h: read lines of bounded length from a stream. */
#ifndef LINE_H
#define LINE_H

#include <stddef.h>
#include <stdio.h>

enum { LINE_NONE = -1, LINE_TOO_LONG = -2 };

/* Read the next line, with its line end, into *line[*room], NUL-terminated. The buffer grows by
 * realloc and belongs to the caller. Returns the length of the line in bytes. LINE_NONE: the stream
 * ended, or errno says that reading failed or memory ran out. LINE_TOO_LONG: the line is longer
 * than `most` bytes; most + 1 of them were consumed. */
long long line_read(char **line, size_t *room, size_t most, FILE *from);

#endif
