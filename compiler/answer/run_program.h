/* run_program.h: wrap an engine as the rt_program of rt_cli.h, so that the code of generated
 * programs can answer with it. */
#ifndef RUN_PROGRAM_H
#define RUN_PROGRAM_H

#include "engine.h"
#include "rt_cli_parts.h"

/* The functions of `program` get a pointer to their RunProgram as `model` and as `state`. */
typedef struct RunProgram {
    Engine *engine;
    RtCharacters source, target;    /* for a character tokenizer */
    RtGeneration generation;        /* the model's default settings */
    RtChat chat;
    rt_program program;
} RunProgram;

/* Wrap an engine, whose model must not be an xf.graph. The result lives in the arena. */
RunProgram *run_program(Arena *a, Engine *e);
/* A Cli that answers with `r` according to the options, for cli_texts_open. It keeps both
 * pointers. */
Cli run_cli(RunProgram *r, const CliOptions *o);
/* A character tokenizer from the tables of a Plan. */
RtCharacters run_characters(const Packed *table, const Packed *texts);
/* The rows of rt_program.translations, in the arena; NULL for none. */
const char *const *run_translations(Arena *a, const Model *m);
/* True if the model has a tokenizer; otherwise it reads token ids and, if it has a decoder,
 * generates them. */
bool run_has_texts(const Model *m);

#endif
