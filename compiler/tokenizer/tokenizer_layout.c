/* tokenizer_layout.c: lay out the vocabulary of a SentencePiece model in a folder as the class of
 * its tokenizer does: the ids of the pieces, the words before and after them, and the special
 * tokens around a text. The classes are rows of tokenizer_layouts.def. */
#include "file.h"
#include "tokenizer_build.h"

#include <string.h>

#include "tokenizer_languages.def"

typedef enum LayoutTemplate {
    LAYOUT_ENDS,                /* bos A eos, by add_bos_token and add_eos_token */
    LAYOUT_AROUND,              /* cls A sep; cls A sep sep B sep */
    LAYOUT_BERT,                /* cls A sep; cls A sep B sep */
    LAYOUT_SEP_FIRST,           /* sep A; sep A sep sep B */
    LAYOUT_EOS_ONCE,            /* A B eos */
    LAYOUT_EOS_EACH,            /* A eos B eos */
    LAYOUT_LANGUAGE_FIRST,      /* language A B eos */
    LAYOUT_LANGUAGE_LAST        /* A B eos language */
} LayoutTemplate;

enum {
    LAYOUT_MASK_LSTRIP = 1,     /* the mask token absorbs blanks before it */
    LAYOUT_WORDS = 2,           /* split at white space; each word has a prefix */
    LAYOUT_SIMPLIFIES = 4,      /* normalise quotes, accents (keep_accents), case (do_lower_case) */
    LAYOUT_COMMAS = 8,          /* pieces that end in a digit and a comma score 100 less */
    LAYOUT_OFFSET = 16,         /* words for pretraining between the first ids and the pieces */
    LAYOUT_EXTRA_IDS = 32,      /* after the pieces: … <extra_id_0>; 100 by default */
    LAYOUT_SPACED = 64,         /* decoded text has blanks around added tokens without a TokMark */
    LAYOUT_METASPACE = 128,     /* Hugging Face's prefix; `legacy` selects the scheme */
    LAYOUT_NO_PREFIX = 256,
    LAYOUT_LEGACY_LAST = 512,   /* legacy_behaviour puts the language after the text */
    LAYOUT_SPELT = 1024,        /* ids are those of a vocab.json; languages follow, as __en__ */
    LAYOUT_NO_LEGACY = 2048,    /* `legacy` is ignored */
    LAYOUT_BEGUN = 4096,        /* remark on BOS if add_bos_token is not set: transformers 5 adds none */
    LAYOUT_RUNS = 16384         /* collapse runs of blanks; each part of a text has a prefix */
};

typedef struct Layout {
    const char *class_name, *types, *first, *dropped, *behind, *languages, *language;
    LayoutTemplate template;
    unsigned flags;
    const char *mark[TOK_MARKS];
} Layout;

#define LAYOUT(...) LAYOUT_ROW(__VA_ARGS__)
#define LAYOUT_ROW(class, types, first, dropped, behind, languages, language, template, flags, ...) \
    { class, types, first, dropped, behind, languages, language, template, flags, { __VA_ARGS__ } },
static const Layout layouts[] = {
#include "tokenizer_layouts.def"
};
enum { LAYOUTS = sizeof layouts / sizeof *layouts };

/* ---- the class -------------------------------------------------------------------------------------------------------- */

static const Layout *of_type(const char *type)
{
    for (int i = 0; i < LAYOUTS; i++)
        if (tok_has_word(layouts[i].types, type)) return &layouts[i];
    return NULL;
}

static const Layout *of_class(const char *name)
{
    for (int i = 0; i < LAYOUTS; i++)
        if (layouts[i].class_name && strcmp(layouts[i].class_name, name) == 0) return &layouts[i];
    return NULL;
}

const char *tok_classes_of_models(Arena *a)
{
    Text t = text_new(a);
    for (int i = 0; i < LAYOUTS; i++)
        if (layouts[i].class_name) text_printf(&t, "%s%s", i ? ", " : "", layouts[i].class_name);
    return t.data;
}

/* The layout of a folder; NULL after an error. transformers reads some model types by the rules of
 * the SentencePiece library, although their files name Llama's class. */
