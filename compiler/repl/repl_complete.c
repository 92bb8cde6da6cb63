/* repl_complete.c: completion of the text before the cursor: commands and their arguments; in
 * quotes, tensors, weights, blocks, functions, words of fields and options, or paths; in braces,
 * fields and options; otherwise Lua names. */
#include "repl.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "jit.h"
#include "pack.h"

static const char name_letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";

static void offer(Completion *c, const char *word)
{
    if (strncmp(word, c->prefix, strlen(c->prefix)) != 0) return;
    for (int i = 0; i < c->count; i++)
        if (strcmp(c->words[i], word) == 0) return;
    c->words = arena_grow(c->arena, c->words, (size_t)c->count * sizeof *c->words, (size_t)(c->count + 1) * sizeof *c->words);
    c->words[c->count++] = arena_text(c->arena, word);
}

/* ---- names of Lua ------------------------------------------------------------------------------------------------ */

static void offer_keys(lua_State *L, int table, Completion *c)
{
    for (lua_pushnil(L); lua_next(L, table); lua_pop(L, 1))
        if (lua_type(L, -2) == LUA_TSTRING && strspn(lua_tostring(L, -2), name_letters) == strlen(lua_tostring(L, -2))) offer(c, lua_tostring(L, -2));
}

/* Offer the members of the value at the top of the stack, by its table or its metatable. */
static void offer_members(lua_State *L, Completion *c, char sign)
{
    const int top = lua_gettop(L);
    if (lua_istable(L, top)) offer_keys(L, top, c);
    else if (luaL_getmetafield(L, top, sign == ':' ? "__methods" : "__members") == LUA_TTABLE) offer_keys(L, top + 1, c);
    else if (lua_type(L, top) == LUA_TSTRING && luaL_getmetafield(L, top, "__index") == LUA_TTABLE) offer_keys(L, lua_gettop(L), c);
    lua_settop(L, top);
}

/* Push the value of a path of names such as a.b.c, of length n, or nil. Raw access: no Lua code
 * runs. */
static void push_path(lua_State *L, const char *s, size_t n)
{
    lua_pushglobaltable(L);
    for (const char *end = s + n; s < end;) {
        size_t length = strcspn(s, ".:");
        if (length > (size_t)(end - s)) length = (size_t)(end - s);
        lua_pushlstring(L, s, length);
        if (lua_type(L, -2) == LUA_TTABLE) lua_rawget(L, -2);
        else {
            lua_pop(L, 1);
            lua_pushnil(L);
        }
        s += length + 1;
    }
}

/* The start of the path of names that ends at `end`. */
static const char *path_begin(const char *text, const char *end)
{
    while (end > text && (strchr(name_letters, end[-1]) || strchr(".:", end[-1]))) end--;
    return end;
}

static void complete_name(lua_State *L, const char *text, Completion *c)
{
    const char *end = text + strlen(text), *begin = path_begin(text, end), *dot = end;
    while (dot > begin && !strchr(".:", dot[-1])) dot--;
    c->prefix = dot;
    push_path(L, begin, dot > begin ? (size_t)(dot - begin - 1) : 0);
    offer_members(L, c, dot > begin ? dot[-1] : '.');
}

/* ---- models ------------------------------------------------------------------------------------------------------ */

static void offer_tensors(Completion *c, ReplModel *m, bool probed)
{
    const Plan *p = repl_looked(m);
    const Trace *t = trace_names(c->arena, p);
    for (int i = 0; !probed && i < t->count; i++) offer(c, t->tensors[i].name);
    for (int i = 0; probed && i < p->tap_count; i++) offer(c, p->taps[i].name);
}

static void offer_weights(Completion *c, const ReplModel *m)
{
    const Model *model = m->session->model;
    int n;
    for (int i = 0; i < model->tensor_count; i++)
        if (pack_find(c->arena, m->engine->plan, model->tensors[i].name, &n)) offer(c, model->tensors[i].name);
}

