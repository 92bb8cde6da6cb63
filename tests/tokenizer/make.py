"""Train the small tokenizers of this folder, and write the results of Hugging Face's `tokenizers`
for a corpus.

usage: make.py            write NAME/ and NAME.gold; needs tokenizers and sentencepiece
       make.py --others XFORMC TOKENIZER.json TEXTS
                          compare ids line by line, even of invalid UTF-8; write nothing
       make.py --rows     write the .gold files of the existing tokenizer.json, without training
Every folder has the pipeline of one family (GPT-2, BERT, T5, …), with a vocabulary of a few hundred
pieces trained on the sentences below. A .gold file has lines of JSON: a text, its ids, including
those of the template, their decoded text with and without special tokens, and their offsets in
characters; `pair` has a second text. The first line names the path to read."""
import io, json, os, random, re, shutil, struct, subprocess, sys, unicodedata
from tokenizers import Tokenizer, AddedToken, Regex, models, trainers, normalizers, pre_tokenizers, decoders, processors
import sentencepiece

HERE = os.path.dirname(os.path.abspath(__file__))
SENTENCES = """The house by the river was empty, and nobody knew why. She didn't ask; they'll never tell. It's 1984 or 2019, isn't it?
There are 365 days in a year, 7 in a week, and 24 hours in each of them. I'd say we've got 3.14 reasons, you're right!
Der Fluß fließt schnell; die Mädchen hören süße Töne. Élève, où est le garçon naïf? ¿Dónde está el niño? Coração não vê.
Zażółć gęślą jaźń. Příliš žluťoučký kůň. İstanbul'da ışık. Đường phố Hà Nội rất đẹp. Ελλάδα, η θάλασσα και ο ήλιος.
Привет, как дела? Это простое предложение о доме у реки. Ще не вмерла. Добър ден. שלום עולם, מה שלומך היום? مرحبا بالعالم، كيف حالك؟
नमस्ते दुनिया, आप कैसे हैं? আমি বাংলায় গান গাই। வணக்கம் உலகம். ಕನ್ನಡ ಭಾಷೆ. สวัสดีชาวโลก วันนี้อากาศดี. ສະບາຍດີ. မင်္ဂလာပါ. ភាសាខ្មែរ
你好,世界。今天天气很好，我们去河边的房子。こんにちは世界、カタカナとひらがなです。안녕하세요 세계, 오늘은 날씨가 좋아요. 漢字と仮名。
Հայերեն լեզու. ქართული ენა. አማርኛ ቋንቋ. ᏣᎳᎩ. ᐃᓄᒃᑎᑐᑦ. 😀😃 👍🏽 👨‍👩‍👧‍👦 🇫🇷🇩🇪 ❤️ ☃ ✂️ 🚀🚀 H₂O x² ½ ⅓ Ⅷ ① ㎏ ﬁn ﬂy ＡＢＣ １２３ ﷺ
int main(void) { return a[i] != b->c ? 0 : -1; }  // the river, 0x1F & ~mask; #define N 10
\tfor (int i = 0; i < n; i++) {\n\t\tsum += x[i] * y[i];\n\t}\n\n    if (sum > 1e-5) puts("done");""".split("\n")

TEXTS = SENTENCES + [
    "", " ", "  ", "\n", "\t", "a", " a", "a ", "  a  b  ", "don't DON'T Don'T 's 'S 'ſ", "Hello, world!", "hello   world", "\r\n\r\n x \r y",
    "e\u0301 é e\u0301\u0323 ẹ́ \u0301", "가 각 가\u11a8 \u1100\u1161", "İIıi ǅ ß ẞ Σς", "\u0000 \u0001\u007f\u0085\u00ad\u200b\u200d\ufeff\ufffd\ue000",

    "a\u00a0b\u2003c\u3000d\u2028e\u2029f", "1234567890 12 3 ١٢٣ १२३ ³", "<s>a</s> <pad> <unk> [CLS] x[SEP] [MASK] <mask>  y <|endoftext|>z",
    " <mask> a<mask>b ", "<0x41> <0x0A>", "▁ ▁▁a ▁", "x" * 150, "ab " * 60, " " * 40 + "x", "\n" * 9 + "x", "😀" * 20, "漢字" * 30, "क्षि" * 8,
    "".join(chr(0x1F1E6 + i % 26) for i in range(9)), "𝕳𝖊𝖑𝖑𝖔 𝟙𝟚 𐍈 𒀀 𓀀 \U000e0041 \U0010ffff \U000e0100", "ﬁ ﬀ Ａｂｃ ｶﾞ ㌔ ℌ ⑩ ﷺ",
    "...!!??,,;; -- «» “q” 、。",
    "a\u0300\u0301\u0302\u0303\u0304\u0305\u0306\u0307\u0308\u0309\u030a b", ">>fra<< Hello", "camelCase snake_case kebab-case 3x a1b2"]