static const Layout *find_layout(TokBuild *b, const TokFolder *f)
{
    static const char usual[] = "tokenizer.model";
    const Layout *type = f->model_type ? of_type(f->model_type) : NULL, *class = f->class_name ? of_class(f->class_name) : NULL;
    const bool own = class && strcmp(f->class_name, "Llama") == 0 && type && !type->class_name && strcmp(f->model_type, "llama");
    const size_t n = strlen(b->file), m = strlen(usual);
    if (!f->class_name && !f->model_type && n >= m && strcmp(b->file + n - m, usual) == 0) return of_type("llama");
    if (f->class_name && !class)
        tok_refuse(b, "a SentencePiece model of the class %sTokenizer is not supported; those of %s are", f->class_name,
                   tok_classes_of_models(b->arena));
    else if (!f->class_name && f->model_type && !type)
        tok_refuse(b, "a SentencePiece model of model_type '%s' is supported only if tokenizer_class is one of %s",
                   f->model_type, tok_classes_of_models(b->arena));
    else if (!class && !type)
        tok_refuse(b, "the ids of a SentencePiece model depend on the class of its tokenizer, and the folder names neither a specific class "
                   "nor a model_type");
    const Layout *l = own ? type : class ? class : type;
    if (l) tok_note_class(b, f, l->class_name);
    return l;
}

/* ---- pieces ------------------------------------------------------------------------------------------------------------- */

/* The new vocabulary: pieces in b, and a score and type for each. */
typedef struct Laid { TokBuild *b; TOK_LIST(float) score; TOK_LIST(int32_t) type; } Laid;

static void put_piece(Laid *l, TokPiece piece, float score, int32_t type)
{
    if (!tok_piece(l->b, l->b->size, piece.text, type != TYPE_WORD)) return;
    *TOK_NEW(l->b, &l->score) = score;
    *TOK_NEW(l->b, &l->type) = type;
}

static void put_words(Laid *l, const char *words)
{
    TokString word;
    while (tok_next_word(&words, &word))
        put_piece(l, (TokPiece){ .text = { arena_copy(l->b->arena, word.s, word.n), word.n } }, 0, TYPE_WORD);
}

static void put_format(Laid *l, const char *format, int i) { put_words(l, arena_format(l->b->arena, format, i)); }

/* True if a Pegasus tokenizer has a sentence mask. Without one, the ids are those of
 * transformers 4; transformers 5 assigns different ones. */
static bool masks_sentences(const TokFolder *f) { return !f->has_sentence_mask || f->sentence_mask.s; }

/* Pegasus: <mask_1>, <mask_2> and <unk_2> … fill the ids up to the offset of the pieces. */
static void put_offset(Laid *l, const TokFolder *f)
{
    const bool masked = masks_sentences(f);
    const int64_t offset = f->offset < 0 ? 103 : f->offset;
    if (offset > TOK_IDS_MOST || (masked ? offset < 2 : offset > 2)) {
        tok_refuse(l->b, "the offset %lld of a Pegasus tokenizer %s a sentence mask (mask_token_sent) is not supported",
                   (long long)offset, masked ? "with" : "without");
        return;
    }
    if (masked) {
        put_words(l, f->sentence_mask.s ? f->sentence_mask.s : "<mask_1>");
        put_words(l, f->mark[TOK_MASK].text.s ? f->mark[TOK_MASK].text.s : "<mask_2>");
    }
    for (int i = 2; i < offset; i++) put_format(l, "<unk_%d>", i);
}

/* True for a piece such as "9,", which Albert splits before the comma. */
static bool ends_in_comma(TokString s) { return s.n > 1 && s.s[s.n - 1] == ',' && s.s[s.n - 2] >= '0' && s.s[s.n - 2] <= '9'; }

static int count_dropped(TokBuild *b, const Layout *l, const TokPiece *pieces, int count)
{
    const char *words = l->dropped;
    TokString word;
    int n = 0;
    for (; tok_next_word(&words, &word); n++)
        if (n >= count || !tok_same(pieces[n].text, word)) {
            tok_refuse(b, "a SentencePiece model of the class %sTokenizer must begin with the pieces %s", l->class_name, l->dropped);
            break;
        }
    return n;
}

static int64_t extra_ids(const Layout *l, const TokFolder *f)
{
    if (!(l->flags & LAYOUT_EXTRA_IDS)) return 0;
    return f->extra_ids >= 0 ? f->extra_ids : 100;
}

static void put_pieces(Laid *n, const Layout *l, const TokSentencePieces *s, const TokPiece *pieces, int count)
{
    for (int i = count_dropped(n->b, l, pieces, count); i < count && !tok_failed(n->b); i++) {
        const float less = l->flags & LAYOUT_COMMAS && ends_in_comma(pieces[i].text) ? 100 : 0;
        put_piece(n, pieces[i], s->score[i] - less, s->type[i]);
    }
}

