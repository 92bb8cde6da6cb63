"""Draw SentencePiece models at random, and compare xformc with the library.

    python draw_models.py XFORMC [--seed N] [--count N] [--keep FOLDER]

Needs sentencepiece 0.2.3. Most models have one or two of the edits of EDITS, which damage a model
or only change it. A model agrees if the library rejects it and xformc exits with 65, or if each
text has the library's ids, and these ids and random others have the library's text. xformc may
reject more, with a message of UNSUPPORTED. The messages are counted. Ids with an unknown or a
control piece are not decoded, since the library writes different text for them. Exits with 1 if a
model differs."""
import argparse, collections, json, os, random, struct, subprocess, sys, tempfile

import sentencepiece
from sentencepiece import sentencepiece_model_pb2 as pb

NORMAL, UNKNOWN, CONTROL, USER, UNUSED, BYTE = range(1, 7)
# The library accepts a NaN among the scores of a BPE, and a user-defined or unused piece that is a
# single byte 0.
UNSUPPORTED = ("is NaN", "has a zero byte", "unused pieces of a BPE model",
               "a SentencePiece model of type", "without normal pieces", "treat_whitespace_as_suffix is not supported",
               "at most 2048 are supported",
               "a denormalizer_spec with a precompiled_charsmap is not supported")
WORDS = ("the house by the river was empty and nobody knew why she did not ask they will tell it is "
         "five naïve Straße 365").split()
ODD = ["Ж", "日本", "😀", "é", "ﬁ", "²", "\t", "  ", "   ", "\u00a0", "...", "<s>", "</s>", "<unk>",
       "<0x41>", "[U1]", "[U 2]", "▁"]


def trained(root):
    """Small trained models of both kinds."""
    r, out = random.Random(1), []
    path = os.path.join(root, "corpus.txt")
    with open(path, "w") as f:
        for _ in range(400):
            f.write(" ".join(r.choice(WORDS) for _ in range(r.randrange(3, 12))) + "\n")
    for kind in ("unigram", "bpe"):
        for more in (dict(), dict(byte_fallback=True), dict(add_dummy_prefix=False),
                     dict(normalization_rule_name="identity", remove_extra_whitespaces=False),
                     dict(user_defined_symbols="[U1],[U 2]"),
                     dict(pad_id=0, eos_id=1, unk_id=2, bos_id=-1),
                     dict(normalization_rule_name="nmt_nfkc_cf")):
            size = 420 if more.get("byte_fallback") else 160
            prefix = os.path.join(root, "model")
            sentencepiece.SentencePieceTrainer.train(
                input=path, model_prefix=prefix, model_type=kind, vocab_size=size,
                hard_vocab_limit=False, minloglevel=2, **more)
            with open(prefix + ".model", "rb") as f: out.append(f.read())
    return out


# ---- edits: each changes the model m, or returns new bytes for it

def add(m, text, kind=NORMAL, score=-3.0):
    p = m.pieces.add()
    p.piece, p.score, p.type = text, score, kind


def pick(m, r, kind=NORMAL):
    found = [p for p in m.pieces if p.type == kind]
    return r.choice(found) if found else r.choice(m.pieces)


def twice(m, r): add(m, r.choice(m.pieces).piece, r.choice((NORMAL, NORMAL, CONTROL, USER, UNUSED)))
def empty(m, r): add(m, "", r.choice((NORMAL, CONTROL, USER)))
def emptied(m, r): r.choice(m.pieces).piece = ""
def nul(m, r): add(m, r.choice(("\0", "a\0", "x\0y")), r.choice((NORMAL, CONTROL, USER, UNUSED)))
def unknown_twice(m, r): add(m, "<unk2>", UNKNOWN)
def unknown_none(m, r): pick(m, r, UNKNOWN).type = r.choice((NORMAL, CONTROL))
def byte_more(m, r):
    texts = ("<0x41>", "<0xab>", "<0x 1>", "<0x-1>", "<0x41>x", "<0x411>", "a", "<0X41>")
    add(m, r.choice(texts), BYTE)
def byte_less(m, r): pick(m, r, BYTE).type = r.choice((NORMAL, CONTROL, UNUSED))
def byte_renamed(m, r): pick(m, r, BYTE).piece = r.choice(("<0xab>", "<0x00>", "<0xG0>", "zzz"))
def fallback(m, r): m.trainer_spec.byte_fallback = not m.trainer_spec.byte_fallback
def infinite(m, r): r.choice(m.pieces).score = r.choice((float("inf"), float("-inf"), float("nan")))
def charsmap(m, r):
    n = r.choice((0, 1, 4, 1020, 1024, 2048, 4096))
    more = r.choice((0, 0, 1, 7))
    data = bytes(r.choice((n, n, max(n - 1, 0))) + more)
    m.normalizer_spec.precompiled_charsmap = struct.pack("<I", n) + data
