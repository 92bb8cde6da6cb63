"""An encoder-decoder Transformer in PyTorch: the reference for xformc.

Shapes: B sequences of S source and T target ids; D = d_model; H heads.
Tensor names are those of the Annotated Transformer's state dict.  There is no
dropout.  A mask is True where a query may attend.
"""

import math
from dataclasses import dataclass

import torch
from torch import nn
from torch.nn import functional


@dataclass
class Config:
    source_vocab: int
    target_vocab: int
    layers: int = 2
    heads: int = 4
    d_model: int = 64
    d_ff: int = 256
    head_dim: int = 0            # 0: d_model / heads
    value_dim: int = 0           # 0: d_model / heads
    norm: str = "annotated"      # or "layer"
    norm_at: str = "pre"         # or "post"
    final_norm: bool = None      # None: true for pre, false for post
    position_layout: str = "interleaved"   # or "halves"
    position_divisor: str = "d/2"          # or "d/2-1"
    position_first: int = 0

    def __post_init__(self):
        if not (self.head_dim and self.value_dim) and self.d_model % self.heads:
            raise ValueError(f"d_model {self.d_model} is not a multiple of heads {self.heads}")
        self.head_dim = self.head_dim or self.d_model // self.heads
        self.value_dim = self.value_dim or self.d_model // self.heads
        if self.final_norm is None:
            self.final_norm = self.norm_at == "pre"


class Trace:
    """Keeps intermediate tensors by name; Trace(None) keeps nothing."""

    def __init__(self, found=None, prefix=""):
        self.found, self.prefix = found, prefix

    def under(self, name):
        return Trace(self.found, f"{self.prefix}{name}.")

    def keep(self, name, tensor):
        if self.found is not None:
            self.found[self.prefix + name] = tensor
        return tensor


class AnnotatedNorm(nn.Module):
    """a_2 * (x - mean) / (std + eps) + b_2; std divides by n - 1, and eps is outside the root."""

    def __init__(self, width, eps=1e-6):
        super().__init__()
        self.a_2 = nn.Parameter(torch.ones(width))
        self.b_2 = nn.Parameter(torch.zeros(width))
        self.eps = eps

    def forward(self, x):
        """[..., D] -> [..., D]"""
        centred = x - x.mean(-1, keepdim=True)
        variance = (centred * centred).sum(-1, keepdim=True) / (x.shape[-1] - 1)
        return self.a_2 * (centred / (variance.sqrt() + self.eps)) + self.b_2


def make_norm(config):
    kinds = {"annotated": AnnotatedNorm, "layer": nn.LayerNorm}
    return kinds[config.norm](config.d_model)


class Attention(nn.Module):
    """Multi-head attention; linears 0..3 are query, key, value, out."""

    def __init__(self, config):
        super().__init__()
        self.heads = config.heads
        self.scale = 1 / math.sqrt(config.head_dim)
        keys, values = config.heads * config.head_dim, config.heads * config.value_dim
        self.linears = nn.ModuleList([
            nn.Linear(config.d_model, keys), nn.Linear(config.d_model, keys),
            nn.Linear(config.d_model, values), nn.Linear(values, config.d_model)])

    def split(self, x):
        """[B, N, H*d] -> [B, H, N, d]"""
        return x.unflatten(-1, (self.heads, -1)).transpose(1, 2)

    def traced(self, q, k, v, mask, trace):
        """scaled_dot_product_attention step by step; masked entries are kept as 0."""
        products = q @ k.transpose(2, 3)
        scores = products * self.scale
        if mask is not None:
            scores = scores.masked_fill(~mask, -math.inf)
        trace.keep("scores", products.masked_fill(scores.isinf(), 0))  # before scaling
        return trace.keep("weights", scores.softmax(-1)) @ v

    def forward(self, x, memory, mask, trace):
        """x [B, Nq, D], memory [B, Nk, D], mask [.., .., Nq or 1, Nk] or None -> [B, Nq, D]"""
        q = trace.keep("q", self.linears[0](x))
        k = trace.keep("k", self.linears[1](memory))
        v = trace.keep("v", self.linears[2](memory))
        q, k, v = self.split(q), self.split(k), self.split(v)
        if trace.found is None:
            mixed = functional.scaled_dot_product_attention(q, k, v, mask)
        else:
            mixed = self.traced(q, k, v, mask, trace)
        mixed = mixed.transpose(1, 2).flatten(2)
        return trace.keep("out", self.linears[3](mixed))


