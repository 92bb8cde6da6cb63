"""The cases of make_goldens.py for the choices of a spec, one by one and combined, with
choices_model.py."""

import re
from dataclasses import dataclass

import torch
from safetensors.torch import save_file

from choices_model import Transformer, greedy
from model import Trace

SMALLEST_GAP = 1e-2      # between the two best logits of a greedy step: no ties by rounding

SMALL = dict(layers=1, heads=2, d_model=10, d_ff=13, source_vocab=13, target_vocab=17,
             max_source=9, max_target=8)
TURNED = SMALL | dict(position="rotary", d_model=11, head_dim=6)
RESULTS = r"vector|encoder\.norm|decoder\.norm|logits|log_probs"
EVERYTHING = r".*"
NOTHING = r"pooled"
FEED_FORWARD = r".*\.ffn.*|.*\.norm\.\d"
ATTENTION = r".*_attn\..*|.*\.embed.*"
NORMS = r".*norm.*|.*\.out|.*\.ffn"
SOME = r".*\.(norm\.\d|out|ffn|weights|embed|embed\..*)"


@dataclass
class Case:
    name: str
    seed: int                # such that greedy ids vary, and end at end_id in every second case
    spec: dict
    n: int = 6               # source ids
    m: int = 5               # target ids, start_id included
    keep: str = EVERYTHING   # intermediates in addition to the results
    second: int = 0          # start of the source's second text; 0: none


def small(**changes):
    return SMALL | changes


def turned(**changes):
    return TURNED | changes


def only(kind, **changes):
    """A model with one stack."""
    other = "source" if kind == "decoder" else "target"
    return {"kind": kind} | {key: value for key, value in (SMALL | changes).items()
                             if key not in (f"{other}_vocab", f"max_{other}")}


POSITIONS = [
    Case("position_none", 21, small(position="none", d_model=9, heads=3), keep=SOME),
    Case("position_learned", 135, small(position="learned", d_model=9, heads=3), n=9, m=8, keep=SOME),
    Case("position_relative", 9, small(position="relative", heads=3, d_model=9, layers=2, rel_buckets=8,
                                       rel_distance=7, max_source=15, max_target=12),
         n=15, m=12, keep=r".*self_attn\.(weights|context)"),
    Case("position_learned_relative", 9, small(position="learned+relative", heads=3, d_model=9, layers=2, rel_buckets=8,
                                               rel_distance=7, max_source=15, max_target=12),
         n=15, m=12, keep=r".*self_attn\.(weights|context)|.*embed.*"),
    Case("position_relative_odd", 11, small(position="relative", rel_buckets=7, rel_distance=9,
                                           max_source=19, max_target=18), n=18, m=18,
         keep=r".*self_attn\.weights"),
    Case("position_relative_far", 1, small(position="relative", max_source=40, max_target=40, d_ff=5),
         n=40, m=40, keep=r".*self_attn\.context"),
    Case("position_rotary", 121, turned(), keep=ATTENTION),
    Case("position_rotary_interleaved", 12, turned(rope_layout="interleaved"), keep=ATTENTION),
    Case("position_rotary_part_interleaved", 8, turned(rope_dims=4, rope_layout="interleaved"), keep=ATTENTION),
    Case("position_rotary_theta", 3, only("decoder", position="rotary", rope_theta=123.5, heads=1,
                                          d_model=12, max_target=21), m=21, keep=ATTENTION),
    Case("position_rotary_wide", 94, only("decoder", position="rotary", heads=2, d_model=11, head_dim=38,
                                         value_dim=5, rope_dims=36), keep=ATTENTION),
]

