/* rt_cli_parts.h: declarations that the files of a generated program's main() share. */
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

/* The answer to one text. A decoder's is ids; that of an encoder-only model stays in the state. */
typedef struct CliAnswer {
    int *input;  int input_count;   /* [cli_longest]: ids of the text */
    int first, whole;               /* how many of these are of type 0; ids of the uncut text */
    int twice;                      /* of a decoder: the text begins twice with the token that the tokenizer adds */
    int *ids;  int count;           /* [max_target + 1]: generated ids, including the end id */
    int finished;                   /* the last of them is an end id */
    double score;                   /* sum of their log-probabilities, if `scored` asks for it or after a search */
    RtAnswerText text;              /* these ids as text, if `says` */
    int says;                       /* a decoder has a tokenizer, or its answers are printed as ids */
    size_t shown;                   /* bytes of the text that are already printed */
    rt_status text_status;          /* from making the text while ids arrive */
    char message[192];              /* why there is no answer: one printable line; "": an answer */
} CliAnswer;

typedef struct CliBatch CliBatch;

typedef struct Cli {
    const rt_program *program;
    const CliOptions *options;
    CliWeights weights;
    void *model, *state;
    int threads;
    CliDecoder decoder;
    rt_cli_tokenizer *tokenizer;   /* NULL if there is none */
    CliAnswer answer;
    int *places;                    /* [vector_width]: for indices of labels; NULL: no labels */
    RtLines lines;                  /* of standard input */
    CliBatch *batch;               /* of an encoder-only program; NULL: texts go one by one */
    /* In a batch: the text's vector, if it has one, and its first row; otherwise NULL and 0. */
    const float *pooled;  int from;
    int streams;                    /* print answers while they are generated */
    int flush;                      /* flush after every answer: a reader may wait for it */
    unsigned long long texts;       /* texts answered or rejected so far, except in batches */
    int conversation;               /* a text has been answered */
    /* A text was rejected: RT_EXIT_DATA, or RT_EXIT_MISSING if memory was missing; 0: none was. */
    int refused;
    int saturated;                  /* the saturation of an f16 cache was reported */
    unsigned calls, shared;         /* of rt_team_calls, before this text */
} Cli;

/* The most ids of a source or, in a decoder-only model, of a prompt. */
static inline int cli_longest(const rt_program *p) { return p->max_source ? p->max_source : p->max_target; }
/* The most ids that a text can have: cli_longest, limited by the options and, in a decoder-only
 * model, by max_length. */
static inline int cli_most(const Cli *cli)
{
    const int most = cli_longest(cli->program), asked = cli->options->longest, fits = asked && asked < most ? asked : most;
    return cli->program->max_source ? fits : rt_generation_prompt(&cli->options->generation, fits);
}
static inline int cli_vocabulary(const rt_program *p) { return p->max_source ? p->source_vocab : p->vocab; }
/* 1 if texts are ids: by option, or because there is no tokenizer. */
static inline int cli_numbers(const Cli *cli)
{
    return cli->options->ids || (!cli->program->tokenize && !cli->program->texts);
}
/* The unit of a text's length. */
static inline const char *cli_unit(const Cli *cli) { return cli_numbers(cli) ? "ids" : cli->program->texts ? "tokens" : "characters"; }

/* ---- one text: rt_cli_answer.c --------------------------------------------------------------------------- */

/* Answer text[bytes], which is NUL-terminated, into cli->answer. Returns 0, even for a rejected
 * text; RT_EXIT_DATA if the weights give NaN or infinity, or the settings exclude every token;
 * RT_EXIT_MISSING if memory is missing; RT_EXIT_DEFECT after any other failure. If there is no
 * answer, answer.message is set. */
int cli_answer(Cli *cli, const char *text, size_t bytes, int scored);
/* Read the ids of the text into cli->answer. Returns 0, with a message, if the text is rejected. */
int cli_read(Cli *cli, const char *text, size_t bytes);
/* Set answer.message: the model has failed. Returns the exit code. */
int cli_failed(Cli *cli, rt_status status);
/* Print the answer, or the message, of a text whose answering returned `code`. Returns that code,
 * or RT_EXIT_IO after a message. rt_cli_inputs.c */