/* Offer the blocks that m:ablate accepts: those with an `out` or a `down` weight. */
static void offer_blocks(Completion *c, const ReplModel *m)
{
    static const char *const ends[] = { "_attn.out.weight", ".ffn.down.weight" };
    const Model *model = m->session->model;
    for (int i = 0; i < model->tensor_count; i++)
        for (int k = 0; k < 2; k++) {
            const char *name = model->tensors[i].name, *end = strstr(name, ends[k]);
            if (end && !end[strlen(ends[k])]) offer(c, arena_copy(c->arena, name, (size_t)(end - name) + (k ? strlen(".ffn") : strlen("_attn"))));
        }
}

/* Offer every function defined in the C text. */
static void offer_functions(Completion *c, const ReplModel *m)
{
    if (m->kind != ENGINE_JIT) return;
    const char *text = jit_text(repl_tier_jit(m));
    for (const char *at = text; (at = strstr(at, "\n{\n")); at++) {
        const char *line = at;
        while (line > text && line[-1] != '\n') line--;
        const char *open = strchr(line, '('), *begin = open;
        while (begin && begin > line && strchr(name_letters, begin[-1])) begin--;
        const char *b, *e;
        if (!open || open >= at || begin == open) continue;
        const char *name = arena_copy(c->arena, begin, (size_t)(open - begin));
        if (repl_find_function(text, name, &b, &e)) offer(c, name);
    }
}

/* ---- inside quotes ----------------------------------------------------------------------------------------------- */

/* Offer the files whose paths begin with the prefix; folders get a trailing slash. */
static void offer_paths(Completion *c)
{
    const char *slash = strrchr(c->prefix, '/');
    const char *folder = slash ? arena_copy(c->arena, c->prefix, (size_t)(slash - c->prefix) + 1) : "";
    const char *rest = slash ? slash + 1 : c->prefix;
    DIR *d = opendir(*folder ? folder : ".");
    for (struct dirent *e; d && (e = readdir(d));) {
        if (*e->d_name == '.' && (*rest != '.' || strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)) continue;
        const char *path = arena_format(c->arena, "%s%s", folder, e->d_name);
        offer(c, file_is_folder(path) ? arena_format(c->arena, "%s/", path) : path);
    }
    if (d) closedir(d);
}

/* Complete the string that opens at `quote` as the first argument of a model's method. False if it
 * is not one, or if the method takes no name. */
static bool complete_argument(Repl *r, const char *text, const char *quote, Completion *c)
{
    lua_State *L = r->L;
    const char *end = quote;
    while (end > text && strchr(" (", end[-1])) end--;
    const char *begin = path_begin(text, end), *colon = end;
    while (colon > begin && *colon != ':') colon--;
    if (*colon != ':') return false;
    const char *method = arena_copy(c->arena, colon + 1, (size_t)(end - colon - 1));
    push_path(L, begin, (size_t)(colon - begin));
    ReplModel *m = repl_model_at(L, -1);
    if (!m) m = repl_last_model(L);
    if (!m) return false;
    const struct { const char *method; int kind; } takes[] = { { "at", 0 }, { "probe", 1 }, { "ablate", 2 }, { "heads", 2 }, { "weight", 3 },
                                                               { "set", 3 }, { "code", 4 }, { "edit", 4 } };
    for (size_t i = 0; i < sizeof takes / sizeof *takes; i++) {
        if (strcmp(takes[i].method, method) != 0) continue;
        if (takes[i].kind < 2) offer_tensors(c, m, takes[i].kind);
        else (takes[i].kind == 2 ? offer_blocks : takes[i].kind == 3 ? offer_weights : offer_functions)(c, m);
        return true;
    }
    return false;
}

/* The quote that is still open at the end of the text; NULL if none is. */
static const char *open_quote(const char *text)
{
    const char *open = NULL;
    for (const char *s = text; *s; s++) {
        if (open && *s == '\\' && s[1]) s++;
        else if (open && *s == *open) open = NULL;
        else if (!open && strchr("\"'", *s)) open = s;
    }
    return open;
}

