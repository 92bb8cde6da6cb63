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
typedef struct CliAnswer {
    int *input;  int input_count;   /* [cli_longest]: ids that went in */
    int first, whole;               /* of those, how many are of type 0; how many the text has, more where it was cut */
    int twice;                      /* of a decoder: the text begins with the first token twice */
    int *ids;  int count;           /* [max_target + 1]: ids that came out, the end mark among them */
    int finished;                   /* the last of them is the end mark */
    double score;                   /* sum of their log-probabilities, where `scored` asks for it */
    RtAnswerText text;              /* the same as text, where `says` */
    int says;                       /* there is a tokenizer, or the answer's line is its ids */
    size_t shown;                   /* bytes of the text that were written before its end */
    rt_status text_status;          /* of writing the text while its ids came */
    char message[192];              /* why there is no answer: no line end, nothing that a terminal obeys; "" where there is one */
} CliAnswer;

typedef struct CliBatch CliBatch;

typedef struct Cli {
    const rt_program *program;
    const CliOptions *options;
    CliWeights weights;
    void *model, *state;
    int threads;
    CliDecoder decoder;
    rt_cli_tokenizer *tokenizer;   /* NULL where there is none */
    CliAnswer answer;
    int *places;                    /* [vector_width]: of labels in order, where there are any */
    RtLines lines;                  /* of standard input */
    CliBatch *batch;               /* of an encoder alone; NULL: texts are read one by one */
    const float *pooled;  int from; /* of a batch: the text's vector, where it has one, and its first row; NULL and 0 outside one */
    int streams;                    /* answers are written while they are generated */
    int flush;                      /* after every answer: somebody may wait for it */
    unsigned long long texts;       /* that were answered or refused so far, but for those of a batch */
    int conversation;               /* whether any text was answered */
    int refused;                    /* whether any text was: RT_EXIT_DATA, or RT_EXIT_MISSING where memory was missing; 0: none */
    int saturated;                  /* that a number was cut to f16 has been reported */
} Cli;

/* Ids that fit into an encoder, or into a decoder that stands alone. */
static inline int cli_longest(const rt_program *p) { return p->max_source ? p->max_source : p->max_target; }
/* The same as the options have it. */
static inline int cli_most(const Cli *cli)
{
    const int most = cli_longest(cli->program), asked = cli->options->longest, fits = asked && asked < most ? asked : most;
    return cli->program->max_source ? fits : rt_generation_prompt(&cli->options->generation, fits);
}
static inline int cli_vocabulary(const rt_program *p) { return p->max_source ? p->source_vocab : p->vocab; }
/* Whether texts are ids: asked for, or there is no tokenizer. */
static inline int cli_numbers(const Cli *cli)
{
    return cli->options->ids || (!cli->program->tokenize && !cli->program->texts);
}
/* What the length of a text is counted in. */
static inline const char *cli_unit(const Cli *cli) { return cli_numbers(cli) ? "ids" : cli->program->texts ? "tokens" : "characters"; }

/* ---- one text: rt_cli_answer.c --------------------------------------------------------------------------- */

/* Answer text[bytes], NUL-terminated, into cli->answer. Returns 0; a refused text leaves a message. RT_EXIT_DATA for weights
 * that give no numbers, and RT_EXIT_DEFECT where the model fails, after a message too. */
int cli_answer(Cli *cli, const char *text, size_t bytes, int scored);
/* The ids of the text into cli->answer; 0 after a message, and the text counts as refused. */
int cli_read(Cli *cli, const char *text, size_t bytes);
/* Say that the model failed: the exit code. */
int cli_failed(Cli *cli, rt_status status);
/* Write the answer or its message, of a text whose answering gave `code`: that code, or RT_EXIT_IO after a message. rt_cli_inputs.c */
int cli_show(Cli *cli, const char *text, size_t bytes, CliPlace place, int code);
/* Where the text that was answered was cut, say so. rt_cli_inputs.c */
void cli_tell_input(const Cli *cli, CliPlace place);
/* Of an encoder alone: encode cli->answer.input. */
rt_status cli_encode(Cli *cli);
/* Make ready to write texts; 0, or an exit code after a message. */
int cli_answer_open(Cli *cli);
/* Write the answer as a line; 0, or EOF as fputs. cli_print_json: as an object; `text` is the input. */
int cli_print(const Cli *cli);
int cli_print_json(Cli *cli, const char *text, size_t bytes);
/* Of a search every sequence with its score, else the answer with the sum of its log-probabilities, on standard error. */
void cli_tell_scores(Cli *cli);

/* ---- all texts: rt_cli_inputs.c -------------------------------------------------------------------------- */

/* Make ready to answer by cli->model, which is bound, and cli->state: 0, or an exit code after a message. */
int cli_texts_open(Cli *cli);
/* Answer texts[n] and those of the options, without any the lines of standard input. Returns the exit code. */
int cli_texts(Cli *cli, int n, char **texts);
void cli_texts_close(Cli *cli);
/* Say that standard output cannot be written: RT_EXIT_IO. */
int cli_write_failed(const Cli *cli);

/* ---- an encoder alone: rt_cli_vector.c ------------------------------------------------------------------- */

struct rt_cli_vectors {
    /* Whether what it leaves has no NaN and no infinity in it. */
    int (*good)(const Cli *cli);
    /* What similar answers, in words. */
    const char *(*similarity)(const rt_program *p);
    /* What it leaves, without a line's end: numbers, or a label and its probability; as keys of an object; as bytes. */
    void (*print)(const Cli *cli, FILE *to);
    void (*json)(const Cli *cli);
    void (*raw)(const Cli *cli);
    /* The cosine of the vectors of texts[1] and texts[2]: 0, or an exit code after a message. */
    int (*similar)(Cli *cli, char **texts);
    /* Several lines at once: those of rt_cli_batch.c, below. */
    int (*batch_open)(Cli *cli);
    void (*batch_free)(CliBatch *b);
    int (*batch_line)(Cli *cli, const char *text, size_t bytes, size_t number);
    int (*batch_end)(Cli *cli);
};

/* ---- several lines at once: rt_cli_batch.c ---------------------------------------------------------------- */

/* 0, or an exit code after a message; a program that cannot read several has none. */
int cli_batch_open(Cli *cli);
void cli_batch_free(CliBatch *b);
/* One more line of standard input: it is answered as soon as no more fits, or no more is there. An exit code. */
int cli_batch_line(Cli *cli, const char *text, size_t bytes, size_t number);
/* Answer all that wait. */
int cli_batch_end(Cli *cli);

/* ---- JSON: rt_cli_json.c --------------------------------------------------------------------------------- */

/* A string of any bytes: what is no UTF-8 becomes U+FFFD, byte by byte; what a terminal would obey is escaped. */
void cli_json_text(FILE *to, const char *s, size_t bytes);
void cli_json_number(FILE *to, double x);      /* null where it is none */
/* Whether a terminal shows the character, and does not obey it. */
int cli_may_print(int code_point);
/* The code point at s[0..bytes] and its length; -1, with length 1, where that is no UTF-8. */
int cli_code_point(const char *s, size_t bytes, int *length);

/* ---- instead of answers: each returns the exit code, before which it has said why ------------------------ */

int cli_info(Cli *cli);          /* rt_cli_info.c */
int cli_check(Cli *cli);         /* rt_cli_check.c */
int cli_selftest(Cli *cli);      /* rt_cli_check.c */
int cli_bench(Cli *cli);         /* rt_cli_bench.c */

#ifdef __cplusplus
}
#endif

#endif
