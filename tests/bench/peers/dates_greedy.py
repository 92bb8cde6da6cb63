"""The date model with all of greedy decoding in one call, with a KV cache, so that PyTorch can
trace and export it.

An ISO date with its end token is exactly as long as the longest target, so every step is needed and
there is no early stop. """

import math

import torch
from torch import nn

from models import dates_model

START, STEPS = 1, 11


def normed(norm, x):
    """AnnotatedNorm as a standard layer norm, which has a kernel: see models.annotated_norm."""
    width = norm.a_2.numel()
    return nn.functional.layer_norm(x, (width,), norm.a_2 * ((width - 1) / width) ** 0.5, norm.b_2, 1e-12)


class Greedy(nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model
        self.heads = model.config.heads

    def split(self, x):
        """[B, N, D] -> [B, H, N, d]"""
        return x.unflatten(-1, (self.heads, -1)).transpose(1, 2)

    def embed(self, embedding, ids, first):
        """ids [B, N] at positions first .. first + N - 1"""
        return embedding.lut(ids) * math.sqrt(embedding.config.d_model) + embedding.table[first:first + ids.shape[1]]

    def attend(self, linears, q, k, v, mask):
        mixed = nn.functional.scaled_dot_product_attention(q, k, v, mask)
        return linears[3](mixed.transpose(1, 2).flatten(2))

    def feed(self, layer, n, x):
        return x + layer.feed_forward(normed(layer.sublayer[n].norm, x))

    def encode(self, source, mask):
        m = self.model
        embedding = m.src_embed[0]
        x = embedding.lut(source) * math.sqrt(embedding.config.d_model) + embedding.table[:source.shape[1]]
        for layer in m.encoder.layers:
            y, linears = normed(layer.sublayer[0].norm, x), layer.self_attn.linears
            x = x + self.attend(linears, *(self.split(linears[i](y)) for i in range(3)), mask)
            x = self.feed(layer, 1, x)
        return normed(m.encoder.norm, x)

    def step(self, ids, position, caches, crosses, mask):
        """ids [B, 1] -> logits [B, V]"""
        m = self.model
        x = self.embed(m.tgt_embed[0], ids, position)
        for n, layer in enumerate(m.decoder.layers):
            y, linears = normed(layer.sublayer[0].norm, x), layer.self_attn.linears
            q, k, v = (self.split(linears[i](y)) for i in range(3))
            if position:
                k, v = torch.cat([caches[n][0], k], 2), torch.cat([caches[n][1], v], 2)
            caches[n] = (k, v)
            x = x + self.attend(linears, q, k, v, None)
            y, linears = normed(layer.sublayer[1].norm, x), layer.src_attn.linears
            x = x + self.attend(linears, self.split(linears[0](y)), *crosses[n], mask)
            x = self.feed(layer, 2, x)
        return m.generator(normed(m.decoder.norm, x))[:, 0]

    def forward(self, source, mask):
        """source [B, S], mask [B, S] True where real -> ids [B, STEPS]"""
        mask = mask[:, None, None, :]
        memory = self.encode(source, mask)
        crosses = [tuple(self.split(layer.src_attn.linears[i](memory)) for i in (1, 2)) for layer in self.model.decoder.layers]
        caches, found = [None] * len(crosses), []
        ids = torch.full_like(source[:, :1], START)
        for position in range(STEPS):
            ids = self.step(ids, position, caches, crosses, mask).argmax(-1, keepdim=True)
            found.append(ids)
        return torch.cat(found, 1)


def greedy_dates():
    return Greedy(dates_model()).eval()
