/* session.h: one model from its spec to whatever a command wants of it: the list of passes. */
#ifndef SESSION_H
#define SESSION_H

#include "emit.h"
#include "engine.h"

struct Draft;                   /* what a spec said: fields.h */

/* Of `info`. */
typedef struct InfoChoices {
    int position;  bool has_position;
    const char *target, *memory, *graph;    /* a name of targets.def; pictures to write */
    size_t max_ram, max_flash;              /* bytes */
    bool code, lua, families;
} InfoChoices;

/* Of `attention`. */
typedef struct AttentionChoices {
    const char *kind, *colour;              /* encoder, decoder, cross; auto, always, never */
    int layer, head;  bool has_layer, has_head;
} AttentionChoices;

/* Of `bench`. */
typedef struct BenchChoices {
    int repetitions;
    double seconds;                         /* for each row */
    const char *format;                     /* md, json, jsonl, csv */
    const char *report;                     /* file of --report; NULL: none */
    int threads[16], thread_count;          /* every number of -t */
} BenchChoices;

/* Of `tokenize`. */
typedef struct TokenizeChoices { bool decode, pieces, no_special; const char *pair; } TokenizeChoices;

/* Of `run`: settings of generation in the order of the command line, each an option's name and its value. */
typedef struct GenerationChoices { const char *name[64], *value[64]; int count; int beams; } GenerationChoices;

/* Of `run`: a text of -p, or the file of -f. */
typedef struct Prompt { const char *text; bool file; } Prompt;

/* What the command line chose. NULL and 0 mean: not given. */
typedef struct Choices {
    const char *spec;                       /* path */
    const char *folder;                     /* -o */
    const char *engine;                     /* native, generic */
    const char *cc, *isa;
    int threads, slots, lanes;              /* lanes: most that a state has room for */
    bool taps, json, raw, quiet, verbose;
    unsigned hooks;                         /* EMIT_*, of the jit; with EMIT_POLLS native code stops too, between two calls */
    bool clear;                             /* of `cache` */
    bool allow_c;                           /* a spec file may have xf.op */
    bool cached;                            /* native code of the default compiler may come from the cache */
    WeightsForm weights;                    /* --weights */
    const char *dtype;                      /* --dtype, a word of that field; NULL: the spec's */
    const char *kv_dtype;                   /* --kv-dtype, likewise */
    KernelsForm kernels;                    /* --kernels */
    LayersForm layers;                      /* --unroll-layers */
    int unroll;                             /* --unroll */
    const char *tune;                       /* --tune: a file of `tune` */
    const Tuning *tuning;                   /* what it says of calls; set by the session */
    const char *tokenizer;                  /* path; NULL: the spec's */
    int max_len;                            /* --max-len; 0: the spec's */
    bool ids, stream, chat, turns;          /* --ids, --stream, --chat, --turns of `run` */
    const char *system, *date;              /* --system, --date; NULL: the template's own */
    const char *dumps;                      /* letters: m g k p c */
    const char *against;
    const char *task, *perplexity;          /* of `verify`: files */
    const char *from;                       /* --from: a file in the place of the spec's weights */
    InfoChoices info;
    AttentionChoices attention;
    BenchChoices bench;
    GenerationChoices generation;
    TokenizeChoices tokenize;
    const char *const *inputs;  int input_count;    /* NAME=FILE */
    const Prompt *prompts;  int prompt_count;       /* before the words */
    const char *const *stops;  int stop_count;      /* of --stop */
    const char *const *words;  int word_count;      /* what follows SPEC */
} Choices;

/* How long each pass took; the last plan. */
typedef struct SessionPhases { int64_t read_ns, model_ns, graph_ns, plan_ns; } SessionPhases;

typedef struct Session {
    Arena *arena;
    Diag *diag;
    const Choices *choices;
    const struct Draft *draft;      /* of session_take */
    Model *model;
    Graph *graph;
    SessionPhases phases;
    bool sizes_only;                /* set before session_read: the file of weights need not be there */
    Choices tuned;                  /* the choices with what --tune adds, to which `choices` then points */
} Session;

Session *session_new(const Choices *c);
/* Read and check the spec, build its graph, dump what -d asks for. False after errors. */
bool session_read(Session *s);
/* The same for a command: what it remarks is printed now, before work that takes long. */
bool session_open(Session *s);
/* The same from what a spec said. */
bool session_take(Session *s, const struct Draft *draft);
/* A Plan for a target; the passes of plan/. */
Plan *session_plan(Session *s, PlanTarget target, bool taps);
/* What was read, as a spec in Lua; false after an error. */
bool session_print_lua(const Session *s, FILE *to);
/* "native" or "generic"; NULL after an error. `cc` NULL: the choice of the command line. */
Engine *session_engine(Session *s, const char *name, const char *cc, bool taps);
/* Whether named tensors of the longest sequences take so much memory that an engine with taps is better sized by the question. */
bool session_taps_are_large(Session *s);
/* An engine with taps for sequences of up to these lengths, with the numbers of the others; NULL after an error. Not of an xf.graph. */
Engine *session_engine_for(Session *s, const char *name, int64_t source, int64_t target);
/* Free everything, and tell nothing. */
void session_free(Session *s);
/* The form of emitted C that the command line chose. */
EmitForm session_form(const Choices *c);
/* Sequences of a state: as the command line says, else one for each beam of the model's search. */
int session_slots(const Session *s);
/* Room for lanes in a state. */
int session_lanes(const Choices *c);
/* Print what went wrong, free everything, return the exit code. */
Exit session_end(Session *s);

#endif