/* Replace the pieces of b, and the scores and types of s, with those of the class. */
static void lay(TokBuild *b, const Layout *l, const TokFolder *f, TokSentencePieces *s)
{
    Laid n = { .b = b };
    const TokPiece *pieces = b->pieces.at;
    const int count = b->size;
    const int64_t extra = extra_ids(l, f);
    memset(&b->pieces, 0, sizeof b->pieces);
    b->size = 0;
    put_words(&n, l->first);
    if (l->flags & LAYOUT_OFFSET) put_offset(&n, f);
    put_pieces(&n, l, s, pieces, count);
    put_words(&n, l->languages);
    put_words(&n, l->behind);
    if (extra > 1000) tok_refuse(b, "extra_ids is %lld; at most 1000 are supported", (long long)extra);
    for (int i = (int)extra; i > 0 && !tok_failed(b); i--) put_format(&n, "<extra_id_%d>", i - 1);
    s->score = n.score.at;
    s->type = n.type.at;
}

/* ---- marks ---------------------------------------------------------------------------------------------------------------- */

static TokString mark_of(const Layout *l, const TokFolder *f, TokMark mark)
{
    return f->mark[mark].text.s ? f->mark[mark].text : tok_string(l->mark[mark]);
}

static uint32_t id_of(TokBuild *b, TokString text)
{
    const uint32_t added = text.n ? tok_added_of_text(b, text) : RT_TOK_NONE;
    return added != RT_TOK_NONE ? b->added.at[added].id : RT_TOK_NONE;
}

static bool has_blank(TokString s)
{
    for (size_t i = 0; i + 3 <= s.n; i++)
        if (memcmp(s.s + i, "\xE2\x96\x81", 3) == 0) return true;
    return false;
}

/* Add the entries that are not ordinary pieces as added tokens: words, control pieces and, for a
 * class of transformers, user-defined pieces without a blank. */
static void add_marks(TokBuild *b, const Layout *l, const TokSentencePieces *s)
{
    const int count = b->size;
    const TokString last = l->mark[TOK_MASK] ? tok_string(l->mark[TOK_MASK]) : (TokString){ 0 };
    for (int i = 0; i < count; i++) {
        const TokString text = b->pieces.at[i].text;
        const int32_t type = s->type[i];
        const bool user = type == TYPE_USER && l->class_name && !has_blank(text);
        const uint32_t flags = l->flags & LAYOUT_MASK_LSTRIP && last.s && tok_same(text, last) ? TOK_ADDED_LSTRIP : 0;
        if (type == TYPE_WORD || type == TYPE_CONTROL || user) tok_add(b, (TokAdded){ text, (uint32_t)i, flags, false, !user, false, false });
    }
}

static bool is_mark(const Layout *l, const TokFolder *f, TokString text)
{
    for (int k = 0; k < TOK_MARKS; k++)
        if (tok_same(mark_of(l, f, (TokMark)k), text)) return true;
    return false;
}

static bool is_extra_id(TokString text)
{
    static const char stem[] = "<extra_id_";
    return text.n >= sizeof stem && memcmp(text.s, stem, sizeof stem - 1) == 0;
}

/* Select the added tokens that decode between blanks, as in the slow classes of transformers 4:
 * with LAYOUT_SPACED all but the special tokens of TokMark, with LAYOUT_EXTRA_IDS the extra ids. */
static void set_apart(TokBuild *b, const Layout *l, const TokFolder *f)
{
    for (int i = 0; i < b->added.count; i++) {
        const TokAdded *a = &b->added.at[i];
        const bool apart = l->flags & LAYOUT_SPACED ? !is_mark(l, f, a->text) : l->flags & LAYOUT_EXTRA_IDS && is_extra_id(a->text);
        if (apart) b->pieces.at[a->id].kind |= TOK_APART;
    }
}

/* Extend the scores and types to the tokens that the folder has added, with 0 and TYPE_WORD. */
static void widen(TokBuild *b, TokSentencePieces *s, int count)
{
    float *score = arena_array(b->arena, (size_t)b->size + 1, sizeof *score);
    int32_t *type = arena_array(b->arena, (size_t)b->size + 1, sizeof *type);
    for (int i = 0; i < count; i++) score[i] = s->score[i], type[i] = s->type[i];
    s->score = score;
    s->type = type;
}

static void put_items(TokBuild *b, bool pair, const char *form, const uint32_t id[])
{
    for (; *form; form++) {
        if (*form == 'A' || *form == 'B') tok_item(b, pair, *form == 'A' ? TOK_ITEM_A : TOK_ITEM_B, 0, 0);
        else tok_item(b, pair, TOK_ITEM_SPECIAL, id[*form - '0'], 0);
    }
}

