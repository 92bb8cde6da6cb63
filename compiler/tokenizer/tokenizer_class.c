/* tokenizer_class.c: replace the parts of a tokenizer.json that the class of the tokenizer
 * overrides, according to keys of tokenizer_config.json. Differences from the file are reported as
 * remarks. The classes are rows of tokenizer_classes.def. */
#include "tokenizer_json.h"

#include <stdlib.h>
#include <string.h>

#include "text.h"

typedef struct Settle Settle;
typedef void SettlePart(Settle *s);
typedef struct ClassRow {
    const char *names, *types;      /* separated by spaces */
    SettlePart *letters, *spaces, *ends;
    /* default of do_lower_case; ALWAYS: the key is ignored */
    enum { LOWER_NO, LOWER_YES, LOWER_ALWAYS } lower;
    bool space;                     /* default of add_prefix_space */
} ClassRow;

struct Settle {
    TokBuild *b;
    json_t *root;                   /* of tokenizer.json */
    const TokConfig *config;
    const ClassRow *row;
    const char *class_name;         /* the class, for messages */
    const char *by;                 /* the same, for b->origin.rules */
};

/* ---- messages ------------------------------------------------------------------------------------------------------- */

/* Report a difference between the file and the class. `given`: `value` comes from the key in
 * tokenizer_config.json, not from the class's default. */
static void tell(const Settle *s, const char *file_says, const char *key, bool given, bool value)
{
    Arena *a = s->b->arena;
    const char *config = file_join(a, file_folder(a, s->b->file), "tokenizer_config.json");
    const char *has = arena_format(a, "%s = %s", key, value ? "true" : "false");
    const bool always = s->row->lower == LOWER_ALWAYS && !strcmp(key, "do_lower_case");
    const char *source = given    ? arena_format(a, "%s from %s", has, config)
                         : always ? arena_format(a, "%s, which %s always uses", has, s->class_name)
                                  : arena_format(a, "%s, the default of %s, which %s does not override",
                                                 has, s->class_name, config);
    diag_remark(s->b->diag, (Loc){ s->b->file, 0, 0 }, "%s; using %s, as in transformers 5",
                file_says, source);
}

/* Report a Boolean member of a part if it differs from `value`, which replaces it. */
static void compare(const Settle *s, const json_t *part, const char *name, bool preset, const char *key, bool given, bool value)
{
    const bool said = tok_json_bool(s->b, part, name, preset);
    if (said == value) return;
    tell(s, arena_format(s->b->arena, "\"%s\" is %s", name, said ? "true" : "false"), key, given, value);
}

/* ---- parts ---------------------------------------------------------------------------------------------------------- */

enum { DEEPEST = 16 };

static bool is_type(const json_t *part, const char *type)
{
    const char *found = json_string_value(json_object_get(part, "type"));
    return found && strcmp(found, type) == 0;
}

/* The list of a Sequence; NULL for any other part. */
static json_t *list_of(const json_t *part)
{
    static const char *const lists[] = { "normalizers", "pretokenizers", "decoders" };
    json_t *list = NULL;
    for (int i = 0; i < 3 && !list && is_type(part, "Sequence"); i++) list = json_object_get(part, lists[i]);
    return json_is_array(list) ? list : NULL;
}

/* The first part of the given type, within Sequences too; NULL if there is none. */
static json_t *find_part(json_t *part, const char *type, int depth)
{
    const json_t *list = list_of(part);
    if (is_type(part, type)) return part;
    json_t *found = NULL;
    for (size_t i = 0; i < json_array_size(list) && !found && depth < DEEPEST; i++) found = find_part(json_array_get(list, i), type, depth + 1);
    return found;
}

static json_t *part_of(const Settle *s, const char *key, const char *type) { return find_part(json_object_get(s->root, key), type, 0); }

static bool is_wordpiece(const Settle *s)
{
    const json_t *model = json_object_get(s->root, "model");
    return is_type(model, "WordPiece") || !json_object_get(model, "type");
}

