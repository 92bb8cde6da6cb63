/* dates_main.c: the program dates. Compiled for the baseline instruction set; it checks whether the
 * processor can run dates.c. */
#include "dates.h"
#include "rt_cli.h"

extern const unsigned char dates_weights[];

static rt_status main_bind(void *m, const void *weights,
                           size_t bytes) { return dates_bind(m, weights, bytes); }
static rt_status main_threads(void *m, int n) { return dates_threads(m, n); }
static rt_team *main_team(const void *m) { return ((const dates *)m)->team; }
static void main_reset(void *s) { dates_reset(s); }
static rt_status main_encode(const void *m, void *s, int slot, const int *ids, int n)
{
    return dates_encode(m, s, slot, ids, n);
}
static rt_status main_decode(const void *m, void *s, const rt_token *r,
                             int n) { return dates_decode(m, s, r, n); }
static rt_status main_prefill(const void *m, void *s, const rt_token *r,
                              int n) { return dates_prefill(m, s, r, n); }
static const float *main_logits(const void *s) { return dates_scores(s); }
static rt_status main_next(const void *m, void *s, int id,
                           int *next) { return dates_next(m, s, id, next); }
static rt_status main_clear(void *s, int slot) { return dates_clear(s, slot); }
static rt_status main_fork_slot(void *s, int from, int to) { return dates_fork(s, from, to); }

extern const RtGeneration dates_generation;

static rt_status main_tokenize(const void *m, void *s, const char *utf8, int *ids, int room,
                               int *n, RtTextFault *fault)
{
    return dates_tokenize(m, s, utf8, ids, room, n, fault);
}

static rt_status main_detokenize(const void *m, const int *ids, int n, char *out, size_t cap,
                                 size_t *bytes)
{
    return dates_detokenize(m, ids, n, out, cap, bytes);
}

int main(int argc, char **argv)
{
    const rt_program program = {
        .name = "dates", .about = "encoder-decoder of 2 + 2 layers, width 64", .spec = "dates.lua",
        .version = "0.9.0",
        .about_encoder = "2 layers, 4 heads of 16, d_ff 256, annotated norm (pre)",
        .about_decoder = "2 layers, 4 heads of 16, d_ff 256, annotated norm (pre)",
        .isa = dates_isa, .model_bytes = sizeof(dates), .state_bytes = DATES_STATE_BYTES,
        .weights = dates_weights, .weights_bytes = DATES_WEIGHTS_BYTES, .weights_file = NULL,
        .parameters = 239887, .dtype = "f32",
        .tolerance = 1e-05, .default_threads = 1, .max_threads = DATES_MAX_THREADS,
        .bind = main_bind, .threads = main_threads, .team = main_team, .reset = main_reset,
        .max_source = DATES_MAX_SOURCE, .source_vocab = DATES_SOURCE_VOCAB, .encode = main_encode,
        .max_target = DATES_MAX_TARGET, .vocab = DATES_VOCAB, .start = DATES_START,
        .slots = DATES_SLOTS,
        .generation = &dates_generation,
        .rows = DATES_ROWS, .logits_stride = DATES_LOGITS_STRIDE, .decode = main_decode,
        .prefill = main_prefill, .logits = main_logits,
        .next = main_next, .clear = main_clear, .fork_slot = main_fork_slot,
        .tokenize = main_tokenize, .detokenize = main_detokenize,
    };
    return rt_cli_main(&program, argc, argv);
}
