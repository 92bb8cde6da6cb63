/* repl_chunk.c: run one piece of Lua and print its values. */
#include "repl.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cleanup.h"
#include "clock.h"
#include "jit.h"

/* ---- errors ------------------------------------------------------------------------------------------------------ */

/* Push the message; a position in xformc's own Lua code is replaced by the user's. */
static void push_message(lua_State *L)
{
    static const char own[] = SPEC_OWN_CHUNK ":";
    const char *text = lua_tostring(L, 1);
    lua_Debug info;
    const char *rest = strncmp(text, own, strlen(own)) == 0 ? strstr(text + strlen(own), ": ") : NULL;
    if (!rest) {
        lua_pushvalue(L, 1);
        return;
    }
    for (int level = 0; lua_getstack(L, level, &info); level++) {
        lua_getinfo(L, "Sl", &info);
        if (info.currentline <= 0 || strcmp(info.short_src, SPEC_OWN_CHUNK) == 0) continue;
        lua_pushfstring(L, "%s:%d%s", info.short_src, info.currentline, rest);
        return;
    }
    lua_pushstring(L, rest + 2);
}

/* A message handler: turn the error value into a string; for errors that a spec's reader collected,
 * into their text. */
static int to_message(lua_State *L)
{
    Repl *r = repl_of(L);
    if (spec_is_told(L, 1) && diag_errors(r->reader.diag)) {
        char *text = repl_diag_text(r->reader.diag);
        lua_pushstring(L, text);
        free(text);
        diag_forget(r->reader.diag);
    } else if (lua_type(L, 1) != LUA_TSTRING) {
        if (!luaL_callmeta(L, 1, "__tostring") || lua_type(L, -1) != LUA_TSTRING)
            lua_pushfstring(L, "the chunk raised an error of type %s", luaL_typename(L, 1));
    } else if (r->options->verbose) luaL_traceback(L, L, lua_tostring(L, 1), 1);
    else push_message(L);
    return 1;
}

/* ---- stopping ---------------------------------------------------------------------------------------------------- */

enum { PERIOD = 1000 };                             /* instructions between two checks */
static volatile sig_atomic_t stop_wanted;           /* in this chunk */
volatile sig_atomic_t repl_interrupts;              /* Ctrl-C presses in this chunk or command; quick repeats count once */
static bool interrupted;                            /* a stop was handled, and the code went on */
static int64_t raised_ns;                           /* time of the first error; 0: none yet */

/* A count hook, inherited by coroutines. Code that catches the first error has a moment to clean
 * up; then the error is raised at every instruction, so that no loop of pcalls continues. A
 * standard output that cannot be written to ends a chunk in the same way. */
static void look_up(lua_State *L, lua_Debug *debug)
{
    enum { MOMENT_NS = 50000000 };
    (void)debug;
    if (!stop_wanted && !ferror(stdout)) {
        if (lua_gethookcount(L) != PERIOD) lua_sethook(L, look_up, LUA_MASKCOUNT, PERIOD);
        return;
    }
    const int64_t now = clock_now_ns();
    if (raised_ns && now - raised_ns < MOMENT_NS) return;
    if (raised_ns) lua_sethook(L, look_up, LUA_MASKCOUNT, 1);
    else raised_ns = now;
    luaL_error(L, stop_wanted ? "interrupted" : "cannot write to standard output");
}

bool repl_interrupt(bool again)
{
    jit_stop();
    cleanup_stop();
    stop_wanted = 1;
    return !again || jit_leave();
}

bool repl_stopping(void) { return stop_wanted; }
bool repl_interrupted(void) { return stop_wanted || interrupted; }

static void go_on(void)
{
    jit_go_on();
    cleanup_go_on();
    stop_wanted = 0;
    raised_ns = 0;
}

void repl_heard(lua_State *L)
{
    interrupted = true;
    repl_interrupts = 0;
    go_on();
    lua_sethook(L, look_up, LUA_MASKCOUNT, PERIOD);
}

/* ---- printing ---------------------------------------------------------------------------------------------------- */

enum { MOST_SHOWN = 20, DEEPEST = 3 };

static void print_at(lua_State *L, int index, int depth);

