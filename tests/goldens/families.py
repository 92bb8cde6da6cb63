"""Write goldens of transformers' own models, tiny and random, with their weights under xformc's
names.

    python families.py [folder]       # needs torch, safetensors and transformers

choices_model.py defines each choice; these goldens show that the choices together are the intended
models. The arithmetic is f64 on the f32 weights. The files are like those of make_goldens.py.
"""

import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "specs", "dates"))
sys.dont_write_bytecode = True

import torch  # noqa: E402
import transformers  # noqa: E402
from safetensors.torch import save_file  # noqa: E402

from choices import lua  # noqa: E402

LINEARS = ("weight", "bias")


def copy(weights, state, ours, theirs, parts=LINEARS):
    """Copy weight and bias, if present, under our names"""
    for part in parts:
        if f"{theirs}.{part}" in state:
            weights[f"{ours}.{part}"] = state[f"{theirs}.{part}"]


def copy_norm(weights, state, ours, theirs):
    weights[f"{ours}.gain"] = state[f"{theirs}.weight"]
    if f"{theirs}.bias" in state:
        weights[f"{ours}.bias"] = state[f"{theirs}.bias"]


@torch.no_grad()
def shaken(model):
    """The model's tensors, with every parameter far enough from its initial value to matter"""
    for name, parameter in model.named_parameters():
        if model.config.model_type == "marian" and "embed_positions" in name:
            continue                                # computed: sines and cosines
        scale = 0.3 if parameter.dim() == 1 or "relative" in name else 1.2 / parameter.shape[-1] ** 0.5
        parameter += torch.randn_like(parameter) * scale
    return model.state_dict()


# ---- encoders ----

BERT = dict(kind="encoder", layers=2, heads=3, d_model=24, d_ff=20, source_vocab=29, max_source=16, norm="layer", norm_eps=1e-12,
            norm_at="post", position="learned", embed_norm=True, embed_scale=1, activation="gelu")


def bert_config(kind, **changes):
    return kind(vocab_size=29, hidden_size=24, num_hidden_layers=2, num_attention_heads=3, intermediate_size=20,
                max_position_embeddings=18 if kind is transformers.RobertaConfig else 16, pad_token_id=0, **changes)


def bert_weights(state, prefix, first_position=0):
    weights = {"encoder.embed.table": state[f"{prefix}.embeddings.word_embeddings.weight"],
               "encoder.types.table": state[f"{prefix}.embeddings.token_type_embeddings.weight"],
               "encoder.position.table": state[f"{prefix}.embeddings.position_embeddings.weight"][first_position:][:16].clone()}
    copy_norm(weights, state, "encoder.embed.norm", f"{prefix}.embeddings.LayerNorm")
    for n in range(2):
        layer, ours = f"{prefix}.encoder.layer.{n}", f"encoder.{n}"
        for mine, theirs in (("q", "query"), ("k", "key"), ("v", "value")):
            copy(weights, state, f"{ours}.self_attn.{mine}", f"{layer}.attention.self.{theirs}")
        copy(weights, state, f"{ours}.self_attn.out", f"{layer}.attention.output.dense")
        copy(weights, state, f"{ours}.ffn.up", f"{layer}.intermediate.dense")
        copy(weights, state, f"{ours}.ffn.down", f"{layer}.output.dense")
        copy_norm(weights, state, f"{ours}.norm.0", f"{layer}.attention.output.LayerNorm")
        copy_norm(weights, state, f"{ours}.norm.1", f"{layer}.output.LayerNorm")
    return weights


def bert_pair():
    model = transformers.BertForSequenceClassification(bert_config(transformers.BertConfig, num_labels=3))
    state = shaken(model)
    weights = bert_weights(state, "bert")
    copy(weights, state, "head.0", "bert.pooler.dense")
    copy(weights, state, "head.1", "classifier")
    return model, BERT | dict(token_types=2, pooling="cls", head=dict(width=[24, 3], activation=["tanh", "none"])), weights


def bert_masked():
    model = transformers.BertForMaskedLM(bert_config(transformers.BertConfig))
    state = shaken(model)
    weights = bert_weights(state, "bert")
    copy(weights, state, "head.0", "cls.predictions.transform.dense")
    copy_norm(weights, state, "head.0.norm", "cls.predictions.transform.LayerNorm")
    weights["head.output.bias"] = state["cls.predictions.bias"]
    return model, BERT | dict(token_types=2, head=dict(width=24, activation="gelu", norm=True, tied=True)), weights