def small_random(r):
    pools = [(0x20, 0x7f), (0xa0, 0x250), (0x300, 0x370), (0x370, 0x600), (0x900, 0xe00), (0x1100, 0x1200), (0x2000, 0x2400), (0x3040, 0x3100),
             (0x4e00, 0x4f00), (0xac00, 0xad00), (0xfb00, 0xfb07), (0xff00, 0xff60), (0x1f300, 0x1f650), (0x0, 0x110000)]
    out = []
    for _ in range(r.randrange(1, 30)):
        first, last = r.choice(pools)
        c = r.randrange(first, last)
        if not 0xd800 <= c < 0xe000 and unicodedata.category(chr(c)) != "Cn": out.append(" " if r.random() < 0.2 else chr(c))
    return "".join(out)

RANDOM = [small_random(random.Random(i)) for i in range(40)]
PAIRS = [("The river", "was empty"), ("a", ""), ("你好", "hello <s>")]

GPT2 = pre_tokenizers.ByteLevel(add_prefix_space=False)
LLAMA3 = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+")
QWEN2 = LLAMA3.replace(r"\p{N}{1,3}", r"\p{N}")
O200K = (r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|"
         r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|"
         r"\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+")

def byte_level(pre, normalizer=None, specials=("<|endoftext|>",), post=None, size=700, **model):
    t = Tokenizer(models.BPE(**model))
    t.pre_tokenizer = pre
    if normalizer: t.normalizer = normalizer
    t.train_from_iterator(SENTENCES, trainers.BpeTrainer(vocab_size=size, special_tokens=list(specials), show_progress=False,
                                                         initial_alphabet=pre_tokenizers.ByteLevel.alphabet()))
    t.decoder = decoders.ByteLevel()
    if post: t.post_processor = post(t)
    return t

def around(t, begin, end): return processors.RobertaProcessing((end, t.token_to_id(end)), (begin, t.token_to_id(begin)), True, False)

def template(single, pair=None):
    def make(t):
        names = sorted({w.split(":")[0] for w in (single + " " + (pair or "")).split() if w[0] != "$"})
        return processors.TemplateProcessing(single=single, pair=pair, special_tokens=[(n, t.token_to_id(n)) for n in names])
    return make

def gpt2(): return byte_level(GPT2)
def roberta():
    t = byte_level(GPT2, specials=("<s>", "<pad>", "</s>", "<unk>"), post=lambda t: around(t, "<s>", "</s>"))
    t.add_special_tokens([AddedToken("<mask>", lstrip=True, normalized=False, special=True)])
    return t
def prefix(): return byte_level(pre_tokenizers.ByteLevel(add_prefix_space=True))
def opt(): return byte_level(GPT2, specials=("<s>", "<pad>", "</s>", "<unk>"), post=template("</s> $A", "</s> $A </s> $B"))
def pythia():
    t = byte_level(GPT2, normalizers.NFC())
    t.add_tokens([AddedToken(" " * n, normalized=True) for n in range(8, 1, -1)])
    return t
def smollm(): return byte_level(pre_tokenizers.Sequence([pre_tokenizers.Digits(individual_digits=True), GPT2]))
def regex(pattern, **more):
    return byte_level(pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(pattern), "isolated"),
                                               pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)]), **more)
