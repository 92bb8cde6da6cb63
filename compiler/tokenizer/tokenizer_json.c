/* tokenizer_json.c: import a Hugging Face tokenizer.json. Parts are read strictly: unsupported
 * parts that would change ids or text are errors that name the part. */
#include "tokenizer_json.h"

#include <math.h>
#include <string.h>

/* ---- shapes ------------------------------------------------------------------------------------ */

/* Check a part, which may be absent or null. */
static void check_part(TokBuild *b, const json_t *root, const char *key, const char *members)
{
    const json_t *part = tok_json_member(root, key);
    if (part) tok_json_check(b, part, key, members);
}

static const char token_members[] =
    "id:u content:t single_word:b lstrip:b rstrip:b normalized:b special:b";
static const char truncation_members[] =
    "direction:t-:Left|Right max_length:u stride:u strategy:t:LongestFirst|OnlyFirst|OnlySecond";
static const char padding_members[] =
    "direction:t:Left|Right strategy:to:BatchLongest pad_id:u pad_type_id:u pad_token:t "
    "pad_to_multiple_of:uz-";

/* Check the names of the top-level parts, and those parts that no step is made from: version,
 * truncation, padding. */
static void check_root(TokBuild *b, const json_t *root)
{
    static const char parts[] = "version|truncation|padding|added_tokens|normalizer|pre_tokenizer|"
                                "post_processor|decoder|model";
    const char *key;
    json_t *value;
    if (!json_object_get(root, "model")) return; /* another kind of file: see read_model */
    json_object_foreach((json_t *)(uintptr_t)root, key, value)
        if (!tok_json_is_word(parts, strlen(parts), key) && !tok_failed(b))
            tok_refuse(b, "unknown part \"%.60s\"", key);
    const json_t *version = json_object_get(root, "version"),
                 *padding = tok_json_member(root, "padding"),
                 *strategy = json_object_get(padding, "strategy");
    if (version && !json_is_string(version)) tok_refuse(b, "\"version\" is not a string");
    else if (version && strcmp(json_string_value(version), "1.0") != 0)
        tok_refuse(b, "the version \"%.20s\" is not supported, only \"1.0\"",
                   json_string_value(version));
    check_part(b, root, "truncation", truncation_members);
    check_part(b, root, "padding", padding_members);
    if (json_is_object(strategy)) tok_json_check(b, strategy, "padding's strategy", "Fixed:u");
}

/* ---- vocabulary ---------------------------------------------------------------------------------------------------- */

static void read_vocabulary(TokBuild *b, json_t *vocab)
{
    if (vocab) tok_json_ids(b, vocab, true);
    else tok_refuse(b, "the model has no vocab");
}

static void read_scored(TokBuild *b, const json_t *vocab)
{
    double least = INFINITY;
    for (size_t i = 0; i < json_array_size(vocab); i++) {
        const json_t *pair = json_array_get(vocab, i), *score = json_array_get(pair, 1);
        const TokString text = tok_json_string(b, json_array_get(pair, 0));
        TokPiece *p = text.s && json_is_number(score) ? tok_piece(b, (int64_t)i, text, true) : NULL;
        if (!p) {
            if (!tok_failed(b)) tok_refuse(b, "entry %zu of the vocab is not a pair of a text and a score", i);
            return;
        }
        p->score = json_number_value(score);
        if (p->score < least) least = p->score;
    }
    uint64_t bits;
    const double unknown = least - 10;          /* K_UNK_PENALTY of `tokenizers` */
    memcpy(&bits, &unknown, sizeof bits);
    b->head[TOK_HEAD_UNKNOWN_SCORE] = (uint32_t)bits;
    b->head[TOK_HEAD_UNKNOWN_SCORE_HIGH] = (uint32_t)(bits >> 32);
}

/* The merge of `left` and `right`: their ids and that of their concatenation, without the first
 * `prefix` bytes of `right` (continuing_subword_prefix). False if one of the three is not in the
 * vocabulary. */
