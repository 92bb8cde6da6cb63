/* rt_cli.h: main() of a generated program that answers texts, or ids if it has no tokenizer.
 *
 * The emitted <name>_main.c holds one constant rt_program, small wrappers that give the model's
 * functions these types, and
 * `int main(int argc, char **argv) { return rt_cli_main(&program, argc, argv); }`. Compile it and
 * rt_cli*.c for the baseline instruction set: they check whether the processor can run the rest. */
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

/* The ids of a text, ids[room]: n of them, the first `first` of type 0; the uncut text has `whole`.
 * twice: the text itself begins with the token that the tokenizer puts before every text. */
typedef struct rt_cli_source { int *ids; int room, n, first, whole, twice; } rt_cli_source;

/* The origin of a text, for messages. */
typedef struct CliPlace { const char *kind; size_t number; } CliPlace;

struct CliOptions;
struct CliBegin;
struct CliLanguages;

/* The part of a program that an option requires. */
typedef enum rt_cli_need { CLI_NEED_NOTHING, CLI_NEED_DECODER, CLI_NEED_CHAT, CLI_NEED_PAIRS, CLI_NEED_SOURCE } rt_cli_need;
/* A command-line option. letter: its letter, or a number above all letters. */
typedef struct rt_cli_option { const char *name, *argument, *help; int letter; rt_cli_need need; } rt_cli_option;

/* The functions of rt_cli_text.c, for programs with a piece tokenizer; others are linked without
 * it. */
typedef struct rt_cli_tokenizer rt_cli_tokenizer;
typedef struct rt_program rt_program;
typedef struct rt_cli_texts {
    /* Open a blob that NAME_bind, or its maker, has checked. Returns NULL after a failure; *status
     * tells which. */
    rt_cli_tokenizer *(*open)(const void *blob, size_t bytes, rt_status *status);
    void (*close)(rt_cli_tokenizer *t);
    /* separator: its first occurrence splits the text into a pair; NULL: no pair. cut: a text of
     * more than out->room ids is cut; otherwise it gives RT_TOO_LONG. plain: the tokenizer's
     * template adds nothing. */
    rt_status (*ids)(rt_cli_tokenizer *t, const char *text, size_t bytes, const char *separator, int cut, int plain,
                     rt_cli_source *out);
    /* Set up t for texts in these languages, and *begin for the answers. Returns 0, or an exit code
     * after a message. */
    int (*translate)(rt_cli_tokenizer *t, const struct CliLanguages *l, struct CliBegin *begin);
    /* Report that a text begins with the token `id` twice. */
    void (*tell_twice)(rt_cli_tokenizer *t, const char *program, CliPlace place, int id);
    /* The text of a token, even of a special one. */
    rt_status (*token)(rt_cli_tokenizer *t, int id, char *out, size_t cap, size_t *used);
    /* Wrap a text in a chat template; with goes_on, after the earlier turns. The tokenizer owns
     * (*wrapped)[*n], which is valid until the next call. RT_NO_ROOM: no memory. */
    rt_status (*wrap)(rt_cli_tokenizer *t, const RtChat *chat, const RtChatWords *words, int goes_on, const char *text, size_t bytes,
                      const char **wrapped, size_t *n);
    /* Add the answer to the last wrapped text; NULL: there is none, and the text is forgotten. */
    rt_status (*answered)(rt_cli_tokenizer *t, const char *answer, size_t bytes);
    RtDetokenize *detokenize;       /* its self is the rt_cli_tokenizer */
    /* From now on special tokens in texts are plain text, except those of the chat template. */
    void (*literal)(rt_cli_tokenizer *t);
    const rt_cli_option *options;  int option_count;
    /* take: set one of these options. asked: the name of one that was given, NULL for none. */
    void (*take)(struct CliOptions *o, int option, const char *argument);
    const char *(*asked)(const struct CliOptions *o);
} rt_cli_texts;
extern const rt_cli_texts rt_cli_text;

/* The functions of rt_cli_vector.c and rt_cli_batch.c, for encoder-only programs; others are
 * linked without them. */
typedef struct rt_cli_vectors rt_cli_vectors;
extern const rt_cli_vectors rt_cli_vector;

/* The note about an f16 cache, printed once. */
#define RT_SATURATED "keys or values were clamped to 65504, the largest f16; use an f32 KV cache"

