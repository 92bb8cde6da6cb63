/* tokenizer_json_parts.c: read the normalizer, pre_tokenizer, decoder and post_processor of a
 * tokenizer.json. Each type but Sequence is a row of a table; an unknown type is an error that
 * names the type. */
#include "tokenizer_json.h"
#include "tokenizer_unicode.h"

#include <stdlib.h>
#include <string.h>

typedef void ReadPart(TokBuild *b, const json_t *part);
/* members: those that `tokenizers` checks, in the form of tok_json_check. */
typedef struct PartRow { const char *type; ReadPart *read; const char *members; } PartRow;
typedef struct PartKind { const char *name, *list; const PartRow *rows; int count; } PartKind;

enum { DEEPEST = 16 };

/* Read a part, or a Sequence of parts. */
static void read_part(TokBuild *b, const PartKind *kind, const json_t *part, int depth)
{
    const json_t *type = json_object_get(part, "type");
    if (!part || json_is_null(part) || tok_failed(b)) return;
    if (!json_is_string(type) || depth > DEEPEST) {
        if (depth > DEEPEST)
            tok_refuse(b, "a %s is nested more than %d deep, which is not supported", kind->name,
                       DEEPEST);
        else tok_refuse(b, "a %s has no \"type\", or one that is not a string", kind->name);
        return;
    }
    const char *name = json_string_value(type);
    if (strcmp(name, "Sequence") == 0) {
        const json_t *list = json_object_get(part, kind->list);
        if (!json_is_array(list)) tok_refuse(b, "a %s of type Sequence has no list \"%s\"", kind->name, kind->list);
        for (size_t i = 0; i < json_array_size(list); i++) {
            const json_t *one = json_array_get(list, i);
            if (json_is_null(one)) tok_refuse(b, "a %s of a Sequence is null", kind->name);
            read_part(b, kind, one, depth + 1);
        }
        return;
    }
    for (int i = 0; i < kind->count; i++)
        if (strcmp(kind->rows[i].type, name) == 0) {
            const char *what = arena_format(b->arena, "the %s %s", kind->name, name);
            if (!tok_json_check(b, part, what, kind->rows[i].members)) return;
            b->part = kind->name;
            kind->rows[i].read(b, part);
            b->part = NULL;
            return;
        }
    tok_refuse(b, "the %s '%.60s' is not supported", kind->name, name);
}

/* Read the member "pattern", {"String": …} or {"Regex": …}; false after an error. */
static bool read_pattern(TokBuild *b, const json_t *part, uint32_t *node)
{
    const json_t *pattern = json_object_get(part, "pattern");
    const TokString regex = tok_json_string(b, json_object_get(pattern, "Regex"));
    const TokString text = tok_json_string(b, json_object_get(pattern, "String"));
    if (regex.s && text.s) tok_refuse(b, "a pattern is both String and Regex");
    if (tok_failed(b)) return false;
    if (regex.n) return tok_regex(b, regex, node);
    if (text.n) *node = tok_text_pattern(b, text);
    else tok_refuse(b, regex.s || text.s ? "an empty pattern is not supported" : "a pattern is neither String nor Regex");
    return !tok_failed(b);
}

/* ---- normalizers ------------------------------------------------------------------------------------------------- */

static void read_bert_normaliser(TokBuild *b, const json_t *part)
{
    const bool lowercase = tok_json_bool(b, part, "lowercase", true);
    tok_bert_normaliser(b, tok_json_bool(b, part, "clean_text", true), tok_json_bool(b, part, "handle_chinese_chars", true),
                        tok_json_bool(b, part, "strip_accents", lowercase), lowercase);
}

static void read_nfc(TokBuild *b, const json_t *part) { (void)part; tok_form(b, true, false); }
static void read_nfd(TokBuild *b, const json_t *part) { (void)part; tok_form(b, false, false); }
static void read_nfkc(TokBuild *b, const json_t *part) { (void)part; tok_form(b, true, true); }
static void read_nfkd(TokBuild *b, const json_t *part) { (void)part; tok_form(b, false, true); }
static void read_lowercase(TokBuild *b, const json_t *part) { (void)part; tok_bert_normaliser(b, false, false, false, true); }