/* ---- inside braces ----------------------------------------------------------------------------------------------- */

/* The innermost bracket, '{' or '(', that is open at `end`; NULL if none is. */
static const char *open_bracket(const char *text, const char *end)
{
    int depth = 0;
    for (const char *s = end; s > text; s--) {
        if (strchr(")}", s[-1])) depth++;
        if (strchr("({", s[-1]) && depth-- == 0) return s - 1;
    }
    return NULL;
}

static const char *before_blanks(const char *text, const char *end)
{
    while (end > text && end[-1] == ' ') end--;
    return end;
}

static const char *word_begin(const char *text, const char *end)
{
    while (end > text && strchr(name_letters, end[-1])) end--;
    return end;
}

/* The meaning of names in a pair of braces: fields, or options of a function. */
typedef struct Braces { bool fields; const char *function; } Braces;

static Braces of_function(lua_State *L, Arena *a, const char *text, const char *end, bool first)
{
    const char *begin = path_begin(text, end), *path = arena_copy(a, begin, (size_t)(end - begin)), *colon = strchr(path, ':');
    if (strcmp(path, "xf.model") == 0) return (Braces){ .fields = true };
    if (strcmp(path, "xf.sweep") == 0) return (Braces){ .fields = first, .function = first ? NULL : path };
    if (strcmp(path, "xf.compile") == 0) return (Braces){ .function = path };
    if (colon && strcmp(colon, ":attention") == 0) return (Braces){ .function = "m:attention" };
    push_path(L, begin, strlen(path));
    return (Braces){ .fields = spec_at(L, -1) != NULL };
}

/* The meaning of a brace in f{ …, f({ … and f(x, { …, and in encoder = { … inside the braces of a
 * spec. The first table of xf.sweep is the grid. */
static Braces braces_at(lua_State *L, Arena *a, const char *text, const char *brace)
{
    const char *end = before_blanks(text, brace);
    if (end == text) return (Braces){ .fields = false };
    if (end[-1] == '=') {
        const char *name_end = before_blanks(text, end - 1), *name = word_begin(text, name_end), *outer = open_bracket(text, name);
        const bool stack = name_end - name == 7 && (strncmp(name, "encoder", 7) == 0 || strncmp(name, "decoder", 7) == 0);
        return stack && outer && *outer == '{' ? braces_at(L, a, text, outer) : (Braces){ .fields = false };
    }
    if (strchr(name_letters, end[-1])) return of_function(L, a, text, end, true);
    const char *call = open_bracket(text, end);
    if (!strchr("(,", end[-1]) || !call || *call != '(') return (Braces){ .fields = false };
    return of_function(L, a, text, before_blanks(text, call), !memchr(call, '}', (size_t)(brace - call)));
}

/* Complete the name of a field or an option. False if none is expected. */
static bool complete_field(lua_State *L, const char *text, Completion *c)
{
    const char *word = word_begin(text, text + strlen(text)), *before = before_blanks(text, word);
    if (before == text || !strchr("{,", before[-1])) return false;
    const char *brace = open_bracket(text, before);
    if (!brace || *brace != '{') return false;
    const Braces b = braces_at(L, c->arena, text, brace);
    int n = 0;
    const char *const *names = b.function ? repl_option_names(b.function, &n) : NULL;
    if (!b.fields && !names) return false;
    c->prefix = word;
    for (int i = 0; i < n; i++) offer(c, names[i]);
    for (int i = 0; b.fields && i < FIELD_COUNT; i++) offer(c, fields[i].name);
    for (int i = 0; b.fields && i < 2; i++) offer(c, i ? "decoder" : "encoder");
    return true;
}

/* Complete a string that begins at `quote`, as the value of a field or an option: field = "…,
 * field = { …, "…. */
