/* rt_stops.h: stop strings, searched for byte by byte in an answer. Earlier bytes are never looked
 * at again. */
#ifndef RT_STOPS_H
#define RT_STOPS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A stop string, and how much of it the end of the text matches (Knuth, Morris, Pratt). */
typedef struct RtStop {
    const char *text;  uint32_t bytes;
    const uint32_t *border;         /* [bytes]: the length of the longest proper suffix of text[0..i] that is also a prefix */
    uint32_t matched;               /* bytes at the end of the text that begin the stop */
} RtStop;

typedef struct RtStops { RtStop *stop; int count; } RtStops;

/* 1 if there are n texts, none of them empty. */
static inline int rt_stops_good(const char *const *texts, int n)
{
    if (n < 0 || (n && !texts)) return 0;
    for (int i = 0; i < n; i++)
        if (!texts[i] || !*texts[i]) return 0;
    return 1;
}

/* Bytes of scratch for these texts, none of them empty. */
size_t rt_stops_scratch_bytes(const char *const *texts, int n);
/* Stops for texts[n], which the caller owns, in scratch aligned like a pointer. */
RtStops rt_stops_new(const char *const *texts, int n, void *scratch);
/* Start over: no byte has been seen. */
void rt_stops_begin(RtStops *s);
/* Add a byte. Returns the bytes of the stop that ends with it, the longest of several; 0: none. */
size_t rt_stops_see(RtStops *s, char byte);
/* How many bytes at the end of the text may begin a stop. */
size_t rt_stops_held(const RtStops *s);

#ifdef __cplusplus
}
#endif

#endif
