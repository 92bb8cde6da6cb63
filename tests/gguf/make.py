#!/usr/bin/env python3
"""Write small random models as GGUF files of every supported type, and the results of transformers
for the same numbers.

usage: make.py FOLDER       needs: numpy, torch, transformers, tokenizers, gguf
Writes split/llama-*.gguf, one model in parts; vocabularies/NAME.gguf without a model, and
words.expected, the ids of TEXT with each pattern; NAME.gguf; NAME.expected: `ids given; greedy
ids`; NAME.expected.safetensors: all these ids as `target`, and their `logits`. The reference uses
the weights of the file, dequantised by gguf's own reference code."""
import os
import sys

import gguf
import numpy as np
import torch
from gguf import GGMLQuantizationType as T
from safetensors.torch import save_file
from tokenizers import Regex, Tokenizer, models, pre_tokenizers
from transformers import LlamaConfig, LlamaForCausalLM, Qwen2Config, Qwen2ForCausalLM, Qwen3Config, Qwen3ForCausalLM

PROMPT = [1, 17, 5, 30, 2, 44, 8]
WRITTEN = 20
NAMES = {
    "model.embed_tokens": "token_embd", "model.norm": "output_norm", "lm_head": "output", "input_layernorm": "attn_norm",
    "post_attention_layernorm": "ffn_norm", "self_attn.q_proj": "attn_q", "self_attn.k_proj": "attn_k", "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output", "self_attn.q_norm": "attn_q_norm", "self_attn.k_norm": "attn_k_norm", "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up", "mlp.down_proj": "ffn_down",
}


def file_name(name):
    stem, end = name.rsplit(".", 1)
    if stem in NAMES:
        return f"{NAMES[stem]}.{end}"
    _, _, layer, rest = stem.split(".", 3)
    return f"blk.{layer}.{NAMES[rest]}.{end}"


