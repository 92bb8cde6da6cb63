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

/* Answer texts, or describe, check, test or measure the program instead. */
typedef enum CliAction { CLI_ANSWER, CLI_INFO, CLI_CHECK, CLI_SELFTEST, CLI_BENCH } CliAction;

/* The options of rt_cli_texts, which only programs with a piece tokenizer have; the others are in
 * rt_cli_options.c. */
enum { CLI_SEPARATOR = 1000, CLI_PLAIN, CLI_SOURCE_LANGUAGE, CLI_TARGET_LANGUAGE };

/* A text given with -p or, with `file`, the path of one given with -f. */
typedef struct CliPrompt { const char *text; int file; } CliPrompt;

/* Owns its lists; cli_options_free frees them. */
typedef struct CliOptions {
    const char *weights;            /* NULL: the program's own */
    int threads;                    /* 0: the program's default */
    int pin;
    int ids, json, raw, stream, verbose, chat;
    int plain_text;                 /* special tokens in texts are plain text */
    const char *separator;          /* splits a text into a pair; NULL: a tab; "": no splitting */
    int scores;                     /* print each sequence of an answer and its score to stderr */
    const char *system, *date;      /* of --chat; NULL: the template's default */
    const char *source_language, *target_language;  /* of a translator; NULL: its defaults */
    int turns;                      /* texts are turns of a conversation, by --turns or because they are typed at a terminal */
    CliAction action;
    int repetitions;                /* of --bench; 0: up to five, as time allows */
    RtGeneration generation;        /* the program's settings, changed by options */
    int generates;                  /* an option has changed them */
    const char **stops;             /* the program's, then those of --stop: generation.stops */
    CliPrompt *prompts;  int prompt_count;          /* in order; answered before the other texts */
    int longest;                    /* ids of a source and of a target; 0: the program's maximum */
    int first;                      /* index in argv of the first text; getopt_long has moved all texts to the end */
} CliOptions;

/* Parse argv. Returns 0; -1 if --help or --version was answered; or an exit code after a
 * message. */
int cli_options(CliOptions *o, const rt_program *p, int argc, char **argv);
void cli_options_free(CliOptions *o);

/* 1 if texts[n] are the command `similar`, which compares two texts, and its arguments. By itself,
 * or if the model has labels or does not make one vector per text, `similar` is a text.
 * rt_cli_inputs.c */
int cli_is_similar(const rt_program *p, int n, char **texts);

#ifdef __cplusplus
}
#endif

#endif
