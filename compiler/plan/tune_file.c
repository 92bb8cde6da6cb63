/* tune_file.c: read the xf.tune{…} in a file of `xformc tune` into a Tuning. Errors are reported at
 * the fields and calls that cause them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "spec_lua.h"
#include "tune_file.h"

enum { MAX_TUNED_CALLS = 1000, LONGEST_NAME = 200 };

/* The call of xf.tune being read. The functions below read the value on top of the Lua stack. */
typedef struct TuneFields { lua_State *L; SpecReader *reader; Tuning *tuning; Loc call; } TuneFields;

#define wrong(f, at, ...) diag_error((f)->reader->diag, EXIT_BAD_DATA, at, __VA_ARGS__)

static int by_name(const void *a, const void *b) { return strcmp(*(const char *const *)a, *(const char *const *)b); }

/* The names in the table on top of the stack, sorted, since Lua's order varies; *n receives their
 * number. A value without a name is an error, as are names that are too long, contain a zero byte
 * or are too many. */
static const char **names_of(const TuneFields *f, Loc at, int *n)
{
    const char **names = arena_array(f->reader->arena, MAX_TUNED_CALLS, sizeof *names);
    *n = 0;
    for (lua_pushnil(f->L); lua_next(f->L, -2); lua_pop(f->L, 1)) {
        size_t size = 0;
        const char *name = lua_type(f->L, -2) == LUA_TSTRING ? lua_tolstring(f->L, -2, &size) : "";
        if (!size) wrong(f, at, "a value needs a name: %s has none", spec_describe(f->L, -1));
        else if (size > LONGEST_NAME) wrong(f, at, "a name is longer than %d bytes", LONGEST_NAME);
        else if (strlen(name) != size) wrong(f, at, "a name contains a zero byte");
        else if (*n == MAX_TUNED_CALLS) {
            wrong(f, at, "more than %d names", MAX_TUNED_CALLS);
            lua_pop(f->L, 2);
            break;
        } else names[(*n)++] = arena_text(f->reader->arena, name);
        sandbox_charge(f->L, lexer_tokens(f->reader->lexer) / 100);
    }
    qsort(names, (size_t)*n, sizeof *names, by_name);
    return names;
}

/* Push the value of that name in the table on top of the stack. */
static void push_value(const TuneFields *f, const char *name)
{
    lua_pushstring(f->L, name);
    lua_rawget(f->L, -2);
}

/* The position of the field `name` of the table `side`, or of xf.tune itself if `side` is NULL. A
 * field that is given twice is an error. */
static Loc place_of(const TuneFields *f, const char *side, const char *name)
{
    Loc at = f->call, again = { 0 };
    lexer_field(f->reader->lexer, f->call.line, "tune", side, name, &at, &again);
    at.file = again.file = f->reader->path;
    if (again.line) wrong(f, again, "%s is given twice; first on line %d", name, at.line);
    return at;
}

/* ---- fields of the whole ---------------------------------------------------------------------------------- */

/* The index of the string on top of the stack among `n` words; -1 after an error. Words that are
 * NULL are skipped. */
static int word_of(const TuneFields *f, const char *what, Loc at, const char *const *words, int n)
{
    const char *word = lua_type(f->L, -1) == LUA_TSTRING ? lua_tostring(f->L, -1) : "", *known[CUTS + (int)TUNED_LAYERS];
    Text list = text_new(f->reader->arena);
    int count = 0;
    for (int i = 0; i < n; i++) {
        if (!words[i]) continue;
        if (strcmp(words[i], word) == 0) return i;
        text_printf(&list, "%s\"%s\"", count ? ", " : "", words[i]);
        known[count++] = words[i];
    }
    const char *near = diag_nearest(word, known, count);
    wrong(f, at, "%s must be one of %s; found %s", what, list.data, spec_describe(f->L, -1));
    if (near) diag_note(f->reader->diag, at, "did you mean \"%s\"?", near);
    return -1;
}

static void read_threads(const TuneFields *f, Loc at)
{
    enum { MOST_THREADS = 256 };
    int whole = 0;
    const lua_Integer n = lua_type(f->L, -1) == LUA_TNUMBER ? lua_tointegerx(f->L, -1, &whole) : 0;
    if (!whole || n < 1 || n > MOST_THREADS)
        wrong(f, at, "threads must be a whole number from 1 to %d, found %s", MOST_THREADS, spec_describe(f->L, -1));
    else f->tuning->threads = (int)n;
}

static void read_layers(const TuneFields *f, Loc at)
{
    const int word = word_of(f, "layers", at, tuned_layers_names, TUNED_LAYERS);
    if (word >= 0) f->tuning->layers = (TunedLayers)word;
}

/* ---- calls ------------------------------------------------------------------------------------------------ */

static int cut_of(const TuneFields *f, const char *what, Loc at)
{
    const char *names[CUTS];
    for (int i = 0; i < CUTS; i++) names[i] = cut_rows[i].name;
    return word_of(f, what, at, names, CUTS);
}

/* us = { usual = 3.1, panels_2 = 2.5 }, on top of the stack. */
static void read_times(const TuneFields *f, TunedCall *c)
{
    if (!lua_istable(f->L, -1)) {
        wrong(f, c->at, "%s: us must be a table of times, found %s", c->name, spec_describe(f->L, -1));
        return;
    }
    int n;
    const char **names = names_of(f, c->at, &n);
    for (int i = 0; i < n; i++) {
        lua_pushstring(f->L, names[i]);
        const int cut = cut_of(f, arena_format(f->reader->arena, "%s: a time's name", c->name), c->at);
        lua_pop(f->L, 1);
        push_value(f, names[i]);
        const double us = lua_type(f->L, -1) == LUA_TNUMBER ? lua_tonumber(f->L, -1) : 0;
        if (!isfinite(us) || us <= 0)
            wrong(f, c->at, "%s: a time must be a number of microseconds above 0, found %s", c->name, spec_describe(f->L, -1));
        else if (cut >= 0) c->us[cut] = us;
        lua_pop(f->L, 1);
    }
}

