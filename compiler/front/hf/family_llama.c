/* family_llama.c: Llama and decoders with its architecture: RMSNorm, RoPE over halves, gated
 * feed-forward, grouped-query attention. Mistral, Qwen, Phi-3, SmolLM3 and Gemma add a few keys and
 * tensors. */
#include "family.h"

static const FamilySetting settings[] = {
    SET(norm, NORMS_RMS), SET(norm_at, NORM_PLACES_PRE), SET(position, POSITIONS_ROTARY),
    SET(embed_scale, 1), SET(gated, true), SET(output_bias, false),
    SET(log_softmax, false), SET(ffn_bias, false),
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
    ACTIVATION("hidden_act", "silu"),
    READ("attention_bias"),
    KEY("mlp_bias", ffn_bias, false),
    { "rope_theta", KEY_READ, FIELD_COUNT, 10000, NULL, SIDE_BOTH },
    READ("rope_scaling|rope_parameters"),
    READ("original_max_position_embeddings"),
    IGNORED("partial_rotary_factor"),           /* huggingface_rope.c remarks on it or rejects it */
    NO_MORE_KEYS,
};

static void more(const Config *c)
{
    const bool read = family_key(c->family, "attention_bias")->use == KEY_READ;
    const bool bias = read && config_bool(c, "attention_bias", false);
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
    WHOLE("decoder.{}.self_attn.q_norm", "layers.{}.self_attn.q_norm"),
    WHOLE("decoder.{}.self_attn.k_norm", "layers.{}.self_attn.k_norm"),
    WHOLE("decoder.{}.norm.0", "layers.{}.input_layernorm"),
    WHOLE("decoder.{}.norm.1", "layers.{}.post_attention_layernorm"),
    WHOLE("decoder.{}.ffn.gate", "layers.{}.mlp.gate_proj"),
    WHOLE("decoder.{}.ffn.up", "layers.{}.mlp.up_proj"),
    WHOLE("decoder.{}.ffn.down", "layers.{}.mlp.down_proj"),
    WHOLE("decoder.norm", "norm"),
    WHOLE("output", "/lm_head"),
};

const Family family_llama = {
    .kind = KIND_DECODER, .tied = false, .prefix = "(model.|)", SETTINGS_OF(settings), .keys = keys, .more = more, TENSORS_OF(tensors),
};

#define LIKE_LLAMA .like = &family_llama, .kind = KIND_DECODER

/* ---- Mistral: a sliding window in all layers, or by layer_types, as in Ministral ------------- */

#define NO_BIASES NOTED("attention_bias", "false"), NOTED("mlp_bias", "false")

static const ConfigKey mistral_keys[] = {
    KEY("num_key_value_heads", kv_heads, 8),
    KEY("max_position_embeddings", max_len, 131072),
    READ_OR("sliding_window", 4096),
    READ("layer_types"),
    NO_BIASES,
    NO_MORE_KEYS,
};

static void all_slide(const Config *c)
{
    const int layers = (int)config_get(c, SIDE_BOTH, FIELD_ID_layers);
    bool *sliding = arena_array(c->arena, (size_t)layers, sizeof *sliding);
    for (int i = 0; i < layers; i++) sliding[i] = true;
    more(c);
    if (config_has(c, "layer_types")) config_windows(c, config_sliding(c, 0, 0));
    else if (config_window(c)) config_windows(c, sliding);
}

const Family family_mistral = { LIKE_LLAMA, .keys = mistral_keys, .more = all_slide };

/* ---- Qwen: layers from max_window_layers on may have a sliding window ---------------------------------------- */

static const FamilySetting qwen2_settings[] = { SET(qkv_bias, true), SET(out_bias, false) };

static const ConfigKey qwen_keys[] = {
    KEY("num_key_value_heads", kv_heads, 32),
    NO_BIASES,
    KEY("max_position_embeddings", max_len, 32768),
    READ("use_sliding_window"),
    READ_OR("sliding_window", 4096),
    READ("max_window_layers"),
    READ("layer_types"),
    NO_MORE_KEYS,
};

/* Report a layer_types that lists sliding layers if no window is set. */
static void refuse_sliding(const Config *c, const bool *sliding)
{
    const int layers = (int)config_get(c, SIDE_BOTH, FIELD_ID_layers);
    for (int i = 0; i < layers; i++)
        if (sliding[i]) {
            config_fault(c, "layer_types", "layer %d is \"sliding_attention\", but %s", i,
                         config_bool(c, "use_sliding_window", false) ? "\"sliding_window\" is null"
                                                                     : "\"use_sliding_window\" is not true");
            return;
        }
}

