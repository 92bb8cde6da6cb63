/* repl_command.h: what the commands `repl` and `lua` do. Each returns the exit code after telling every error. */
#ifndef REPL_COMMAND_H
#define REPL_COMMAND_H

#include "session.h"

typedef struct ReplOptions {
    const char *spec, *from;                        /* compiled as `m`, NULL: none; a file of weights in the place of its own */
    bool allow_c, verbose;
    const char *const *words;  int word_count;      /* of a file of Lua, `arg` */
} ReplOptions;

/* The prompt; a file of Lua, which `spec` names. */
Exit repl_prompt(const ReplOptions *o);
Exit repl_script(const ReplOptions *o);

#endif
