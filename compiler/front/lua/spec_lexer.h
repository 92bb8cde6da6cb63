/* spec_lexer.h: find words in a Lua text, so that an error can point at a field instead of the
 * call. The lexer knows tokens, brackets and calls, but no grammar; if it finds nothing, the caller
 * falls back to the line. */
#ifndef SPEC_LEXER_H
#define SPEC_LEXER_H

#include "diag.h"

typedef struct Lexer Lexer;

Lexer *lexer_new(Arena *a, const char *text, size_t size);
int    lexer_tokens(const Lexer *x);
/* The column of the first token `text` in a line, or 0. */
int    lexer_token(const Lexer *x, int line, const char *text, size_t size);
/* The column of `word` after . or : in a line, else that of the line's first token, else 1. */
int    lexer_word(const Lexer *x, int line, const char *word);
/* Find the field `name =` or `["name"] =` within the braces of a call in a chain of calls that
 * starts on `line`: `.method{…}` or, if method is NULL, a call of something that has no dot before
 * its name, such as `spec{…}`. side: NULL, or the field in whose braces to look. again: the place
 * of a second such field in the same braces, or line 0. False if not found. */
bool   lexer_field(const Lexer *x, int line, const char *method, const char *side, const char *name, Loc *at, Loc *again);

/* Where the string after `name =` at a place begins: its opening quote or, if Lua skips a newline
 * there, the next line; line 0 if no string follows. */
Loc    lexer_string(const Lexer *x, Loc name);

#endif