static TokString language_token(TokBuild *b, const Layout *l, TokString code)
{
    return l->flags & LAYOUT_SPELT ? tok_string(arena_format(b->arena, "__%s__", code.s)) : code;
}

/* Report that src_lang in tokenizer_config.json is unknown, with the codes that begin the same
 * way. */
static void refuse_language(TokBuild *b, const Layout *l, const char *code)
{
    Text near = text_new(b->arena);
    const char *words = l->languages;
    TokString word;
    while (tok_next_word(&words, &word))
        if (strncmp(word.s, code, 2) == 0) text_printf(&near, "%s%.*s", near.size ? ", " : "; similar: ", (int)word.n, word.s);
    b->file = file_join(b->arena, file_folder(b->arena, b->file), "tokenizer_config.json");
    tok_refuse(b, "src_lang '%s' is not a language of the class %sTokenizer%s", code, l->class_name, near.data);
}

/* Set the template. In `forms` a digit is a TokMark or 7, the language; A and B are the texts. */
static void add_template(TokBuild *b, const Layout *l, const TokFolder *f, const TokSentencePieces *s)
{
    static const struct { const char *single, *pair; } forms[] = {
        [LAYOUT_AROUND] = { "5A3", "5A33B3" }, [LAYOUT_SEP_FIRST] = { "3A", "3A33B" }, [LAYOUT_EOS_ONCE] = { "A1", "AB1" },
        [LAYOUT_EOS_EACH] = { "A1", "A1B1" }, [LAYOUT_LANGUAGE_FIRST] = { "7A1", "7AB1" }, [LAYOUT_LANGUAGE_LAST] = { "A17", "AB17" },
    };
    uint32_t id[TOK_MARKS + 1];
    for (int i = 0; i < TOK_MARKS; i++) id[i] = id_of(b, mark_of(l, f, (TokMark)i));
    const TokString code = f->source_language.s ? f->source_language : tok_string(l->language), language = language_token(b, l, code);
    const bool last = l->flags & LAYOUT_LEGACY_LAST && f->language_last;
    const LayoutTemplate t = last ? LAYOUT_LANGUAGE_LAST : l->template;
    id[TOK_MARKS] = l->language ? tok_piece_of_text(b, language) : RT_TOK_NONE;
    b->single.count = b->pair.count = 0;
    if (l->language && (id[TOK_MARKS] == RT_TOK_NONE || !tok_has_word(l->languages, code.s)))
        refuse_language(b, l, code.s);
    else if (t == LAYOUT_ENDS) tok_template_ends(b, s->add_bos ? (int)id[TOK_BOS] : -1, s->add_eos ? (int)id[TOK_EOS] : -1);
    else if (t == LAYOUT_BERT) tok_template_bert(b, id[TOK_CLS], id[TOK_SEP]);
    else {
        put_items(b, false, forms[t].single, id);
        put_items(b, true, forms[t].pair, id);
    }
}

/* ---- texts ------------------------------------------------------------------------------------------------------------------ */

static void simplify(TokBuild *b, const TokConfig *c)
{
    tok_replace(b, "``|''", "\"", false);
    if (!c->folder.keep_accents) {
        tok_form(b, false, true);
        tok_strip_accents(b);
    }
    if (!c->has_do_lower_case || c->do_lower_case) tok_bert_normaliser(b, false, false, false, true);
}

/* Choose how blanks are treated, and the prefix of a text: SentencePiece's, or that of Hugging
 * Face's Metaspace, which is never added before a blank and, with TOK_PREPEND_FIRST, only at the
 * beginning of a text. */
static void settle_prefix(const Layout *l, const TokFolder *f, TokSentencePieces *s)
{
    const bool own = l->flags & LAYOUT_METASPACE && !s->unigram && !s->charsmap.n;
    s->words = l->flags & LAYOUT_WORDS;
    s->runs = l->flags & LAYOUT_RUNS && masks_sentences(f);
    if (l->flags & LAYOUT_NO_PREFIX) s->prefix = false;
    s->metaspace = own || (s->prefix && f->has_legacy && !f->legacy && l->template == LAYOUT_ENDS);
    s->scheme = f->legacy && !(l->flags & LAYOUT_NO_LEGACY) ? TOK_PREPEND_ALWAYS : TOK_PREPEND_FIRST;
    if (!own) return;
    s->prefix = !f->has_prefix_space || f->prefix_space;
    if (!s->prefix) s->scheme = TOK_PREPEND_NEVER;
    s->no_extra_spaces = false;
}

