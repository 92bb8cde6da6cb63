"""Write tokenizers of small translators, and the ids that transformers generates with models of
tests/families.

    python make.py        # writes NAME.json and expected into its folder

Needs torch, transformers and tokenizers.

NAME.json is the tokenizer.json of a class: nllb and m2m (source language before the text), mbart
(after it), marian (target language before the text), t5 (none). A line of `expected` has: model
(with @N: decoder_start_token_id is N), tokenizer, options, text, input ids, output ids."""
import json, os
os.environ["HF_HUB_OFFLINE"] = "1"
import torch, transformers as tf
from tokenizers import AddedToken, Tokenizer, models, pre_tokenizers, processors

tf.logging.set_verbosity_error()
HERE = os.path.dirname(os.path.abspath(__file__))
FAMILIES = os.path.join(HERE, "..", "families")
WORDS = "das haus ist rot the house is red la maison est rouge translate English to German French :".split()
CODES = {"nllb": ["eng_Latn", "deu_Latn", "fra_Latn", "zho_Hans", "zho_Hant"], "m2m": ["__en__", "__de__", "__fr__"],
         "mbart": ["en_XX", "de_DE", "fr_XX"], "marian": [">>deu<<", ">>fra<<"], "t5": []}
MODELS = {"nllb": ("m2m_100", tf.M2M100ForConditionalGeneration), "m2m": ("m2m_100", tf.M2M100ForConditionalGeneration),
          "mbart": ("mbart", tf.MBartForConditionalGeneration), "marian": ("marian", tf.MarianMTModel),
          "t5": ("t5", tf.T5ForConditionalGeneration)}
FIRST = 60              # the id of the first code


def build(name):
    """The tokenizer of a class."""
    marks = ["<pad>", "</s>", "<unk>"] if name == "t5" else ["<s>", "<pad>", "</s>", "<unk>"]
    vocabulary = {w: i for i, w in enumerate(marks + WORDS)}
    vocabulary.update({c: FIRST + i for i, c in enumerate(CODES[name])})
    t = Tokenizer(models.WordLevel(vocabulary, unk_token="<unk>"))
    t.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    t.add_special_tokens([AddedToken(m, special=True) for m in marks + CODES[name]])
    template(t, name, CODES[name][0] if CODES[name] else None)
    return t


def template(t, name, code):
    around = {"nllb": f"{code} $A </s>", "m2m": f"{code} $A </s>", "mbart": f"$A </s> {code}", "marian": "$A </s>", "t5": "$A </s>"}[name]
    t.post_processor = processors.TemplateProcessing(single=around, pair=around.replace("$A", "$A $B"),
                                                     special_tokens=[(w, t.token_to_id(w)) for w in around.split() if w != "$A"])


def main():
    lines = []

    def case(name, options, text, source=None, target=None, start=None, front=None, prefix=""):
        t = build(name)
        if source: template(t, name, source)
        folder, model = MODELS[name]
        ids = ([t.token_to_id(front)] if front else []) + t.encode(prefix + text).ids
        m = model.from_pretrained(os.path.join(FAMILIES, folder)).eval()
        more = {"forced_bos_token_id": t.token_to_id(target)} if target else {}
        if start: more["decoder_start_token_id"] = t.token_to_id(start)
        out = m.generate(torch.tensor([ids]), do_sample=False, num_beams=1, max_new_tokens=6, **more)[0].tolist()[1:]
        if start: folder += f"@{FIRST}"
        lines.append("\t".join((folder, name, options, text, " ".join(map(str, ids)), " ".join(map(str, out)))))

    for name in CODES:
        build(name).save(os.path.join(HERE, name + ".json"))
    case("nllb", "", "das haus", "eng_Latn")
    case("nllb", "--source-language deu_Latn", "das haus ist", "deu_Latn")
    case("nllb", "--source-language=deu --target-language fra_Latn", "das haus ist rot", "deu_Latn", "fra_Latn")
    case("nllb", "--target-language zho_Hant", "das haus", "eng_Latn", "zho_Hant")
    case("m2m", "--source-language de --target-language __fr__", "das haus", "__de__", "__fr__")
    case("mbart", "--source-language de --target-language fr_XX", "das haus ist rot", "de_DE", "fr_XX")
    case("mbart", "--source-language de --target-language fr", "das haus ist rot", "de_DE", start="fr_XX")
    case("marian", "--target-language fra", "the house is red", front=">>fra<<")
    case("marian", "--target-language >>deu<<", "the house", front=">>deu<<")
    case("t5", "--source-language en --target-language de", "the house is red", prefix="translate English to German : ")
    case("t5", "--target-language fr", "the house", prefix="translate English to French : ")
    with open(os.path.join(HERE, "expected"), "w") as f: f.write("\n".join(lines) + "\n")


main()
