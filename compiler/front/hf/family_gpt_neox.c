/* family_gpt_neox.c: GPT-NeoX, Pythia: parallel attention and feed-forward, RoPE over part of each
 * head, q, k and v fused per head. */
#include "family.h"

static const FamilySetting settings[] = {
    SET(norm, NORMS_LAYER), SET(norm_at, NORM_PLACES_PRE), SET(position, POSITIONS_ROTARY), SET(embed_scale, 1), SET(output_bias, false),
    SET(log_softmax, false),
};

static const ConfigKey keys[] = {
    KEY("hidden_size", d_model, CONFIG_REQUIRED),
    KEY("num_hidden_layers", layers, CONFIG_REQUIRED),
    KEY("num_attention_heads", heads, CONFIG_REQUIRED),
    KEY("intermediate_size", d_ff, CONFIG_REQUIRED),
    KEY("vocab_size", vocab, CONFIG_REQUIRED),
    KEY("max_position_embeddings", max_len, 2048),
    KEY("layer_norm_eps", norm_eps, 1e-5),
    ACTIVATION("hidden_act", "gelu"),
    KEY("use_parallel_residual", parallel, true),
    READ("attention_bias"),
    READ_OR("rotary_pct", 0.25),
    READ_OR("rotary_emb_base", 10000),
    IGNORED("rope_theta"),
    READ("rope_scaling|rope_parameters"),
    READ("original_max_position_embeddings"),
    IGNORED("partial_rotary_factor"),
    READ("head_dim"),
    MUST("is_decoder", "false|true"),
    NO_MORE_KEYS,
};

static void more(const Config *c)
{
    const bool bias = config_bool(c, "attention_bias", true);
    config_set(c, "attention_bias", SIDE_BOTH, FIELD_ID_qkv_bias, bias);
    config_set(c, "attention_bias", SIDE_BOTH, FIELD_ID_out_bias, bias);
    const double heads = config_get(c, SIDE_BOTH, FIELD_ID_heads);
    const double width = config_get(c, SIDE_BOTH, FIELD_ID_d_model) / heads;
    /* transformers takes the RoPE width from head_dim, but its heads are always `width` wide */
    const double told = config_number(c, "head_dim", width);
    if (told > width || told < width)
        config_fault(c, "head_dim",
                     "\"head_dim\" = %.9g is not supported, only hidden_size / num_attention_heads",
                     told);
    config_rope(c, SIDE_BOTH);
}

static const FamilyTensor tensors[] = {
    WHOLE("decoder.embed", "embed_in"),
    WHOLE("decoder.{}.norm.0", "layers.{}.input_layernorm"),
    CUT("decoder.{}.self_attn.q", "layers.{}.attention.query_key_value", FUSED_HEADS),
    CUT("decoder.{}.self_attn.k", "layers.{}.attention.query_key_value", FUSED_HEADS),
    CUT("decoder.{}.self_attn.v", "layers.{}.attention.query_key_value", FUSED_HEADS),
    WHOLE("decoder.{}.self_attn.out", "layers.{}.attention.dense"),
    WHOLE("decoder.{}.norm.1", "layers.{}.post_attention_layernorm"),
    WHOLE("decoder.{}.ffn.up", "layers.{}.mlp.dense_h_to_4h"),
    WHOLE("decoder.{}.ffn.down", "layers.{}.mlp.dense_4h_to_h"),
    WHOLE("decoder.norm", "final_layer_norm"),
    WHOLE("output", "/(embed_out|lm_head)"),
};

const Family family_gpt_neox = { .kind = KIND_DECODER, .prefix = "(gpt_neox.|)", SETTINGS_OF(settings), .keys = keys,
                               .more = more, TENSORS_OF(tensors) };
