/* repl_command.h: the commands `repl` and `lua`. Each returns the exit code after telling every error. */
#ifndef REPL_COMMAND_H
#define REPL_COMMAND_H

#include "session.h"

Exit command_repl(const Choices *c);
Exit command_lua(const Choices *c);

#endif
