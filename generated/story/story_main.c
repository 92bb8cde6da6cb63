/* story_main.c: the program story. Compiled for the baseline instruction set; it checks whether the
 * processor can run story.c. */
#include "story.h"
#include "rt_cli.h"

extern const unsigned char story_weights[];

static rt_status main_bind(void *m, const void *weights,
                           size_t bytes) { return story_bind(m, weights, bytes); }
static rt_status main_threads(void *m, int n) { return story_threads(m, n); }
static rt_team *main_team(const void *m) { return ((const story *)m)->team; }
static void main_reset(void *s) { story_reset(s); }
static rt_status main_decode(const void *m, void *s, const rt_token *r,
                             int n) { return story_decode(m, s, r, n); }
static rt_status main_prefill(const void *m, void *s, const rt_token *r,
                              int n) { return story_prefill(m, s, r, n); }
static const float *main_logits(const void *s) { return story_logits(s); }
static rt_status main_next(const void *m, void *s, int id,
                           int *next) { return story_next(m, s, id, next); }
static rt_status main_clear(void *s, int slot) { return story_clear(s, slot); }
static rt_status main_fork_slot(void *s, int from, int to) { return story_fork(s, from, to); }

extern const RtGeneration story_generation;

int main(int argc, char **argv)
{
    const rt_program program = {
        .name = "story", .about = "decoder of 5 layers, width 64", .spec = "story.lua",
        .version = "0.9.0",
        .about_decoder =
        "5 layers, 8 heads (4 of keys and values) of 8, gated d_ff 172, rms norm (pre)",
        .isa = story_isa, .model_bytes = sizeof(story), .state_bytes = STORY_STATE_BYTES,
        .weights = story_weights, .weights_bytes = STORY_WEIGHTS_BYTES, .weights_file = NULL,
        .parameters = 260032, .dtype = "f32",
        .tolerance = 1e-05, .default_threads = 1, .max_threads = STORY_MAX_THREADS,
        .bind = main_bind, .threads = main_threads, .team = main_team, .reset = main_reset,
        .max_target = STORY_MAX_TARGET, .vocab = STORY_VOCAB, .start = STORY_START,
        .slots = STORY_SLOTS,
        .generation = &story_generation,
        .rows = STORY_ROWS, .logits_stride = STORY_LOGITS_STRIDE, .decode = main_decode,
        .prefill = main_prefill, .logits = main_logits,
        .next = main_next, .clear = main_clear, .fork_slot = main_fork_slot,
    };
    return rt_cli_main(&program, argc, argv);
}
