/* tokenizer_build.c: collect the pieces, merges and steps that importers add. It also computes
 * how much the steps can lengthen a text, since the runtime sizes its buffers beforehand. */
#include "tokenizer_build.h"
#include "tokenizer_unicode.h"

#include <string.h>

TokBuild *tok_build_new(Arena *a, Diag *d, const char *file)
{
    TokBuild *b = arena_alloc(a, sizeof *b);
    *b = (TokBuild){ .arena = a, .diag = d, .file = file, .errors = diag_errors(d), .growth = 1, .split_growth = 1 };
    b->text = text_new(a);
    b->head[TOK_HEAD_UNKNOWN] = RT_TOK_NONE;
    b->head[TOK_HEAD_WORD_CLASS] = RT_TOK_NONE;
    return b;
}

bool tok_failed(const TokBuild *b) { return diag_errors(b->diag) > b->errors; }

TokString tok_string(const char *s) { return (TokString){ s, s ? strlen(s) : 0 }; }

/* ---- vocabulary -------------------------------------------------------------------------------------------------- */

TokPiece *tok_piece(TokBuild *b, int64_t id, TokString text, bool known)
{
    if (id < 0 || id >= TOK_IDS_MOST) {
        tok_refuse(b, "the piece \"%.60s\" has the id %lld; ids are from 0 to %d", text.s, (long long)id, TOK_IDS_MOST - 1);
        return NULL;
    }
    if (text.n > TOK_PIECE_MOST) {
        tok_refuse(b, "piece %lld is %zu bytes long; at most %d are supported", (long long)id, text.n, TOK_PIECE_MOST);
        return NULL;
    }
    while (b->pieces.count <= id) TOK_NEW(b, &b->pieces)->kind = TOK_ABSENT;
    TokPiece *p = &b->pieces.at[id];
    *p = (TokPiece){ .text = text, .key = known ? text : (TokString){ 0 } };
    if (id >= b->size) b->size = (int)id + 1;
    if (b->pieces_known) tok_texts_put(b->arena, &b->piece_texts, text, (uint32_t)id);
    return p;
}

/* The byte that a character of the byte-level alphabet stands for, -1 for any other character; see
 * rt_tok_byte. */
static int alphabet_byte(int32_t c)
{
    if ((c >= 0x21 && c <= 0x7E) || (c >= 0xA1 && c <= 0xAC) || (c >= 0xAE && c <= 0xFF)) return (int)c;
    if (c >= 0x100 && c < 0x121) return (int)c - 0x100;
    if (c >= 0x121 && c < 0x143) return (int)c - 0x121 + 0x7F;
    return c == 0x143 ? 0xAD : -1;
}

bool tok_bytes(Arena *a, TokString text, TokString *bytes)
{
    char *out = arena_alloc(a, text.n + 1);
    size_t n = 0;
    for (size_t i = 0; i < text.n;) {
        int32_t c;
        const int length = utf8_next(text.s + i, text.n - i, &c), byte = length ? alphabet_byte(c) : -1;
        if (byte < 0) return false;
        out[n++] = (char)byte;
        i += (size_t)length;
    }
    *bytes = (TokString){ out, n };
    return true;
}

static int key_entries(TokBuild *b, TokEntry *entries)
{
    int n = 0;
    for (int i = 0; i < b->pieces.count; i++) {
        const TokPiece *p = &b->pieces.at[i];
        if (p->key.s && !(p->kind & TOK_ABSENT)) entries[n++] = (TokEntry){ p->key, (uint32_t)i };
    }
    return n;
}

void tok_index(TokBuild *b)
{
    for (int i = 0; b->byte_level && i < b->pieces.count; i++) {
        TokPiece *p = &b->pieces.at[i];
        if (p->key.s && !tok_bytes(b->arena, p->text, &p->key)) p->key = (TokString){ 0 };
    }
    TokEntry *entries = arena_array(b->arena, (size_t)b->pieces.count + 1, sizeof *entries);
    b->trie = tok_trie(b->arena, entries, key_entries(b, entries));
}

