/* tokenizer_json.h: what the readers of tokenizer.json share. */
#ifndef TOKENIZER_JSON_H
#define TOKENIZER_JSON_H

#include "json_read.h"
#include "tokenizer_build.h"

const json_t *tok_json_member(const json_t *object, const char *key);      /* NULL where it is absent or null */
/* A file's JSON, which the caller gives back; NULL after an error with its line. */
json_t *tok_json_load(TokBuild *b, const char *data, size_t size);
/* The object in a file of a folder, which the caller gives back; NULL where there is none, or after an error. */
json_t *tok_json_beside(TokBuild *b, const char *folder, const char *name);
/* The pieces of {"text": id, …}. */
void tok_json_ids(TokBuild *b, json_t *root, bool known);
/* One token of added_tokens_decoder, or of another list of such objects; false for what is none. */
bool tok_json_token(TokBuild *b, const json_t *token, TokAdded *out);
/* Whether an object has the members of a list with blanks between, each NAME:TYPES or
 * NAME:TYPES:WORDS; false after an error, which calls it `what`. Types: b true or false, t a text, u a
 * whole number from 0, f any number, l a list, o an object, z null, - that it may be absent. Words: of
 * a text those that are known, with | between. Other members are passed over, as `tokenizers` does. */
bool tok_json_check(TokBuild *b, const json_t *object, const char *what, const char *members);
/* Whether a word is among words[n], with | between. */
bool tok_json_is_word(const char *words, size_t n, const char *word);
/* A flag of an added token, which may be absent and not null. */
bool tok_json_flag(TokBuild *b, const json_t *token, const char *key, bool preset);
uint32_t tok_json_flags(TokBuild *b, const json_t *token);     /* TOK_ADDED_... of an added token */
TokString tok_json_string(TokBuild *b, const json_t *string);               /* a copy in the arena; s NULL for what is none */
/* Members of an object; what is absent or null is `preset`, what has another type is refused. */
bool tok_json_bool(TokBuild *b, const json_t *object, const char *key, bool preset);
int64_t tok_json_int(TokBuild *b, const json_t *object, const char *key, int64_t preset);
/* The same for a number that is used as 32 bits: what is not below `limit` is refused, and then it is 0. */
uint32_t tok_json_below(TokBuild *b, const json_t *object, const char *key, uint32_t preset, uint32_t limit);
TokString tok_json_text(TokBuild *b, const json_t *object, const char *key);    /* s NULL where absent */

/* What the class of the tokenizer writes anew of the file, by tokenizer_config.json. */
void tok_json_settle_class(TokBuild *b, json_t *root, const TokConfig *config);
/* Tell that the class has not all added tokens of the file, which are read. */
void tok_json_tell_added(TokBuild *b, const TokConfig *config);
/* The same of the tokens around a text, after the file is read. */
void tok_json_settle_ends(TokBuild *b, json_t *root, const TokConfig *config);

/* The parts of the pipeline; each may be null. */
void tok_json_normaliser(TokBuild *b, const json_t *part);
void tok_json_pre_tokenizer(TokBuild *b, const json_t *part);
void tok_json_decoder(TokBuild *b, const json_t *part);
void tok_json_post_processor(TokBuild *b, const json_t *part);      /* needs the vocabulary */

#endif
