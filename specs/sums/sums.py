"""Sums a + b = c with a and b from 0 to 999, one id per character, and which of them are held out.

    python sums.py            print a few
"""

import random
import zlib

SYMBOLS = ["<pad>", "<s>", "</s>"] + list("0123456789+=")
PAD, START, END = 0, 1, 2
ID = {s: i for i, s in enumerate(SYMBOLS)}
LONGEST = len("999+999=1998") + 1


def tokenizer():
    """Contents of tokenizer.json, a BPE without merges: one id per character."""
    marks = [{"id": ID[s], "content": s, "single_word": False, "lstrip": False, "rstrip": False, "normalized": False,
              "special": True} for s in SYMBOLS[:3]]
    return {"version": "1.0", "truncation": None, "padding": None, "added_tokens": marks, "normalizer": None,
            "pre_tokenizer": None, "post_processor": None, "decoder": {"type": "Fuse"},
            "model": {"type": "BPE", "unk_token": None, "vocab": ID, "merges": []}}


def held_out(a, b):
    """True for one pair in ten, chosen by a checksum of its text: never trained on."""
    return zlib.crc32(f"{a}+{b}".encode()) % 10 == 0


def number(rng):
    """Up to three digits, but a third of the time at most one or two, so that short numbers occur
    too."""
    return rng.randrange(10 ** rng.choice((1, 2, 3, 3, 3, 3)))


def sample(seed):
    """An endless stream of pairs to train on."""
    rng = random.Random(seed)
    while True:
        a, b = number(rng), number(rng)
        if not held_out(a, b):
            yield a, b


def held_out_pairs(count, seed):
    """Distinct held-out pairs of three-digit numbers; one pair in ten may have shorter ones."""
    rng, found = random.Random(seed), {}
    while len(found) < count:
        low = 0 if len(found) % 10 == 0 else 100
        a, b = rng.randrange(low, 1000), rng.randrange(low, 1000)
        if held_out(a, b):
            found[a, b] = True
    return list(found)


if __name__ == "__main__":
    for (a, b), _ in zip(sample(1), range(10)):
        print(f"{a}+{b}={a + b}")