static bool find_merge(TokBuild *b, TokString left, TokString right, size_t prefix, TokMerge *m)
{
    if (b->byte_level && (!tok_bytes(b->arena, left, &left) || !tok_bytes(b->arena, right, &right))) return false;
    const size_t skip = right.n >= prefix ? prefix : 0;
    char *both = arena_alloc(b->arena, left.n + right.n + 1);
    memcpy(both, left.s, left.n);
    memcpy(both + left.n, right.s + skip, right.n - skip);
    m->left = tok_id(b, left);
    m->right = tok_id(b, right);
    m->merged = tok_id(b, (TokString){ both, left.n + right.n - skip });
    return m->left != RT_TOK_NONE && m->right != RT_TOK_NONE && m->merged != RT_TOK_NONE;
}

/* Read "a b" or ["a", "b"]. Since pieces may contain spaces, the separator is the first space that
 * makes a valid merge. */
static bool read_merge(TokBuild *b, const json_t *merge, size_t prefix, TokMerge *m)
{
    const TokString both = tok_json_string(b, merge);
    if (!both.s) {
        const TokString left = tok_json_string(b, json_array_get(merge, 0)), right = tok_json_string(b, json_array_get(merge, 1));
        return json_array_size(merge) == 2 && left.s && right.s && find_merge(b, left, right, prefix, m);
    }
    for (size_t i = 1; i + 1 < both.n; i++)         /* Llama 2 has the piece "   " */
        if (both.s[i] == ' ' && find_merge(b, (TokString){ both.s, i }, (TokString){ both.s + i + 1, both.n - i - 1 }, prefix, m)) return true;
    return false;
}

static void read_merges(TokBuild *b, const json_t *merges, size_t prefix)
{
    if (!json_is_array(merges)) tok_refuse(b, "the model has no list of merges");
    for (size_t i = 0; i < json_array_size(merges) && !tok_failed(b); i++) {
        TokMerge m;
        if (read_merge(b, json_array_get(merges, i), prefix, &m)) tok_merge(b, m.left, m.right, (uint32_t)i, m.merged);
        else tok_refuse(b, "merge %zu is not a pair of pieces in the vocab that merge into a third", i);
    }
}

/* ---- models ---------------------------------------------------------------------------------------------------------- */

static void set_text(TokBuild *b, RtTokHead at, TokString text)
{
    b->head[at] = tok_pool(b, text);
    b->head[at + 1] = (uint32_t)text.n;
}

/* True if every byte has a piece: then no character is unknown. */
static bool knows_bytes(TokBuild *b)
{
    for (int i = 0; i < 256; i++) {
        const char one = (char)i;
        const char *name = arena_format(b->arena, "<0x%02X>", (unsigned)i);
        const TokString piece = b->byte_level ? (TokString){ &one, 1 } : tok_string(name);
        if (tok_id(b, piece) == RT_TOK_NONE) return false;
    }
    return true;
}

/* Set the unknown token. If it is needed, it must be in the vocab; an added token is not enough, as
 * Hugging Face looks only in the vocab, and fails on the first text that needs it. */
static void read_unknown(TokBuild *b, const json_t *model, bool needed)
{
    const TokString unknown = tok_json_text(b, model, "unk_token");
    if (unknown.s) b->head[TOK_HEAD_UNKNOWN] = tok_id(b, unknown);
    if (needed && b->head[TOK_HEAD_UNKNOWN] == RT_TOK_NONE) tok_refuse(b, "the unk_token \"%.60s\" is not in the vocab", unknown.s ? unknown.s : "");
}

/* A BPE without an unk_token drops unknown characters. An unk_token must be in the vocab, unless no
 * character is unknown. */
static void read_unknown_of_bpe(TokBuild *b, const json_t *model)
{
    const bool bytes = b->byte_level || tok_json_bool(b, model, "byte_fallback", false);
    read_unknown(b, model, tok_json_member(model, "unk_token") && !(bytes && knows_bytes(b)));
}

static void set_flag(TokBuild *b, const json_t *model, const char *key, RtTokFlag flag)
{
    if (tok_json_bool(b, model, key, false)) b->head[TOK_HEAD_FLAGS] |= flag;
}

