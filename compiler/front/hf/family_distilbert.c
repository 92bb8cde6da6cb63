/* family_distilbert.c: DistilBERT: BERT's encoder without token types, under other names. */
#include "family.h"

static const FamilySetting settings[] = {
    SET(norm, NORMS_LAYER), SET(norm_eps, 1e-12), SET(norm_at, NORM_PLACES_POST), SET(embed_norm, true), SET(embed_scale, 1),
    SET(position, POSITIONS_LEARNED),
};

static const ConfigKey keys[] = {
    KEY_ALSO(BOTH, "dim", "hidden_size", d_model, CONFIG_REQUIRED),
    KEY_ALSO(BOTH, "n_layers", "num_hidden_layers", layers, CONFIG_REQUIRED),
    KEY_ALSO(BOTH, "n_heads", "num_attention_heads", heads, CONFIG_REQUIRED),
    KEY("hidden_dim", d_ff, CONFIG_REQUIRED),
    KEY("vocab_size", vocab, CONFIG_REQUIRED),
    KEY("max_position_embeddings", max_len, 512),
    ACTIVATION("activation", "gelu"),
    IGNORED("sinusoidal_pos_embds"),            /* the file has the table either way */
    NO_MORE_KEYS,
};

static const FamilyTensor tensors[] = {
    WHOLE("encoder.embed", "embeddings.word_embeddings"),
    WHOLE("encoder.position", "embeddings.position_embeddings"),
    WHOLE("encoder.embed.norm", "embeddings.LayerNorm"),
    WHOLE("encoder.{}.self_attn.q", "transformer.layer.{}.attention.q_lin"),
    WHOLE("encoder.{}.self_attn.k", "transformer.layer.{}.attention.k_lin"),
    WHOLE("encoder.{}.self_attn.v", "transformer.layer.{}.attention.v_lin"),
    WHOLE("encoder.{}.self_attn.out", "transformer.layer.{}.attention.out_lin"),
    WHOLE("encoder.{}.norm.0", "transformer.layer.{}.sa_layer_norm"),
    WHOLE("encoder.{}.ffn.up", "transformer.layer.{}.ffn.lin1"),
    WHOLE("encoder.{}.ffn.down", "transformer.layer.{}.ffn.lin2"),
    WHOLE("encoder.{}.norm.1", "transformer.layer.{}.output_layer_norm"),
    WHOLE("head.0.norm", "/vocab_layer_norm"),
    WHOLE("head.0", "/(vocab_transform|pre_classifier)"),
    WHOLE("head.1", "/classifier"),
    WHOLE("head.output", "/vocab_projector"),
};

const Family family_distilbert = { .kind = KIND_ENCODER, .prefix = "(distilbert.|)", SETTINGS_OF(settings), .keys = keys, TENSORS_OF(tensors) };
