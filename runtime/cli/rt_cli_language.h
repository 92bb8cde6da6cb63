/* rt_cli_language.h: the languages of a translator, by --source-language and --target-language. */
#ifndef RT_CLI_LANGUAGE_H
#define RT_CLI_LANGUAGE_H

#include "rt_cli.h"
#include "rt_tokenizer.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Let texts be read as translated from and to these languages; NULL: the program's own. *target receives the language that an answer
 * begins with, -1 for none. Returns 0, or an exit code after a message. */
int host_languages(RtTokenizer *t, const rt_program *p, const char *from, const char *to, int *target);

#ifdef __cplusplus
}
#endif

#endif