static void read_bpe(TokBuild *b, const json_t *model)
{
    const TokString prefix = tok_json_text(b, model, "continuing_subword_prefix"), suffix = tok_json_text(b, model, "end_of_word_suffix");
    const json_t *dropout = tok_json_member(model, "dropout");
    if (dropout && !(json_is_number(dropout) && json_number_value(dropout) == 0)) tok_refuse(b, "a dropout other than 0 is not supported");
    read_vocabulary(b, json_object_get(model, "vocab"));
    if (tok_failed(b)) return;
    tok_index(b);
    read_unknown_of_bpe(b, model);
    if ((prefix.n || suffix.n) && tok_json_bool(b, model, "byte_fallback", false))
        tok_refuse(b, "byte_fallback with a continuing_subword_prefix or an end_of_word_suffix is not supported");
    set_flag(b, model, "fuse_unk", TOK_FUSE_UNKNOWN);
    set_flag(b, model, "byte_fallback", TOK_BYTE_FALLBACK);
    set_flag(b, model, "ignore_merges", TOK_IGNORE_MERGES);
    set_text(b, TOK_HEAD_PREFIX, prefix);
    set_text(b, TOK_HEAD_SUFFIX, suffix);
    if (b->byte_level && (prefix.n || suffix.n))
        tok_refuse(b, "a continuing_subword_prefix or an end_of_word_suffix with ByteLevel is not supported");
    read_merges(b, json_object_get(model, "merges"), prefix.n);
    b->head[TOK_HEAD_MODEL] = TOK_BPE;
}

static void read_wordpiece(TokBuild *b, const json_t *model)
{
    const TokString prefix = tok_json_text(b, model, "continuing_subword_prefix");
    read_vocabulary(b, json_object_get(model, "vocab"));
    if (tok_failed(b)) return;
    tok_index(b);
    read_unknown(b, model, true);
    set_text(b, TOK_HEAD_PREFIX, prefix.s ? prefix : tok_string("##"));
    b->head[TOK_HEAD_WORD_MOST] = tok_json_below(b, model, "max_input_chars_per_word", 100, INT32_MAX);
    b->head[TOK_HEAD_MODEL] = TOK_WORDPIECE;
}

static void read_unigram(TokBuild *b, const json_t *model)
{
    const json_t *unknown = tok_json_member(model, "unk_id");
    read_scored(b, json_object_get(model, "vocab"));
    if (tok_failed(b)) return;
    tok_index(b);
    if (unknown) b->head[TOK_HEAD_UNKNOWN] = tok_json_below(b, model, "unk_id", 0, (uint32_t)b->size);
    b->head[TOK_HEAD_FLAGS] |= TOK_FUSE_UNKNOWN;
    set_flag(b, model, "byte_fallback", TOK_BYTE_FALLBACK);
    if (b->byte_level && b->head[TOK_HEAD_FLAGS] & TOK_BYTE_FALLBACK)
        tok_refuse(b, "a Unigram model with byte_fallback is not supported after a ByteLevel pre_tokenizer");
    if (!unknown && b->head[TOK_HEAD_FLAGS] & TOK_BYTE_FALLBACK) tok_refuse(b, "the Unigram model has byte_fallback but no unk_id");
    b->head[TOK_HEAD_MODEL] = TOK_UNIGRAM;
}

static void read_words(TokBuild *b, const json_t *model)
{
    read_vocabulary(b, json_object_get(model, "vocab"));
    if (tok_failed(b)) return;
    tok_index(b);
    read_unknown(b, model, false);
    b->head[TOK_HEAD_MODEL] = TOK_WORDS;
}

/* The type of a model. Old files lack it; it then follows from the members. NULL if it is not a
 * string. */
static const char *model_type(const json_t *model)
{
    const json_t *type = json_object_get(model, "type");
    if (type) return json_string_value(type);
    if (json_object_get(model, "merges")) return "BPE";
    return json_is_array(json_object_get(model, "vocab")) ? "Unigram" : "WordPiece";
}

static void read_model(TokBuild *b, const json_t *model)
{
    static const struct {
        const char *type;
        void (*read)(TokBuild *, const json_t *);
        const char *members;
    } models[] = {
        { "BPE", read_bpe,
          "dropout:fz- unk_token:tz- continuing_subword_prefix:tz- end_of_word_suffix:tz- "
          "fuse_unk:bz- byte_fallback:bz- ignore_merges:bz-" },
        { "WordPiece", read_wordpiece,
          "unk_token:t continuing_subword_prefix:t max_input_chars_per_word:u" },
        { "Unigram", read_unigram, "unk_id:uz- byte_fallback:b- vocab:l" },
        { "WordLevel", read_words, "unk_token:t" },
    };
    if (!json_is_object(model)) {
        tok_refuse(b, "not a tokenizer.json: there is no object \"model\"");
        return;
    }
    const char *type = model_type(model);
    if (!type) {
        tok_refuse(b, "\"type\" of the model must be a string");
        return;
    }
    for (size_t i = 0; i < sizeof models / sizeof *models; i++)
        if (strcmp(models[i].type, type) == 0) {
            if (tok_json_check(b, model, "the model", models[i].members)) models[i].read(b, model);
            return;
        }
    tok_refuse(b, "the model '%.60s' is not supported", type);
}

