"""Train the sums model and write its weights and tokenizer.

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

import sums
from model import Config, Decoder, file_names, greedy

HERE = os.path.dirname(os.path.abspath(__file__))


def options():
    p = argparse.ArgumentParser(description="train the sums model",
                                formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--steps", type=int, default=8000)
    p.add_argument("--batch", type=int, default=512, help="sums per step")
    p.add_argument("--rate", type=float, default=3e-3, help="peak learning rate")
    p.add_argument("--warmup", type=int, default=300, help="steps")
    p.add_argument("--decay", type=float, default=0.01, help="AdamW's weight decay")
    p.add_argument("--report", type=int, default=500, help="steps between reports")
    p.add_argument("--threads", type=int, default=1)
    p.add_argument("--out", default=HERE, help="output folder")
    return p.parse_args()


def batch_of(pairs):
    """(ids [B, LONGEST], mask of the answers [B, LONGEST])"""
    ids, answer = [], []
    for a, b in pairs:
        question, rest = f"{a}+{b}=", f"{a + b}"
        row = [sums.ID[c] for c in question + rest] + [sums.END]
        blank = sums.LONGEST - len(row)
        ids.append(row + [sums.PAD] * blank)
        answer.append([False] * len(question) + [True] * (len(rest) + 1) + [False] * blank)
    return torch.tensor(ids), torch.tensor(answer)


def share_right(model, pairs):
    """Share of sums whose greedy answer is exact."""
    by_length = {}
    for a, b in pairs:
        by_length.setdefault(len(f"{a}+{b}="), []).append((a, b))
    right = 0
    for same in by_length.values():
        prompt = torch.tensor([[sums.ID[c] for c in f"{a}+{b}="] for a, b in same])
        found, _ = greedy(model, prompt, sums.END, 6)
        right += sum(row == [sums.ID[c] for c in str(a + b)] + [sums.END] for row, (a, b) in zip(found, same))
    return right / len(pairs)


def main():
    o = options()
    torch.set_num_threads(o.threads)
    with open(os.path.join(o.out, "tokenizer.json"), "w", newline="\n") as f:
        json.dump(sums.tokenizer(), f, indent=1)
        f.write("\n")
    model = Decoder(Config(len(sums.SYMBOLS)))
    model.initialise(torch.Generator().manual_seed(o.seed))
    adam = torch.optim.AdamW(model.parameters(), betas=(0.9, 0.98), weight_decay=o.decay)
    examples, probe = sums.sample(o.seed), sums.held_out_pairs(500, o.seed + 1)
    began, total = time.time(), 0.0
    for step in range(o.steps):
        for group in adam.param_groups:
            part = (step + 1) / o.warmup
            group["lr"] = o.rate * (part if part < 1 else
                                    0.5 * (1 + math.cos(math.pi * (step - o.warmup) / (o.steps - o.warmup))))
        ids, answer = batch_of(itertools.islice(examples, o.batch))
        logits = model(ids[:, :-1])
        loss = functional.cross_entropy(logits[answer[:, 1:]], ids[:, 1:][answer[:, 1:]])
        adam.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        adam.step()
        total += loss.item()
        if (step + 1) % o.report == 0:
            print(f"step {step + 1}  loss {total / o.report:.5f}  probe {share_right(model, probe):.3f}"
                  f"  {time.time() - began:.0f} s", flush=True)
            total = 0.0
    state = model.state_dict()
    save_file({name: state[own].contiguous() for own, name in file_names(state).items()},
              os.path.join(o.out, "sums.safetensors"))


if __name__ == "__main__":
    main()
