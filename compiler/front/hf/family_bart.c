/* family_bart.c: BART and the translation models with its architecture: mBART, Marian, M2M100 and
 * NLLB. They are encoder-decoders that differ in the places of norms and in how positions are
 * encoded. */
#include "family.h"

#include <math.h>

static const FamilySetting settings[] = {
    SET(norm, NORMS_LAYER), SET(norm_eps, 1e-5), SET(norm_at, NORM_PLACES_POST), SET(embed_norm, true), SET(position, POSITIONS_LEARNED),
    SET(log_softmax, false), SET(output_bias, true),
};

static const ConfigKey keys[] = {
    KEY_ALSO(BOTH, "d_model", "hidden_size", d_model, CONFIG_REQUIRED),
    KEY_ALSO(ENCODER, "encoder_layers", "num_hidden_layers", layers, CONFIG_REQUIRED),
    KEY_OF(DECODER, "decoder_layers", layers, CONFIG_REQUIRED),
    KEY_ALSO(ENCODER, "encoder_attention_heads", "num_attention_heads", heads, CONFIG_REQUIRED),
    KEY_OF(DECODER, "decoder_attention_heads", heads, CONFIG_REQUIRED),
    KEY_OF(ENCODER, "encoder_ffn_dim", d_ff, CONFIG_REQUIRED),
    KEY_OF(DECODER, "decoder_ffn_dim", d_ff, CONFIG_REQUIRED),
    KEY("vocab_size", vocab, CONFIG_REQUIRED),
    KEY("max_position_embeddings", max_len, 1024),
    ACTIVATION("activation_function", "gelu"),
    READ("scale_embedding"),
    MUST("is_encoder_decoder", "true"),
    MUST("is_decoder", "false"),
    NOTED("normalize_before", "false"),
    NOTED("normalize_embedding", "true"),
    NOTED("add_final_layer_norm", "false"),
    NOTED("add_bias_logits", "false"),
    NOTED("static_position_embeddings", "false"),
    NOTED("extra_pos_embeddings", "2"),
    IGNORED("force_bos_token_to_be_generated"),
    IGNORED("gradient_checkpointing"),
    IGNORED("classif_dropout"),
    NO_MORE_KEYS,
};

static void scale(const Config *c, bool preset)
{
    const bool scaled = config_bool(c, "scale_embedding", preset);
    config_set(c, "scale_embedding", SIDE_BOTH, FIELD_ID_embed_scale, scaled ? sqrt(config_get(c, SIDE_BOTH, FIELD_ID_d_model)) : 1);
}

static void more(const Config *c) { scale(c, false); }

static const FamilyTensor tensors[] = {
    WHOLE("shared", "shared"),
    WHOLE("encoder.embed", "encoder.embed_tokens"),
    CUT("encoder.position", "encoder.embed_positions", ROWS_2),
    WHOLE("encoder.embed.norm", "encoder.layernorm_embedding"),
    WHOLE("encoder.{}.self_attn.q", "encoder.layers.{}.self_attn.q_proj"),
    WHOLE("encoder.{}.self_attn.k", "encoder.layers.{}.self_attn.k_proj"),
    WHOLE("encoder.{}.self_attn.v", "encoder.layers.{}.self_attn.v_proj"),
    WHOLE("encoder.{}.self_attn.out", "encoder.layers.{}.self_attn.out_proj"),
    WHOLE("encoder.{}.norm.0", "encoder.layers.{}.self_attn_layer_norm"),
    WHOLE("encoder.{}.ffn.up", "encoder.layers.{}.fc1"),
    WHOLE("encoder.{}.ffn.down", "encoder.layers.{}.fc2"),
    WHOLE("encoder.{}.norm.1", "encoder.layers.{}.final_layer_norm"),
    WHOLE("encoder.norm", "encoder.layer_norm"),
    WHOLE("decoder.embed", "decoder.embed_tokens"),
    CUT("decoder.position", "decoder.embed_positions", ROWS_2),
    WHOLE("decoder.embed.norm", "decoder.layernorm_embedding"),
    WHOLE("decoder.{}.self_attn.q", "decoder.layers.{}.self_attn.q_proj"),
    WHOLE("decoder.{}.self_attn.k", "decoder.layers.{}.self_attn.k_proj"),
    WHOLE("decoder.{}.self_attn.v", "decoder.layers.{}.self_attn.v_proj"),
    WHOLE("decoder.{}.self_attn.out", "decoder.layers.{}.self_attn.out_proj"),
    WHOLE("decoder.{}.norm.0", "decoder.layers.{}.self_attn_layer_norm"),
    WHOLE("decoder.{}.cross_attn.q", "decoder.layers.{}.encoder_attn.q_proj"),
    WHOLE("decoder.{}.cross_attn.k", "decoder.layers.{}.encoder_attn.k_proj"),
    WHOLE("decoder.{}.cross_attn.v", "decoder.layers.{}.encoder_attn.v_proj"),
    WHOLE("decoder.{}.cross_attn.out", "decoder.layers.{}.encoder_attn.out_proj"),
    WHOLE("decoder.{}.norm.1", "decoder.layers.{}.encoder_attn_layer_norm"),
    WHOLE("decoder.{}.ffn.up", "decoder.layers.{}.fc1"),
    WHOLE("decoder.{}.ffn.down", "decoder.layers.{}.fc2"),
    WHOLE("decoder.{}.norm.2", "decoder.layers.{}.final_layer_norm"),
    WHOLE("decoder.norm", "decoder.layer_norm"),
    WHOLE("output.bias!", "/final_logits_bias!"),
    WHOLE("output", "/lm_head"),
};