def bert_tokens():
    model = transformers.BertForTokenClassification(bert_config(transformers.BertConfig, num_labels=5))
    state = shaken(model)
    weights = bert_weights(state, "bert")
    copy(weights, state, "head.0", "classifier")
    return model, BERT | dict(token_types=2, head=dict(width=5)), weights


def roberta():
    model = transformers.RobertaForSequenceClassification(bert_config(
        transformers.RobertaConfig, num_labels=2, type_vocab_size=1, layer_norm_eps=1e-5))
    state = shaken(model)
    weights = bert_weights(state, "roberta", 1)         # positions count from pad_token_id + 1
    copy(weights, state, "head.0", "classifier.dense")
    copy(weights, state, "head.1", "classifier.out_proj")
    head = dict(width=[24, 2], activation=["tanh", "none"])
    return model, BERT | dict(token_types=1, norm_eps=1e-5, pooling="cls", head=head), weights


def distilbert():
    model = transformers.DistilBertForSequenceClassification(transformers.DistilBertConfig(
        vocab_size=29, dim=24, n_layers=2, n_heads=3, hidden_dim=20, max_position_embeddings=16, num_labels=4))
    state = shaken(model)
    weights = {"encoder.embed.table": state["distilbert.embeddings.word_embeddings.weight"],
               "encoder.position.table": state["distilbert.embeddings.position_embeddings.weight"]}
    copy_norm(weights, state, "encoder.embed.norm", "distilbert.embeddings.LayerNorm")
    for n in range(2):
        layer, ours = f"distilbert.transformer.layer.{n}", f"encoder.{n}"
        for part in ("q", "k", "v", "out"):
            copy(weights, state, f"{ours}.self_attn.{part}", f"{layer}.attention.{part}_lin")
        copy(weights, state, f"{ours}.ffn.up", f"{layer}.ffn.lin1")
        copy(weights, state, f"{ours}.ffn.down", f"{layer}.ffn.lin2")
        copy_norm(weights, state, f"{ours}.norm.0", f"{layer}.sa_layer_norm")
        copy_norm(weights, state, f"{ours}.norm.1", f"{layer}.output_layer_norm")
    copy(weights, state, "head.0", "pre_classifier")
    copy(weights, state, "head.1", "classifier")
    return model, BERT | dict(pooling="cls", head=dict(width=[24, 4], activation=["relu", "none"])), weights


# ---- encoder-decoders ----

def t5(tied):
    config = transformers.T5Config(
        vocab_size=31, d_model=20, d_kv=6, d_ff=18, num_layers=2, num_decoder_layers=3, num_heads=3, relative_attention_num_buckets=8,
        relative_attention_max_distance=12, feed_forward_proj="relu" if tied else "gated-gelu", tie_word_embeddings=tied)
    model = transformers.T5ForConditionalGeneration(config)
    state = shaken(model)
    weights = {"encoder.embed.table": state["shared.weight"], "decoder.embed.table": state["shared.weight"].clone()}
    for side, layers in (("encoder", 2), ("decoder", 3)):
        weights[f"{side}.relative.table"] = state[f"{side}.block.0.layer.0.SelfAttention.relative_attention_bias.weight"]
        copy_norm(weights, state, f"{side}.norm", f"{side}.final_layer_norm")
        for n in range(layers):
            blocks = [("self_attn", "SelfAttention"), ("cross_attn", "EncDecAttention")][:1 + (side == "decoder")]
            for k, (mine, theirs) in enumerate(blocks):
                layer = f"{side}.block.{n}.layer.{k}"
                for ours, name in (("q", "q"), ("k", "k"), ("v", "v"), ("out", "o")):
                    copy(weights, state, f"{side}.{n}.{mine}.{ours}", f"{layer}.{theirs}.{name}")
                copy_norm(weights, state, f"{side}.{n}.norm.{k}", f"{layer}.layer_norm")
            layer = f"{side}.block.{n}.layer.{len(blocks)}"
            for ours, name in (("up", "wi"), ("gate", "wi_0"), ("up", "wi_1"), ("down", "wo")):
                copy(weights, state, f"{side}.{n}.ffn.{ours}", f"{layer}.DenseReluDense.{name}")
            copy_norm(weights, state, f"{side}.{n}.norm.{len(blocks)}", f"{layer}.layer_norm")
    if not tied:
        weights["output.weight"] = state["lm_head.weight"]
    spec = dict(kind="encoder-decoder", encoder=dict(layers=2), decoder=dict(layers=3), heads=3, head_dim=6, d_model=20, d_ff=18,
                source_vocab=31, target_vocab=31, max_source=30, max_target=20, norm="rms", norm_eps=1e-6, position="relative",
                rel_buckets=8, rel_distance=12, attention_scale=1, embed_scale=1, qkv_bias=False, out_bias=False, ffn_bias=False,
                output_bias=False, log_softmax=False, tied=tied, start_id=0, end_id=1, activation="relu" if tied else "gelu_tanh")
    return model, spec | (dict(logit_scale=20 ** -0.5) if tied else dict(gated=True)), weights


