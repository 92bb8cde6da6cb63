/* command_repl.c: repl and lua: the prompt, and a Lua file that runs as if typed there. */
#include "command.h"

#include "repl_command.h"

static ReplOptions repl_options(const Options *o)
{
    return (ReplOptions){ .spec = o->spec, .from = o->from, .allow_c = o->allow_c, .verbose = o->verbose, .words = o->words,
                          .word_count = o->word_count };
}

Exit command_repl(const Options *o)
{
    const ReplOptions asked = repl_options(o);
    return repl_prompt(&asked);
}

Exit command_lua(const Options *o)
{
    const ReplOptions asked = repl_options(o);
    return repl_script(&asked);
}