static void read_strip(TokBuild *b, const json_t *part)
{
    const bool left = tok_json_bool(b, part, "strip_left", true), right = tok_json_bool(b, part, "strip_right", true);
    tok_normaliser(b, (RtTokOp){ .kind = TOK_STRIP, .a = left, .b = right });
}

static void read_strip_accents(TokBuild *b, const json_t *part)
{
    (void)part;
    tok_strip_accents(b);
}

static void read_replace(TokBuild *b, const json_t *part)
{
    uint32_t node = 0;
    const TokString content = tok_json_text(b, part, "content");
    if (!read_pattern(b, part, &node)) return;
    RtTokOp op = tok_op(b, TOK_REPLACE, content);
    op.a = node;
    tok_normaliser(b, op);
}

static void read_prepend(TokBuild *b, const json_t *part)
{
    tok_normaliser(b, tok_op(b, TOK_PREPEND, tok_json_text(b, part, "prepend")));
}

static int base64_digit(unsigned char c)
{
    if (c >= 'A' && c <= 'Z') return c - 'A';
    if (c >= 'a' && c <= 'z') return c - 'a' + 26;
    if (c >= '0' && c <= '9') return c - '0' + 52;
    return c == '+' ? 62 : c == '/' ? 63 : -1;
}

static bool read_base64(TokBuild *b, TokString text, unsigned char **out, size_t *n)
{
    unsigned bits = 0;
    int count = 0;
    *out = arena_alloc(b->arena, text.n + 1);
    *n = 0;
    if (!text.n || text.n % 4) return false;
    for (int i = 0; i < 2 && text.s[text.n - 1] == '='; i++) text.n--;
    for (size_t i = 0; i < text.n; i++) {
        const int digit = base64_digit((unsigned char)text.s[i]);
        if (digit < 0) return false;
        bits = (bits << 6 | (unsigned)digit) & 0xFFFFFF;
        if ((count += 6) < 8) continue;
        count -= 8;
        (*out)[(*n)++] = (unsigned char)(bits >> count);
    }
    return !(bits & ((1u << count) - 1));
}

static void read_precompiled(TokBuild *b, const json_t *part)
{
    const TokString text = tok_json_text(b, part, "precompiled_charsmap");
    unsigned char *data;
    size_t n;
    if (!read_base64(b, text, &data, &n)) tok_refuse(b, "precompiled_charsmap is not base64");
    else tok_charsmap(b, data, n, TOK_MAP_GRAPHEMES);
}

static const PartRow normalisers[] = {
    { "BertNormalizer", read_bert_normaliser,
      "clean_text:b handle_chinese_chars:b strip_accents:zb- lowercase:b" },
    { "NFC", read_nfc, "" },
    { "NFD", read_nfd, "" },
    { "NFKC", read_nfkc, "" },
    { "NFKD", read_nfkd, "" },
    { "Lowercase", read_lowercase, "" },
    { "Strip", read_strip, "strip_left:b strip_right:b" },
    { "StripAccents", read_strip_accents, "" },
    { "Replace", read_replace, "content:t" },
    { "Prepend", read_prepend, "prepend:t" },
    { "Precompiled", read_precompiled, "" },
};

void tok_json_normaliser(TokBuild *b, const json_t *part)
{
    static const PartKind kind = { "normalizer", "normalizers", normalisers, sizeof normalisers / sizeof *normalisers };
    read_part(b, &kind, part, 0);
}

/* ---- pre_tokenizers ------------------------------------------------------------------------------------------------ */

/* The runtime turns characters into bytes after all splits, so no part may follow ByteLevel. */
static bool must_come_first(TokBuild *b)
{
    if (b->byte_level) tok_refuse(b, "a pre_tokenizer after ByteLevel is not supported");
    return !b->byte_level;
}

static void split_class(TokBuild *b, TokClass c, RtTokBehaviour behaviour, bool others)
{
    if (must_come_first(b))
        tok_split(b, (RtTokOp){ .kind = TOK_SPLIT, .a = tok_class_pattern(b, c), .b = behaviour, .c = others });
}

static RtTokBehaviour read_behaviour(TokBuild *b, const json_t *part, RtTokBehaviour preset)
{
    static const char *const names[] = { "Removed", "Isolated", "MergedWithPrevious", "MergedWithNext", "Contiguous" };
    const TokString name = tok_json_text(b, part, "behavior");
    if (!name.s) return preset;
    for (int i = 0; i < TOK_BEHAVIOURS; i++)
        if (strcmp(name.s, names[i]) == 0) return (RtTokBehaviour)i;
    tok_refuse(b, "the behavior '%.40s' is not supported", name.s);
    return preset;
}

