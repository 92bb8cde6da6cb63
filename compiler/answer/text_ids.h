/* text_ids.h: convert a text to a model's ids, as `run` does, for commands that examine the
 * model. */
#ifndef TEXT_IDS_H
#define TEXT_IDS_H

#include "rt_cli_generate.h"
#include "session.h"

/* How to read a text. */
typedef struct TextOptions {
    const char *source_language, *target_language;  /* for translators; NULL: the model's own */
    const char *separator;          /* between the texts of a pair; NULL: a tab, "": never split */
    bool plain;                     /* special tokens written in the text are plain text */
    const char *const *names;       /* what messages call the two language options; NULL: as the
                                     * command line does */
} TextOptions;

/* Convert a text to *ids. With a subword tokenizer, the separator splits the text if the model
 * reads pairs, and a text too long for an encoder-only model is cut, with a remark. The caller sets
 * ids->ids and ids->room: max_source, or max_target for a decoder-only model. *begin receives the
 * ids that an answer begins with. False after an error. */
bool text_ids(Session *s, const Plan *p, const char *text, const TextOptions *o, rt_cli_source *ids, CliBegin *begin);
/* Convert text[bytes], which is not a pair, to tokens, for a model with a subword tokenizer;
 * RT_TOO_LONG if they do not fit into ids->room. */
rt_status text_tokens(const Model *m, const char *text, size_t bytes, rt_cli_source *ids);

#endif
