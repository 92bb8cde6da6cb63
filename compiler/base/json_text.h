/* json_text.h: strings and numbers as JSON, which always parses. */
#ifndef JSON_TEXT_H
#define JSON_TEXT_H

#include "text.h"

/* A string literal of `n` bytes; what is not UTF-8 becomes U+FFFD. */
void json_add_bytes(Text *to, const char *s, size_t n);
void json_add_string(Text *to, const char *s);
/* Nine digits; null for what is not finite, which JSON cannot say. */
void json_add_number(Text *to, double x);

/* The JSON text s[n] with whole numbers beyond 64 bits, which some readers refuse, as real ones of the same width: 1e30 and blanks. It is s
 * itself where there are none, else a copy with a NUL behind. */
const char *json_shorten_integers(Arena *a, const char *s, size_t n);

/* What a parser says, without the piece of the text that it found last. */
const char *json_fault(Arena *a, const char *said);

#endif
