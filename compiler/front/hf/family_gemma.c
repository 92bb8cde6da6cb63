/* family_gemma.c: Gemma 1, 2 and 3: Llama with gains stored as gain - 1 and a scaled embedding.
 * Gemma 2 and 3 have norms before and after each sublayer, and sliding windows in some layers.
 * Gemma 3 also has norms of q and k per head, and two RoPE bases. */
#include "family.h"

#include <math.h>
#include <string.h>

extern const Family family_llama;

static const FamilySetting settings[] = { SET(norm_gain, GAINS_ONE_PLUS) };

static const ConfigKey keys[] = {
    KEY("num_key_value_heads", kv_heads, 16),
    KEY("head_dim", head_dim, 256),
    KEY("max_position_embeddings", max_len, 8192),
    READ("hidden_act"),
    IGNORED("hidden_activation"),
    NOTED("mlp_bias", "false"),
    MUST("use_bidirectional_attention", "false"),
    NO_MORE_KEYS,
};

/* Set the attention biases and the scale of the embedding, sqrt(d_model). */
static void common(const Config *c)
{
    const bool bias = config_bool(c, "attention_bias", false);
    config_set(c, "attention_bias", SIDE_BOTH, FIELD_ID_qkv_bias, bias);
    config_set(c, "attention_bias", SIDE_BOTH, FIELD_ID_out_bias, bias);
    config_set(c, NULL, SIDE_BOTH, FIELD_ID_embed_scale, sqrt(config_get(c, SIDE_BOTH, FIELD_ID_d_model)));
}

/* In Gemma 1 files, "gelu" means the tanh approximation. */
static void more(const Config *c)
{
    const char *act = config_text(c, "hidden_act", "gelu_pytorch_tanh");
    if (!strcmp(act, "gelu")) act = "gelu_pytorch_tanh";
    config_set_activation(c, "hidden_act", SIDE_BOTH, act);
    common(c);
    config_rope(c, SIDE_BOTH);
}

const Family family_gemma = { .like = &family_llama, .kind = KIND_DECODER, .tied = true, SETTINGS_OF(settings), .keys = keys, .more = more };

/* ---- Gemma 2 -------------------------------------------------------------------------------------------- */

static const FamilySetting both_settings[] = { SET(norm_at, NORM_PLACES_BOTH) };

static const ConfigKey gemma2_keys[] = {
    KEY("num_key_value_heads", kv_heads, 4),
    ACTIVATION("hidden_activation", "gelu_pytorch_tanh"),
    IGNORED("hidden_act"),
    READ_OR("sliding_window", 4096),
    READ("layer_types"),
    READ("query_pre_attn_scalar"),
    READ_OR("attn_logit_softcapping", 50),
    READ_OR("final_logit_softcapping", 30),
    NO_MORE_KEYS,
};

/* The cap that a key gives; null means none. */
static double cap(const Config *c, const char *key)
{
    return config_is_null(c, key) ? 0 : config_number(c, key, family_key(c->family, key)->preset);
}

static void caps(const Config *c)
{
    config_set(c, "final_logit_softcapping", SIDE_BOTH, FIELD_ID_logit_softcap,
               cap(c, "final_logit_softcapping"));
    config_set(c, "query_pre_attn_scalar", SIDE_BOTH, FIELD_ID_attention_scale, 1 / sqrt(config_number(c, "query_pre_attn_scalar", 256)));
}

static void gemma2_more(const Config *c)
{
    common(c);
    config_rope(c, SIDE_BOTH);
    config_set(c, "attn_logit_softcapping", SIDE_BOTH, FIELD_ID_attention_softcap,
               cap(c, "attn_logit_softcapping"));
    caps(c);
    config_windows(c, config_sliding(c, 0, 2));
}

static const FamilyTensor both_tensors[] = {
    WHOLE("decoder.{}.norm.0", "layers.{}.input_layernorm"),
    WHOLE("decoder.{}.norm_after.0", "layers.{}.post_attention_layernorm"),
    WHOLE("decoder.{}.norm.1", "layers.{}.pre_feedforward_layernorm"),
    WHOLE("decoder.{}.norm_after.1", "layers.{}.post_feedforward_layernorm"),
};

const Family family_gemma2 = {
    .like = &family_gemma, .kind = KIND_DECODER, .tied = true, SETTINGS_OF(both_settings), .keys = gemma2_keys, .more = gemma2_more,
    TENSORS_OF(both_tensors),
};

/* ---- Gemma 3 -------------------------------------------------------------------------------------------- */

static const FamilySetting gemma3_settings[] = { SET(qk_norm, true) };

static const ConfigKey gemma3_keys[] = {
    READ("use_bidirectional_attention"),
    { "rope_theta", KEY_READ, FIELD_COUNT, 1000000, NULL, SIDE_BOTH },
    KEY("max_position_embeddings", max_len, 131072),
    READ("rope_local_base_freq"),
    READ("sliding_window_pattern"),
    IGNORED("_sliding_window_pattern"),
    READ("final_logit_softcapping"),
    NOTED("attn_logit_softcapping", "null"),
    NOTED("original_max_position_embeddings", ""),
    NO_MORE_KEYS,
};

/* EmbeddingGemma's attention is bidirectional; its windows reach half their size to either side. */
static void both_ways(const Config *c)
{
    static const char key[] = "use_bidirectional_attention";
    if (!config_bool(c, key, false)) return;
    if (config_kind(c) == KIND_ENCODER) config_both_ways(c, key, true);
    else config_fault(c, key, "\"%s\" = true is supported only with sentence-transformers modules", key);
}

static void gemma3_more(const Config *c)
{
    const bool *sliding = config_sliding(c, 0, (int)config_integer(c, "sliding_window_pattern", 6));
    common(c);
    caps(c);
    config_windows(c, sliding);
    config_rope_kinds(c, SIDE_BOTH, sliding, config_number(c, "rope_local_base_freq", 10000));
    both_ways(c);
}

#define GEMMA_3 .like = &family_gemma2, .kind = KIND_DECODER, .tied = true, SETTINGS_OF(gemma3_settings), .keys = gemma3_keys, .more = gemma3_more
const Family family_gemma3_text = { GEMMA_3 };

/* Gemma 3 with images: only the language model is read, whose config is under text_config. */
static const FamilyTensor gemma3_tensors[] = { WHOLE("output", "/(lm_head|language_model.lm_head)") };

const Family family_gemma3 = {
    GEMMA_3, .nested = "text_config", .prefix = "(model.language_model.|language_model.model.)", TENSORS_OF(gemma3_tensors),
};
