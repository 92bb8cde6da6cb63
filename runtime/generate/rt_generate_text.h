/* rt_generate_text.h: answer a text with a text, piece by piece, as NAME_generate of an emitted
 * NAME.h does. Nothing is allocated. */
#ifndef RT_GENERATE_TEXT_H
#define RT_GENERATE_TEXT_H

#include "rt_answer_text.h"
#include "rt_chat.h"
#include "rt_generation.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A text to tokenize. plain: without what the tokenizer's template adds. literal: see
 * rt_tokenizer_literal. scratch: work memory. */
typedef struct RtTextInput {
    const char *text;  size_t bytes;
    int plain;
    const uint32_t *literal;  int literal_count;
    void *scratch;  size_t scratch_bytes;
} RtTextInput;

/* A model that turns text into ids and back. Its functions, except `message`, get `decoder.self`;
 * their statuses are passed on. */
typedef struct RtTextModel {
    RtDecoder decoder;
    const RtGeneration *settings;   /* the model's own */
    rt_status (*tokenize)(void *self, const RtTextInput *in, int *ids, int room, int *n);
    rt_status (*encode)(void *self, int slot, const int *ids, int n);       /* NULL: decoder-only */
    RtDetokenize *detokenize;
    const RtChat *chat;             /* its chat template, and rt_chat_message; both NULL: none */
    RtChatMessage *message;
    int marks;                      /* text may contain special tokens */
    int joined;                     /* the text of an id may depend on the ids before it */
    int start;                      /* with a source: the first id of an answer */
    int source, longest;            /* maximum number of ids of a source, and of a sequence with its start id */
    int token;                      /* bytes of the longest token */
    int *ids;                       /* [the larger of source and longest] */
    void *work;  size_t bytes;      /* aligned like a double; rt_generate_text_bytes is enough */
} RtTextModel;

/* Answer a text in slot 0. options: NULL or all zeros means m->settings. on_token, if not NULL,
 * gets the answer in pieces of whole characters, up to a stop string, and returns false to end it.
 * It must not call anything that uses m->work. A search passes its answer on when it is done, and
 * uses the first slots, one for each beam. No pointers are left in m->work.
 * RT_OK, even if on_token ended the answer. RT_BAD_OPTION: options are out of range, conflict or do
 * not apply to the model, or there are more beams than slots; RT_ORDER: the text has no ids;
 * RT_TOO_LONG: it has too many, or m->work is too small to read it; RT_NO_ROOM: m->work is too
 * small for the answer; RT_NOT_FINITE: a logit is NaN or INFINITY; RT_NO_TOKEN: the settings
 * exclude every id; otherwise the status of a function that failed. */
rt_status rt_generate_text(const RtTextModel *m, const char *text, const rt_generate_options *options,
                           rt_on_token *on_token, void *user);

#ifdef __cplusplus
}
#endif

#endif
