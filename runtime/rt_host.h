/* rt_host.h: main() of a generated program that turns texts into texts.
 *
 * The emitted <name>_main.c holds one constant rt_program, small wrappers that give the model's functions these types,
 * and `int main(int argc, char **argv) { return rt_host_main(&program, argc, argv); }`. Compile it and rt_host.c for
 * the baseline: they ask whether the processor can run the rest. */
#ifndef RT_HOST_H
#define RT_HOST_H

#include "rt.h"

/* What a beam search calls; slots stand in rt_program. */
typedef struct rt_decoder {
    int rows_most;                  /* rows in one call */
    int vocab, stride;              /* ids; floats from a row of logits to the next */
    int start, end;                 /* ids that an answer begins and ends with; start: of a model with an encoder */
    int max_target;                 /* positions of a sequence */
    rt_status (*encode)(const void *model, void *state, const int *ids, int n);     /* into slot 0; NULL: no encoder */
    rt_status (*rows)(const void *model, void *state, const rt_row *rows, int n);
    const float *(*logits)(const void *state);
    rt_status (*fork_slot)(void *state, int from, int to);
    rt_status (*clear)(void *state, int slot);
    rt_status (*append)(const void *model, int id, char *out, size_t cap, size_t *used);    /* the text of an id */
} rt_decoder;

typedef struct rt_program {
    const char *name;               /* "dates": begins every message */
    const char *about;              /* one line for --help */
    const char *example;            /* a text to try, for --help; NULL for none */
    const char *version;            /* of the compiler that made the program: "0.1.0" */
    unsigned isa;                   /* RT_ISA_* bits that the model was compiled for */
    size_t model_bytes, state_bytes, weights_bytes;
    const void *weights;            /* embedded, 64-byte aligned; NULL: in a file */
    const char *weights_file;       /* its name, beside the executable; NULL when embedded */
    int max_source;                 /* characters of a text, at most */
    size_t answer_bytes;            /* room for the longest answer with its NUL */
    int numbers;                    /* there is no tokenizer: texts and answers are ids with spaces between */
    int slots;                      /* sequences that a state holds; 0: there is no decoder */
    const rt_decoder *decoder;      /* NULL for fewer than two slots */
    int default_lanes, lanes_max;   /* default 0: the processors that the process may use */

    rt_status (*bind)(void *model, const void *weights, size_t bytes);
    rt_status (*threads)(void *model, int n);
    rt_team *(*team)(const void *model);
    void (*reset)(void *state);
    /* As rt_characters_encode: characters only, without marks such as <s>. */
    rt_status (*ids)(const void *model, const char *utf8, int *ids, int room, int *n, RtTextFault *fault);
    rt_status (*text)(const void *model, void *state, const char *utf8, char *out, size_t cap);
} rt_program;

/* Answer the texts among the arguments, or the lines of standard input. Returns the exit code: 0, 2 for a wrong
 * option, 65 for a text or weights that do not fit, 66 without the weights, 69 without the instruction set, threads or
 * memory, or too few slots, 70 for a defect of the program, 74 for a failure of reading or writing. */
int rt_host_main(const rt_program *program, int argc, char **argv);

#endif
