"""Write classes.rows and the models next to it: folders for the transformers classes that read a
SentencePiece model, vocab.txt, or vocab.json and merges.txt (from ../tokenizer/files), and the ids
of texts.

usage: make.py V4 V5      Pythons with transformers 4.57 (slow classes) and 5.24; V5 also has
                          sentencepiece
A folder says which version is the reference: "5"; "4" if transformers 5 rebuilds the class and
loses something; "nllb": 4, with the ids of the published models, in which languages come right
after the pieces and <mask> is last."""
import io, json, os, shutil, subprocess, sys, tempfile
HERE = os.path.dirname(os.path.abspath(__file__))
SENTENCES = """The house by the river was empty, and nobody knew why. She didn't ask; they'll never tell. It's 1984, isn't it?
There are 365 days in a year, 7 in a week, and 24 hours in each of them. I'd say we've got 3.14 reasons, you're right!
Der Fluß fließt schnell; die Mädchen hören süße Töne. Élève, où est le garçon naïf? Coração não vê. A price of 5,000 or 9,99.
user assistant system said to the children of the old house that the garden by the river walks away in the morning""".split("\n")
TEXTS = ["The house by the river", "don't go", "a</s>b", "a </s> b", "the <mask> house", " two  spaces ", "The \u4e16 house", "x\ty",
         "Größe ÉCOLE \ufb01n \u2460", "''quoted`` text", "5,000 and 9,9 in 2019,", "<pad> <unk> x", "[CLS] a [SEP] b[MASK]",
         "<extra_id_0> a <extra_id_1>b", "<unk_5>a <mask_1>b <mask_2>", "__de__ x en_XX y eng_Latn z", "[INST] hi [/INST] ok",
         "12345 678", "e\u0301 \u00c9l\u00e8ve", "<n> and <N>", "I'LL 'Ll", ">>fra<< Hello",
         "Hello >>fra<< you", ">>xyz<<Hello", " >>fra<< x", "a</s>>>fra<< b", ">>xyz<<", ">>fra<< >>fra<< x",
         "a <sep>b<sep> c", "\u2581a", "<s> x<s>y", "a <L> b<L>c", "a <R> b <R>c", "a <W> b<W>c <W>", "a <N> b<N> c", "  lead"]
AGAIN = (2, 3, 11, 14, 15, 31, 34)      # texts whose ids transformers 5 also decodes, in these folders
AGAIN_IN = ("m2m100", "m2m100-added", "marian", "marian-added", "marian-objects", "pegasus", "added-tokens-without-flags")
SPACED = [[4, 10, 7, 4, 2], [4, 4, 10], [10, 4], [4]]     # in m2m100, where 4 is a blank; by transformers 5
PAIR = ("The river", "was empty")
DECODED = [[16, 48, 102, 103, 1], [103, 103, 30], [20, 103, 30, 102, 31]]     # by transformers 4.57

def train(kind, size, **options):
    import sentencepiece
    out = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(sentence_iterator=iter(SENTENCES * 3), model_writer=out, vocab_size=size, model_type=kind,
                                             hard_vocab_limit=False, character_coverage=0.999, minloglevel=2, **options)
    return out.getvalue()

def models():
    return {
        "fairseq": train("unigram", 220, normalization_rule_name="identity"),
        "barthez": train("unigram", 220, bos_id=0, pad_id=1, eos_id=2, unk_id=3, pad_piece="<pad>", normalization_rule_name="identity"),
        "albert": train("unigram", 220, pad_id=0, unk_id=1, bos_id=-1, eos_id=-1, pad_piece="<pad>",
                        control_symbols=["[CLS]", "[SEP]", "[MASK]"], normalization_rule_name="identity"),
        "t5": train("unigram", 220, pad_id=0, eos_id=1, unk_id=2, bos_id=-1, pad_piece="<pad>", normalization_rule_name="identity"),
        "llama": train("bpe", 420, byte_fallback=True, remove_extra_whitespaces=False, normalization_rule_name="identity",
                       control_symbols=["[INST]", "[/INST]"], user_defined_symbols=["<sep>", "\u2581\u2581"]),
    }

