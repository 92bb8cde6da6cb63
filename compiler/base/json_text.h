/* json_text.h: write strings and numbers as valid JSON. */
#ifndef JSON_TEXT_H
#define JSON_TEXT_H

#include "text.h"

/* A string literal of `n` bytes; each byte that is not part of valid UTF-8 becomes U+FFFD. */
void json_add_bytes(Text *to, const char *s, size_t n);
void json_add_string(Text *to, const char *s);
/* At most nine significant digits; null for infinities and NaN, which JSON does not have. */
void json_add_number(Text *to, double x);

#endif