uint32_t tok_id(const TokBuild *b, TokString key)
{
    uint32_t state = 0;
    if (!b->trie.units) return RT_TOK_NONE;
    for (size_t i = 0; i < key.n; i++) {
        const uint32_t child = b->trie.units[2 * state] + (unsigned char)key.s[i] + 1;
        if (child >= b->trie.count || b->trie.units[2 * child + 1] != state + 1) return RT_TOK_NONE;
        state = child;
    }
    const uint32_t leaf = b->trie.units[2 * state];
    return leaf < b->trie.count && b->trie.units[2 * leaf + 1] == state + 1 ? b->trie.units[2 * leaf] : RT_TOK_NONE;
}

uint32_t tok_id_of_text(TokBuild *b, TokString text)
{
    TokString key = text;
    const uint32_t added = tok_added_of_text(b, text);
    if (added != RT_TOK_NONE) return b->added.at[added].id;
    if (b->byte_level && !tok_bytes(b->arena, text, &key)) return RT_TOK_NONE;
    return tok_id(b, key);
}

void tok_merge(TokBuild *b, uint32_t left, uint32_t right, uint32_t rank, uint32_t merged)
{
    *TOK_NEW(b, &b->merges) = (TokMerge){ left, right, rank, merged };
}

/* ---- steps --------------------------------------------------------------------------------------------------------- */

uint32_t tok_pool(TokBuild *b, TokString s)
{
    const uint32_t at = (uint32_t)b->text.size;
    text_add_bytes(&b->text, s.s ? s.s : "", s.n);
    return at;
}

RtTokOp tok_op(TokBuild *b, RtTokOpKind kind, TokString text)
{
    return (RtTokOp){ .kind = kind, .text = tok_pool(b, text), .text_bytes = (uint32_t)text.n };
}

static double growth_of(const TokBuild *b, const RtTokOp *op)
{
    const double text = op->text_bytes > 1 ? op->text_bytes : 1;
    switch ((RtTokOpKind)op->kind) {
    case TOK_CHINESE:       return 5.0 / 3;
    case TOK_LOWERCASE:     return 1.5;
    case TOK_FORM:          return b->compatible ? 11 : 3;      /* U+FDFA, U+0390 */
    case TOK_REPLACE:       return text;
    case TOK_SPACES:        return op->c ? text : 1;
    case TOK_MAP_GRAPHEMES:
    case TOK_MAP_LONGEST:   return op->a;
    case TOK_METASPACE:     return text;
    default:                return 1;
    }
}

void tok_normaliser(TokBuild *b, RtTokOp op)
{
    const double growth = growth_of(b, &op);
    if (op.kind == TOK_FORM) b->form_growth = b->growth;
    b->growth *= growth;
    b->extra = b->extra * growth + op.text_bytes;
    if (b->normalisers.count == TOK_OPS_MOST) tok_refuse(b, "more than %d normalizers are not supported", TOK_OPS_MOST);
    else *TOK_NEW(b, &b->normalisers) = op;
}

/* Add a normaliser before all others. */
static void normaliser_first(TokBuild *b, RtTokOp op)
{
    tok_normaliser(b, op);
    if (b->form_growth > 0) b->form_growth *= growth_of(b, &op);
    for (int i = b->normalisers.count - 1; i > 0; i--) b->normalisers.at[i] = b->normalisers.at[i - 1];
    b->normalisers.at[0] = op;
}

void tok_lower_first(TokBuild *b)
{
    b->lower = true;
    normaliser_first(b, (RtTokOp){ .kind = TOK_LOWERCASE });
}

void tok_no_types(TokBuild *b)
{
    for (int i = 0; i < b->single.count; i++) b->single.at[i].type = 0;
    for (int i = 0; i < b->pair.count; i++) b->pair.at[i].type = 0;
}

void tok_clean_spaces(TokBuild *b, bool bpe)
{
    if (b->head[TOK_HEAD_MODEL] != TOK_BPE || bpe) b->head[TOK_HEAD_FLAGS] |= TOK_CLEAN_SPACES;
}

void tok_cut_side(TokBuild *b, bool left)
{
    b->head[TOK_HEAD_FLAGS] &= ~(uint32_t)TOK_CUT_LEFT;
    if (left) b->head[TOK_HEAD_FLAGS] |= TOK_CUT_LEFT;
}