/* { take = …, us = … }, on top of the stack. */
static void read_call(const TuneFields *f, TunedCall *c)
{
    if (!lua_istable(f->L, -1)) {
        wrong(f, c->at, "%s must be { take = …, us = … }, found %s", c->name, spec_describe(f->L, -1));
        return;
    }
    int n;
    const char **names = names_of(f, c->at, &n);
    for (int i = 0; i < n; i++) {
        push_value(f, names[i]);
        if (strcmp(names[i], "take") == 0) {
            const int cut = cut_of(f, arena_format(f->reader->arena, "%s: take", c->name), c->at);
            if (cut >= 0) c->take = (LinearCut)cut;
        } else if (strcmp(names[i], "us") == 0) read_times(f, c);
        else wrong(f, c->at, "%s: expected \"take\" or \"us\", found \"%s\"", c->name, names[i]);
        lua_pop(f->L, 1);
    }
}

static void read_calls(const TuneFields *f, Loc at)
{
    Tuning *t = f->tuning;
    int n;
    if (!lua_istable(f->L, -1)) {
        wrong(f, at, "calls must be a table, found %s", spec_describe(f->L, -1));
        return;
    }
    const char **names = names_of(f, at, &n);
    t->calls = arena_array(f->reader->arena, (size_t)n, sizeof *t->calls);
    t->call_count = n;
    for (int i = 0; i < n; i++) {
        t->calls[i] = (TunedCall){ .name = names[i], .at = place_of(f, "calls", names[i]) };
        push_value(f, names[i]);
        read_call(f, &t->calls[i]);
        lua_pop(f->L, 1);
    }
}

/* ---- the whole -------------------------------------------------------------------------------------------- */

static void read_field(const TuneFields *f, const char *name, Loc at)
{
    static const char *const names[] = { "model", "dtype", "identity", "machine", "isa", "threads", "layers", "calls" };
    enum { TEXTS = 5, NAMES = sizeof names / sizeof *names };
    const char **const texts[TEXTS] = { &f->tuning->model, &f->tuning->dtype, &f->tuning->identity, &f->tuning->machine, &f->tuning->isa };
    int i = 0;
    while (i < NAMES && strcmp(names[i], name)) i++;
    if (i < TEXTS) *texts[i] = spec_text(f->L, -1, at, name);
    else if (strcmp(name, "threads") == 0) read_threads(f, at);
    else if (strcmp(name, "layers") == 0) read_layers(f, at);
    else if (strcmp(name, "calls") == 0) read_calls(f, at);
    else {
        const char *near = diag_nearest(name, names, NAMES);
        if (near) wrong(f, at, "unknown field \"%s\"; did you mean \"%s\"?", name, near);
        else wrong(f, at, "unknown field \"%s\"", name);
    }
    if (strcmp(name, "isa") == 0) f->tuning->isa_at = at;
}

/* xf.tune{…} */
static int make_tuning(lua_State *L)
{
    SpecReader *r = spec_reader(L);
    const Loc at = spec_call(L, "tune");
    int n;
    if (!lua_istable(L, 1)) spec_fail(L, at, "xf.tune needs a table, found %s", spec_describe(L, 1));
    spec_no_more(L, at, 1, "xf.tune takes a table");
    if (r->tuning) spec_fail(L, at, "xf.tune is called twice");
    r->tuning = arena_alloc(r->arena, sizeof *r->tuning);
    r->tuning->path = r->path;
    luaL_checkstack(L, 24, "fields");
    lua_settop(L, 1);
    const TuneFields f = { L, r, r->tuning, at };
    const char **names = names_of(&f, at, &n);
    for (int i = 0; i < n; i++) {
        push_value(&f, names[i]);
        read_field(&f, names[i], place_of(&f, NULL, names[i]));
        lua_pop(L, 1);
    }
    lua_pushlightuserdata(L, r->tuning);
    return 1;
}

static int unknown_in_xf(lua_State *L)
{
    const char *word = luaL_checkstring(L, 2);
    spec_fail(L, spec_call(L, word), "unknown xf.%s; a tuning file has only xf.tune", word);
}

static void open_tune(lua_State *L)
{
    lua_newtable(L);
    lua_pushcfunction(L, make_tuning);
    lua_setfield(L, -2, "tune");
    lua_newtable(L);
    lua_pushcfunction(L, unknown_in_xf);
    lua_setfield(L, -2, "__index");
    lua_setmetatable(L, -2);
}

static void take_tuning(lua_State *L, int index)
{
    SpecReader *r = spec_reader(L);
    if (r->tuning && lua_touserdata(L, index) == r->tuning) return;
    diag_error(r->diag, EXIT_BAD_DATA, (Loc){ r->path, 0, 0 }, "a tuning file must return xf.tune{…}; this one returns %s",
               spec_describe(L, index));
}

Tuning *tuning_from_lua(Arena *a, Diag *d, const char *path)
{
    static const LuaKind kind = { "tuning file", open_tune, take_tuning };
    path = arena_text(a, path);
    SpecReader r = { .arena = a, .diag = d, .path = path, .folder = file_folder(a, path), .kind = &kind };
    return spec_run_file(&r) ? r.tuning : NULL;
}
