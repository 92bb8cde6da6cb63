/* rt_cli_weights.h: where the weights of a program lie while it runs: inside it, in a file that is mapped, or in pages of 2 MB. */
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
    const void *data;               /* those in use: program->weights_bytes; NULL: they are the model's own affair */
    char place[8192];               /* where they came from: a path, or "" inside the program */
    RtWeights file, copy;           /* what is to be released; empty where there is none. A tokenizer stays in the file */
    int reads;                      /* calls that have read them */
} CliWeights;

/* Bind those of `path`, or for NULL the program's own: inside it, or beside the executable, whose name argv0 is where the system does not
 * say it. Returns 0, or an exit code after a message. */
int cli_weights_open(CliWeights *w, const rt_program *p, void *model, const char *path, const char *argv0);
/* Before a call that reads all of them. The first answer comes sooner from where they lie, later ones from large pages: they are copied
 * before the 32nd call, where rt_weights_copy does so. */
void cli_weights_read(CliWeights *w);
/* Copy them now. */
void cli_weights_settle(CliWeights *w);
void cli_weights_close(CliWeights *w);

#ifdef __cplusplus
}
#endif

#endif
