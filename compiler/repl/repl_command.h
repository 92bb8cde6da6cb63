/* repl_command.h: the commands `repl` and `lua`. Each prints every error and returns the exit
 * code. */
#ifndef REPL_COMMAND_H
#define REPL_COMMAND_H

#include "session.h"

typedef struct ReplOptions {
    const char *spec, *from;                        /* a spec to compile as `m`, or NULL; a weights
                                                     * file that replaces the spec's */
    bool allow_c, verbose;
    const char *const *words;  int word_count;      /* arguments of a Lua file: `arg` */
} ReplOptions;

/* Run the prompt; run the Lua file at the path `spec`. */
Exit repl_prompt(const ReplOptions *o);
Exit repl_script(const ReplOptions *o);

#endif
