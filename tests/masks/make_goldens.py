"""Write goldens for masks and biases of g.attention, using F.scaled_dot_product_attention with a
float attn_mask.

    python make_goldens.py          # needs torch and safetensors; the same bytes each time

Each NAME.ref.safetensors has the inputs of NAME.lua and the results, computed in f64 from these f32
numbers and rounded to f32 at the end. A row whose keys are all -inf gives zeros."""
import math
from pathlib import Path

import torch
import torch.nn.functional as F
from safetensors.torch import save_file

HERE = Path(__file__).parent
INF = float("inf")


def rows(generator, n, width):
    return torch.randn(n, width, generator=generator)


def split(x, heads):
    """[n, heads * k] -> [heads, n, k], f64"""
    return x.double().view(x.shape[0], heads, -1).transpose(0, 1)


def golden(name, seed, queries, keys, heads, kv_heads, d_k, d_v, bias, mask=None, causal=False):
    """bias: [queries, keys] or [heads, queries, keys], or None."""
    g = torch.Generator().manual_seed(seed)
    q, k, v = rows(g, queries, heads * d_k), rows(g, keys, kv_heads * d_k), rows(g, keys, kv_heads * d_v)
    share = heads // kv_heads
    Q, K, V = split(q, heads), split(k, kv_heads), split(v, kv_heads)
    K, V = K.repeat_interleave(share, 0), V.repeat_interleave(share, 0)
    added = torch.zeros(heads, queries, keys, dtype=torch.double)
    if bias is not None:
        added = added + bias.double()
    if mask is not None:
        added = added.masked_fill(mask == 0, -INF)
    if causal:
        added = added.masked_fill(torch.ones(queries, keys).tril() == 0, -INF)
    out = F.scaled_dot_product_attention(Q[None], K[None], V[None], attn_mask=added[None])[0]
    weights = torch.softmax(Q @ K.transpose(1, 2) / math.sqrt(d_k) + added, -1).nan_to_num(0.0)
    assert not out.isnan().any()
    assert torch.allclose(out, weights @ V)
    tensors = {"q": q, "k": k, "v": v, "weights": weights, "out": out.transpose(0, 1).reshape(queries, -1)}
    if bias is not None:
        tensors["bias"] = bias
    if mask is not None:
        tensors["mask"] = mask
    save_file({n: t.float().contiguous() for n, t in tensors.items()}, HERE / f"{name}.ref.safetensors")


def holes(generator, *shape):
    """Random numbers, a quarter of them -inf, and one whole row of -inf."""
    bias = torch.randn(*shape, generator=generator)
    bias[torch.rand(*shape, generator=generator) < 0.25] = -INF
    bias[..., 2, :] = -INF
    return bias


def alibi(heads, n):
    """Press et al., 2021: slope 2^(-8h/heads) times the distance; future keys are masked."""
    slopes = torch.tensor([2 ** (-8 * (h + 1) / heads) for h in range(heads)])
    place = torch.arange(n)
    bias = -slopes[:, None, None] * (place[:, None] - place[None, :]).clamp(min=0)
    return bias.masked_fill(place[None, :] > place[:, None], -INF)


def distances(heads, n):
    """T5's bias: a number for each head and distance."""
    table = torch.randn(heads, 2 * n - 1, generator=torch.Generator().manual_seed(9))
    place = torch.arange(n)
    return table[:, place[None, :] - place[:, None] + n - 1]


def main():
    g = torch.Generator().manual_seed(1)
    golden("float_mask", 2, 13, 19, 3, 3, 5, 7, holes(g, 13, 19))
    golden("by_head", 3, 5, 33, 4, 2, 8, 16, holes(g, 4, 5, 33))
    golden("alibi", 4, 17, 17, 4, 4, 6, 6, alibi(4, 17))
    golden("t5_causal", 5, 11, 11, 2, 1, 16, 3, distances(2, 11), causal=True)
    golden("mask_and_bias", 6, 7, 16, 2, 2, 4, 4, holes(g, 2, 7, 16), (torch.rand(7, 16, generator=g) < 0.7).float())
    golden("mask_alone", 7, 4, 31, 3, 3, 3, 20, None, (torch.rand(4, 31, generator=g) < 0.5).float())
    golden("one", 8, 1, 1, 1, 1, 1, 1, torch.tensor([[-2.5]]))


main()
