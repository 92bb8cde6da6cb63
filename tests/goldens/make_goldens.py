"""Write the goldens: small random Transformers, their specs and PyTorch's results.

    python make_goldens.py [folder]

Every case gives NAME.safetensors (f32 weights), NAME.lua (the spec) and
NAME.ref.safetensors (inputs, intermediates, outputs). The cases here use
specs/dates/model.py; choices.py has more, with choices_model.py. The arithmetic
is f64 on the f32 weights, rounded to f32 at the end, so that every machine gives
the same bytes.
"""

import os
import sys
from dataclasses import dataclass, field

import torch
from safetensors.torch import save_file

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "specs", "dates"))
sys.dont_write_bytecode = True

import choices  # noqa: E402
from model import Config, Trace, Transformer, greedy  # noqa: E402

START, END, FIRST_WORD = 1, 2, 3
SMALLEST_GAP = 1e-2      # between the two best logits of a greedy step: no ties by rounding

DIMENSIONS = dict(layers=2, heads=4, d_model=16, d_ff=24, source_vocab=13, target_vocab=17)


@dataclass
class Case:
    name: str
    seed: int                # chosen so that greedy ids vary, and end at </s> in every second case
    n: int = 7               # source ids
    m: int = 5               # target ids, <s> included
    max_source: int = 12
    max_target: int = 9
    padded_to: int = 0       # run in a batch with a source of this length
    model: dict = field(default_factory=dict)


CASES = [
    Case("one_head", 29, n=6, m=4, model=dict(heads=1)),
    Case("one_layer", 34, n=8, m=5, model=dict(layers=1)),
    Case("dv_ne_dk", 1, n=7, m=6, model=dict(heads=3, d_model=24, head_dim=8, value_dim=10, d_ff=32)),
    Case("length_one", 38, n=1, m=4),
    Case("longest", 13, n=12, m=9),
    Case("padding", 46, n=5, m=6, padded_to=12),
    Case("pre_annotated", 17),
    Case("post_annotated", 52, model=dict(norm_at="post")),
    Case("pre_layer", 17, model=dict(norm="layer")),
    Case("post_layer", 52, model=dict(norm="layer", norm_at="post")),
    Case("post_final", 85, n=4, m=6, model=dict(norm="layer", norm_at="post", final_norm=True)),
    Case("awkward", 28, n=7, m=5, max_source=11, max_target=7,
         model=dict(layers=3, heads=2, d_model=14, d_ff=19)),
    Case("halves", 5, n=9, m=6, model=dict(position_layout="halves", position_divisor="d/2-1",
                                            position_first=1)),
]

SPEC = """\
-- written by make_goldens.py
return xf.model {{
  name = "{name}", kind = "encoder-decoder",
  layers = {layers}, heads = {heads}, d_model = {d_model}, d_ff = {d_ff},
  source_vocab = {source_vocab}, target_vocab = {target_vocab},
  max_source = {max_source}, max_target = {max_target},
{rest}  weights = "{name}.safetensors",
}}
"""


def spec(case):
    """The Lua text; only what differs from the defaults is written."""
    given = {**DIMENSIONS, **case.model}
    rest = "".join(f"  {key} = {lua(value)},\n" for key, value in given.items()
                   if key not in DIMENSIONS)
    return SPEC.format(name=case.name, max_source=case.max_source, max_target=case.max_target,
                       rest=rest, **{key: given[key] for key in DIMENSIONS})


def lua(value):
    if isinstance(value, bool):
        return "true" if value else "false"
    return f'"{value}"' if isinstance(value, str) else str(value)


def random_model(case, rng):
    """Xavier weights, and norms with significant gain and bias; f32."""
    model = Transformer(Config(**DIMENSIONS | case.model))
    model.initialise(rng)
    for name, parameter in model.named_parameters():
        if name.endswith(("norm.a_2", "norm.weight")):
            torch.nn.init.uniform_(parameter, 0.5, 1.5, generator=rng)
        if name.endswith(("norm.b_2", "norm.bias")):
            torch.nn.init.uniform_(parameter, -0.3, 0.3, generator=rng)
    return model


def words(count, vocab, rng):
    return torch.randint(FIRST_WORD, vocab, (count,), generator=rng)


def run(model, source, target):
    """Every intermediate of one sequence, by name, without its batch dimension."""
    found = {}
    model(source[None], target[None], trace=Trace(found))
    return {name: tensor[0] for name, tensor in found.items()}


def run_padded(model, source, target, other):
    """Like run(), but in a batch with a longer source; the padding is cut off."""
    n, width = len(source), len(other)
    batch = torch.zeros(2, width, dtype=torch.long)
    batch[0, :n], batch[1] = source, other
    padding = torch.arange(width) < torch.tensor([[n], [width]])
    found = {}
    model(batch, target.expand(2, -1), padding, Trace(found))
    return {name: cut(name, tensor[0], n, width) for name, tensor in found.items()}


def cut(name, tensor, n, width):
    """Cut source rows and keys to n. The keys of encoder and cross-attention are columns of
    scores and weights; rows of the encoder, and of the decoder's cross k and v, are source
    positions."""
    over_source = name.startswith("encoder.") or ".cross_attn." in name
    if over_source and name.endswith((".scores", ".weights")):
        assert not tensor[..., n:].any(), name
        tensor = tensor[..., :n]
    if name.startswith("encoder.") or name.endswith((".cross_attn.k", ".cross_attn.v")):
        tensor = tensor.narrow(-2, 0, n)
    return tensor


@torch.no_grad()
def reference(case, model, rng):
    """name -> tensor: ids as I32, the rest F32."""
    config = model.config
    source = words(case.n, config.source_vocab, rng)
    target = torch.cat([torch.tensor([START]), words(case.m - 1, config.target_vocab, rng)])
    if case.padded_to:
        found = run_padded(model, source, target, words(case.padded_to, config.source_vocab, rng))
    else:
        found = run(model, source, target)
    found["log_probs"] = found["logits"].log_softmax(-1)
    (ids,), gap = greedy(model, source[None], START, END, case.max_target)
    assert gap > SMALLEST_GAP, (case.name, gap)
    ref = {name: tensor.float().contiguous() for name, tensor in found.items()}
    ref |= {"source": source.int(), "target": target.int(),
            "greedy": torch.tensor(ids, dtype=torch.int32)}
    return ref


def main():
    out = sys.argv[1] if len(sys.argv) > 1 else HERE
    torch.set_num_threads(1)
    for case in CASES:
        rng = torch.Generator().manual_seed(case.seed)
        model = random_model(case, rng)
        path = os.path.join(out, case.name)
        save_file(model.state_dict(), path + ".safetensors")
        ref = reference(case, model.double(), rng)
        save_file(ref, path + ".ref.safetensors")
        with open(path + ".lua", "w", newline="\n") as f:
            f.write(spec(case))
        print(f"{case.name:33} greedy {ref['greedy'].tolist()}")
    for case in choices.CASES:
        print(f"{case.name:33} greedy {choices.write(case, os.path.join(out, case.name))}")


if __name__ == "__main__":
    main()