static void read_split(TokBuild *b, const json_t *part)
{
    uint32_t node = 0;
    const RtTokBehaviour behaviour = read_behaviour(b, part, TOK_ISOLATED);
    if (!must_come_first(b) || !read_pattern(b, part, &node)) return;
    tok_split(b, (RtTokOp){ .kind = TOK_SPLIT, .a = node, .b = behaviour, .c = tok_json_bool(b, part, "invert", false) });
}

static void read_bert_split(TokBuild *b, const json_t *part)
{
    (void)part;
    if (must_come_first(b)) tok_bert_split(b);
}

static void read_byte_level(TokBuild *b, const json_t *part)
{
    if (must_come_first(b)) tok_byte_level(b, tok_json_bool(b, part, "add_prefix_space", true), tok_json_bool(b, part, "use_regex", true));
}

/* The prepend_scheme, or what add_prefix_space of older files says; "always" if both are absent. */
static RtTokPrepend read_scheme(TokBuild *b, const json_t *part)
{
    static const char *const names[] = { "always", "first", "never" };
    const TokString name = tok_json_text(b, part, "prepend_scheme");
    const bool prefix = tok_json_bool(b, part, "add_prefix_space", true);
    if (!name.s) return prefix ? TOK_PREPEND_ALWAYS : TOK_PREPEND_NEVER;
    if (!prefix && strcmp(name.s, "never") != 0)
        tok_refuse(b, "add_prefix_space is false, but the prepend_scheme is '%.40s'", name.s);
    for (int i = 0; i < 3; i++)
        if (strcmp(name.s, names[i]) == 0) return (RtTokPrepend)i;
    tok_refuse(b, "the prepend_scheme '%.40s' is not supported", name.s);
    return TOK_PREPEND_ALWAYS;
}

static TokString read_mark(TokBuild *b, const json_t *part)
{
    const TokString mark = tok_json_text(b, part, "replacement");
    int32_t c;
    if (!mark.s) return tok_string("\xE2\x96\x81");
    if (!mark.n || (size_t)utf8_next(mark.s, mark.n, &c) != mark.n) tok_refuse(b, "the replacement of a Metaspace is not one character");
    return mark;
}

static void read_metaspace(TokBuild *b, const json_t *part)
{
    if (must_come_first(b)) tok_metaspace(b, read_mark(b, part), read_scheme(b, part), tok_json_bool(b, part, "split", true));
}

static void read_digits(TokBuild *b, const json_t *part)
{
    const bool each = tok_json_bool(b, part, "individual_digits", false);
    split_class(b, (TokClass){ .properties = tok_properties("N") }, each ? TOK_ISOLATED : TOK_CONTIGUOUS, false);
}

static void read_punctuation(TokBuild *b, const json_t *part)
{
    TokClass c = { .properties = tok_properties("P") };
    b->era = TOK_ERA_BERT;
    tok_add_range(b, &c, '!', '/');
    tok_add_range(b, &c, ':', '@');
    tok_add_range(b, &c, '[', '`');
    tok_add_range(b, &c, '{', '~');
    split_class(b, c, read_behaviour(b, part, TOK_ISOLATED), false);
}

/* Keep the matches of \w+|[^\w\s]+ and remove everything else. */
static void read_whitespace(TokBuild *b, const json_t *part)
{
    uint32_t node = 0;
    (void)part;
    b->rust_words = true;
    if (must_come_first(b) && tok_regex(b, tok_string("\\w+|[^\\w\\s]+"), &node))
        tok_split(b, (RtTokOp){ .kind = TOK_SPLIT, .a = node, .b = TOK_REMOVED, .c = 1 });
    b->rust_words = false;
}

static void read_whitespace_split(TokBuild *b, const json_t *part)
{
    (void)part;
    split_class(b, (TokClass){ .properties = ~UINT64_C(0) << 32 }, TOK_REMOVED, false);
}

