/* command_run_texts.h: the command `run` for every model but an xf.graph, on texts or ids; and the
 * generation settings of commands. */
#ifndef COMMAND_RUN_TEXTS_H
#define COMMAND_RUN_TEXTS_H

#include "generation.h"
#include "run_options.h"
#include "session.h"

/* Run the session's model on the texts of the command line, or on the lines of standard input.
 * Returns the exit code; EXIT_DONE even after errors reported to s->diag. needs: session_open. */
Exit run_texts(Session *s, const RunOptions *o);

/* Set *g to the model's generation settings, overridden by the command line, whose stop strings are
 * added to the model's; false after an error. */
bool command_generation(Session *s, const RunOptions *o, RtGeneration *g);

#endif
