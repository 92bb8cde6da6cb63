/* rt_cli.h: main() of a generated program that turns texts into texts, or ids into ids.
 *
 * The emitted <name>_main.c holds one constant rt_program, small wrappers that give the model's functions these types,
 * and `int main(int argc, char **argv) { return rt_cli_main(&program, argc, argv); }`. Compile it and rt_cli*.c for
 * the baseline: they ask whether the processor can run the rest. */
#ifndef RT_CLI_H
#define RT_CLI_H

#include "rt.h"
#include "rt_answer_text.h"
#include "rt_chat.h"
#include "rt_generation.h"
#include "rt_scores.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The ids of a text: ids [room], n of them written, of which `first` from the start are of type 0; the whole text has `whole`.
 * twice: it begins with the first token, which the tokenizer put before it once more. */
typedef struct rt_cli_source { int *ids; int room, n, first, whole, twice; } rt_cli_source;

/* Where a text came from, for messages. */
typedef struct CliPlace { const char *kind; size_t number; } CliPlace;

struct CliOptions;
struct CliBegin;
struct CliLanguages;

/* An option of the command line; letter: its letter, or a number above all letters. */
typedef enum rt_cli_need { CLI_NEED_NOTHING, CLI_NEED_DECODER, CLI_NEED_CHAT, CLI_NEED_PAIRS, CLI_NEED_SOURCE } rt_cli_need;
typedef struct rt_cli_option { const char *name, *argument, *help; int letter; rt_cli_need need; } rt_cli_option;

/* What rt_cli_text.c does for programs with a tokenizer; others do without it. */
typedef struct rt_cli_tokenizer rt_cli_tokenizer;
typedef struct rt_program rt_program;
typedef struct rt_cli_texts {
    /* Of a blob that NAME_bind, or who made it, has checked. NULL with a status. */
    rt_cli_tokenizer *(*open)(const void *blob, size_t bytes, rt_status *status);
    void (*close)(rt_cli_tokenizer *t);
    /* separator: where it first stands in the text, that is two texts; NULL: it is one.
     * cut: one with more than room ids is cut to them; else RT_TOO_LONG. plain: what the
     * tokenizer's template adds is left out. */
    rt_status (*ids)(rt_cli_tokenizer *t, const char *text, size_t bytes, const char *separator, int cut, int plain,
                     rt_cli_source *out);
    /* Let texts be read as these languages have it, and an answer begin with its own; as cli_languages of rt_cli_language.h. */
    int (*translate)(rt_cli_tokenizer *t, const struct CliLanguages *l, struct CliBegin *begin);
    /* Say that a text begins with an id twice. */
    void (*tell_twice)(rt_cli_tokenizer *t, const char *program, CliPlace place, int id);
    rt_status (*token)(rt_cli_tokenizer *t, int id, char *out, size_t cap, size_t *used);      /* its text, of special ones too */
    /* A text wrapped by a template, behind the turns before where it goes on: *wrapped[*n] stays the tokenizer's, until the next.
     * RT_NO_ROOM: no memory. */
    rt_status (*wrap)(rt_cli_tokenizer *t, const RtChat *chat, const RtChatWords *words, int goes_on, const char *text, size_t bytes,
                      const char **wrapped, size_t *n);
    /* What was answered to the last text that was wrapped; NULL: nothing, and it is as if it had not been said. */
    rt_status (*answered)(rt_cli_tokenizer *t, const char *answer, size_t bytes);
    RtDetokenize *detokenize;       /* its self is the rt_cli_tokenizer */
    /* From now on the text of a special token is text, but for those that a template writes. */
    void (*literal)(rt_cli_tokenizer *t);
    const rt_cli_option *options;  int option_count;
    /* One of these options; the first of them that was given, NULL for none. */
    void (*take)(struct CliOptions *o, int option, const char *argument);
    const char *(*asked)(const struct CliOptions *o);
} rt_cli_texts;
extern const rt_cli_texts rt_cli_text;

/* What rt_cli_vector.c and rt_cli_batch.c do for programs of an encoder alone; others do without them. */
typedef struct rt_cli_vectors rt_cli_vectors;
extern const rt_cli_vectors rt_cli_vector;

/* Of a cache of f16, once. */
#define RT_SATURATED "keys or values beyond 65504 became that, the largest f16; caches of f32 hold them"