void tok_split(TokBuild *b, RtTokOp op)
{
    b->split_growth *= growth_of(b, &op);
    b->split_extra = b->split_extra * (op.text_bytes + 1) + op.text_bytes + 1;
    if (b->splits.count == TOK_OPS_MOST) tok_refuse(b, "more than %d pre_tokenizers are not supported", TOK_OPS_MOST);
    else *TOK_NEW(b, &b->splits) = op;
}

void tok_decoder(TokBuild *b, RtTokOp op)
{
    if (b->decoders.count == TOK_OPS_MOST) tok_refuse(b, "more than %d decoders are not supported", TOK_OPS_MOST);
    else *TOK_NEW(b, &b->decoders) = op;
}

void tok_item(TokBuild *b, bool pair, uint32_t kind, uint32_t id, uint32_t type)
{
    if (pair) *TOK_NEW(b, &b->pair) = (TokItem){ kind, id, type };
    else *TOK_NEW(b, &b->single) = (TokItem){ kind, id, type };
    b->template_given = true;
}

/* ---- common parts --------------------------------------------------------------------------------------------------- */

void tok_template_begin(TokBuild *b, uint32_t bos)
{
    for (int pair = 0; pair < 2; pair++) {
        tok_item(b, pair, TOK_ITEM_SPECIAL, bos, 0);
        tok_item(b, pair, TOK_ITEM_A, 0, 0);
    }
    tok_item(b, true, TOK_ITEM_B, 0, 1);
}

void tok_template_ends(TokBuild *b, int bos, int eos)
{
    for (int pair = 0; pair < 2; pair++)
        for (int text = 0; text <= pair; text++) {
            if (bos >= 0) tok_item(b, pair, TOK_ITEM_SPECIAL, (uint32_t)bos, 0);
            tok_item(b, pair, text ? TOK_ITEM_B : TOK_ITEM_A, 0, (uint32_t)text);
            if (eos >= 0) tok_item(b, pair, TOK_ITEM_SPECIAL, (uint32_t)eos, (uint32_t)text);
        }
}

TokTemplate tok_template_take(TokBuild *b)
{
    if (!b->template_given) tok_template_ends(b, -1, -1);
    const TokTemplate x = { b->single.at, b->pair.at, b->single.count, b->pair.count };
    b->single.at = b->pair.at = NULL;
    b->single.count = b->single.room = b->pair.count = b->pair.room = 0;
    return x;
}

static bool same_items(const TokItem *a, int n, const TokItem *x, int m)
{
    bool same = n == m;
    for (int i = 0; i < n && same; i++)
        same = a[i].kind == x[i].kind && a[i].id == x[i].id && a[i].type == x[i].type;
    return same;
}

bool tok_template_same(const TokBuild *b, const TokTemplate *x)
{
    return same_items(b->single.at, b->single.count, x->single, x->singles) &&
           same_items(b->pair.at, b->pair.count, x->pair, x->pairs);
}

void tok_template_put(TokBuild *b, const TokTemplate *x)
{
    b->single.at = x->single;
    b->pair.at = x->pair;
    b->single.count = b->single.room = x->singles;
    b->pair.count = b->pair.room = x->pairs;
}

static void text_between(TokBuild *b, uint32_t cls, uint32_t sep)
{
    for (int pair = 0; pair < 2; pair++) {
        tok_item(b, pair, TOK_ITEM_SPECIAL, cls, 0);
        tok_item(b, pair, TOK_ITEM_A, 0, 0);
        tok_item(b, pair, TOK_ITEM_SPECIAL, sep, 0);
    }
}

void tok_template_bert(TokBuild *b, uint32_t cls, uint32_t sep)
{
    text_between(b, cls, sep);
    tok_item(b, true, TOK_ITEM_B, 0, 1);
    tok_item(b, true, TOK_ITEM_SPECIAL, sep, 1);
}

void tok_template_roberta(TokBuild *b, uint32_t cls, uint32_t sep)
{
    text_between(b, cls, sep);
    tok_item(b, true, TOK_ITEM_SPECIAL, sep, 0);
    tok_item(b, true, TOK_ITEM_B, 0, 0);
    tok_item(b, true, TOK_ITEM_SPECIAL, sep, 0);
}

