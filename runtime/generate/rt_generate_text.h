/* rt_generate_text.h: a text answered with a text, piece by piece: what NAME_generate of an emitted
 * NAME.h does. Nothing is allocated. */
#ifndef RT_GENERATE_TEXT_H
#define RT_GENERATE_TEXT_H

#include "rt_answer_text.h"
#include "rt_chat.h"
#include "rt_generation.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A text to tokenize. plain: without what the tokenizer's template adds. literal: as of
 * rt_tokenizer_literal. scratch: to work in. */
typedef struct RtTextInput {
    const char *text;  size_t bytes;
    int plain;
    const uint32_t *literal;  int literal_count;
    void *scratch;  size_t scratch_bytes;
} RtTextInput;

/* A model that turns text into ids and back. Its functions get `decoder.self`, and hand statuses on. */
typedef struct RtTextModel {
    RtDecoder decoder;
    const RtGeneration *settings;   /* the model's own */
    rt_status (*tokenize)(void *self, const RtTextInput *in, int *ids, int room, int *n);
    rt_status (*encode)(void *self, int slot, const int *ids, int n);       /* NULL: a decoder alone */
    RtDetokenize *detokenize;
    const RtChat *chat;             /* its chat template, and rt_chat_message; both NULL: none */
    RtChatMessage *message;
    int marks;                      /* whether text may have special tokens */
    int joined;                     /* whether the text of an id may depend on the ids before it */
    int start;                      /* with a source: the id that an answer begins with */
    int source, longest;            /* ids that a source may have; that a sequence may have, the start id too */
    int token;                      /* bytes of the longest token */
    int *ids;                       /* [the larger of source and longest] */
    void *work;  size_t bytes;      /* aligned as for a double; rt_generate_text_bytes is enough */
} RtTextModel;

/* Answer a text on slot 0. options: NULL, or all zeros: as m->settings say. on_token gets the answer in
 * pieces of whole characters, without what a stop takes away, and returns false to end it; NULL: nobody
 * listens. It may call nothing that uses m->work. A search hands its answer on when it is done, and takes
 * the first slots, one for each beam. No pointer stays in m->work.
 * RT_OK also for an answer that on_token ended. RT_BAD_OPTION: options that are out of range or do not go
 * together, more beams than slots; RT_ORDER: a text without ids; RT_TOO_LONG: of too many;
 * RT_NO_ROOM: too little work; RT_BAD_WEIGHTS: a logit is NaN or INFINITY; or what a function returned. */
rt_status rt_generate_text(const RtTextModel *m, const char *text, const rt_generate_options *options,
                           rt_on_token *on_token, void *user);

#ifdef __cplusplus
}
#endif

#endif
