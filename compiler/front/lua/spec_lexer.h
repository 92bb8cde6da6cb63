/* spec_lexer.h: the places of words in a Lua text, so that an error can point at the field and not at the call.
 * It knows tokens, brackets and calls, no grammar; where it finds nothing, the caller falls back to the line. */
#ifndef SPEC_LEXER_H
#define SPEC_LEXER_H

#include "diag.h"

typedef struct Lexer Lexer;

Lexer *lexer_new(Arena *a, const char *text, size_t size);
int    lexer_tokens(const Lexer *x);
/* The column of the first such token in a line, or 0. */
int    lexer_token(const Lexer *x, int line, const char *text, size_t size);
/* The column of `.word` in a line, else of the line's first token, else 1. */
int    lexer_word(const Lexer *x, int line, const char *word);
/* The field `name =` within the braces of a call that starts in `line`: of `.method{…}`, or, where method is NULL, of
 * any other call. side: NULL, or the field whose own braces hold it. again: where those braces name it a second time, or
 * line 0. False: not written there. */
bool   lexer_field(const Lexer *x, int line, const char *method, const char *side, const char *name, Loc *at, Loc *again);

/* Where the text of the string begins that `name =` at a place gives; line 0 where something else stands there. */
Loc    lexer_string(const Lexer *x, Loc name);

#endif
