/* chat_read.c: find the chat template of a tokenizer, in its own file or in the files next to
 * it. */
#include "chat_read.h"

#include "chat_learn.h"
#include "fields.h"

#include <string.h>
#include <sys/stat.h>

#include "json_read.h"
#include "text.h"

enum { MOST_BYTES = 4 << 20, MARKS = 7, MOST_NAMES = 64 };

typedef struct Reader { Arena *arena; Diag *diag; Model *model; } Reader;

/* ---- files ----------------------------------------------------------------------------------- */

/* The text of a token, which is a string or an object with "content"; NULL if there is none. */
static const char *token(const Reader *r, const json_t *from, const char *key)
{
    const json_t *found = json_object_get(from, key),
                 *text = json_is_object(found) ? json_object_get(found, "content") : found;
    return json_is_string(text) ? arena_text(r->arena, json_string_value(text)) : NULL;
}

typedef struct Names { JinjaName at[MOST_NAMES]; int count; } Names;

/* Add a name, unless it is there already, its text is NULL or the list is full. */
static void add_name(Names *names, const char *key, const char *text)
{
    for (int i = 0; i < names->count; i++)
        if (!strcmp(names->at[i].name, key)) return;
    if (text && names->count < MOST_NAMES) names->at[names->count++] = (JinjaName){ key, text };
}

/* The special tokens that a template may name. As in transformers, special_tokens_map.json
 * overrides tokenizer_config.json for the usual names, but is ignored if the latter has
 * added_tokens_decoder. Tokens with other names come from the keys of tokenizer_config.json that
 * end in _token (an object only if it has a "__type") and from its object extra_special_tokens. */
static void find_names(const Reader *r, const json_t *config, const json_t *specials, Names *names)
{
    static const char *const keys[MARKS] = { "bos_token", "eos_token", "unk_token",
                                             "sep_token", "pad_token", "cls_token",
                                             "mask_token" };
    const bool alone = json_object_get(config, "added_tokens_decoder") != NULL;
    json_t *extra = json_object_get(config, "extra_special_tokens"), *x;
    const char *key;
    for (int i = 0; i < MARKS; i++) {
        const char *text = alone ? NULL : token(r, specials, keys[i]);
        add_name(names, keys[i], text ? text : token(r, config, keys[i]));
    }
    json_object_foreach((json_t *)config, key, x)
        if (text_ends(key, "_token") && (json_is_string(x) || json_object_get(x, "__type")))
            add_name(names, arena_text(r->arena, key), token(r, config, key));
    json_object_foreach(extra, key, x) add_name(names, arena_text(r->arena, key), token(r, extra, key));
}

/* The chat_template of a config: a string, or the one named "default" in an object or a list; in a
 * list, the last of that name. NULL if there is none. A different form or a U+0000 gives NULL and
 * sets chat_fault. */
static const char *template_of(const Reader *r, const json_t *config)
{
    const json_t *given = json_object_get(config, "chat_template"), *one,
                 *found = json_is_object(given) ? json_object_get(given, "default") : NULL;
    size_t i;
    json_array_foreach(given, i, one) {
        const char *name = json_string_value(json_object_get(one, "name"));
        if (name && !strcmp(name, "default")) found = json_object_get(one, "template");
    }
    const char *text = json_string_value(found ? found : given);
    if (text && strlen(text) == json_string_length(found ? found : given))
        return arena_text(r->arena, text);
    if (text) r->model->chat_fault = "chat_template contains U+0000";
    else if (given && !json_is_null(given))
        r->model->chat_fault =
            "neither chat_template nor a template called \"default\" in it is a string";
    return NULL;
}

static const char *file_text(const Reader *r, const char *path)
{
    Diag *quiet = diag_new(r->arena);
    struct stat s;
    size_t size;
    const char *text = stat(path, &s) == 0
                           ? file_read(r->arena, quiet, (Loc){ 0 }, path, MOST_BYTES, &size)
                           : NULL;
    return text && strlen(text) == size ? text : NULL;
}

static void learn(const Reader *r, const char *text, const JinjaName *names, int count)
{
    r->model->chat = chat_learn(r->arena, text, strlen(text), names, count, &r->model->chat_fault);
    if (r->model->chat) r->model->chat_fault = NULL;
}

/* Learn the template of a folder. chat_template.jinja, or else the default in
 * additional_chat_templates, overrides tokenizer_config.json. */
static void learn_of_folder(const Reader *r, const char *folder)
{
    Arena *a = r->arena;
    Model *m = r->model;
    struct stat there;
    const char *config_path = file_join(a, folder, "tokenizer_config.json"),
               *path = file_join(a, folder, "chat_template.jinja");
    if (lstat(path, &there) != 0)
        path = file_join(a, folder, "additional_chat_templates/default.jinja");
    const char *text = file_text(r, path);
    m->chat_path = path;
    if (!text && lstat(path, &there) == 0) { /* there is no fallback to the config */
        char bytes[256];
        const char *what = file_impostor(bytes, file_first_bytes(path, bytes, sizeof bytes));
        m->chat_fault =
            what ? arena_format(a, "this %s", what)
                 : "the chat template cannot be read, is longer than 4 MB or contains U+0000";
        return;
    }
    json_t *config = json_read_object(a, r->diag, config_path);
    json_t *specials = json_read_object(a, r->diag, file_join(a, folder, "special_tokens_map.json"));
    if (!text) text = template_of(r, config), m->chat_path = config_path;
    if (text) {
        Names names = { .count = 0 };
        find_names(r, config, specials, &names);
        learn(r, text, names.at, names.count);
    }
    json_decref(config);
    json_decref(specials);
}

bool model_learn_chat(Arena *a, Diag *d, Model *m)
{
    const Reader r = { a, d, m };
    const TokenizerChat *own = &m->tokenizer_chat;
    const int errors = diag_errors(d);
    if (!m->tokenizer_data) return true;
    if (own->text) {
        const JinjaName names[] = { { "bos_token", own->begin }, { "eos_token", own->end } };
        m->chat_path = m->tokenizer_file;
        learn(&r, own->text, names, 2);
        return true;
    }
    const bool in_folder = file_is_folder(m->tokenizer_file);
    const char *slash = strrchr(m->tokenizer_file, '/'),
               *name = slash ? slash + 1 : m->tokenizer_file;
    if (in_folder) learn_of_folder(&r, m->tokenizer_file);
    else if (!strcmp(name, "tokenizer.json") || !strcmp(name, "tokenizer.model"))
        learn_of_folder(&r, file_folder(a, m->tokenizer_file));
    return diag_errors(d) == errors;
}
