"""Write PyTorch's results for one text: ids, and every intermediate tensor by name.

    python one_text.py [../../tests/first.ref.safetensors]

The arithmetic is f64 on the f32 weights, rounded to f32 at the end.
"""

import os
import sys

import torch
from safetensors.torch import load_file, save_file

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
sys.dont_write_bytecode = True

from model import Config, Trace, Transformer, greedy  # noqa: E402

TEXT, START, END, MAX_TARGET = "3rd of May 2019", 1, 2, 12


def vocabulary(side):
    with open(os.path.join(HERE, f"{side}_vocabulary.txt"), encoding="utf-8") as f:
        return f.read().split("\n")[:-1]


@torch.no_grad()
def main():
    symbols, answers = vocabulary("source"), vocabulary("target")
    model = Transformer(Config(source_vocab=len(symbols), target_vocab=len(answers)))
    model.load_state_dict(load_file(os.path.join(HERE, "dates.safetensors")))
    model.double()
    source = torch.tensor([symbols.index(c) for c in TEXT])
    (ids,), _ = greedy(model, source[None], START, END, MAX_TARGET)
    target = torch.tensor([START, *ids[:-1]])
    found = {}
    model(source[None], target[None], trace=Trace(found))
    found = {name: tensor[0].float().contiguous() for name, tensor in found.items()}
    found["log_probs"] = found["logits"].double().log_softmax(-1).float()
    found |= {"source": source.int(), "target": target.int()}
    path = os.path.join(HERE, "..", "..", "tests", "first.ref.safetensors")
    save_file(found, sys.argv[1] if len(sys.argv) > 1 else path)
    print(f"{TEXT} -> {''.join(answers[i] for i in ids[:-1])}, {len(found)} tensors")


if __name__ == "__main__":
    main()
