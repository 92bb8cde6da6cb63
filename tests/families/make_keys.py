"""Write folders whose config.json has keys that their family reads differently from others, or not
at all.

    python make_keys.py [NAME...]       # NAME_keys; make.py describes the files
"""
import sys

import transformers as tf

from make import (BF16, LM, Case, bart, decoder, gemma, gpt2, like_llama, llama, main, neox, t5,
                  translator)


def keys(*dropped, **more):
    """Remove some keys and add others. Each matters only for families whose code reads it."""
    def edit(config):
        for key in dropped:
            config.pop(key)
        config.update(more)
    return edit


class ByConfig:
    """The class that transformers chooses for a config.json."""
    from_pretrained = tf.AutoModelForCausalLM.from_pretrained

    def __new__(cls, config):
        return tf.AutoModelForCausalLM.from_config(config)


BIASES = dict(attention_bias=True, mlp_bias=True)
SECOND_FULL = dict(layer_types=["sliding_attention", "full_attention"])
YARN = dict(rope_type="yarn", rope_theta=500.0, factor=4.0, attention_factor=1.7)
TRAINED = dict(original_max_position_embeddings=12)
PLAIN_90 = dict(rope_type="default", rope_theta=90.0)
DECODERS = {
    "gpt2_keys": Case(gpt2(n_layer=1), tf.GPT2LMHeadModel, dtype=BF16,
                      edit=keys("n_layer", "n_head", "n_embd", "n_positions", num_hidden_layers=1,
                                num_attention_heads=4, hidden_size=32,
                                max_position_embeddings=40)),
    "llama_keys": Case(llama(num_hidden_layers=1), LM, dtype=BF16,
                       edit=keys(rotary_pct=0.5, hidden_activation="relu",
                                 attn_logit_softcapping=0.3,
                                 rope_scaling={"type": "linear", "factor": 2.5})),
    "mistral_keys": Case(like_llama(tf.MistralConfig, sliding_window=4), tf.MistralForCausalLM,
                         dtype=BF16, length=20,
                         edit=keys(partial_rotary_factor=0.5, **BIASES)),
    "mistral_layers": Case(like_llama(tf.MistralConfig, sliding_window=4), ByConfig,
                           dtype=BF16, length=20, edit=keys(**SECOND_FULL)),
    "qwen2_keys": Case(like_llama(tf.Qwen2Config, num_hidden_layers=1), tf.Qwen2ForCausalLM,
                       dtype=BF16, length=20,
                       edit=keys(mlp_bias=True, rope_parameters=dict(YARN, **TRAINED),
                                 original_max_position_embeddings=40)),
    "gemma_keys": Case(like_llama(tf.GemmaConfig, head_dim=12, num_hidden_layers=1),
                       tf.GemmaForCausalLM, dtype=BF16, norm_mean=0.0,
                       edit=keys(hidden_act="silu", hidden_activation="relu", mlp_bias=True)),
    "gemma2_keys": Case(gemma(tf.Gemma2Config, num_hidden_layers=1), tf.Gemma2ForCausalLM,
                        dtype=BF16, norm_mean=0.0,
                        edit=keys("final_logit_softcapping", "attn_logit_softcapping",
                                  "sliding_window", hidden_act="relu",
                                  hidden_activation="gelu")),
    "gemma3_keys": Case(gemma(tf.Gemma3TextConfig, sliding_window=4), tf.Gemma3ForCausalLM,
                        dtype=BF16, norm_mean=0.0, length=20,
                        edit=keys("layer_types", attn_logit_softcapping=0.3,
                                  sliding_window_pattern=2, _sliding_window_pattern=1,
                                  rope_parameters={"full_attention": YARN,
                                                   "sliding_attention": PLAIN_90}, **TRAINED)),
    "phi3_keys": Case(like_llama(tf.Phi3Config, num_hidden_layers=1,
                                 original_max_position_embeddings=24), tf.Phi3ForCausalLM,
                      dtype=BF16, length=20,
                      edit=keys("rope_parameters", rope_theta=300.0, partial_rotary_factor=0.5,
                                rope_scaling={"type": "yarn", "short_factor": [1.0, 2.0],
                                              "long_factor": [3.0, 4.0],
                                              "original_max_position_embeddings": 12})),
    "smollm3_keys": Case(like_llama(tf.SmolLM3Config, sliding_window=4), tf.SmolLM3ForCausalLM,
                         dtype=BF16, length=20,
                         edit=keys(layer_types=["sliding_attention", "full_attention"])),
    "gpt_neox_keys": Case(neox(num_hidden_layers=1), tf.GPTNeoXForCausalLM, dtype=BF16,
                          edit=keys("rope_parameters", rope_theta=300.0,
                                    partial_rotary_factor=1.0, rotary_pct=0.5,
                                    rotary_emb_base=77.0)),
}
TRANSLATORS = {
    "bart_keys": Case(bart(encoder_layers=1, decoder_layers=1), tf.BartForConditionalGeneration,
                      dtype=BF16,
                      edit=keys(normalize_before=True, normalize_embedding=False,
                                add_final_layer_norm=True, add_bias_logits=True,
                                static_position_embeddings=True, extra_pos_embeddings=3,
                                num_hidden_layers=1)),
    "t5_keys": Case(t5(num_layers=1), tf.T5ForConditionalGeneration, dtype=BF16,
                    edit=keys("d_model", "num_layers", "num_heads", feed_forward_proj="gelu",
                              dense_act_fn="silu", hidden_size=32, num_hidden_layers=1,
                              num_attention_heads=3)),
    "mt5_keys": Case(t5(tf.MT5Config, num_layers=1, feed_forward_proj="gated-gelu"),
                     tf.MT5ForConditionalGeneration, dtype=BF16,
                     edit=keys("feed_forward_proj", "dense_act_fn", "is_gated_act")),
}


if __name__ == "__main__":
    main(sys.argv[1:], [(decoder, DECODERS), (translator, TRANSLATORS)])