def llama3():
    return regex(LLAMA3, specials=("<|begin_of_text|>", "<|endoftext|>"), post=template("<|begin_of_text|> $A", "<|begin_of_text|> $A $B:1"),
                           ignore_merges=True)
def qwen2(): return regex(QWEN2, normalizer=normalizers.NFC())
def o200k(): return regex(O200K)

def sentencepiece_bpe(**more):
    """A BPE over characters with byte fallback, like Llama-2's tokenizer.json."""
    t = Tokenizer(models.BPE(unk_token="<unk>", fuse_unk=True, byte_fallback=True))
    t.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    t.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="never")
    bytes_ = ["<0x%02X>" % i for i in range(256)]
    t.train_from_iterator(SENTENCES, trainers.BpeTrainer(vocab_size=900, special_tokens=["<unk>", "<s>", "</s>"] + bytes_, show_progress=False))
    data = json.loads(t.to_str())
    data["pre_tokenizer"] = None
    data["added_tokens"] = [a for a in data["added_tokens"] if not a["content"].startswith("<0x")]
    for a in data["added_tokens"]: a["normalized"] = more.get("normalized", False)
    t = Tokenizer.from_str(json.dumps(data))
    t.decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)])
    t.post_processor = template("<s> $A", "<s> $A <s>:1 $B:1")(t)
    return t
def llama2(): return sentencepiece_bpe(normalized=True)
def mistral():
    t = sentencepiece_bpe()
    t.normalizer = None
    data = json.loads(t.to_str())
    data["normalizer"] = None
    t = Tokenizer.from_str(json.dumps(data))
    t.pre_tokenizer = pre_tokenizers.Metaspace(replacement="▁", prepend_scheme="first", split=False)
    return t
def gemma():
    t = sentencepiece_bpe()
    t.normalizer = normalizers.Replace(" ", "▁")
    t.pre_tokenizer = pre_tokenizers.Split(" ", "merged_with_previous")
    t.decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()])
    return t

def wordpiece(normalizer, post, specials=("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")):
    t = Tokenizer(models.WordPiece(unk_token=[s for s in specials if "unk" in s.lower()][0]))
    t.normalizer, t.pre_tokenizer = normalizer, pre_tokenizers.BertPreTokenizer()
    t.train_from_iterator(SENTENCES, trainers.WordPieceTrainer(vocab_size=900, special_tokens=list(specials), show_progress=False))
    t.decoder, t.post_processor = decoders.WordPiece(), post(t)
    return t
BERT = template("[CLS] $A [SEP]", "[CLS] $A [SEP] $B:1 [SEP]:1")
def bert_uncased(): return wordpiece(normalizers.BertNormalizer(lowercase=True), BERT)
def bert_cased(): return wordpiece(normalizers.BertNormalizer(lowercase=False), BERT)
def mpnet():
    return wordpiece(normalizers.BertNormalizer(lowercase=True), lambda t: around(t, "<s>", "</s>"), ("<s>", "<pad>", "</s>", "[UNK]", "<mask>"))

def train_spm(kind, size, **options):
    out = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(sentence_iterator=iter(SENTENCES * 3), model_writer=out, vocab_size=size, model_type=kind,
                                             hard_vocab_limit=False, character_coverage=0.999, minloglevel=2, **options)
    return out.getvalue()

def fields(data):
    """(number, value) of each field of a protobuf message; a value is an int or bytes."""
    at = 0
    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]; at += 1
            value |= (byte & 127) << shift; shift += 7
            if byte < 128: return value
    while at < len(data):
        tag = varint()
        if tag & 7 == 0: yield tag >> 3, varint()
        else:
            n = varint() if tag & 7 == 2 else 8 if tag & 7 == 1 else 4
            yield tag >> 3, data[at:at + n]
            at += n

