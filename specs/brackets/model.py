"""A BERT-like encoder-only classifier in PyTorch: learned positions, post-norm, GELU, a label from
the first token.

Shapes: B texts of T ids; D = d_model; H heads.
"""

from dataclasses import dataclass

import torch
from torch import nn
from torch.nn import functional


@dataclass
class Config:
    vocab: int
    labels: int = 2
    layers: int = 3
    heads: int = 4
    d_model: int = 64
    d_ff: int = 128
    longest: int = 17
    eps: float = 1e-12


class Attention(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.heads = c.heads
        self.q, self.k, self.v, self.out = (nn.Linear(c.d_model, c.d_model) for _ in range(4))

    def forward(self, x, seen):
        """seen [B, 1, 1, T]: which tokens are real."""
        batch, steps, width = x.shape

        def heads(y):
            return y.view(batch, steps, self.heads, width // self.heads).transpose(1, 2)
        y = functional.scaled_dot_product_attention(heads(self.q(x)), heads(self.k(x)), heads(self.v(x)), attn_mask=seen)
        return self.out(y.transpose(1, 2).reshape(batch, steps, width))


class Layer(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.self_attn = Attention(c)
        self.norm_0, self.norm_1 = nn.LayerNorm(c.d_model, c.eps), nn.LayerNorm(c.d_model, c.eps)
        self.up, self.down = nn.Linear(c.d_model, c.d_ff), nn.Linear(c.d_ff, c.d_model)

    def forward(self, x, seen):
        x = self.norm_0(x + self.self_attn(x, seen))
        return self.norm_1(x + self.down(functional.gelu(self.up(x))))


class Classifier(nn.Module):
    """ids [B, T] -> logits [B, labels], from the first token's hidden state."""

    def __init__(self, c):
        super().__init__()
        self.embed, self.position = nn.Embedding(c.vocab, c.d_model), nn.Embedding(c.longest, c.d_model)
        self.embed_norm = nn.LayerNorm(c.d_model, c.eps)
        self.layers = nn.ModuleList(Layer(c) for _ in range(c.layers))
        self.head = nn.Linear(c.d_model, c.labels)

    def forward(self, ids, pad):
        seen = (ids != pad)[:, None, None]
        x = self.embed_norm(self.embed(ids) + self.position.weight[:ids.shape[1]])
        for layer in self.layers:
            x = layer(x, seen)
        return self.head(x[:, 0])

    def initialise(self, generator):
        for p in self.parameters():
            if p.dim() >= 2:
                nn.init.normal_(p, std=p.shape[1] ** -0.5, generator=generator)


def file_names(state):
    """The name of each tensor here, and its name in a spec's weights file."""
    whole = {"embed.weight": "encoder.embed.table", "position.weight": "encoder.position.table"}

    def named(name):
        if name in whole:
            return whole[name]
        kind = {"weight": "gain", "bias": "bias"}
        parts = name.split(".")
        if parts[0] == "embed_norm":
            return "encoder.embed.norm." + kind[parts[1]]
        if parts[0] == "head":
            return "head.0." + parts[1]
        if parts[2].startswith("norm_"):
            return f"encoder.{parts[1]}.norm.{parts[2][5:]}.{kind[parts[3]]}"
        if parts[2] in ("up", "down"):
            return f"encoder.{parts[1]}.ffn.{parts[2]}.{parts[3]}"
        return "encoder." + ".".join(parts[1:])
    return {name: named(name) for name in state}