WIDE = dict(position="rotary", d_model=12, heads=2, head_dim=16, max_target=24)
YARN = dict(rope_scaling="yarn", rope_original_len=6, rope_factor=4, rope_beta_fast=2, rope_theta=123.5)
ROTARY = [
    Case("rope_layers", 8, only("decoder", layers=4, **WIDE | dict(
        rope=[True, True, True, False], rope_theta=[10, 1000, 10], rope_dims=[16, 12],
        rope_layout=["halves", "halves", "interleaved"])), m=24, keep=ATTENTION),
    Case("rope_linear", 7, only("decoder", **WIDE | dict(rope_scaling="linear", rope_factor=2.5)), m=24, keep=ATTENTION),
    Case("rope_dynamic", 2, only("decoder", **WIDE | dict(rope_scaling="dynamic", rope_factor=3, rope_original_len=24)),
         m=24, keep=ATTENTION),
    Case("rope_llama3", 2, only("decoder", **WIDE | dict(
        rope_scaling="llama3", rope_factor=8, rope_original_len=64, rope_low_freq_factor=1, rope_high_freq_factor=4,
        rope_theta=200)), m=24, keep=ATTENTION),
    Case("rope_yarn", 10, only("decoder", **WIDE | YARN), m=24, keep=ATTENTION),
    Case("rope_yarn_mscale", 7, only("decoder", **WIDE | YARN | dict(
        rope_truncate=False, rope_mscale=0.7, rope_mscale_all_dim=0.3, rope_dims=12, rope_beta_slow=0.5)), m=24, keep=ATTENTION),
    Case("rope_longrope", 7, only("decoder", **WIDE | dict(
        rope_scaling="longrope", rope_factor=4, rope_original_len=24, rope_dims=8, rope_short_factor=[1, 1.25, 1.5, 2.75],
        rope_long_factor=[1, 2, 4, 8])), m=24, keep=ATTENTION),
    Case("rope_mixed", 3, small(layers=2, position="rotary", d_model=12, heads=2, head_dim=6, max_target=24, encoder=dict(
        rope_theta=[10000, 50]), decoder=dict(rope_scaling=["none", "linear"], rope_factor=4)), n=9, m=24, keep=SOME),
]

NORM = [
    Case("norm_rms_pre", 31, small(norm="rms", layers=2), keep=NORMS),
    Case("norm_rms_post", 15, small(norm="rms", norm_at="post", layers=2), keep=NORMS),
    Case("norm_eps_annotated", 2, small(norm_eps=0.25), keep=NORMS),
    Case("norm_eps_layer", 60, small(norm="layer", norm_eps=0.25), keep=NORMS),
    Case("norm_eps_rms", 28, small(norm="rms", norm_eps=0.25, embed_scale=0.3), keep=NORMS),
    Case("norm_wide", 1, only("encoder", d_model=37, heads=1, head_dim=3, norm="rms", position="none"), keep=NORMS),
]

ACTIVATION = [Case(f"activation_{name}", seed, only("encoder", activation=name, d_ff=21), n=9, keep=FEED_FORWARD)
              for seed, name in enumerate(("none", "gelu", "gelu_tanh", "silu", "quick_gelu", "tanh",
                                           "sigmoid", "relu2"), 1)]
GATED = [
    Case("gated", 3, small(gated=True), keep=FEED_FORWARD),
    Case("gated_silu", 6, only("decoder", gated=True, activation="silu", d_ff=35), keep=FEED_FORWARD),
    Case("gated_gelu_tanh_no_bias", 20, small(gated=True, activation="gelu_tanh", ffn_bias=False), keep=FEED_FORWARD),
]

BIASES = [
    Case("no_qkv_bias", 35, small(qkv_bias=False), keep=ATTENTION),
    Case("no_out_bias", 46, small(out_bias=False), keep=ATTENTION),
    Case("no_ffn_bias", 2, small(ffn_bias=False), keep=FEED_FORWARD),
    Case("no_output_bias", 40, small(output_bias=False), keep=SOME),
]

ATTENTIONS = [
    Case("grouped", 7, small(heads=6, kv_heads=2, d_model=12), keep=ATTENTION),
    Case("grouped_to_one", 23, small(heads=4, kv_heads=1, d_model=12), keep=ATTENTION),
    Case("grouped_dv_ne_dk", 2, small(heads=4, kv_heads=2, head_dim=3, value_dim=5), keep=ATTENTION),
    Case("grouped_rotary", 13, turned(heads=4, kv_heads=2, head_dim=4), keep=ATTENTION),
    Case("grouped_relative", 9, small(position="relative", heads=4, kv_heads=2, d_model=12, rel_buckets=6,
                                      rel_distance=5), n=9, m=8, keep=ATTENTION),
    Case("attention_scale", 40, small(attention_scale=1.25), keep=ATTENTION),
    Case("attention_scale_zero", 2, only("decoder", attention_scale=0), keep=ATTENTION),
    Case("attention_scale_relative", 201, small(attention_scale=0.5, position="relative", rel_buckets=4,
                                              rel_distance=3), n=9, m=8, keep=ATTENTION),
]

