/* tokenizer_json_chat.c: the chat template beside a tokenizer. It is not run: its family is known by what stands in it (chats.def). */
#include "fields.h"

#include <jansson.h>
#include <string.h>
#include <sys/stat.h>

#include "text.h"

typedef struct ChatRow { Chat chat; const char *markers[8], *strangers[8]; } ChatRow;

#define MARKERS(...)   { __VA_ARGS__, NULL }
#define STRANGERS(...) { __VA_ARGS__, NULL }
static const ChatRow rows[] = {
#define CHAT(id, name, markers, strangers, before_system, after_system, before_user, after_user, answer, preset, trim, inside) \
    { { name, "", { before_system, after_system }, { before_user, after_user }, answer, preset, CHAT_TRIM_##trim, inside }, markers, strangers },
#include "chats.def"
#undef CHAT
};
enum { ROWS = sizeof rows / sizeof *rows, MOST_BYTES = 4 << 20 };

typedef struct Reader { Arena *arena; Model *model; } Reader;

/* ---- files ---------------------------------------------------------------------------------------------- */

/* The object in a file; NULL where there is none. What is wrong with it, the tokenizer's reader has told. */
static json_t *object_in(const char *path)
{
    json_t *root = json_load_file(path, 0, NULL);
    if (json_is_object(root)) return root;
    json_decref(root);
    return NULL;
}

/* A token is a text, or an object with its content; "" where there is none. */
static const char *token(const Reader *r, const json_t *config, const json_t *specials, const char *key)
{
    const json_t *both[] = { json_object_get(config, key), json_object_get(specials, key) };
    for (int i = 0; i < 2; i++) {
        const json_t *text = json_is_object(both[i]) ? json_object_get(both[i], "content") : both[i];
        if (json_is_string(text)) return arena_text(r->arena, json_string_value(text));
    }
    return "";
}

/* A text, or of a list of them the one that is called default; NULL where there is none. */
static const char *template_of(const Reader *r, const json_t *config)
{
    const json_t *given = json_object_get(config, "chat_template"), *one;
    size_t i;
    json_array_foreach(given, i, one) {
        const char *name = json_string_value(json_object_get(one, "name"));
        if (name && !strcmp(name, "default")) {
            given = json_object_get(one, "template");
            break;
        }
    }
    if (json_is_string(given)) return arena_text(r->arena, json_string_value(given));
    if (given && !json_is_null(given)) r->model->chat_fault = "chat_template is no text, nor a list with one that is called \"default\"";
    return NULL;
}

static const char *file_text(const Reader *r, const char *path)
{
    Diag *quiet = diag_new(r->arena);
    struct stat s;
    size_t size;
    const char *text = stat(path, &s) == 0 ? file_read(r->arena, quiet, (Loc){ 0 }, path, MOST_BYTES, &size) : NULL;
    return text && strlen(text) == size ? text : NULL;
}

/* ---- its text ------------------------------------------------------------------------------------------- */

/* \n becomes a line end, every quote ", a plus has a blank on each side, and texts that are added are one. */
static char *normalised(const Reader *r, const char *s)
{
    static const char added[] = "\" + \"";
    enum { ADDED = sizeof added - 1 };
    char *out = arena_alloc(r->arena, 3 * strlen(s) + 1), *to = out;
    for (; *s; s++) {
        if (s[0] == '\\' && (s[1] == 'n' || s[1] == '"' || s[1] == '\'')) *to++ = *++s == 'n' ? '\n' : '"';
        else if (*s == '+') {
            while (to > out && to[-1] == ' ') to--;
            while (s[1] == ' ') s++;
            memcpy(to, " + ", 3);
            to += 3;
        } else *to++ = *s == '\'' ? '"' : *s;
        if (to - out >= ADDED && !memcmp(to - ADDED, added, ADDED)) to -= ADDED;
    }
    *to = '\0';
    return out;
}

static bool fits(const ChatRow *row, const char *text)
{
    bool good = true;
    for (int i = 0; row->markers[i]; i++) good &= strstr(text, row->markers[i]) != NULL;
    for (int i = 0; row->strangers[i]; i++) good &= strstr(text, row->strangers[i]) == NULL;
    return good;
}

/* The system text that the template itself has between the marks of one, where it has one; false where it cannot be told. */
static bool find_preset(const Reader *r, const char *text, Chat *chat)
{
    const char *before = chat->system[0], *after = chat->system[1];
    if (!before || !*before || chat->preset) return true;
    for (const char *at = text; (at = strstr(at, before));) {
        at += strlen(before);
        if (*at == '"' || *at == '{') continue;
        const size_t quote = strcspn(at, "\"{}");
        const char *end = strstr(at, *after ? after : "\"");
        if (!end || (size_t)(end - at) > quote) return false;
        const char *found = arena_copy(r->arena, at, (size_t)(end - at));
        if (chat->preset && strcmp(chat->preset, found) != 0) return false;
        chat->preset = found;
    }
    return true;
}

/* EOS in a text of a row. */
static const char *with_end(const Reader *r, const char *s, const char *end)
{
    const char *at = s ? strchr(s, '\4') : NULL;
    return at ? arena_format(r->arena, "%.*s%s%s", (int)(at - s), s, end, at + 1) : s;
}

static void recognise(const Reader *r, const char *text, const char *begin, const char *end)
{
    Model *m = r->model;
    for (int i = 0; i < ROWS; i++) {
        if (!fits(&rows[i], text)) continue;
        Chat *chat = arena_alloc(r->arena, sizeof *chat);
        *chat = rows[i].chat;
        for (int k = 0; k < 2; k++) chat->system[k] = with_end(r, chat->system[k], end), chat->user[k] = with_end(r, chat->user[k], end);
        if (strstr(text, "bos_token")) chat->begin = begin;
        if (find_preset(r, text, chat)) m->chat = chat;
        else m->chat_fault = arena_format(r->arena, "the chat template is like %s, but has a system text of its own that cannot be told", chat->name);
        return;
    }
    Text known = text_new(r->arena);
    for (int i = 0; i < ROWS; i++) text_printf(&known, "%s%s", i ? ", " : "", rows[i].chat.name);
    m->chat_fault = arena_format(r->arena, "the chat template is none of those that are known: %s", known.data);
}

void model_read_chat(Arena *a, Model *m)
{
    const Reader r = { a, m };
    struct stat s, there;
    const bool in_folder = stat(m->tokenizer_file, &s) == 0 && S_ISDIR(s.st_mode);
    const char *slash = strrchr(m->tokenizer_file, '/'), *name = slash ? slash + 1 : m->tokenizer_file;
    if (!in_folder && strcmp(name, "tokenizer.json") && strcmp(name, "tokenizer.model")) return;
    const char *folder = in_folder ? m->tokenizer_file : file_folder(a, m->tokenizer_file);
    const char *config_path = file_join(a, folder, "tokenizer_config.json"), *path = file_join(a, folder, "chat_template.jinja");
    json_t *config = object_in(config_path), *specials = object_in(file_join(a, folder, "special_tokens_map.json"));
    const char *text = file_text(&r, path);
    if (!text && lstat(path, &there) == 0) {        /* it is what counts, whatever the config says */
        m->chat_fault = "the chat template cannot be read, or is no text of at most 4 MB";
        m->chat_path = path;
        json_decref(config);
        json_decref(specials);
        return;
    }
    if (!text) text = template_of(&r, config), path = config_path;
    else m->chat_fault = NULL;
    m->chat_path = path;
    if (text) recognise(&r, normalised(&r, text), token(&r, config, specials, "bos_token"), token(&r, config, specials, "eos_token"));
    json_decref(config);
    json_decref(specials);
}