const Family family_bart = {
    .kind = KIND_ENCODER_DECODER, .tied = true, .prefix = "(model.|)", SETTINGS_OF(settings), .keys = keys, .more = more, TENSORS_OF(tensors),
};

/* ---- mBART: norms before each sublayer, and one more after the last ---------------------------------------- */

static const FamilySetting mbart_settings[] = { SET(norm_at, NORM_PLACES_PRE) };
static const ConfigKey mbart_keys[] = {
    NOTED("normalize_before", "true"),
    NOTED("add_final_layer_norm", "true"),
    NO_MORE_KEYS,
};
const Family family_mbart = { .like = &family_bart, .kind = KIND_ENCODER_DECODER, .tied = true, SETTINGS_OF(mbart_settings), .keys = mbart_keys };

/* ---- Marian: no norm of the embedding, sinusoids ----------------------------------------------------------- */

static const FamilySetting marian_settings[] = {
    SET(embed_norm, false), SET(position, POSITIONS_SINUSOIDAL), SET(position_layout, LAYOUTS_HALVES), SET(position_divisor, DIVISORS_HALF),
};
static const ConfigKey marian_keys[] = {
    READ("decoder_vocab_size"),
    READ("share_encoder_decoder_embeddings"),
    NOTED("normalize_embedding", "false"),
    NOTED("static_position_embeddings", "true"),
    IGNORED("extra_pos_embeddings"),            /* for learned tables; Marian has none */
    NO_MORE_KEYS,
};

/* With two vocabularies each side has its own embedding, and the output layer uses the decoder's.
 * With a shared vocabulary, decoder_vocab_size is ignored. */
static void marian_more(const Config *c)
{
    static const char size[] = "decoder_vocab_size";
    scale(c, false);
    if (config_bool(c, "share_encoder_decoder_embeddings", true) || !config_has(c, size)) return;
    config_set(c, size, SIDE_BOTH, FIELD_ID_target_vocab, (double)config_integer(c, size, 0));
}

const Family family_marian = {
    .like = &family_bart, .kind = KIND_ENCODER_DECODER, .tied = true, SETTINGS_OF(marian_settings), .keys = marian_keys, .more = marian_more,
};

/* ---- M2M100, NLLB: fairseq's sinusoids, from position 2 ----------------------------------------------------- */

static const FamilySetting m2m_settings[] = {
    SET(norm_at, NORM_PLACES_PRE), SET(embed_norm, false), SET(position, POSITIONS_SINUSOIDAL), SET(position_layout, LAYOUTS_HALVES),
    SET(position_divisor, DIVISORS_HALF_LESS_1), SET(position_first, 2), SET(output_bias, false), SET(pad_id, 1),
};
static const ConfigKey m2m_keys[] = {
    MUST("pad_token_id", "1"),
    ACTIVATION("activation_function", "relu"),
    NO_MORE_KEYS,
};
static void m2m_more(const Config *c) { scale(c, true); }
const Family family_m2m_100 = {
    .like = &family_bart, .kind = KIND_ENCODER_DECODER, .tied = true, SETTINGS_OF(m2m_settings), .keys = m2m_keys, .more = m2m_more,
};