class FeedForward(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.w_1 = nn.Linear(config.d_model, config.d_ff)
        self.w_2 = nn.Linear(config.d_ff, config.d_model)

    def forward(self, x):
        """[B, N, D] -> [B, N, D]"""
        return self.w_2(self.w_1(x).relu())


class Sublayer(nn.Module):
    """The residual around a sublayer: x + f(norm(x)), or norm(x + f(x))."""

    def __init__(self, config):
        super().__init__()
        self.norm = make_norm(config)
        self.pre = config.norm_at == "pre"

    def forward(self, x, name, f, trace):
        if self.pre:
            return x + f(trace.keep(name, self.norm(x)))
        return trace.keep(name, self.norm(x + f(x)))


class EncoderLayer(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.self_attn = Attention(config)
        self.feed_forward = FeedForward(config)
        self.sublayer = nn.ModuleList(Sublayer(config) for _ in range(2))

    def forward(self, x, mask, trace):
        """x [B, S, D], mask [B, 1, 1, S] or None"""
        x = self.sublayer[0](x, "norm.0", lambda y: self.self_attn(
            y, y, mask, trace.under("self_attn")), trace)
        return self.sublayer[1](x, "norm.1", lambda y: trace.keep(
            "ffn", self.feed_forward(y)), trace)


class DecoderLayer(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.self_attn = Attention(config)
        self.src_attn = Attention(config)
        self.feed_forward = FeedForward(config)
        self.sublayer = nn.ModuleList(Sublayer(config) for _ in range(3))

    def forward(self, x, memory, causal, padding, trace):
        """x [B, T, D], memory [B, S, D], causal [T, T], padding [B, 1, 1, S] or None"""
        x = self.sublayer[0](x, "norm.0", lambda y: self.self_attn(
            y, y, causal, trace.under("self_attn")), trace)
        x = self.sublayer[1](x, "norm.1", lambda y: self.src_attn(
            y, memory, padding, trace.under("cross_attn")), trace)
        return self.sublayer[2](x, "norm.2", lambda y: trace.keep(
            "ffn", self.feed_forward(y)), trace)


class Stack(nn.Module):
    """The layers of one side and, if there is one, its final norm."""

    def __init__(self, config, layer):
        super().__init__()
        self.layers = nn.ModuleList(layer(config) for _ in range(config.layers))
        self.norm = make_norm(config) if config.final_norm else None

    def forward(self, x, *inputs, trace):
        for n, layer in enumerate(self.layers):
            x = layer(x, *inputs, trace.under(str(n)))
        return trace.keep("norm", self.norm(x)) if self.norm else x


def positions(config, count):
    """Sinusoids [count, D]: sin and cos of angles; rates and angles are rounded to f32."""
    half = config.d_model // 2
    divisor = half if config.position_divisor == "d/2" else half - 1
    rates = torch.exp(torch.arange(half, dtype=torch.float64) * (-math.log(10000) / divisor)).float()
    place = torch.arange(count).float() + config.position_first
    angles = (place[:, None] * rates).double()
    axis = 2 if config.position_layout == "interleaved" else 1
    return torch.stack((angles.sin(), angles.cos()), axis).flatten(1).float()


class Embedding(nn.Module):
    """A row of the table times sqrt(D), plus the position."""

    def __init__(self, config, symbols):
        super().__init__()
        self.config = config
        self.lut = nn.Embedding(symbols, config.d_model)
        self.table = positions(config, 128)

    def forward(self, ids):
        """[B, N] -> [B, N, D]"""
        if ids.shape[1] > len(self.table):
            self.table = positions(self.config, ids.shape[1])
        x = self.lut(ids) * math.sqrt(self.config.d_model)
        return x + self.table[:ids.shape[1]].to(x.dtype)


class Generator(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.proj = nn.Linear(config.d_model, config.target_vocab)

    def forward(self, x):
        """[B, T, D] -> logits [B, T, V], without a log-softmax"""
        return self.proj(x)


class Transformer(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.config = config
        self.src_embed = nn.Sequential(Embedding(config, config.source_vocab))
        self.tgt_embed = nn.Sequential(Embedding(config, config.target_vocab))
        self.encoder = Stack(config, EncoderLayer)
        self.decoder = Stack(config, DecoderLayer)
        self.generator = Generator(config)

    def initialise(self, rng):
        """Xavier uniform for tensors of rank >= 2; biases of linears uniform within
        +-1/sqrt(fan_in); norms stay."""
        for parameter in self.parameters():
            if parameter.dim() >= 2:
                nn.init.xavier_uniform_(parameter, generator=rng)
        for module in self.modules():
            if isinstance(module, nn.Linear):
                bound = 1 / math.sqrt(module.in_features)
                nn.init.uniform_(module.bias, -bound, bound, generator=rng)

    def encode(self, source, padding=None, trace=Trace()):
        """source [B, S], padding [B, S] True where real, or None -> [B, S, D]"""
        mask = None if padding is None else padding[:, None, None, :]
        return self.encoder(self.src_embed(source), mask, trace=trace.under("encoder"))

    def decode(self, memory, target, padding=None, trace=Trace()):
        """memory [B, S, D], target [B, T] -> logits [B, T, V]"""
        mask = None if padding is None else padding[:, None, None, :]
        length = target.shape[1]
        causal = torch.ones(length, length, dtype=torch.bool).tril()
        x = self.decoder(self.tgt_embed(target), memory, causal, mask, trace=trace.under("decoder"))
        return trace.keep("logits", self.generator(x))

    def forward(self, source, target, padding=None, trace=Trace()):
        return self.decode(self.encode(source, padding, trace), target, padding, trace)


@torch.no_grad()
def greedy(model, source, start, end, max_target, padding=None):
    """source [B, S] -> (B lists of ids after start, up to and including end, at most
    max_target - 1; the smallest gap between the two best logits over every step taken)"""
    memory = model.encode(source, padding)
    ids = torch.full((len(source), 1), start)
    going = torch.ones(len(source), dtype=torch.bool)
    gap = math.inf
    while ids.shape[1] < max_target and going.any():
        logits = model.decode(memory, ids, padding)[:, -1]
        best = logits.topk(2).values[going]
        gap = min(gap, (best[:, 0] - best[:, 1]).min().item())
        ids = torch.cat([ids, logits.argmax(-1, keepdim=True)], 1)
        going &= ids[:, -1] != end
    rows = [row[1:] for row in ids.tolist()]
    return [row[:row.index(end) + 1] if end in row else row for row in rows], gap
