/* command_run_read.h: the texts of `run` into ids. What is refused is told by where it came from. */
#ifndef COMMAND_RUN_READ_H
#define COMMAND_RUN_READ_H

#include <stdio.h>

#include "chat.h"
#include "generation.h"
#include "run_options.h"
#include "text_pieces.h"
#include "session.h"
#include "tokenizer.h"

/* Where a text came from, for messages. */
typedef struct Origin { const char *kind; size_t number; } Origin;

/* It lives in the session's arena, but for the scratch and the turns, which text_reader_close frees. */
typedef struct TextReader {
    Session *session;
    const RunOptions *options;
    bool numbers;                   /* texts are ids: there is no tokenizer, or --ids */
    RtCharacters source, target;    /* of a tokenizer of characters */
    RtTokenizer *tokenizer;         /* NULL without pieces */
    Pieces pieces;                  /* of that tokenizer */
    int first;                      /* ids of the last text that are of type 0: of a pair, the first's */
    const RtChat *chat;             /* wraps every text; NULL without --chat */
    bool goes_on;                   /* each text is one more turn of a conversation, and no conversation of its own */
    RtTurns turns;
    int *ids;  int most;            /* [most]: ids of a source, or of a decoder's prompt */
    int max_length;                 /* of the settings of generation, where `most` follows from it; else 0 */
    int *more;                      /* [most]: room for those of another, of an encoder alone */
    FILE *messages;                 /* where it is told why a text is refused, or cut; standard error */
} TextReader;

/* Whether the model has texts at all. */
bool text_reader_has_texts(const Model *m);
TextReader *text_reader_new(Session *s, const Plan *p, const RunOptions *o);
/* Texts are no longer than what these settings leave of a decoder's context. */
void text_reader_limit(TextReader *r, const RtGeneration *g);
void text_reader_close(TextReader *r);
/* text[bytes], NUL-terminated, into r->ids[*n]; false after telling why it is refused. */
bool text_reader_ids(TextReader *r, const char *text, size_t bytes, Origin at, int *n);
/* Of a chat: what was answered to the last text; NULL: nothing, and it is as if it had not been said. */
void text_reader_answered(TextReader *r, const char *answer, size_t bytes);
/* Whether a decoder alone has something to go on from without a text: the mark that its tokenizer begins every text with. */
bool text_reader_begins_alone(TextReader *r);
/* What the length of a text is counted in: "ids", "tokens", "characters". */
const char *text_reader_unit(const TextReader *r);
/* The beginning of a line about a text: the model, the origin, a colon. */
void text_reader_begin_message(const TextReader *r, Origin at);

/* A text into the ids of the model's tokenizer, as `run` reads it: of a model that reads pairs a tab parts it in two, and of an encoder
 * alone it is cut, with a remark. ids->room is max_source, of a decoder alone max_target. False after an error. */
bool command_text_ids(Session *s, const Plan *p, const char *text, PieceIds *ids);

#endif
