/* text.h: growing texts in an arena, templates with named placeholders, numbers of bytes as text,
 * and UTF-8. */
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

/* Append `s` escaped for use inside the quotes of a C string; any bytes are allowed. */
void  text_add_quoted(Text *t, const char *s);
/* Append `template` with each ${name} replaced. `...` is name, value, name, value, …, NULL: all
 * `const char *`. A name that is missing, or given but not used, is a bug: die(). A value of
 * several lines is indented like the line of its placeholder. If a placeholder is alone on its
 * line, an empty value removes the line, and a final newline of the value is dropped. */
void  text_fill(Text *t, const char *template, ...);

/* A number of bytes as text: "1.25 GiB", "1 byte". */
const char *text_bytes(Arena *a, size_t bytes);
/* Parse "262144", "256K", "1M" or "2G"; false if it is not such a number, or is 0. */
bool text_to_bytes(const char *text, size_t *bytes);

/* The words in quotes, joined by commas: "a", "b". */
const char *text_list(Arena *a, const char *const *words, int n);

/* True if `text` ends with `ending`. */
bool text_ends(const char *text, const char *ending);

/* The length of the well-formed UTF-8 character at s[n], and its code point; 0 if there is none. */
int   utf8_next(const char *s, size_t n, int32_t *code_point);

#endif
