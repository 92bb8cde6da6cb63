"""Random models as large as people run: a Hugging Face folder in bf16 shards, or a GGUF file of
Q4_0 blocks. Written tensor by tensor: no more than one is in memory.

usage: make.py SHAPE FOLDER [LAYERS]      one of LLAMAS; with LAYERS only its first ones
       make.py --gguf SHAPE FILE [LAYERS]
Needs NumPy.
"""

import json
import os
import struct
import sys
import zlib

import numpy as np

SHARD = 4 << 30             # bytes of a file of weights, about
PIECE = 1 << 22             # numbers that are drawn at once

LLAMAS = {      # d_model, layers, heads, kv_heads, d_ff, vocab, rope_theta
    "llama_8b": (4096, 32, 32, 8, 14336, 128256, 500000.0),
    "llama_1b": (2048, 22, 32, 4, 5632, 32000, 10000.0),
    "llama_100m": (768, 12, 12, 4, 2048, 32000, 10000.0),
}


# ---- shapes: (name, dims, scale) of each tensor; a scale of 0 is a gain, near 1 ----

def llama_tensors(shape, layers):
    d, _, heads, kv_heads, d_ff, vocab, _ = LLAMAS[shape]
    kv = d // heads * kv_heads
    yield "model.embed_tokens.weight", (vocab, d), 1
    for n in range(layers):
        p = f"model.layers.{n}."
        yield p + "input_layernorm.weight", (d,), 0
        yield p + "self_attn.q_proj.weight", (d, d), d ** -0.5
        yield p + "self_attn.k_proj.weight", (kv, d), d ** -0.5
        yield p + "self_attn.v_proj.weight", (kv, d), d ** -0.5
        yield p + "self_attn.o_proj.weight", (d, d), d ** -0.5
        yield p + "post_attention_layernorm.weight", (d,), 0
        yield p + "mlp.gate_proj.weight", (d_ff, d), d ** -0.5
        yield p + "mlp.up_proj.weight", (d_ff, d), d ** -0.5
        yield p + "mlp.down_proj.weight", (d, d_ff), d_ff ** -0.5
    yield "model.norm.weight", (d,), 0
    yield "lm_head.weight", (vocab, d), 3 * d ** -0.5


def config_of(shape, layers):
    d, _, heads, kv_heads, d_ff, vocab, theta = LLAMAS[shape]
    return {"architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": d, "num_hidden_layers": layers,
            "num_attention_heads": heads, "num_key_value_heads": kv_heads, "intermediate_size": d_ff, "vocab_size": vocab,
            "max_position_embeddings": 8192, "rms_norm_eps": 1e-5, "rope_theta": theta, "hidden_act": "silu",
            "tie_word_embeddings": False, "bos_token_id": 1, "eos_token_id": 2, "torch_dtype": "bfloat16"}


# ---- numbers ----

def numbers(shape, name, dims, scale):
    """bf16, as uint16, some at a time: the same for a name in every run and for any number of layers."""
    rng = np.random.default_rng(zlib.crc32(f"{shape}/{name}".encode()))
    left = int(np.prod(dims))
    while left:
        n = min(left, PIECE)
        x = rng.standard_normal(n, dtype=np.float32)
        x = 1 + np.float32(0.1) * x if scale == 0 else np.float32(scale) * x
        yield (x.view(np.uint32) >> 16).astype(np.uint16)
        left -= n


# ---- a folder ----

def write_shard(path, shape, tensors):
    head, at = {"__metadata__": {"format": "pt"}}, 0
    for name, dims, _ in tensors:
        end = at + 2 * int(np.prod(dims))
        head[name] = {"dtype": "BF16", "shape": list(dims), "data_offsets": [at, end]}
        at = end
    text = json.dumps(head).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as f:
        f.write(struct.pack("<Q", len(text)) + text)
        for tensor in tensors:
            for piece in numbers(shape, *tensor):
                f.write(piece.tobytes())


def write_folder(shape, folder, layers):
    os.makedirs(folder)
    shards, bytes_of_last = [[]], 0
    for tensor in list(llama_tensors(shape, layers)):
        size = 2 * int(np.prod(tensor[1]))
        if bytes_of_last + size > SHARD and shards[-1]:
            shards.append([])
            bytes_of_last = 0
        shards[-1].append(tensor)
        bytes_of_last += size
    index = {}
    for i, shard in enumerate(shards):
        name = "model.safetensors" if len(shards) == 1 else f"model-{i + 1:05}-of-{len(shards):05}.safetensors"
        write_shard(os.path.join(folder, name), shape, shard)
        index.update({tensor[0]: name for tensor in shard})
    if len(shards) > 1:
        with open(os.path.join(folder, "model.safetensors.index.json"), "w") as f:
            json.dump({"metadata": {}, "weight_map": index}, f)
    with open(os.path.join(folder, "config.json"), "w") as f:
        json.dump(config_of(shape, layers), f, indent=1)