GEMMA = dict(layers=3, heads=4, kv_heads=2, head_dim=6, d_model=18, d_ff=22, norm="rms", norm_eps=1e-6, norm_at="both",
             norm_gain="one_plus", position="rotary", gated=True, activation="gelu_tanh", qkv_bias=False, out_bias=False,
             ffn_bias=False, output_bias=False, tied=True, target_vocab=29, max_target=12)
BLOCKS = [
    Case("qk_norm", 2, only("decoder", qk_norm=True, heads=4, kv_heads=2, head_dim=5), keep=ATTENTION),
    Case("qk_norm_layers", 15, small(layers=3, qk_norm=[False, True, True], position="rotary", head_dim=6, norm="layer",
                                    norm_eps=0.01), keep=ATTENTION),
    Case("norm_both", 6, small(norm_at="both", layers=2), keep=NORMS),
    Case("norm_both_rms", 4, only("decoder", norm_at="both", norm="rms", layers=2), keep=NORMS),
    Case("norm_one_plus", 1, small(norm_gain="one_plus", embed_norm=True, norm="layer", qk_norm=True), keep=NORMS),
    Case("parallel", 1, only("decoder", parallel=True, layers=2, norm="layer"), keep=SOME),
    Case("parallel_layers", 1, only("encoder", parallel=[True, False], layers=4), keep=SOME),
    Case("softcap", 13, small(attention_softcap=0.5, attention_scale=1.5), keep=ATTENTION),
    Case("softcap_layers", 1, only("decoder", layers=3, attention_softcap=[0, 0.3]), keep=ATTENTION),
    Case("logit_scale", 21, small(logit_scale=0.25), keep=SOME),
    Case("logit_softcap", 218, only("decoder", logit_softcap=0.7, logit_scale=1.5, log_softmax=False), keep=SOME),
    Case("logit_softcap_rows", 43, small(logit_softcap=0.7), keep=SOME),
]

LONG = dict(heads=2, d_model=10, d_ff=9, max_target=230)
WINDOWS = [
    Case("window", 3, only("decoder", layers=2, window=3), m=8),
    Case("window_one", 1, only("decoder", window=1, position="rotary", head_dim=6), m=8, keep=ATTENTION),
    Case("window_layers", 2, small(max_target=24, decoder=dict(layers=3, window=[5, 0, 17], attention_softcap=[0.7, 0],
                                                               heads=4, kv_heads=2, head_dim=3, value_dim=19)), m=24, keep=SOME),
    Case("window_ring", 7, only("decoder", window=7, **LONG), m=230, keep=r"decoder\.0\.self_attn\.context"),
    Case("window_rings", 1, only("decoder", layers=4, window=[20, 33, 0], position="rotary", head_dim=4, **LONG), m=230,
         keep=r"decoder\.[12]\.self_attn\.out"),
]

CAUSAL = [
    Case("causal", 1, only("encoder", causal=True, layers=2), n=9, keep=ATTENTION),
    Case("causal_layers", 1, only("encoder", layers=4, causal=[True, False], window=[5, 3, 0, 0], position="rotary", heads=4, kv_heads=2,
                                  head_dim=6, qk_norm=True, max_source=40, pooling=["lasttoken", "weightedmean"]), n=37, keep=SOME),
    Case("causal_relative", 1, only("encoder", causal=True, position="relative", rel_buckets=7, rel_distance=9, max_source=24,
                                    pooling="mean"), n=20, keep=ATTENTION),
    Case("causal_memory", 4, small(encoder=dict(causal=True)), keep=ATTENTION),
    Case("window_both", 1, only("encoder", layers=3, window=[5, 0, 17], attention_softcap=[0.7, 0], heads=4, kv_heads=2, head_dim=3,
                                value_dim=19, max_source=40, pooling="max"), n=36, keep=SOME),
    Case("window_both_one", 1, only("encoder", window=1, position="rotary", head_dim=6), n=8, keep=ATTENTION),
]