def read_model(data):
    """Pieces (text, score, type) of a SentencePiece model, and its character map."""
    pieces, table = [], b""
    for number, value in fields(data):
        if number == 1:
            piece = dict(fields(value))
            pieces.append((piece[1].decode(), struct.unpack("<f", piece.get(2, bytes(4)))[0], piece.get(3, 1)))
        elif number == 3: table = dict(fields(value)).get(2, b"")
    return pieces, table

def unigram(size, specials, post, strip=False):
    trained, table = read_model(train_spm("unigram", size, normalization_rule_name="nmt_nfkc"))
    pieces = [(s, 0.0) for s in specials] + [(text, score) for text, score, kind in trained if kind == 1]
    t = Tokenizer(models.Unigram(pieces, specials.index("<unk>"), False))
    steps = [normalizers.Precompiled(table)] + ([normalizers.Strip(False, True), normalizers.Replace(Regex(" {2,}"), "▁")] if strip else [])
    t.normalizer = normalizers.Sequence(steps)
    meta = pre_tokenizers.Metaspace(replacement="▁", prepend_scheme="always")
    t.pre_tokenizer = meta if strip else pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), meta])
    t.decoder = decoders.Metaspace(replacement="▁", prepend_scheme="always")
    t.add_special_tokens([AddedToken(s, normalized=False, special=True) for s in specials])
    t.post_processor = post(t)
    return t
def t5(): return unigram(700, ["<pad>", "</s>", "<unk>"], template("$A </s>", "$A </s> $B </s>"))
def xlmr():
    t = unigram(700, ["<s>", "<pad>", "</s>", "<unk>"], template("<s> $A </s>", "<s> $A </s> </s> $B </s>"), strip=True)
    t.add_special_tokens([AddedToken("<mask>", lstrip=True, normalized=False, special=True)])
    return t

JSON = dict(gpt2=gpt2, roberta=roberta, prefix=prefix, opt=opt, pythia=pythia, smollm=smollm, llama3=llama3, qwen2=qwen2, o200k=o200k, llama2=llama2,
            mistral=mistral, gemma=gemma, bert_uncased=bert_uncased, bert_cased=bert_cased, mpnet=mpnet, t5=t5, xlmr=xlmr)

def folder(name):
    path = os.path.join(HERE, name)
    shutil.rmtree(path, ignore_errors=True)
    os.makedirs(path)
    return path

def write_gold(name, path, rows):
    with open(os.path.join(HERE, name + ".gold"), "w", encoding="utf-8") as f:
        f.write(json.dumps({"path": path}) + "\n")
        for row in rows:
            line = json.dumps(row, ensure_ascii=True)
            if "offsets" in row:
                line = line.replace(json.dumps(row["offsets"]), json.dumps(row["offsets"], separators=(",", ":")))
            f.write(line + "\n")

def flat(e): return [x for span in e.offsets for x in span]

def json_rows(t, decoded):
    for text in TEXTS + RANDOM:
        e = t.encode(text)
        ids, row = e.ids, dict(text=text, ids=e.ids, offsets=flat(e))
        if decoded: row.update(decoded=t.decode(ids, skip_special_tokens=False), plain=t.decode(ids, skip_special_tokens=True))
        yield row
    for a, b in PAIRS:
        e = t.encode(a, b)
        yield dict(text=a, pair=b, ids=e.ids, types=e.type_ids, offsets=flat(e))

def write_files(name, data):
    """Write a tokenizer as the files of older folders: vocab.txt, or vocab.json and merges.txt."""
    path = folder("files/" + ("bert" if name == "bert_uncased" else "gpt2"))
    def put(file, text):
        with open(os.path.join(path, file), "w", encoding="utf-8") as f: f.write(text)
    vocab = dict(data["model"]["vocab"], **{a["content"]: a["id"] for a in data["added_tokens"]})
    if name == "bert_uncased": put("vocab.txt", "".join(k + "\n" for k, _ in sorted(vocab.items(), key=lambda x: x[1])))
    else:
        put("vocab.json", json.dumps(vocab))
        put("merges.txt", "#version: 0.2\n" + "".join(" ".join(m) + "\n" for m in data["model"]["merges"]))
    put("tokenizer_config.json", json.dumps({"tokenizer_class": "BertTokenizer" if name == "bert_uncased" else "RobertaTokenizer"}))

