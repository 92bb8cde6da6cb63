"""Find where Hugging Face's tokenizers and utf8proc use different Unicode versions: the parts of
the former come from crates of different ages. Writes the rows of
compiler/tokenizer/tokenizer_eras.def by running Hugging Face's normalizers and pre-tokenizers on
every code point.

usage: probe.py DUMP        DUMP: build/tests/tokenizer/unicode_dump > FILE"""
import sys
from tokenizers import normalizers as N, pre_tokenizers as P, Regex

NAMES = ["CN", "LU", "LL", "LT", "LM", "LO", "MN", "MC", "ME", "ND", "NL", "NO", "PC", "PD", "PS", "PE", "PI", "PF", "PO", "SM", "SC", "SK", "SO",
         "ZS", "ZL", "ZP", "CC", "CF", "CS", "CO"]
ROWS = [[int(x) for x in line.split()] for line in open(sys.argv[1])]
ALL = [c for c in range(0x110000) if not 0xd800 <= c < 0xe000]
KIND = {c: NAMES[ROWS[c][0]] for c in ALL}

def rows(era, values):
    """Print {code point: value} as ranges."""
    out = []
    for c in sorted(values):
        if out and out[-1][1] == c - 1 and out[-1][2] == values[c]: out[-1][1] = c
        else: out.append([c, c, values[c]])
    for first, last, value in out: print(f"ERA({era}, 0x{first:X}, 0x{last:X}, {value})")

def middle(pre): return {c for c in ALL if len(pre.pre_tokenize_str("\n" + chr(c) + "\n")) == 3}
def removed(normalizer): return {c for c in ALL if normalizer.normalize_str(chr(c)) == ""}

def modern():
    found = {}
    for name in set(NAMES) - {"CN", "CC", "CS"}:        # the probe's neighbours are Cc
        for c in middle(P.Split(Regex(r"\p{%s}" % name.capitalize()), "isolated")): found[c] = name
    rows("MODERN", {c: found[c] for c in found if found[c] != KIND[c]})

def matched(pattern): return removed_by(N.Replace(Regex(pattern), ""))

def removed_by(n, size=4096):
    out = set()
    for i in range(0, len(ALL), size):
        some = ALL[i:i + size]
        out |= set(some) - set(map(ord, n.normalize_str("".join(map(chr, some)))))
    return out

def posix():
    """Members of [[:alpha:]], [[:lower:]] and [[:upper:]] outside L and Nl, Ll, and Lu
    respectively."""
    more = matched("[[:alpha:]]") - matched(r"[\p{L}\p{Nl}]")
    rows("ALPHABETIC", {c: 0 for c in more})
    rows("LOWERCASE", {c: 0 for c in matched("[[:lower:]]") - matched(r"\p{Ll}")})
    rows("UPPERCASE", {c: 0 for c in matched("[[:upper:]]") - matched(r"\p{Lu}")})

def bert():
    """Control characters, marks and punctuation as BertNormalizer and BertPreTokenizer classify
    them; a character that is none of these for them, but is for utf8proc, gets CN."""
    base = dict(clean_text=False, handle_chinese_chars=False, strip_accents=False, lowercase=False)
    control = removed(N.BertNormalizer(**{**base, "clean_text": True})) - {0, 0xFFFD}
    marks = removed(N.BertNormalizer(**{**base, "strip_accents": True}))
    pre = P.BertPreTokenizer()
    punctuation = {c for c in ALL if c > 127 and len(pre.pre_tokenize_str("a" + chr(c) + "b")) == 3}
    change = {}
    for c in ALL:
        k = KIND[c]
        theirs = "CF" if c in control else "MN" if c in marks else "PO" if c in punctuation else None
        ours = "CF" if k in ("CC", "CF", "CO") else "MN" if k == "MN" else "PO" if k[0] == "P" else None
        if theirs != ours and c not in (9, 10, 13) and c > 127: change[c] = theirs or "CN"
    rows("BERT", change)

def forms():
    strip = removed(N.StripAccents())
    rows("MARKS", {c: "MN" if c in strip else "CN" for c in ALL if (c in strip) != (KIND[c][0] == "M")})
    nfd, nfkd = N.NFD(), N.NFKD()
    change = {}
    for c in ALL:
        if 0xac00 <= c <= 0xd7a3: continue
        plain = not ROWS[c][2]
        if plain and ROWS[c][1]:        # does it swap places with marks of other classes?
            x, k = chr(c), ROWS[c][1]
            for m, v in (("\u0334", 1), ("\u0345", 240), ("\u0301", 230), ("\u0323", 220)):
                if nfd.normalize_str(x + m) != (m + x if k > v else x + m) or nfd.normalize_str(m + x) != (x + m if v > k else m + x): change[c] = 0
    rows("CLASS", change)
    rows("DECOMPOSE", {c: 0 for c in ALL if ROWS[c][3] and nfkd.normalize_str(chr(c)) == chr(c) and not 0xac00 <= c <= 0xd7a3})

def lower():
    n = N.Lowercase()
    change = {}
    for c in ALL:
        x = n.normalize_str(chr(c))
        if len(x) == 1 and ord(x) != ROWS[c][4]: change[c] = ord(x) - c
    rows("LOWER", change)

HEAD = """\
/* tokenizer_eras.def: code points for which the Unicode data of Hugging Face's tokenizers 0.23
 * differ from those of utf8proc 2.8. Written by tests/tokenizer/probe.py.
 *
 * ERA(era, first, last, value): value is, for each era:
 * MODERN, BERT, MARKS  the general category
 * CLASS                the combining class
 * DECOMPOSE            unused: the code points have no decomposition
 * LOWER                the distance to the lower case
 * ALPHABETIC           unused: [[:alpha:]] has these code points besides L and Nl
 * LOWERCASE            unused: [[:lower:]] has these besides Ll
 * UPPERCASE            unused: [[:upper:]] has these besides Lu */"""


def main():
    print(HEAD)
    modern(); bert(); forms(); lower(); posix()

main()