static const PartRow pre_tokenizers[] = {
    { "Split", read_split, "behavior:t invert:b" },
    { "BertPreTokenizer", read_bert_split, "" },
    { "ByteLevel", read_byte_level, "add_prefix_space:b trim_offsets:b use_regex:b-" },
    { "Metaspace", read_metaspace, "replacement:t split:zb-" },
    { "Digits", read_digits, "individual_digits:b" },
    { "Punctuation", read_punctuation, "" },
    { "Whitespace", read_whitespace, "" },
    { "WhitespaceSplit", read_whitespace_split, "" },
};

void tok_json_pre_tokenizer(TokBuild *b, const json_t *part)
{
    static const PartKind kind = { "pre_tokenizer", "pretokenizers", pre_tokenizers, sizeof pre_tokenizers / sizeof *pre_tokenizers };
    read_part(b, &kind, part, 0);
}

/* ---- decoders -------------------------------------------------------------------------------------------------------- */

/* True if decoders see a single text instead of one per token: after Fuse or ByteLevel. */
static bool is_fused(const TokBuild *b)
{
    for (int i = 0; i < b->decoders.count; i++)
        if (b->decoders.at[i].kind == TOK_TO_FUSED || b->decoders.at[i].kind == TOK_TO_BYTES)
            return true;
    return false;
}

static void refuse_fused(TokBuild *b, const char *name)
{
    if (is_fused(b)) tok_refuse(b, "a '%s' decoder after Fuse or ByteLevel is not supported", name);
}

static void read_to_bytes(TokBuild *b, const json_t *part)
{
    (void)part;
    refuse_fused(b, "ByteLevel");
    tok_decoder(b, (RtTokOp){ .kind = TOK_TO_BYTES });
}

static bool has_decoder(const TokBuild *b, uint32_t kind)
{
    for (int i = 0; i < b->decoders.count; i++)
        if (b->decoders.at[i].kind == kind) return true;
    return false;
}

/* Report a decoder after Fuse or ByteLevel, or after ByteFallback, where bytes are no longer
 * tokens. */
static void refuse_bytes(TokBuild *b, const char *name)
{
    refuse_fused(b, name);
    if (has_decoder(b, TOK_TO_FALLBACK))
        tok_refuse(b, "a '%s' decoder after ByteFallback is not supported", name);
}

/* True if a decoder changes the text of a byte token, which hides it from ByteFallback. */
static bool respells_bytes(const TokBuild *b, const RtTokOp *op)
{
    const char *text = b->text.data + op->text;
    const size_t n = op->text_bytes;
    if (op->kind == TOK_TO_STRIPPED) return n == 1 && ((op->a && *text == '<') || (op->b && *text == '>'));
    if (op->kind != TOK_TO_REPLACED && op->kind != TOK_TO_SPACES) return false;
    for (unsigned byte = 0; byte < 256; byte++) {
        char token[8];
        const size_t length = (size_t)snprintf(token, sizeof token, "<0x%02X>", byte);
        for (size_t i = 0; i + n <= length; i++)
            if (!memcmp(token + i, text, n)) return true;
    }
    return false;
}

static void read_to_fallback(TokBuild *b, const json_t *part)
{
    (void)part;
    refuse_fused(b, "ByteFallback");
    if (has_decoder(b, TOK_TO_WORDS) || has_decoder(b, TOK_TO_SUFFIX))
        tok_refuse(b, "a 'ByteFallback' decoder after WordPiece or BPEDecoder is not supported");
    for (int i = 0; i < b->decoders.count; i++)
        if (respells_bytes(b, &b->decoders.at[i]))
            tok_refuse(b, "a decoder before ByteFallback that changes byte tokens such as <0x0A> is not supported");
    tok_decoder(b, (RtTokOp){ .kind = TOK_TO_FALLBACK });
}

static void read_to_fused(TokBuild *b, const json_t *part) { (void)part; tok_decoder(b, (RtTokOp){ .kind = TOK_TO_FUSED }); }

static void read_to_words(TokBuild *b, const json_t *part)
{
    const TokString prefix = tok_json_text(b, part, "prefix");
    refuse_bytes(b, "WordPiece");
    RtTokOp op = tok_op(b, TOK_TO_WORDS, prefix.s ? prefix : tok_string("##"));
    op.a = tok_json_bool(b, part, "cleanup", true);
    tok_decoder(b, op);
}

static void read_to_spaces(TokBuild *b, const json_t *part)
{
    refuse_fused(b, "Metaspace");
    RtTokOp op = tok_op(b, TOK_TO_SPACES, read_mark(b, part));
    op.a = read_scheme(b, part) != TOK_PREPEND_NEVER;
    tok_decoder(b, op);
}

