/* rt_numbers.h: ids as text, for --ids and for models without a tokenizer. */
#ifndef RT_NUMBERS_H
#define RT_NUMBERS_H

#include "rt.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Read ids: decimal numbers separated by spaces, tabs or commas; *n receives how many there are.
 * RT_BAD_ID: at fault->at (fault may be NULL) is something else, or a number that does not fit an
 * int; fault->code_point is the byte there. RT_TOO_LONG: there are more than `room` ids. */
rt_status rt_numbers_read(const char *text, int *ids, int room, int *n, RtTextFault *fault);
/* How many ids there are before the first tab, or in all if there is no tab. */
int rt_numbers_before_tab(const char *text);
/* Append an id to out[*used..cap), after a space unless it is the first; NUL-terminated.
 * RT_NO_ROOM: out is too small. */
rt_status rt_numbers_add(char *out, size_t cap, size_t *used, int id);

#ifdef __cplusplus
}
#endif

#endif
