/* tokenizer_json_config.c: what stands beside a tokenizer in a Hugging Face folder, tokenizer_config.json and
 * special_tokens_map.json; and the vocabularies that are JSON but no tokenizer.json. */
#include "tokenizer_json.h"

#include <string.h>

#include "file.h"

/* ---- tokenizer_config.json, special_tokens_map.json ------------------------------------------------------------------ */

/* A token is a text, or an object with its content. */
static void read_token(TokBuild *b, const json_t *root, const char *key, TokString *out)
{
    const json_t *token = json_object_get(root, key);
    const TokString text = tok_json_string(b, json_is_object(token) ? json_object_get(token, "content") : token);
    if (text.s) *out = text;
}

static void read_tokens(TokBuild *b, const json_t *root, TokConfig *c)
{
    read_token(b, root, "bos_token", &c->bos);
    read_token(b, root, "eos_token", &c->eos);
    read_token(b, root, "unk_token", &c->unk);
    read_token(b, root, "cls_token", &c->cls);
    read_token(b, root, "sep_token", &c->sep);
    read_token(b, root, "pad_token", &c->pad);
    read_token(b, root, "mask_token", &c->mask);
}

static bool read_switch(TokBuild *b, const json_t *root, const char *key, bool *value)
{
    const json_t *x = json_object_get(root, key);
    if (!x || json_is_null(x)) return false;
    *value = tok_json_bool(b, root, key, false);
    return true;
}

static void read_added(TokBuild *b, json_t *decoder, TokConfig *c)
{
    const char *key;
    json_t *x;
    json_object_foreach(decoder, key, x) {
        char *end;
        const long id = strtol(key, &end, 10);
        const TokString text = tok_json_text(b, x, "content");
        const bool special = tok_json_bool(b, x, "special", false);
        const uint32_t flags = (tok_json_bool(b, x, "single_word", false) ? TOK_ADDED_SINGLE_WORD : 0u) |
                               (tok_json_bool(b, x, "lstrip", false) ? TOK_ADDED_LSTRIP : 0u) |
                               (tok_json_bool(b, x, "rstrip", false) ? TOK_ADDED_RSTRIP : 0u);
        if (*end || end == key || id < 0 || id >= TOK_IDS_MOST || !text.s) tok_refuse(b, "added_tokens_decoder: \"%.40s\" is no token", key);
        else if (text.n)
            *TOK_NEW(b, &c->added) = (TokAdded){ text, (uint32_t)id, flags, tok_json_bool(b, x, "normalized", !special), special, false };
    }
}

/* The names of what a model is given: a model whose tokenizer gives no types has them all 0. */
static bool names_no_types(const json_t *names)
{
    for (size_t i = 0; i < json_array_size(names); i++) {
        const char *name = json_string_value(json_array_get(names, i));
        if (name && strcmp(name, "token_type_ids") == 0) return false;
    }
    return json_array_size(names) > 0;
}

static void read_config(TokBuild *b, const json_t *root, TokConfig *c)
{
    const TokString side = tok_json_text(b, root, "truncation_side");
    c->has_side = side.s;
    c->cut_left = side.s && strcmp(side.s, "left") == 0;
    if (side.s && !c->cut_left && strcmp(side.s, "right") != 0)
        tok_refuse(b, "\"truncation_side\" is \"%.40s\", neither \"left\" nor \"right\"", side.s);
    c->no_types = names_no_types(json_object_get(root, "model_input_names"));
    const TokString name = tok_json_text(b, root, "tokenizer_class");
    c->class_name = name.s;
    c->has_do_lower_case = read_switch(b, root, "do_lower_case", &c->do_lower_case);
    c->has_strip_accents = read_switch(b, root, "strip_accents", &c->strip_accents);
    c->has_chinese = read_switch(b, root, "tokenize_chinese_chars", &c->chinese);
    c->has_add_bos = read_switch(b, root, "add_bos_token", &c->add_bos);
    c->has_add_eos = read_switch(b, root, "add_eos_token", &c->add_eos);
    c->has_prefix_space = read_switch(b, root, "add_prefix_space", &c->prefix_space);
    c->legacy = tok_json_bool(b, root, "legacy", false);
    read_added(b, json_object_get(root, "added_tokens_decoder"), c);
}