struct rt_program {
    const char *name;               /* "dates": begins every message */
    const char *about;              /* one line for --help */
    const char *spec;               /* what it was made from: "dates.lua" */
    const char *about_encoder, *about_decoder;      /* a line about each stack; NULL where there is none */
    const char *example;            /* a text to try, for --help; NULL for none */
    const char *version;            /* of the compiler that made the program: "0.9.0" */
    unsigned isa;                   /* RT_ISA_* bits that the model was compiled for */
    size_t model_bytes, state_bytes, weights_bytes;
    const void *weights;            /* embedded, 64-byte aligned; NULL: in a file */
    const char *weights_file;       /* its name, beside the executable; NULL when embedded */
    int weights_behind;             /* they stand behind the program, if not in that file: rt_weights.h */
    long long parameters;           /* numbers that were trained */
    const char *dtype, *kv_dtype;   /* in which the weights are kept: "int8"; and keys and values, NULL for f32 */
    double tolerance;               /* of the self-test: distance of what it computes from what was packed */
    int default_threads, max_threads;   /* default 0: the processors that the process may use */

    int max_source, source_vocab;   /* of an encoder; 0: there is none */
    int width, hidden_stride;       /* of its hidden states, where there is no decoder */
    int vector_width, vector_stride;                /* of what its head makes of them; stride 0: one vector of a whole source */
    const char *const *labels;      /* [vector_width]: what the numbers of the vector are scores of; NULL for none */
    RtScoring scoring;              /* as what these are answered */
    RtSimilarity similarity;        /* what `similar` answers of two vectors */
    int pairs;                      /* whether a tab parts a text in two */
    int has_mask, mask_id;          /* of a masked language model: the id in whose places the most likely ids are answered */
    int max_target, vocab;          /* of a decoder; 0: there is none */
    int start, slots;               /* id that an answer to a source begins with; sequences that a state holds */
    const RtGeneration *generation; /* the settings that it comes with; NULL where there is no decoder */
    int rows, logits_stride;                        /* rows of one call; floats from one row of logits to the next */

    rt_status (*bind)(void *model, const void *weights, size_t bytes);
    rt_status (*threads)(void *model, int n);
    rt_team *(*team)(const void *model);
    void (*reset)(void *state);
    /* Of an encoder; hidden where there is no decoder, vector where it has a head, else NULL. */
    rt_status (*encode)(const void *model, void *state, int slot, const int *ids, int n);
    /* The same for a pair, whose first ids are of type 0; NULL where all are. */
    rt_status (*encode_pair)(const void *model, void *state, int slot, const int *ids, int n, int first);
    /* Several at once, of an encoder alone, as NAME_encode_batch of the emitted NAME.h; NULL: it reads them one by one. */
    rt_status (*encode_batch)(const void *model, void *state, const int *ids, const int *lengths, const int *firsts, int count, float *vectors);
    const float *(*hidden)(const void *state);
    const float *(*vector)(const void *state);
    const rt_cli_vectors *vectors;                 /* of an encoder alone; NULL where there is a decoder */
    /* Of a decoder, as the emitted NAME.h says; next on slot 0. */
    rt_status (*decode)(const void *model, void *state, const rt_token *rows, int n);
    rt_status (*prefill)(const void *model, void *state, const rt_token *rows, int n);
    const float *(*logits)(const void *state);
    rt_status (*next)(const void *model, void *state, int id, int *next);
    rt_status (*clear)(void *state, int slot);
    rt_status (*fork_slot)(void *state, int from, int to);
    int (*saturated)(const void *state);            /* whether a cache of f16 was given a number beyond it; NULL where there is none */
    /* Of a tokenizer of characters; both NULL where there is none: texts and answers are ids with
     * spaces between. As NAME_tokenize and NAME_detokenize of the emitted NAME.h. */
    rt_status (*tokenize)(const void *model, void *state, const char *utf8, int *ids, int room, int *n,
                          RtTextFault *fault);
    rt_status (*detokenize)(const void *model, const int *ids, int n, char *out, size_t cap, size_t *bytes);
    /* Of a tokenizer with pieces, instead of these; NULL where there is none. */
    const rt_cli_texts *texts;
    const void *(*tokenizer)(const void *model, size_t *bytes);
    const RtChat *chat;             /* its chat template, of a decoder alone; NULL where there is none */
    /* Where texts name the languages of a translation: rows "en de translate English to German: ", two codes and what stands before
     * the text, with NULL behind; NULL for none. */
    const char *const *translations;
};

/* Do what the options say, or answer the texts among the arguments, or the lines of standard input. Returns the exit code:
 * 0, 1 for a self-test that fails, 2 for a wrong option, 65 for a text or weights that do not fit, 66 without the weights,
 * 69 without the instruction set, threads, memory or slots, 70 for a defect of the program, 74 for a failure of reading or
 * writing. SIGPIPE ends the process: nobody reads the answers any more. */
int rt_cli_main(const rt_program *program, int argc, char **argv);

#ifdef __cplusplus
}
#endif

#endif