def marian():
    model = transformers.MarianMTModel(transformers.MarianConfig(
        vocab_size=31, d_model=24, encoder_layers=2, decoder_layers=2, encoder_attention_heads=4, decoder_attention_heads=4, encoder_ffn_dim=18,
        decoder_ffn_dim=20, max_position_embeddings=30, scale_embedding=True, activation_function="swish", pad_token_id=30,
        decoder_start_token_id=30, eos_token_id=0))
    model.final_logits_bias.uniform_(-1, 1)
    state = shaken(model)
    weights = {"encoder.embed.table": state["model.shared.weight"], "decoder.embed.table": state["model.shared.weight"].clone(),
               "output.bias": state["final_logits_bias"][0].clone()}
    for side in ("encoder", "decoder"):
        for n in range(2):
            layer, ours = f"model.{side}.layers.{n}", f"{side}.{n}"
            blocks = [("self_attn", "self_attn"), ("cross_attn", "encoder_attn")][:1 + (side == "decoder")]
            for k, (mine, theirs) in enumerate(blocks):
                for part in ("q", "k", "v", "out"):
                    copy(weights, state, f"{ours}.{mine}.{part}", f"{layer}.{theirs}.{part}_proj")
                copy_norm(weights, state, f"{ours}.norm.{k}", f"{layer}.{theirs}_layer_norm")
            copy(weights, state, f"{ours}.ffn.up", f"{layer}.fc1")
            copy(weights, state, f"{ours}.ffn.down", f"{layer}.fc2")
            copy_norm(weights, state, f"{ours}.norm.{len(blocks)}", f"{layer}.final_layer_norm")
    return model, dict(kind="encoder-decoder", layers=2, heads=4, d_model=24, encoder=dict(d_ff=18), decoder=dict(d_ff=20), source_vocab=31,
                       target_vocab=31, max_source=30, max_target=20, norm="layer", norm_at="post", position_layout="halves",
                       activation="silu", tied=True, log_softmax=False, start_id=30, end_id=0), weights


# ---- decoders ----

SMALL = dict(vocab_size=31, hidden_size=20, intermediate_size=22, num_hidden_layers=3, num_attention_heads=4, num_key_value_heads=2, head_dim=6,
             max_position_embeddings=64, bos_token_id=1, eos_token_id=2, pad_token_id=0)
DECODER = dict(kind="decoder", layers=3, heads=4, kv_heads=2, head_dim=6, d_model=20, d_ff=22, target_vocab=31, max_target=24, norm="rms",
               norm_eps=1e-6, position="rotary", gated=True, activation="silu", qkv_bias=False, out_bias=False, ffn_bias=False, output_bias=False,
               embed_scale=1, log_softmax=False, start_id=1, end_id=2)
GEMMA = dict(norm_at="both", norm_gain="one_plus", activation="gelu_tanh", embed_scale=None, tied=True)
NORMS = [("norm.0", "input_layernorm"), ("norm.1", "post_attention_layernorm")]
GEMMA_NORMS = [("norm.0", "input_layernorm"), ("norm_after.0", "post_attention_layernorm"), ("norm.1", "pre_feedforward_layernorm"),
               ("norm_after.1", "post_feedforward_layernorm")]