static void print_table(lua_State *L, int index, int depth)
{
    lua_Integer listed = luaL_len(L, index);
    int shown = 0;
    fputs("{", stdout);
    for (lua_Integer i = 1; i <= listed && shown < MOST_SHOWN; i++, shown++) {
        fputs(shown ? ", " : " ", stdout);
        lua_geti(L, index, i);
        print_at(L, -1, depth + 1);
        lua_pop(L, 1);
    }
    bool more = listed > shown;
    for (lua_pushnil(L); lua_next(L, index); lua_pop(L, 1)) {
        if (lua_isinteger(L, -2) && lua_tointeger(L, -2) >= 1 && lua_tointeger(L, -2) <= listed) continue;
        if ((more = shown == MOST_SHOWN)) {
            lua_pop(L, 2);
            break;
        }
        fputs(shown++ ? ", " : " ", stdout);
        if (lua_type(L, -2) == LUA_TSTRING) fputs(lua_tostring(L, -2), stdout);
        else {
            fputs("[", stdout);
            print_at(L, -2, depth + 1);
            fputs("]", stdout);
        }
        fputs(" = ", stdout);
        print_at(L, -1, depth + 1);
    }
    fputs(more ? ", … }" : shown ? " }" : "}", stdout);
}

static void print_at(lua_State *L, int index, int depth)
{
    index = lua_absindex(L, index);
    const bool own = luaL_getmetafield(L, index, "__tostring") != LUA_TNIL;
    if (own) lua_pop(L, 1);
    if (lua_type(L, index) == LUA_TTABLE && !own && depth < DEEPEST) {
        print_table(L, index, depth);
        return;
    }
    if (lua_type(L, index) == LUA_TSTRING && depth) printf("\"%s\"", lua_tostring(L, index));
    else {
        size_t size;
        const char *text = luaL_tolstring(L, index, &size);
        fwrite(text, 1, size, stdout);
        lua_pop(L, 1);
    }
}

/* Print the value at `index` for a person. */
static void print_value(lua_State *L, int index)
{
    print_at(L, index, 0);
    fputs("\n", stdout);
}

static const char shown_key;                        /* registry key of the value shown already */

void repl_set_shown(lua_State *L, int index)
{
    lua_pushvalue(L, index);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &shown_key);
}

/* Runs in a protected call: print the values of the chunk, except one that was shown already. */
static int print_values(lua_State *L)
{
    const int n = lua_gettop(L);
    const bool any = lua_rawgetp(L, LUA_REGISTRYINDEX, &shown_key) != LUA_TNIL;
    for (int i = 1; i <= n; i++)
        if (!any || !lua_rawequal(L, i, n + 1)) print_value(L, i);
    return 0;
}

/* ---- running ----------------------------------------------------------------------------------------------------- */

/* A piece of Lua to load: `text`, which begins at this line of `name`. */
typedef struct Chunk { const char *name, *text; int line; } Chunk;
typedef struct Reading { const char *parts[2]; int lines; } Reading;

/* Feed empty lines before the text, so that Lua counts lines as the file does. */
static const char *read_part(lua_State *L, void *user, size_t *size)
{
    enum { BLOCK = 512 };
    static char empty[BLOCK];
    Reading *r = user;
    (void)L;
    if (r->parts[0]) {
        const char *part = r->parts[0];
        r->parts[0] = NULL;
        *size = strlen(part);
        return part;
    }
    if (r->lines > 0) {
        *size = (size_t)(r->lines < BLOCK ? r->lines : BLOCK);
        r->lines -= (int)*size;
        return memset(empty, '\n', BLOCK);
    }
    const char *part = r->parts[1];
    r->parts[1] = NULL;
    *size = part ? strlen(part) : 0;
    return part;
}

static int load_as(lua_State *L, const Chunk *c, const char *name, const char *before, int lines)
{
    Reading reading = { { before, c->text }, lines };
    return lua_load(L, read_part, &reading, name, "t");
}

/* Load the chunk as an expression if it is one, else as statements. The test for an expression
 * omits the empty lines, so that they are read once. */
static int load(lua_State *L, const Chunk *c)
{
    const char *name = lua_pushfstring(L, "=%s", c->name);
    const int lines = c->line - 1;
    int status = load_as(L, c, name, "return ", 0);
    if (status != LUA_OK || lines > 0) {
        lua_pop(L, 1);
        status = load_as(L, c, name, status == LUA_OK ? "return " : NULL, lines);
    }
    lua_remove(L, -2);
    return status;
}

static bool is_incomplete(lua_State *L, int status)
{
    static const char mark[] = "<eof>";
    size_t size;
    if (status != LUA_ERRSYNTAX) return false;
    const char *message = lua_tolstring(L, -1, &size);
    return size >= strlen(mark) && strcmp(message + size - strlen(mark), mark) == 0;
}

ReplWhole repl_whole(Repl *r, const char *name, const char *text)
{
    Arena *a = r->reader.arena;
    const char *kept = arena_text(a, text);
    ReplWhole whole = { arena_text(a, name), diag_new(a), lexer_new(a, kept, strlen(kept)) };
    diag_source(whole.diag, name, kept);
    return whole;
}