static void read_to_suffix(TokBuild *b, const json_t *part)
{
    const TokString suffix = tok_json_text(b, part, "suffix");
    refuse_bytes(b, "BPEDecoder");
    if (suffix.s && !suffix.n) tok_refuse(b, "a 'BPEDecoder' decoder with an empty suffix is not supported");
    tok_decoder(b, tok_op(b, TOK_TO_SUFFIX, suffix.s ? suffix : tok_string("</w>")));
}

static void read_to_replaced(TokBuild *b, const json_t *part)
{
    const json_t *pattern = json_object_get(part, "pattern");
    const TokString from = tok_json_string(b, json_object_get(pattern, "String"));
    const TokString to = tok_json_text(b, part, "content");
    int32_t c;
    if (!from.s) tok_refuse(b, "a 'Replace' decoder whose pattern is not a String is not supported");
    else if (is_fused(b) && utf8_next(from.s, from.n, &c) != (int)from.n)
        tok_refuse(b, "a 'Replace' decoder for several characters after Fuse or ByteLevel is not "
                   "supported");
    if (!from.s || !from.n) return;
    RtTokOp op = tok_op(b, TOK_TO_REPLACED, from);
    op.other = tok_pool(b, to);
    op.other_bytes = (uint32_t)to.n;
    tok_decoder(b, op);
}

static void read_to_stripped(TokBuild *b, const json_t *part)
{
    const TokString content = tok_json_text(b, part, "content");
    RtTokOp op = tok_op(b, TOK_TO_STRIPPED, content);
    op.a = tok_json_below(b, part, "start", 0, INT32_MAX);
    op.b = tok_json_below(b, part, "stop", 0, INT32_MAX);
    int32_t c;
    if (!content.n || (size_t)utf8_next(content.s, content.n, &c) != content.n)
        tok_refuse(b, "a 'Strip' decoder needs one character as its \"content\"");
    else if (op.b && is_fused(b))
        tok_refuse(b, "a 'Strip' decoder with a nonzero \"stop\" is not supported after Fuse or ByteLevel");
    else tok_decoder(b, op);
}

static const PartRow decoders[] = {
    { "ByteLevel", read_to_bytes, "add_prefix_space:b trim_offsets:b use_regex:b-" },
    { "WordPiece", read_to_words, "prefix:t cleanup:b" },
    { "Metaspace", read_to_spaces, "replacement:t split:zb-" },
    { "BPEDecoder", read_to_suffix, "suffix:t" },
    { "Replace", read_to_replaced, "content:t" },
    { "ByteFallback", read_to_fallback, "" },
    { "Fuse", read_to_fused, "" },
    { "Strip", read_to_stripped, "content:t start:u stop:u" },
};

void tok_json_decoder(TokBuild *b, const json_t *part)
{
    static const PartKind kind = { "decoder", "decoders", decoders, sizeof decoders / sizeof *decoders };
    if (!part || json_is_null(part)) tok_decoder(b, (RtTokOp){ .kind = TOK_TO_JOINED });
    read_part(b, &kind, part, 0);
}

/* ---- post_processors -------------------------------------------------------------------------------------------------- */

/* [text, id] */
static bool read_special(TokBuild *b, const json_t *part, const char *key, uint32_t *id)
{
    const json_t *pair = json_object_get(part, key), *number = json_array_get(pair, 1);
    if (json_array_size(pair) != 2 || !json_is_string(json_array_get(pair, 0)) ||
        !json_is_integer(number) || json_integer_value(number) < 0 ||
        json_integer_value(number) >= b->size) {
        tok_refuse(b, "the post_processor's \"%s\" is not a token of the vocabulary", key);
        return false;
    }
    *id = (uint32_t)json_integer_value(number);
    return true;
}

static void read_bert_post(TokBuild *b, const json_t *part)
{
    uint32_t cls, sep;
    if (!read_special(b, part, "cls", &cls) || !read_special(b, part, "sep", &sep)) return;
    tok_template_bert(b, cls, sep);
}

/* trim_offsets: spans of tokens exclude white space at their ends. */
static void read_trim(TokBuild *b, const json_t *part)
{
    if (tok_json_bool(b, part, "trim_offsets", true))
        tok_trim(b, tok_json_bool(b, part, "add_prefix_space", true));
}

