"""Write heldout.tsv and heldout.greedy.txt and print the accuracy by form.

    python evaluate.py

The greedy strings equal those of a batch of one, in f32: texts of equal length run
together, so nothing is padded.
"""

import argparse
import os
from collections import defaultdict

import torch
from safetensors.torch import load_file

import forms
from model import Config, Transformer, greedy
from train import encode

HERE = os.path.dirname(os.path.abspath(__file__))


def options():
    p = argparse.ArgumentParser(description="evaluate the dates model",
                                formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    p.add_argument("--seed", type=int, default=2, help="seed of the held-out rows")
    p.add_argument("--count", type=int, default=5000)
    p.add_argument("--weights", default=os.path.join(HERE, "dates.safetensors"))
    p.add_argument("--text", nargs="*", help="only print the greedy strings of these texts")
    p.add_argument("--out", default=HERE, help="output folder")
    return p.parse_args()


def load(path, source_symbols, target_symbols):
    model = Transformer(Config(len(source_symbols), len(target_symbols)))
    model.load_state_dict(load_file(path))
    return model.eval()


def answers(model, texts, source_symbols, target_symbols):
    """(greedy string of each text without its end token, smallest gap between the two best
    logits)"""
    source_id = defaultdict(lambda: forms.UNKNOWN, {s: i for i, s in enumerate(source_symbols)})
    by_length = defaultdict(list)
    for i, text in enumerate(texts):
        by_length[len(text)].append(i)
    found, smallest = [None] * len(texts), float("inf")
    for rows in by_length.values():
        source = encode([texts[i] for i in rows], source_id)
        ids, gap = greedy(model, source, forms.START, forms.END, forms.MAX_TARGET)
        smallest = min(smallest, gap)
        for i, row in zip(rows, ids):
            found[i] = "".join(target_symbols[k] for k in row if k != forms.END)
    return found, smallest


def report(rows, found):
    """Print the exact matches for each form and in total, then the first mistakes."""
    right, total, wrong = defaultdict(int), defaultdict(int), []
    for (text, iso, form), answer in zip(rows, found):
        total[form] += 1
        right[form] += answer == iso
        if answer != iso:
            wrong.append((text, iso, answer))
    for form in forms.FORMS:
        print(f"{form.name:24} {right[form.name]:4} of {total[form.name]:4}")
    exact = sum(right.values())
    print(f"{'all':24} {exact:4} of {len(rows):4}  {100 * exact / len(rows):.2f} %")
    for text, iso, answer in wrong[:20]:
        print(f"wrong: {text!r} is {iso}, got {answer}")


def main():
    o = options()
    torch.set_num_threads(1)
    source_symbols, target_symbols = forms.source_symbols(), forms.target_symbols()
    model = load(o.weights, source_symbols, target_symbols)
    if o.text:
        for text, answer in zip(o.text, answers(model, o.text, source_symbols, target_symbols)[0]):
            print(f"{text}\t{answer}")
        return
    rows = forms.held_out_rows(o.count, o.seed)
    found, gap = answers(model, [text for text, _, _ in rows], source_symbols, target_symbols)
    with open(os.path.join(o.out, "heldout.tsv"), "w", newline="\n") as f:
        f.writelines("\t".join(row) + "\n" for row in rows)
    with open(os.path.join(o.out, "heldout.greedy.txt"), "w", newline="\n") as f:
        f.writelines(answer + "\n" for answer in found)
    report(rows, found)
    print(f"smallest gap between the two best logits: {gap:.6f}")


if __name__ == "__main__":
    main()