ENDS = [
    Case("tied", 67, small(tied=True), keep=SOME),
    Case("tied_no_bias", 23, only("decoder", tied=True, output_bias=False), keep=SOME),
    Case("embed_norm", 7, small(embed_norm=True), keep=SOME),
    Case("embed_norm_rms_learned", 18, small(embed_norm=True, norm="rms", position="learned"), keep=SOME),
    Case("embed_scale", 3, small(embed_scale=0.75), keep=SOME),
    Case("other_marks", 47, small(start_id=16, end_id=0), keep=SOME),
]

KINDS = [
    Case("kind_decoder", 34, only("decoder", layers=2)),
    Case("kind_decoder_logits", 20, only("decoder", log_softmax=False), keep=SOME),
    Case("kind_decoder_post", 7, only("decoder", norm_at="post", layers=2), keep=SOME),
    Case("kind_encoder", 1, only("encoder", layers=2)),
    Case("kind_encoder_one", 1, only("encoder"), n=1),
    Case("kind_encoder_post", 1, only("encoder", norm_at="post", layers=2), keep=SOME),
]

TYPES = [
    Case("types", 1, only("encoder", token_types=2, embed_norm=True), n=8, keep=SOME, second=3),
    Case("types_one", 1, only("encoder", token_types=1, position="learned"), n=4, keep=SOME),
    Case("types_memory", 4, small(token_types=3), keep=SOME, second=1),
    Case("types_alone", 1, small(token_types=2), keep=SOME),
]

HEADS = [
    Case("head_pools", 1, only("encoder", pooling=["cls", "max", "mean", "mean_sqrt", "weightedmean", "lasttoken"]), n=9, keep="-"),
    Case("head_mean", 1, only("encoder", pooling="mean", normalize=True), n=7, keep=NOTHING),
    Case("head_one", 1, only("encoder", pooling=["max", "weightedmean"], head=dict(width=5, activation="gelu", bias=False)),
         n=1, keep=NOTHING),
    Case("head_classifier", 1, only("encoder", pooling="cls", head=dict(width=[10, 3], activation=["tanh", "none"])), n=8, keep=NOTHING),
    Case("head_dense", 1, only("encoder", pooling=["mean", "cls"], normalize=True, max_source=40, d_model=17, head_dim=4, position="none",
                               head=dict(width=[33, 18], activation="tanh", norm=[True, False])), n=33, keep=NOTHING),
    Case("head_tokens", 1, only("encoder", head=dict(width=4), max_source=30), n=20, keep=NOTHING),
    Case("head_tied", 1, only("encoder", norm="layer", head=dict(width=10, activation="gelu", norm=True, tied=True)), n=8, keep=NOTHING),
    Case("head_unit_rows", 1, only("encoder", normalize=True), n=8, keep=NOTHING),
]

LAYERS = [
    Case("layers_d_ff", 215, only("decoder", layers=3, d_ff=[5, 21, 16]), keep=FEED_FORWARD),
    Case("layers_heads", 3, only("decoder", layers=3, heads=[1, 3], head_dim=5), keep=SOME),
    Case("layers_kv_heads", 133, only("decoder", layers=3, heads=4, head_dim=4, kv_heads=[4, 1, 2]), keep=ATTENTION),
    Case("layers_head_dim", 12, only("decoder", layers=4, heads=[2, 2, 3], head_dim=[6, 4], value_dim=[3, 8, 5],
                                    position="rotary", rope_dims=4), keep=SOME),
    Case("layers_activation", 1, only("encoder", layers=10, gated=[True, False, False], d_model=6, d_ff=9, activation=[
        "silu", "relu", "gelu", "gelu_tanh", "quick_gelu", "tanh", "relu2", "sigmoid", "none"]),
         keep=r".*\.ffn"),
    Case("layers_bias", 31, only("decoder", layers=4, qkv_bias=[True, False], out_bias=[False, True, True],
                                ffn_bias=[True, False, False]), keep=SOME),
]

