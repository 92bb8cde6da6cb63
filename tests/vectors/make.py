"""Write small folders of sentence-transformers, cross-encoders and masked language models, with
their tokenizers, and the results of those libraries for texts.

    python make.py [NAME...]        # the same bytes each time

Needs torch, transformers and sentence-transformers.

NAME/                       as saved by its library
NAME.texts                  one text per line; a tab within a pair
NAME.expected.safetensors   `vectors` [texts, width], or `scores` [texts, labels] before any softmax
NAME.masks                  for each mask five lines `text mask id token probability`
"""
import json
import os
import shutil
import sys
import tempfile

os.environ["HF_HUB_OFFLINE"] = "1"
import torch
from safetensors.torch import load_file, save_file
import transformers as tf

tf.logging.set_verbosity_error()
tf.utils.logging.disable_progress_bar()
HERE = os.path.dirname(os.path.abspath(__file__))

WORDS = """the house by river stood old and tree was near it cold dark night men came to of in they had no light but moon rain fell on
roof is capital paris france good bad movie very not""".split()
PIECES = list("abcdefghijklmnopqrstuvwxyz0123456789.,!?'-") + ["##" + c for c in "abcdefghijklmnopqrstuvwxyz0123456789"] + ["##ing", "##ed"]
TEXTS = ["The house by the river", "", "An old tree stood near it, and the night was cold.", "rain", "Rain FELL on the ROOF!",
         "they had no light but the moon: ☾ in the dark dark dark night of the old men who came to the house by the river, and it fell and fell",
         "caf\u00e9 42", "the moon"]
PAIRS = [("The house", "by the river"), ("rain", "rain fell on the roof"), ("Who came?", "The old men came to the house by the river, cold and old"),
         ("they had no light but the moon in the dark dark dark night of the old men who came to the house", "it was cold, cold, cold, cold, cold"),
         ("rain", "they had no light but the moon in the dark dark dark night of the old men who came to the house"),
         ("they had no light but the moon in the dark dark dark night of men", "an old tree stood near the house and it fell on the cold dark river"),
         ("an old tree stood near the house and it fell on the river", "they had no light but the moon in the dark dark dark night of men and rain"),
         ("a", ""), ("the moon is near and it is cold and dark and old and no men came to it", "no")]
MASKED = ["the {} is old", "{} fell on the roof", "The capital of France is {}.", "men {} to the {} by the river"]


def vocabulary(marks):
    return marks + WORDS + PIECES


def fill(model, seed, gain=1.0):
    """Make every parameter random, and large enough to affect the vectors. Gains are around
    `gain`."""
    g = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, p in sorted(model.named_parameters()):
            noise = torch.randn(p.shape, generator=g)
            if p.dim() >= 2:
                p.copy_(noise * (0.6 if "embed" in name else 1.4 / p.shape[1] ** 0.5))
            else:
                p.copy_((gain if "norm" in name.lower() and "weight" in name else 0.0) + 0.2 * noise)
    return model.eval()


