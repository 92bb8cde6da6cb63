/* rt_cli_options.h: the command line of a generated program, and its exit codes. */
#ifndef RT_CLI_OPTIONS_H
#define RT_CLI_OPTIONS_H

#include "rt_generation.h"
#include "rt_cli.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    RT_EXIT_DIFFERS = 1, RT_EXIT_USAGE = 2, RT_EXIT_DATA = 65, RT_EXIT_NO_INPUT = 66, RT_EXIT_MISSING = 69, RT_EXIT_DEFECT = 70, RT_EXIT_IO = 74
};

/* What is done instead of answering texts. */
typedef enum CliAction { CLI_ANSWER, CLI_INFO, CLI_CHECK, CLI_SELFTEST, CLI_BENCH } CliAction;

/* Options of rt_cli_texts, which only programs with a tokenizer of pieces have; others are rt_cli_options.c's own. */
enum { CLI_SEPARATOR = 1000, CLI_PLAIN, CLI_SOURCE_LANGUAGE, CLI_TARGET_LANGUAGE };

/* A text of -p, or the file of -f. */
typedef struct CliPrompt { const char *text; int file; } CliPrompt;

/* Lists are their own; cli_options_free frees them. */
typedef struct CliOptions {
    const char *weights;            /* NULL: the program's own */
    int threads;                    /* 0: the program's default */
    int pin;
    int ids, json, raw, stream, verbose, chat;
    int plain_text;                 /* special tokens of texts are text */
    const char *separator;          /* what parts a pair of texts; NULL: a tab, "": nothing does */
    int scores;                     /* every sequence of an answer is printed with its score, on standard error */
    const char *system, *date;      /* of --chat; NULL: as the template has it */
    const char *source_language, *target_language;  /* of a translator; NULL: those of its folder */
    int turns;                      /* the texts are turns of one conversation: asked for, or they are typed at a terminal */
    CliAction action;
    int repetitions;                /* of --bench; 0: as many as there is time for */
    RtGeneration generation;        /* the program's settings, changed by options */
    int generates;                  /* whether an option has changed them */
    const char **stops;             /* those of the program and of --stop behind them: generation.stops */
    CliPrompt *prompts;  int prompt_count;                 /* in their order, before the other texts */
    int longest;                    /* of a source and of a target; 0: as many as the program takes */
    int first;                      /* index in argv of the first text; getopt_long has moved all texts to the end */
} CliOptions;

/* Parse argv. Returns 0, -1 when --help or --version was answered, or an exit code after a message. */
int cli_options(CliOptions *o, const rt_program *p, int argc, char **argv);
void cli_options_free(CliOptions *o);

/* Whether texts[n] ask for the cosine of two, `similar A B`; the word alone is a text. rt_cli_inputs.c */
int cli_is_similar(const rt_program *p, int n, char **texts);

#ifdef __cplusplus
}
#endif

#endif
