/* rt_answer_text.h: the text of an answer while its ids come: what is certain of it, and where a stop ends it. A search, whose ids come
 * all at once, is written the same way. */
#ifndef RT_ANSWER_TEXT_H
#define RT_ANSWER_TEXT_H

#include "rt.h"
#include "rt_stops.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Turn ids into text while they come: append to out[*used..cap), with a NUL behind it, what is certain of
 * ids[0..n), whose first `from` were appended before; from 0 begins anew. last: no id follows, and the rest
 * is appended. RT_NO_ROOM: begin anew with more. */
typedef rt_status RtDetokenize(void *self, const int *ids, int from, int n, int last, char *out, size_t cap,
                               size_t *used);

/* Memory is its own; rt_answer_text_close frees it. */
typedef struct RtAnswerText {
    RtDetokenize *detokenize;
    void *self;
    RtStops stops;
    void *scratch;                  /* of the stops */
    int *ids;  int count, ids_room; /* of a prompt, where there is one, and the answer behind it */
    char *text;  size_t bytes, room;                        /* theirs, NUL-terminated; up to a stop */
    size_t begin;                   /* where the answer begins, in whose text alone stops are looked for */
    int prompt;                     /* ids of the prompt */
    char *open;  size_t open_bytes; /* the end of its text that ids behind it may change; NULL: none */
    size_t seen;                    /* bytes that the stops have seen */
    size_t certain;                 /* bytes that what follows cannot change: whole characters, no beginning of a stop */
    int stopped;                    /* whether a stop has ended it */
} RtAnswerText;

/* For many answers. stops[n] stay the caller's. RT_NO_ROOM: no memory. */
rt_status rt_answer_text_open(RtAnswerText *t, RtDetokenize *detokenize, void *self,
                              const char *const *stops, int n);
void rt_answer_text_close(RtAnswerText *t);
/* An answer behind prompt[n], whose text comes first; n may be 0. If the first ids of the answer change the
 * end of the prompt's text, as bytes do that make no character with those before them, the answer is the
 * text of its own ids, or begins with what was changed where the text does not end so. Statuses of these:
 * those of `detokenize`, RT_NO_ROOM for no memory. */
rt_status rt_answer_text_begin(RtAnswerText *t, const int *prompt, int n);
/* One id more; nothing once it has stopped. */
rt_status rt_answer_text_add(RtAnswerText *t, int id);
/* The rest: all of it is certain. */
rt_status rt_answer_text_end(RtAnswerText *t);

/* The ids themselves, with blanks between; self is not read. */
RtDetokenize rt_detokenize_numbers;

#ifdef __cplusplus
}
#endif

#endif
