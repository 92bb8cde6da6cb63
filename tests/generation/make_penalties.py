"""Write penalties.txt for run.sh: answers with a repetition penalty or without repeated n-grams, of
models that end in a log-softmax and of one that does not.

    python make_penalties.py

Needs torch, transformers and safetensors. A line is `SPEC; OPTIONS; ids given; ids answered`. The
answers of `marian` are those of Hugging Face's `generate`. For the others the loop below is the
reference: a golden's model in f64, its logits before the log-softmax; scores below 0 are multiplied
by the penalty, and others are divided by it. Only inputs are kept for which the same loop on
log-probabilities gives different ids. """

import os
import sys

import torch
import transformers as tf
from safetensors.torch import load_file

HERE = os.path.dirname(os.path.abspath(__file__))
TESTS = os.path.join(HERE, "..")
sys.path[:0] = [os.path.join(TESTS, "goldens"), os.path.join(TESTS, "..", "specs", "dates")]

import choices  # noqa: E402
import make_goldens  # noqa: E402
import model as annotated  # noqa: E402
from choices_model import Transformer  # noqa: E402

SMALLEST_GAP = 1e-4         # smallest gap between the two best scores of a choice
PENALTIES = (0.6, 1.3, 2.5)
INPUTS = 3
ANNOTATED = "pre_annotated"


def penalised(scores, ids, penalty, ngram):
    """Hugging Face's repetition penalty, then no n-gram twice."""
    scores = scores.clone()
    seen = torch.tensor(sorted(set(ids)))
    scores[seen] = torch.where(scores[seen] < 0, scores[seen] * penalty, scores[seen] / penalty)
    for i in range(len(ids) - ngram + 1 if ngram else 0):
        if ngram == 1 or ids[i:i + ngram - 1] == ids[len(ids) - ngram + 1:]:
            scores[ids[i + ngram - 1]] = float("-inf")
    return scores


@torch.no_grad()
def greedy(model, source, penalty, ngram, softmaxed):
    """-> (ids after the start id or the prompt, smallest gap)."""
    gap = float("inf")
    memory = model.encode(torch.tensor([source])) if model.encoder else None
    ids = [model.start] if model.encoder else list(source)
    begin, longest = len(ids), model.longest + (not model.encoder)
    while len(ids) < longest and (len(ids) == begin or ids[-1] != model.end):
        scores = model.decode(memory, torch.tensor([ids]))[0, -1]
        if softmaxed:
            scores = scores.log_softmax(-1)
        best = penalised(scores, ids, penalty, ngram).topk(2)
        gap = min(gap, (best.values[0] - best.values[1]).item())
        ids.append(best.indices[0].item())
    return ids[begin:], gap


def text(ids):
    return " ".join(map(str, ids))


def annotated_model(name):
    """The Annotated Transformer of specs/dates/model.py."""
    case = next(c for c in make_goldens.CASES if c.name == name)
    model = annotated.Transformer(annotated.Config(**make_goldens.DIMENSIONS | case.model))
    model.start, model.end, model.longest = make_goldens.START, make_goldens.END, case.max_target
    return model, make_goldens.DIMENSIONS["source_vocab"], case.seed


def chosen_model(name):
    case = next(c for c in choices.CASES if c.name == name)
    model = Transformer(case.spec)
    model.start, model.end, model.longest = model.spec.start_id, model.spec.end_id, model.spec.max_target
    return model, model.spec.source_vocab if model.encoder else model.spec.target_vocab, case.seed


def of_golden(name):
    model, vocab, seed = (annotated_model if name == ANNOTATED else chosen_model)(name)
    model.load_state_dict(load_file(os.path.join(TESTS, "goldens", name + ".safetensors")))
    model = model.double().eval()
    rng = torch.Generator().manual_seed(seed)
    for penalty, ngram in [(p, 0) for p in PENALTIES] + [(1.3, 2)]:
        found = tried = 0
        while found < INPUTS and tried < 400:
            tried += 1
            source = torch.randint(3, vocab, (2 + found,), generator=rng).tolist()
            ids, gap = greedy(model, source, penalty, ngram, False)
            if gap < SMALLEST_GAP or ids == greedy(model, source, penalty, ngram, True)[0]:
                continue
            found += 1
            options = f"--repeat-penalty {penalty}" + (f" --no-repeat-ngram {ngram}" if ngram else "")
            yield f"tests/goldens/{name}.lua; {options}; {text(source)}; {text(ids)}"


def of_marian():
    """Answers of transformers, also with beams, where the rules act on log-probabilities."""
    model = tf.MarianMTModel.from_pretrained(os.path.join(TESTS, "families", "marian"), dtype=torch.float32).eval()
    rng = torch.Generator().manual_seed(5)
    for penalty in PENALTIES:
        for beams in (1, 3):
            source = torch.randint(3, 90, (7,), generator=rng)
            with torch.no_grad():
                ids = model.generate(source[None], repetition_penalty=penalty, num_beams=beams, do_sample=False, max_new_tokens=8,
                                     no_repeat_ngram_size=0, bad_words_ids=None, forced_eos_token_id=None)
            ids = ids[0].tolist()[1:]
            options = f"--repeat-penalty {penalty} --beam {beams} -n 8"
            yield f"marian; {options}; {text(source.tolist())}; {text(ids)}"


if __name__ == "__main__":
    torch.set_num_threads(1)
    made = [line for name in (ANNOTATED, "other_marks", "kind_decoder_post") for line in of_golden(name)] + list(of_marian())
    with open(os.path.join(HERE, "penalties.txt"), "w", newline="\n") as f:
        f.write("# written by make_penalties.py: spec; options; ids given; ids answered\n")
        f.writelines(line + "\n" for line in made)