/* The object in a file of the folder, which the caller gives back; NULL where there is no such file, or after an error. */
static json_t *load(TokBuild *b, const char *folder, const char *name)
{
    const char *path = file_join(b->arena, folder, name);
    json_t *root = json_read_object(b->arena, b->diag, path);
    if (root) b->file = path;
    return root;
}

/* What config.json says about the class. */
static void read_model(TokBuild *b, const char *folder, TokConfig *c)
{
    json_t *model = load(b, folder, "config.json");
    if (!model) return;
    c->model_type = tok_json_text(b, model, "model_type").s;
    if (!c->class_name) c->class_name = tok_json_text(b, model, "tokenizer_class").s;
    json_decref(model);
}

json_t *tok_json_beside(TokBuild *b, const char *folder, const char *name) { return load(b, folder, name); }

/* Of a sentence model: the prompt that every text is read behind, by its name. */
static void read_prompt(TokBuild *b, const char *folder, TokConfig *c)
{
    const bool modules = file_is_regular(file_join(b->arena, folder, "modules.json"));
    json_t *settings = modules ? load(b, folder, "config_sentence_transformers.json") : NULL;
    const json_t *prompts = settings ? json_object_get(settings, "prompts") : NULL;
    const TokString name = settings ? tok_json_text(b, settings, "default_prompt_name") : (TokString){ 0 };
    if (name.n && json_is_object(prompts)) c->prompt = tok_json_text(b, prompts, name.s);
    json_decref(settings);
}

bool tok_read_config(TokBuild *b, const char *folder, TokConfig *c)
{
    const char *before = b->file;
    json_t *specials = load(b, folder, "special_tokens_map.json");
    if (specials) read_tokens(b, specials, c);
    json_t *root = load(b, folder, "tokenizer_config.json");
    if (root) {
        read_tokens(b, root, c);
        read_config(b, root, c);
    }
    read_model(b, folder, c);
    json_t *sentence = load(b, folder, "sentence_bert_config.json");
    if (sentence) c->lower_first = tok_json_bool(b, sentence, "do_lower_case", false);
    read_prompt(b, folder, c);
    json_decref(sentence);
    json_decref(specials);
    json_decref(root);
    if (!tok_failed(b)) b->file = before;
    return !tok_failed(b);
}

/* ---- vocab.json and merges.txt ------------------------------------------------------------------------------------------- */

void tok_json_ids(TokBuild *b, json_t *root, bool known)
{
    const char *key;
    json_t *value;
    if (!json_is_object(root)) tok_refuse(b, "not a JSON object of pieces");
    json_object_foreach(root, key, value) {
        if (!json_is_integer(value)) tok_refuse(b, "the id of \"%.60s\" is no whole number", key);
        else if (!tok_piece(b, json_integer_value(value), (TokString){ arena_text(b->arena, key), strlen(key) }, known)) break;
    }
}

/* A line is two pieces with a space between. */
static void read_merges(TokBuild *b, const char *data, size_t size)
{
    int line = 0;
    uint32_t rank = 0;
    for (size_t at = 0, next; at < size && !tok_failed(b); at = next) {
        const char *end = memchr(data + at, '\n', size - at);
        size_t n = end ? (size_t)(end - (data + at)) : size - at;
        next = at + n + 1;
        line++;
        if (n && data[at + n - 1] == '\r') n--;
        if (!n || (line == 1 && n > 8 && memcmp(data + at, "#version", 8) == 0)) continue;
        const char *space = memchr(data + at, ' ', n);
        TokString part[2] = { { data + at, space ? (size_t)(space - (data + at)) : 0 }, { space ? space + 1 : "", 0 } };
        part[1].n = space ? n - part[0].n - 1 : 0;
        const char *both = arena_format(b->arena, "%.*s%.*s", (int)part[0].n, part[0].s, (int)part[1].n, part[1].s);
        TokString whole = tok_string(both);
        bool good = part[0].n && part[1].n && tok_bytes(b->arena, part[0], &part[0]) && tok_bytes(b->arena, part[1], &part[1]);
        good = good && tok_bytes(b->arena, whole, &whole);
        const uint32_t left = good ? tok_id(b, part[0]) : RT_TOK_NONE, right = good ? tok_id(b, part[1]) : RT_TOK_NONE,
                       merged = good ? tok_id(b, whole) : RT_TOK_NONE;
        if (left == RT_TOK_NONE || right == RT_TOK_NONE || merged == RT_TOK_NONE)
            diag_error(b->diag, EXIT_BAD_DATA, (Loc){ b->file, line, 1 }, "no merge of two pieces of the vocabulary");
        else tok_merge(b, left, right, rank++, merged);
    }
}

