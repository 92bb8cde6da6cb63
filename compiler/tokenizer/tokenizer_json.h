/* tokenizer_json.h: declarations shared by the readers of a tokenizer's JSON files. */
#ifndef TOKENIZER_JSON_H
#define TOKENIZER_JSON_H

#include "json_read.h"
#include "tokenizer_build.h"

/* NULL if the member is absent or null. */
const json_t *tok_json_member(const json_t *object, const char *key);
/* Parse the JSON of a file; the caller releases it. NULL after an error, reported at
 * its line. */
json_t *tok_json_load(TokBuild *b, const char *data, size_t size);
/* The object in a file of a folder; the caller releases it. NULL if there is no such file, or after
 * an error; otherwise b->file becomes the path of the file, and b->origin names the file unless it
 * is config.json. */
json_t *tok_json_beside(TokBuild *b, const char *folder, const char *name);
/* Add the pieces of {"text": id, …}. */
void tok_json_ids(TokBuild *b, json_t *root, bool known);
/* Read a special token: a string, or an object with "content" and flags; false if it is neither, or
 * empty. */
bool tok_json_token(TokBuild *b, const json_t *token, TokAdded *out);
/* Check that an object has the given members; false after an error, which calls the object `what`.
 * `members` is a list separated by spaces; each member is NAME:TYPES or NAME:TYPES:WORDS. Types: b
 * boolean, t string, u non-negative integer, f number, l list, o object, z null, - if it may be
 * absent. Words: the strings that are allowed, separated by |. `tokenizers` ignores other members,
 * and so does this function. */
bool tok_json_check(TokBuild *b, const json_t *object, const char *what, const char *members);
/* True if a word is in the list words[n], separated by |. */
bool tok_json_is_word(const char *words, size_t n, const char *word);
/* A flag of an added token, which may be absent, but not null. */
bool tok_json_flag(TokBuild *b, const json_t *token, const char *key, bool preset);
uint32_t tok_json_flags(TokBuild *b, const json_t *token);     /* TOK_ADDED_... of an added token */
/* A copy in the arena; s NULL if it is not a string. */
TokString tok_json_string(TokBuild *b, const json_t *string);
/* A member of an object; `preset` if it is absent or null. Another type, or a negative number, is
 * an error. */
bool tok_json_bool(TokBuild *b, const json_t *object, const char *key, bool preset);
int64_t tok_json_int(TokBuild *b, const json_t *object, const char *key, int64_t preset);
/* tok_json_int for a 32-bit number: `limit` or more is an error, and gives 0. */
uint32_t tok_json_below(TokBuild *b, const json_t *object, const char *key, uint32_t preset, uint32_t limit);
TokString tok_json_text(TokBuild *b, const json_t *object, const char *key);    /* s NULL: absent */

/* Replace what the class of the tokenizer overrides in `root`, according to keys of
 * tokenizer_config.json, and remark on differences. */
void tok_json_settle_class(TokBuild *b, json_t *root, const TokConfig *config);
/* Remark if the class lacks added tokens of the file, which are used all the same. */
void tok_json_tell_added(TokBuild *b, const TokConfig *config);
/* Like tok_json_settle_class, for the special tokens around a text, after the file is read. */
void tok_json_settle_ends(TokBuild *b, json_t *root, const TokConfig *config);

/* The parts of the pipeline; each may be null. */
void tok_json_normaliser(TokBuild *b, const json_t *part);
void tok_json_pre_tokenizer(TokBuild *b, const json_t *part);
void tok_json_decoder(TokBuild *b, const json_t *part);
void tok_json_post_processor(TokBuild *b, const json_t *part);      /* needs the vocabulary */

#endif
