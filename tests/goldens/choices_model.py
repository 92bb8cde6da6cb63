"""A Transformer in PyTorch with every choice that a spec can make: the reference for xformc.

A spec is a dict with the fields of compiler/model/fields.def. Names of the state dict are
xformc's canonical ones. Shapes: B sequences of N ids, M keys; D = d_model; H heads, G key and
value heads. A mask is True where a query may attend.
"""

import math
from types import SimpleNamespace

import torch
from torch import nn
from torch.nn import functional

from model import Trace

DEFAULTS = dict(
    kind="encoder-decoder", pooling="none", head={}, normalize=False, token_types=0,
    tied=False, output_bias=True, log_softmax=True, start_id=1, end_id=2,
    logit_scale=1, logit_softcap=0, norm="annotated", norm_eps=None, norm_at="pre", norm_gain="plain", final_norm=None, embed_norm=False,
    embed_scale=None, position="sinusoidal", position_layout="interleaved",
    position_divisor="d/2", position_first=0, rel_buckets=32, rel_distance=128,
    rope=True, rope_theta=10000, rope_dims=None, rope_layout="halves", rope_scaling="none",
    window=0, causal=False, attention_softcap=0, qk_norm=False, parallel=False, kv_heads=None, head_dim=None, value_dim=None, attention_scale=None,
    qkv_bias=True, out_bias=True, ffn_bias=True, gated=False, activation="relu")

ACTIVATIONS = {
    "none": lambda x: x,
    "relu": torch.relu,
    "gelu": functional.gelu,
    "gelu_tanh": lambda x: functional.gelu(x, approximate="tanh"),
    "quick_gelu": lambda x: x * torch.sigmoid(1.702 * x),
    "silu": functional.silu,
    "tanh": torch.tanh,
    "sigmoid": torch.sigmoid,
    "relu2": lambda x: torch.relu(x).square(),
}


def first_given(*values):
    return next(value for value in values if value is not None)


def stack_choices(spec, side):
    """The fields of one stack; those of its own table win. Lists stay lists."""
    given = {key: value for key, value in spec.items() if key not in ("encoder", "decoder")}
    s = SimpleNamespace(**DEFAULTS | given | spec.get(side, {}))
    s.norm_eps = first_given(s.norm_eps, 1e-6 if s.norm == "annotated" else 1e-5)
    s.final_norm = first_given(s.final_norm, s.norm_at != "post")
    s.embed_scale = first_given(s.embed_scale, math.sqrt(s.d_model))
    s.length = s.max_source if side == "encoder" else s.max_target
    return s


def of_layer(key, value, n):
    """Lists repeat; the numbers in rope_..._factor lists are one value."""
    one = key in ("rope_short_factor", "rope_long_factor") and not isinstance(value[0], list)
    return value[n % len(value)] if isinstance(value, list) and not one else value