def write_languages():
    """Write the texts as lines."""
    with open(os.path.join(HERE, "languages.txt"), "w", encoding="utf-8", newline="\n") as f:
        for x in TEXTS + RANDOM: f.write(x.replace("\n", "\\n").replace("\r", "\\r").replace("\0", "") + "\n")

def compare_others(xformc, path, texts):
    t, lines = Tokenizer.from_file(path), open(texts, "rb").read().removesuffix(b"\n").split(b"\n")
    t.no_truncation()
    run = subprocess.run([xformc, "tokenize", path], input=b"\n".join(lines) + b"\n", stdout=subprocess.PIPE, check=True)
    found = run.stdout.decode().split("\n")
    other = [i for i, line in enumerate(lines) if " ".join(map(str, t.encode(line.decode("utf-8", errors="replace")).ids)) != found[i]]
    print(f"{path}: {len(lines)} lines, different: {other}")
    sys.exit(bool(other))

def main():
    if sys.argv[1:2] == ["--others"]: compare_others(*sys.argv[2:])
    trains = sys.argv[1:] != ["--rows"]
    for name, make in JSON.items():
        path = os.path.join(HERE, name, "tokenizer.json")
        if trains:
            folder(name)
            make().save(path, pretty=False)
            if name in ("bert_uncased", "roberta"): write_files(name, json.load(open(path, encoding="utf-8")))
        # For normalized special tokens, tokenizers 0.23 decodes the normalized form and skips none;
        # we decode the token.
        write_gold(name, name + "/tokenizer.json", json_rows(Tokenizer.from_file(path), name != "llama2"))
    if not trains: return
    for name, kind, options in [("spm_bpe", "bpe", dict(byte_fallback=True)), ("spm_unigram", "unigram", dict()),
                                ("spm_spaces", "bpe", dict(byte_fallback=True, remove_extra_whitespaces=False, normalization_rule_name="identity")),
                                ("spm_fallback", "unigram", dict(byte_fallback=True, user_defined_symbols=["<sep>", "\n"]))]:
        model = train_spm(kind, 700, **options)
        with open(os.path.join(folder(name), "tokenizer.model"), "wb") as f: f.write(model)
        s = sentencepiece.SentencePieceProcessor(model_proto=model)
        ends = ([1], []) if kind == "bpe" else ([], [2])
        # Our decoder differs from SentencePiece, which writes " \u2047 " for unknown pieces.
        write_gold(name, name + "/tokenizer.model", (dict(text=x, ids=ends[0] + s.encode(x) + ends[1]) for x in TEXTS + RANDOM if "\0" not in x))

    marian()
    write_languages()

def marian():
    """Pieces of a SentencePiece model, with the ids of a vocabulary that lacks some of them."""
    model = train_spm("unigram", 500, normalization_rule_name="identity")
    texts = [piece for piece, _, kind in read_model(model)[0] if kind == 1]
    names = ["</s>", "<unk>"] + [p for i, p in enumerate(texts) if i % 11] + [">>fra<<", "<pad>"]
    vocab = {name: i for i, name in enumerate(names)}
    path = folder("files/marian")
    with open(os.path.join(path, "source.spm"), "wb") as f: f.write(model)
    with open(os.path.join(path, "vocab.json"), "w", encoding="utf-8") as f: json.dump(vocab, f)
    s = sentencepiece.SentencePieceProcessor(model_proto=model)
    def ids(text):
        found = []
        for part in re.split("(</s>|<unk>|<pad>)", text):       # special tokens
            language = part.startswith(">>fra<<")
            if part in ("</s>", "<unk>", "<pad>"): found.append(vocab[part])
            else: found += [vocab[">>fra<<"]] * language + [vocab.get(p, 1) for p in s.encode(part[7 * language:], out_type=str)]
        return found + [0]
    write_gold("marian", "files/marian", (dict(text=x, ids=ids(x)) for x in TEXTS + RANDOM if "\0" not in x))

if __name__ == "__main__": main()
