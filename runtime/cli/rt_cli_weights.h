/* rt_cli_weights.h: the weights of a running program: embedded, mapped, read, or copied into pages
 * of 2 MiB. */
#ifndef RT_CLI_WEIGHTS_H
#define RT_CLI_WEIGHTS_H

#include "rt_cli.h"
#include "rt_weights.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct CliWeights {
    const rt_program *program;
    void *model;                    /* the program's */
    const void *data;               /* [program->weights_bytes], in use; NULL: the model's own */
    char place[8192];               /* where they came from: a path; "": the program */
    RtWeights file, copy;           /* to be released; may be empty. An open tokenizer still reads `file` */
    int reads;                      /* calls that have read them all */
} CliWeights;

/* Bind the weights in `path`, or, if that is NULL, the program's own: embedded in it, appended to
 * it, or in a file next to the executable. argv0 names the executable if the system does not report
 * its path. Returns 0, or an exit code after a message. */
int cli_weights_open(CliWeights *w, const rt_program *p, void *model, const char *path, const char *argv0);
/* To be called before a call that reads all weights. The first answer comes sooner if the weights
 * stay in place, and later ones if they are in large pages, so before the 32nd call they are copied
 * by rt_weights_copy, if their size suits it. */
void cli_weights_read(CliWeights *w);
/* Copy them now. */
void cli_weights_settle(CliWeights *w);
void cli_weights_close(CliWeights *w);

#ifdef __cplusplus
}
#endif

#endif
