/* family_gpt2.c: GPT-2: linears stored [in, out]; q, k and v fused; learned positions. */
#include "family.h"

#include <math.h>

static const FamilySetting settings[] = {
    SET(norm, NORMS_LAYER), SET(norm_at, NORM_PLACES_PRE), SET(position, POSITIONS_LEARNED),
    SET(embed_scale, 1), SET(output_bias, false), SET(log_softmax, false),
};

static const ConfigKey keys[] = {
    KEY_ALSO(BOTH, "n_embd", "hidden_size", d_model, CONFIG_REQUIRED),
    KEY_ALSO(BOTH, "n_layer", "num_hidden_layers", layers, CONFIG_REQUIRED),
    KEY_ALSO(BOTH, "n_head", "num_attention_heads", heads, CONFIG_REQUIRED),
    READ("n_inner"),
    KEY("vocab_size", vocab, 50257),
    KEY_ALSO(BOTH, "n_positions", "max_position_embeddings", max_len, 1024),
    IGNORED("n_ctx"),
    KEY("layer_norm_epsilon", norm_eps, 1e-5),
    ACTIVATION("activation_function", "gelu_new"),
    READ("scale_attn_weights"),
    READ("scale_attn_by_inverse_layer_idx"),
    IGNORED("reorder_and_upcast_attn"),
    MUST("add_cross_attention", "false"),
    NO_MORE_KEYS,
};

static void more(const Config *c)
{
    const double width = config_get(c, SIDE_BOTH, FIELD_ID_d_model), heads = config_get(c, SIDE_BOTH, FIELD_ID_heads);
    const int layers = (int)config_get(c, SIDE_BOTH, FIELD_ID_layers);
    const bool by_layer = config_bool(c, "scale_attn_by_inverse_layer_idx", false);
    const double scale = config_bool(c, "scale_attn_weights", true) ? 1 / sqrt(floor(width / heads)) : 1;
    double *scales = arena_array(c->arena, (size_t)layers, sizeof *scales);
    for (int i = 0; i < layers; i++) scales[i] = by_layer ? scale / (i + 1) : scale;
    config_set_list(c, by_layer ? "scale_attn_by_inverse_layer_idx" : "scale_attn_weights", SIDE_BOTH, FIELD_ID_attention_scale, scales,
                    by_layer ? layers : 1);
    config_set(c, "n_inner", SIDE_BOTH, FIELD_ID_d_ff, (double)config_integer(c, "n_inner", 4 * width));
}

static const FamilyTensor tensors[] = {
    WHOLE("decoder.embed", "wte"),
    WHOLE("decoder.position", "wpe"),
    WHOLE("decoder.{}.norm.0", "h.{}.ln_1"),
    CUT("decoder.{}.self_attn.q", "h.{}.attn.c_attn", FUSED_TRANSPOSED),
    CUT("decoder.{}.self_attn.k", "h.{}.attn.c_attn", FUSED_TRANSPOSED),
    CUT("decoder.{}.self_attn.v", "h.{}.attn.c_attn", FUSED_TRANSPOSED),
    CUT("decoder.{}.self_attn.out", "h.{}.attn.c_proj", TRANSPOSED),
    WHOLE("decoder.{}.norm.1", "h.{}.ln_2"),
    CUT("decoder.{}.ffn.up", "h.{}.mlp.c_fc", TRANSPOSED),
    CUT("decoder.{}.ffn.down", "h.{}.mlp.c_proj", TRANSPOSED),
    WHOLE("decoder.norm", "ln_f"),
    WHOLE("output", "/lm_head"),
};

const Family family_gpt2 = {
    .kind = KIND_DECODER, .tied = true, .prefix = "(transformer.|)", SETTINGS_OF(settings),
    .keys = keys, .more = more, TENSORS_OF(tensors),
};
