"""Write heldout.tsv (each sum and the model's answer) and print the accuracy.

    python evaluate.py

The greedy strings are PyTorch's in f32. Prompts of equal length run together, so nothing is padded.
"""

import argparse
import os

import torch
from safetensors.torch import load_file

import sums
from model import Config, Decoder, file_names, greedy

HERE = os.path.dirname(os.path.abspath(__file__))


def options():
    p = argparse.ArgumentParser(description="evaluate the sums model",
                                formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    p.add_argument("--seed", type=int, default=2, help="seed of the held-out rows")
    p.add_argument("--count", type=int, default=2000)
    p.add_argument("--weights", default=os.path.join(HERE, "sums.safetensors"))
    p.add_argument("--out", default=HERE, help="output folder")
    return p.parse_args()


def main():
    o = options()
    torch.set_num_threads(1)
    model, file = Decoder(Config(len(sums.SYMBOLS))), load_file(o.weights)
    model.load_state_dict({own: file[name] for own, name in file_names(model.state_dict()).items()})
    pairs = sums.held_out_pairs(o.count, o.seed)
    by_length = {}
    for at, (a, b) in enumerate(pairs):
        by_length.setdefault(len(f"{a}+{b}="), []).append(at)
    found, smallest = [None] * len(pairs), float("inf")
    for places in by_length.values():
        prompts = [[sums.ID[c] for c in "{}+{}=".format(*pairs[at])] for at in places]
        rows, gap = greedy(model, torch.tensor(prompts), sums.END, 6)
        smallest = min(smallest, gap)
        for at, row in zip(places, rows):
            found[at] = "{}+{}=".format(*pairs[at]) + "".join(sums.SYMBOLS[i] for i in row if i != sums.END)
    right = sum(answer == f"{a}+{b}={a + b}" for answer, (a, b) in zip(found, pairs))
    with open(os.path.join(o.out, "heldout.tsv"), "w", newline="\n") as f:
        f.writelines(f"{a}+{b}=\t{answer}\n" for answer, (a, b) in zip(found, pairs))
    print(f"{right} of {len(pairs)} exact, {100 * right / len(pairs):.2f} %; "
          f"the two best logits of a step are at least {smallest:.2g} apart")


if __name__ == "__main__":
    main()
