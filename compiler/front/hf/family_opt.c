/* family_opt.c: OPT: a decoder like GPT-2, with linears stored [out, in] and positions from row 2
 * of their table. In OPT-350m the embedding is narrower than the layers. */
#include "family.h"

static const FamilySetting settings[] = {
    SET(norm, NORMS_LAYER), SET(norm_eps, 1e-5), SET(position, POSITIONS_LEARNED), SET(embed_scale, 1), SET(output_bias, false),
    SET(log_softmax, false),
};

static const ConfigKey keys[] = {
    KEY("hidden_size", d_model, CONFIG_REQUIRED),
    KEY("num_hidden_layers", layers, CONFIG_REQUIRED),
    KEY("num_attention_heads", heads, CONFIG_REQUIRED),
    KEY("ffn_dim", d_ff, CONFIG_REQUIRED),
    KEY("vocab_size", vocab, CONFIG_REQUIRED),
    KEY("max_position_embeddings", max_len, 2048),
    KEY("enable_bias", qkv_bias, true),
    ACTIVATION("activation_function", "relu"),
    MUST("layer_norm_elementwise_affine", "true"),
    READ("do_layer_norm_before"),
    READ("_remove_final_layer_norm"),
    READ("word_embed_proj_dim"),
    NO_MORE_KEYS,
};

static void more(const Config *c)
{
    const double width = config_get(c, SIDE_BOTH, FIELD_ID_d_model), bias = config_get(c, SIDE_BOTH, FIELD_ID_qkv_bias);
    const bool before = config_bool(c, "do_layer_norm_before", true);
    const double embed = (double)config_integer(c, "word_embed_proj_dim", width);
    if (embed < width || embed > width) {
        config_set(c, "word_embed_proj_dim", SIDE_BOTH, FIELD_ID_embed_width, embed);
        config_set(c, "word_embed_proj_dim", SIDE_BOTH, FIELD_ID_embed_project, PROJECTIONS_FIRST);
    }
    config_set(c, "do_layer_norm_before", SIDE_BOTH, FIELD_ID_norm_at, before ? NORM_PLACES_PRE : NORM_PLACES_POST);
    config_set(c, "_remove_final_layer_norm", SIDE_BOTH, FIELD_ID_final_norm, before && !config_bool(c, "_remove_final_layer_norm", false));
    config_set(c, "enable_bias", SIDE_BOTH, FIELD_ID_out_bias, bias);
    config_set(c, "enable_bias", SIDE_BOTH, FIELD_ID_ffn_bias, bias);
}

static const FamilyTensor tensors[] = {
    WHOLE("decoder.embed", "embed_tokens"),
    WHOLE("decoder.embed.project", "project_in"),
    CUT("decoder.position", "embed_positions", ROWS_2),
    WHOLE("decoder.{}.norm.0", "layers.{}.self_attn_layer_norm"),
    WHOLE("decoder.{}.self_attn.q", "layers.{}.self_attn.q_proj"),
    WHOLE("decoder.{}.self_attn.k", "layers.{}.self_attn.k_proj"),
    WHOLE("decoder.{}.self_attn.v", "layers.{}.self_attn.v_proj"),
    WHOLE("decoder.{}.self_attn.out", "layers.{}.self_attn.out_proj"),
    WHOLE("decoder.{}.norm.1", "layers.{}.final_layer_norm"),
    WHOLE("decoder.{}.ffn.up", "layers.{}.fc1"),
    WHOLE("decoder.{}.ffn.down", "layers.{}.fc2"),
    WHOLE("decoder.norm", "final_layer_norm"),
    WHOLE("output.project", "project_out"),
    WHOLE("output", "/lm_head"),
};

const Family family_opt = {
    .kind = KIND_DECODER, .tied = true, .prefix = "(model.decoder.|decoder.|)", SETTINGS_OF(settings), .keys = keys, .more = more,
    TENSORS_OF(tensors),
};
