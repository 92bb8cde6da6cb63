"""transformers' BertModel in two forms for PyTorch: ids [B, N] -> hidden states [B, N, D]."""

import torch


class Fast(torch.nn.Module):
    """A BertModel's layers as nn.TransformerEncoderLayer."""

    def __init__(self, bert):
        super().__init__()
        c = bert.config
        self.embeddings = bert.embeddings
        layer = torch.nn.TransformerEncoderLayer(c.hidden_size, c.num_attention_heads, c.intermediate_size, 0, c.hidden_act, c.layer_norm_eps,
                                                 batch_first=True, norm_first=False)
        self.layers = torch.nn.TransformerEncoder(layer, c.num_hidden_layers)
        for mine, its in zip(self.layers.layers, bert.encoder.layer):
            parts = [its.attention.self.query, its.attention.self.key, its.attention.self.value]
            mine.self_attn.in_proj_weight.data = torch.cat([p.weight.data for p in parts])
            mine.self_attn.in_proj_bias.data = torch.cat([p.bias.data for p in parts])
            mine.self_attn.out_proj = its.attention.output.dense
            mine.linear1, mine.linear2 = its.intermediate.dense, its.output.dense
            mine.norm1, mine.norm2 = its.attention.output.LayerNorm, its.output.LayerNorm

    def forward(self, ids):
        return self.layers(self.embeddings(ids))


class Plain(torch.nn.Module):
    def __init__(self, bert):
        super().__init__()
        self.bert = bert

    def forward(self, ids):
        return self.bert(ids).last_hidden_state
