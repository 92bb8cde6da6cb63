"""Write heldout.tsv (each text, its label and the model's answer) and print the accuracy.

    python evaluate.py

Scores are PyTorch's in f32. Texts of equal length run together, so nothing is padded.
"""

import argparse
import os

import torch
from safetensors.torch import load_file

import brackets
from model import Classifier, Config, file_names

HERE = os.path.dirname(os.path.abspath(__file__))


def options():
    p = argparse.ArgumentParser(description="evaluate the brackets model",
                                formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    p.add_argument("--seed", type=int, default=2, help="seed of the held-out texts")
    p.add_argument("--count", type=int, default=2000)
    p.add_argument("--weights", default=os.path.join(HERE, "brackets.safetensors"))
    p.add_argument("--out", default=HERE, help="output folder")
    return p.parse_args()


@torch.no_grad()
def main():
    o = options()
    torch.set_num_threads(1)
    model, file = Classifier(Config(len(brackets.SYMBOLS))), load_file(o.weights)
    model.load_state_dict({own: file[name] for own, name in file_names(model.state_dict()).items()})
    texts = brackets.held_out_texts(o.count, o.seed)
    by_length = {}
    for at, text in enumerate(texts):
        by_length.setdefault(len(text), []).append(at)
    scores = [None] * len(texts)
    for places in by_length.values():
        ids = torch.tensor([[brackets.START] + [brackets.ID[c] for c in texts[at]] for at in places])
        for at, row in zip(places, model(ids, brackets.PAD).tolist()):
            scores[at] = row
    found = [int(b > a) for a, b in scores]
    right = sum(f == brackets.is_balanced(t) for f, t in zip(found, texts))
    with open(os.path.join(o.out, "heldout.tsv"), "w", newline="\n") as f:
        f.writelines(f"{t}\t{brackets.LABELS[brackets.is_balanced(t)]}\t{brackets.LABELS[k]}\n" for t, k in zip(texts, found))
    nearest = min(abs(b - a) for a, b in scores)
    print(f"{right} of {len(texts)} right, {100 * right / len(texts):.2f} %; {sum(map(brackets.is_balanced, texts))} are balanced; "
          f"the two scores of a text are at least {nearest:.2g} apart")


if __name__ == "__main__":
    main()