/* Match added tokens before normalisation, because they do not get SentencePiece's prefix. */
static void match_as_typed(TokBuild *b, const TokSentencePieces *s)
{
    for (int i = 0; i < b->added.count; i++) {
        TokAdded *a = &b->added.at[i];
        if (a->normalised && a->flags & TOK_ADDED_SINGLE_WORD && s->charsmap.n)
            tok_refuse(b, "the added token \"%.60s\" is single_word and normalized, "
                          "which is not supported for a model with a charsmap", a->text.s);
        a->normalised = false;
    }
}

static void note_beginning(TokBuild *b, const Layout *l, const TokConfig *c)
{
    if (l->flags & LAYOUT_BEGUN && !c->has_add_bos)
        diag_remark(b->diag, (Loc){ b->file, 0, 0 },
                    "tokenizer_config.json does not set add_bos_token: texts begin with %s, as in transformers 4, but not in transformers 5",
                    mark_of(l, &c->folder, TOK_BOS).s);
}

bool tok_lay_pieces(TokBuild *b, TokSentencePieces *s, const TokConfig *c)
{
    const TokFolder *f = &c->folder;
    const Layout *l = find_layout(b, f);
    if (!l || tok_failed(b)) return false;
    const TokString unknown = s->unk >= 0 && s->unk < b->size ? b->pieces.at[s->unk].text : (TokString){ 0 };
    const TokString bos = s->bos >= 0 ? b->pieces.at[s->bos].text : (TokString){ 0 };
    const TokString eos = s->eos >= 0 ? b->pieces.at[s->eos].text : (TokString){ 0 };
    note_beginning(b, l, c);
    lay(b, l, f, s);
    if (tok_failed(b)) return false;
    const int count = b->size;
    Layout own = *l;
    if (!l->class_name) own.mark[TOK_BOS] = bos.s, own.mark[TOK_EOS] = eos.s, own.mark[TOK_UNK] = unknown.s;
    add_marks(b, &own, s);
    tok_add_folder(b, c, own.mark, l->flags & LAYOUT_MASK_LSTRIP ? TOK_ADDED_LSTRIP : 0);
    set_apart(b, &own, f);
    widen(b, s, count);
    s->unk = (int)id_of(b, mark_of(&own, f, TOK_UNK));
    settle_prefix(l, f, s);
    if (!s->words && !s->runs && !s->metaspace) match_as_typed(b, s);
    if (l->flags & LAYOUT_SIMPLIFIES) simplify(b, c);
    if (tok_failed(b) || !tok_sentencepiece(b, s)) return false;
    add_template(b, &own, f, s);
    return !tok_failed(b);
}

/* ---- ids of a vocab.json ------------------------------------------------------------------------------------------------------ */

bool tok_is_spelt(const TokFolder *f)
{
    const Layout *l = f->class_name ? of_class(f->class_name) : f->model_type ? of_type(f->model_type) : NULL;
    return l && l->flags & LAYOUT_SPELT;
}

/* The languages for the folder's language_codes, separated by spaces. */
static const char *languages_of(TokBuild *b, const Layout *l, const TokFolder *f)
{
    const TokString name = f->language_codes;
    if (!name.s || strcmp(name.s, "m2m100") == 0) return l->languages;
    if (strcmp(name.s, "wmt21") == 0) return TOK_LANGUAGES_WMT21;
    tok_refuse(b, "the language_codes '%s' are not supported; m2m100 and wmt21 are", name.s);
    return "";
}

void tok_lay_languages(TokBuild *b, const TokConfig *c)
{
    const Layout *l = find_layout(b, &c->folder);
    const char *codes = languages_of(b, l, &c->folder);
    TokString code;
    while (tok_next_word(&codes, &code)) {
        const TokString text = language_token(b, l, (TokString){ arena_copy(b->arena, code.s, code.n), code.n });
        TokPiece *p = tok_piece(b, b->size, text, false);       /* not matched in texts */
        if (p) p->kind |= TOK_SPECIAL;
    }
    tok_add_folder(b, c, l->mark, 0);
}

void tok_lay_marks(TokBuild *b, const TokConfig *c)
{
    Layout l = *find_layout(b, &c->folder);
    l.languages = languages_of(b, &l, &c->folder);
    add_template(b, &l, &c->folder, &(TokSentencePieces){ 0 });
}