static bool complete_word(lua_State *L, const char *text, const char *quote, Completion *c)
{
    const char *end = before_blanks(text, quote), *list = end > text && strchr("{,", end[-1]) ? open_bracket(text, end) : NULL;
    if (list && *list == '{') end = before_blanks(text, list);
    if (end == text || end[-1] != '=') return false;
    const char *name_end = before_blanks(text, end - 1), *name = word_begin(text, name_end), *brace = open_bracket(text, name);
    if (!brace || *brace != '{') return false;
    const Braces b = braces_at(L, c->arena, text, brace);
    const char *called = arena_copy(c->arena, name, (size_t)(name_end - name));
    const Field *f = b.fields ? field_find(called) : NULL;
    const char *const *words = b.function ? repl_option_words(called) : NULL;
    for (int i = 0; f && i < f->word_count; i++) offer(c, f->words[i]);
    for (int i = 0; words && words[i]; i++) offer(c, words[i]);
    return words || (f && f->word_count);
}

/* ---- all of it --------------------------------------------------------------------------------------------------- */

static bool is_word(const char *text, size_t n, const char *word) { return strlen(word) == n && strncmp(text, word, n) == 0; }

/* Complete a command. False if `text` is not one, or if Lua names complete it too. */
static bool complete_command(Repl *r, const char *text, Completion *c)
{
    const size_t n = strcspn(text, " ");
    const char *words = text + n + strspn(text + n, " ");
    if (*text == '?') {
        c->prefix = text + 1;
        for (int i = 0; repl_topic_name(i); i++) offer(c, repl_topic_name(i));
        return false;                               /* Lua names too */
    }
    if (*text != ':') return false;
    c->prefix = text[n] ? words : text;
    if (!text[n])
        for (int i = 0; repl_command_name(i); i++) offer(c, repl_command_name(i));
    else if (is_word(text, n, ":code") || is_word(text, n, ":asm")) {
        const ReplModel *m = repl_last_model(r->L);
        if (m) offer_functions(c, m);
    } else if (is_word(text, n, ":help")) {
        for (int i = 0; repl_topic_name(i); i++) offer(c, repl_topic_name(i));
        for (int i = 0; repl_command_name(i); i++) offer(c, repl_command_name(i));
    } else if (is_word(text, n, ":time")) return false;
    else offer_paths(c);
    return true;
}

/* Runs in a protected call: stack place 1 has the Completion, 2 the text. */
static int complete(lua_State *L)
{
    Completion *c = lua_touserdata(L, 1);
    Repl *r = repl_of(L);
    const char *text = lua_tostring(L, 2), *quote = open_quote(text);
    luaL_checkstack(L, 40, "a path of names");
    if (complete_command(r, text, c)) return 0;
    if (quote) {
        c->prefix = quote + 1;
        if (!complete_argument(r, text, quote, c) && !complete_word(L, text, quote, c)) offer_paths(c);
    } else if (!complete_field(L, text, c)) complete_name(L, text + (*text == '?'), c);
    return 0;
}

static int by_name(const void *a, const void *b) { return strcmp(*(const char *const *)a, *(const char *const *)b); }

Completion repl_complete(Repl *r, Arena *a, const char *text)
{
    Completion c = { .arena = a, .prefix = "" };
    lua_State *L = r->L;
    const int top = lua_gettop(L);
    lua_pushcfunction(L, complete);
    lua_pushlightuserdata(L, &c);
    lua_pushstring(L, text);
    if (lua_pcall(L, 2, 0, 0) != LUA_OK) lua_settop(L, top);
    c.prefix = arena_text(a, c.prefix);
    if (!c.count) return c;
    qsort(c.words, (size_t)c.count, sizeof *c.words, by_name);
    /* The words are sorted: what these two share, all share. */
    const char *first = c.words[0], *last = c.words[c.count - 1];
    while (first[c.shared] && first[c.shared] == last[c.shared]) c.shared++;
    return c;
}
