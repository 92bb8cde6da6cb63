/* spec_lua.c: run a spec, a Lua file that returns xf.model{…} or xf.graph(…), and take its Draft;
 * also run Lua files of other kinds. The chunk runs in a sandbox. The fields and calls of every
 * model and graph that a spec makes are checked, but only the one that it returns is built. */
#include "spec_lua.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "draft_lua.h"
#include "text.h"

enum { MAX_SPEC_BYTES = 4 << 20 };

static const char chunk_name[] = "=spec";
static const char chunk_prefix[] = "spec:";         /* before the line in Lua's own messages */

/* ---- spec values ----------------------------------------------------------------------------------------- */

/* xf.model{…} */
static int make_model(lua_State *L)
{
    Loc at = spec_call(L, "model");
    if (!lua_istable(L, 1)) spec_fail(L, at, "xf.model needs a table of fields, found %s", spec_describe(L, 1));
    spec_no_more(L, at, 1, "xf.model takes a table of fields");
    Draft *d = spec_new_draft(L, at);
    spec_read_fields(L, 1, d, at, "model");
    spec_push(L, d);
    return 1;
}

/* spec{…}: a copy with changes. */
static int change_spec(lua_State *L)
{
    Loc at = spec_call(L, "");
    const Draft *from = spec_at(L, 1);
    const Choice *weights = draft_choice(from, SIDE_BOTH, FIELD_ID_weights);
    if (!lua_istable(L, 2)) spec_fail(L, at, "a spec must be called with a table of changes, found %s", spec_describe(L, 2));
    lua_remove(L, 1);
    spec_no_more(L, at, 1, "a spec takes a table of changes");
    Draft *d = spec_new_draft(L, at);
    *d = *from;
    d->at = at;
    /* the change overrides --from */
    if (lua_getfield(L, 1, "weights") != LUA_TNIL) d->weights = NULL;
    lua_pop(L, 1);
    if (weights && strcmp(weights->values->text, "random")) d->changed_from = weights->values->text;
    spec_read_fields(L, 1, d, at, NULL);
    spec_push(L, d);
    return 1;
}

static int unknown_in_xf(lua_State *L)
{
    static const char *const words[] = { "model", "graph", "op" };
    const char *word = luaL_checkstring(L, 2), *near = diag_nearest(word, words, 3);
    Loc at = spec_call(L, word);
    if (strcmp(word, "tune") == 0)
        spec_fail(L, at, "xf.tune belongs in a tuning file, which is passed with --tune; a spec returns "
                  "xf.model{…} or xf.graph(…)");
    spec_fail(L, at, "unknown xf.%s; expected xf.model, xf.graph or xf.op%s%s%s", word, near ? "; did you mean xf." : "",
              near ? near : "", near ? "?" : "");
}

void spec_open(lua_State *L)
{
    luaL_newmetatable(L, SPEC_TYPE);
    lua_pushcfunction(L, change_spec);
    lua_setfield(L, -2, "__call");
    lua_pop(L, 1);
    lua_newtable(L);
    lua_pushcfunction(L, make_model);
    lua_setfield(L, -2, "model");
    lua_pushcfunction(L, spec_graph);
    lua_setfield(L, -2, "graph");
    lua_pushcfunction(L, spec_op);
    lua_setfield(L, -2, "op");
    lua_newtable(L);
    lua_pushcfunction(L, unknown_in_xf);
    lua_setfield(L, -2, "__index");
    lua_setmetatable(L, -2);
}

/* ---- errors of Lua --------------------------------------------------------------------------------------- */

/* The message handler: record the line before the stack is unwound. */
static int note_place(lua_State *L)
{
    SpecReader *r = spec_reader(L);
    r->raised = spec_call(L, "");
    return 1;
}

/* The column of the token that Lua quotes last in a message, as in near 'end' or (global 'os');
 * else that of the line's first token. */
