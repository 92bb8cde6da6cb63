/* text_ids.h: a text as the ids of its model, as `run` reads it; for what looks into a model or measures it. */
#ifndef TEXT_IDS_H
#define TEXT_IDS_H

#include "rt_cli_generate.h"
#include "session.h"

/* How a text is read. */
typedef struct TextOptions {
    const char *source_language, *target_language;  /* of a translator; NULL: the model's own */
    const char *separator;          /* of a pair's texts; NULL: a tab, "": a text is one */
    bool plain;                     /* the text of a special token is text */
    const char *const *names;       /* of the two languages in messages; NULL: options of the command line */
} TextOptions;

/* Of a model that reads pairs a tab parts the text in two, and of an encoder alone it is cut, with a remark. ids->room is
 * max_source, of a decoder alone max_target. *begin receives what an answer begins with. False after an error. */
bool text_ids(Session *s, const Plan *p, const char *text, const TextOptions *o, rt_cli_source *ids, CliBegin *begin);
/* The tokens of one text[bytes], for a model with a tokenizer of pieces; RT_TOO_LONG where they are more than there is room for. */
rt_status text_tokens(const Model *m, const char *text, size_t bytes, rt_cli_source *ids);

#endif