static bool has(const char *s, const char *word) { return s && strstr(s, word); }

static void add_special(TokBuild *b, const char *name, TokString given)
{
    const TokString text = given.s ? given : tok_string(name ? name : "");
    const uint32_t id = text.n ? tok_id_of_text(b, text) : RT_TOK_NONE;
    if (id == RT_TOK_NONE) return;
    b->pieces.at[id].kind |= TOK_SPECIAL;
    *TOK_NEW(b, &b->added) = (TokAdded){ text, id, name && strcmp(name, "<mask>") == 0 ? TOK_ADDED_LSTRIP : 0, false, true, false };
}

/* RoBERTa and BART close a text on both sides; others only where the configuration says so. */
static void settle_template(TokBuild *b, const TokConfig *c)
{
    const TokString cls = c->cls.s ? c->cls : tok_string("<s>"), sep = c->sep.s ? c->sep : tok_string("</s>");
    const uint32_t begin = tok_id_of_text(b, cls), end = tok_id_of_text(b, sep), bos = c->bos.s ? tok_id_of_text(b, c->bos) : RT_TOK_NONE;
    const bool named = has(c->class_name, "Roberta") || has(c->class_name, "Bart") || has(c->class_name, "Longformer");
    const bool masked = tok_id_of_text(b, tok_string("<mask>")) != RT_TOK_NONE;
    const bool around = named || (!c->class_name && begin != RT_TOK_NONE && end != RT_TOK_NONE && masked);
    if (around && begin != RT_TOK_NONE && end != RT_TOK_NONE) {
        tok_template_roberta(b, begin, end);
        tok_trim(b, false);
    } else if (c->add_bos && bos != RT_TOK_NONE) {
        tok_template_begin(b, bos);
    }
}

bool tok_import_vocab_merges(TokBuild *b, const char *vocab, size_t vocab_size, const char *merges, size_t merges_size, const TokConfig *config)
{
    static const TokConfig none;
    const TokConfig *c = config ? config : &none;
    const char *vocab_path = b->file;
    json_t *root = tok_json_load(b, vocab, vocab_size);
    tok_byte_level(b, false, true);
    if (root) tok_json_ids(b, root, true);
    json_decref(root);
    if (tok_failed(b)) return false;
    tok_index(b);
    b->file = file_join(b->arena, file_folder(b->arena, vocab_path), "merges.txt");
    read_merges(b, merges, merges_size);
    b->file = vocab_path;
    b->head[TOK_HEAD_MODEL] = TOK_BPE;
    tok_decoder(b, (RtTokOp){ .kind = TOK_TO_BYTES });
    for (int i = 0; i < b->size && !tok_failed(b); i++) {           /* what stands for no bytes is an added token */
        const TokPiece *p = &b->pieces.at[i];
        const bool special = p->text.n > 2 && p->text.s[0] == '<' && p->text.s[p->text.n - 1] == '>';
        if (special && (p->text.s[1] == '|' || !c->class_name)) add_special(b, p->text.s, (TokString){ 0 });
    }
    add_special(b, NULL, c->bos);
    add_special(b, NULL, c->eos);
    add_special(b, NULL, c->unk);
    add_special(b, NULL, c->pad);
    add_special(b, "<mask>", c->mask);
    for (int i = 0; i < c->added.count; i++) add_special(b, c->added.at[i].text.s, (TokString){ 0 });
    settle_template(b, c);
    return !tok_failed(b);
}