struct rt_program {
    const char *name;               /* "dates": begins every message */
    const char *about;              /* one line for --help */
    const char *spec;               /* the spec or model that it was made from: "dates.lua" */
    const char *about_encoder, *about_decoder;      /* a line about each stack, or NULL */
    const char *example;            /* a text to try, for --help; NULL for none */
    const char *version;            /* of the compiler that made the program: "0.9.0" */
    unsigned isa;                   /* RT_ISA_* bits that the model was compiled for */
    size_t model_bytes, state_bytes, weights_bytes;
    const void *weights;            /* embedded, 64-byte aligned; NULL: in a file */
    const char *weights_file;       /* its name, next to the executable; NULL if embedded */
    int weights_behind;             /* they may be appended to the program instead: rt_weights.h */
    long long parameters;           /* trained numbers */
    const char *dtype, *kv_dtype;   /* formats: of the weights, such as "int8"; of the KV cache, NULL: f32 */
    double tolerance;               /* largest rt_selftest_distance that the self-test accepts */
    int default_threads, max_threads;   /* default_threads 0: rt_processors(), up to max_threads */

    int max_source, source_vocab;   /* limits of an encoder; 0: there is none */
    int width, hidden_stride;       /* of its hidden states, if there is no decoder */
    int vector_width, vector_stride;        /* of its head's output; stride 0: one row per source */
    const char *const *labels;      /* [vector_width]: names of the vector's scores, or NULL */
    RtScoring scoring;              /* how these scores are reported */
    RtSimilarity similarity;        /* the measure that `similar` computes */
    int pairs;                      /* a text may be a pair, by default split at a tab */
    int has_mask, mask_id;          /* of a masked language model: the id of its mask */
    int has_pad, pad_id;            /* an id that a source must not contain */
    int max_target, vocab;          /* limits of a decoder; 0: there is none */
    int start, slots;               /* id that an answer to a source begins with; sequences that a state holds */
    const RtGeneration *generation; /* the model's own settings; NULL: no decoder */
    int rows, logits_stride;                        /* maximum per call; floats from one row of logits to the next */

    rt_status (*bind)(void *model, const void *weights, size_t bytes);
    rt_status (*threads)(void *model, int n);
    rt_team *(*team)(const void *model);
    void (*reset)(void *state);
    /* Functions of an encoder. hidden is NULL if there is a decoder, vector if there is no head. */
    rt_status (*encode)(const void *model, void *state, int slot, const int *ids, int n);
    /* encode for a pair, whose first `first` ids are of type 0; NULL if all ids are of type 0. */
    rt_status (*encode_pair)(const void *model, void *state, int slot, const int *ids, int n, int first);
    /* Encode several texts at once, in an encoder-only program, like NAME_encode_batch of the
     * emitted NAME.h; NULL: texts are encoded one by one. */
    rt_status (*encode_batch)(const void *model, void *state, const int *ids, const int *lengths, const int *firsts, int count, float *vectors);
    const float *(*hidden)(const void *state);
    const float *(*vector)(const void *state);
    const rt_cli_vectors *vectors;                 /* of an encoder-only program, else NULL */
    /* Functions of a decoder, as in the emitted NAME.h; next uses slot 0. */
    rt_status (*decode)(const void *model, void *state, const rt_token *rows, int n);
    rt_status (*prefill)(const void *model, void *state, const rt_token *rows, int n);
    const float *(*logits)(const void *state);
    rt_status (*next)(const void *model, void *state, int id, int *next);
    rt_status (*clear)(void *state, int slot);
    rt_status (*fork_slot)(void *state, int from, int to);
    /* 1 if numbers have saturated in an f16 cache; NULL: no such cache. */
    int (*saturated)(const void *state);
    /* Functions of a character tokenizer, like NAME_tokenize and NAME_detokenize of the emitted
     * NAME.h; both NULL if there is none. Without a tokenizer, texts and answers are ids separated
     * by spaces. */
    rt_status (*tokenize)(const void *model, void *state, const char *utf8, int *ids, int room, int *n,
                          RtTextFault *fault);
    rt_status (*detokenize)(const void *model, const int *ids, int n, char *out, size_t cap, size_t *bytes);
    /* Replaces these two for a tokenizer with pieces; else NULL. */
    const rt_cli_texts *texts;
    const void *(*tokenizer)(const void *model, size_t *bytes);
    const RtChat *chat;             /* the chat template of a decoder-only model, or NULL */
    /* If texts name the languages of a translation: rows of two codes and the prefix of a text,
     * such as "en de translate English to German: ", ended by NULL. NULL if texts do not name
     * them. */
    const char *const *translations;
};

/* Do what the options say, or answer the texts among the arguments, or else the lines of standard
 * input. Returns the exit code: 0; 1: the self-test fails; 2: wrong option; 65: bad text or
 * weights, or the settings exclude every token; 66: the file of the weights or of a text is
 * missing; 69: an instruction set, threads, processors for --pin, memory or slots are missing; 70:
 * a defect of the program; 74: reading or writing failed. SIGPIPE ends the process, since nobody
 * reads the answers. */
int rt_cli_main(const rt_program *program, int argc, char **argv);

#ifdef __cplusplus
}
#endif

#endif
