/* run_options.h: what `run` is asked: which texts, by which engine, in which form they are answered. */
#ifndef RUN_OPTIONS_H
#define RUN_OPTIONS_H

#include "engine.h"

/* Settings of generation in the order of the command line, each an option's name and its value. */
typedef struct GenerationOptions { const char *name[64], *value[64]; int count; int beams; } GenerationOptions;

/* A text, or the file that holds it. */
typedef struct Prompt { const char *text; bool file; } Prompt;

typedef struct RunOptions {
    EngineKind engine;
    bool ids, stream, chat, turns, raw, json, verbose, plain_text;
    const char *separator;          /* of a pair's texts; NULL: a tab */
    const char *system, *date;      /* of a chat; NULL: the template's own */
    const char *source_language, *target_language;  /* of a translator; NULL: the folder's */
    GenerationOptions generation;
    const Prompt *prompts; int prompt_count;        /* before the words */
    const char *const *stops;  int stop_count;
    const char *const *inputs; int input_count;     /* NAME=FILE, of an xf.graph */
    const char *const *words;  int word_count;      /* behind the spec */
} RunOptions;

#endif
