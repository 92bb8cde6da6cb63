/* run_program.h: an engine as the rt_program of rt_cli.h, so that a generated program's code answers by it. */
#ifndef RUN_PROGRAM_H
#define RUN_PROGRAM_H

#include "engine.h"
#include "rt_cli_parts.h"

/* What the program's functions get as `model` and as `state`: one pointer to this. */
typedef struct RunProgram {
    Engine *engine;
    RtCharacters source, target;    /* of a tokenizer of characters */
    RtGeneration generation;        /* the model's own settings */
    RtChat chat;
    rt_program program;
} RunProgram;

/* Of an engine whose model is not an xf.graph; it lives in the arena. */
RunProgram *run_program(Arena *a, Engine *e);
/* What answers by it, as the options say: for cli_texts_open. */
Cli run_cli(RunProgram *r, const CliOptions *o);
/* A tokenizer of characters as a Plan has it. */
RtCharacters run_characters(const Packed *table, const Packed *texts);
/* The rows of rt_program.translations, in the arena; NULL for none. */
const char *const *run_translations(Arena *a, const Model *m);
/* Whether the model has texts at all; else texts are ids. */
bool run_has_texts(const Model *m);

#endif
