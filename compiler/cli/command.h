/* command.h: what each word of the command line does. Each returns the exit code after telling every error. */
#ifndef COMMAND_H
#define COMMAND_H

#include "generation.h"
#include "session.h"
#include "text_pieces.h"

typedef Exit CommandRun(const Choices *c);

CommandRun command_compile, command_build, command_run, command_verify, command_info, command_attention, command_bench, command_pack,
    command_ops, command_fields, command_repl, command_lua, command_cache, command_tokenize, command_tune;

/* Answer the texts of the command line, or the lines of standard input, by a model that was read. */
Exit run_texts(Session *s);

/* Shared by commands. */
/* An engine with taps for an xf.graph, holding the inputs of the spec and of --input; NULL after an error. */
Engine *command_graph_engine(Session *s);
/* A text into the ids of the model's tokenizer, as `run` reads it: of a model that reads pairs a tab parts it in two, and of an encoder
 * alone it is cut, with a remark. ids->room is max_source, of a decoder alone max_target. False after an error. */
bool command_text_ids(Session *s, const Plan *p, const char *text, PieceIds *ids);
/* At the end of long work, on standard error: where progress is shown `done`, how long it took and
 * what comes `next`, NULL for nothing; elsewhere the line `plain`, NULL for none. With -q nothing.
 * What these lines are made of, in the arena given: */
void command_ended(const Session *s, const char *plain, const char *done, const char *next);
const char *command_file_size(Arena *a, const char *path);
const char *command_shell_path(Arena *a, const char *path);
const char *command_example(const Model *m);
/* The model's settings of generation as the command line changes them; false after an error. */
bool command_generation(Session *s, RtGeneration *g);

#endif