def spelt(model):
    """vocab.json of M2M100: some pieces have no id."""
    import sentencepiece
    s = sentencepiece.SentencePieceProcessor(model_proto=model)
    names = ["<s>", "<pad>", "</s>", "<unk>"] + [s.id_to_piece(i) for i in range(3, s.get_piece_size()) if i % 9]
    return {name: i for i, name in enumerate(names)}

def folders(vocab, pieces):
    """(name, model, file, reference version, tokenizer_config.json, other files)"""
    def one(name, model, which, cls, type=None, **config):
        file = {"fairseq": "sentencepiece.bpe.model", "barthez": "sentencepiece.bpe.model", "llama": "tokenizer.model"}.get(model, "spiece.model")
        config = dict(config, tokenizer_class=cls) if cls else config
        return name, model, file, which, config, {"config.json": {"model_type": type}} if type else {}
    yield one("xlm-roberta", "fairseq", "5", "XLMRobertaTokenizer")
    yield one("xlm-roberta-fast", "fairseq", "5", "XLMRobertaTokenizerFast")
    yield one("xlm-roberta-by-type", "fairseq", "5", None, "xlm-roberta")
    yield one("camembert", "fairseq", "5", "CamembertTokenizer")
    yield one("mbart", "fairseq", "4", "MBartTokenizer", src_lang="de_DE")
    yield one("mbart-by-type", "fairseq", "4", None, "mbart")
    yield one("mbart50", "fairseq", "4", "MBart50Tokenizer", "mbart", src_lang="sl_SI")
    yield one("nllb", "fairseq", "nllb", "NllbTokenizer", "m2m_100")
    yield one("nllb-legacy", "fairseq", "nllb", "NllbTokenizer", src_lang="fra_Latn", legacy_behaviour=True)
    yield one("xglm", "fairseq", "4", "XGLMTokenizer")
    yield one("barthez", "barthez", "4", "BarthezTokenizer")
    for name, more in ("m2m100", {"src_lang": "de"}), ("m2m100-wmt21", {"language_codes": "wmt21"}):
        row = one(name, "fairseq", "5", "M2M100Tokenizer", **more)
        yield row[:5] + ({"vocab.json": vocab},)
    yield one("albert", "albert", "5", "AlbertTokenizer")
    yield one("albert-cased", "albert", "5", "AlbertTokenizer", do_lower_case=False, keep_accents=True)
    yield one("pegasus", "t5", "5", "PegasusTokenizer")
    yield one("pegasus-without-offset", "t5", "4", "PegasusTokenizer", offset=0, mask_token_sent=None, mask_token="[MASK]")
    yield one("t5", "t5", "5", "T5Tokenizer")
    yield one("t5-by-type", "t5", "5", None, "t5")
    yield one("t5-few-extra-ids", "t5", "5", "T5Tokenizer", extra_ids=3)
    yield one("mt5", "t5", "5", "T5Tokenizer", "mt5", extra_ids=0)
    yield one("mt5-by-type", "t5", "5", None, "mt5")
    llama = dict(add_bos_token=True)
    yield one("llama", "llama", "5", "LlamaTokenizer", **llama)
    yield one("llama-legacy", "llama", "5", "LlamaTokenizer", legacy=True, **llama)
    yield one("llama-not-legacy", "llama", "5", "LlamaTokenizer", legacy=False, **llama)
    yield one("llama-no-prefix", "llama", "5", "LlamaTokenizer", add_prefix_space=False, **llama)
    yield one("code-llama", "llama", "5", "CodeLlamaTokenizer", **llama)
    yield one("code-llama-legacy", "llama", "5", "CodeLlamaTokenizer", legacy=True)
    yield one("gemma", "llama", "5", "GemmaTokenizer", bos_token="<s>", eos_token="</s>", **llama)
    yield one("mistral", "llama", "5", "LlamaTokenizer", "mistral", **llama)
    yield one("mistral-not-legacy", "llama", "5", "LlamaTokenizer", "mistral", legacy=False, **llama)
    def token(text, **more): return dict(dict(content=text, lstrip=False, rstrip=False, normalized=False, single_word=False, special=False), **more)
    added = {"420": token("<L>", lstrip=True), "421": token("<R>", rstrip=True, special=True), "422": token("<W>", single_word=True),
             "423": token("<N>", normalized=True)}
    yield one("added-tokens-decoder", "llama", "5", "LlamaTokenizer", added_tokens_decoder=added, **llama)
    row, first = one("added-tokens", "fairseq", "4", "XGLMTokenizer"), pieces + 8
    yield row[:5] + ({"added_tokens.json": {"<L>": first, "<R>": first + 1},
                      "special_tokens_map.json": {"additional_special_tokens": ["<R>", "<W>"]}},)
    row = one("added-tokens-without-flags", "t5", "5", "T5Tokenizer", extra_ids=0)
    yield row[:5] + ({"added_tokens.json": {"<L>": pieces},
                      "special_tokens_map.json": {"additional_special_tokens": [token("<L>", lstrip=True, special=True)]}},)
    row = one("m2m100-added", "fairseq", "5", "M2M100Tokenizer")
    yield row[:5] + ({"vocab.json": vocab, "added_tokens.json": {"<L>": len(vocab) + 100, "<N>": len(vocab) + 101},
                      "special_tokens_map.json": {"additional_special_tokens": ["<N>"]}},)
    yield one("additional-special-tokens", "t5", "5", "T5Tokenizer", extra_ids=0, additional_special_tokens=["<sep>", "<L>"])

    marks = dict(bos_token="<s>", eos_token="</s>", unk_token="<unk>")
    mask = {"mask_token": dict(token("<mask>", lstrip=True), __type="AddedToken")}
    added = {"701": token("<N>", normalized=True), "702": token("<L>", lstrip=True)}
    for name, files, cls, config, others in (
            ("marian", "marian", "MarianTokenizer", {}, {}),
            ("marian-added", "marian", "MarianTokenizer", {"additional_special_tokens": ["<L>"]}, {}),
            ("marian-objects", "marian", "MarianTokenizer", {},
             {"added_tokens.json": {"<L>": 900, "<R>": 901},
              "special_tokens_map.json": {"additional_special_tokens": [token("<L>", special=True), "<R>"]}}),
            ("bert", "bert", "BertTokenizer", {}, {}),
            ("bert-cased", "bert", "BertTokenizerFast", {"do_lower_case": False}, {}),
            ("bert-added", "bert", "BertTokenizer", {},
             {"added_tokens.json": {"<L>": 900}, "special_tokens_map.json": {"additional_special_tokens": ["<L>"]}}),
            ("dpr-cased", "bert", "DPRReaderTokenizer", {"do_lower_case": False}, {}),
            ("bart-map", "gpt2", "BartTokenizer", {"mask_token": "<mask>"},
             {"special_tokens_map.json": {"mask_token": token("<mask>", lstrip=True)}}),
            ("roberta-prefix", "gpt2", "RobertaTokenizer", dict(mask, add_prefix_space=True), {}),
            ("opt", "gpt2", "GPT2Tokenizer", dict(marks, bos_token="</s>", pad_token="<pad>", add_bos_token=True), {}),
            ("gpt2-prefix", "gpt2", "GPT2TokenizerFast", dict(marks, add_prefix_space=True), {}),
            ("named-first", "gpt2", "GPT2Tokenizer", dict(marks, additional_special_tokens=["<L>"], extra_special_tokens={"r_token": "<R>"}), {}),
            ("two-lists", "gpt2", "GPT2Tokenizer", dict(marks, additional_special_tokens=["<L>", "<R>"], extra_special_tokens=["<R>"]), {}),
            ("list-of-map", "gpt2", "GPT2Tokenizer", dict(marks, additional_special_tokens=["<R>"]),
             {"special_tokens_map.json": {"additional_special_tokens": ["<L>"]}}),
            ("neox", "gpt2", "GPTNeoXTokenizer", marks, {}),
            ("qwen2", "gpt2", "Qwen2Tokenizer", {"added_tokens_decoder": added}, {}),
            ("electra-by-type", "bert", None, {}, {"config.json": {"model_type": "electra"}})):
        yield name, files, "", "5", dict(config, tokenizer_class=cls) if cls else config, others

