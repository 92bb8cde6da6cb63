/* tokenizer_marks.c: read the class of a Hugging Face folder's tokenizer, the settings of that
 * class, special tokens and added tokens from tokenizer_config.json, special_tokens_map.json,
 * added_tokens.json and config.json. */
#include "tokenizer_json.h"

#include <string.h>

#include "file.h"

static const char *const mark_keys[TOK_MARKS] = {
    [TOK_BOS] = "bos_token", [TOK_EOS] = "eos_token", [TOK_UNK] = "unk_token", [TOK_SEP] = "sep_token",
    [TOK_PAD] = "pad_token", [TOK_CLS] = "cls_token", [TOK_MASK] = "mask_token",
};

/* ---- tokens ------------------------------------------------------------------------------------------------------ */

bool tok_json_token(TokBuild *b, const json_t *token, TokAdded *out)
{
    *out = (TokAdded){ .id = RT_TOK_NONE, .special = true };
    if (!json_is_object(token)) {
        out->text = tok_json_string(b, token);
        return out->text.n > 0;
    }
    out->text = tok_json_text(b, token, "content");
    out->special = tok_json_flag(b, token, "special", true);
    out->normalised = tok_json_flag(b, token, "normalized", !out->special);
    out->flags = tok_json_flags(b, token);
    return out->text.n > 0;
}

static bool may_be_token(const json_t *x) { return json_is_string(x) || json_is_string(json_object_get(x, "content")); }

bool tok_is_mark(const TokFolder *f, TokString text)
{
    for (int i = 0; i < TOK_MARKS; i++)
        if (f->mark[i].text.s && tok_same(f->mark[i].text, text)) return true;
    return tok_is_listed(f->extra.at, f->extra.count, text) || tok_is_listed(f->listed.at, f->listed.count, text);
}

static void note_left_out(TokBuild *b, TokFolder *f, const char *list, TokString text)
{
    if (!f->left_out)
        diag_remark(b->diag, (Loc){ b->file, 0, 0 }, "\"%s\" is a second list of special tokens; \"%.60s\" is ignored, as in transformers 5",
                    list, text.s);
    f->left_out = true;
}

/* Read extra_special_tokens and additional_special_tokens, each of which may be an object of tokens
 * by name or a list of tokens. As in transformers 5, the tokens with names come first, and of two
 * lists only the first is used. */
static void read_extra(TokBuild *b, const json_t *root, bool is_config, TokFolder *f)
{
    static const char *const names[] = { "extra_special_tokens", "additional_special_tokens" };
    const char *key;
    size_t i;
    for (int n = 0; n < 2; n++) {
        json_t *x, *list = json_object_get(root, names[n]);
        const bool taken = f->listed.count > 0;
        bool good = !list || json_is_null(list) || json_is_array(list) || json_is_object(list);
        TokAdded token;
        json_object_foreach(list, key, x) {
            good = good && may_be_token(x);
            if (tok_json_token(b, x, &token)) *TOK_NEW(b, &f->extra) = token;
        }
        json_array_foreach(list, i, x) {
            good = good && may_be_token(x);
            if (!tok_json_token(b, x, &token)) continue;
            token.listed = true;
            if (!taken && !is_config && json_is_object(x)) *TOK_NEW(b, &f->objects) = token;
            if (!taken) *TOK_NEW(b, &f->listed) = token;
            else if (!tok_is_mark(f, token.text)) note_left_out(b, f, names[n], token.text);
        }
        if (!good) tok_refuse(b, "\"%s\" is neither a list nor an object of tokens", names[n]);
    }
}

/* Read the seven special tokens that transformers knows, and those with other names. In
 * tokenizer_config.json (is_config), an object with another name is a token only if it has a
 * "__type", as in transformers. */
static void read_marks(TokBuild *b, json_t *root, bool is_config, TokFolder *f)
{
    const char *key;
    json_t *x;
    json_object_foreach(root, key, x) {
        TokAdded token;
        int i = 0;
        while (i < TOK_MARKS && strcmp(key, mark_keys[i])) i++;
        if (i < TOK_MARKS && !json_is_null(x) && !may_be_token(x)) tok_refuse(b, "\"%s\" is not a token", key);
        if (!text_ends(key, "_token")) continue;
        if (i == TOK_MARKS && is_config && json_is_object(x) && !json_object_get(x, "__type")) continue;
        if (!tok_json_token(b, x, &token)) continue;
        token.special = true;
        if (i < TOK_MARKS) f->mark[i] = token;
        else *TOK_NEW(b, &f->extra) = token;
    }
    read_extra(b, root, is_config, f);
}

