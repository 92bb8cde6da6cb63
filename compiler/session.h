/* session.h: one model from its spec to whatever a command wants of it: the list of passes. */
#ifndef SESSION_H
#define SESSION_H

#include "emit.h"
#include "engine.h"

/* Of `info`. */
typedef struct InfoChoices {
    int position;  bool has_position;
    const char *target, *memory, *graph;    /* a name of targets.def; pictures to write */
    size_t max_ram, max_flash;              /* bytes */
    bool code;
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
    int threads[16], thread_count;          /* every number of -t */
} BenchChoices;

/* Of `run`. */
typedef struct BeamChoices {
    int beams;                              /* 0: greedy */
    double length_penalty;  bool has_length_penalty;
    int early_stopping;                     /* an RtBeamStop: false, true, never */
} BeamChoices;

/* What the command line chose. NULL and 0 mean: not given. */
typedef struct Choices {
    const char *spec;                       /* path */
    const char *folder;                     /* -o */
    const char *engine;                     /* native, generic */
    const char *cc, *isa;
    int threads, slots;
    bool taps, json, quiet, verbose;
    WeightsForm weights;                    /* --weights */
    KernelsForm kernels;                    /* --kernels */
    const char *dumps;                      /* letters: m g k p c */
    const char *against;
    const char *from;                       /* of `pack`: a file in the place of the spec's weights */
    InfoChoices info;
    AttentionChoices attention;
    BenchChoices bench;
    BeamChoices beam;
    const char *const *inputs;  int input_count;    /* NAME=FILE */
    const char *const *words;  int word_count;      /* what follows SPEC */
} Choices;

typedef struct Session {
    Arena *arena;
    Diag *diag;
    const Choices *choices;
    Model *model;
    Graph *graph;
    bool sizes_only;                /* set before session_read: the file of weights need not be there */
} Session;

Session *session_new(const Choices *c);
/* Read and check the spec, build its graph, dump what -d asks for. False after errors. */
bool session_read(Session *s);
/* A Plan for a target; the passes of plan/. */
Plan *session_plan(Session *s, PlanTarget target, bool taps);
/* "native" or "generic"; NULL after an error. `cc` NULL: the choice of the command line. */
Engine *session_engine(Session *s, const char *name, const char *cc, bool taps);
/* Print what went wrong, free everything, return the exit code. */
Exit session_end(Session *s);

#endif
