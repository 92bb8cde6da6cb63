/* rt_stops.h: texts that end an answer, looked for byte by byte in what is written. Each byte is seen once, whatever came before. */
#ifndef RT_STOPS_H
#define RT_STOPS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* One stop and how far the end of the text agrees with it (Knuth, Morris, Pratt). */
typedef struct RtStop {
    const char *text;  uint32_t bytes;
    const uint32_t *border;         /* [bytes]: of text[0..i], the longest end that is its beginning too */
    uint32_t matched;               /* bytes at the end of what was seen that begin it */
} RtStop;

typedef struct RtStops { RtStop *stop; int count; } RtStops;

/* Whether there are n texts, none of them empty. */
static inline int rt_stops_good(const char *const *texts, int n)
{
    if (n < 0 || (n && !texts)) return 0;
    for (int i = 0; i < n; i++)
        if (!texts[i] || !*texts[i]) return 0;
    return 1;
}

/* Bytes of scratch for these texts, none of them empty. */
size_t rt_stops_scratch_bytes(const char *const *texts, int n);
/* Stops for texts[n], which stay the caller's, in scratch aligned as for a pointer. */
RtStops rt_stops_new(const char *const *texts, int n, void *scratch);
/* Nothing was seen. */
void rt_stops_begin(RtStops *s);
/* See one byte more. Returns the bytes of the stop that ends with it, of several the longest; 0 where none does. */
size_t rt_stops_see(RtStops *s, char byte);
/* How many bytes at the end of what was seen may begin a stop. */
size_t rt_stops_held(const RtStops *s);

#ifdef __cplusplus
}
#endif

#endif
