/* inspect.h: a model run on one question so that every named tensor of it can be looked at, and pictures of its attention.
 *
 * A decoder answers first, by settings of generation as `run` does; then question and answer go through the engine once
 * more, and its taps are read. A decoder without an encoder that is not to answer is fed the ids as they are. Everything of a
 * question lives in the arena of its Look. Where the taps of the longest sequences were too large (session_taps_are_large), an engine
 * without taps answers, and one that is as long as the question is traced. */
#ifndef INSPECT_H
#define INSPECT_H

#include "generation.h"
#include "picture.h"
#include "session.h"
#include "text_ids.h"
#include "trace.h"

/* What the model reads and writes. `fed` and `written` go by steps of the decoder; of a decoder alone they are the prompt and what
 * follows. */
typedef struct Question {
    int *source, n;
    int first;                      /* of a pair: ids of the source that are its first text's; 0 or n: there is no second */
    int *fed, *written, m;
    int *ids, count;                /* generated, without the end */
    const char *input, *answer;     /* as words; answer is NULL where nothing is written */
    const char *text;               /* the answer as `run` prints it: of a decoder alone by pieces behind its prompt */
} Question;

/* Which attention is drawn. */
typedef struct AttentionOptions {
    const char *kind;               /* encoder, decoder, cross; NULL: all */
    int layer, head;  bool has_layer, has_head;
} AttentionOptions;

/* The engine has taps. */
typedef struct Look {
    Session *session;
    AttentionOptions wanted;
    const char *const *words;  int word_count;      /* what is asked */
    TextOptions text;               /* how a text is read */
    Arena *arena;
    Engine *engine;
    Question question;
    CliBegin begin;                /* what an answer begins with */
    bool answers;                   /* a decoder alone goes on behind the ids */
    const RtGeneration *settings;   /* of an answer; NULL: the model's own */
    int most;                       /* ids of an answer; 0: as many as the model's settings let it have */
    Trace *trace;
    Picture picture;
    int most_heads;                 /* of an attention that could be drawn, whatever was chosen */
} Look;

/* The words that are asked as a text, or as ids where the model has no tokenizer; false after a reported error. It wants no engine. */
bool look_read(Look *l, int *ids, int *n);
/* Most ids that a question has. */
int64_t look_most_ids(const Model *m);
/* Answer ids[n], by an engine with taps or without; trace what was answered, by one with taps; both. */
bool look_answer(Look *l, int *ids, int n);
bool look_trace(Look *l);
bool look_ask(Look *l, int *ids, int n);
/* An engine with taps for what was answered, no longer than that; in the place of the one that answered, which stays the caller's. False
 * after an error. */
bool look_engine(Look *l, EngineKind kind);
/* Run an xf.graph, on the inputs that the engine has. */
bool look_graph(Look *l);
/* Whether the caches of a graph have room for one more run by that engine; tells where they have none. */
bool look_has_room(Session *s, const Engine *e);

/* needs: question, trace.   gives: picture. False after an error: none is wanted, or it is too large. */
bool look_picture(Look *l);

/* A text on one line: U+2400 and on stand for what would end it, or move about in a terminal. */
const char *look_plain(Arena *a, const char *text);
/* The text that ids stand for, of a source or of what a decoder writes; numbers where the model has no tokenizer: inspect_text.c. */
const char *look_ids_text(Arena *a, const Model *m, bool source, const int *ids, int n);
/* One id as the label of a row: its character or piece, with signs for what has no ink. */
const char *look_label(Arena *a, const Model *m, bool source, int id);
/* Whether texts go in, and not ids. */
bool look_has_texts(const Model *m);

/* Tell an error and what to do about it (may be NULL); false. */
bool look_refuse(Session *s, Exit code, const char *what, const char *hint);

#endif