/* Read {"text": id, …}. A token is special if the folder names it as a special token. */
static void read_added(TokBuild *b, json_t *root, TokFolder *f)
{
    const char *key;
    json_t *x;
    json_object_foreach(root, key, x) {
        const TokString text = { arena_text(b->arena, key), strlen(key) };
        const json_int_t id = json_is_integer(x) ? json_integer_value(x) : -1;
        const bool special = tok_is_mark(f, text);
        if (id < 0 || id >= TOK_IDS_MOST) tok_refuse(b, "the id of \"%.60s\" is not a whole number from 0 to %d", key, TOK_IDS_MOST - 1);
        else if (text.n) *TOK_NEW(b, &f->added) = (TokAdded){ text, (uint32_t)id, 0, !special, special, false, false };
    }
}

/* ---- the class ---------------------------------------------------------------------------------------------------- */

/* The class name without "Tokenizer" and "Fast"; NULL for a generic class. */
static const char *class_of(TokBuild *b, TokString name)
{
    static const char *const none[] = { "", "PreTrained", "TokenizersBackend", "PythonBackend", "SentencePieceBackend" };
    if (!name.s) return NULL;
    char *s = arena_copy(b->arena, name.s, name.n);
    if (text_ends(s, "Fast")) s[strlen(s) - 4] = '\0';
    if (text_ends(s, "Tokenizer")) s[strlen(s) - 9] = '\0';
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        if (strcmp(s, none[i]) == 0) return NULL;
    return s;
}

static void read_keys(TokBuild *b, const json_t *root, TokFolder *f)
{
    f->class_name = class_of(b, tok_json_text(b, root, "tokenizer_class"));
    f->source_language = tok_json_text(b, root, "src_lang");
    f->language_codes = tok_json_text(b, root, "language_codes");
    f->word_tokenizer = tok_json_text(b, root, "word_tokenizer_type");
    f->has_sentence_mask = json_object_get(root, "mask_token_sent") != NULL;
    f->sentence_mask = tok_json_text(b, root, "mask_token_sent");
    f->extra_ids = tok_json_int(b, root, "extra_ids", -1);
    f->offset = tok_json_int(b, root, "offset", -1);
    f->has_legacy = tok_json_member(root, "legacy");
    f->legacy = tok_json_bool(b, root, "legacy", false);
    f->language_last = tok_json_bool(b, root, "legacy_behaviour", false);
    f->keep_accents = tok_json_bool(b, root, "keep_accents", false);
    f->has_prefix_space = tok_json_member(root, "add_prefix_space");
    f->prefix_space = tok_json_bool(b, root, "add_prefix_space", true);
}

static void read_model(TokBuild *b, const json_t *config, TokConfig *c)
{
    TokFolder *f = &c->folder;
    const json_t *rows = json_object_get(config, "vocab_size");
    const TokString class = tok_json_text(b, config, "tokenizer_class");
    f->model_type = tok_json_text(b, config, "model_type").s;
    if (!f->class_name) f->class_name = class_of(b, class);
    if (!c->class_name) c->class_name = class.s;
    if (json_is_integer(rows) && json_integer_value(rows) > 0) b->rows = json_integer_value(rows);
}

bool tok_read_folder(TokBuild *b, const char *folder, TokConfig *c)
{
    TokFolder *f = &c->folder;
    *f = (TokFolder){ .path = folder, .extra_ids = -1, .offset = -1, .prefix_space = true };
    json_t *config = tok_json_beside(b, folder, "tokenizer_config.json");
    const bool decoded = json_object_get(config, "added_tokens_decoder");
    if (config) read_marks(b, config, true, f);
    if (config) read_keys(b, config, f);
    json_t *specials = decoded ? NULL : tok_json_beside(b, folder, "special_tokens_map.json");
    if (specials) read_marks(b, specials, false, f);       /* overrides, as in transformers */
    json_t *added = decoded ? NULL : tok_json_beside(b, folder, "added_tokens.json");
    if (added) read_added(b, added, f);
    json_t *model = tok_json_beside(b, folder, "config.json");
    if (model) read_model(b, model, c);
    json_decref(config);
    json_decref(model);
    json_decref(specials);
    json_decref(added);
    return !tok_failed(b);
}
