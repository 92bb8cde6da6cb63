/* dates_main.c: the program dates. Compiled for the baseline; it asks whether the processor can run dates.c. */
#include "dates.h"
#include "rt_cli.h"

extern const unsigned char dates_weights[];

static rt_status bind(void *m, const void *weights, size_t bytes) { return dates_bind(m, weights, bytes); }
static rt_status threads(void *m, int n) { return dates_threads(m, n); }
static rt_team *team(const void *m) { return ((const dates *)m)->team; }
static void reset(void *s) { dates_reset(s); }
static rt_status encode(const void *m, void *s, const int *ids, int n) { return dates_encode(m, s, 0, ids, n); }
static rt_status rows(const void *m, void *s, const rt_row *r, int n) { return dates_rows(m, s, r, n); }
static rt_status read(const void *m, void *s, const rt_row *r, int n) { return dates_read(m, s, r, n); }
static const float *logits(const void *s) { return dates_logits(s); }
static rt_status next(const void *m, void *s, int id, int *next) { return dates_next(m, s, id, next); }
static rt_status clear(void *s, int slot) { return dates_clear(s, slot); }
static rt_status fork_slot(void *s, int from, int to) { return dates_fork(s, from, to); }

static const int ends[] = { 2 };
static const RtGeneration generation = {
    .ends = ends, .end_count = sizeof ends / sizeof *ends, .sampling = { .top_k = 50 }, .seed = 1, .length_penalty = 1,
};

static rt_status ids(const void *m, const char *utf8, int *out, int room, int *n, RtTextFault *fault)
{
    return dates_ids(m, utf8, out, room, n, fault);
}

static rt_status append(const void *m, int id, char *out, size_t cap, size_t *used)
{
    return dates_append(m, id, out, cap, used);
}

int main(int argc, char **argv)
{
    const rt_program program = {
        .name = "dates", .about = "encoder-decoder of 2 + 2 layers, width 64", .spec = "dates.lua", .version = "0.1.0",
        .about_encoder = "2 layers, 4 heads of 16, d_ff 256, annotated norm (pre)",
        .about_decoder = "2 layers, 4 heads of 16, d_ff 256, annotated norm (pre)",
        .isa = dates_isa, .model_bytes = sizeof(dates), .state_bytes = DATES_STATE_BYTES,
        .weights = dates_weights, .weights_bytes = DATES_WEIGHTS_BYTES, .weights_file = NULL,
        .parameters = 239887, .dtype = "f32",
        .tolerance = 1e-05, .default_lanes = 1, .lanes_max = DATES_LANES,
        .bind = bind, .threads = threads, .team = team, .reset = reset,
        .max_source = DATES_MAX_SOURCE, .source_vocab = DATES_SOURCE_VOCAB, .encode = encode,
        .max_target = DATES_MAX_TARGET, .vocab = DATES_VOCAB, .start = DATES_START, .slots = DATES_SLOTS,
        .generation = &generation,
        .rows = DATES_ROWS, .logits_stride = DATES_LOGITS_STRIDE, .rows_of = rows, .read = read, .logits = logits,
        .next = next, .clear = clear, .fork_slot = fork_slot,
        .ids = ids, .append = append,
    };
    return rt_host_main(&program, argc, argv);
}
