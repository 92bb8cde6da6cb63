/* rt_answer_text.h: the text of an answer while it is generated: how much of it is final, and where
 * a stop string ends it. A beam search, whose ids are known only at its end, uses the same
 * functions. */
#ifndef RT_ANSWER_TEXT_H
#define RT_ANSWER_TEXT_H

#include "rt.h"
#include "rt_stops.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Turn ids into text while they are generated: append to out[*used..cap), NUL-terminated, what has
 * become final of the text of ids[0..n) since the last call, which got the first `from` of them.
 * from 0 starts over. last: no id follows, so append the rest. RT_NO_ROOM: start over with a larger
 * out. */
typedef rt_status RtDetokenize(void *self, const int *ids, int from, int n, int last, char *out, size_t cap,
                               size_t *used);

/* Owns its memory; rt_answer_text_close frees it. */
typedef struct RtAnswerText {
    RtDetokenize *detokenize;
    void *self;
    RtStops stops;
    void *scratch;                  /* for the stops */
    int *ids;  int count, ids_room; /* of the prompt, if there is one, and of the answer */
    char *text;  size_t bytes, room;        /* of these ids, NUL-terminated, up to a stop */
    size_t begin;                   /* offset of the answer's text; only it is searched for stops */
    int prompt;                     /* ids of the prompt */
    char *open;  size_t open_bytes; /* end of the prompt's text that the answer may change, or NULL */
    size_t seen;                    /* the answer's text before this offset has been searched for stops */
    size_t certain;                 /* final bytes; before the end: whole characters, no beginning of a stop */
    int stopped;                    /* a stop has ended the answer */
} RtAnswerText;

/* Open t for many answers. The caller owns stops[n], and closes t even after an error. RT_NO_ROOM:
 * no memory. */
rt_status rt_answer_text_open(RtAnswerText *t, RtDetokenize *detokenize, void *self,
                              const char *const *stops, int n);
void rt_answer_text_close(RtAnswerText *t);
/* Begin an answer to prompt[n], whose text comes first; n may be 0. If the first ids of the answer
 * change the end of the prompt's text, for example because their bytes complete its last character,
 * or make the run of byte tokens at its end invalid, the answer is the text of its own ids or, if
 * the whole text does not end with that, begins with the changed part. This and the next two
 * functions return a status of `detokenize`, but RT_NO_ROOM only if memory runs out. */
rt_status rt_answer_text_begin(RtAnswerText *t, const int *prompt, int n);
/* Add an id; after a stop, do nothing. */
rt_status rt_answer_text_add(RtAnswerText *t, int id);
/* End the answer: add the rest, unless a stop has ended it; all of the text is final now. */
rt_status rt_answer_text_end(RtAnswerText *t);

/* The ids themselves, separated by spaces; self is not used. */
RtDetokenize rt_detokenize_numbers;

#ifdef __cplusplus
}
#endif

#endif
