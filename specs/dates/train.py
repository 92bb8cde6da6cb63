"""Train the dates model and write its weights and vocabularies.

    python train.py            the defaults reproduce the committed weights
    python train.py --help

Each step draws a batch of new examples, sorts it by length and runs it in a
few slices, each padded to its own longest text.  This is unbiased and needs
little padding.
"""

import argparse
import itertools
import math
import os
import time

import torch
from safetensors.torch import save_file
from torch.nn import functional

import forms
from model import Config, Transformer, greedy

HERE = os.path.dirname(os.path.abspath(__file__))


def options():
    p = argparse.ArgumentParser(description="train the dates model",
                                formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--steps", type=int, default=6000)
    p.add_argument("--batch", type=int, default=256, help="examples per step")
    p.add_argument("--slices", type=int, default=6, help="slices of a batch, by length")
    p.add_argument("--rate", type=float, default=2e-3, help="peak learning rate")
    p.add_argument("--warmup", type=int, default=500, help="steps")
    p.add_argument("--smoothing", type=float, default=0.0, help="label smoothing")
    p.add_argument("--average", type=float, default=0.998, help="decay of the weights' running mean")
    p.add_argument("--report", type=int, default=250, help="steps between reports")
    p.add_argument("--threads", type=int, default=1)
    p.add_argument("--out", default=HERE, help="output folder")
    return p.parse_args()


def rate_at(step, peak, warmup, steps):
    """Linear warm-up, then half a cosine down to 0."""
    if step < warmup:
        return peak * (step + 1) / warmup
    return peak * 0.5 * (1 + math.cos(math.pi * (step - warmup) / (steps - warmup)))


def encode(texts, symbol_id):
    """Texts -> ids [B, longest], padded with blanks."""
    longest = max(map(len, texts))
    return torch.tensor([[symbol_id[c] for c in text] + [forms.BLANK] * (longest - len(text))
                         for text in texts])


def slices(rows, count, source_id, target_id):
    """Sorted by length and sliced: (source [b, S], target [b, MAX_TARGET]) each."""
    rows = sorted(rows, key=lambda row: len(row[0]))
    size = math.ceil(len(rows) / count)
    for at in range(0, len(rows), size):
        part = rows[at:at + size]
        source = encode([text for text, _, _ in part], source_id)
        ids = encode([iso for _, iso, _ in part], target_id)
        start = torch.full((len(part), 1), forms.START)
        end = torch.full((len(part), 1), forms.END)
        yield source, torch.cat([start, ids, end], 1)


def write_symbols(path, symbols):
    with open(path, "w", newline="\n") as f:
        f.writelines(symbol + "\n" for symbol in symbols)


def check(model, batches):
    """Share of held-out targets that are predicted exactly."""
    right = total = 0
    for source, target in batches:
        found, _ = greedy(model, source, forms.START, forms.END, forms.MAX_TARGET,
                          source != forms.BLANK)
        right += sum(row == ids[1:] for row, ids in zip(found, target.tolist()))
        total += len(found)
    return right / total


def main():
    o = options()
    torch.set_num_threads(o.threads)
    source_symbols, target_symbols = forms.source_symbols(), forms.target_symbols()
    source_id = {s: i for i, s in enumerate(source_symbols)}
    target_id = {s: i for i, s in enumerate(target_symbols)}
    os.makedirs(o.out, exist_ok=True)
    write_symbols(os.path.join(o.out, "source_vocabulary.txt"), source_symbols)
    write_symbols(os.path.join(o.out, "target_vocabulary.txt"), target_symbols)

    config = Config(len(source_symbols), len(target_symbols))
    model, mean = Transformer(config), Transformer(config)
    model.initialise(torch.Generator().manual_seed(o.seed))
    mean.load_state_dict(model.state_dict())
    parameters = list(model.parameters())
    adam = torch.optim.Adam(parameters, betas=(0.9, 0.98), eps=1e-9)
    examples = forms.sample(o.seed)
    probe = list(slices(forms.held_out_rows(500, o.seed + 1), 8, source_id, target_id))
    began, total = time.time(), 0.0
    for step in range(o.steps):
        for group in adam.param_groups:
            group["lr"] = rate_at(step, o.rate, o.warmup, o.steps)
        rows = list(itertools.islice(examples, o.batch))
        for source, target in slices(rows, o.slices, source_id, target_id):
            logits = model(source, target[:, :-1], source != forms.BLANK)
            loss = functional.cross_entropy(logits.flatten(0, 1), target[:, 1:].flatten(),
                                            label_smoothing=o.smoothing, reduction="sum")
            loss = loss / (o.batch * (target.shape[1] - 1))
            loss.backward()
            total += loss.item()
        torch.nn.utils.clip_grad_norm_(parameters, 1.0)
        adam.step()
        adam.zero_grad()
        decay = min(o.average, (step + 1) / (step + 10))
        with torch.no_grad():
            torch._foreach_lerp_(list(mean.parameters()), parameters, 1 - decay)
        if (step + 1) % o.report == 0:
            right = check(mean, probe)
            print(f"step {step + 1}  loss {total / o.report:.5f}  probe {right:.3f}"
                  f"  {time.time() - began:.0f} s", flush=True)
            total = 0.0
            save_file(mean.state_dict(), os.path.join(o.out, "dates.safetensors"))
    save_file(mean.state_dict(), os.path.join(o.out, "dates.safetensors"))


if __name__ == "__main__":
    main()
