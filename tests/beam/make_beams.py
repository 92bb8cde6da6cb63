"""Beam search in PyTorch over models of tests/goldens: the reference for the engines.

    python make_beams.py            # needs torch and safetensors; the same bytes each time

The rules are those of Hugging Face's generate, step by step on arrays of fixed size, with -1e9 for
empty entries. Every step recomputes all sequences, in f64 on the f32 weights. A source or prompt
is used only if every choice in its searches is clear: neighbours in a ranking differ by at least
SMALLEST_GAP. """

import os
import sys

import torch
from safetensors.torch import load_file

HERE = os.path.dirname(os.path.abspath(__file__))
GOLDENS = os.path.join(HERE, "..", "goldens")
sys.path[:0] = [GOLDENS, os.path.join(HERE, "..", "..", "specs", "dates")]

import choices  # noqa: E402
from choices_model import Transformer  # noqa: E402

SMALLEST_GAP = 1e-4
NOTHING = -1e9
NAMES = ["like_marian", "like_t5", "other_marks", "like_llama", "like_llama_tied", "kind_decoder_post"]
# beams, length penalty, early stopping
SETTINGS = [(1, 1, "false"), (2, 1, "false"), (3, 1, "false"), (4, 1, "false"), (4, 0, "false"), (4, 0.6, "true"),
            (3, 1, "true"), (3, 1, "never"), (4, 2, "false"), (2, 2, "never"), (2, -1, "false")]
FALSE, TRUE, NEVER = (SETTINGS.index((3, 1, early)) for early in ("false", "true", "never"))
INPUTS = 3
ENDS_OFTEN = "other_marks"      # each early-stopping mode gives a different answer to its last input


class Gap:
    """The smallest difference between two neighbours in any ranking."""

    def __init__(self):
        self.smallest = float("inf")

    def top(self, values, n):
        """Indices of the n largest, largest first."""
        order = values.sort(descending=True, stable=True)
        seen = order.values[:n + 1]
        gaps = (seen[:-1] - seen[1:])[seen[:-1] > NOTHING / 2]
        if len(gaps):
            self.smallest = min(self.smallest, gaps.min().item())
        return order.indices[:n]

    def compare(self, a, b):
        if b > NOTHING / 2:
            self.smallest = min(self.smallest, abs(a - b))
        return a > b


def greedy(model, memory, prompt, most, gap):
    """One beam is not a search: the most likely id is chosen until the end. -> [(sum of
    log-probabilities, generated ids)]."""
    ids, total = list(prompt), 0.0
    while len(ids) - len(prompt) < most and (ids == prompt or ids[-1] != model.spec.end_id):
        scores = model.decode(memory, torch.tensor([ids]))[0, -1].log_softmax(-1)
        best = gap.top(scores, 1).item()
        ids, total = ids + [best], total + scores[best].item()
    return [(total, ids[len(prompt):])]


@torch.no_grad()
def search(model, source, prompt, most, beams, penalty, early, gap):
    """-> [(score, generated ids)], best first."""
    spec = model.spec
    vocab, kept = spec.target_vocab, 2 * beams
    memory = model.encode(source) if source is not None else None
    if beams == 1:
        return greedy(model, memory, prompt, most, gap)
    running, running_scores = [prompt] * beams, torch.tensor([0.0] + [NOTHING] * (beams - 1), dtype=torch.double)
    pool, pool_scores = [None] * beams, torch.full((beams,), NOTHING, dtype=torch.double)
    length = 0
    while True:
        batch = torch.tensor(running)
        logits = model.decode(memory.expand(beams, -1, -1) if memory is not None else None, batch)[:, -1]
        sums = (logits.log_softmax(-1) + running_scores[:, None]).flatten()
        best = gap.top(sums, kept)
        length += 1
        candidates = [running[i // vocab] + [i % vocab] for i in best.tolist()]
        hits = torch.tensor([c[-1] == spec.end_id or length == most for c in candidates])
        sums = sums[best]

        going = sums.masked_fill(hits, NOTHING)
        chosen = gap.top(going, beams)

        scores = sums / length ** penalty
        scores = scores.masked_fill(~hits | (torch.arange(kept) >= beams), NOTHING)
        merged, merged_scores = pool + candidates, torch.cat([pool_scores, scores])
        finished = gap.top(merged_scores, beams)
        pool, pool_scores = [merged[i] for i in finished.tolist()], merged_scores[finished]
        running, running_scores = [candidates[i] for i in chosen.tolist()], going[chosen]

        full = bool((pool_scores > NOTHING / 2).all())
        late = most if early == "never" and penalty > 0 else length
        possible = running_scores[0].item() / late ** penalty
        if hits.all() or (full and early == "true"):
            break
        if full and not gap.compare(possible, pool_scores.min().item()):
            break
    return [(score, ids[len(prompt):]) for score, ids in zip(pool_scores.tolist(), pool) if score > NOTHING / 2]


def answers(model, ids):
    """([setting and results], smallest gap) for a source or a prompt, with all settings."""
    spec, gap = model.spec, Gap()
    if model.encoder:
        source, prompt, most = torch.tensor([ids]), [spec.start_id], spec.max_target - 1
    else:
        source, prompt, most = None, ids, spec.max_target - len(ids) + 1        # the last id is not read
    return [(s, search(model, source, prompt, most, *s, gap)) for s in SETTINGS], gap.smallest


def text(ids):
    return " ".join(map(str, ids))


def write(name):
    case = next(c for c in choices.CASES if c.name == name)
    model = Transformer(case.spec)
    model.load_state_dict(load_file(os.path.join(GOLDENS, name + ".safetensors")))
    model = model.double().eval()
    rng = torch.Generator().manual_seed(case.seed)
    vocab = model.spec.source_vocab if model.encoder else model.spec.target_vocab
    head = "# written by make_beams.py: beams, length penalty, early stopping: ids; then score: ids, best first; of one beam the sum"
    lines, found, tried = [head], 0, 0
    while found < INPUTS:
        tried += 1
        count = 4 + found if model.encoder else 1 + 2 * found
        ids = torch.randint(3, vocab, (count,), generator=rng).tolist()
        results, gap = answers(model, ids)
        differ = results[FALSE][1] != results[NEVER][1] != results[TRUE][1] != results[FALSE][1]
        if gap < SMALLEST_GAP or (name == ENDS_OFTEN and found == INPUTS - 1 and not differ):
            continue
        found += 1
        for (beams, penalty, early), sequences in results:
            lines.append(f"{beams} {penalty} {early}: {text(ids)}")
            lines += [f"  {score:.9f}: {text(sequence)}" for score, sequence in sequences]
    with open(os.path.join(HERE, name + ".beams"), "w", newline="\n") as f:
        f.write("\n".join(lines) + "\n")
    ended = sum(line.startswith("  ") and line.endswith(f" {model.spec.end_id}") for line in lines)
    print(f"{name:20} {found} of {tried} inputs, {ended} of {sum(line.startswith('  ') for line in lines)} sequences ended")


if __name__ == "__main__":
    torch.set_num_threads(1)
    for one in NAMES:
        write(one)
