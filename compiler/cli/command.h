/* command.h: what each word of the command line does. Each returns the exit code after telling every error. */
#ifndef COMMAND_H
#define COMMAND_H

#include "options.h"

typedef Exit CommandRun(const Options *o);

#define COMMAND(name, NAME, words, usage, doc, more, examples) CommandRun command_##name;
#include "commands.def"
#undef COMMAND

/* Without a command: ten lines of usage, or that it is missing where there are options. The help of a
 * command, of COMMANDS all of it. */
Exit help_no_words(const Options *o);
void help_command(Command command, bool in_full, FILE *to);
Exit help_no_command(const char *word);
/* A script for a shell, by the word of --completion: completion.c. */
void completion_print(int shell, FILE *to);

/* Shared by commands. */
/* An engine with taps for an xf.graph, holding the inputs of the spec and of --input; NULL after an error. */
Engine *command_graph_engine(Session *s, const RunOptions *o);
/* At the end of long work, on standard error: where progress is shown `done`, how long it took and
 * what comes `next`, NULL for nothing; elsewhere the line `plain`, NULL for none. With -q nothing.
 * What these lines are made of, in the arena given: */
void command_ended(const Options *o, const char *plain, const char *done, const char *next);
const char *command_file_size(Arena *a, const char *path);
const char *command_shell_path(Arena *a, const char *path);
const char *command_example(const Model *m);

#endif
