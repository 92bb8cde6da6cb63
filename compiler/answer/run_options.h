/* run_options.h: the options of `run`: texts, engine, output format. */
#ifndef RUN_OPTIONS_H
#define RUN_OPTIONS_H

#include "engine.h"

/* Generation options in the order of the command line, by name and value. beams: the value of
 * --beam; 0: not given. */
typedef struct GenerationOptions { const char *name[64], *value[64]; int count; int beams; } GenerationOptions;

/* A text, or, if `file`, the path of the file that holds it. */
typedef struct Prompt { const char *text; bool file; } Prompt;

typedef struct RunOptions {
    EngineKind engine;
    bool ids, stream, chat, turns, raw, json, verbose, plain_text;
    const char *separator;          /* between the texts of a pair; NULL: a tab, "": never split */
    const char *system, *date;      /* for a chat template; NULL: its defaults */
    const char *source_language, *target_language;  /* for translators; NULL: the model's own */
    GenerationOptions generation;
    const Prompt *prompts; int prompt_count;        /* answered before the words */
    const char *const *stops;  int stop_count;
    const char *const *inputs; int input_count;     /* NAME=FILE, for an xf.graph */
    const char *const *words;  int word_count;      /* command-line words after the spec */
} RunOptions;

#endif