def ids_of(path):
    """The ids of each folder, computed in a separate Python process."""
    os.environ["TRANSFORMERS_VERBOSITY"] = "critical"
    import transformers, logging, warnings
    logging.disable(logging.CRITICAL)
    warnings.simplefilter("ignore")
    out = []
    for name in open(os.path.join(path, "names")).read().split():
        fast = {} if transformers.__version__ >= "5" else {"use_fast": False}
        t = None
        try: t = transformers.AutoTokenizer.from_pretrained(os.path.join(path, name), **fast)
        except (AttributeError, ValueError): pass
        out.append(None if t is None else [t(x)["input_ids"] for x in TEXTS] + [t(*PAIR)["input_ids"]] + [t.decode(x) for x in DECODED] +
                   [t.decode(t(TEXTS[i])["input_ids"]) for i in AGAIN] + [t.decode(x) for x in SPACED])
    print(json.dumps(out))

def published(ids, pieces):
    """NLLB: <mask> and 202 languages after the `pieces` of the model."""
    first = pieces + 1
    return [i if i < first else first + 202 if i == first else i - 1 for i in ids]

def main(v4, v5):
    made = models()
    import sentencepiece
    pieces = sentencepiece.SentencePieceProcessor(model_proto=made["fairseq"]).get_piece_size()
    rows = list(folders(spelt(made["fairseq"]), pieces))
    for name, model in made.items():
        with open(os.path.join(HERE, name + ".model"), "wb") as f: f.write(model)
    with tempfile.TemporaryDirectory() as path:
        for name, model, file, _, config, others in rows:
            at = os.path.join(path, name)
            if file:
                os.mkdir(at)
                with open(os.path.join(at, file), "wb") as f: f.write(made[model])
            else: shutil.copytree(os.path.join(HERE, "../tokenizer/files", model), at)
            if model == "marian": shutil.copy(os.path.join(at, "source.spm"), os.path.join(at, "target.spm"))
            for other, value in {"tokenizer_config.json": config, **others}.items():
                with open(os.path.join(path, name, other), "w", encoding="utf-8") as f: json.dump(value, f)
        with open(os.path.join(path, "names"), "w") as f: f.write("\n".join(row[0] for row in rows))
        def ids(python): return json.loads(subprocess.run([python, __file__, "--ids", path], stdout=subprocess.PIPE, check=True).stdout)
        old, new = ids(v4), ids(v5)
    with open(os.path.join(HERE, "classes.rows"), "w", encoding="utf-8", newline="\n") as f:
        f.write("# == folder, model, its file there; F file and text; T text; I its ids; P, I: a pair; D ids; I their text. make.py writes it.\n")
        for (name, model, file, which, config, others), a, b in zip(rows, old, new):
            f.write(f"== {name} {model} {file}".rstrip() + "\n")
            for other, value in {"tokenizer_config.json": config, **others}.items():
                f.write(f"F {other} {json.dumps(value, ensure_ascii=False, separators=(',', ':'))}\n")
            for i, text in enumerate(TEXTS + ["\t".join(PAIR)]):
                found = b[i] if which == "5" else published(a[i], pieces) if which == "nllb" else a[i]
                f.write(f"{'T' if i < len(TEXTS) else 'P'} {text}\nI {' '.join(map(str, found))}\n")
            if name == "t5":
                decoded = a[len(TEXTS) + 1:][:len(DECODED)]
                for ids, text in zip(DECODED, decoded): f.write(f"D {' '.join(map(str, ids))}\nI {text}\n")
            if name in AGAIN_IN:
                for i, text in zip(AGAIN, b[-len(AGAIN) - len(SPACED):]): f.write(f"D {' '.join(map(str, b[i]))}\nI {text}\n")
            if name == "m2m100":
                for ids, text in zip(SPACED, b[-len(SPACED):]): f.write(f"D {' '.join(map(str, ids))}\nI {text}\n")

if __name__ == "__main__": ids_of(sys.argv[2]) if sys.argv[1] == "--ids" else main(*sys.argv[1:])