/* Keys of tokenizer_config.json, or the defaults of the class. */
static bool says_lower(const Settle *s) { return s->config->has_do_lower_case && s->row->lower != LOWER_ALWAYS; }
static bool lowers(const Settle *s) { return says_lower(s) ? s->config->do_lower_case : s->row->lower != LOWER_NO; }
static bool prefixes(const Settle *s) { return s->config->has_prefix_space ? s->config->prefix_space : s->row->space; }

/* ---- letters -------------------------------------------------------------------------------------------------------- */

static void letters_no(Settle *s) { (void)s; }

/* Replace the unk_token of the model with the folder's, or with [UNK] if the folder names none. */
static void settle_unknown(Settle *s)
{
    json_t *model = json_object_get(s->root, "model");
    const TokString mark = s->config->folder.mark[TOK_UNK].text;
    const char *wanted = mark.s ? mark.s : "[UNK]",
               *found = json_string_value(json_object_get(model, "unk_token"));
    if (!found || !strcmp(found, wanted)) return;
    diag_remark(s->b->diag, (Loc){ s->b->file, 0, 0 },
                "its unk_token is \"%.60s\"; using \"%.60s\" from %s, as in transformers 5",
                found, wanted, mark.s ? "tokenizer_config.json or special_tokens_map.json" : s->class_name);
    json_object_set_new(model, "unk_token", json_string(wanted));
}

static void letters_bert(Settle *s)
{
    const TokConfig *c = s->config;
    const bool lower = lowers(s), strip = c->has_strip_accents ? c->strip_accents : lower, chinese = !c->has_chinese || c->chinese;
    const json_t *normaliser = json_object_get(s->root, "normalizer");
    if (!is_wordpiece(s)) {
        diag_remark(s->b->diag, (Loc){ s->b->file, 0, 0 }, "its model is not a WordPiece model, unlike "
                    "that of %s; do_lower_case and similar keys are ignored",
                    s->class_name);
        return;
    }
    settle_unknown(s);
    if (is_type(normaliser, "BertNormalizer")) {
        const bool lowercase = tok_json_bool(s->b, normaliser, "lowercase", true);
        compare(s, normaliser, "lowercase", true, "do_lower_case", says_lower(s), lower);
        if (c->has_strip_accents) compare(s, normaliser, "strip_accents", lowercase, "strip_accents", true, strip);
        else if (lowercase == lower) compare(s, normaliser, "strip_accents", lower, "do_lower_case", says_lower(s), strip);
        compare(s, normaliser, "handle_chinese_chars", true, "tokenize_chinese_chars", c->has_chinese, chinese);
    } else {
        tell(s, "its normalizer is not a BertNormalizer", "do_lower_case", says_lower(s), lower);
    }
    json_object_set_new(s->root, "normalizer",
                        json_pack("{s:s, s:b, s:b, s:b, s:b}", "type", "BertNormalizer", "clean_text", 1, "handle_chinese_chars", (int)chinese,
                                  "strip_accents", (int)strip, "lowercase", (int)lower));
}

/* Turn the normalizer into a Sequence if it is not one; returns its list, owned by root. */
static json_t *normaliser_list(Settle *s)
{
    json_t *normaliser = json_object_get(s->root, "normalizer"), *list = list_of(normaliser);
    if (list) return list;
    list = json_array();
    if (json_is_object(normaliser)) json_array_append(list, normaliser);
    json_object_set_new(s->root, "normalizer", json_pack("{s:s, s:o}", "type", "Sequence", "normalizers", list));
    return list;
}

/* Remove every Lowercase from a list of parts, within Sequences too. */
static void remove_lowercase(json_t *list, int depth)
{
    for (size_t at = 0; at < json_array_size(list);) {
        json_t *part = json_array_get(list, at);
        if (is_type(part, "Lowercase")) {
            json_array_remove(list, at);
            continue;
        }
        if (depth < DEEPEST) remove_lowercase(list_of(part), depth + 1);
        at++;
    }
}

