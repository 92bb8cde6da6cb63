/* session.h: one model, from its spec through all passes to what a command needs. */
#ifndef SESSION_H
#define SESSION_H

#include "emit.h"
#include "engine.h"

struct Draft;                   /* the contents of a spec: fields.h */

/* Options for a model and its code, for command lines, xformc repl and tests. NULL and 0 mean that
 * an option is not given. */
typedef struct CompileOptions {
    const char *spec;           /* the path of a Lua file, folder, GGUF file or checkpoint */
    const char *from;           /* a weight file that replaces the spec's */
    const char *tokenizer;      /* a path that replaces the spec's */
    const char *name;           /* of the emitted model; replaces the spec's */
    bool allow_c;               /* a spec file may use xf.op */
    bool sizes_only;            /* the spec's weight file need not exist */
    bool chat;                  /* read the tokenizer's chat template */
    PlanWork work;              /* WORK_RUN, or only packing */
    int max_len;                /* longest source and target */
    const char *dtype, *kv_dtype;       /* words of these fields */
    EmitForm form;
    const char *tune;           /* a file written by `xformc tune`, for what the options leave
                                 * open */
    int slots, max_threads, threads;  /* sequences in a state, and the most threads that it has
                                       * room for; threads of an engine */
    bool taps;                  /* keep every named intermediate in emitted code */
    bool unfused;               /* plan each operation as a call of its own */
    const char *cc;             /* compiler for native code */
    bool cached;                /* native code of the default compiler may come from the cache */
    unsigned hooks;             /* EMIT_*, for the jit; with EMIT_POLLS, native code can be stopped
                                 * too, between two calls */
    const char *dumps;          /* letters: m g k p c */
} CompileOptions;

/* Duration of each pass, the last time that it ran. */
typedef struct SessionPhases { int64_t read_ns, model_ns, graph_ns, plan_ns; } SessionPhases;

typedef struct Session {
    Arena *arena;
    Diag *diag;
    CompileOptions options;         /* including what a --tune file adds */
    const struct Draft *draft;      /* of session_take */
    Model *model;
    Graph *graph;
    SessionPhases phases;
    bool opened, looked;            /* set by session_open; set by session_look_at_weights */
} Session;

/* Copies the options; what they point to must outlive the session. */
Session *session_new(const CompileOptions *o);
/* Read and check the spec, build its graph, and print the requested dumps of the model and the
 * graph. False after errors. */
bool session_read(Session *s);
/* session_read for a command: remarks are printed now, before work that takes long. */
bool session_open(Session *s);
/* session_read for a draft; the options spec, from, tokenizer, name, max_len and allow_c do not
 * apply to it. Too little memory in the machine for the model is an error, reported before weights
 * are read; with sizes_only, memory is not checked. */
bool session_take(Session *s, const struct Draft *draft);
/* Read the weights once and remark on infinities and NaN, before they are used; nothing with
 * sizes_only. Opening an engine calls this, unless its packed weights are in the cache. */
void session_look_at_weights(Session *s);
/* Make a Plan for a target with the passes of plan/, and print the requested dumps of it. */
Plan *session_plan(Session *s, PlanTarget target, bool taps);
/* Print the draft as a spec in Lua; false after an error. */
bool session_print_lua(const Session *s, FILE *to);
/* Open an engine; NULL after an error. */
Engine *session_engine(Session *s, EngineKind kind, bool taps);
/* session_engine with other values for options that do not change the graph: unfused, form,
 * threads, cc, cached and hooks. */
Engine *session_engine_as(Session *s, EngineKind kind, bool taps, const CompileOptions *o);
/* session_engine_as without taps, for the same kind as `first`, an open engine of this session; a
 * generic engine shares the weights that `first` keeps, if the formats are the same. */
Engine *session_engine_beside(Session *s, EngineKind kind, const Engine *first, const CompileOptions *o);
/* Open an engine with taps for sequences of up to these lengths, or the model's if they are less;
 * it computes what session_engine's computes. NULL after an error. Not for an xf.graph. */
Engine *session_engine_for(Session *s, EngineKind kind, int64_t source, int64_t target);
/* True if a state with taps for the longest sequences needs so much memory that an engine with taps
 * should be sized for its input; false for an xf.graph. */
bool session_taps_are_large(Session *s);
/* Sequences in a state: 1 without a decoder; else as the options say, or one for each beam of the
 * model's search. */
int session_slots(const Session *s);
/* The most threads that a state has room for. */
int session_max_threads(const CompileOptions *o);
/* Free everything and print nothing. */
void session_free(Session *s);
/* Print what went wrong, free everything, and return the exit code. */
Exit session_end(Session *s);

#endif
