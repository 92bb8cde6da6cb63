/* inspect.h: run a model on one question to look at all its named tensors, and draw its attention.
 *
 * A decoder first answers, with generation settings as in `run`; then the question and the answer
 * run through the engine again, and its taps are read. A decoder-only model that need not answer is
 * only fed the ids. Everything about a question lives in the arena of its Look. If taps for the
 * longest sequences would be too large (session_taps_are_large), an engine without taps answers,
 * and one with taps for shorter sequences is traced. */
#ifndef INSPECT_H
#define INSPECT_H

#include "generation.h"
#include "picture.h"
#include "session.h"
#include "text_ids.h"
#include "trace.h"

/* The ids that the model reads and writes. fed[m] and written[m] are the inputs and outputs of the
 * decoder's steps; for a decoder-only model both are the prompt and the answer. */
typedef struct Question {
    int *source, n;
    int first;                      /* for a pair: how many ids of the source belong to the first
                                     * text; 0 or n: there is no second text */
    int *fed, *written, m;
    int *ids, count;                /* generated, without the end id */
    const char *input, *answer;     /* for messages and pictures; answer is NULL if the model writes
                                     * nothing */
    const char *text;               /* the answer as `run` prints it; for a decoder-only model with
                                     * a tokenizer file, it includes the prompt */
} Question;

/* The attention to draw. */
typedef struct AttentionOptions {
    const char *kind;               /* encoder, decoder, cross; NULL: all */
    int layer, head;  bool has_layer, has_head;
} AttentionOptions;

/* A question with its engine, trace and picture. Functions that can fail return false after
 * reporting an error. */
typedef struct Look {
    Session *session;
    AttentionOptions wanted;
    const char *const *words;  int word_count;      /* the question, as words of the command line */
    TextOptions text;               /* how to read a text */
    Arena *arena;
    Engine *engine;
    Question question;
    CliBegin begin;                /* the ids that an answer begins with */
    bool answers;                   /* a decoder-only model continues the ids */
    const RtGeneration *settings;   /* for the answer; NULL: the model's own */
    int most;                       /* maximum number of ids in an answer; 0: that of the settings */
    Trace *trace;
    Picture picture;
    int most_heads;                 /* of an xf.graph's attention that can be drawn, selected or
                                     * not */
} Look;

/* Convert the words to ids: they are a text, or ids if the model has no tokenizer. Needs no
 * engine. */
bool look_read(Look *l, int *ids, int *n);
/* The maximum number of ids in a question. */
int64_t look_most_ids(const Model *m);
/* look_answer: take ids[n] as the question and, if the model is to write, answer it; the engine
 * need not have taps. look_trace: trace question and answer; the engine must have taps. look_ask:
 * both. */
bool look_answer(Look *l, int *ids, int n);
bool look_trace(Look *l);
bool look_ask(Look *l, int *ids, int n);
/* Set l->engine to a new engine with taps that is just long enough for question and answer. The
 * previous engine still belongs to the caller. */
bool look_engine(Look *l, EngineKind kind);
/* Run an xf.graph on the inputs set in the engine, and trace it. */
bool look_graph(Look *l);
/* True if the caches of a graph have room for one more run by that engine; else an error is
 * reported. */
bool look_has_room(Session *s, const Engine *e);

/* Make the picture; an error if there is none to draw, or it is too large. needs: question,
 * trace. */
bool look_picture(Look *l);

/* A text on one line: control characters become the symbols from U+2400 on. */
const char *look_plain(Arena *a, const char *text);
/* The text of the ids of a source or of a decoder's output; if the model has no tokenizer, the ids
 * as numbers. See inspect_text.c. */
const char *look_ids_text(Arena *a, const Model *m, bool source, const int *ids, int n);
/* An id as the label of a row or column: its character or piece, with symbols for invisible
 * characters; the number if the model has no tokenizer. */
const char *look_label(Arena *a, const Model *m, bool source, int id);
/* True if questions are texts; otherwise they are ids. */
bool look_has_texts(const Model *m);

/* Report an error and a hint, which may be NULL; returns false. */
bool look_refuse(Session *s, Exit code, const char *what, const char *hint);

#endif
