"""Texts of brackets of three kinds, balanced or not; the split; the tokenizer.

    python brackets.py        print a few
"""

import random
import zlib

PAIRS = ("()", "[]", "{}")
SYMBOLS = ["<pad>", "<s>"] + [c for pair in PAIRS for c in pair]
PAD, START = 0, 1
ID = {s: i for i, s in enumerate(SYMBOLS)}
LABELS = ("unbalanced", "balanced")
MOST = 16                       # brackets; 17 ids with <s>


def tokenizer():
    """Contents of tokenizer.json, a BPE without merges: <s>, then one id per character."""
    marks = [{"id": ID[s], "content": s, "single_word": False, "lstrip": False, "rstrip": False, "normalized": False,
              "special": True} for s in SYMBOLS[:2]]
    first = {"SpecialToken": {"id": "<s>", "type_id": 0}}
    return {"version": "1.0", "truncation": None, "padding": None, "added_tokens": marks, "normalizer": None, "pre_tokenizer": None,
            "post_processor": {"type": "TemplateProcessing", "single": [first, {"Sequence": {"id": "A", "type_id": 0}}],
                               "pair": [first, {"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 0}}],
                               "special_tokens": {"<s>": {"id": "<s>", "ids": [START], "tokens": ["<s>"]}}},
            "decoder": {"type": "Fuse"}, "model": {"type": "BPE", "unk_token": None, "vocab": ID, "merges": []}}


def is_balanced(text):
    open_ones = []
    for c in text:
        pair = next(p for p in PAIRS if c in p)
        if c == pair[0]:
            open_ones.append(c)
        elif not open_ones or open_ones.pop() != pair[0]:
            return False
    return not open_ones


def balanced(rng, half):
    """A balanced text of `half` pairs. Where a bracket may open or close a pair, chance decides."""
    text, open_ones = [], []
    for left in range(2 * half, 0, -1):
        if len(open_ones) < left and (not open_ones or rng.random() < 0.5):
            open_ones.append(rng.choice(PAIRS))
            text.append(open_ones[-1][0])
        else:
            text.append(open_ones.pop()[1])
    return "".join(text)


def spoiled(rng, text):
    """One or two brackets changed, swapped, dropped or added: usually unbalanced, but never by
    much."""
    for _ in range(rng.choice((1, 1, 2))):
        at, other, how = rng.randrange(len(text)), rng.randrange(len(text)), rng.randrange(4)
        if how == 0:
            text = text[:at] + rng.choice(SYMBOLS[2:]) + text[at + 1:]
        elif how == 1 and at != other:
            low, high = min(at, other), max(at, other)
            text = text[:low] + text[high] + text[low + 1:high] + text[low] + text[high + 1:]
        elif how == 2 and len(text) > 1:
            text = text[:at] + text[at + 1:]
        elif how == 3 and len(text) < MOST:
            text = text[:at] + rng.choice(SYMBOLS[2:]) + text[at:]
    return text


def held_out(text):
    """True for one text in ten, chosen by a checksum: never trained on."""
    return zlib.crc32(text.encode()) % 10 == 0


def texts(seed):
    """An endless stream of texts, about half of them balanced."""
    rng = random.Random(seed)
    while True:
        text = balanced(rng, rng.randint(1, MOST // 2))
        yield text if rng.random() < 0.47 else spoiled(rng, text)


def held_out_texts(count, seed):
    """Distinct held-out texts of at least 8 brackets."""
    found = {}
    for text in texts(seed):
        if len(text) >= 8 and held_out(text):
            found[text] = True
            if len(found) == count:
                return list(found)


if __name__ == "__main__":
    for text, _ in zip(texts(1), range(10)):
        print(LABELS[is_balanced(text)], text)
