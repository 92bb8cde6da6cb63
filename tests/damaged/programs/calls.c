/* calls.c: make the emitted calls in the order of the arguments, and print the status of each; stop
 * at the first that is not RT_OK, with exit code 1.     usage: calls WEIGHTS WORD...
 * words: bind | bytes=N (bind N bytes of the weights) | zeros (bind zeros) | unaligned (bind an
 * unaligned copy) | reset | threads=N | encode=SLOT:ID,ID,… | step=ID | next=ID |
 * rows=SLOT:POSITION:ID,… | decode_greedy=SLOT:POSITION:ID,… | fork=FROM:TO | clear=SLOT |
 * text=TEXT | stopped=TEXT (with a stop string of a megabyte) | cold=TEXT (with a temperature below
 * 0) */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "word.h"
#include "rt_weights.h"

enum { MOST = 64 };

static word model;
static word_state state;
static RtWeights weights;

/* Parse numbers separated by ',' or ':'. */
static int numbers(const char *text, int *out)
{
    int n = 0;
    for (char *end; *text && n < MOST; text = *end ? end + 1 : end) out[n++] = (int)strtol(text, &end, 10);
    return n;
}

static rt_status bind_copy(size_t shift, int zeros)
{
    static XF_ALIGN(64) unsigned char copy[WORD_WEIGHTS_BYTES + 64];
    memset(copy, 0, sizeof copy);
    if (!zeros) memcpy(copy + shift, weights.data, WORD_WEIGHTS_BYTES);
    return word_bind(&model, copy + shift, WORD_WEIGHTS_BYTES);
}

static rt_status call_rows(const int *x, int n, int *next)
{
    rt_token rows[MOST];
    for (int i = 0; i < n / 3; i++) rows[i] = (rt_token){ x[3 * i], x[3 * i + 1], x[3 * i + 2] };
    return next ? word_decode_greedy(&model, &state, rows, n / 3, next) : word_decode(&model, &state, rows, n / 3);
}

static char stop[1 << 20];
static const char *const stops[] = { stop };
static const rt_generate_options long_stop = { .stops = stops, .stop_count = 1 }, cold = { .temperature = -1 };

static rt_status call(const char *word, const char *value)
{
    int x[MOST] = { 0 }, id, ids[MOST];
    const int n = numbers(value, x);
    if (!strcmp(word, "bind")) return word_bind(&model, weights.data, weights.bytes);
    if (!strcmp(word, "bytes")) return word_bind(&model, weights.data, (size_t)x[0]);
    if (!strcmp(word, "zeros")) return bind_copy(0, 1);
    if (!strcmp(word, "unaligned")) return bind_copy(4, 0);
    if (!strcmp(word, "reset")) return word_reset(&state), RT_OK;
    if (!strcmp(word, "threads")) return word_threads(&model, x[0]);
    if (!strcmp(word, "encode")) return word_encode(&model, &state, x[0], x + 1, n - 1);
    if (!strcmp(word, "step")) return word_step(&model, &state, x[0]);
    if (!strcmp(word, "next")) return word_next(&model, &state, x[0], &id);
    if (!strcmp(word, "rows")) return call_rows(x, n, NULL);
    if (!strcmp(word, "decode_greedy")) return call_rows(x, n, ids);
    if (!strcmp(word, "fork")) return word_fork(&state, x[0], x[1]);
    if (!strcmp(word, "clear")) return word_clear(&state, x[0]);
    if (!strcmp(word, "text")) return word_generate(&model, &state, value, NULL, NULL, NULL);
    if (!strcmp(word, "stopped")) return word_generate(&model, &state, value, &long_stop, NULL, NULL);
    if (!strcmp(word, "cold")) return word_generate(&model, &state, value, &cold, NULL, NULL);
    fprintf(stderr, "calls: unknown word '%s'\n", word);
    exit(2);
}

int main(int argc, char **argv)
{
    memset(stop, 'a', sizeof stop - 1);
    if (argc < 2 || rt_weights_open(&weights, argv[1])) return 2;
    rt_status status = RT_OK;
    for (int i = 2; i < argc && status == RT_OK; i++) {
        char *value = strchr(argv[i], '=');
        if (value) *value++ = '\0';
        status = call(argv[i], value ? value : "");
        printf("%s: %s\n", argv[i], rt_status_text(status));
    }
    word_threads(&model, 1);
    rt_weights_close(&weights);
    return status != RT_OK;
}
