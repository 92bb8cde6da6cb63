/* rt_cli_language.h: the languages that a text is translated from and into. */
#ifndef RT_CLI_LANGUAGE_H
#define RT_CLI_LANGUAGE_H

#include "rt_cli_generate.h"
#include "rt_tokenizer.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Let texts be read as translated so. *target receives the language that an answer begins with, -1 for none. Returns 0, or an exit
 * code after a message. */
int host_languages(RtTokenizer *t, const HostLanguages *l, int *target);

/* Say, in a line, that no language was chosen for the answer. */
void host_tell_free(const HostLanguages *l);

#ifdef __cplusplus
}
#endif

#endif
