/* tokenizer_words.c: import vocab.txt, the vocabulary of BERT's tokenizer. The file has one piece
 * per line; the id of a piece is its line number, counted from 0. The pipeline is BERT's, with the
 * settings of tokenizer_config.json. */
#include <string.h>

#include "tokenizer_build.h"
#include "unicode_tables.h"

enum {
    WORDS_AROUND = 1,           /* cls A sep; cls A sep sep B sep */
    WORDS_LOWER = 2             /* lower-cased, regardless of do_lower_case */
};

/* Classes; model types, for folders that name no class; flags; and the special tokens bos, eos,
 * unk, sep, pad, cls, mask. */
static const TokClassRow classes[] = {
    { "Bert DistilBert Electra MobileBert SqueezeBert ConvBert LayoutLM Lxmert RetriBert Realm Nystromformer Nezha",
      "bert distilbert electra mobilebert squeezebert convbert layoutlm lxmert retribert realm megatron-bert nezha visual_bert nomic_bert",
      0, { NULL, NULL, "[UNK]", "[SEP]", "[PAD]", "[CLS]", "[MASK]" } },
    { "DPRQuestionEncoder DPRContextEncoder DPRReader", "dpr", WORDS_LOWER, { NULL, NULL, "[UNK]", "[SEP]", "[PAD]", "[CLS]", "[MASK]" } },
    { "MPNet", "mpnet", WORDS_AROUND, { "<s>", "</s>", "[UNK]", "</s>", "<pad>", "<s>", "<mask>" } },
};
enum { CLASSES = sizeof classes / sizeof *classes };

const char *tok_classes_of_words(Arena *a)
{
    Text t = text_new(a);
    for (int i = 0; i < CLASSES; i++) tok_list_words(&t, classes[i].names);
    return t.data;
}

/* The row of the folder's class, BERT's if it names none; NULL after an error. */
static const TokClassRow *find_class(TokBuild *b, const TokFolder *f)
{
    const TokClassRow *class = tok_class_of(b, f, classes, CLASSES);
    const char *shown = tok_class_shown(b, f);
    if (class || !shown) return class ? class : &classes[0];
    const char *by = f->word_tokenizer.s ? arena_format(b->arena, " with the word_tokenizer_type '%s'", f->word_tokenizer.s) : "";
    tok_refuse(b, "a vocab.txt of the %s%s is not supported; those of %s are", shown, by, tok_classes_of_words(b->arena));
    return NULL;
}

/* Add the tokens that the folder adds, and those special tokens of the class that the vocabulary
 * has. */
static void add_marks(TokBuild *b, const TokClassRow *class, const TokConfig *c)
{
    const char *there[TOK_MARKS];
    for (int i = 0; i < TOK_MARKS; i++)
        there[i] = class->mark[i] && tok_piece_of_text(b, tok_string(class->mark[i])) != RT_TOK_NONE ? class->mark[i] : NULL;
    tok_refuse_taken(b, c);
    tok_add_folder(b, c, there, class->flags & WORDS_AROUND ? TOK_ADDED_LSTRIP : 0);
}

static TokString mark_of(const TokClassRow *class, const TokFolder *f, TokMark mark)
{
    return f->mark[mark].text.s ? f->mark[mark].text : tok_string(class->mark[mark]);
}

/* True if a piece other than [UNK] and the like has an ASCII capital. */
static bool has_capitals(const TokBuild *b)
{
    for (int i = 0; i < b->pieces.count; i++) {
        const TokString s = b->pieces.at[i].text;
        if (s.n && (s.s[0] == '[' || s.s[0] == '<')) continue;
        for (size_t k = 0; k < s.n; k++)
            if (s.s[k] >= 'A' && s.s[k] <= 'Z') return true;
    }
    return false;
}

/* Lower-casing is the default of transformers, but a vocabulary with capitals was made for cased
 * text. */
