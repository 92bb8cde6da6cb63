/* family_t5.c: T5, flan-T5, mT5: a relative position bias and no other positions, unscaled
 * attention scores, RMSNorm. */
#include "family.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const FamilySetting settings[] = {
    SET(norm, NORMS_RMS), SET(norm_at, NORM_PLACES_PRE), SET(position, POSITIONS_RELATIVE), SET(embed_scale, 1), SET(attention_scale, 1),
    SET(qkv_bias, false), SET(out_bias, false), SET(ffn_bias, false), SET(output_bias, false), SET(log_softmax, false),
};

static const ConfigKey keys[] = {
    KEY_ALSO(BOTH, "d_model", "hidden_size", d_model, CONFIG_REQUIRED),
    KEY_ALSO(BOTH, "d_kv", "head_dim", head_dim, CONFIG_REQUIRED),
    KEY("d_ff", d_ff, CONFIG_REQUIRED),
    KEY_ALSO(ENCODER, "num_layers", "num_hidden_layers", layers, CONFIG_REQUIRED),
    READ("num_decoder_layers"),
    KEY_ALSO(BOTH, "num_heads", "num_attention_heads", heads, CONFIG_REQUIRED),
    KEY("vocab_size", vocab, CONFIG_REQUIRED),
    KEY("n_positions", max_len, 512),
    KEY("layer_norm_epsilon", norm_eps, 1e-6),
    KEY("relative_attention_num_buckets", rel_buckets, 32),
    KEY("relative_attention_max_distance", rel_distance, 128),
    READ("feed_forward_proj"),
    READ("scale_decoder_outputs"),
    READ("is_encoder_decoder"),
    MUST("is_decoder", "false"),
    READ("dense_act_fn"),
    READ("is_gated_act"),
    NO_MORE_KEYS,
};

/* feed_forward_proj is "relu", "gated-gelu" and so on; "gated-gelu" means the tanh approximation.
 * dense_act_fn and is_gated_act override it. */
static void set_feed_forward(const Config *c, const char *preset)
{
    const char *projection = config_text(c, "feed_forward_proj", preset), *name = projection;
    const bool gated = !strncmp(projection, "gated-", 6);
    if (gated) name += 6;
    if (gated && !strcmp(name, "gelu")) name = "gelu_new";
    config_set(c, "feed_forward_proj", SIDE_BOTH, FIELD_ID_gated,
               config_bool(c, "is_gated_act", gated));
    config_set_activation(c, "dense_act_fn|feed_forward_proj", SIDE_BOTH,
                          config_text(c, "dense_act_fn", name));
}

/* An encoder-only T5 has is_encoder_decoder = false. It is supported only as a sentence model. */
static void require_both(const Config *c)
{
    static const char key[] = "is_encoder_decoder";
    if (config_kind(c) == KIND_ENCODER || config_bool(c, key, true)) return;
    config_fault(c, key, "\"%s\" = false is supported only with sentence-transformers modules", key);
}

/* Read the prefixes of translation prompts, such as
 * task_specific_params.translation_en_to_de.prefix. */
static void set_translations(const Config *c)
{
    Config tasks, task;
    int all, n = 0;
    if (config_kind(c) == KIND_ENCODER || !config_object(c, "task_specific_params", &tasks)) return;
    const char **names = config_keys(&tasks, &all);
    FieldValue *rows = arena_array(c->arena, (size_t)all + 1, sizeof *rows);
    for (int i = 0; i < all; i++) {
        char from[16], to[16];
        int end = 0;
        if (sscanf(names[i], "translation_%15[a-zA-Z]_to_%15[a-zA-Z]%n", from, to, &end) != 2 || names[i][end]) continue;
        if (!config_object(&tasks, names[i], &task)) continue;
        const char *prefix = config_text(&task, "prefix", "");
        if (*prefix) rows[n++] = (FieldValue){ .text = arena_format(c->arena, "%s %s %s", from, to, prefix) };
    }
    if (n) draft_set(c->arena, c->draft, SIDE_BOTH, FIELD_ID_translations, config_place(c, "task_specific_params"), rows, n);
}