def layer_choices(stack, n):
    """The fields of layer n"""
    f = SimpleNamespace(**{key: of_layer(key, value, n) for key, value in vars(stack).items()})
    f.kv_heads = first_given(f.kv_heads, f.heads)
    f.head_dim = first_given(f.head_dim, f.d_model // f.heads)
    f.value_dim = first_given(f.value_dim, f.head_dim)
    f.rope_dims = first_given(f.rope_dims, f.head_dim)
    f.attention_scale = first_given(f.attention_scale, 1 / math.sqrt(f.head_dim))
    return f


class Table(nn.Module):
    def __init__(self, rows, columns):
        super().__init__()
        self.table = nn.Parameter(torch.empty(rows, columns))


def capped(x, scale, cap):
    return cap * torch.tanh(scale * x / cap) if cap else scale * x


class HeadNorm(nn.Module):
    """RMS over each head"""

    def __init__(self, f):
        super().__init__()
        self.eps, self.plus = f.norm_eps, f.norm_gain == "one_plus"
        self.weight = nn.Parameter(torch.empty(f.head_dim))

    def forward(self, x):
        """x [B, N, count*d]"""
        y = x.unflatten(-1, (-1, len(self.weight)))
        return (y / (y.square().mean(-1, keepdim=True) + self.eps).sqrt() * (self.weight + self.plus)).flatten(-2)


class Norm(nn.Module):
    def __init__(self, s):
        super().__init__()
        self.kind, self.eps, self.plus = s.norm, s.norm_eps, s.norm_gain == "one_plus"
        self.gain = nn.Parameter(torch.empty(s.d_model))
        self.bias = None if s.norm == "rms" else nn.Parameter(torch.empty(s.d_model))

    def forward(self, x):
        gain = self.gain + 1 if self.plus else self.gain
        if self.kind == "rms":
            return x / (x.square().mean(-1, keepdim=True) + self.eps).sqrt() * gain
        if self.kind == "layer":
            return functional.layer_norm(x, x.shape[-1:], gain, self.bias, self.eps)
        centred = x - x.mean(-1, keepdim=True)
        std = (centred.square().sum(-1, keepdim=True) / (x.shape[-1] - 1)).sqrt()
        return gain * centred / (std + self.eps) + self.bias


# ---- positions ----

def sinusoids(s):
    """[length, D]: sin and cos of angles; rates and angles are rounded to f32."""
    half = s.d_model // 2
    divisor = half if s.position_divisor == "d/2" else half - 1
    rates = torch.tensor([math.exp(j * (-math.log(10000) / divisor)) for j in range(half)]).float()
    places = torch.arange(s.length).float() + s.position_first
    angles = (places[:, None] * rates).double()
    axis = 2 if s.position_layout == "interleaved" else 1
    return torch.stack((angles.sin(), angles.cos()), axis).flatten(1).float()


ROPE_KEYS = dict(
    rope_theta="rope_theta", rope_factor="factor", rope_original_len="original_max_position_embeddings",
    rope_low_freq_factor="low_freq_factor", rope_high_freq_factor="high_freq_factor",
    rope_beta_fast="beta_fast", rope_beta_slow="beta_slow", rope_truncate="truncate",
    rope_attention_factor="attention_factor", rope_mscale="mscale",
    rope_mscale_all_dim="mscale_all_dim", rope_short_factor="short_factor",
    rope_long_factor="long_factor")


def rotary_rates(f):
    """(rates [rope_dims / 2] in f32, factor of cosines and sines); scaled ones are computed by
    transformers."""
    if f.rope_scaling == "none":
        exponents = torch.arange(0, f.rope_dims, 2).float() / f.rope_dims
        return 1 / f.rope_theta ** exponents, 1.0
    from transformers import LlamaConfig, logging
    from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS
    logging.set_verbosity_error()
    given = {there: getattr(f, here) for here, there in ROPE_KEYS.items() if hasattr(f, here)}
    config = LlamaConfig(hidden_size=f.head_dim, num_attention_heads=1, head_dim=f.head_dim,
                         max_position_embeddings=f.rope_original_len if hasattr(f, "rope_original_len") else 4096,
                         rope_parameters=given | dict(rope_type=f.rope_scaling, partial_rotary_factor=f.rope_dims / f.head_dim))
    return ROPE_INIT_FUNCTIONS[f.rope_scaling](config)


def turn(x, s):
    """x [B, H, N, d]: rotate the first rope_dims columns of row p by p times their pair's rate;
    rates, angles, sines and cosines are rounded to f32."""
    rates, factor = rotary_rates(s)
    angles = (torch.arange(x.shape[2]).float()[:, None] * rates).double()
    cos, sin = ((table.float() * factor).to(x.dtype) for table in (angles.cos(), angles.sin()))
    turned, rest = x[..., :s.rope_dims], x[..., s.rope_dims:]
    if s.rope_layout == "halves":
        a, b = turned.chunk(2, -1)
        turned = torch.cat((a * cos - b * sin, b * cos + a * sin), -1)
    else:
        a, b = turned[..., 0::2], turned[..., 1::2]
        turned = torch.stack((a * cos - b * sin, b * cos + a * sin), -1).flatten(-2)
    return torch.cat((turned, rest), -1)


def buckets(count, s, both_ways):
    """T5's buckets [count, count] of key position minus query position, in f32 like T5."""
    ahead = torch.arange(count)[None, :] - torch.arange(count)[:, None]
    first, n = torch.zeros_like(ahead), s.rel_buckets
    if both_ways:
        n //= 2
        first = (ahead > 0) * n
        away = ahead.abs()
    else:
        away = (-ahead).clamp(min=0)
    exact = n // 2
    logs = torch.log(away.float() / exact) / math.log(s.rel_distance / exact)
    far = (exact + (logs * (n - exact)).clamp(min=0).long()).clamp(max=n - 1)
    return first + torch.where(away < exact, away, far)


# ---- layers ----

class Attention(nn.Module):
    def __init__(self, f, of_self=True):
        super().__init__()
        self.q_norm = HeadNorm(f) if f.qk_norm and of_self else None
        self.k_norm = HeadNorm(f) if f.qk_norm and of_self else None
        self.f = f
        self.q = nn.Linear(f.d_model, f.heads * f.head_dim, f.qkv_bias)
        self.k = nn.Linear(f.d_model, f.kv_heads * f.head_dim, f.qkv_bias)
        self.v = nn.Linear(f.d_model, f.kv_heads * f.value_dim, f.qkv_bias)
        self.out = nn.Linear(f.heads * f.value_dim, f.d_model, f.out_bias)

    def heads(self, x, count):
        """[B, N, count*d] -> [B, H, N, d], keys and values repeated for their queries"""
        x = x.unflatten(-1, (count, -1)).transpose(1, 2)
        return x.repeat_interleave(self.f.heads // count, 1)

    def turned(self, name, x, count, trace):
        """Rotary positions of x [B, N, count*d]"""
        x = turn(x.unflatten(-1, (count, -1)).transpose(1, 2), self.f)
        return trace.keep(name, x.transpose(1, 2).flatten(2))

    def forward(self, x, memory, rotary, bias, mask, trace):
        """x [B, N, D], memory [B, M, D], bias [H, N, M] or None, mask [N, M] or None -> [B, N,
        D]"""
        f = self.f
        if f.window and mask is not None:
            mask = mask & mask.new_ones(mask.shape).triu(1 - f.window)
        q, k = trace.keep("q", self.q(x)), trace.keep("k", self.k(memory))
        v = trace.keep("v", self.v(memory))
        if self.q_norm:
            q, k = trace.keep("q_normed", self.q_norm(q)), trace.keep("k_normed", self.k_norm(k))
        if rotary:
            q = self.turned("q_turned", q, f.heads, trace)
            k = self.turned("k_turned", k, f.kv_heads, trace)
        q, k, v = self.heads(q, f.heads), self.heads(k, f.kv_heads), self.heads(v, f.kv_heads)
        products = q @ k.transpose(2, 3)
        scores = capped(products, f.attention_scale, f.attention_softcap)
        if bias is not None:
            scores = scores + bias
        if mask is not None:
            products, scores = products.masked_fill(~mask, 0), scores.masked_fill(~mask, -math.inf)
        trace.keep("scores", products)
        weights = trace.keep("weights", scores.softmax(-1))
        return trace.keep("out", self.out(trace.keep("context", (weights @ v).transpose(1, 2).flatten(2))))


class FeedForward(nn.Module):
    def __init__(self, f):
        super().__init__()
        self.activation = ACTIVATIONS[f.activation]
        self.gate = nn.Linear(f.d_model, f.d_ff, f.ffn_bias) if f.gated else None
        self.up = nn.Linear(f.d_model, f.d_ff, f.ffn_bias)
        self.down = nn.Linear(f.d_ff, f.d_model, f.ffn_bias)

    def forward(self, x, trace):
        part = trace.under("ffn")
        up = part.keep("up", self.up(x))
        if self.gate is None:
            hidden = self.activation(up)
        else:
            hidden = self.activation(part.keep("gate", self.gate(x))) * up
        return trace.keep("ffn", self.down(part.keep("hidden", hidden)))


class Layer(nn.Module):
    """Self-attention, cross-attention where there is a memory, feed-forward."""

    def __init__(self, f, cross):
        super().__init__()
        self.norm_at, self.rotary, self.parallel = f.norm_at, f.position == "rotary" and f.rope, f.parallel
        self.self_attn = Attention(f)
        self.cross_attn = Attention(f, False) if cross else None
        self.ffn = FeedForward(f)
        self.norm = nn.ModuleList(Norm(f) for _ in range(2 + cross))
        self.norm_after = nn.ModuleList(Norm(f) for _ in range(2 + cross)) if f.norm_at == "both" else None

    def sublayer(self, index, x, function, trace):
        name, norm = f"norm.{index}", self.norm[index]
        if self.norm_at == "pre":
            return x + function(trace.keep(name, norm(x)))
        if self.norm_at == "both":
            return x + trace.keep(f"norm_after.{index}", self.norm_after[index](function(trace.keep(name, norm(x)))))
        return trace.keep(name, norm(x + function(x)))

    def forward(self, x, memory, bias, mask, trace):
        attention = lambda y: self.self_attn(y, y, self.rotary, bias, mask, trace.under("self_attn"))
        if self.parallel:
            first, second = (trace.keep(f"norm.{i}", norm(x)) for i, norm in enumerate(self.norm))
            return x + attention(first) + self.ffn(second, trace)
        x = self.sublayer(0, x, attention, trace)
        if self.cross_attn:
            x = self.sublayer(1, x, lambda y: self.cross_attn(
                y, memory, False, None, None, trace.under("cross_attn")), trace)
        return self.sublayer(len(self.norm) - 1, x, lambda y: self.ffn(y, trace), trace)


class Embed(nn.Module):
    def __init__(self, s, symbols):
        super().__init__()
        self.table = nn.Parameter(torch.empty(symbols, s.d_model))
        self.norm = Norm(s) if s.embed_norm else None


class Stack(nn.Module):
    """One stack, from ids to the output of its last norm."""

    def __init__(self, s, symbols, causal, cross):
        super().__init__()
        self.s, self.causal, self.second = s, causal, None
        self.embed = Embed(s, symbols)
        self.types = Table(s.token_types, s.d_model) if s.token_types and not causal else None
        self.position = Table(s.length, s.d_model) if "learned" in s.position else None
        self.relative = None
        if "relative" in s.position:
            self.relative = Table(s.rel_buckets, layer_choices(s, 0).heads)
        for n in range(s.layers):
            self.add_module(str(n), Layer(layer_choices(s, n), cross))
        self.norm = Norm(s) if s.final_norm else None

    def embedding(self, ids, trace):
        x = trace.keep("embed", self.embed.table[ids] * self.s.embed_scale)
        if self.types:
            second = torch.arange(ids.shape[1]) >= first_given(self.second, ids.shape[1])
            x = trace.keep("embed.types", x + self.types.table[second.long()])
        if self.s.position == "sinusoidal" or "learned" in self.s.position:
            table = self.position.table if self.position else sinusoids(self.s).to(x.dtype)
            x = trace.keep("embed.position", x + table[:ids.shape[1]])
        return trace.keep("embed.norm", self.embed.norm(x)) if self.embed.norm else x

    def is_causal(self, n):
        return self.causal or layer_choices(self.s, n).causal

    def mask(self, n, count):
        """Visible keys up to the row itself, or to the far end of the window; attention handles the
        near end. None: all"""
        window, ones = layer_choices(self.s, n).window, torch.ones(count, count, dtype=torch.bool)
        return ones.tril() if self.is_causal(n) else ones.tril(window - 1) if window else None

    def forward(self, ids, memory, trace):
        """ids [B, N], memory [B, M, D] or None -> [B, N, D]"""
        x, count = self.embedding(ids, trace), ids.shape[1]
        bias = None
        if self.relative:
            places = buckets(count, self.s, both_ways=not self.is_causal(0))
            bias = self.relative.table[places].permute(2, 0, 1)
        for n in range(self.s.layers):
            x = getattr(self, str(n))(x, memory, bias, self.mask(n, count), trace.under(str(n)))
        return trace.keep("norm", self.norm(x)) if self.norm else x


def as_list(value):
    return value if isinstance(value, list) else [value]


def pooled(kind, x):
    """x [B, N, D] -> [B, D], like sentence-transformers"""
    count = x.shape[1]
    weights = torch.arange(1, count + 1).to(x.dtype)[None, :, None]
    return {"mean": lambda: x.mean(1), "cls": lambda: x[:, 0], "max": lambda: x.max(1).values, "lasttoken": lambda: x[:, -1],
            "mean_sqrt": lambda: x.sum(1) / math.sqrt(count), "weightedmean": lambda: (x * weights).sum(1) / weights.sum()}[kind]()


class Dense(nn.Linear):
    """A linear of the head, its activation and its norm"""

    def __init__(self, columns, rows, bias, activation, norm, eps):
        super().__init__(columns, rows, bias)
        self.activation = ACTIVATIONS[activation]
        self.norm = Norm(SimpleNamespace(norm="layer", norm_eps=eps, norm_gain="plain", d_model=rows)) if norm else None

    def forward(self, x):
        x = self.activation(super().forward(x))
        return self.norm(x) if self.norm else x


class Head(nn.Module):
    """What follows the hidden states of an encoder-only model"""

    def __init__(self, s, eps):
        super().__init__()
        self.s = s
        self.pooling = [kind for kind in as_list(s.pooling) if kind != "none"]
        width, widths = s.d_model * max(1, len(self.pooling)), as_list(s.head.get("width", []))
        for i, rows in enumerate(widths):
            bias, activation, norm = (as_list(s.head.get(key, preset)) for key, preset in (
                ("bias", True), ("activation", "none"), ("norm", False)))
            self.add_module(str(i), Dense(width, rows, bias[i % len(bias)], activation[i % len(activation)], norm[i % len(norm)], eps))
            width = rows
        self.count, self.output = len(widths), None
        if s.head.get("tied"):
            self.output = nn.Module()
            self.output.bias = nn.Parameter(torch.empty(s.source_vocab))

    def forward(self, x, table, trace):
        if self.pooling:
            x = trace.keep("pooled", torch.cat([pooled(kind, x) for kind in self.pooling], -1)[:, None])
        for i in range(self.count):
            x = getattr(self, str(i))(x)
        if self.output:
            x = functional.linear(x, table, self.output.bias)
        return trace.keep("vector", functional.normalize(x, dim=-1, eps=1e-12) if self.s.normalize else x)


class Transformer(nn.Module):
    def __init__(self, spec):
        super().__init__()
        s = SimpleNamespace(**DEFAULTS | spec)
        self.spec, self.encoder, self.decoder = s, None, None
        if s.kind != "decoder":
            self.encoder = Stack(stack_choices(spec, "encoder"), s.source_vocab, False, False)
        self.head = None
        if s.kind == "encoder" and (s.pooling != "none" or s.head or s.normalize):
            self.head = Head(s, self.encoder.s.norm_eps)
        if s.kind != "encoder":
            cross = self.encoder is not None
            self.decoder = Stack(stack_choices(spec, "decoder"), s.target_vocab, True, cross)
            self.output = nn.Module()
            if not s.tied:
                self.output.weight = nn.Parameter(torch.empty(s.target_vocab, s.d_model))
            if s.output_bias:
                self.output.bias = nn.Parameter(torch.empty(s.target_vocab))

    def initialise(self, rng):
        """Xavier for rank 2, linear biases +-1/sqrt(fan_in); gains and biases of norms, and the
        hidden layer of the feed-forward, large enough to matter."""
        for name, parameter in self.named_parameters():
            if parameter.dim() == 2:
                gain = 3 if name.endswith(("ffn.up.weight", "ffn.gate.weight", "relative.table")) else 1
                nn.init.xavier_uniform_(parameter, gain, generator=rng)
            elif name.endswith(".gain"):
                nn.init.uniform_(parameter, 0.5, 1.5, generator=rng)
            elif name.endswith("_norm.weight"):
                nn.init.uniform_(parameter, 0.5, 1.5, generator=rng)
            elif "norm." in name or ".norm_after." in name:
                nn.init.uniform_(parameter, -0.3, 0.3, generator=rng)
            else:
                owner = self.get_submodule(name.rpartition(".")[0])
                bound = 1 / math.sqrt(getattr(owner, "in_features", self.spec.d_model))
                nn.init.uniform_(parameter, -bound, bound, generator=rng)

    def encode(self, source, trace=Trace()):
        hidden = self.encoder(source, None, trace.under("encoder")) if self.encoder else None
        if self.head:
            self.head(hidden, self.encoder.embed.table, trace)
        return hidden

    def decode(self, memory, target, trace=Trace()):
        """-> logits [B, N, V]"""
        x = self.decoder(target, memory, trace.under("decoder"))
        weight = self.decoder.embed.table if self.spec.tied else self.output.weight
        bias = self.output.bias if self.spec.output_bias else None
        logits = functional.linear(x, weight, bias)
        return trace.keep("logits", capped(logits, self.spec.logit_scale, self.spec.logit_softcap))


@torch.no_grad()
def greedy(model, source):
    """source [B, N] or None, B = 1 -> (ids after start_id, up to and including end_id, at most
    max_target - 1; the smallest gap between the two best logits of a step)"""
    s = model.spec
    memory, ids, gap = model.encode(source), [s.start_id], math.inf
    while len(ids) < s.max_target and ids[1:][-1:] != [s.end_id]:
        best = model.decode(memory, torch.tensor([ids]))[0, -1].topk(2)
        gap = min(gap, (best.values[0] - best.values[1]).item())
        ids.append(best.indices[0].item())
    return ids[1:], gap
