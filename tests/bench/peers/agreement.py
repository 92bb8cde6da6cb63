"""Check that a peer computes what xformc computes, before it is timed.

The reference is xformc in f32; for a model too large for that, the first side of the row: xformc in
the row's own dtype, or the first peer if xformc is missing. For logits and hidden states the
distance is max|a - b| / max|b|; the correlation shows that both are the same function. """

import numpy as np

from rows import LLAMA, SENTENCES
from shapes import LLAMAS
from worker import CHECKED_IDS

# (largest distance, least correlation) by a row's number format. Limits for rounded weights leave
# room above what random normal weights, the hardest to round, give: 0.06 and 0.998 in int8, 0.09
# and 0.997 between two kinds of int8 over 22 layers, 0.45 and 0.915 in Q4_0. Rotary pairs in the
# wrong order give 0.74 and 0.867 in f32. llama.cpp keeps keys and values in f16 by default.
LIMITS = {"f32": (1e-4, 0.9999999), "f32 in llama.cpp": (5e-3, 0.99999), "int8": (0.15, 0.99), "int4": (0.6, 0.9)}


class Disagreement(Exception):
    pass


def numbers(r, data):
    """(f32 numbers, greedy ids or None)"""
    if r.work != "batch":
        return np.frombuffer(data, dtype=np.float32), None
    size = 4 * CHECKED_IDS * LLAMAS[r.model].vocab
    return np.frombuffer(data[:size], dtype=np.float32), np.frombuffer(data[size:], dtype=np.int32)


def compare_texts(reference, found):
    a, b = reference.decode().splitlines(), found.decode().splitlines()
    same = sum(x == y for x, y in zip(a, b))
    if not len(a) == len(b) == same == SENTENCES:
        raise Disagreement(f"{len(b)} answers, {same} of them the same as xformc's; expected {SENTENCES}")
    return {"same_answers": same}


def limits(r, peer):
    return LIMITS["f32 in llama.cpp" if r.dtype == "f32" and peer == LLAMA else r.dtype]


def compare(r, peer, reference, found):
    """The entry for the results. Raises Disagreement."""
    if r.work == "texts":
        return compare_texts(reference, found)
    (b, _), (a, ids) = numbers(r, reference), numbers(r, found)
    if a.shape != b.shape or not np.isfinite(a).all():
        raise Disagreement(f"{a.size} numbers, {np.isfinite(a).sum()} of them finite; expected {b.size} finite ones")
    distance, correlation = float(np.abs(a - b).max() / np.abs(b).max()), float(np.corrcoef(a, b)[0, 1])
    most, least = limits(r, peer)
    if distance > most or correlation < least:
        raise Disagreement(f"distance {distance:.3g} (at most {most}), correlation {correlation:.6g} (at least {least})")
    kept = {"distance": float(f"{distance:.3g}"), "correlation": float(f"{correlation:.7g}")}
    if ids is not None and (ids.size != r.n * r.batch or ids.min() < 0 or ids.max() >= LLAMAS[r.model].vocab):
        raise Disagreement("ids outside the vocabulary, or the wrong number of them")
    if r.model in LLAMAS:
        rows = (CHECKED_IDS, LLAMAS[r.model].vocab)
        kept["same_argmax"] = int((a.reshape(rows).argmax(1) == b.reshape(rows).argmax(1)).sum())
    return kept
