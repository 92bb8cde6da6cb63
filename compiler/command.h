/* command.h: what each word of the command line does. Each returns the exit code after telling every error. */
#ifndef COMMAND_H
#define COMMAND_H

#include "session.h"

typedef Exit CommandRun(const Choices *c);

CommandRun command_compile, command_build, command_run, command_verify, command_ops;

#endif