/* Add a Lowercase to the normalizer or remove every Lowercase, as the class does. With `first`, it
 * is added as the first part; otherwise before a Precompiled or, if there is none, as the last
 * part. */
static void settle_lowercase(Settle *s, bool first)
{
    const bool lower = lowers(s), found = part_of(s, "normalizer", "Lowercase") != NULL;
    if (lower == found) return;
    tell(s, found ? "its normalizer has a Lowercase" : "its normalizer has no Lowercase", "do_lower_case", says_lower(s), lower);
    json_t *list = normaliser_list(s);
    if (!lower) remove_lowercase(list, 1);
    else {
        size_t at = 0;
        while (!first && at < json_array_size(list) && !is_type(json_array_get(list, at), "Precompiled")) at++;
        json_array_insert_new(list, at, json_pack("{s:s}", "type", "Lowercase"));
    }
}

static void letters_lowercase(Settle *s) { settle_lowercase(s, false); }
static void letters_lowercase_first(Settle *s) { settle_lowercase(s, true); }

/* ---- blanks --------------------------------------------------------------------------------------------------------- */

static void spaces_no(Settle *s) { (void)s; }

static void spaces_byte_level(Settle *s)
{
    json_t *part = part_of(s, "pre_tokenizer", "ByteLevel");
    if (!part) return;
    compare(s, part, "add_prefix_space", true, "add_prefix_space", s->config->has_prefix_space, prefixes(s));
    json_object_set_new(part, "add_prefix_space", json_boolean(prefixes(s)));
}

static const char *scheme_of(const Settle *s, const json_t *part)
{
    const char *scheme = json_string_value(json_object_get(part, "prepend_scheme"));
    return scheme ? scheme : tok_json_bool(s->b, part, "add_prefix_space", true) ? "always" : "never";
}

static void set_scheme(json_t *part, const char *scheme)
{
    if (!part) return;
    json_object_del(part, "add_prefix_space");
    json_object_set_new(part, "prepend_scheme", json_string(scheme));
}

/* Set the scheme of the Metaspace, if there is one. by_legacy: "legacy" chooses between "first" and
 * "always". */
static void settle_metaspace(Settle *s, const char *scheme, bool by_legacy)
{
    json_t *part = part_of(s, "pre_tokenizer", "Metaspace");
    if (!part) return;
    const char *found = scheme_of(s, part);
    const bool legacy = by_legacy && strcmp(found, "never") && strcmp(scheme, "never");
    if (strcmp(found, scheme) != 0)
        tell(s, arena_format(s->b->arena, "\"prepend_scheme\" is \"%.40s\", not \"%s\"", found, scheme), legacy ? "legacy" : "add_prefix_space",
             legacy ? s->config->folder.has_legacy : s->config->has_prefix_space, legacy ? s->config->legacy : prefixes(s));
    set_scheme(part, scheme);
    set_scheme(part_of(s, "decoder", "Metaspace"), scheme);
}

/* A Metaspace after a WhitespaceSplit, which is added if the file lacks it. */
static void spaces_words(Settle *s)
{
    settle_metaspace(s, prefixes(s) ? "always" : "never", false);
    json_t *part = part_of(s, "pre_tokenizer", "Metaspace");
    if (!part || part_of(s, "pre_tokenizer", "WhitespaceSplit")) return;
    json_object_set_new(s->root, "pre_tokenizer",
                        json_pack("{s:s, s:[{s:s}, O]}", "type", "Sequence", "pretokenizers", "type", "WhitespaceSplit", part));
}

static void spaces_metaspace(Settle *s) { settle_metaspace(s, prefixes(s) ? "always" : "never", false); }
static void spaces_metaspace_first(Settle *s) { settle_metaspace(s, prefixes(s) ? "always" : "first", false); }

