"""Write rules.txt for test_generation.c: logits after the processors of Hugging Face's `generate`.

    python make_rules.py

Needs torch and transformers. Each line of a case is a word and its values. The last line is
`scores`, the expected logits of all ids; -inf is a forbidden id. """

import os
import random

import torch
from transformers.generation import logits_process as hf

HERE = os.path.dirname(os.path.abspath(__file__))
VOCAB = 24
ENDS = [3, 9]


def number(x):
    return "-inf" if x == float("-inf") else f"{x:.9g}"


def case(rng, index):
    """Settings by their names in rt_generation_options.def or RtProcessors, the prompt, the ids so
    far, and the maximum length."""
    s, rules = {}, index % 14
    prompt = [rng.randrange(VOCAB) for _ in range(rng.choice((1, 1, 3, 6)))]
    ids = prompt + [rng.randrange(8) for _ in range(rng.choice((0, 0, 2, 5, 9)))]
    if rules in (0, 11):
        s["repetition_penalty"] = rng.choice((0.7, 1.3, 2.0))
    if rules in (1, 11):
        s["no_repeat_ngram"] = rng.choice((1, 2, 3))
    if rules in (2, 11):
        s["bad_words"] = [[rng.randrange(VOCAB) for _ in range(rng.choice((1, 1, 2, 3)))] for _ in range(4)]
        s["bad_words"] = [w for w in s["bad_words"] if not (len(w) == 1 and w[0] in ENDS)] or [[1]]
    if rules == 3:
        s["min_length"] = rng.randrange(1, 12)
    if rules in (4, 11):
        s["min_new"] = rng.randrange(1, 8)
    if rules == 5:
        s["first"] = rng.randrange(VOCAB)
    if rules == 6:
        s["last"] = rng.randrange(VOCAB)
    if rules == 7:
        s["suppress"] = rng.sample(range(VOCAB), 3)
        s["begin_suppress"] = rng.sample(range(VOCAB), 3)
        if rng.random() < 0.5:
            s["first"] = rng.randrange(VOCAB)
    if rules >= 8:
        s["temperature"] = rng.choice((0.3, 1.0, 1.7))
    if rules in (8, 12, 13):
        s["top_k"] = rng.choice((1, 3, 7, 30))
    if rules in (9, 12, 13):
        s["top_p"] = rng.choice((0.1, 0.5, 0.9, 0.99))
    if rules in (10, 12):
        s["min_p"] = rng.choice((0.05, 0.3, 0.9))
    if rules == 13:
        s["typical_p"] = rng.choice((0.2, 0.6, 0.95))
    longest = len(ids) + rng.choice((1, 1, 5))
    return s, prompt, ids, longest


def processors(s, prompt, longest):
    """In the order of GenerationMixin: those for every search, then those for sampling."""
    out, n = [], len(prompt)
    if "repetition_penalty" in s:
        out.append(hf.RepetitionPenaltyLogitsProcessor(s["repetition_penalty"]))
    if "no_repeat_ngram" in s:
        out.append(hf.NoRepeatNGramLogitsProcessor(s["no_repeat_ngram"]))
    if "bad_words" in s:
        out.append(hf.NoBadWordsLogitsProcessor(s["bad_words"], ENDS))
    if "min_length" in s:
        out.append(hf.MinLengthLogitsProcessor(s["min_length"], ENDS))
    if "min_new" in s:
        out.append(hf.MinNewTokensLengthLogitsProcessor(n, s["min_new"], ENDS))
    if "first" in s:
        out.append(hf.ForcedBOSTokenLogitsProcessor(s["first"]))
    if "last" in s:
        out.append(hf.ForcedEOSTokenLogitsProcessor(longest, s["last"]))
    if "suppress" in s:
        begin = n if n > 1 or "first" not in s else n + 1
        out.append(hf.SuppressTokensLogitsProcessor(s["suppress"]))
        out.append(hf.SuppressTokensAtBeginLogitsProcessor(s["begin_suppress"], begin))
    if "temperature" in s and s["temperature"] != 1.0:
        out.append(hf.TemperatureLogitsWarper(s["temperature"]))
    if "top_k" in s:
        out.append(hf.TopKLogitsWarper(s["top_k"]))
    if "top_p" in s:
        out.append(hf.TopPLogitsWarper(s["top_p"]))
    if "min_p" in s:
        out.append(hf.MinPLogitsWarper(s["min_p"]))
    if "typical_p" in s:
        out.append(hf.TypicalLogitsWarper(s["typical_p"]))
    return out


def main():
    rng = random.Random(1)
    lines = []
    for index in range(280):
        s, prompt, ids, longest = case(rng, index)
        levels = rng.choice((None, None, 4))        # few distinct values give many ties, whose order torch.sort leaves open
        levels = None if "top_p" in s else levels
        logits = [rng.uniform(-4, 4) if levels is None else float(rng.randrange(levels)) for _ in range(VOCAB)]
        scores = torch.tensor([logits])
        logits = scores[0].tolist()
        for p in processors(s, prompt, longest):
            scores = p(torch.tensor([ids]), scores)
        for key, value in s.items():
            if key == "bad_words":
                value = [x for word in value for x in [len(word)] + word]
            lines.append(f"{key} " + " ".join(map(str, value if isinstance(value, list) else [value])))
        lines.append("prompt " + str(len(prompt)))
        lines.append("ids " + " ".join(map(str, ids)))
        lines.append(f"longest {longest}")
        lines.append("logits " + " ".join(map(number, logits)))
        lines.append("scores " + " ".join(map(number, scores[0].tolist())))
    with open(os.path.join(HERE, "rules.txt"), "w", newline="\n") as f:
        f.writelines(line + "\n" for line in lines)


if __name__ == "__main__":
    main()