STACKS = [
    Case("stacks_shape", 8, small(encoder=dict(layers=2, heads=5, d_ff=7), decoder=dict(layers=1, heads=2)), keep=SOME),
    Case("stacks_norm", 45, small(encoder=dict(norm="layer", norm_at="post"), decoder=dict(norm="rms"),
                                 layers=2), keep=SOME),
    Case("stacks_position", 292, small(encoder=dict(position="relative", rel_buckets=10, rel_distance=8),
                                     decoder=dict(position="rotary", head_dim=4), heads=2), n=9, keep=SOME),
    Case("stacks_embedding", 53, small(encoder=dict(embed_norm=True, embed_scale=1, position="learned"),
                                      decoder=dict(position="none"), norm="layer"), keep=SOME),
    Case("stacks_layers", 5, small(heads=[2, 1], head_dim=5, encoder=dict(layers=3, activation="gelu"),
                                   decoder=dict(layers=2, d_ff=[9, 14], gated=[False, True])), keep=SOME),
]

LLAMA = dict(layers=2, heads=6, kv_heads=2, head_dim=4, d_model=18, d_ff=22, norm="rms", norm_eps=1e-6,
             position="rotary", gated=True, activation="silu", qkv_bias=False, out_bias=False, ffn_bias=False,
             output_bias=False, embed_scale=1, target_vocab=29, max_target=12)
POST_LAYER = dict(layers=2, norm="layer", norm_at="post", position="learned", activation="gelu", embed_norm=True)

FAMILIES = [
    Case("like_llama", 10, only("decoder", **LLAMA), m=8, keep=SOME),
    Case("like_llama_tied", 3, only("decoder", **LLAMA | dict(tied=True, rope_theta=500000, log_softmax=False)),
         m=8, keep=SOME),
    Case("like_qwen", 1, only("decoder", **LLAMA | dict(qkv_bias=True, rope_theta=1000000, tied=True)), m=7, keep=SOME),
    Case("like_gemma", 4, only("decoder", **LLAMA | dict(heads=3, kv_heads=1, head_dim=10, activation="gelu_tanh",
                                                         embed_scale=None, tied=True)), m=7, keep=SOME),
    Case("like_gemma2", 14, only("decoder", **GEMMA | dict(attention_softcap=2, logit_softcap=1.5, attention_scale=0.3,
                                                           window=[4, 0])),
         m=9, keep=SOME),
    Case("like_gemma3", 1, only("decoder", **GEMMA | dict(qk_norm=True, rope_theta=[100, 100, 10000], window=[5, 5, 0],
                                                          rope_scaling=["none", "none", "linear"], rope_factor=8)), m=9, keep=SOME),
    Case("like_qwen3", 1, only("decoder", **LLAMA | dict(qk_norm=True, tied=True, rope_theta=1000000)), m=7, keep=SOME),
    Case("like_smollm3", 1, only("decoder", **LLAMA | dict(layers=4, rope=[True, True, True, False], tied=True)), m=7, keep=SOME),
    Case("like_pythia", 8, only("decoder", layers=2, heads=2, d_model=17, head_dim=8, norm="layer", position="rotary",
                                rope_dims=2, activation="gelu", embed_scale=1, output_bias=False, parallel=True), m=7, keep=SOME),
    Case("like_gpt2", 25, only("decoder", layers=2, heads=3, d_model=21, d_ff=30, norm="layer", position="learned",
                              activation="gelu_tanh", embed_scale=1, tied=True, output_bias=False,
                              target_vocab=31, max_target=11), m=9, keep=SOME),
    Case("like_neox", 3, only("decoder", layers=2, heads=2, d_model=17, head_dim=8, norm="layer", position="rotary",
                              rope_dims=4, activation="gelu", embed_scale=1, output_bias=False), m=7, keep=SOME),
    Case("like_bert", 1, only("encoder", **POST_LAYER | dict(heads=3, d_model=15, d_ff=28, norm_eps=1e-12,
                                                             embed_scale=1)), n=8, keep=SOME),
    Case("like_bert_pair", 1, only("encoder", **POST_LAYER | dict(heads=3, d_model=15, d_ff=28, norm_eps=1e-12, token_types=2,
                                                                  embed_scale=1)), n=8, keep=SOME, second=5),
    Case("like_mpnet", 1, only("encoder", **POST_LAYER | dict(position="relative", heads=3, d_model=15,
                                                              embed_scale=1, max_source=18)), n=15, keep=SOME),
    Case("like_rotary_bert", 1, only("encoder", **POST_LAYER | dict(position="rotary", heads=2, d_model=16, gated=True,
                                                                    activation="silu", ffn_bias=False, qkv_bias=False,
                                                                    embed_scale=1)), n=8, keep=SOME),
    Case("like_t5", 101, small(layers=2, heads=3, head_dim=4, d_model=14, norm="rms", norm_eps=1e-6, position="relative",
                             gated=True, activation="gelu_tanh", attention_scale=1, embed_scale=1, qkv_bias=False,
                             out_bias=False, ffn_bias=False, output_bias=False, start_id=0, end_id=1,
                             max_source=20, max_target=14), n=12, m=9, keep=SOME),
    Case("like_bart", 3, small(**POST_LAYER | dict(embed_scale=1, tied=True, start_id=2, layers=1)), keep=SOME),
    Case("like_marian", 192, small(norm="layer", norm_at="post", position_layout="halves", activation="silu", tied=True,
                                 layers=2, start_id=16, end_id=0), keep=SOME),
    Case("like_nllb", 64, small(norm="layer", position_layout="halves", position_divisor="d/2-1", position_first=2,
                               tied=True, output_bias=False, layers=2), keep=SOME),
    Case("like_whisper", 84, small(norm="layer", activation="gelu", tied=True, output_bias=False, embed_scale=1,
                                  encoder=dict(position_layout="halves", position_divisor="d/2-1"),
                                  decoder=dict(position="learned")), keep=SOME),
]