static void read_roberta_post(TokBuild *b, const json_t *part)
{
    uint32_t cls, sep;
    if (!read_special(b, part, "cls", &cls) || !read_special(b, part, "sep", &sep)) return;
    if (!json_is_boolean(json_object_get(part, "trim_offsets")) ||
        !json_is_boolean(json_object_get(part, "add_prefix_space"))) {
        tok_template_bert(b, cls, sep);         /* as `tokenizers` reads it */
        return;
    }
    tok_template_roberta(b, cls, sep);
    read_trim(b, part);
}

/* Append the ids that special_tokens has for a name. */
static void add_specials(TokBuild *b, bool pair, const json_t *specials, const json_t *id, uint32_t type)
{
    enum { MOST_ITEMS = 4096 };
    const json_t *ids = json_object_get(json_object_get(specials, json_is_string(id) ? json_string_value(id) : ""), "ids");
    if (!json_is_array(ids)) tok_refuse(b, "the post_processor names a special token that it does not define");
    for (size_t i = 0; i < json_array_size(ids) && !tok_failed(b); i++) {
        if ((pair ? b->pair.count : b->single.count) >= MOST_ITEMS) {
            tok_refuse(b, "a post_processor with more than %d tokens is not supported", MOST_ITEMS);
            return;
        }
        const json_t *number = json_array_get(ids, i);
        const json_int_t value = json_is_integer(number) ? json_integer_value(number) : -1;
        if (value < 0 || value >= b->size) tok_refuse(b, "the post_processor has an id that no token of the vocabulary has");
        else tok_item(b, pair, TOK_ITEM_SPECIAL, (uint32_t)value, type);
    }
}

static void read_template_list(TokBuild *b, const json_t *part, bool pair)
{
    const char *key = pair ? "pair" : "single";
    const json_t *list = json_object_get(part, key), *specials = json_object_get(part, "special_tokens");
    if (list && !json_is_array(list)) tok_refuse(b, "the post_processor's \"%s\" is not a list", key);
    for (size_t i = 0; i < json_array_size(list) && !tok_failed(b); i++) {
        const json_t *item = json_array_get(list, i), *special = json_object_get(item, "SpecialToken"), *text = json_object_get(item, "Sequence");
        if (!tok_json_check(b, special ? special : text, "a token or text of the post_processor",
                            "id:t type_id:u")) return;
        const uint32_t type = tok_json_below(b, special ? special : text, "type_id", 0, 256);
        const TokString name = tok_json_text(b, special ? special : text, "id");
        if (special) add_specials(b, pair, specials, json_object_get(special, "id"), type);
        else if (name.n == 1 && (name.s[0] == 'A' || (name.s[0] == 'B' && pair)))
            tok_item(b, pair, name.s[0] == 'A' ? TOK_ITEM_A : TOK_ITEM_B, 0, type);
        else tok_refuse(b, "the post_processor's \"%s\" has an item that is neither one of its texts nor a special token", key);
    }
}

static void read_template(TokBuild *b, const json_t *part)
{
    const int before = b->single.count;
    bool has_text = false;
    read_template_list(b, part, false);
    read_template_list(b, part, true);
    for (int i = before; i < b->single.count; i++)
        has_text = has_text || b->single.at[i].kind == TOK_ITEM_A;
    if (!has_text && !tok_failed(b))
        tok_refuse(b, "a post_processor whose \"single\" leaves out the text (Sequence A) is not supported");
}

static const PartRow post_processors[] = {
    { "TemplateProcessing", read_template, "single:l pair:l special_tokens:o" },
    { "BertProcessing", read_bert_post, "" },
    { "RobertaProcessing", read_roberta_post, "" },
    { "ByteLevel", read_trim, "add_prefix_space:b trim_offsets:b use_regex:b-" },
};

void tok_json_post_processor(TokBuild *b, const json_t *part)
{
    static const PartKind kind = { "post_processor", "processors", post_processors, sizeof post_processors / sizeof *post_processors };
    const int before = b->single.count;
    read_part(b, &kind, part, 0);
    int texts = 0;
    for (int i = before; i < b->single.count; i++) texts += b->single.at[i].kind == TOK_ITEM_A;
    if (texts > 1) tok_refuse(b, "a post_processor that inserts the text more than once is not supported");
}