/* ---- added tokens ------------------------------------------------------------------------------------------------------ */

/* State while added tokens are read. next: the next new id, as `tokenizers` assigns it: after all
 * added tokens, and at least the number of pieces. moved: how many tokens got an id that differs
 * from the one in the list. beside: the list is from a file next to tokenizer.json. */
typedef struct Adding { uint32_t next; int moved; bool beside; } Adding;

static Adding adding(const TokBuild *b)
{
    Adding all = { 0, 0, false };
    for (int i = 0; i < b->size; i++) all.next += !(b->pieces.at[i].kind & TOK_ABSENT);
    for (int i = 0; i < b->added.count; i++)
        if (b->added.at[i].id >= all.next) all.next = b->added.at[i].id + 1;
    return all;
}

static void note_moved(TokBuild *b, Adding *all, TokString text, int64_t said, uint32_t id)
{
    if (id == said || all->moved++) return;
    if (all->beside && said < id) {
        tok_refuse(b, "the added token \"%.60s\" has the id %lld in the file, but gets %u from the tokenizers library",
                   text.s, (long long)said, id);
        return;
    }
    diag_remark(b->diag, (Loc){ b->file, 0, 0 },
                "the added token \"%.60s\" has the id %lld in the file; using %u, as the tokenizers library does",
                text.s, (long long)said, id);
}

static void note_others(TokBuild *b, const Adding *all)
{
    if (all->moved > 1)
        diag_remark(b->diag, (Loc){ b->file, 0, 0 }, "the same applies to %d other added token%s",
                    all->moved - 1, all->moved == 2 ? "" : "s");
}

/* Add a token with the id of its piece, or of an earlier added token with its text, else with a new
 * id. A different id in the file is reported. */
static TokAdded *add_token(TokBuild *b, Adding *all, TokString text, int64_t said, uint32_t flags, bool normalised, bool special)
{
    const uint32_t known = b->byte_level ? tok_piece_of_text(b, text) : tok_id(b, text), added = tok_added_of_text(b, text);
    const uint32_t id = known != RT_TOK_NONE ? known : added != RT_TOK_NONE ? b->added.at[added].id : all->next;
    if (known == RT_TOK_NONE && added == RT_TOK_NONE && tok_is_taken(b, id, text)) {
        tok_refuse(b, "the added token \"%.60s\" gets the id %u, which the piece \"%.60s\" already has", text.s, id, b->pieces.at[id].text.s);
        return NULL;
    }
    note_moved(b, all, text, said, id);
    if (id >= (uint32_t)b->size || b->pieces.at[id].kind & TOK_ABSENT || !tok_same(b->pieces.at[id].text, text)) {
        if (!tok_piece(b, id, text, false)) return NULL;
    }
    if (special) b->pieces.at[id].kind |= TOK_SPECIAL;
    if (id >= all->next) all->next = id + 1;
    TokAdded *x = added != RT_TOK_NONE ? &b->added.at[added] : TOK_NEW(b, &b->added);
    *x = (TokAdded){ text, id, flags, normalised, special, false, false };
    return x;
}

static void read_added(TokBuild *b, const json_t *list)
{
    Adding all = adding(b);
    if (list && !json_is_array(list)) tok_refuse(b, "added_tokens is not a list");
    for (size_t i = 0; i < json_array_size(list) && !tok_failed(b); i++) {
        const json_t *x = json_array_get(list, i);
        const char *name = json_string_value(json_object_get(x, "content")),
                   *what = name ? arena_format(b->arena, "the added token \"%.60s\"", name)
                                : "an added token";
        if (!tok_json_check(b, x, what, token_members)) return;
        const TokString text = tok_json_text(b, x, "content");
        const bool special = tok_json_bool(b, x, "special", false);
        const uint32_t flags = tok_json_flags(b, x);
        const uint32_t id = tok_json_below(b, x, "id", 0, TOK_IDS_MOST);
        if (text.n) add_token(b, &all, text, id, flags, tok_json_bool(b, x, "normalized", !special), special);
    }
    note_others(b, &all);
}

