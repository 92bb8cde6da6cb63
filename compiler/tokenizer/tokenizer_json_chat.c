/* tokenizer_json_chat.c: the chat template beside a tokenizer, or in its file. It is not run: what stands in it tells its family (chats.def). */
#include "fields.h"
#include "tokenizer.h"

#include <string.h>
#include <sys/stat.h>

#include "json_read.h"
#include "text.h"

typedef struct Marks { const char *markers[8], *strangers[8]; } Marks;
typedef struct ChatRow { Chat chat; Marks marks; } ChatRow;
typedef struct PastRow { int chat; Marks marks; const char *again, *past[2]; bool trims, thinks, at_last; } PastRow;

#define EOS  "\4"                 /* marks in the texts of rows */
#define BOS  "\5"
#define DATE "\6"
#define MARKERS(...)   { __VA_ARGS__, NULL }
#define STRANGERS(...) { __VA_ARGS__, NULL }
static const ChatRow rows[] = {
#define CHAT(id, called, marks, others, before_system, after_system, before_user, after_user, to_answer, own, trims, within) \
    { { .name = called, .begin = "", .system = { before_system, after_system }, .user = { before_user, after_user }, .answer = to_answer, \
        .again = "", .preset = own, .trim = CHAT_TRIM_##trims, .inside = within }, { marks, others } },
#define PAST(id, markers, strangers, again, before, after, trims, thinks, last)
#include "chats.def"
#undef CHAT
#undef PAST
};
enum {
#define CHAT(id, name, markers, strangers, before_system, after_system, before_user, after_user, answer, preset, trim, inside) ROW_##id,
#define PAST(id, markers, strangers, again, before, after, trims, thinks, last)
#include "chats.def"
#undef CHAT
#undef PAST
    ROWS, MOST_BYTES = 4 << 20
};
static const PastRow pasts[] = {
#define CHAT(id, name, markers, strangers, before_system, after_system, before_user, after_user, answer, preset, trim, inside)
#define PAST(id, markers, strangers, again, before, after, trims, thinks, last) \
    { ROW_##id, { markers, strangers }, again, { before, after }, trims, thinks, last },
#include "chats.def"
#undef CHAT
#undef PAST
};
enum { PASTS = sizeof pasts / sizeof *pasts };

typedef struct Reader { Arena *arena; Diag *diag; Model *model; } Reader;

/* ---- files ---------------------------------------------------------------------------------------------- */

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
    const char *text = json_string_value(given);
    if (text && strlen(text) == json_string_length(given)) return arena_text(r->arena, text);
    if (text) r->model->chat_fault = "chat_template holds U+0000";
    else if (given && !json_is_null(given)) r->model->chat_fault = "chat_template is no text, nor a list with one that is called \"default\"";
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

static bool fits(const Marks *m, const char *text)
{
    bool good = true;
    for (int i = 0; m->markers[i]; i++) good &= strstr(text, m->markers[i]) != NULL;
    for (int i = 0; m->strangers[i]; i++) good &= strstr(text, m->strangers[i]) == NULL;
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

/* What stands between `before` and the next quote; NULL where `before` is not there. */
static const char *quoted(const Reader *r, const char *text, const char *before)
{
    const char *at = strstr(text, before);
    return at ? arena_copy(r->arena, at + strlen(before), strcspn(at + strlen(before), "\"")) : NULL;
}

/* Whether strftime of C writes it as Python's does. */
static bool knows_format(const char *format)
{
    for (const char *s = format; (s = strchr(s, '%')); s += 2)
        if (!s[1] || !strchr("aAbBdHIjmMpSyY%", s[1])) return false;
    return *format && strlen(format) < 32;
}

/* The date of a row that has one, which stands behind the system's mark; false where it cannot be told. */
static bool find_date(const Reader *r, const char *text, Chat *chat)
{
    const char *at = chat->system[0] ? strchr(chat->system[0], *DATE) : NULL;
    if (!at) return true;
    chat->dated = at + 1;
    chat->system[0] = arena_copy(r->arena, chat->system[0], (size_t)(at - chat->system[0]));
    chat->today = quoted(r, text, "date_string = strftime_now(\"");
    if (!chat->today) chat->date = quoted(r, text, "date_string = \"");
    return chat->today ? knows_format(chat->today) : chat->date != NULL;
}

static void find_past(const char *text, int row, Chat *chat)
{
    for (int i = 0; i < PASTS; i++) {
        const PastRow *p = &pasts[i];
        if (p->chat != row || !fits(&p->marks, text)) continue;
        chat->again = p->again, chat->past[0] = p->past[0], chat->past[1] = p->past[1];
        chat->trims_past = p->trims, chat->thinks = p->thinks, chat->at_last = p->at_last;
        return;
    }
}

/* Whether a template asks if there is a system text before it writes one. */
static bool needs_system(const char *text)
{
    static const char *const asked[] = { "\"system\" and message[\"content\"]", "\"system\" and message.content",
                                         "\"system\" and messages[0][\"content\"]", "\"system\" and messages[0].content",
                                         "if system_message", "and system_message" };
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++)
        for (const char *at = text; (at = strstr(at, asked[i]));) {
            at += strlen(asked[i]);
            const char *end = at + strspn(at, " -");
            if (end > at && end[0] == '%' && end[1] == '}') return true;
        }
    return false;
}

/* EOS and BOS in a text of a row, in the place of which those of the tokenizer stand. */
static const char *filled(const Reader *r, const char *s, const char *begin, const char *end)
{
    Text t = text_new(r->arena);
    if (!s || !strpbrk(s, EOS BOS)) return s;
    for (; *s; s++) {
        if (*s == *EOS) text_add(&t, end);
        else if (*s == *BOS) text_add(&t, begin);
        else text_printf(&t, "%c", *s);
    }
    return t.data;
}

static void fill_all(const Reader *r, Chat *c, const char *begin, const char *end)
{
    const char **texts[] = { &c->system[0], &c->system[1], &c->user[0], &c->user[1], &c->again, &c->past[0], &c->past[1] };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) *texts[i] = filled(r, *texts[i], begin, end);
}

static void recognise(const Reader *r, const char *text, const char *begin, const char *end)
{
    Model *m = r->model;
    for (int i = 0; i < ROWS; i++) {
        if (!fits(&rows[i].marks, text)) continue;
        Chat *chat = arena_alloc(r->arena, sizeof *chat);
        *chat = rows[i].chat;
        find_past(text, i, chat);
        chat->needs_system = needs_system(text);
        fill_all(r, chat, begin, end);
        if (strstr(text, "bos_token")) chat->begin = begin;
        if (!find_date(r, text, chat))
            m->chat_fault = arena_format(r->arena, "the chat template is like %s, but the date that it writes cannot be told", chat->name);
        else if (find_preset(r, text, chat)) m->chat = chat;
        else m->chat_fault = arena_format(r->arena, "the chat template is like %s, but has a system text of its own that cannot be told", chat->name);
        return;
    }
    Text known = text_new(r->arena);
    for (int i = 0; i < ROWS; i++) text_printf(&known, "%s%s", i ? ", " : "", rows[i].chat.name);
    m->chat_fault = arena_format(r->arena, "the chat template is none of those that are known: %s", known.data);
}

void model_read_chat(Arena *a, Diag *d, Model *m, const TokenizerChat *own)
{
    const Reader r = { a, d, m };
    if (own->text) {
        m->chat_path = m->tokenizer_file;
        recognise(&r, normalised(&r, own->text), own->begin, own->end);
        return;
    }
    struct stat there;
    const bool in_folder = file_is_folder(m->tokenizer_file);
    const char *slash = strrchr(m->tokenizer_file, '/'), *name = slash ? slash + 1 : m->tokenizer_file;
    if (!in_folder && strcmp(name, "tokenizer.json") && strcmp(name, "tokenizer.model")) return;
    const char *folder = in_folder ? m->tokenizer_file : file_folder(a, m->tokenizer_file);
    const char *config_path = file_join(a, folder, "tokenizer_config.json"), *path = file_join(a, folder, "chat_template.jinja");
    json_t *config = json_read_object(a, d, config_path);
    json_t *specials = json_read_object(a, d, file_join(a, folder, "special_tokens_map.json"));
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