int cli_show(Cli *cli, const char *text, size_t bytes, CliPlace place, int code);
/* Say so if the answered text was cut, or begins with a token twice. rt_cli_inputs.c */
void cli_tell_input(const Cli *cli, CliPlace place);
/* In an encoder-only program: encode cli->answer.input. */
rt_status cli_encode(Cli *cli);
/* Prepare to print answers as text. Returns 0, or an exit code after a message. */
int cli_answer_open(Cli *cli);
/* Print the answer as a line or, with --raw, as bytes; cli_print_json prints an object, with `text`
 * as the input. Returns EOF if writing fails. */
int cli_print(const Cli *cli);
int cli_print_json(Cli *cli, const char *text, size_t bytes);
/* Print to standard error every sequence of a search with its score, or the only answer; each with
 * the sum of its log-probabilities. */
void cli_tell_scores(Cli *cli);

/* ---- all texts: rt_cli_inputs.c -------------------------------------------------------------------------- */

/* Prepare to answer texts with cli->model, which is bound, and cli->state. Returns 0, or an exit
 * code after a message. */
int cli_texts_open(Cli *cli);
/* Answer the texts of the options, then texts[n], where "-" stands for the lines of standard input;
 * if there are no texts, answer these lines. If texts[n] are the command `similar`, that is run
 * first. Returns the exit code. */
int cli_texts(Cli *cli, int n, char **texts);
void cli_texts_close(Cli *cli);
/* Report that standard output cannot be written. Returns RT_EXIT_IO. */
int cli_write_failed(const Cli *cli);

/* ---- encoder only: rt_cli_vector.c ----------------------------------------------------------------------- */

struct rt_cli_vectors {
    /* 1 if the result has neither NaN nor +infinity. */
    int (*good)(const Cli *cli);
    /* For --help: print what else the program does, and the keys of --json. */
    void (*show_help)(const rt_program *p);
    void (*show_keys)(const rt_program *p);
    /* Print the result, without a newline: numbers, labels or tokens with their scores. json: as
     * keys of an object; raw: as bytes. */
    void (*print)(const Cli *cli, FILE *to);
    void (*json)(const Cli *cli);
    void (*raw)(const Cli *cli);
    /* Print the similarity of texts[1] and texts[2]. Returns 0, or an exit code after a message. */
    int (*similar)(Cli *cli, char **texts);
    /* Several lines at once: the functions of rt_cli_batch.c, below. */
    int (*batch_open)(Cli *cli);
    void (*batch_free)(CliBatch *b);
    int (*batch_line)(Cli *cli, const char *text, size_t bytes, size_t number);
    int (*batch_end)(Cli *cli);
};

/* ---- several lines at once: rt_cli_batch.c ---------------------------------------------------------------- */

/* Allocate cli->places, if the model has labels, and cli->batch, if the program can encode several
 * texts at once. Returns 0, or an exit code after a message. */
int cli_batch_open(Cli *cli);
void cli_batch_free(CliBatch *b);
/* Add a line of standard input. The batch is answered when a line does not fit or is rejected, or
 * when no line is ready. Returns an exit code. */
int cli_batch_line(Cli *cli, const char *text, size_t bytes, size_t number);
/* Answer all lines of the batch. */
int cli_batch_end(Cli *cli);

/* ---- JSON: rt_cli_json.c --------------------------------------------------------------------------------- */

/* Write any bytes as a quoted string: each byte that is not valid UTF-8 becomes U+FFFD; quotes,
 * backslashes and characters that cli_may_print rejects are escaped. */
void cli_json_text(FILE *to, const char *s, size_t bytes);
void cli_json_number(FILE *to, double x);      /* null if it is not finite */
/* 1 if a terminal shows the character and does not interpret it. */
int cli_may_print(int code_point);
/* The code point at s[0..bytes), and its length; -1 with length 1 for invalid UTF-8. */
int cli_code_point(const char *s, size_t bytes, int *length);

/* ---- instead of answers: each reports a failure and returns the exit code ------------------- */

int cli_info(Cli *cli);          /* rt_cli_info.c */
int cli_check(Cli *cli);         /* rt_cli_check.c */
int cli_selftest(Cli *cli);      /* rt_cli_check.c */
int cli_bench(Cli *cli);         /* rt_cli_bench.c */

#ifdef __cplusplus
}
#endif

#endif