static void common(const Config *c, const char *projection)
{
    require_both(c);
    set_translations(c);
    const int64_t layers = config_integer(c, "num_decoder_layers", config_get(c, SIDE_ENCODER, FIELD_ID_layers));
    config_set(c, "num_decoder_layers", SIDE_DECODER, FIELD_ID_layers, (double)layers);
    set_feed_forward(c, projection);
}

/* The original T5 scales its hidden states by 1 / sqrt(d_model) before the output layer; T5 1.1,
 * whose files have tie_word_embeddings = false, and mT5 do not. */
static void more(const Config *c)
{
    const double width = config_get(c, SIDE_BOTH, FIELD_ID_d_model);
    const bool scaled = config_bool(c, "scale_decoder_outputs", config_bool(c, "tie_word_embeddings", true));
    config_set(c, "scale_decoder_outputs", SIDE_BOTH, FIELD_ID_logit_scale, scaled ? 1 / sqrt(width) : 1);
    common(c, "relu");
}

static void mt5_more(const Config *c) { common(c, "gated-gelu"); }

#define ATTENTION(ours, theirs) WHOLE(ours ".q", theirs ".q"), WHOLE(ours ".k", theirs ".k"), WHOLE(ours ".v", theirs ".v"), \
                                WHOLE(ours ".out", theirs ".o")
#define FEED_FORWARD(ours, theirs) WHOLE(ours ".gate", theirs ".wi_0"), WHOLE(ours ".up", theirs ".(wi_1|wi)"), WHOLE(ours ".down", theirs ".wo")

static const FamilyTensor tensors[] = {
    WHOLE("shared", "shared"),
    WHOLE("encoder.embed", "encoder.embed_tokens"),
    WHOLE("encoder.relative", "encoder.block.0.layer.0.SelfAttention.relative_attention_bias"),
    WHOLE("encoder.{}.norm.0", "encoder.block.{}.layer.0.layer_norm"),
    ATTENTION("encoder.{}.self_attn", "encoder.block.{}.layer.0.SelfAttention"),
    WHOLE("encoder.{}.norm.1", "encoder.block.{}.layer.1.layer_norm"),
    FEED_FORWARD("encoder.{}.ffn", "encoder.block.{}.layer.1.DenseReluDense"),
    WHOLE("encoder.norm", "encoder.final_layer_norm"),
    WHOLE("decoder.embed", "decoder.embed_tokens"),
    WHOLE("decoder.relative", "decoder.block.0.layer.0.SelfAttention.relative_attention_bias"),
    WHOLE("decoder.{}.norm.0", "decoder.block.{}.layer.0.layer_norm"),
    ATTENTION("decoder.{}.self_attn", "decoder.block.{}.layer.0.SelfAttention"),
    WHOLE("decoder.{}.norm.1", "decoder.block.{}.layer.1.layer_norm"),
    ATTENTION("decoder.{}.cross_attn", "decoder.block.{}.layer.1.EncDecAttention"),
    WHOLE("decoder.{}.norm.2", "decoder.block.{}.layer.2.layer_norm"),
    FEED_FORWARD("decoder.{}.ffn", "decoder.block.{}.layer.2.DenseReluDense"),
    WHOLE("decoder.norm", "decoder.final_layer_norm"),
    WHOLE("output", "lm_head"),
};

#define T5 .kind = KIND_ENCODER_DECODER, .tied = true, .tied_always = true, .encoder_alone = true
const Family family_t5 = { T5, SETTINGS_OF(settings), .keys = keys, .more = more, TENSORS_OF(tensors) };
const Family family_mt5 = { T5, .like = &family_t5, .more = mt5_more };