static void note_lowering(TokBuild *b, const TokConfig *c)
{
    diag_remark(b->diag, (Loc){ b->file, 0, 0 },
                "the vocabulary has words with capitals, but texts are lower-cased, as in transformers%s",
                c->folder.path ? "; to keep capitals, set \"do_lower_case\": false in the folder's tokenizer_config.json" : "");
}

/* do_lower_case of the folder, by default true; always true if the class ignores it. */
static bool lowers(TokBuild *b, const TokClassRow *class, const TokConfig *c)
{
    const bool said = !c->has_do_lower_case || c->do_lower_case, always = class->flags & WORDS_LOWER;
    if (always && !said)
        diag_remark(b->diag, (Loc){ b->file, 0, 0 },
                    "\"do_lower_case\": false in tokenizer_config.json has no effect with the %s: texts are lower-cased, as in transformers 5",
                    tok_class_shown(b, &c->folder));
    return always || said;
}

/* Read a line as transformers 5 does, without white space at its end. False after an error: it is
 * not UTF-8, or has a zero byte. */
static bool take_word(TokBuild *b, const char *line, size_t n)
{
    int32_t c;
    size_t kept = 0;
    for (size_t i = 0, step; i < n; i += step) {
        step = (size_t)utf8_next(line + i, n - i, &c);
        if (!step || !c) {
            diag_error(b->diag, EXIT_BAD_DATA, (Loc){ b->file, b->size + 1, (int)i + 1 }, step ? "a zero byte" : "not UTF-8");
            return false;
        }
        if (!(unicode_property(c) & UNICODE_SPACE)) kept = i + step;
    }
    tok_piece(b, b->size, (TokString){ arena_copy(b->arena, line, kept), kept }, true);
    return true;
}

bool tok_import_words(TokBuild *b, const char *data, size_t size, const TokConfig *config)
{
    static const TokConfig none;
    const TokConfig *c = config ? config : &none;
    const TokClassRow *class = find_class(b, &c->folder);
    if (!class) return false;
    const bool lower = lowers(b, class, c);
    for (size_t at = 0; at < size && !tok_failed(b);) {
        const char *end = memchr(data + at, '\n', size - at);
        const size_t n = end ? (size_t)(end - (data + at)) : size - at;
        if (!take_word(b, data + at, n)) return false;
        at += n + 1;
    }
    if (tok_failed(b)) return false;
    tok_index(b);
    add_marks(b, class, c);
    const uint32_t unk = tok_id_of_text(b, mark_of(class, &c->folder, TOK_UNK)), cls = tok_id_of_text(b, mark_of(class, &c->folder, TOK_CLS)),
                   sep = tok_id_of_text(b, mark_of(class, &c->folder, TOK_SEP));
    if (unk == RT_TOK_NONE || cls == RT_TOK_NONE || sep == RT_TOK_NONE) {
        tok_refuse(b, "the vocabulary must have %.60s, %.60s and %.60s", mark_of(class, &c->folder, TOK_UNK).s,
                   mark_of(class, &c->folder, TOK_CLS).s, mark_of(class, &c->folder, TOK_SEP).s);
        return false;
    }
    if (!c->has_do_lower_case && has_capitals(b)) note_lowering(b, c);
    b->head[TOK_HEAD_UNKNOWN] = unk;
    b->head[TOK_HEAD_MODEL] = TOK_WORDPIECE;
    b->head[TOK_HEAD_WORD_MOST] = 100;
    b->head[TOK_HEAD_PREFIX] = tok_pool(b, tok_string("##"));
    b->head[TOK_HEAD_PREFIX_BYTES] = 2;
    tok_bert_normaliser(b, true, !c->has_chinese || c->chinese, c->has_strip_accents ? c->strip_accents : lower, lower);
    tok_bert_split(b);
    RtTokOp words = tok_op(b, TOK_TO_WORDS, tok_string("##"));
    words.a = 1;
    tok_decoder(b, words);
    if (class->flags & WORDS_AROUND) tok_template_roberta(b, cls, sep);
    else tok_template_bert(b, cls, sep);
    return !tok_failed(b);
}
