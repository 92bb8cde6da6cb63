"""A Llama-like decoder-only Transformer in PyTorch: RMS norm, rotary positions, SwiGLU, grouped
queries.

Shapes: B sequences of T ids; D = d_model; H query heads and G key heads of K columns.
"""

from dataclasses import dataclass

import torch
from torch import nn
from torch.nn import functional


@dataclass
class Config:
    vocab: int
    layers: int = 3
    heads: int = 4
    kv_heads: int = 2
    d_model: int = 64
    d_ff: int = 160
    theta: float = 10000.0
    eps: float = 1e-5


class RMSNorm(nn.Module):
    """x / sqrt(mean(x^2) + eps) * weight"""

    def __init__(self, width, eps):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))
        self.eps = eps

    def forward(self, x):
        return x * torch.rsqrt((x * x).mean(-1, keepdim=True) + self.eps) * self.weight


def turn(x, theta):
    """Rotary positions: rotate columns i and i + K/2 of x [B, heads, T, K] by position *
    theta^(-2i/K)."""
    steps, width = x.shape[2], x.shape[3]
    rates = theta ** (-torch.arange(0, width, 2, dtype=torch.float32) / width)
    angles = torch.arange(steps, dtype=torch.float32)[:, None] * rates
    cos, sin = angles.cos(), angles.sin()
    a, b = x[..., :width // 2], x[..., width // 2:]
    return torch.cat([a * cos - b * sin, b * cos + a * sin], -1)


class Attention(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.c, self.width = c, c.d_model // c.heads
        self.q = nn.Linear(c.d_model, c.heads * self.width, bias=False)
        self.k = nn.Linear(c.d_model, c.kv_heads * self.width, bias=False)
        self.v = nn.Linear(c.d_model, c.kv_heads * self.width, bias=False)
        self.out = nn.Linear(c.heads * self.width, c.d_model, bias=False)

    def forward(self, x):
        batch, steps, _ = x.shape

        def heads(y, n):
            return y.view(batch, steps, n, self.width).transpose(1, 2)
        q = turn(heads(self.q(x), self.c.heads), self.c.theta)
        k = turn(heads(self.k(x), self.c.kv_heads), self.c.theta)
        v = heads(self.v(x), self.c.kv_heads)
        group = self.c.heads // self.c.kv_heads
        k, v = k.repeat_interleave(group, 1), v.repeat_interleave(group, 1)
        y = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.out(y.transpose(1, 2).reshape(batch, steps, -1))


class FeedForward(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.gate = nn.Linear(c.d_model, c.d_ff, bias=False)
        self.up = nn.Linear(c.d_model, c.d_ff, bias=False)
        self.down = nn.Linear(c.d_ff, c.d_model, bias=False)

    def forward(self, x):
        return self.down(functional.silu(self.gate(x)) * self.up(x))


class Layer(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.norm_0, self.self_attn = RMSNorm(c.d_model, c.eps), Attention(c)
        self.norm_1, self.ffn = RMSNorm(c.d_model, c.eps), FeedForward(c)

    def forward(self, x):
        x = x + self.self_attn(self.norm_0(x))
        return x + self.ffn(self.norm_1(x))


class Decoder(nn.Module):
    """ids [B, T] -> logits [B, T, vocab]; the output layer's weights are the embedding."""

    def __init__(self, c):
        super().__init__()
        self.embed = nn.Embedding(c.vocab, c.d_model)
        self.layers = nn.ModuleList(Layer(c) for _ in range(c.layers))
        self.norm = RMSNorm(c.d_model, c.eps)

    def forward(self, ids):
        x = self.embed(ids)
        for layer in self.layers:
            x = layer(x)
        return functional.linear(self.norm(x), self.embed.weight)

    def initialise(self, generator):
        for p in self.parameters():
            if p.dim() >= 2:
                nn.init.normal_(p, std=p.shape[1] ** -0.5, generator=generator)


def file_names(state):
    """The name of each tensor here, and in a spec's weights file: decoder.0.self_attn.q.weight,
    ..."""
    whole = {"embed.weight": "decoder.embed.table", "norm.weight": "decoder.norm.gain"}

    def named(name):
        parts = name.split(".")
        if name in whole:
            return whole[name]
        if parts[2].startswith("norm_"):
            return f"decoder.{parts[1]}.norm.{parts[2][5:]}.gain"
        return "decoder." + ".".join(parts[1:])
    return {name: named(name) for name in state}


@torch.no_grad()
def greedy(model, prompt, end, most):
    """The ids after each of the prompts of equal length [B, T], up to `most`, with the end id; and
    the smallest gap between the two best logits."""
    ids, done, smallest = prompt, torch.zeros(len(prompt), dtype=torch.bool), float("inf")
    for _ in range(most):
        two = model(ids)[:, -1].topk(2)
        gap = (two.values[:, 0] - two.values[:, 1])[~done]
        if len(gap):
            smallest = min(smallest, gap.min().item())
        ids = torch.cat([ids, two.indices[:, :1]], 1)
        done |= two.indices[:, 0] == end
        if done.all():
            break
    rows = []
    for row in ids[:, prompt.shape[1]:].tolist():
        rows.append(row[:row.index(end) + 1] if end in row else row)
    return rows, smallest