# ---- a GGUF file ----

GGUF_NAMES = {"self_attn.q_proj": "attn_q", "self_attn.k_proj": "attn_k", "self_attn.v_proj": "attn_v",
              "self_attn.o_proj": "attn_output", "mlp.gate_proj": "ffn_gate", "mlp.up_proj": "ffn_up", "mlp.down_proj": "ffn_down",
              "input_layernorm": "attn_norm", "post_attention_layernorm": "ffn_norm", "model.embed_tokens": "token_embd",
              "model.norm": "output_norm", "lm_head": "output"}


def gguf_name(name):
    words = name.removesuffix(".weight")
    if not words.startswith("model.layers."):
        return GGUF_NAMES[words] + ".weight"
    n, part = words.removeprefix("model.layers.").split(".", 1)
    return f"blk.{n}.{GGUF_NAMES[part]}.weight"


def text(s):
    return struct.pack("<Q", len(s)) + s.encode()


def key(name, value):
    """u32, f32 or a text."""
    if isinstance(value, int):
        return text(name) + struct.pack("<II", 4, value)
    if isinstance(value, float):
        return text(name) + struct.pack("<If", 6, value)
    return text(name) + struct.pack("<I", 8) + text(value)


def blocks(shape, name, dims, scale):
    """Random blocks of Q4_0, 18 bytes for 32 numbers: a factor and places from -8 to 7, whose mean square is 21.5."""
    rng = np.random.default_rng(zlib.crc32(f"{shape}/{name}".encode()))
    left = int(np.prod(dims)) // 32
    while left:
        n = min(left, PIECE // 32)
        b = rng.integers(0, 256, (n, 18), dtype=np.uint8)
        b[:, :2] = (rng.uniform(0.5, 1.5, n) * (scale / 21.5 ** 0.5)).astype("<f2").view(np.uint8).reshape(n, 2)
        yield b
        left -= n


def write_gguf(shape, path, layers):
    d, _, heads, kv_heads, d_ff, vocab, theta = LLAMAS[shape]
    keys = {"general.architecture": "llama", "general.name": shape, "general.file_type": 2, "llama.context_length": 8192,
            "llama.embedding_length": d, "llama.block_count": layers, "llama.feed_forward_length": d_ff,
            "llama.attention.head_count": heads, "llama.attention.head_count_kv": kv_heads,
            "llama.attention.layer_norm_rms_epsilon": 1e-5, "llama.rope.dimension_count": d // heads,
            "llama.rope.freq_base": theta, "llama.vocab_size": vocab, "tokenizer.ggml.model": "none"}
    tensors, infos, at = list(llama_tensors(shape, layers)), b"", 0
    for name, dims, _ in tensors:
        count = int(np.prod(dims))
        infos += text(gguf_name(name)) + struct.pack("<I", len(dims)) + b"".join(struct.pack("<Q", n) for n in reversed(dims))
        infos += struct.pack("<IQ", 2 if len(dims) == 2 else 0, at)
        at += (count // 32 * 18 if len(dims) == 2 else 4 * count) + 31 & ~31
    head = struct.pack("<IIQQ", 0x46554747, 3, len(tensors), len(keys)) + b"".join(key(*item) for item in keys.items()) + infos
    with open(path, "wb") as f:
        f.write(head + bytes(-len(head) % 32))
        for name, dims, scale in tensors:
            begin = f.tell()
            if len(dims) == 2:
                for piece in blocks(shape, name, dims, scale):
                    f.write(piece.tobytes())
            else:
                for piece in numbers(shape, name, dims, scale):
                    f.write((piece.astype(np.uint32) << 16).tobytes())
            f.write(bytes(-(f.tell() - begin) % 32))


def main():
    words = sys.argv[1:]
    gguf = words[:1] == ["--gguf"]
    words = words[gguf:]
    if len(words) not in (2, 3) or words[0] not in LLAMAS:
        sys.exit(__doc__)
    layers = int(words[2]) if len(words) == 3 else LLAMAS[words[0]][1]
    (write_gguf if gguf else write_folder)(words[0], words[1], layers)


main()