CASES = (POSITIONS + ROTARY + NORM + ACTIVATION + GATED + BIASES + ATTENTIONS + BLOCKS + WINDOWS + CAUSAL + ENDS + KINDS + TYPES + HEADS
         + LAYERS + STACKS + FAMILIES)


def lua(value):
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {lua(v)}" for key, v in value.items() if v is not None) + " }"
    if isinstance(value, list):
        return "{ " + ", ".join(map(lua, value)) + " }"
    return f'"{value}"' if isinstance(value, str) else str(value)


def spec(case):
    rows = [f"  {key} = {lua(value)},\n" for key, value in case.spec.items() if value is not None]
    return (f'-- written by make_goldens.py\nreturn xf.model {{\n  name = "{case.name}",\n{"".join(rows)}'
            f'  weights = "{case.name}.safetensors",\n}}\n')


def words(count, vocab, rng):
    return torch.randint(3, vocab, (count,), generator=rng)


@torch.no_grad()
def reference(case, model, rng):
    """(name -> tensor: ids as I32, the rest F32; the smallest gap of greedy)"""
    s, found, ids, gap, source = model.spec, {}, {}, SMALLEST_GAP, None
    trace = Trace(found)
    if model.encoder:
        ids["source"] = words(case.n, s.source_vocab, rng)
        source = ids["source"][None]
    if case.second:
        model.encoder.second = case.second
        ids["second"] = torch.tensor([case.second])
    memory = model.encode(source, trace)
    if model.decoder:
        ids["target"] = torch.cat([torch.tensor([s.start_id]), words(case.m - 1, s.target_vocab, rng)])
        logits = model.decode(memory, ids["target"][None], trace)
        if s.log_softmax:
            found["log_probs"] = logits.log_softmax(-1)
        generated, gap = greedy(model, source)
        ids["greedy"] = torch.tensor(generated)
    else:
        found["encoder.norm"] = memory
    kept = re.compile(f"(?:{RESULTS}|{case.keep})")
    ref = {name: tensor[0].float().contiguous() for name, tensor in found.items() if kept.fullmatch(name)}
    return ref | {name: tensor.int() for name, tensor in ids.items()}, gap


def make(case, seed):
    """(f32 weights, reference, gap)"""
    rng = torch.Generator().manual_seed(seed)
    model = Transformer(case.spec)
    model.initialise(rng)
    weights = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    return weights, *reference(case, model.double(), rng)


def write(case, path):
    weights, ref, gap = make(case, case.seed)
    assert gap >= SMALLEST_GAP, (case.name, gap)
    save_file(weights, path + ".safetensors")
    save_file(ref, path + ".ref.safetensors")
    with open(path + ".lua", "w", newline="\n") as f:
        f.write(spec(case))
    return ref.get("greedy", torch.tensor([])).tolist()
