"""Shapes of the benchmarked models, and their random weights.

Every tensor of a Llama shape has its own seed, made from the names of the model and the tensor, so
that each writer (Hugging Face folder, GGUF, CTranslate2) can make the same numbers, one tensor at a
time.
"""

import zlib
from collections import namedtuple

import numpy as np

Llama = namedtuple("Llama", "name d_model layers heads kv_heads d_ff vocab tied max_len")
Bert = namedtuple("Bert", "name d_model layers heads d_ff vocab activation max_len")

LLAMAS = {s.name: s for s in [
    Llama("llama_260k", 64, 5, 8, 4, 172, 512, True, 512),
    Llama("llama_15m", 288, 6, 6, 6, 768, 32000, True, 512),
    Llama("llama_1b", 2048, 22, 32, 4, 5632, 32000, False, 512),
    Llama("llama_8b", 4096, 32, 32, 8, 14336, 128256, False, 2048),
]}
# Shapes that tests/large/programs/make_model.c makes, as a Q4_0 file only.
FILES = {"llama_8b"}
# Shapes too large to be computed in f32 for comparison.
TOO_LARGE = {"llama_1b", "llama_8b"}
BERTS = {s.name: s for s in [
    Bert("encoder_base", 512, 6, 8, 2048, 32000, "relu", 128),      # the paper's base model
    Bert("encoder_bert", 768, 12, 12, 3072, 30522, "gelu", 512),
    Bert("encoder_minilm", 384, 6, 12, 1536, 30522, "gelu", 512),
]}
EPS = 1e-5


def an_id(i, vocab):
    """Id i of those that every worker reads, as in peer_worker.h."""
    return i * 2654435761 % (1 << 32) % vocab


def random(shape, tensor, dims, scale):
    """f32 [dims], normal with standard deviation `scale`."""
    rng = np.random.default_rng(zlib.crc32(f"{shape.name}/{tensor}".encode()))
    return rng.standard_normal(dims, dtype=np.float32) * np.float32(scale)


def gain(shape, tensor, width):
    return 1 + random(shape, tensor, (width,), 0.1)


def llama_parts(s):
    """(name in a Hugging Face folder, function that makes it) in execution order; linears are [out,
    in]"""
    head = s.d_model // s.heads
    sizes = {"self_attn.q_proj": (s.heads * head, s.d_model), "self_attn.k_proj": (s.kv_heads * head, s.d_model),
             "self_attn.v_proj": (s.kv_heads * head, s.d_model), "self_attn.o_proj": (s.d_model, s.heads * head),
             "mlp.gate_proj": (s.d_ff, s.d_model), "mlp.up_proj": (s.d_ff, s.d_model), "mlp.down_proj": (s.d_model, s.d_ff)}

    def matrix(name, dims, scale):
        return name, lambda: random(s, name, dims, scale)

    def norm(name):
        return name, lambda: gain(s, name, s.d_model)

    yield matrix("model.embed_tokens.weight", (s.vocab, s.d_model), 2 / s.d_model ** 0.5)
    for n in range(s.layers):
        layer = f"model.layers.{n}"
        yield norm(f"{layer}.input_layernorm.weight")
        for part, dims in sizes.items():
            if part == "mlp.gate_proj":
                yield norm(f"{layer}.post_attention_layernorm.weight")
            yield matrix(f"{layer}.{part}.weight", dims, dims[1] ** -0.5)
    yield norm("model.norm.weight")
    if not s.tied:
        yield matrix("lm_head.weight", (s.vocab, s.d_model), 2 / s.d_model ** 0.5)
