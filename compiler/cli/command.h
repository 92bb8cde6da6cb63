/* command.h: what each word of the command line does. Each returns the exit code after telling every error. */
#ifndef COMMAND_H
#define COMMAND_H

#include "session.h"

typedef Exit CommandRun(const Choices *c);

CommandRun command_compile, command_build, command_run, command_verify, command_info, command_attention, command_bench, command_pack,
    command_ops, command_fields, command_cache, command_tokenize, command_tune;

/* Shared by commands. */
/* An engine with taps for an xf.graph, holding the inputs of the spec and of --input; NULL after an error. */
Engine *command_graph_engine(Session *s);
/* At the end of long work, on standard error: where progress is shown `done`, how long it took and
 * what comes `next`, NULL for nothing; elsewhere the line `plain`, NULL for none. With -q nothing.
 * What these lines are made of, in the arena given: */
void command_ended(const Session *s, const char *plain, const char *done, const char *next);
const char *command_file_size(Arena *a, const char *path);
const char *command_shell_path(Arena *a, const char *path);
const char *command_example(const Model *m);

#endif