def charsmap_short(m, r): m.normalizer_spec.precompiled_charsmap = bytes(r.randrange(1, 6))
def no_pieces(m, r):
    for p in m.pieces:
        if p.type != UNKNOWN: p.type = CONTROL
def cut(m, r):
    data = m.SerializeToString()
    return data[:len(data) - r.randrange(1, 5)]
def denormaliser(m, r):
    m.denormalizer_spec.CopyFrom(m.normalizer_spec)
    m.denormalizer_spec.add_dummy_prefix = r.random() < 0.5
def denormaliser_broken(m, r): m.denormalizer_spec.precompiled_charsmap = b"\1\2\3"


# These change a model, which usually stays valid.
def unknown_moved(m, r):
    p = pick(m, r)
    for q in m.pieces:
        if q.type == UNKNOWN: q.type = r.choice((CONTROL, NORMAL))
    p.type = UNKNOWN
def unknown_said(m, r): m.trainer_spec.unk_id = r.randrange(-1, len(m.pieces) + 3)
def ends_said(m, r):
    m.trainer_spec.bos_id, m.trainer_spec.eos_id = r.randrange(-1, 9), r.randrange(-1, 9)
def ends_named(m, r):
    m.trainer_spec.bos_piece = r.choice(m.pieces).piece
    m.trainer_spec.eos_piece = r.choice(("</s>", "</t>", "<unk>"))
def scores(m, r):
    for p in m.pieces:
        if r.random() < 0.3: p.score = r.choice((-1.0, -2.5, -100.0, 0.0, 3.0, p.score * 1.5))
def huge(m, r): r.choice(m.pieces).score = r.choice((1e30, -1e30, 3.4e38, -3.4e38))
def user(m, r): add(m, r.choice(("er", "th", "[U1]", "x y", "日本", "é")), USER)
def control(m, r): add(m, r.choice(("er", "[C]", "日本")), CONTROL)
def unused(m, r): pick(m, r).type = UNUSED
def drops(m, r):
    p = pick(m, r)
    m.pieces.remove(p)
def word(m, r):
    texts = ("qq", "▁qq", "<0x41>", "日本", "é", "▁▁", "a▁b")
    add(m, r.choice(texts), NORMAL, r.uniform(-9, 0))
def shuffled(m, r):
    pieces = list(m.pieces)
    r.shuffle(pieces)
    copy = pb.ModelProto()
    copy.CopyFrom(m)
    del copy.pieces[:]
    copy.pieces.extend(pieces)
    return copy.SerializeToString()
def kind_unknown(m, r):
    return m.SerializeToString() + b"\n\x0b\n\x02zz\x15\0\0\0\xc0\x18" + bytes([r.randrange(7, 20)])
def not_utf8(m, r): return m.SerializeToString() + b"\n\x09\n\x02a\xff\x15\0\0\0\xc0"
def spec_twice(m, r): return m.SerializeToString() + b"\x1a\x02\x18" + bytes([r.randrange(2)])
def model_kind(m, r): m.trainer_spec.model_type = r.randrange(1, 5)
def model_unknown(m, r):
    return m.SerializeToString() + b"\x12\x02\x18" + bytes([r.choice((0, 5, 9))])
def suffix(m, r): m.trainer_spec.treat_whitespace_as_suffix = True
def spaces(m, r):
    n = m.normalizer_spec
    n.add_dummy_prefix, n.remove_extra_whitespaces = r.random() < 0.5, r.random() < 0.5
    n.escape_whitespaces = r.random() < 0.8
def unknown_field(m, r): return m.SerializeToString() + b"\xaa\x06\x02ab\xa0\x06\x05"
def self_test(m, r): return m.SerializeToString() + b"\x22\x08\n\x06\n\x01a\x12\x01b"


EDITS = [twice, empty, emptied, nul, unknown_twice, unknown_none, byte_more, byte_less,
         byte_renamed, fallback, infinite, charsmap, charsmap_short, no_pieces, cut, denormaliser,
         denormaliser_broken, unknown_moved, unknown_said, ends_said, ends_named, scores, huge,
         user, control, unused, drops, word, shuffled, kind_unknown, not_utf8, spec_twice,
         model_kind, model_unknown, suffix, spaces, unknown_field, self_test]


# ---- answers

def draw_texts(r):
    out = ["", "the house", " the  house "]
    for _ in range(5):
        words = [r.choice(WORDS if r.random() < 0.75 else ODD) for _ in range(r.randrange(1, 9))]
        out.append("".join(w + r.choice((" ", " ", " ", "")) for w in words))
    return out


def draw_ids(s, r):
    """Random ids, with many bytes and many pieces that begin with a blank."""
    pieces = pb.ModelProto.FromString(s.serialized_model_proto()).pieces
    known = [i for i, p in enumerate(pieces)
             if p.type in (NORMAL, USER, BYTE) and isinstance(p.piece, str)]    # bytes: not UTF-8
    blank = [i for i in known if pieces[i].piece.startswith("▁")]
    byte = [i for i in known if s.IsByte(i)]
    kinds = [k for k in (known, blank, byte) if k]
    return [[r.choice(r.choice(kinds)) for _ in range(r.randrange(1, 7))] for _ in range(8) if kinds]


