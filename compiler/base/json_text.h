/* json_text.h: strings and numbers as JSON, which always parses. */
#ifndef JSON_TEXT_H
#define JSON_TEXT_H

#include "text.h"

/* A string literal of `n` bytes; what is not UTF-8 becomes U+FFFD. */
void json_add_bytes(Text *to, const char *s, size_t n);
void json_add_string(Text *to, const char *s);
/* Nine digits; null for what is not finite, which JSON cannot say. */
void json_add_number(Text *to, double x);

#endif
