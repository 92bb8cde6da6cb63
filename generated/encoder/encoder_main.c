/* encoder_main.c: the program encoder. Compiled for the baseline instruction set; it checks whether
 * the processor can run encoder.c. */
#include "encoder.h"
#include "rt_cli.h"

extern const unsigned char encoder_weights[];

static rt_status main_bind(void *m, const void *weights,
                           size_t bytes) { return encoder_bind(m, weights, bytes); }
static rt_status main_threads(void *m, int n) { return encoder_threads(m, n); }
static rt_team *main_team(const void *m) { return ((const encoder *)m)->team; }
static void main_reset(void *s) { encoder_reset(s); }
static rt_status main_encode(const void *m, void *s, int slot, const int *ids, int n)
{
    return encoder_encode(m, s, slot, ids, n);
}
static rt_status main_encode_batch(const void *m, void *s, const int *ids, const int *lengths,
                                   const int *firsts, int count, float *vectors)
{
    return encoder_encode_batch(m, s, ids, lengths, firsts, count, vectors);
}
static const float *main_hidden(const void *s) { return encoder_hidden(s); }

int main(int argc, char **argv)
{
    const rt_program program = {
        .name = "encoder", .about = "encoder of 4 layers, width 128", .spec = "encoder.lua",
        .version = "0.9.0",
        .about_encoder = "4 layers, 4 heads of 32, d_ff 512, layer norm (post)",
        .isa = encoder_isa, .model_bytes = sizeof(encoder), .state_bytes = ENCODER_STATE_BYTES,
        .weights = encoder_weights, .weights_bytes = ENCODER_WEIGHTS_BYTES, .weights_file = NULL,
        .parameters = 842496, .dtype = "f32",
        .tolerance = 1e-05, .default_threads = 0, .max_threads = ENCODER_MAX_THREADS,
        .bind = main_bind, .threads = main_threads, .team = main_team, .reset = main_reset,
        .max_source = ENCODER_MAX_SOURCE, .source_vocab = ENCODER_SOURCE_VOCAB,
        .encode = main_encode,
        .width = 128, .hidden_stride = ENCODER_HIDDEN_STRIDE, .hidden = main_hidden,
        .encode_batch = main_encode_batch,
        .vectors = &rt_cli_vector,
    };
    return rt_cli_main(&program, argc, argv);
}
