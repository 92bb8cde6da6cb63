/* rt_cli_language.h: the languages that a text is translated from and into. */
#ifndef RT_CLI_LANGUAGE_H
#define RT_CLI_LANGUAGE_H

#include "rt_cli_generate.h"
#include "rt_tokenizer.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Set up t for texts in the languages of l. *target receives the id of the language that an answer
 * begins with, -1 for none. Returns 0, or an exit code after a message. */
int cli_languages(RtTokenizer *t, const CliLanguages *l, int *target);

/* Print a note that no language was chosen for the answer. */
void cli_tell_free(const CliLanguages *l);

#ifdef __cplusplus
}
#endif

#endif