static int column_of(const SpecReader *r, int line, const char *message)
{
    const char *close = strrchr(message, '\''), *open = close;
    while (open && open > message && *--open != '\'') continue;
    int column = open && open < close ? lexer_token(r->lexer, line, open + 1, (size_t)(close - open - 1)) : 0;
    return column ? column : lexer_word(r->lexer, line, "");
}

/* Take the line off the front of Lua's own messages; others use the recorded place. */
static Loc place_of(SpecReader *r, const char **message)
{
    Loc at = r->raised;
    if (strncmp(*message, chunk_prefix, strlen(chunk_prefix))) return at;
    char *end;
    long line = strtol(*message + strlen(chunk_prefix), &end, 10);
    if (line < 1 || line > INT32_MAX || strncmp(end, ": ", 2)) return at;
    *message = end + 2;
    return (Loc){ r->path, (int)line, column_of(r, (int)line, *message) };
}

static void tell_lua_error(lua_State *L)
{
    SpecReader *r = spec_reader(L);
    const char *message = lua_type(L, -1) == LUA_TSTRING ? lua_tostring(L, -1) : NULL;
    if (spec_is_told(L, -1)) return;
    if (!message) message = arena_format(r->arena, "the %s raised an error that is not a string: %s", r->kind->name, spec_describe(L, -1));
    Loc at = place_of(r, &message);
    if (!at.file) at.file = r->path;
    diag_error(r->diag, EXIT_BAD_DATA, at, "%s", message);
    if (strstr(message, "(global '"))
        diag_note(r->diag, at, "a %s's globals are xf, math, string, table, ipairs, pairs, type, tostring, tonumber, select, "
                  "error, assert and pcall", r->kind->name);
}

static bool tell_stop(SpecReader *r)
{
    const Sandbox *s = &r->sandbox;
    const char *name = r->kind->name;
    Loc at = s->at.file ? s->at : (Loc){ r->path, 0, 0 };
    switch (s->stop) {
    case STOP_NOT: return false;
    case STOP_INSTRUCTIONS:
        diag_error(r->diag, EXIT_BAD_DATA, at, "the %s ran more than %d instructions", name, MAX_INSTRUCTIONS);
        break;
    case STOP_TIME: diag_error(r->diag, EXIT_BAD_DATA, at, "the %s ran for more than %d seconds", name, sandbox_seconds); break;
    case STOP_MEMORY: diag_error(r->diag, EXIT_BAD_DATA, at, "the %s allocated more than %d MB in all", name, MAX_ALLOCATED_MB); break;
    }
    return true;
}

static void tell_status(lua_State *L, int status)
{
    SpecReader *r = spec_reader(L);
    if (tell_stop(r)) return;
    Loc whole = { r->path, 0, 0 };
    if (status == LUA_ERRMEM)
        diag_error(r->diag, EXIT_BAD_DATA, whole, "the %s needs more than %d MB of memory, or a string longer than %d MB", r->kind->name,
                   MAX_MEMORY >> 20, MAX_STRING >> 20);
    else if (status != LUA_OK)
        tell_lua_error(L);
}

/* ---- running --------------------------------------------------------------------------------------------- */

typedef struct Chunk { const char *text; size_t size; } Chunk;

static void take_result(lua_State *L, int index)
{
    SpecReader *r = spec_reader(L);
    const Draft *d = spec_at(L, index);
    if (d) {
        r->result = arena_alloc(r->arena, sizeof *d);
        *r->result = *d;
        return;
    }
    diag_error(r->diag, EXIT_BAD_DATA, (Loc){ r->path, 0, 0 }, "a spec must return xf.model{…} or xf.graph(…); this one returns %s",
               spec_describe(L, index));
}

/* Pass the source in pieces, each charged to the sandbox: the parser may search long lists of
 * names, and calls no hook while it does. */
