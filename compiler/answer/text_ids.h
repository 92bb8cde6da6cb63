/* text_ids.h: a text as the ids of its model, as `run` reads it; for what looks into a model or measures it. */
#ifndef TEXT_IDS_H
#define TEXT_IDS_H

#include "rt_cli.h"
#include "session.h"

/* Of a model that reads pairs a tab parts the text in two, and of an encoder alone it is cut, with a remark. ids->room is
 * max_source, of a decoder alone max_target. False after an error. */
bool text_ids(Session *s, const Plan *p, const char *text, rt_host_source *ids);
/* The tokens of text[bytes] for a model with a tokenizer of pieces; else as the rt_host_texts of a program. */
rt_status text_tokens(const Model *m, const char *text, size_t bytes, bool pair, bool cut, rt_host_source *ids);

#endif
