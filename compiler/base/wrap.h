/* wrap.h: words in lines of at most 80 columns. */
#ifndef WRAP_H
#define WRAP_H

#include <stdio.h>

/* Where the next word goes. Lines begin with `indent` blanks. column: of the line so far; 0 before
 * its first word. */
typedef struct Wrap { FILE *to; int indent, column; } Wrap;

/* Add the words of `text`, UTF-8 with blanks between them. */
void wrap_words(Wrap *w, const char *text);

/* A paragraph of its own: the words, and the end of the line. */
void wrap_text(FILE *to, int indent, const char *text);

#endif