/* Set the scheme of the Metaspace; if the file has none, use one instead of the file's normalizer
 * and pre_tokenizer. Use the class's own decoder, which removes the first blank if `strips` is set.
 * A file with a ByteLevel remains as it is. */
static void settle_llama(Settle *s, const char *prefixed, bool strips, bool by_legacy)
{
    const bool space = prefixes(s);
    const char *scheme = space ? prefixed : "never";
    if (part_of(s, "pre_tokenizer", "ByteLevel") || part_of(s, "decoder", "ByteLevel")) return;
    if (part_of(s, "pre_tokenizer", "Metaspace")) settle_metaspace(s, scheme, by_legacy);
    else {
        tell(s, arena_format(s->b->arena, "its pre_tokenizer has no Metaspace with \"prepend_scheme\": \"%s\"", scheme),
             "add_prefix_space", s->config->has_prefix_space, space);
        json_object_set_new(s->root, "normalizer", json_null());
        json_object_set_new(s->root, "pre_tokenizer", json_pack("{s:s, s:s, s:s, s:b}", "type", "Metaspace", "replacement", "\xE2\x96\x81",
                                                                "prepend_scheme", scheme, "split", 0));
    }
    json_t *decoder = json_pack("{s:s, s:[{s:s, s:{s:s}, s:s}, {s:s}, {s:s}]}", "type", "Sequence", "decoders", "type", "Replace", "pattern",
                                "String", "\xE2\x96\x81", "content", " ", "type", "ByteFallback", "type", "Fuse");
    if (strips)
        json_array_append_new(json_object_get(decoder, "decoders"),
                              json_pack("{s:s, s:s, s:i, s:i}", "type", "Strip", "content", " ", "start", 1, "stop", 0));
    json_object_set_new(s->root, "decoder", decoder);
}

static void spaces_llama(Settle *s) { settle_llama(s, s->config->legacy ? "always" : "first", prefixes(s), true); }
static void spaces_code_llama(Settle *s) { settle_llama(s, "first", true, false); }

/* ---- ends ----------------------------------------------------------------------------------------------------------- */

/* The id of the folder's special token, or of the preset; false if it is not a token. */
static bool find_mark(const Settle *s, TokMark mark, const char *preset, uint32_t *id)
{
    const TokString said = s->config->folder.mark[mark].text;
    *id = tok_id_of_text(s->b, said.s ? said : tok_string(preset));
    return *id != RT_TOK_NONE;
}

static void ends_no(Settle *s) { (void)s; }

static void ends_none(Settle *s) { tok_template_ends(s->b, -1, -1); }

static void ends_bert(Settle *s)
{
    uint32_t cls, sep;
    if (!is_wordpiece(s) || !find_mark(s, TOK_CLS, "[CLS]", &cls) || !find_mark(s, TOK_SEP, "[SEP]", &sep)) return;
    tok_template_bert(s->b, cls, sep);
}

static void ends_roberta(Settle *s)
{
    uint32_t cls, sep;
    if (!find_mark(s, TOK_CLS, "<s>", &cls) || !find_mark(s, TOK_SEP, "</s>", &sep)) return;
    tok_template_roberta(s->b, cls, sep);
}

/* BOS and no EOS, regardless of add_bos_token and add_eos_token. */
static void ends_begun(Settle *s)
{
    uint32_t bos;
    if (find_mark(s, TOK_BOS, "<s>", &bos)) tok_template_ends(s->b, (int)bos, -1);
}

static bool has_mark(const Settle *s, TokMark mark, bool first)
{
    const int n = s->b->single.count;
    const TokItem *x = n ? &s->b->single.at[first ? 0 : n - 1] : NULL;
    const TokString text = s->config->folder.mark[mark].text;
    return x && x->kind == TOK_ITEM_SPECIAL && (!text.s || tok_same(s->b->pieces.at[x->id].text, text));
}

