/* support_random_specs.c: the fields of a random spec, drawn one after another. */
#include "random_spec.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

static uint64_t state;
static char text[2000];
static size_t used;

static void put(const char *format, ...)
{
    va_list values;
    va_start(values, format);
    used += (size_t)vsnprintf(text + used, sizeof text - used, format, values);
    va_end(values);
}

/* SplitMix64 */
static uint64_t draw(uint64_t below)
{
    uint64_t x = state += 0x9E3779B97F4A7C15u;
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9u;
    x = (x ^ x >> 27) * 0x94D049BB133111EBu;
    return (x ^ x >> 31) % below;
}

static bool one_in(int n) { return draw((uint64_t)n) == 0; }

typedef struct Words { const char *word[10]; int count; } Words;

static const Words norms = { { "annotated", "layer", "rms" }, 3 };
static const Words norm_places = { { "pre", "post", "both" }, 3 };
static const Words positions = { { "none", "sinusoidal", "learned", "relative", "rotary",
                                   "learned+relative" }, 6 };
static const Words activations = { { "none", "relu", "gelu", "gelu_tanh", "quick_gelu", "silu",
                                     "tanh", "sigmoid", "relu2" }, 9 };
static const Words poolings = { { "none", "mean", "cls", "max", "mean_sqrt", "weightedmean",
                                  "lasttoken" }, 7 };
static const Words scalings = { { "linear", "dynamic", "llama3", "yarn" }, 4 };

static void put_word(const char *field, const Words *of)
{
    put("%s = \"%s\", ", field, of->word[draw((uint64_t)of->count)]);
}

/* Write the field in one out of `rare` specs. */
static void put_bool(const char *field, int rare)
{
    if (one_in(rare)) put("%s = %s, ", field, one_in(2) ? "true" : "false");
}

static int size(void)
{
    static const int sizes[] = { 1, 2, 3, 4, 5, 7, 8, 11, 13, 16, 17, 19, 23, 31, 32, 33 };
    return sizes[draw(sizeof sizes / sizeof *sizes)];
}

static int small(int most) { return 1 + (int)draw((uint64_t)most); }

static void put_real(const char *field, int rare, const char *const *values, int n)
{
    if (one_in(rare)) put("%s = %s, ", field, values[draw((uint64_t)n)]);
}

/* Consistent numbers and sizes of heads; the size of rotary heads is even. */
static void put_heads(bool rotary)
{
    const int groups = small(3), kv = small(3), width = small(8);
    put("heads = %d, ", groups * kv);
    if (one_in(2)) put("kv_heads = %d, ", kv);
    put("head_dim = %d, ", rotary ? 2 * width : width);
    if (one_in(4)) put("value_dim = %d, ", small(9));
}

static void put_rotary(void)
{
    static const char *const thetas[] = { "100", "500000" };
    put_real("rope_theta", 3, thetas, 2);
    if (one_in(3)) put("rope_layout = \"interleaved\", ");
    if (one_in(4)) put("rope_dims = 2, ");
    if (!one_in(4)) return;
    const uint64_t scaling = draw(4);
    put("rope_scaling = \"%s\", rope_factor = %d, rope_original_len = 64, ", scalings.word[scaling],
        2 + (int)draw(7));
    if (scaling == 2) put("rope_low_freq_factor = 1, rope_high_freq_factor = 4, ");
}

/* Only decoder-only models without relative positions have windows. Encoder-decoders have no
 * parallel layers; such layers are pre-norm. */
static void put_stack(int kind, int width)
{
    static const char *const eps[] = { "1e-12", "1e-6", "1e-3" }, *const caps[] = { "5", "30" };
    static const char *const scales[] = { "0.5", "1", "3" };
    const int drawn = (int)draw(6), position = drawn == 1 && width % 2 ? 0 : drawn;
    const bool parallel = kind != 0 && one_in(8);
    put("layers = %d, position = \"%s\", ", small(4), positions.word[position]);
    put_heads(position == 4);
    if (position == 4) put_rotary();
    put("d_ff = %d, ", size());
    put_word("norm", &norms);
    if (parallel) put("norm_at = \"pre\", parallel = true, ");
    else put_word("norm_at", &norm_places);
    put_word("activation", &activations);
    put_real("norm_eps", 4, eps, 3);
    if (one_in(6)) put("norm_gain = \"one_plus\", ");
    put_bool("final_norm", 4);
    put_bool("embed_norm", 4);
    put_real("embed_scale", 4, scales, 3);
    put_real("attention_scale", 5, scales, 3);
    put_real("attention_softcap", 6, caps, 2);
    if (kind == 1 && position != 3 && position != 5 && one_in(3))
        put("window = %d, ", small(5));
    put_bool("qk_norm", 4);
    put_bool("qkv_bias", 4);
    put_bool("out_bias", 4);
    put_bool("ffn_bias", 4);
    put_bool("gated", 3);
    if (one_in(8)) put("embed_width = %d, ", size());
}

static void put_decoder(void)
{
    static const char *const scales[] = { "0.5", "3" }, *const caps[] = { "5", "30" };
    const int vocab = 3 + size(), longest = small(12);
    put("max_target = %d, target_vocab = %d, ", longest, vocab);
    put_bool("tied", 3);
    put_bool("output_bias", 3);
    put_bool("log_softmax", 3);
    put_real("logit_scale", 5, scales, 2);
    put_real("logit_softcap", 6, caps, 2);
}

static void put_encoder(bool alone)
{
    const int vocab = 3 + size(), longest = small(12);
    put("max_source = %d, source_vocab = %d, ", longest, vocab);
    if (!alone || one_in(2)) return;
    put_word("pooling", &poolings);
    if (one_in(2)) put("head_width = %d, ", size());
    put_bool("normalize", 2);
}

const char *random_spec(uint64_t number)
{
    static const char *const kinds[] = { "encoder-decoder", "decoder", "encoder" };
    state = number;
    used = 0;
    const int kind = (int)draw(3), width = size();
    put("return xf.model { name = \"tiny\", weights = \"random\", ");
    put("seed = %llu, ", (unsigned long long)number);
    put("kind = \"%s\", d_model = %d, ", kinds[kind], width);
    put_stack(kind, width);
    if (kind != 1) put_encoder(kind == 2);
    if (kind != 2) put_decoder();
    if (one_in(10)) put("dtype = \"bf16\", ");
    put("}");
    return text;
}
