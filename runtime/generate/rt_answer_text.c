/* rt_answer_text.c: see rt_answer_text.h. Buffers double; if text does not fit, all of it is made
 * again. */
#include "rt_answer_text.h"
#include <stdlib.h>
#include <string.h>
#include "rt_numbers.h"

rt_status rt_answer_text_open(RtAnswerText *t, RtDetokenize *detokenize, void *self,
                              const char *const *stops, int n)
{
    enum { IDS = 256, BYTES = 1024 };
    const size_t bytes = rt_stops_scratch_bytes(stops, n);
    *t = (RtAnswerText){ .detokenize = detokenize, .self = self, .ids_room = IDS, .room = BYTES };
    t->ids = malloc(IDS * sizeof *t->ids);
    t->text = malloc(BYTES);
    t->scratch = malloc(bytes ? bytes : 1);
    if (!t->ids || !t->text || !t->scratch) return RT_NO_ROOM;
    t->stops = rt_stops_new(stops, n, t->scratch);
    t->text[0] = '\0';
    return RT_OK;
}

void rt_answer_text_close(RtAnswerText *t) { free(t->ids), free(t->text), free(t->scratch), free(t->open); }

static rt_status push(RtAnswerText *t, int id)
{
    if (t->count == t->ids_room) {
        int *more = realloc(t->ids, 2 * (size_t)t->ids_room * sizeof *more);
        if (!more) return RT_NO_ROOM;
        t->ids = more;
        t->ids_room *= 2;
    }
    t->ids[t->count++] = id;
    return RT_OK;
}

/* Turn ids[from..count) into text; if the room is too small, start over with all ids. */
static rt_status say_on(RtAnswerText *t, int from, int last)
{
    for (;;) {
        size_t used = from ? t->bytes : 0;
        const rt_status status = t->detokenize(t->self, t->ids, from, t->count, last,
                                               t->text, t->room, &used);
        if (status != RT_NO_ROOM) {
            t->bytes = used;
            return status;
        }
        char *more = t->room < SIZE_MAX / 4 ? realloc(t->text, 2 * t->room) : NULL;
        if (!more) return RT_NO_ROOM;
        t->text = more;
        t->room *= 2;
        from = 0;
    }
}

static void forget_open(RtAnswerText *t)
{
    free(t->open);
    t->open = NULL, t->open_bytes = 0;
}

/* Set where the answer begins if its ids changed the prompt's text from `certain` on: at the text
 * of its own ids, if the whole text ends with that, else at `certain`. Then make the whole
 * text again, because the detokenizer has been used for another text. */
static rt_status find_changed(RtAnswerText *t, size_t certain, int last)
{
    size_t own = 0;
    char *text = malloc(t->room);
    if (!text) return RT_NO_ROOM;
    const rt_status status = t->detokenize(t->self, t->ids + t->prompt, 0, t->count - t->prompt, last,
                                           text, t->room, &own);
    const int ends = own <= t->bytes - certain && !memcmp(t->text + t->bytes - own, text, own);
    t->begin = t->seen = status == RT_OK && ends ? t->bytes - own : certain;
    free(text);
    return say_on(t, 0, last);
}

/* Find where the answer begins, once enough ids have followed the prompt. */
static rt_status find_begin(RtAnswerText *t, int last)
{
    const size_t certain = t->begin - t->open_bytes, bytes = t->bytes - certain;
    if (!t->open) return RT_OK;
    const int same = !memcmp(t->text + certain, t->open, bytes < t->open_bytes ? bytes : t->open_bytes);
    if (same && bytes < t->open_bytes && !last) return RT_OK;           /* more may come */
    forget_open(t);
    return same && t->begin <= t->bytes ? RT_OK : find_changed(t, certain, last);
}

/* The bytes of whole characters among the first n; a stop that is invalid UTF-8 may split one. */
static size_t whole(const RtAnswerText *t, size_t n)
{
    while (n && n < t->bytes && ((unsigned char)t->text[n] & 0xC0) == 0x80) n--;
    return n;
}

/* Search the new text for stops, cut the text where one begins, and set `certain`. */
static void look(RtAnswerText *t)
{
    while (t->seen < t->bytes && !t->stopped) {
        const size_t found = rt_stops_see(&t->stops, t->text[t->seen++]);
        if (!found) continue;
        t->bytes = whole(t, t->seen - found);
        t->text[t->bytes] = '\0';
        t->stopped = 1;
    }
    t->certain = whole(t, t->bytes - (t->stopped ? 0 : rt_stops_held(&t->stops)));
}

rt_status rt_answer_text_begin(RtAnswerText *t, const int *prompt, int n)
{
    rt_status status = RT_OK;
    t->count = t->stopped = 0;
    t->text[0] = '\0';
    t->bytes = t->begin = t->seen = t->certain = 0;
    t->prompt = n;
    forget_open(t);
    rt_stops_begin(&t->stops);
    for (int i = 0; i < n && status == RT_OK; i++) status = push(t, prompt[i]);
    if (!n || status != RT_OK) return status;
    status = say_on(t, 0, 0);
    t->certain = t->bytes;
    if (status == RT_OK) status = say_on(t, n, 1);          /* the whole prompt, to know the length of its text */
    t->begin = t->seen = t->bytes;
    if (status == RT_OK && t->begin > t->certain) {
        t->open_bytes = t->begin - t->certain;
        t->open = malloc(t->open_bytes);
        if (!t->open) return RT_NO_ROOM;
        memcpy(t->open, t->text + t->certain, t->open_bytes);
    }
    return status == RT_OK ? say_on(t, 0, 0) : status;
}

rt_status rt_answer_text_add(RtAnswerText *t, int id)
{
    if (t->stopped) return RT_OK;
    rt_status status = push(t, id);
    if (status == RT_OK) status = say_on(t, t->count - 1, 0);
    if (status == RT_OK) status = find_begin(t, 0);
    if (status == RT_OK) look(t);
    return status;
}

rt_status rt_answer_text_end(RtAnswerText *t)
{
    if (t->stopped) return RT_OK;
    rt_status status = t->count ? say_on(t, t->count, 1) : RT_OK;
    if (status == RT_OK) status = find_begin(t, 1);
    if (status == RT_OK) look(t);
    t->certain = t->bytes;
    return status;
}

rt_status rt_detokenize_numbers(void *self, const int *ids, int from, int n, int last, char *out,
                                size_t cap, size_t *used)
{
    rt_status status = RT_OK;
    (void)self, (void)last;
    for (int i = from; i < n && status == RT_OK; i++) status = rt_numbers_add(out, cap, used, ids[i]);
    return status;
}