void tok_trim(TokBuild *b, bool keeps_first)
{
    b->head[TOK_HEAD_FLAGS] |= TOK_TRIM_SPANS | (keeps_first ? TOK_TRIM_KEEPS_FIRST : 0u);
}

void tok_form(TokBuild *b, bool compose, bool compatible)
{
    if (b->forms && b->compatible != compatible) {
        tok_refuse(b, "a normalizer with both canonical and compatibility forms, such as NFC and NFKC, is not supported");
        return;
    }
    b->forms = true;
    b->compatible = compatible;
    tok_normaliser(b, (RtTokOp){ .kind = TOK_FORM, .a = compose });
}

void tok_strip_accents(TokBuild *b)
{
    const uint64_t marks = tok_properties("M");
    b->properties = true;
    b->era = TOK_ERA_MARKS;
    tok_normaliser(b, (RtTokOp){ .kind = TOK_DROP, .a = (uint32_t)marks, .b = (uint32_t)(marks >> 32) });
}

void tok_replace(TokBuild *b, const char *regex, const char *by, bool first)
{
    uint32_t node = 0;
    if (!tok_regex(b, tok_string(regex), &node)) return;
    RtTokOp op = tok_op(b, TOK_REPLACE, tok_string(by));
    op.a = node;
    if (first) normaliser_first(b, op);
    else tok_normaliser(b, op);
}

void tok_bert_normaliser(TokBuild *b, bool clean, bool chinese, bool strip_accents, bool lowercase)
{
    const uint64_t marks = tok_properties("Mn");
    if (clean || strip_accents) b->era = TOK_ERA_BERT;
    if (clean) {
        b->properties = true;
        tok_normaliser(b, (RtTokOp){ .kind = TOK_CLEAN });
    }
    if (chinese) tok_normaliser(b, (RtTokOp){ .kind = TOK_CHINESE });
    if (strip_accents) {
        b->properties = true;
        tok_form(b, false, false);
        tok_normaliser(b, (RtTokOp){ .kind = TOK_DROP, .a = (uint32_t)marks, .b = (uint32_t)(marks >> 32) });
    }
    if (lowercase) {
        b->lower = true;
        tok_normaliser(b, (RtTokOp){ .kind = TOK_LOWERCASE });
    }
}

/* White space is removed; each punctuation character becomes a word. */
void tok_bert_split(TokBuild *b)
{
    TokClass punctuation = { .properties = tok_properties("P") }, space = { .properties = ~UINT64_C(0) << 32 };
    b->era = TOK_ERA_BERT;
    tok_add_range(b, &punctuation, '!', '/');
    tok_add_range(b, &punctuation, ':', '@');
    tok_add_range(b, &punctuation, '[', '`');
    tok_add_range(b, &punctuation, '{', '~');
    tok_split(b, (RtTokOp){ .kind = TOK_SPLIT, .a = tok_class_pattern(b, space), .b = TOK_REMOVED });
    tok_split(b, (RtTokOp){ .kind = TOK_SPLIT, .a = tok_class_pattern(b, punctuation), .b = TOK_ISOLATED });
}

void tok_byte_level(TokBuild *b, bool prefix_space, bool use_regex)
{
    static const char pattern[] = "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+";
    uint32_t node = 0;
    b->byte_level = true;
    if (prefix_space) tok_split(b, (RtTokOp){ .kind = TOK_PREFIX_SPACE });
    if (use_regex && tok_regex(b, tok_string(pattern), &node)) tok_split(b, (RtTokOp){ .kind = TOK_SPLIT, .a = node, .b = TOK_ISOLATED });
}

void tok_metaspace(TokBuild *b, TokString mark, RtTokPrepend scheme, bool split)
{
    RtTokOp op = tok_op(b, TOK_METASPACE, mark);
    op.a = scheme;
    tok_split(b, op);
    if (scheme == TOK_PREPEND_FIRST) b->head[TOK_HEAD_FLAGS] |= TOK_KEEP_ORIGIN;
    if (split) tok_split(b, (RtTokOp){ .kind = TOK_SPLIT, .a = tok_text_pattern(b, mark), .b = TOK_MERGED_NEXT });
}
