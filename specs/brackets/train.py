"""Train the brackets model and write its weights and tokenizer.

    python train.py            the defaults reproduce the committed weights
    python train.py --help
"""

import argparse
import itertools
import json
import math
import os
import time

import torch
from safetensors.torch import save_file
from torch.nn import functional

import brackets
from model import Classifier, Config, file_names

HERE = os.path.dirname(os.path.abspath(__file__))


def options():
    p = argparse.ArgumentParser(description="train the brackets model",
                                formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--steps", type=int, default=2000)
    p.add_argument("--batch", type=int, default=256, help="texts per step")
    p.add_argument("--rate", type=float, default=2e-3, help="peak learning rate")
    p.add_argument("--warmup", type=int, default=300, help="steps")
    p.add_argument("--decay", type=float, default=0.01, help="AdamW's weight decay")
    p.add_argument("--report", type=int, default=500, help="steps between reports")
    p.add_argument("--threads", type=int, default=1)
    p.add_argument("--out", default=HERE, help="output folder")
    return p.parse_args()


def batch_of(texts):
    """(ids [B, longest], labels [B])"""
    longest = max(map(len, texts)) + 1
    ids = [[brackets.START] + [brackets.ID[c] for c in text] for text in texts]
    return (torch.tensor([row + [brackets.PAD] * (longest - len(row)) for row in ids]),
            torch.tensor([int(brackets.is_balanced(text)) for text in texts]))


@torch.no_grad()
def share_right(model, texts):
    ids, labels = batch_of(texts)
    return (model(ids, brackets.PAD).argmax(-1) == labels).float().mean().item()


def main():
    o = options()
    torch.set_num_threads(o.threads)
    with open(os.path.join(o.out, "tokenizer.json"), "w", newline="\n") as f:
        json.dump(brackets.tokenizer(), f, indent=1)
        f.write("\n")
    model = Classifier(Config(len(brackets.SYMBOLS)))
    model.initialise(torch.Generator().manual_seed(o.seed))
    adam = torch.optim.AdamW(model.parameters(), betas=(0.9, 0.98), weight_decay=o.decay)
    examples = (t for t in brackets.texts(o.seed) if not brackets.held_out(t))
    probe = brackets.held_out_texts(1000, o.seed + 2)
    began, total = time.time(), 0.0
    for step in range(o.steps):
        for group in adam.param_groups:
            part = (step + 1) / o.warmup
            group["lr"] = o.rate * (part if part < 1 else
                                    0.5 * (1 + math.cos(math.pi * (step - o.warmup) / (o.steps - o.warmup))))
        ids, labels = batch_of(list(itertools.islice(examples, o.batch)))
        loss = functional.cross_entropy(model(ids, brackets.PAD), labels)
        adam.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        adam.step()
        total += loss.item()
        if (step + 1) % o.report == 0:
            print(f"step {step + 1}  loss {total / o.report:.5f}  probe {share_right(model, probe):.4f}"
                  f"  {time.time() - began:.0f} s", flush=True)
            total = 0.0
    state = model.state_dict()
    save_file({name: state[own].contiguous() for own, name in file_names(state).items()},
              os.path.join(o.out, "brackets.safetensors"))


if __name__ == "__main__":
    main()