def llama_weights(state, norms, tied):
    weights = {"decoder.embed.table": state["model.embed_tokens.weight"]}
    copy_norm(weights, state, "decoder.norm", "model.norm")
    if not tied:
        weights["output.weight"] = state["lm_head.weight"]
    for n in range(3):
        layer, ours = f"model.layers.{n}", f"decoder.{n}"
        for mine, theirs in (("q", "q_proj"), ("k", "k_proj"), ("v", "v_proj"), ("out", "o_proj"), ("q_norm", "q_norm"), ("k_norm", "k_norm")):
            copy(weights, state, f"{ours}.self_attn.{mine}", f"{layer}.self_attn.{theirs}")
        for part in ("gate", "up", "down"):
            copy(weights, state, f"{ours}.ffn.{part}", f"{layer}.mlp.{part}_proj")
        for mine, theirs in norms:
            copy_norm(weights, state, f"{ours}.{mine}", f"{layer}.{theirs}")
    return weights


def gemma2():
    model = transformers.Gemma2ForCausalLM(transformers.Gemma2Config(
        **SMALL, sliding_window=5, query_pre_attn_scalar=9, attn_logit_softcapping=2.0, final_logit_softcapping=3.0, attn_implementation="eager"))
    spec = DECODER | GEMMA | dict(window=[5, 0], attention_scale=1 / 3, attention_softcap=2, logit_softcap=3)
    return model, spec, llama_weights(shaken(model), GEMMA_NORMS, True)


def gemma3():
    model = transformers.Gemma3ForCausalLM(transformers.Gemma3TextConfig(
        **SMALL, sliding_window=4, query_pre_attn_scalar=9, layer_types=["sliding_attention", "sliding_attention", "full_attention"],
        rope_parameters={"sliding_attention": {"rope_type": "default", "rope_theta": 10000.0},
                         "full_attention": {"rope_type": "linear", "factor": 8.0, "rope_theta": 1000000.0}}))
    spec = DECODER | GEMMA | dict(window=[4, 4, 0], attention_scale=1 / 3, qk_norm=True, rope_theta=[10000, 10000, 1000000],
                                  rope_scaling=["none", "none", "linear"], rope_factor=8)
    return model, spec, llama_weights(shaken(model), GEMMA_NORMS, True)


def llama():
    model = transformers.LlamaForCausalLM(transformers.LlamaConfig(**SMALL, rms_norm_eps=1e-5, rope_parameters=dict(
        rope_type="llama3", rope_theta=500.0, factor=8.0, low_freq_factor=1.0, high_freq_factor=4.0, original_max_position_embeddings=32)))
    spec = DECODER | dict(norm_eps=1e-5, rope_theta=500, rope_scaling="llama3", rope_factor=8, rope_low_freq_factor=1, rope_high_freq_factor=4,
                          rope_original_len=32)
    return model, spec, llama_weights(shaken(model), NORMS, False)


def qwen3():
    model = transformers.Qwen3ForCausalLM(transformers.Qwen3Config(**SMALL, tie_word_embeddings=True, rope_parameters=dict(
        rope_type="yarn", rope_theta=10000.0, factor=4.0, original_max_position_embeddings=16)))
    spec = DECODER | dict(qk_norm=True, tied=True, rope_scaling="yarn", rope_factor=4, rope_original_len=16)
    return model, spec, llama_weights(shaken(model), NORMS, True)


def smollm3():
    model = transformers.SmolLM3ForCausalLM(transformers.SmolLM3Config(
        **SMALL, no_rope_layers=[1, 0, 1], use_sliding_window=False, tie_word_embeddings=True,
        rope_parameters=dict(rope_type="default", rope_theta=2000000.0)))
    return model, DECODER | dict(tied=True, rope=[True, False], rope_theta=2000000), llama_weights(shaken(model), NORMS, True)