def bert_words(folder, lower=True, length=512):
    with open(os.path.join(folder, "vocab.txt"), "w") as f:
        f.write("\n".join(vocabulary(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"])) + "\n")
    t = tf.BertTokenizer.from_pretrained(folder, do_lower_case=lower, model_max_length=length)
    os.remove(os.path.join(folder, "vocab.txt"))
    return t


def mpnet_words(folder, length=512):
    with open(os.path.join(folder, "vocab.txt"), "w") as f:
        f.write("\n".join(vocabulary(["<s>", "<pad>", "</s>", "[UNK]", "<mask>"])) + "\n")
    t = tf.MPNetTokenizer.from_pretrained(folder, model_max_length=length)
    os.remove(os.path.join(folder, "vocab.txt"))
    return t


def roberta_words(folder, length=512):
    """Byte-level pieces: the bytes, and the words after a space."""
    from tokenizers import pre_tokenizers
    marks = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    pieces, merges = marks + sorted(pre_tokenizers.ByteLevel.alphabet()), []
    for word in WORDS[:20]:
        piece = "\u0120"
        for c in word:
            if piece + c not in pieces:
                pieces.append(piece + c)
                merges.append((piece, c))
            piece += c
    return tf.RobertaTokenizer(vocab={p: i for i, p in enumerate(pieces)}, merges=merges, model_max_length=length)


def sizes(**more):
    return dict(dict(hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=24, max_position_embeddings=40), **more)


def fresh(name):
    folder = os.path.join(HERE, name)
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    return folder


def write(name, texts, **tensors):
    with open(os.path.join(HERE, name + ".texts"), "w", encoding="utf-8", newline="\n") as f:
        f.write("".join(t + "\n" for t in texts))
    if tensors:
        save_file({k: v.float().contiguous() for k, v in tensors.items()}, os.path.join(HERE, name + ".expected.safetensors"))


def write_json(path, value):
    with open(path, "w") as f:
        json.dump(value, f, indent=1)
        f.write("\n")


# ---- sentence-transformers -----------------------------------------------------------------------


def base(folder, model, tokenizer, seed, gain=1.0):
    fill(model, seed, gain).to(torch.bfloat16).save_pretrained(folder)
    tokenizer.save_pretrained(folder)


def sentence(name, make, length, edit=None, modules=(), texts=TEXTS, prompt=None):
    """The folder as SentenceTransformer saves it, `edit`ed and read again, and its vectors for one
    text at a time."""
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.base.modules import Transformer
    folder = fresh(name)
    with tempfile.TemporaryDirectory() as scratch:
        make(scratch)
        prompts = dict(prompts={"query": prompt}, default_prompt_name="query") if prompt else {}
        st = SentenceTransformer(modules=[Transformer(scratch, max_seq_length=length)] + [m() for m in modules], device="cpu", **prompts)
        st.save_pretrained(folder, create_model_card=False)
    if edit:
        edit(folder)
    st = SentenceTransformer(folder, device="cpu").float()
    write(name, texts, vectors=torch.stack([torch.tensor(st.encode([t], batch_size=1)[0]) for t in texts]))


def pooling(width, mode):
    from sentence_transformers.sentence_transformer.modules import Pooling
    return lambda: Pooling(width, mode)


def normalize():
    from sentence_transformers.base.modules import Normalize
    return Normalize()


def dense(width, out, seed, **more):
    from sentence_transformers.base.modules import Dense
    return lambda: fill(Dense(width, out, **more), seed)


def as_of_old(folder):
    """As version 2 saved it: the model in its own folder, switches for the poolings, the last layer
    as a pickle."""
    os.mkdir(os.path.join(folder, "0_Transformer"))
    for file in os.listdir(folder):
        if os.path.isfile(os.path.join(folder, file)) and file != "modules.json":
            os.rename(os.path.join(folder, file), os.path.join(folder, "0_Transformer", file))
    os.rename(os.path.join(folder, "1_Pooling"), os.path.join(folder, "pools"))
    paths = ["0_Transformer", "pools", "2_Dense", "3_Dense"]
    kinds = ["Transformer", "Pooling", "Dense", "Dense"]
    write_json(os.path.join(folder, "modules.json"), [
        {"idx": i, "name": str(i), "path": path, "type": "sentence_transformers.models." + kind} for i, (path, kind) in enumerate(zip(paths, kinds))])
    names = ["cls_token", "mean_tokens", "max_tokens", "mean_sqrt_len_tokens", "weightedmean_tokens", "lasttoken"]
    write_json(os.path.join(folder, "pools", "config.json"), {"word_embedding_dimension": 16, **{"pooling_mode_" + n: True for n in names}})
    write_json(os.path.join(folder, "0_Transformer", "sentence_bert_config.json"), {"max_seq_length": 24, "do_lower_case": True})
    weights = os.path.join(folder, "3_Dense", "model.safetensors")
    torch.save(load_file(weights), os.path.join(folder, "3_Dense", "pytorch_model.bin"))
    os.remove(weights)


def sentence_mean(name):
    def make(folder):
        tokenizer = bert_words(folder)
        base(folder, tf.BertModel(tf.BertConfig(vocab_size=len(tokenizer), **sizes())), tokenizer, 1)
    sentence(name, make, 16, modules=[pooling(16, "mean"), normalize])


def sentence_dense(name):
    def make(folder):
        tokenizer = bert_words(folder, lower=False)
        base(folder, tf.BertModel(tf.BertConfig(vocab_size=len(tokenizer), **sizes(num_hidden_layers=1))), tokenizer, 2)
    sentence(name, make, 24, edit=as_of_old, modules=[pooling(16, ("cls", "max", "mean")), dense(96, 20, 3, activation_function=torch.nn.GELU()),
                                                      dense(20, 12, 4, bias=False, activation_function=None)])


def sentence_mpnet(name):
    def make(folder):
        tokenizer = mpnet_words(folder)
        base(folder, tf.MPNetForMaskedLM(tf.MPNetConfig(vocab_size=len(tokenizer), pad_token_id=1, **sizes())), tokenizer, 5)
    sentence(name, make, 30, modules=[pooling(16, ["lasttoken", "mean_sqrt_len_tokens"]), dense(32, 8, 6)])


# ---- decoders and T5's encoder as sentence models ------------------------------------------------


def byte_level(begin, end, length, whole=True):
    """Byte-level pieces as in GPT-2 and Qwen. A text ends with `end`, and begins with `begin` if
    given."""
    from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, processors
    pieces, merges = sorted(pre_tokenizers.ByteLevel.alphabet()), []
    for word in WORDS[:20]:
        piece = "\u0120"
        for c in word:
            if piece + c not in pieces:
                pieces.append(piece + c)
                merges.append((piece, c))
            piece += c
    t = Tokenizer(models.BPE(vocab={p: i for i, p in enumerate(pieces)}, merges=merges))
    t.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    t.decoder = decoders.ByteLevel()
    marks = [m for m in (begin, end) if m]
    t.add_special_tokens([AddedToken(m, special=True) for m in dict.fromkeys(marks + ["<|endoftext|>"])])
    if marks:
        template = " ".join(([begin] if begin else []) + ["$A"] + ([end] if end else []))
        t.post_processor = processors.Sequence([processors.ByteLevel(trim_offsets=False), processors.TemplateProcessing(
            single=template, special_tokens=[(m, t.token_to_id(m)) for m in marks])])
    return tf.PreTrainedTokenizerFast(tokenizer_object=t, eos_token="<|endoftext|>", pad_token="<|endoftext|>", model_max_length=length)


def unigram_words(length):
    """As in T5: pieces with scores, and `</s>` after a text."""
    from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors
    pieces = [("<pad>", 0.0), ("</s>", 0.0), ("<unk>", 0.0), ("\u2581", -3.0)]
    pieces += [("\u2581" + w, -4.0 - i / 16) for i, w in enumerate(WORDS)] + [(c, -7.0 - i / 16) for i, c in enumerate(PIECES[:43])]
    t = Tokenizer(models.Unigram(pieces, unk_id=2))
    t.normalizer = normalizers.Sequence([normalizers.NFKC(), normalizers.Lowercase()])
    t.pre_tokenizer = pre_tokenizers.Metaspace()
    t.decoder = decoders.Metaspace()
    t.post_processor = processors.TemplateProcessing(single="$A </s>", special_tokens=[("</s>", 1)])
    return tf.PreTrainedTokenizerFast(tokenizer_object=t, eos_token="</s>", pad_token="<pad>", unk_token="<unk>", model_max_length=length)


def small(tokenizer, **more):
    return sizes(vocab_size=len(tokenizer), head_dim=8, num_key_value_heads=1, bos_token_id=None, eos_token_id=0, pad_token_id=0, **more)


SPACED = TEXTS + ["  rain on the roof "]


def as_generator(model, folder):
    """The decoder with its output layer, under the names of a generative model."""
    os.remove(os.path.join(folder, "model.safetensors"))
    model.to(torch.bfloat16).save_pretrained(folder)


def embed_qwen3(name):
    """Texts end with a special token, whose row is the vector."""
    def make(folder):
        tokenizer = byte_level(None, "<|endoftext|>", 512)
        base(folder, tf.Qwen3Model(tf.Qwen3Config(**small(tokenizer))), tokenizer, 21)
    sentence(name, make, 24, modules=[pooling(16, "lasttoken"), normalize], texts=SPACED)


def embed_mistral(name):
    """Sliding windows of 5 positions; tensors named as in the decoder with its output layer.
    Pooling modes side by side; a prompt before every text."""
    tokenizer = byte_level("<s>", "</s>", 512)
    model = fill(tf.MistralForCausalLM(tf.MistralConfig(sliding_window=5, **small(tokenizer))), 22)
    sentence(name, lambda folder: base(folder, model, tokenizer, 22), 36, edit=lambda folder: as_generator(model, folder),
             modules=[pooling(16, ("lasttoken", "mean", "max"))], texts=SPACED, prompt="find \u2603: ")


def embed_mistral_both(name):
    """Bidirectional rows by `is_causal`, with a window on both sides."""
    def make(folder):
        tokenizer = byte_level("<s>", "</s>", 512)
        base(folder, tf.MistralModel(tf.MistralConfig(sliding_window=3, is_causal=False, **small(tokenizer, num_hidden_layers=1))), tokenizer, 29)
    sentence(name, make, 28, modules=[pooling(16, "mean_sqrt_len_tokens")], texts=SPACED)


def embed_gemma(name):
    """Bidirectional rows, every second layer with a window; two linears."""
    def make(folder):
        tokenizer = byte_level("<bos>", "<eos>", 512)
        config = tf.Gemma3TextConfig(use_bidirectional_attention=True, sliding_window=8, layer_types=["sliding_attention", "full_attention"],
                                     query_pre_attn_scalar=8, **small(tokenizer))
        base(folder, tf.Gemma3TextModel(config), tokenizer, 23, gain=0.0)
    sentence(name, make, 28, modules=[pooling(16, "mean"), dense(16, 24, 24, bias=False, activation_function=None),
                                      dense(24, 12, 25, bias=False, activation_function=None), normalize], texts=SPACED)


def embed_gpt2(name):
    def make(folder):
        tokenizer = byte_level(None, None, 512)
        base(folder, tf.GPT2Model(tf.GPT2Config(vocab_size=len(tokenizer), n_embd=16, n_layer=2, n_head=2, n_positions=40)), tokenizer, 26)
    sentence(name, make, 22, modules=[pooling(16, "weightedmean")], texts=[t for t in SPACED if t])


def embed_t5(name):
    def make(folder):
        tokenizer = unigram_words(512)
        config = tf.T5Config(vocab_size=len(tokenizer), d_model=16, d_kv=6, d_ff=24, num_layers=2, num_heads=2, feed_forward_proj="gated-gelu",
                             relative_attention_num_buckets=8, relative_attention_max_distance=12, n_positions=20)
        base(folder, tf.T5EncoderModel(config), tokenizer, 27)
    sentence(name, make, 26, modules=[pooling(16, "mean"), dense(16, 10, 28, bias=False, activation_function=None), normalize], texts=SPACED)


# ---- pairs ---------------------------------------------------------------------------------------


def score(name, model, tokenizer, seed):
    folder = fresh(name)
    base(folder, model, tokenizer(folder), seed)
    model = type(model).from_pretrained(folder, dtype=torch.float32, attn_implementation="eager").eval()
    tokenizer = tf.AutoTokenizer.from_pretrained(folder)
    scores = []
    with torch.no_grad():
        for a, b in PAIRS:
            scores.append(model(**tokenizer([(a, b)], truncation=True, return_tensors="pt")).logits[0])
    write(name, ["%s\t%s" % pair for pair in PAIRS], scores=torch.stack(scores))


LABELS = dict(id2label={0: "contradiction", 1: "entailment", 2: "neutral"}, label2id={"contradiction": 0, "entailment": 1, "neutral": 2})


def cross_bert(name):
    size = len(vocabulary([""] * 5))
    score(name, tf.BertForSequenceClassification(tf.BertConfig(vocab_size=size, num_labels=1, **sizes())), lambda f: bert_words(f, length=32), 7)


def cross_roberta(name):
    with tempfile.TemporaryDirectory() as scratch:
        size = len(roberta_words(scratch))
    config = tf.RobertaConfig(vocab_size=size, pad_token_id=1, type_vocab_size=1, layer_norm_eps=1e-5, **LABELS,
                              **sizes(num_hidden_layers=1, max_position_embeddings=62))
    score(name, tf.RobertaForSequenceClassification(config), lambda f: roberta_words(f), 8)


def classifier(name, seed, **config):
    """A classifier with its own config, and the results of transformers' pipeline: for each text
    all labels with scores, in order."""
    folder = fresh(name)
    size = len(vocabulary([""] * 5))
    base(folder, tf.BertForSequenceClassification(tf.BertConfig(vocab_size=size, **config, **sizes(num_hidden_layers=1))), bert_words(folder), seed)
    model = tf.BertForSequenceClassification.from_pretrained(folder, dtype=torch.float32, attn_implementation="eager").eval()
    found = tf.pipeline("text-classification", model=model, tokenizer=tf.AutoTokenizer.from_pretrained(folder), device="cpu")
    texts = TEXTS[:5]
    write(name, texts)
    with open(os.path.join(HERE, name + ".labels"), "w", encoding="utf-8", newline="\n") as f:
        for i, text in enumerate(texts):
            for one in found(text, top_k=None):
                f.write("%d %s %.7f\n" % (i, json.dumps(one["label"]), one["score"]))


def labels_several(name):
    names = ["joy", "fear\nand anger", "calm", "sleep"]
    classifier(name, 11, problem_type="multi_label_classification", id2label=dict(enumerate(names)), label2id={n: i for i, n in enumerate(names)})


def labels_regression(name):
    classifier(name, 12, problem_type="regression", num_labels=1)


# ---- masks ---------------------------------------------------------------------------------------


def masks(name, model, tokenizer, seed):
    folder = fresh(name)
    base(folder, model, tokenizer(folder), seed)
    model = type(model).from_pretrained(folder, dtype=torch.float32, attn_implementation="eager").eval()
    tokenizer = tf.AutoTokenizer.from_pretrained(folder)
    texts = [t.format(*[tokenizer.mask_token] * t.count("{}")) for t in MASKED]
    found = tf.pipeline("fill-mask", model=model, tokenizer=tokenizer, device="cpu")
    write(name, texts)
    with open(os.path.join(HERE, name + ".masks"), "w", encoding="utf-8", newline="\n") as f:
        for i, text in enumerate(texts):
            of_text = found(text, top_k=5)
            for k, mask in enumerate(of_text if isinstance(of_text[0], list) else [of_text]):
                for one in mask:
                    f.write("%d %d %d %s %.7f\n" % (i, k, one["token"], json.dumps(one["token_str"]), one["score"]))


def mask_bert(name):
    size = len(vocabulary([""] * 5))
    masks(name, tf.BertForMaskedLM(tf.BertConfig(vocab_size=size, **sizes())), bert_words, 9)


def mask_roberta(name):
    with tempfile.TemporaryDirectory() as scratch:
        size = len(roberta_words(scratch))
    config = tf.RobertaConfig(vocab_size=size, pad_token_id=1, type_vocab_size=1, layer_norm_eps=1e-5, **sizes(num_hidden_layers=1))
    masks(name, tf.RobertaForMaskedLM(config), roberta_words, 10)


def bert_tiny(name):
    """A real folder without modules.json, left in its place: the mean of the hidden states,
    computed with transformers only."""
    if "XFORMC_TEST_DATA" not in os.environ:
        return
    folder = os.path.join(os.environ["XFORMC_TEST_DATA"], "bert-tiny")
    model = tf.BertModel.from_pretrained(folder, dtype=torch.float32, attn_implementation="eager").eval()
    tokenizer = tf.PreTrainedTokenizerFast(tokenizer_file=os.path.join(folder, "tokenizer.json"))
    with torch.no_grad():
        write(name, TEXTS, vectors=torch.stack([model(torch.tensor([tokenizer(t)["input_ids"]])).last_hidden_state[0].mean(0) for t in TEXTS]))


CASES = [bert_tiny, sentence_mean, sentence_dense, sentence_mpnet, embed_qwen3, embed_mistral,
         embed_mistral_both, embed_gemma, embed_gpt2, embed_t5, cross_bert, cross_roberta,
         labels_several, labels_regression, mask_bert, mask_roberta]


def main(names):
    torch.set_num_threads(1)
    for case in CASES:
        if not names or case.__name__ in names:
            case(case.__name__)
            print(case.__name__)


if __name__ == "__main__":
    main(sys.argv[1:])