static void qwen_more(const Config *c)
{
    const bool *sliding = config_sliding(c, (int)config_integer(c, "max_window_layers", 28), 0);
    if (config_bool(c, "use_sliding_window", false) && config_window(c)) config_windows(c, sliding);
    else if (config_has(c, "layer_types")) refuse_sliding(c, sliding);
    config_rope(c, SIDE_BOTH);
}

static void qwen3_more(const Config *c)
{
    more(c);
    qwen_more(c);
}

static const FamilySetting qwen3_settings[] = { SET(qk_norm, true) };
static const ConfigKey qwen3_keys[] = {
    KEY("head_dim", head_dim, 128),
    READ("attention_bias"),
    NO_MORE_KEYS,
};
const Family family_qwen2 = { LIKE_LLAMA, SETTINGS_OF(qwen2_settings), .keys = qwen_keys, .more = qwen_more };
const Family family_qwen3 = { .like = &family_qwen2, .kind = KIND_DECODER, SETTINGS_OF(qwen3_settings), .keys = qwen3_keys, .more = qwen3_more };

/* ---- SmolLM3: some layers have no RoPE ----------------------------------------------------------------------- */

static const ConfigKey smollm3_keys[] = {
    { "rope_theta", KEY_READ, FIELD_COUNT, 2000000, NULL, SIDE_BOTH },
    KEY("num_key_value_heads", kv_heads, 4),
    KEY("max_position_embeddings", max_len, 32768),
    READ("no_rope_layers"),
    READ("no_rope_layer_interval"),
    READ("use_sliding_window"),
    READ("sliding_window"),
    READ("layer_types"),
    NO_MORE_KEYS,
};

/* no_rope_layers has 1 for a layer with RoPE, 0 for one without. */
static void smollm3_more(const Config *c)
{
    const int layers = (int)config_get(c, SIDE_BOTH, FIELD_ID_layers), period = (int)config_integer(c, "no_rope_layer_interval", 4);
    const bool listed = config_has(c, "no_rope_layers");
    double *turns = arena_array(c->arena, (size_t)layers, sizeof *turns);
    more(c);
    if (listed && config_count(c, "no_rope_layers") != layers) {
        config_fault(c, "no_rope_layers", "the length of \"no_rope_layers\" is %d, but the model has %d layer%s",
                     config_count(c, "no_rope_layers"), layers, layers == 1 ? "" : "s");
        return;
    }
    bool *sliding = arena_array(c->arena, (size_t)layers, sizeof *sliding);
    for (int i = 0; i < layers; i++) {
        turns[i] = listed ? config_bool_at(c, "no_rope_layers", i) : period < 1 || (i + 1) % period != 0;
        sliding[i] = !(turns[i] > 0);
    }
    config_set_list(c, "no_rope_layers", SIDE_BOTH, FIELD_ID_rope, turns, layers);
    /* layer_types applies whatever use_sliding_window is */
    if (config_has(c, "layer_types")) config_windows(c, config_sliding(c, 0, 0));
    else if (config_bool(c, "use_sliding_window", false) && config_window(c))
        config_windows(c, sliding);
}

const Family family_smollm3 = { LIKE_LLAMA, .tied = true, .keys = smollm3_keys, .more = smollm3_more };

/* ---- Phi-3: q, k and v fused; gate and up fused --------------------------------------------------------------- */

static const ConfigKey phi3_keys[] = {
    KEY("rms_norm_eps", norm_eps, 1e-5),
    KEY("max_position_embeddings", max_len, 4096),
    READ_OR("original_max_position_embeddings", 4096),
    READ("partial_rotary_factor"),
    READ("sliding_window"),
    NO_BIASES,
    NO_MORE_KEYS,
};

static const FamilyTensor phi3_tensors[] = {
    CUT("decoder.{}.self_attn.q", "layers.{}.self_attn.qkv_proj", FUSED),
    CUT("decoder.{}.self_attn.k", "layers.{}.self_attn.qkv_proj", FUSED),
    CUT("decoder.{}.self_attn.v", "layers.{}.self_attn.qkv_proj", FUSED),
    CUT("decoder.{}.ffn.gate", "layers.{}.mlp.gate_up_proj", FUSED),
    CUT("decoder.{}.ffn.up", "layers.{}.mlp.gate_up_proj", FUSED),
};

const Family family_phi3 = { LIKE_LLAMA, .keys = phi3_keys, .more = all_slide, TENSORS_OF(phi3_tensors) };
