/* wrap.h: wrap text into lines of at most 80 columns. */
#ifndef WRAP_H
#define WRAP_H

#include <stdio.h>

/* The position of the next word. Lines begin with `indent` spaces. column: the width of the line so
 * far; 0 before its first word. */
typedef struct Wrap { FILE *to; int indent, column; } Wrap;

/* Add the words of `text`, UTF-8 separated by spaces. */
void wrap_words(Wrap *w, const char *text);

/* Write a paragraph: the words and a final newline. */
void wrap_text(FILE *to, int indent, const char *text);

#endif
