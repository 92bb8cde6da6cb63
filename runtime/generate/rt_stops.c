/* rt_stops.c: the search of rt_stops.h. After a mismatch a stop continues with its longest prefix
 * that still matches. */
#include "rt_stops.h"
#include <string.h>

size_t rt_stops_scratch_bytes(const char *const *texts, int n)
{
    size_t bytes = (size_t)n * sizeof(RtStop);
    for (int i = 0; i < n; i++) bytes += strlen(texts[i]) * sizeof(uint32_t);
    return bytes;
}

/* Set border[bytes] of a text; each uses those before it. */
static void fill_borders(uint32_t *border, const char *text, uint32_t bytes)
{
    border[0] = 0;
    for (uint32_t i = 1, k = 0; i < bytes; i++) {
        while (k && text[i] != text[k]) k = border[k - 1];
        border[i] = k += text[i] == text[k];
    }
}

RtStops rt_stops_new(const char *const *texts, int n, void *scratch)
{
    RtStops s = { scratch, n };
    uint32_t *border = (uint32_t *)(void *)(s.stop + n);
    for (int i = 0; i < n; i++) {
        const uint32_t bytes = (uint32_t)strlen(texts[i]);
        fill_borders(border, texts[i], bytes);
        s.stop[i] = (RtStop){ texts[i], bytes, border, 0 };
        border += bytes;
    }
    return s;
}

void rt_stops_begin(RtStops *s)
{
    for (int i = 0; i < s->count; i++) s->stop[i].matched = 0;
}

size_t rt_stops_see(RtStops *s, char byte)
{
    size_t found = 0;
    for (int i = 0; i < s->count; i++) {
        RtStop *stop = &s->stop[i];
        uint32_t k = stop->matched;
        if (k == stop->bytes) k = stop->border[k - 1];
        while (k && byte != stop->text[k]) k = stop->border[k - 1];
        stop->matched = k += byte == stop->text[k];
        if (k == stop->bytes && k > found) found = k;
    }
    return found;
}

size_t rt_stops_held(const RtStops *s)
{
    size_t held = 0;
    for (int i = 0; i < s->count; i++)
        if (s->stop[i].matched > held) held = s->stop[i].matched;
    return held;
}
