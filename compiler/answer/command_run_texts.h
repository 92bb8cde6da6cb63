/* command_run_texts.h: texts answered as `run` answers them. */
#ifndef COMMAND_RUN_TEXTS_H
#define COMMAND_RUN_TEXTS_H

#include "generation.h"
#include "run_options.h"
#include "session.h"

/* Answer the texts of the command line, or the lines of standard input, by a model that was read. */
Exit run_texts(Session *s, const RunOptions *o);

/* The model's settings of generation as the command line changes them; false after an error. */
bool command_generation(Session *s, const RunOptions *o, RtGeneration *g);

#endif
