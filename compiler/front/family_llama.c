/* family_llama.c: Llama. Norms without mean, rotary positions over halves, gated feed-forward, few keys and values for many queries. */
#include "family.h"

static const FamilySetting settings[] = {
    SET(norm, NORMS_RMS), SET(norm_at, NORM_PLACES_PRE), SET(position, POSITIONS_ROTARY),
    SET(embed_scale, 1), SET(gated, true), SET(output_bias, false),
    SET(log_softmax, false),
};

static const ConfigKey keys[] = {
    KEY("hidden_size", d_model, CONFIG_REQUIRED),
    KEY("num_hidden_layers", layers, CONFIG_REQUIRED),
    KEY("num_attention_heads", heads, CONFIG_REQUIRED),
    KEY("num_key_value_heads", kv_heads, CONFIG_UNSET),
    KEY("head_dim", head_dim, CONFIG_UNSET),
    KEY("intermediate_size", d_ff, CONFIG_REQUIRED),
    KEY("vocab_size", vocab, CONFIG_REQUIRED),
    KEY("max_position_embeddings", max_len, 2048),
    KEY("rms_norm_eps", norm_eps, 1e-6),
    ACTIVATION("hidden_act|hidden_activation", "silu"),
    READ("attention_bias"),
    KEY("mlp_bias", ffn_bias, false),
    { "rope_theta", KEY_READ, FIELD_COUNT, 10000, NULL, SIDE_BOTH },
    READ("rope_scaling|rope_parameters"),
    READ("partial_rotary_factor"),
    NO_MORE_KEYS,
};

static void more(const Config *c)
{
    const bool bias = config_bool(c, "attention_bias", false);
    config_set(c, "attention_bias", SIDE_BOTH, FIELD_ID_qkv_bias, bias);
    config_set(c, "attention_bias", SIDE_BOTH, FIELD_ID_out_bias, bias);
    config_rope(c, SIDE_BOTH);
}

static const FamilyTensor tensors[] = {
    WHOLE("decoder.embed", "embed_tokens"),
    WHOLE("decoder.{}.self_attn.q", "layers.{}.self_attn.q_proj"),
    WHOLE("decoder.{}.self_attn.k", "layers.{}.self_attn.k_proj"),
    WHOLE("decoder.{}.self_attn.v", "layers.{}.self_attn.v_proj"),
    WHOLE("decoder.{}.self_attn.out", "layers.{}.self_attn.o_proj"),
    WHOLE("decoder.{}.norm.0", "layers.{}.input_layernorm"),
    WHOLE("decoder.{}.norm.1", "layers.{}.post_attention_layernorm"),
    WHOLE("decoder.{}.ffn.gate", "layers.{}.mlp.gate_proj"),
    WHOLE("decoder.{}.ffn.up", "layers.{}.mlp.up_proj"),
    WHOLE("decoder.{}.ffn.down", "layers.{}.mlp.down_proj"),
    WHOLE("decoder.norm", "norm"),
    WHOLE("output", "/lm_head"),
};

const Family family_llama = {
    .kind = KIND_DECODER, .tied = false, .prefix = "(model.|)", SETTINGS_OF(settings),
    .keys = keys, .more = more, TENSORS_OF(tensors),
};