def gpt_neox():
    model = transformers.GPTNeoXForCausalLM(transformers.GPTNeoXConfig(
        vocab_size=31, hidden_size=24, num_hidden_layers=3, num_attention_heads=3, intermediate_size=22, max_position_embeddings=64,
        use_parallel_residual=True, rope_parameters=dict(rope_type="default", rope_theta=10000.0, partial_rotary_factor=0.25)))
    state = shaken(model)
    weights = {"decoder.embed.table": state["gpt_neox.embed_in.weight"]}
    weights["output.weight"] = state["embed_out.weight" if "embed_out.weight" in state else "lm_head.weight"]
    copy_norm(weights, state, "decoder.norm", "gpt_neox.final_layer_norm")
    for n in range(3):
        layer, ours = f"gpt_neox.layers.{n}", f"decoder.{n}"
        for part in LINEARS:                            # rows by head, then query, key, value
            fused = state[f"{layer}.attention.query_key_value.{part}"].unflatten(0, (3, 3, 8))
            for i, name in enumerate("qkv"):
                weights[f"{ours}.self_attn.{name}.{part}"] = fused[:, i].flatten(0, 1)
        copy(weights, state, f"{ours}.self_attn.out", f"{layer}.attention.dense")
        copy(weights, state, f"{ours}.ffn.up", f"{layer}.mlp.dense_h_to_4h")
        copy(weights, state, f"{ours}.ffn.down", f"{layer}.mlp.dense_4h_to_h")
        copy_norm(weights, state, f"{ours}.norm.0", f"{layer}.input_layernorm")
        copy_norm(weights, state, f"{ours}.norm.1", f"{layer}.post_attention_layernorm")
    return model, dict(kind="decoder", layers=3, heads=3, d_model=24, d_ff=22, target_vocab=31, max_target=24, norm="layer", position="rotary",
                       rope_dims=2, activation="gelu", parallel=True, embed_scale=1, output_bias=False, log_softmax=False, start_id=1,
                       end_id=2), weights


CASES = {"hf_bert_pair": bert_pair, "hf_bert_masked": bert_masked, "hf_bert_tokens": bert_tokens, "hf_roberta": roberta,
         "hf_distilbert": distilbert, "hf_t5": lambda: t5(True), "hf_t5_gated": lambda: t5(False), "hf_marian": marian,
         "hf_gemma2": gemma2, "hf_gemma3": gemma3, "hf_llama": llama, "hf_qwen3": qwen3, "hf_smollm3": smollm3, "hf_gpt_neox": gpt_neox}
SECOND = {"hf_bert_pair": 5, "hf_bert_tokens": 3}


def logits_of(model, source, target):
    """[len(target), V], for an encoder-decoder or a decoder"""
    if source is None:
        return model(input_ids=target[None], use_cache=False).logits[0]
    return model(input_ids=source, decoder_input_ids=target[None], use_cache=False).logits[0]


@torch.no_grad()
def greedy(model, source, spec):
    ids = [spec["start_id"]]
    while len(ids) < spec["max_target"] and ids[1:][-1:] != [spec["end_id"]]:
        ids.append(int(logits_of(model, source, torch.tensor(ids))[-1].argmax()))
    return ids[1:]


@torch.no_grad()
def reference(model, spec, second):
    vocab, source, ids = spec.get("source_vocab", spec.get("target_vocab")), None, {}
    if spec["kind"] != "decoder":
        source = torch.randint(3, vocab, (1, min(12, spec["max_source"])))
        ids["source"] = source[0]
    if spec["kind"] == "encoder":
        given = dict(token_type_ids=(torch.arange(source.shape[1]) >= second)[None].long()) if second else {}
        if second:
            ids["second"] = torch.tensor([second])
        logits = model(input_ids=source, **given).logits
        found = {"vector": logits[0] if logits.dim() == 3 else logits}
    else:
        target = torch.cat([torch.tensor([spec["start_id"]]), torch.randint(3, vocab - 1, (spec["max_target"] - 5,))])
        ids["target"] = target
        found = {"logits": logits_of(model, source, target)}
        ids["greedy"] = torch.tensor(greedy(model, source, spec))
    return {name: x.float().contiguous() for name, x in found.items()} | {name: x.int() for name, x in ids.items()}


def write(name, make, path):
    torch.manual_seed(len(name))
    model, spec, weights = make()
    weights = {key: x.clone() for key, x in weights.items()}
    ref = reference(model.eval().double(), spec, SECOND.get(name, 0))
    save_file(weights, path + ".safetensors")
    save_file(ref, path + ".ref.safetensors")
    rows = "".join(f"  {key} = {lua(value)},\n" for key, value in spec.items() if value is not None)
    with open(path + ".lua", "w", newline="\n") as f:
        f.write(f'-- written by families.py\nreturn xf.model {{\n  name = "{name}",\n{rows}  weights = "{name}.safetensors",\n}}\n')
    return ref


def main():
    transformers.logging.set_verbosity_error()
    out = sys.argv[1] if len(sys.argv) > 1 else HERE
    torch.set_num_threads(1)
    for name, make in CASES.items():
        ref = write(name, make, os.path.join(out, name))
        print(f"{name:20} greedy {ref['greedy'].tolist() if 'greedy' in ref else ref['vector'].flatten()[:4].tolist()}")


if __name__ == "__main__":
    main()