def permuted(w, heads):
    """Reorder the rows of each head from halves to pairs, like llama.cpp's converter."""
    return w.reshape(heads, 2, w.shape[0] // heads // 2, *w.shape[1:]).swapaxes(1, 2).reshape(w.shape)


def unpermuted(w, heads):
    return w.reshape(heads, w.shape[0] // heads // 2, 2, *w.shape[1:]).swapaxes(1, 2).reshape(w.shape)


def random_blocks(rng, shape, kind):
    """Blocks of K types, which gguf can only read. Any bytes are a valid block; its scales are made
    small."""
    elements, size = gguf.GGML_QUANT_SIZES[kind]
    blocks = rng.integers(0, 256, (shape[0] * shape[1] // elements, size), dtype=np.uint8)
    factors = {T.Q4_K: ((0, 5e-4), (2, 5e-4)), T.Q5_K: ((0, 2e-4), (2, 2e-4)), T.Q6_K: ((208, 3e-5),)}[kind]
    for at, most in factors:
        half = (most * rng.random(len(blocks))).astype(np.float16)
        blocks[:, at:at + 2] = half.view(np.uint8).reshape(-1, 2)
    return blocks.reshape(shape[0], -1)


def shrunk(data, kind, rng):
    """Q8_0 with groups whose largest number is below 127, so that rounding them again would change
    them."""
    if kind != T.Q8_0:
        return data
    blocks = data.reshape(-1, 34).copy()
    some = rng.random(len(blocks)) < 0.3
    numbers = blocks[:, 2:].view(np.int8)
    numbers[some] //= 2
    return blocks.reshape(data.shape)


def stored(tensor, kind, rng):
    if kind in (T.Q4_K, T.Q5_K, T.Q6_K):
        return random_blocks(rng, tensor.shape, kind)
    return shrunk(gguf.quants.quantize(tensor, kind), kind, rng)


def write(path, architecture, model, kinds, keys, tokens, split=0):
    """kinds: tensor name in the file -> type. The model gets the numbers of the file.
    split: the largest number of tensors in a part; 0: one file."""
    c = model.config
    rng = np.random.default_rng(7)
    w = gguf.GGUFWriter(path, architecture, split_max_tensors=split)
    w.add_context_length(c.max_position_embeddings)
    w.add_embedding_length(c.hidden_size)
    w.add_block_count(c.num_hidden_layers)
    w.add_feed_forward_length(c.intermediate_size)
    w.add_head_count(c.num_attention_heads)
    w.add_head_count_kv(c.num_key_value_heads)
    w.add_layer_norm_rms_eps(c.rms_norm_eps)
    for add in keys:
        add(w)
    if tokens:
        w.add_tokenizer_model("llama")
        w.add_token_list([t.encode() for t in tokens])
        w.add_token_scores([-float(i) for i in range(len(tokens))])
        w.add_token_types([2, 3, 3] + [1] * (len(tokens) - 3))
        w.add_bos_token_id(1)
        w.add_eos_token_id(2)
    state = {}
    for name, value in model.state_dict().items():
        tensor = value.numpy().astype(np.float32)
        heads = {"q_proj": c.num_attention_heads, "k_proj": c.num_key_value_heads}.get(name.split(".")[-2]) if architecture == "llama" else None
        if name == "lm_head.weight" and c.tie_word_embeddings:
            continue
        to = file_name(name)
        kind = kinds(to) if tensor.ndim == 2 else T.F32
        if heads:
            tensor = permuted(tensor, heads)
        data = stored(np.ascontiguousarray(tensor), kind, rng)
        w.add_tensor(to, data, raw_dtype=kind)
        back = gguf.quants.dequantize(data, kind).reshape(tensor.shape)
        state[name] = torch.from_numpy(np.ascontiguousarray(unpermuted(back, heads) if heads else back))
    w.write_header_to_file()
    w.write_kv_data_to_file()
    w.write_tensors_to_file()
    w.close()
    model.load_state_dict(state, strict=False)
    model.tie_weights()


def gold(path, model):
    ids = torch.tensor([PROMPT])
    with torch.no_grad():
        out = model.generate(ids, max_new_tokens=WRITTEN, do_sample=False, pad_token_id=0)
        logits = model(out).logits[0]
    save_file({"target": out[0].to(torch.int32), "logits": logits.contiguous()}, path + ".expected.safetensors")
    with open(path + ".expected", "w") as f:
        f.write(" ".join(map(str, PROMPT)) + "; " + " ".join(map(str, out[0, len(PROMPT):].tolist())) + "\n")


def tiny(config, model, seed=1, **more):
    torch.manual_seed(seed)
    sizes = dict(vocab_size=60, hidden_size=64, intermediate_size=96, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2,
                 max_position_embeddings=64, rms_norm_eps=1e-5, tie_word_embeddings=False, initializer_range=0.2, bos_token_id=1, eos_token_id=2)
    sizes.update(more)
    return model(config(**sizes)).eval().float()


def vocabulary(path, kind, pre, tokens, keys, merges=("a b",)):
    w = gguf.GGUFWriter(path, "llama")
    w.add_tokenizer_model(kind)
    if pre:
        w.add_tokenizer_pre(pre)
        w.add_token_merges(merges)
    else:
        w.add_token_scores([0.0] * len(tokens))
    w.add_token_list(tokens)
    for name, value in keys.items():
        add = w.add_bool if isinstance(value, bool) else w.add_uint32
        add("tokenizer.ggml." + name, value)
    w.write_header_to_file()
    w.write_kv_data_to_file()
    w.close()


def vocabularies(folder):
    """Begin and end tokens, with and without keys."""
    os.makedirs(folder, exist_ok=True)
    letters = [chr(c) for c in range(ord("a"), ord("z") + 1)]
    marks = dict(bos_token_id=27, eos_token_id=28)
    both = dict(add_bos_token=False, add_eos_token=True)
    for name, pre, keys in (("gpt2", "gpt-2", marks), ("gpt2_end", "gpt-2", dict(marks, **both)),
                            ("llama3", "llama-bpe", marks), ("llama3_end", "llama-bpe", dict(marks, **both))):
        vocabulary(os.path.join(folder, name + ".gguf"), "gpt2", pre, letters + ["ab", "<s>", "</s>"], keys)
    tokens = ["<unk>", "<s>", "</s>", "\u2581"] + letters
    vocabulary(os.path.join(folder, "sentencepiece.gguf"), "llama", None, tokens, dict(add_eos_token=True))


GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
LLAMA3 = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|"
          r"\s*[\r\n]+|\s+(?!\S)|\s+")
WORDS = {"gpt-2": [GPT2], "smollm": [r"\p{N}", GPT2], "llama-bpe": [LLAMA3], "qwen2": [LLAMA3.replace("{1,3}", "")],
         "default": [r"[\p{P}\$\+<=>\^~\|]+", GPT2, r"\p{N}+", "[0-9][0-9][0-9]"]}
TEXT = "ab's.a  ab 12345 .a $..b\n\n ab"


def words(folder):
    """A vocabulary whose merges show how a text was split, and the ids of TEXT with each
    pattern."""
    tokens = [chr(c) for c in range(ord("a"), ord("z") + 1)] + list("0123456789'.$ĠĊ")
    merges = ["a b", "Ġ ab", "1 2", "3 4", "12 34", "1234 5", "Ġ 12345", "' s", "Ġ .", "Ġ. a", ". a", ". .", "$ ..",
              "Ġ $..", "Ġ Ġ", "Ċ Ċ", "ĊĊ Ġ", "12 3", "4 5"]
    tokens += [m.replace(" ", "") for m in merges]
    vocabulary(os.path.join(folder, "words.gguf"), "gpt2", "gpt-2", tokens, {}, merges)
    with open(os.path.join(folder, "words.expected"), "w") as f:
        for pre, patterns in WORDS.items():
            model = models.BPE({t: i for i, t in enumerate(tokens)}, [tuple(m.split(" ")) for m in merges])
            tokenizer = Tokenizer(model)
            tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
                [pre_tokenizers.Split(Regex(p), "isolated") for p in patterns] +
                [pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])
            f.write(" ".join([pre] + [str(i) for i in tokenizer.encode(TEXT).ids]) + "\n")


def split(folder, tokens):
    """Three parts; output.weight is in the last."""
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, "llama")
    model = tiny(LlamaConfig, LlamaForCausalLM, hidden_size=32, intermediate_size=32, num_hidden_layers=1)
    write(path + ".gguf", "llama", model, lambda name: T.Q8_0, [], tokens, split=5)
    gold(path, model)


def main(folder):
    words(os.path.join(folder, "vocabularies"))
    vocabularies(os.path.join(folder, "vocabularies"))
    os.makedirs(folder, exist_ok=True)
    letters = [chr(ord("a") + i) for i in range(26)]
    tokens = ["<unk>", "<s>", "</s>", "▁"] + letters + ["▁" + c for c in letters] + ["th", "▁th", "in", "an"]
    split(os.path.join(folder, "split"), tokens)

    def make(name, architecture, model, kinds, keys=(), tokens=None):
        path = os.path.join(folder, name)
        write(path + ".gguf", architecture, model, kinds, keys, tokens)
        if not tokens:
            model.generation_config.eos_token_id = None     # the file has no end token
        gold(path, model)

    for kind in T.F32, T.F16, T.BF16, T.Q8_0, T.Q4_0:
        make("llama_" + kind.name.lower(), "llama", tiny(LlamaConfig, LlamaForCausalLM, num_hidden_layers=1), lambda name, kind=kind: kind,
             [lambda w: w.add_rope_dimension_count(16)], tokens if kind == T.Q8_0 else None)
    mixed = {"attn_v": T.Q8_0, "attn_k": T.F16, "ffn_up": T.Q8_0, "output": T.Q8_0}
    make("llama_mixed", "llama", tiny(LlamaConfig, LlamaForCausalLM, num_hidden_layers=1, rope_theta=500000.0),
         lambda name: mixed.get(name.split(".")[-2], T.Q4_0),
         [lambda w: w.add_rope_freq_base(500000.0)])
    linear = {"rope_type": "linear", "factor": 4.0, "rope_theta": 10000.0}
    make("llama_linear", "llama", tiny(LlamaConfig, LlamaForCausalLM, num_hidden_layers=1, rope_parameters=linear), lambda name: T.Q4_0,
         [lambda w: w.add_float32("llama.rope.scaling.factor", 4.0)])
    llama3 = {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0, "original_max_position_embeddings": 32,
              "rope_theta": 10000.0}
    scaled = tiny(LlamaConfig, LlamaForCausalLM, num_hidden_layers=1, rope_parameters=llama3)
    plain = 1.0 / 10000.0 ** (np.arange(0, 16, 2) / 16)
    factors = (plain / scaled.model.rotary_emb.inv_freq.numpy()).astype(np.float32)
    make("llama_freqs", "llama", scaled, lambda name: T.Q4_0, [lambda w: w.add_tensor("rope_freqs.weight", factors)])
    both = tiny(LlamaConfig, LlamaForCausalLM, hidden_size=32, intermediate_size=32, num_hidden_layers=1)
    factors = (1 + np.arange(both.config.head_dim // 2) / 2).astype(np.float32)
    both.model.rotary_emb.inv_freq /= torch.from_numpy(factors) * 4
    make("llama_freqs_linear", "llama", both, lambda name: T.Q8_0,
         [lambda w: w.add_tensor("rope_freqs.weight", factors), lambda w: w.add_float32("llama.rope.scaling.factor", 4.0)])
    k = {"token_embd": T.Q6_K, "attn_q": T.Q4_K, "attn_k": T.Q5_K, "attn_v": T.Q6_K, "attn_output": T.Q5_0, "ffn_gate": T.Q4_K, "ffn_up": T.Q5_K,
         "ffn_down": T.Q4_1}
    make("llama_k", "llama", tiny(LlamaConfig, LlamaForCausalLM, hidden_size=256, num_hidden_layers=1, num_attention_heads=2, num_key_value_heads=1,
                                  head_dim=32, intermediate_size=64, tie_word_embeddings=True),
         lambda name: k[name.split(".")[-2]], [lambda w: w.add_key_length(32), lambda w: w.add_value_length(32)])
    make("qwen2_q8_0", "qwen2", tiny(Qwen2Config, Qwen2ForCausalLM), lambda name: T.Q8_0)
    make("qwen3_q4_0", "qwen3", tiny(Qwen3Config, Qwen3ForCausalLM, head_dim=32, tie_word_embeddings=True), lambda name: T.Q4_0,
         [lambda w: w.add_key_length(32), lambda w: w.add_value_length(32)])


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
