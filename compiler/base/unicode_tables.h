/* unicode_tables.h: what Unicode says of a code point, asked of utf8proc. Tables for the runtime are made of it. */
#ifndef UNICODE_TABLES_H
#define UNICODE_TABLES_H

#include <stdbool.h>
#include <stdint.h>

enum { UNICODE_END = 0x110000, UNICODE_SPACE = 32, UNICODE_LONGEST = 18 };

/* General category, in utf8proc's order (Cn 0, Lu 1, … Co 29), and UNICODE_SPACE where it is White_Space. */
unsigned unicode_property(int32_t c);
unsigned unicode_combining_class(int32_t c);
/* Its full decomposition, canonical or compatible, and the number of code points; 0 where it has none. Not of Hangul. */
int unicode_decompose(int32_t c, bool compatible, int32_t out[UNICODE_LONGEST]);
/* The two that compose to c canonically, if any; not of Hangul. */
bool unicode_composed_of(int32_t c, int32_t pair[2]);
/* Lower case, one or two code points; 0 where it is its own. */
int unicode_lower(int32_t c, int32_t out[2]);
/* How it takes part in grapheme clusters, in the order of RtTokBreak. */
unsigned unicode_break(int32_t c);

#endif
