/* family_bert.c: BERT and models with its architecture: ELECTRA, RoBERTa, XLM-R, CamemBERT, MPNet.
 * They are encoders with learned positions and post-norm. In the last four the first token has
 * position 2.
 * RoBERTa, XLM-R and CamemBERT use only token type 0, whose vector is added to the positions. MPNet
 * has no token types; it adds a relative position bias of 32 buckets, up to distance 128. */
#include "family.h"

static const FamilySetting settings[] = {
    SET(norm, NORMS_LAYER), SET(norm_at, NORM_PLACES_POST), SET(embed_norm, true), SET(embed_scale, 1), SET(position, POSITIONS_LEARNED),
};

static const ConfigKey keys[] = {
    KEY("hidden_size", d_model, CONFIG_REQUIRED),
    KEY("num_hidden_layers", layers, CONFIG_REQUIRED),
    KEY("num_attention_heads", heads, CONFIG_REQUIRED),
    KEY("intermediate_size", d_ff, CONFIG_REQUIRED),
    KEY("vocab_size", vocab, CONFIG_REQUIRED),
    KEY("max_position_embeddings", max_len, 512),
    KEY("layer_norm_eps", norm_eps, 1e-12),
    ACTIVATION("hidden_act", "gelu"),
    MUST("position_embedding_type", "\"absolute\""),
    MUST("is_decoder", "false"),
    MUST("add_cross_attention", "false"),
    KEY("type_vocab_size", token_types, 2),
    NO_MORE_KEYS,
};

static const FamilyTensor tensors[] = {
    WHOLE("encoder.embed", "embeddings.word_embeddings"),
    WHOLE("encoder.position", "embeddings.position_embeddings"),
    WHOLE("encoder.types", "embeddings.token_type_embeddings"),
    WHOLE("encoder.embed.norm", "embeddings.LayerNorm"),
    WHOLE("encoder.{}.self_attn.q", "encoder.layer.{}.attention.self.query"),
    WHOLE("encoder.{}.self_attn.k", "encoder.layer.{}.attention.self.key"),
    WHOLE("encoder.{}.self_attn.v", "encoder.layer.{}.attention.self.value"),
    WHOLE("encoder.{}.self_attn.out", "encoder.layer.{}.attention.output.dense"),
    WHOLE("encoder.{}.norm.0", "encoder.layer.{}.attention.output.LayerNorm"),
    WHOLE("encoder.{}.ffn.up", "encoder.layer.{}.intermediate.dense"),
    WHOLE("encoder.{}.ffn.down", "encoder.layer.{}.output.dense"),
    WHOLE("encoder.{}.norm.1", "encoder.layer.{}.output.LayerNorm"),
    WHOLE("head.0.norm", "/cls.predictions.transform.LayerNorm"),
    WHOLE("head.0", "/(cls.predictions.transform.dense|bert.pooler.dense)"),
    WHOLE("head.1", "/classifier"),
    WHOLE("head.output", "/cls.predictions(.decoder|)"),
    WHOLE("head.copy", "/cls.predictions"),
};

const Family family_bert = { .kind = KIND_ENCODER, .prefix = "(bert.|)", SETTINGS_OF(settings), .keys = keys, TENSORS_OF(tensors) };

static const ConfigKey electra_keys[] = { KEY("embedding_size", embed_width, 128), NO_MORE_KEYS };

static const FamilyTensor electra_tensors[] = {
    WHOLE("encoder.embed.project", "embeddings_project"),
    WHOLE("head.0.norm", "/generator_predictions.LayerNorm"),
    WHOLE("head.0", "/(classifier.dense|generator_predictions.dense)"),
    WHOLE("head.output", "/generator_lm_head"),
    WHOLE("head.1", "/classifier.out_proj"),
};
const Family family_electra = { .like = &family_bert, .kind = KIND_ENCODER, .prefix = "(electra.|)", .keys = electra_keys,
                                TENSORS_OF(electra_tensors) };

/* ---- RoBERTa -------------------------------------------------------------------------------------------- */

static const ConfigKey roberta_keys[] = {
    READ("max_position_embeddings"),
    IGNORED("type_vocab_size"),
    MUST("pad_token_id", "1"),
    NO_MORE_KEYS,
};

/* <pad> does not take up a position. */
static const FamilySetting roberta_settings[] = { SET(pad_id, 1) };

/* The first token uses row 2: two rows of the table hold no position. */
static void roberta_more(const Config *c)
{
    config_set_length(c, "max_position_embeddings", config_integer(c, "max_position_embeddings", 514) - 2);
}

static const FamilyTensor roberta_tensors[] = {
    ADDED("encoder.position", "embeddings.position_embeddings", ROWS_2, "embeddings.token_type_embeddings"),
    WHOLE("head.0.norm", "/lm_head.layer_norm"),
    WHOLE("head.0", "/(lm_head.dense|classifier.dense)"),
    WHOLE("head.1", "/classifier.out_proj"),
    WHOLE("head.output", "/lm_head(.decoder|)"),
    WHOLE("head.copy", "/lm_head"),
};

#define ROBERTA .like = &family_bert, .kind = KIND_ENCODER, .prefix = "(roberta.|)", SETTINGS_OF(roberta_settings), .keys = roberta_keys, \
                .more = roberta_more, TENSORS_OF(roberta_tensors)
const Family family_roberta = { ROBERTA };
const Family family_xlm_roberta = { ROBERTA };
const Family family_camembert = { ROBERTA };

/* ---- MPNet ---------------------------------------------------------------------------------------------- */

static const FamilySetting mpnet_settings[] = { SET(position, POSITIONS_LEARNED_RELATIVE), SET(rel_buckets, 32), SET(rel_distance, 128) };

static const ConfigKey mpnet_keys[] = {
    MUST("relative_attention_num_buckets", "32"),
    IGNORED("pad_token_id"),
    NO_MORE_KEYS,
};

static const FamilyTensor mpnet_tensors[] = {
    CUT("encoder.position", "embeddings.position_embeddings", ROWS_2),
    WHOLE("encoder.relative", "encoder.relative_attention_bias"),
    WHOLE("encoder.{}.self_attn.q", "encoder.layer.{}.attention.attn.q"),
    WHOLE("encoder.{}.self_attn.k", "encoder.layer.{}.attention.attn.k"),
    WHOLE("encoder.{}.self_attn.v", "encoder.layer.{}.attention.attn.v"),
    WHOLE("encoder.{}.self_attn.out", "encoder.layer.{}.attention.attn.o"),
    WHOLE("encoder.{}.norm.0", "encoder.layer.{}.attention.LayerNorm"),
};
const Family family_mpnet = { .like = &family_roberta, .kind = KIND_ENCODER, .prefix = "(mpnet.|)", SETTINGS_OF(mpnet_settings),
                              .keys = mpnet_keys, TENSORS_OF(mpnet_tensors) };
