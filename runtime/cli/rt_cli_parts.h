/* rt_cli_parts.h: what the files of a generated program's main() share. */
#ifndef RT_CLI_PARTS_H
#define RT_CLI_PARTS_H

#include <stdio.h>

#include "rt_cli.h"
#include "rt_cli_generate.h"
#include "rt_cli_options.h"
#include "rt_lines.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What came out for one text. A decoder gives ids; an encoder alone hidden states, which stay in the state. */
typedef struct HostAnswer {
    int *input;  int input_count;   /* [host_longest]: ids that went in */
    int first, whole;               /* of those, how many are of type 0; how many the text has, more where it was cut */
    int twice;                      /* of a decoder: the text begins with the first token twice */
    int *ids;  int count;           /* [max_target + 1]: ids that came out, the end mark among them */
    int finished;                   /* the last of them is the end mark */
    double score;                   /* sum of their log-probabilities, where `scored` asks for it */
    RtAnswerText text;              /* the same as text, where `says` */
    int says;                       /* there is a tokenizer, or the answer's line is its ids */
    size_t shown;                   /* bytes of the text that were written before its end */
    rt_status told;                 /* of writing the text while its ids came */
    char message[192];              /* why there is no answer: no line end, nothing that a terminal obeys; "" where there is one */
} HostAnswer;

typedef struct HostBatch HostBatch;

typedef struct Host {
    const rt_program *program;
    const HostOptions *options;
    HostWeights weights;
    void *model, *state;
    int lanes;
    HostDecoder decoder;
    rt_host_tokenizer *tokenizer;   /* NULL where there is none */
    HostAnswer answer;
    int *places;                    /* [vector_width]: of labels in order, where there are any */
    RtLines lines;                  /* of standard input */
    HostBatch *batch;               /* of an encoder alone; NULL: texts are read one by one */
    const float *pooled;  int from; /* of a batch: the text's vector, where it has one, and its first row; NULL and 0 outside one */
    int streams;                    /* answers are written while they are generated */
    int flush;                      /* after every answer: somebody may wait for it */
    unsigned long long texts;       /* that were answered or refused so far, but for those of a batch */
    int conversation;               /* whether any text was answered */
    int refused;                    /* whether any text was: RT_EXIT_DATA, or RT_EXIT_MISSING where memory was missing; 0: none */
    int saturated;                  /* that a number was cut to f16 has been told */
} Host;

/* Ids that fit into an encoder, or into a decoder that stands alone. */
static inline int host_longest(const rt_program *p) { return p->max_source ? p->max_source : p->max_target; }
/* The same as the options have it. */
static inline int host_most(const Host *host)
{
    const int most = host_longest(host->program), asked = host->options->longest, fits = asked && asked < most ? asked : most;
    return host->program->max_source ? fits : rt_generation_prompt(&host->options->generation, fits);
}
static inline int host_vocabulary(const rt_program *p) { return p->max_source ? p->source_vocab : p->vocab; }
/* Whether texts are ids: asked for, or there is no tokenizer. */
static inline int host_numbers(const Host *host)
{
    return host->options->ids || (!host->program->ids && !host->program->texts);
}
/* What the length of a text is counted in. */
static inline const char *host_unit(const Host *host) { return host_numbers(host) ? "ids" : host->program->texts ? "tokens" : "characters"; }

/* ---- one text: rt_cli_answer.c --------------------------------------------------------------------------- */

/* Answer text[bytes], NUL-terminated, into host->answer. Returns 0; a refused text leaves a message. RT_EXIT_DATA for weights
 * that give no numbers, and RT_EXIT_DEFECT where the model fails, after a message too. */
int host_answer(Host *host, const char *text, size_t bytes, int scored);
/* The ids of the text into host->answer; 0 after a message, and the text counts as refused. */
int host_read(Host *host, const char *text, size_t bytes);
/* Say that the model failed: the exit code. */
int host_failed(Host *host, rt_status status);
/* Write the answer or its message, of a text whose answering gave `code`: that code, or RT_EXIT_IO after a message. rt_cli_inputs.c */
int host_show(Host *host, const char *text, size_t bytes, HostPlace place, int code);
/* Where the text that was answered was cut, say so. rt_cli_inputs.c */
void host_tell_input(const Host *host, HostPlace place);
/* Of an encoder alone: encode host->answer.input. */
rt_status host_encode(Host *host);
/* Make ready to write texts; 0, or an exit code after a message. */
int host_answer_open(Host *host);
/* Write the answer as a line; 0, or EOF as fputs. host_print_json: as an object; `text` is the input. */
int host_print(const Host *host);
int host_print_json(Host *host, const char *text, size_t bytes);
/* Of a search every sequence with its score, else the answer with the sum of its log-probabilities, on standard error. */
void host_tell_scores(Host *host);

/* ---- all texts: rt_cli_inputs.c -------------------------------------------------------------------------- */

/* Make ready to answer by host->model, which is bound, and host->state: 0, or an exit code after a message. */
int host_texts_open(Host *host);
/* Answer texts[n] and those of the options, without any the lines of standard input. Returns the exit code. */
int host_texts(Host *host, int n, char **texts);
void host_texts_close(Host *host);
/* Say that standard output cannot be written: RT_EXIT_IO. */
int host_write_failed(const Host *host);

/* ---- an encoder alone: rt_cli_vector.c ------------------------------------------------------------------- */

struct rt_host_vectors {
    /* Whether what it leaves has no NaN and no infinity in it. */
    int (*good)(const Host *host);
    /* What similar answers, in words. */
    const char *(*similarity)(const rt_program *p);
    /* What it leaves, without a line's end: numbers, or a label and its probability; as keys of an object; as bytes. */
    void (*print)(const Host *host, FILE *to);
    void (*json)(const Host *host);
    void (*raw)(const Host *host);
    /* The cosine of the vectors of texts[1] and texts[2]: 0, or an exit code after a message. */
    int (*similar)(Host *host, char **texts);
    /* Several lines at once: those of rt_cli_batch.c, below. */
    int (*batch_open)(Host *host);
    void (*batch_free)(HostBatch *b);
    int (*batch_line)(Host *host, const char *text, size_t bytes, size_t number);
    int (*batch_end)(Host *host);
};

/* ---- several lines at once: rt_cli_batch.c ---------------------------------------------------------------- */

/* 0, or an exit code after a message; a program that cannot read several has none. */
int host_batch_open(Host *host);
void host_batch_free(HostBatch *b);
/* One more line of standard input: it is answered as soon as no more fits, or no more is there. An exit code. */
int host_batch_line(Host *host, const char *text, size_t bytes, size_t number);
/* Answer all that wait. */
int host_batch_end(Host *host);

/* ---- JSON: rt_cli_json.c --------------------------------------------------------------------------------- */

/* A string of any bytes: what is no UTF-8 becomes U+FFFD, byte by byte; what a terminal would obey is escaped. */
void host_json_text(FILE *to, const char *s, size_t bytes);
void host_json_number(FILE *to, double x);      /* null where it is none */
/* Whether a terminal shows the character, and does not obey it. */
int host_may_print(int code_point);
/* The code point at s[0..bytes] and its length; -1, with length 1, where that is no UTF-8. */
int host_code_point(const char *s, size_t bytes, int *length);

/* ---- instead of answers: each returns the exit code, before which it has said why ------------------------ */

int host_info(Host *host);          /* rt_cli_info.c */
int host_check(Host *host);         /* rt_cli_check.c */
int host_selftest(Host *host);      /* rt_cli_check.c */
int host_bench(Host *host);         /* rt_cli_bench.c */

#ifdef __cplusplus
}
#endif

#endif
