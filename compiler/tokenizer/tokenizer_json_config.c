/* tokenizer_json_config.c: read the settings next to a tokenizer in a Hugging Face folder
 * (tokenizer_config.json and the files of sentence-transformers), except those that
 * tokenizer_marks.c reads. */
#include "tokenizer_json.h"

#include <string.h>

#include "file.h"

/* ---- tokenizer_config.json ------------------------------------------------------------------------------------------- */

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
    if (decoder && !json_is_object(decoder)) tok_refuse(b, "\"added_tokens_decoder\" is not an object of tokens");
    json_object_foreach(decoder, key, x) {
        char *end;
        const long id = strtol(key, &end, 10);
        const TokString text = tok_json_text(b, x, "content");
        const bool special = tok_json_flag(b, x, "special", false);
        const uint32_t flags = tok_json_flags(b, x);
        if (*end || end == key || id < 0 || id >= TOK_IDS_MOST || !text.s)
            tok_refuse(b, "the entry \"%.40s\" of added_tokens_decoder is not an id with a token", key);
        else if (text.n)
            *TOK_NEW(b, &c->added) = (TokAdded){ text, (uint32_t)id, flags, tok_json_flag(b, x, "normalized", !special), special, false, false };
    }
}

/* True if model_input_names is given, but lacks token_type_ids: all token types are then 0. */
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
    c->clean_spaces = tok_json_bool(b, root, "clean_up_tokenization_spaces", false);
    c->clean_bpe = tok_json_bool(b, root, "clean_up_tokenization_spaces_for_bpe_even_though_it_will_corrupt_output", false);
    const TokString side = tok_json_text(b, root, "truncation_side");
    c->has_side = side.s;
    c->cut_left = side.s && strcmp(side.s, "left") == 0;
    if (side.s && !c->cut_left && strcmp(side.s, "right") != 0)
        tok_refuse(b, "\"truncation_side\" is \"%.40s\", neither \"left\" nor \"right\"", side.s);
    c->no_types = names_no_types(json_object_get(root, "model_input_names"));
    if (tok_json_bool(b, root, "split_special_tokens", false))
        tok_refuse(b, "\"split_special_tokens\" = true is not supported; "
                      "remove it and use --plain-text to read special tokens as text");
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

/* Add a file to the settings that b->origin names, once. */
static void name_settings(TokBuild *b, const char *name)
{
    const char *before = b->origin.settings;
    if (before && strstr(before, name)) return;
    b->origin.settings = before ? arena_format(b->arena, "%s, %s", before, name) : arena_text(b->arena, name);
}

/* The object in a file of the folder; the caller releases it. NULL if there is no such file, or
 * after an error; otherwise b->file becomes its path, and b->origin names it unless it is
 * config.json. */
static json_t *load(TokBuild *b, const char *folder, const char *name)
{
    const char *path = file_join(b->arena, folder, name);
    json_t *root = json_read_object(b->arena, b->diag, path);
    if (root) b->file = path;
    if (root && strcmp(name, "config.json") != 0) name_settings(b, name);
    return root;
}

json_t *tok_json_beside(TokBuild *b, const char *folder, const char *name) { return load(b, folder, name); }

/* Read the default prompt of a sentence-transformers folder, which precedes every text. */
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
    json_t *root = load(b, folder, "tokenizer_config.json");
    if (root) read_config(b, root, c);
    const char *path = tokenizer_sentence_file(b->arena, b->diag, folder);
    json_t *sentence = path ? json_read_object(b->arena, b->diag, path) : NULL;
    if (sentence) b->file = path;
    if (sentence) c->lower_first = tok_json_bool(b, sentence, "do_lower_case", false);
    read_prompt(b, folder, c);
    json_decref(sentence);
    json_decref(root);
    if (!tok_failed(b)) b->file = before;
    return !tok_failed(b);
}
