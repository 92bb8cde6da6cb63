/* command.h: the commands of the command line. Each reports its errors and returns the exit
 * code; main also checks that standard output was written. */
#ifndef COMMAND_H
#define COMMAND_H

#include "options.h"

typedef Exit CommandRun(const Options *o);

#define COMMAND(name, NAME, words, usage, doc, more, examples) CommandRun command_##name;
#include "commands.def"
#undef COMMAND

/* help_no_words: for a command line without a command, print a short usage or, if there are
 * options, report that the command is missing. help_command: print the help of a command, or of all
 * for COMMANDS. help_no_command: report an unknown command. */
Exit help_no_words(const Options *o);
void help_command(Command command, bool in_full, FILE *to);
Exit help_no_command(const char *word);
/* Print a completion script. shell: the number of the word given to --completion; see
 * completion.c. */
void completion_print(int shell, FILE *to);

/* Shared by commands. */
/* An engine with taps for an xf.graph, with inputs set from the spec and from --input; NULL after
 * an error. */
Engine *command_graph_engine(Session *s, const RunOptions *o);
/* Report the end of a long command on standard error. If progress is shown, print `done`, the time
 * since progress_begin, and the suggestion `next` unless it is NULL; otherwise print the line
 * `plain` unless it is NULL. With -q, print nothing. Ends the progress line. The three functions
 * below command_ended return parts of these lines. */
void command_ended(const Options *o, const char *plain, const char *done, const char *next);
const char *command_file_size(Arena *a, const char *path);
const char *command_shell_path(Arena *a, const char *path);
const char *command_example(const Model *m);

#endif