/* Give a new chunk the limits of a spec, and the source for messages. */
static void prepare(Repl *r, const ReplWhole *whole)
{
    SpecReader *s = &r->reader;
    diag_forget(whole->diag);
    s->diag = whole->diag;
    s->path = whole->name;
    s->folder = ".";
    s->lexer = whole->lexer;
    s->specs = s->calls = 0;
    s->numbers = 0;
    s->sandbox = (Sandbox){ .used = 0 };
}

/* Report the error at the top of the stack. A failure to write output is reported at exit. */
static void tell(Repl *r)
{
    size_t size;
    const char *text = luaL_tolstring(r->L, -1, &size);
    fflush(stdout);
    if (repl_interrupted()) r->code = EXIT_INTERRUPT;
    else if (ferror(stdout)) r->code = EXIT_DONE;
    if (!ferror(stdout)) fprintf(stderr, "%s%s\n", strstr(text, "error: ") ? "" : "error: ", text);
    r->exit_code = r->code;
    lua_pop(r->L, 2);
}

/* Run the chunk at the top of the stack, above the message handler, and print its values. status:
 * of loading; after an error the message is at the top instead. argument: passed as `...`, or
 * NULL. */
static ChunkResult run(Repl *r, int status, const char *argument)
{
    lua_State *L = r->L;
    if (status == LUA_OK && argument) lua_pushstring(L, argument);
    if (status == LUA_OK) status = lua_pcall(L, argument != NULL, LUA_MULTRET, 1);
    if (status == LUA_OK && diag_errors(r->reader.diag)) {
        char *message = repl_diag_text(r->reader.diag);
        lua_pushstring(L, message);
        free(message);
        status = LUA_ERRRUN;
    }
    if (status == LUA_OK && lua_gettop(L) > 1) {
        lua_pushvalue(L, 2);
        lua_setglobal(L, "_");
        lua_pushcfunction(L, print_values);
        lua_insert(L, 2);
        status = lua_pcall(L, lua_gettop(L) - 2, 0, 1);
    }
    lua_sethook(L, NULL, 0, 0);
    if (status != LUA_OK) tell(r);
    lua_settop(L, 0);
    fflush(stdout);
    return status == LUA_OK ? CHUNK_DONE : CHUNK_FAILED;
}

/* whole: the file that the chunk is a part of; NULL if it is not part of one. */
static ChunkResult load_and_run(Repl *r, const Chunk *c, const ReplWhole *whole, const char *argument, bool last)
{
    lua_State *L = r->L;
    r->code = EXIT_BAD_DATA;
    go_on();
    interrupted = false;
    lua_pushnil(L);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &shown_key);
    lua_settop(L, 0);
    lua_pushcfunction(L, to_message);
    const int status = load(L, c);
    if (!last && is_incomplete(L, status)) {
        lua_settop(L, 0);
        return CHUNK_INCOMPLETE;
    }
    const ReplWhole own = whole ? *whole : repl_whole(r, c->name, c->text);
    prepare(r, &own);
    lua_sethook(L, look_up, LUA_MASKCOUNT, PERIOD);
    return run(r, status, argument);
}

ChunkResult repl_chunk(Repl *r, const char *name, const char *text, bool last)
{
    return load_and_run(r, &(Chunk){ name, text, 1 }, NULL, NULL, last);
}

ChunkResult repl_chunk_with(Repl *r, const char *name, const char *text, const char *argument)
{
    return load_and_run(r, &(Chunk){ name, text, 1 }, NULL, argument, true);
}

ChunkResult repl_piece(Repl *r, const ReplWhole *whole, int line, const char *text)
{
    return load_and_run(r, &(Chunk){ whole->name, text, line }, whole, NULL, true);
}

ChunkResult repl_chunk_check(Repl *r, const char *text)
{
    lua_State *L = r->L;
    lua_settop(L, 0);
    const int status = load(L, &(Chunk){ "file", text, 1 });
    const bool incomplete = is_incomplete(L, status);
    lua_settop(L, 0);
    return status == LUA_OK ? CHUNK_DONE : incomplete ? CHUNK_INCOMPLETE : CHUNK_FAILED;
}

/* Other failures, such as a lack of memory, are reported when the text runs. */
bool repl_is_lua(Repl *r, const char *text)
{
    lua_State *L = r->L;
    lua_settop(L, 0);
    const int status = load(L, &(Chunk){ "file", text, 1 });
    lua_settop(L, 0);
    return status != LUA_ERRSYNTAX;
}
