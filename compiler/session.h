/* session.h: one model from its spec to whatever a command wants of it: the list of passes. */
#ifndef SESSION_H
#define SESSION_H

#include "emit.h"
#include "engine.h"

struct Draft;                   /* what a spec said: fields.h */

/* What shapes a model and its code, whoever asks: a command line, the prompt, a test. NULL and 0 mean: not given. */
typedef struct CompileOptions {
    const char *spec;           /* a path: a Lua file, a folder, a GGUF file, a checkpoint */
    const char *from;           /* a file of weights in the place of the spec's */
    const char *tokenizer;      /* a path in the place of the spec's */
    const char *name;           /* of the emitted model, in the place of the spec's */
    bool allow_c;               /* a spec file may have xf.op */
    bool sizes_only;            /* the file of weights need not be there */
    bool chat;                  /* the tokenizer's chat template is made out */
    PlanWork work;              /* what will be done with it: WORK_RUN, or nothing but packing */
    int max_len;                /* longest source and target */
    const char *dtype, *kv_dtype;       /* words of these fields */
    EmitForm form;
    const char *tune;           /* a file of `xformc tune`, used where the options say nothing */
    int slots, max_threads, threads;  /* sequences of a state; most threads it has room for; threads of an engine */
    bool taps;                  /* keep every named intermediate in emitted code */
    const char *cc;             /* compiler of native code */
    bool cached;                /* native code of the default compiler may come from the cache */
    unsigned hooks;             /* EMIT_*, of the jit; with EMIT_POLLS native code stops too, between two calls */
    const char *dumps;          /* letters: m g k p c */
} CompileOptions;

/* How long each pass took; the last plan. */
typedef struct SessionPhases { int64_t read_ns, model_ns, graph_ns, plan_ns; } SessionPhases;

typedef struct Session {
    Arena *arena;
    Diag *diag;
    CompileOptions options;         /* with what a file of --tune adds */
    const struct Draft *draft;      /* of session_take */
    Model *model;
    Graph *graph;
    SessionPhases phases;
    bool opened, looked;            /* by session_open; its weights were looked at */
} Session;

/* The options are copied; what they point to outlives the session. */
Session *session_new(const CompileOptions *o);
/* Read and check the spec, build its graph, dump what is asked for. False after errors. */
bool session_read(Session *s);
/* The same for a command: what it remarks is printed now, before work that takes long. */
bool session_open(Session *s);
/* The same from what a spec said. What this machine has no memory for is refused before its weights are read. */
bool session_take(Session *s, const struct Draft *draft);
/* Read the weights once and remark what is wrong with them, before work on them; opening an engine does. */
void session_look_at_weights(Session *s);
/* A Plan for a target; the passes of plan/. */
Plan *session_plan(Session *s, PlanTarget target, bool taps);
/* What was read, as a spec in Lua; false after an error. */
bool session_print_lua(const Session *s, FILE *to);
/* NULL after an error. */
Engine *session_engine(Session *s, EngineKind kind, bool taps);
/* The same with other options, of those that leave the graph as it is: form, threads, cc, cached and hooks. */
Engine *session_engine_as(Session *s, EngineKind kind, bool taps, const CompileOptions *o);
/* An engine with taps for sequences of up to these lengths, with the numbers of the others; NULL after an error. Not of an xf.graph. */
Engine *session_engine_for(Session *s, EngineKind kind, int64_t source, int64_t target);
/* Whether named tensors of the longest sequences take so much memory that an engine with taps is better sized by the question. */
bool session_taps_are_large(Session *s);
/* Sequences of a state: as the options say, else one for each beam of the model's search. */
int session_slots(const Session *s);
/* Room for threads in a state. */
int session_max_threads(const CompileOptions *o);
/* Free everything, and tell nothing. */
void session_free(Session *s);
/* Print what went wrong, free everything, return the exit code. */
Exit session_end(Session *s);

#endif