static void compare_end(const Settle *s, const char *key, bool given, bool wanted, TokMark mark)
{
    if (given && wanted != has_mark(s, mark, mark == TOK_BOS))
        diag_remark(s->b->diag, (Loc){ s->b->file, 0, 0 },
                    "using the post_processor, as transformers 5 does, and ignoring \"%s\": %s in "
                    "tokenizer_config.json",
                    key, wanted ? "true" : "false");
}

/* ---- the class ------------------------------------------------------------------------------------------------------ */

#define GENERIC_TYPES(types)
#define OWN_TYPES(types)
#define CLASS_PARTS(names, model, normalizer, pre_tokenizer, decoder, post_processor)
#define CLASS_MEMBER(names, member, value)
#define MARKED_CLASSES(names)
static const ClassRow rows[] = {
#define TOKENIZER_CLASS(names, letters, spaces, ends, lower, space, types) \
    { names, types, letters_##letters, spaces_##spaces, ends_##ends, LOWER_##lower, space },
#include "tokenizer_classes.def"
#undef TOKENIZER_CLASS
};
#undef GENERIC_TYPES
#undef OWN_TYPES
#undef MARKED_CLASSES
#define TOKENIZER_CLASS(names, letters, spaces, ends, lower, space, types)
#define GENERIC_TYPES(types) static const char generic_types[] = types;
#define OWN_TYPES(types) static const char own_types[] = types;
#define MARKED_CLASSES(names) static const char marked_classes[] = names;
#include "tokenizer_classes.def"
#undef GENERIC_TYPES
#undef OWN_TYPES
#undef MARKED_CLASSES
#undef CLASS_PARTS
#define GENERIC_TYPES(types)
#define OWN_TYPES(types)
#define MARKED_CLASSES(names)
typedef struct PartsRow {
    const char *names, *model, *normaliser, *pre_tokenizer, *decoder, *post;
} PartsRow;
static const PartsRow parts[] = {
#define CLASS_PARTS(names, model, normalizer, pre_tokenizer, decoder, post_processor) \
    { names, model, normalizer, pre_tokenizer, decoder, post_processor },
#include "tokenizer_classes.def"
#undef CLASS_PARTS
};
#define CLASS_PARTS(names, model, normalizer, pre_tokenizer, decoder, post_processor)
#undef CLASS_MEMBER
typedef struct MemberRow { const char *names, *member, *value; } MemberRow;
static const MemberRow members[] = {
#define CLASS_MEMBER(names, member, value) { names, member, value },
#include "tokenizer_classes.def"
};
enum { ROWS = sizeof rows / sizeof *rows };

/* True if a word of n bytes is in a list separated by spaces. */
static bool lists(const char *list, const char *word, size_t n)
{
    for (const char *s = list; n && *s; s += strspn(s, " ")) {
        const size_t m = strcspn(s, " ");
        if (m == n && memcmp(s, word, n) == 0) return true;
        s += m;
    }
    return false;
}

/* The length of a class name without "Tokenizer" or "TokenizerFast"; 0 if it ends with neither. */
static size_t stem(const char *name)
{
    const char *end = name ? strstr(name, "Tokenizer") : NULL;
    return end && (strcmp(end, "Tokenizer") == 0 || strcmp(end, "TokenizerFast") == 0) ? (size_t)(end - name) : 0;
}

/* The row that AutoTokenizer would choose; NULL if tokenizer.json is used unchanged. *named: it is
 * chosen by the class name, not by the model_type. */
static const ClassRow *find_row(const TokConfig *c, bool *named)
{
    const char *type = c->folder.model_type ? c->folder.model_type : "";
    *named = c->class_name && !lists(own_types, type, strlen(type));
    if (lists(generic_types, type, strlen(type))) return NULL;
    for (int i = 0; i < ROWS; i++) {
        const ClassRow *row = &rows[i];
        if (*named ? lists(row->names, c->class_name, stem(c->class_name)) : lists(row->types, type, strlen(type))) return row;
    }
    return NULL;
}

/* ---- parts that do not follow the class ------------------------------------------------------ */

static void add_types(Text *t, const json_t *part, int depth)
{
    const json_t *list = list_of(part);
    const char *type = json_string_value(json_object_get(part, "type"));
    for (size_t i = 0; i < json_array_size(list) && depth < DEEPEST; i++)
        add_types(t, json_array_get(list, i), depth + 1);
    if (!list && type) text_printf(t, "%s%.40s", t->size ? "+" : "", type);
}

/* The types of a part, joined by +, or "none". */
static const char *types_of(const TokBuild *b, const json_t *part)
{
    Text t = text_new(b->arena);
    add_types(&t, part, 0);
    return t.size ? t.data : "none";
}

/* Append to t the type of a part that the class has, if the file has a different one. */
static void add_part(TokBuild *b, Text *t, const json_t *root, const char *key, const char *wanted)
{
    const json_t *part = json_object_get(root, key);
    const char *found = types_of(b, part);
    const bool untyped = !strcmp(key, "model") && !json_object_get(part, "type");
    if (untyped || !strcmp(wanted, "any") || !strcmp(wanted, found)) return;
    const char *before = t->size ? ", " : "";
    if (!strcmp(wanted, "none")) text_printf(t, "%sno %s (in the file: %s)", before, key, found);
    else text_printf(t, "%sthe %s %s (in the file: %s)", before, key, wanted, found);
}

static void add_member(TokBuild *b, Text *t, const json_t *root, const MemberRow *row)
{
    const json_t *value = json_object_get(json_object_get(root, "model"), row->member);
    /* byte_fallback does not affect a byte-level vocabulary: it has a piece for every byte. */
    if (strstr(types_of(b, json_object_get(root, "decoder")), "ByteLevel")) return;
    char *found = value ? json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT) : NULL;
    if (found && strcmp(found, row->value) != 0)
        text_printf(t, "%s%s = %s (in the file: %s)", t->size ? ", " : "", row->member, row->value,
                    arena_text(b->arena, found));
    free(found);
}

