"""Compare xformc's tokenizer with Hugging Face's on random texts: ids, and decoded text with and
without special tokens.

usage: compare.py TOOL TOKENIZER.json [COUNT [SEED]]      TOOL: build/tests/tokenizer/tokenizer_tool
       compare.py TOOL TOKENIZER.json --all
                          every code point alone, after, before and between letters
Prints the number of differences of each kind, and up to 12 texts that decode differently or, with
-v as the last argument, differ at all; exits with 1 if any differ."""
import random, struct, subprocess, sys
from tokenizers import Tokenizer

SCRIPTS = [(0x20, 0x7f), (0xa0, 0x180), (0x370, 0x400), (0x400, 0x500), (0x530, 0x590), (0x590, 0x600), (0x600, 0x700), (0x900, 0x980),
           (0xe00, 0xe80), (0x1100, 0x1200), (0x1e00, 0x2000), (0x2000, 0x2070), (0x20d0, 0x2100), (0x2100, 0x2200), (0x2460, 0x2500),
           (0x3000, 0x3100), (0x3400, 0x3500), (0x4e00, 0x5000), (0xac00, 0xad00), (0xe000, 0xe010), (0xf900, 0xfa00), (0xfb00, 0xfb50),
           (0xfdf0, 0xfe10), (0xfe00, 0xfe10), (0xff00, 0xfff0), (0x1d400, 0x1d500), (0x1f1e6, 0x1f200), (0x1f300, 0x1f700),
           (0x20000, 0x20100), (0x2f800, 0x2f900), (0xe0100, 0xe01f0)]
WORDS = ["the", "'s", "'LL", " don't", "  ", "\n", "\r\n", "\t", " ", "▁", "123", "3.14", "ſ", "é", "e\u0301", "가", "각", "İ", "ǅ", "ß",
         "\u200d", "\ufe0f", "👍🏽", "👨‍👩‍👧", "🇩🇪🇫", "\u0000", "\ufffd", "\u00ad", "a" * 30, " " * 9, "ａｂｃ", "ﬁ", "½", "Ⅷ", "...", "!?", "<s>", "</s>",
         "[CLS]", "[MASK]", "<mask>", "<pad>",
         "<|endoftext|>", "<unk>", "<0x41>", "ক্ষ", "שָׁ", "Ελληνικά", "हिन्दी", "中文", "日本語", "한국어", "ไทย", "Привет"]

def character(r):
    while True:
        first, last = r.choice(SCRIPTS) if r.random() < 0.8 else (0, 0x110000)
        c = r.randrange(first, last)
        if not 0xd800 <= c < 0xe000: return chr(c)

def random_text(r):
    kind, out = r.random(), []
    for _ in range(r.randrange(0, 24)):
        x = r.random()
        if x < 0.35: out.append(r.choice(WORDS))
        elif x < 0.6: out.append(" " * r.randrange(1, 3))
        elif kind < 0.3: out.append(chr(r.randrange(0, 128)))
        else: out.append(character(r))
    return "".join(out)

def broken(r, text):
    """The bytes, sometimes with a few of them damaged, and the text they are read as."""
    data = bytearray(text.encode())
    if data and r.random() < 0.2:
        for _ in range(r.randrange(1, 4)): data[r.randrange(len(data))] = r.randrange(256)
    return bytes(data), bytes(data).decode("utf-8", errors="replace")

def every_code_point():
    for c in range(0x110000):
        if not 0xd800 <= c < 0xe000:
            yield chr(c) + "a" + chr(c) + " " + chr(c) + " 1" + chr(c) + "e\u0301" + chr(c)

def run(tool, path, data):
    records = b"".join(struct.pack("=I", len(d)) + d for d in data)
    out = subprocess.run([tool, path], input=records, stdout=subprocess.PIPE, check=True).stdout
    at, results = 0, []
    def u32():
        nonlocal at
        at += 4
        return struct.unpack_from("=I", out, at - 4)[0]
    for _ in data:
        n = u32()
        if n == 0xFFFFFFFF:
            results.append(None)
            continue
        ids = list(struct.unpack_from("=%dI" % n, out, at)); at += 4 * n
        texts = []
        for _ in range(2):
            m = u32(); texts.append(out[at:at + m].decode()); at += m
        results.append((ids, texts[0], texts[1]))
    return results

def theirs(t, text):
    try: e = t.encode(text)
    except Exception: return None
    return (e.ids, t.decode(e.ids, skip_special_tokens=False), t.decode(e.ids, skip_special_tokens=True))

def main():
    tool, path = sys.argv[1:3]
    t = Tokenizer.from_file(path)
    t.no_padding()
    if sys.argv[3:4] == ["--all"]: pairs = [(x.encode(), x) for x in every_code_point()]
    else:
        count, r = int(sys.argv[3]) if len(sys.argv) > 3 else 5000, random.Random(int(sys.argv[4]) if len(sys.argv) > 4 else 1)
        pairs = [broken(r, random_text(r)) for _ in range(count)]
    differences, shown = [0, 0, 0], 0
    for (data, text), ours in zip(pairs, run(tool, path, [d for d, _ in pairs])):
        want = theirs(t, text)
        if ours == want: continue
        for i in range(3):
            if ours is None or want is None or ours[i] != want[i]:
                differences[i] += 1
                if shown < 12 and (i == 1 or "-v" in sys.argv):
                    print(repr(text), "\n  ours  ", ours and ours[i], "\n  theirs", want and want[i])
                    shown += 1
                break
    print(f"{path}: {len(pairs)} texts; differences: {differences[0]} ids, {differences[1]} text, {differences[2]} text without specials")
    sys.exit(any(differences))

main()
