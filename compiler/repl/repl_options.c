/* repl_options.c: tables of options at the prompt, such as { engine = "jit" }. Unknown names are
 * errors that suggest a known name or list them all. */
#include "repl.h"

#include <string.h>

const char *repl_found(lua_State *L, int index)
{
    return lua_isnoneornil(L, index) ? "nothing" : lua_pushfstring(L, "a %s", luaL_typename(L, index));
}

int repl_integer_option(lua_State *L, const char *name, int least, int most)
{
    int number;
    const lua_Integer n = lua_tointegerx(L, -1, &number);
    if (!number || n < least || n > most) luaL_error(L, "%s: expected a whole number from %d to %d", name, least, most);
    return (int)n;
}

bool repl_option(lua_State *L, int index, const char *name)
{
    if (!index || lua_isnoneornil(L, index)) return false;
    return lua_getfield(L, index, name) != LUA_TNIL;
}

const char *repl_text_option(lua_State *L, const char *name)
{
    if (lua_type(L, -1) != LUA_TSTRING) luaL_error(L, "%s: expected a string, found %s", name, repl_found(L, -1));
    repl_check_nul(L, -1);
    return lua_tostring(L, -1);
}

const char *repl_word_option(lua_State *L, const char *name, const char *const *words)
{
    const char *text = repl_text_option(L, name);
    int n = 0;
    for (; words[n]; n++)
        if (strcmp(words[n], text) == 0) return words[n];
    lua_pushfstring(L, "%s: expected", name);
    for (int i = 0; i < n; i++) {
        lua_pushfstring(L, "%s %s", !i ? "" : i + 1 < n ? "," : " or", words[i]);
        lua_concat(L, 2);
    }
    return luaL_error(L, "%s, found %s", lua_tostring(L, -1), text), NULL;
}

void repl_check_keys(lua_State *L, int index, const char *what, const char *const *names, int n)
{
    if (!index || lua_isnoneornil(L, index)) return;
    if (!lua_istable(L, index)) luaL_error(L, "%s takes its options in a table, found %s", what, repl_found(L, index));
    for (lua_pushnil(L); lua_next(L, index); lua_pop(L, 1)) {
        const char *key = lua_type(L, -2) == LUA_TSTRING ? lua_tostring(L, -2) : NULL;
        bool known = false;
        for (int i = 0; i < n && key; i++) known |= strcmp(names[i], key) == 0;
        if (known) continue;
        if (!key) luaL_error(L, "%s has no option [%s]", what, luaL_tolstring(L, -2, NULL));
        const char *near = diag_nearest(key, names, n);
        if (near) luaL_error(L, "%s has no option '%s'; did you mean '%s'?", what, key, near);
        lua_pushstring(L, "");
        for (int i = 0; i < n; i++) {
            lua_pushfstring(L, "%s%s", i ? ", " : "; its options are ", names[i]);
            lua_concat(L, 2);
        }
        luaL_error(L, "%s has no option '%s'%s", what, key, lua_tostring(L, -1));
    }
}

/* ---- names and words of options ---------------------------------------------------------------------------------- */

enum { DTYPES_ROOM = 8 };

/* Copy a word list of fields.def to `room`, terminated by NULL. */
static const char *const *words_of(const char *list, const char *room[DTYPES_ROOM + 1])
{
    int n;
    const char *const *words = field_words(list, &n);
    memcpy(room, words, (size_t)(n < DTYPES_ROOM ? n : DTYPES_ROOM) * sizeof *room);
    return room;
}

static const char *const *dtype_words(void)
{
    static const char *room[DTYPES_ROOM + 1];
    return words_of("dtypes", room);
}

static const char *const *kv_dtype_words(void)
{
    static const char *room[DTYPES_ROOM + 1];
    return words_of("kv_dtypes", room);
}

static const char *const engine_words[] = { "jit", "native", "generic", NULL }, *const tier_words[] = { "jit", "native", NULL };
static const char *const kind_words[] = { "encoder", "decoder", "cross", NULL };

static const char *const compile_options[] = { "engine", "tier", "threads", "slots", "isa", "dtype", "kv_dtype", "tune", "notes" };
static const char *const sweep_options[] = { "seconds", "file", "engine", "tier", "threads", "slots", "isa", "dtype", "kv_dtype", "tune", "notes" };
static const char *const attention_options[] = { "kind", "layer", "head", "n", "file" };
static const char *const text_options[] = { "source_language", "target_language", "plain_text", "pair_separator" };
enum { TEXT_OPTIONS = sizeof text_options / sizeof *text_options, COMPILE_OPTIONS = sizeof compile_options / sizeof *compile_options,
       SWEEP_OPTIONS = sizeof sweep_options / sizeof *sweep_options,
       ATTENTION_OPTIONS = sizeof attention_options / sizeof *attention_options };

const char *const *repl_option_names(const char *function, int *n)
{
    static const struct { const char *function; const char *const *names; int count; } known[] = {
        { "xf.compile", compile_options, COMPILE_OPTIONS }, { "xf.sweep", sweep_options, SWEEP_OPTIONS },
        { "m:attention", attention_options, ATTENTION_OPTIONS }, { "m", text_options, TEXT_OPTIONS }, { "m:generate", text_options, TEXT_OPTIONS },
    };
    *n = 0;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(known[i].function, function) == 0) return *n = known[i].count, known[i].names;
    return NULL;
}

const char *const *repl_option_words(const char *name)
{
    return strcmp(name, "engine") == 0 ? engine_words : strcmp(name, "tier") == 0 ? tier_words : strcmp(name, "kind") == 0 ? kind_words
         : strcmp(name, "dtype") == 0 ? dtype_words() : strcmp(name, "kv_dtype") == 0 ? kv_dtype_words() : NULL;
}

void repl_check_options(lua_State *L, int index, const char *function)
{
    int n;
    const char *const *names = repl_option_names(function, &n);
    repl_check_keys(L, index, function, names, n);
}

int repl_check_sweep(lua_State *L)
{
    repl_check_options(L, 1, "xf.sweep");
    return 0;
}

const char *repl_compile_options(lua_State *L, int index, ReplModel *m, CompileOptions *c)
{
    const int top = lua_gettop(L);
    const char *tier = NULL;
    if (!index || lua_isnoneornil(L, index)) return NULL;
    repl_check_options(L, index, "xf.compile");
    if (repl_option(L, index, "tier")) tier = repl_word_option(L, "tier", tier_words);
    if (repl_option(L, index, "engine")) {
        if (tier) luaL_error(L, "give engine or tier, not both");
        tier = "jit";
        m->kind = engine_of_name(repl_word_option(L, "engine", engine_words));
    }
    if (repl_option(L, index, "threads")) c->threads = repl_integer_option(L, "threads", 1, 16);
    if (repl_option(L, index, "slots")) c->slots = repl_integer_option(L, "slots", 1, 4096);
    if (repl_option(L, index, "dtype")) c->dtype = repl_word_option(L, "dtype", dtype_words());
    if (repl_option(L, index, "kv_dtype")) c->kv_dtype = repl_word_option(L, "kv_dtype", kv_dtype_words());
    if (repl_option(L, index, "isa")) c->form.isa = arena_text(repl_of(L)->reader.arena, repl_text_option(L, "isa"));
    if (repl_option(L, index, "tune")) c->tune = arena_text(repl_of(L)->reader.arena, repl_text_option(L, "tune"));
    if (repl_option(L, index, "notes")) m->quiet = !lua_toboolean(L, -1);
    lua_settop(L, top);
    return tier;
}
