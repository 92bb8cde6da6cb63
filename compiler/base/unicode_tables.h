/* unicode_tables.h: Unicode properties of a code point, from utf8proc. The tables of the runtime
 * are made from them. */
#ifndef UNICODE_TABLES_H
#define UNICODE_TABLES_H

#include <stdbool.h>
#include <stdint.h>

enum { UNICODE_END = 0x110000, UNICODE_SPACE = 32, UNICODE_LONGEST = 18 };

/* The general category in utf8proc's order (Cn 0, Lu 1, … Co 29), plus UNICODE_SPACE if the code
 * point is White_Space. */
unsigned unicode_property(int32_t c);
unsigned unicode_combining_class(int32_t c);
/* The full decomposition: the compatibility one if `compatible`, else the canonical one. Returns
 * the number of code points; 0 if there is none. Hangul syllables give 0. */
int unicode_decompose(int32_t c, bool compatible, int32_t out[UNICODE_LONGEST]);
/* The pair that composes canonically to c; false if there is none. Hangul syllables give false. */
bool unicode_composed_of(int32_t c, int32_t pair[2]);
/* The lower case, one or two code points. Returns their number; 0 if c does not change. */
int unicode_lower(int32_t c, int32_t out[2]);
/* The Grapheme_Cluster_Break class, in the order of RtTokBreak. */
unsigned unicode_break(int32_t c);

#endif