/* The name of the folder's class, *n bytes without "Tokenizer": the one that the folder names, else
 * the first in the row of its model_type. "" if the model_type is generic, or if the folder names
 * no class and its model_type has no row. */
static const char *class_word(const TokConfig *c, size_t *n)
{
    bool named;
    const ClassRow *row = find_row(c, &named);
    const char *type = c->folder.model_type ? c->folder.model_type : "",
               *name = named ? c->class_name : row ? row->names : "";
    if (lists(generic_types, type, strlen(type))) name = "";
    *n = named && *name ? stem(name) : strcspn(name, " ");
    return name;
}

/* Report the parts of the file that differ from those of the folder's class. */
static void tell_parts(TokBuild *b, const json_t *root, const TokConfig *c)
{
    size_t n;
    const char *name = class_word(c, &n);
    Text t = text_new(b->arena);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (!lists(parts[i].names, name, n)) continue;
        add_part(b, &t, root, "model", parts[i].model);
        add_part(b, &t, root, "normalizer", parts[i].normaliser);
        add_part(b, &t, root, "pre_tokenizer", parts[i].pre_tokenizer);
        add_part(b, &t, root, "decoder", parts[i].decoder);
        add_part(b, &t, root, "post_processor", parts[i].post);
    }
    for (size_t i = 0; i < sizeof members / sizeof *members; i++)
        if (lists(members[i].names, name, n)) add_member(b, &t, root, &members[i]);
    if (t.size)
        diag_remark(b->diag, (Loc){ b->file, 0, 0 },
                    "%.*sTokenizer in transformers 5 has %s; using the file, as in transformers 4",
                    (int)n, name, t.data);
}

