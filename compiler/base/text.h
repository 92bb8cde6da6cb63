/* text.h: a growing text in an arena, and templates with named places. */
#ifndef TEXT_H
#define TEXT_H

#include <stdbool.h>
#include <stdint.h>

#include "arena.h"

typedef struct Text { Arena *arena; char *data; size_t size, room; } Text;   /* data is NUL-terminated, never NULL */

Text  text_new(Arena *a);
void  text_add(Text *t, const char *s);
void  text_add_bytes(Text *t, const char *s, size_t n);
void  text_printf(Text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* What may stand between the quotes of a C string for any bytes. */
void  text_add_quoted(Text *t, const char *s);
/* Append `template` with each ${name} replaced. `...` is name, value, name, value, …, NULL: all `const char *`.
 * A name that is not given, or given and not used, is a bug: die(). A value of several lines is indented like
 * the line that holds its place; a line that holds nothing but an empty value disappears, and of a value alone on
 * its line a last newline is dropped. */
void  text_fill(Text *t, const char *template, ...);

/* A size in memory for a person to read: "1.25 GiB", "nothing". */
const char *text_bytes(Arena *a, size_t bytes);
/* The number of "262144", "256K", "1M" or "2G"; false where it is none, or 0. */
bool text_to_bytes(const char *text, size_t *bytes);

/* The length of the well-formed UTF-8 character at `s`, of which `n` bytes may be read, and its code point; 0 if there is none. */
int   utf8_next(const char *s, size_t n, int32_t *code_point);

#endif
