/* rt_numbers.h: ids as text, for programs of models without a tokenizer. */
#ifndef RT_NUMBERS_H
#define RT_NUMBERS_H

#include "rt.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Read whole numbers with blanks between. RT_BAD_ID with *fault (may be NULL) at what is none, RT_TOO_LONG past `room`. */
rt_status rt_numbers_read(const char *text, int *ids, int room, int *n, RtTextFault *fault);
/* How many stand before the first tab, all where there is none. */
int rt_numbers_before_tab(const char *text);
/* Append a number to out[*used..cap], after a blank where it is not the first; NUL-terminated. RT_NO_ROOM. */
rt_status rt_numbers_add(char *out, size_t cap, size_t *used, int id);
rt_status rt_numbers_add_real(char *out, size_t cap, size_t *used, float x);

#ifdef __cplusplus
}
#endif

#endif