static bool is_listed(const TokConfig *c, TokString text)
{
    for (int i = 0; i < c->added.count; i++)
        if (tok_same(c->added.at[i].text, text)) return true;
    return false;
}

/* A class that rebuilds its tokenizer adds the tokens in added_tokens_decoder and no other tokens
 * of the file. Report the first that it lacks. */
void tok_json_tell_added(TokBuild *b, const TokConfig *c)
{
    size_t n;
    bool known = false;
    const char *name = class_word(c, &n);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        known = known || lists(parts[i].names, name, n);
    if (!known || !c->added.count) return;
    for (int i = 0; i < b->added.count; i++) {
        const TokString text = b->added.at[i].text;
        if (is_listed(c, text) || tok_is_mark(&c->folder, text)) continue;
        diag_remark(b->diag, (Loc){ b->file, 0, 0 },
                    "%.*sTokenizer in transformers 5 has no added token \"%.60s\", because "
                    "added_tokens_decoder in tokenizer_config.json does not list it; using the file, "
                    "as in transformers 4",
                    (int)n, name, text.s);
        return;
    }
}

/* Report a bos_token or eos_token of the folder that the post_processor does not put at the
 * beginning or end of a text, respectively. */
static void tell_marks(const Settle *s)
{
    static const struct { TokMark mark; const char *key; } ends[] = { { TOK_BOS, "bos_token" },
                                                                       { TOK_EOS, "eos_token" } };
    size_t n;
    const char *name = class_word(s->config, &n);
    if (!lists(marked_classes, name, n)) return;
    for (size_t i = strncmp(name, "T5", n) == 0; i < 2; i++) {
        const TokString text = s->config->folder.mark[ends[i].mark].text;
        if (text.s && !has_mark(s, ends[i].mark, ends[i].mark == TOK_BOS))
            diag_remark(s->b->diag, (Loc){ s->b->file, 0, 0 },
                        "%.*sTokenizer in transformers 5 adds the %s, \"%.60s\", to each text; "
                        "using the post_processor, as in transformers 4",
                        (int)n, name, ends[i].key, text.s);
    }
}

/* ---- settling -------------------------------------------------------------------------------- */

/* Set *s; true if the class has a row. Only then are s->row and the names set. */
static bool settle_of(TokBuild *b, json_t *root, const TokConfig *config, Settle *s)
{
    bool named;
    *s = (Settle){ .b = b, .root = root, .config = config };
    s->row = find_row(config, &named);
    if (!s->row) return false;
    s->class_name = named ? config->class_name : arena_format(b->arena, "the class of model_type %s", config->folder.model_type);
    s->by = named ? arena_format(b->arena, "class %.*s by tokenizer_class", (int)stem(s->class_name), s->class_name)
                  : arena_format(b->arena, "the class of model_type %s", config->folder.model_type);
    return true;
}

void tok_json_settle_class(TokBuild *b, json_t *root, const TokConfig *config)
{
    Settle s;
    if (settle_of(b, root, config, &s)) {
        b->origin.rules = s.by;
        s.row->letters(&s);
        s.row->spaces(&s);
    }
    tell_parts(b, root, config);
}

void tok_json_settle_ends(TokBuild *b, json_t *root, const TokConfig *config)
{
    Settle s;
    const bool known = settle_of(b, root, config, &s);
    tell_marks(&s);
    if (!known || s.row->ends == ends_no) {
        compare_end(&s, "add_bos_token", config->has_add_bos, config->add_bos, TOK_BOS);
        compare_end(&s, "add_eos_token", config->has_add_eos, config->add_eos, TOK_EOS);
        return;
    }
    const TokTemplate file = tok_template_take(b);
    s.row->ends(&s);
    if (!b->single.count || tok_template_same(b, &file)) tok_template_put(b, &file);
    else
        diag_remark(b->diag, (Loc){ b->file, 0, 0 }, "the tokens around a text come from %s, as in transformers 5, not from "
                    "the post_processor", s.class_name);
}
