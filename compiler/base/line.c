/* line.c: see line.h. */
#include "line.h"

#include <errno.h>
#include <stdlib.h>

static int grow(char **line, size_t *room, size_t most)
{
    const size_t twice = 2 * *room + 256, next = twice < most + 1 ? twice : most + 1;
    char *more = realloc(*line, next);
    if (!more) return ENOMEM;
    *line = more, *room = next;
    return 0;
}

long long line_read(char **line, size_t *room, size_t most, FILE *from)
{
    size_t n = 0;
    int c = 0;
    errno = 0;
    while (c != '\n') {
        if (n + 1 >= *room && n < most && grow(line, room, most)) return errno = ENOMEM, LINE_NONE;
        c = getc_unlocked(from);
        if (c == EOF) break;
        if (n == most) return LINE_TOO_LONG;
        (*line)[n++] = (char)c;
    }
    if (!n || (c == EOF && ferror(from))) return LINE_NONE;
    (*line)[n] = '\0';
    return (long long)n;
}