def of_library(path, texts, r):
    """The library's results, or its error."""
    s = sentencepiece.SentencePieceProcessor()
    try: s.Load(path)
    except Exception as e: return None, str(e)
    ids = [s.EncodeAsIds(x) for x in texts]
    decoded = [x for x in ids if x and not any(s.IsUnknown(i) or s.IsControl(i) for i in x)]
    decoded += draw_ids(s, r)
    said = lambda i: [i] if i >= 0 else []
    ends = (said(s.bos_id()), said(s.eos_id()))
    back = [s.DecodeIds(x) for x in decoded]
    return {"ids": ids, "decoded": decoded, "texts": back, "ends": ends}, None


def of_xformc(xformc, path, texts, decoded):
    def call(*words):
        r = subprocess.run([xformc, "tokenize", path, "--json", *words], capture_output=True,
                           text=True, errors="replace", timeout=60,
                           env={**os.environ, "XFORMC_CACHE": "off"})
        if r.returncode: return None, (r.returncode, r.stderr.strip() or "silence")
        return json.loads(r.stdout)["texts"], None
    a, why = call("--no-special", "--", *texts)
    if a is None: return None, why
    whole, why = call("--", texts[1])
    if whole is None: return None, why
    lines = [" ".join(map(str, x)) for x in decoded]
    b, why = call("--decode", "--", *lines) if lines else ([], None)
    if b is None: return None, why
    ids, back = [x["ids"] for x in a], [x["text"] for x in b]
    return {"ids": ids, "texts": back, "whole": whole[0]["ids"]}, None


def differs(texts, wanted, found, unigram):
    for x, a, b in zip(texts, wanted["ids"], found["ids"]):
        if a != b: return f"{x!r}: wanted {a}, found {b}"
    for x, a, b in zip(wanted["decoded"], wanted["texts"], found["texts"]):
        if a != b: return f"decode of {x}: wanted {a!r}, found {b!r}"
    bos, eos = wanted["ends"]
    whole = wanted["ids"][1] + eos if unigram else bos + wanted["ids"][1]
    if found["whole"] != whole: return f"with its ends: wanted {whole}, found {found['whole']}"


def compare(xformc, path, unigram, r):
    """The verdict and its reason."""
    texts = draw_texts(r)
    wanted, fault = of_library(path, texts, r)
    found, why = of_xformc(xformc, path, texts, wanted["decoded"] if wanted else [])
    if why and why[0] != 65: return "differs", f"exit {why[0]}: {why[1]}"
    if wanted is None and found: return "differs", f"the library says {fault}"
    if why:
        said = why[1].split("error: ")[-1].splitlines()[0]
        if wanted is None: return "refused by both", said
        return "unsupported" if any(u in why[1] for u in UNSUPPORTED) else "differs", said
    wrong = differs(texts, wanted, found, unigram)
    return ("differs", wrong) if wrong else ("agreed", None)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("xformc")
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--count", type=int, default=500)
    p.add_argument("--keep", help="copy the models that differ to FOLDER", metavar="FOLDER")
    o = p.parse_args()
    sentencepiece.set_min_log_level(2)
    xformc, count, reasons = os.path.abspath(o.xformc), collections.Counter(), collections.Counter()
    with tempfile.TemporaryDirectory() as root:
        models, path = trained(root), os.path.join(root, "drawn.model")
        for number in range(o.count):
            r = random.Random(f"{o.seed} {number}")
            m = pb.ModelProto.FromString(r.choice(models))
            edits = r.sample(EDITS, r.choice((0, 1, 1, 1, 1, 2, 2, 3)))
            for edit in edits:
                data = edit(m, r)
                if data is not None and edit is not edits[-1] and edit is not cut:
                    m = pb.ModelProto.FromString(data)
            data = data if edits and data is not None else m.SerializeToString()
            with open(path, "wb") as f: f.write(data)
            verdict, why = compare(xformc, path, m.trainer_spec.model_type == 1, r)
            count[verdict] += 1
            if verdict == "differs":
                print(f"{o.seed}-{number} {', '.join(e.__name__ for e in edits)}\n    {why}")
                if o.keep:
                    os.makedirs(o.keep, exist_ok=True)
                    kept = os.path.join(o.keep, f"{o.seed}-{number}.model")
                    with open(kept, "wb") as f: f.write(data)
            elif why:
                why = "".join("N" if c.isdigit() else c for c in why)
                reasons[f"{verdict}: {why[:90]}"] += 1
    for why, n in reasons.most_common(): print(f"{n:4}  {why}")
    counts = ", ".join(f"{n} {v}" for v, n in sorted(count.items()))
    print(f"seed {o.seed}: {o.count} models: {counts}")
    return count["differs"] > 0


if __name__ == "__main__":
    sys.exit(main())