static const char *next_piece(lua_State *L, void *user, size_t *size)
{
    enum { PIECE = 512 };
    Chunk *c = user;
    const char *piece = c->text;
    *size = c->size < PIECE ? c->size : PIECE;
    c->text += *size;
    c->size -= *size;
    sandbox_charge_bytes(L, *size);
    return *size ? piece : NULL;
}

/* Runs in a protected call. Arguments: the table of allowed functions, and the Chunk. Passes the
 * chunk's first result to kind->take. */
static int run_chunk(lua_State *L)
{
    Chunk *chunk = lua_touserdata(L, 2);
    lua_settop(L, 1);
    spec_reader(L)->kind->open(L);
    lua_setfield(L, 1, "xf");
    if (lua_load(L, next_piece, chunk, chunk_name, "t") != LUA_OK) return lua_error(L);
    lua_pushvalue(L, 1);
    if (!lua_setupvalue(L, -2, 1)) lua_pop(L, 1);
    lua_call(L, 0, 1);
    spec_reader(L)->kind->take(L, -1);
    return 0;
}

static void run(SpecReader *r, Chunk chunk)
{
    lua_State *L = sandbox_new(r);
    if (!L) no_memory("a Lua state");
    lua_pushcfunction(L, note_place);
    lua_insert(L, 1);
    lua_pushcfunction(L, run_chunk);
    lua_insert(L, 2);
    lua_pushlightuserdata(L, &chunk);
    tell_status(L, lua_pcall(L, 2, 0, 1));
    lua_close(L);
}

/* ---- the file -------------------------------------------------------------------------------------------- */

static bool check_text(SpecReader *r, const char *text, size_t size)
{
    Loc at = { r->path, 1, 1 };
    if (size && *text == LUA_SIGNATURE[0]) {
        diag_error(r->diag, EXIT_BAD_DATA, (Loc){ r->path, 0, 0 }, "this is a compiled Lua chunk; a %s must be text", r->kind->name);
        return false;
    }
    for (size_t i = 0; i < size;) {
        int32_t c;
        int n = utf8_next(text + i, size - i, &c);
        if (!n || !c) {
            if (n) diag_error(r->diag, EXIT_BAD_DATA, at, "a zero byte; a %s must be text", r->kind->name);
            else diag_error(r->diag, EXIT_BAD_DATA, at, "not UTF-8");
            return false;
        }
        i += (size_t)n;
        at.column += n;
        if (c == '\n') at = (Loc){ r->path, at.line + 1, 1 };
    }
    return true;
}

/* Blank out a byte order mark, which is not Lua, and turn a #! line into a comment; columns do not
 * change. */
static void blank_start(char *text, size_t size)
{
    static const char mark[] = "\xEF\xBB\xBF";
    if (size >= 3 && !memcmp(text, mark, 3)) memset(text, ' ', 3);
    if (size >= 2 && !memcmp(text, "#!", 2)) memcpy(text, "--", 2);
}

bool spec_run_file(SpecReader *r)
{
    size_t size;
    const int errors = diag_errors(r->diag);
    char *text = file_read(r->arena, r->diag, (Loc){ 0 }, r->path, MAX_SPEC_BYTES, &size);
    if (!text || !check_text(r, text, size)) return false;
    diag_source(r->diag, r->path, text);
    blank_start(text, size);
    r->lexer = lexer_new(r->arena, text, size);
    run(r, (Chunk){ text, size });
    return diag_errors(r->diag) == errors;
}

Draft *draft_from_lua(Arena *a, Diag *d, const char *path, const OpName *ops, int n, GraphShape *shape_of)
{
    static const LuaKind spec = { "spec", spec_open, take_result };
    path = arena_text(a, path);
    SpecReader r = { .arena = a, .diag = d, .path = path, .folder = file_folder(a, path), .ops = ops, .op_count = n,
                     .shape_of = shape_of, .kind = &spec };
    return spec_run_file(&r) ? r.result : NULL;
}