/* For each id below b->size, whether an added token has it. */
static bool *added_ids(TokBuild *b)
{
    bool *there = arena_array(b->arena, (size_t)b->size + 1, sizeof *there);
    for (int i = 0; i < b->added.count; i++)
        if (b->added.at[i].id < (uint32_t)b->size) there[b->added.at[i].id] = true;
    return there;
}

/* Add the tokens of the files next to tokenizer.json after its own, in the order of their ids.
 * Tokens of added_tokens_decoder replace those of tokenizer.json; tokens of added_tokens.json,
 * which have no flags, do not. */
static void read_added_beside(TokBuild *b, const TokConfig *config)
{
    int count;
    Adding all = adding(b);
    all.beside = true;
    const char *file = b->file;
    const uint32_t known = config->added.count ? 0 : (uint32_t)b->size;
    const bool *own = added_ids(b);
    const TokAdded *list = tok_added_beside(b, config, &count);
    for (int i = 0; i < count && !tok_failed(b); i++)
        if (list[i].id >= known || !own[list[i].id])
            add_token(b, &all, list[i].text, list[i].id, list[i].flags, list[i].normalised, list[i].special);
    note_others(b, &all);
    b->file = file;
}

/* ---- the file ------------------------------------------------------------------------------------------------------------ */

/* Only the direction of truncation is used: the model limits the length, and nothing is padded. */
static void read_truncation(TokBuild *b, const json_t *truncation)
{
    const char *direction = json_string_value(json_object_get(truncation, "direction"));
    if (direction && strcmp(direction, "Left") == 0) b->head[TOK_HEAD_FLAGS] |= TOK_CUT_LEFT;
}

/* Report the first piece that contains the suffix of a BPEDecoder before its end: the decoder turns
 * the suffix into a blank there, but into nothing in the last piece of a text. */
static void check_suffix(TokBuild *b, const json_t *decoder)
{
    const char *type = json_string_value(json_object_get(decoder, "type")),
               *suffix = json_string_value(json_object_get(decoder, "suffix"));
    const size_t n = suffix ? strlen(suffix) : 0;
    if (!type || strcmp(type, "BPEDecoder") != 0 || !n) return;
    for (int i = 0; i < b->size && !tok_failed(b); i++) {
        const TokString text = b->pieces.at[i].text;
        for (size_t at = 0; !(b->pieces.at[i].kind & TOK_ABSENT) && at + n < text.n; at++)
            if (memcmp(text.s + at, suffix, n) == 0) {
                tok_refuse(b, "the piece \"%.60s\" contains the suffix of the BPEDecoder before its end, which is not supported", text.s);
                break;
            }
    }
}

static void read_all(TokBuild *b, json_t *root, const TokConfig *config)
{
    if (!json_is_object(root)) {
        tok_refuse(b, "not a JSON object");
        return;
    }
    check_root(b, root);
    if (tok_failed(b)) return;
    if (config) tok_json_settle_class(b, root, config);
    tok_json_normaliser(b, json_object_get(root, "normalizer"));
    tok_json_pre_tokenizer(b, json_object_get(root, "pre_tokenizer"));
    tok_json_decoder(b, json_object_get(root, "decoder"));
    if (!tok_failed(b)) read_model(b, json_object_get(root, "model"));
    if (!tok_failed(b)) check_suffix(b, json_object_get(root, "decoder"));
    if (!tok_failed(b)) read_added(b, json_object_get(root, "added_tokens"));
    if (config && !tok_failed(b)) tok_json_tell_added(b, config);
    if (config && !tok_failed(b)) read_added_beside(b, config);
    if (config && !tok_failed(b)) tok_add_named(b, config);
    if (!tok_failed(b)) tok_json_post_processor(b, json_object_get(root, "post_processor"));
    if (!tok_failed(b) && config) tok_json_settle_ends(b, root, config);
    read_truncation(b, json_object_get(root, "truncation"));
}

bool tok_import_json(TokBuild *b, const char *data, size_t size, const TokConfig *config)
{
    json_t *root = tok_json_load(b, data, size);
    if (root) read_all(b, root, config);
    json_decref(root);
    return !tok_failed(b);
}
