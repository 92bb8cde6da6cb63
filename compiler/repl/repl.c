/* repl.c: the prompt: run chunks and commands as they are read, in a Lua state with `xf`. A file
 * runs in such a state, too. */
#include "repl.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cleanup.h"
#include "clock.h"
#include "emit_kind.h"
#include "repl_command.h"

/* ---- the state --------------------------------------------------------------------------------------------------- */

static Repl *open_repl(const ReplOptions *o)
{
    Repl *r = calloc(1, sizeof *r);
    lua_State *L = luaL_newstate();
    if (!r || !L) no_memory("a Lua state");
    int n;
    r->reader.arena = arena_new();
    r->reader.diag = diag_new(r->reader.arena);
    r->reader.path = "prompt";
    r->reader.folder = ".";
    r->reader.ops = graph_builder_ops(&n);
    r->reader.op_count = n;
    r->reader.shape_of = graph_value_shape;     /* typed code may use xf.op */
    r->reader.lexer = lexer_new(r->reader.arena, arena_text(r->reader.arena, ""), 0);
    r->typed = text_new(r->reader.arena);
    r->L = L;
    r->options = o;
    r->command = repl_command;
    *(SpecReader **)lua_getextraspace(L) = &r->reader;
    luaL_openlibs(L);
    repl_open_tensor(L);
    repl_open_model(L);
    repl_open_xf(L);
    repl_open_prelude(L);
    return r;
}

static void close_repl(Repl *r)
{
    lua_close(r->L);
    arena_free(r->reader.arena);
    free(r);
}

/* ---- lines ------------------------------------------------------------------------------------------------------- */

/* Read the lines of one chunk or command, in `a`, and run it. False at the end of the input. */
static bool gather(Repl *r, Lines *lines, Arena *a)
{
    Text chunk = text_new(a);
    ReplScan scan = REPL_SCAN;
    for (bool more = false;; more = true) {
        const char *line = lines_next(lines, more);
        if (line && *line == '\x03') {                      /* Ctrl-C while typing: start over */
            puts("^C");
            return true;
        }
        if (!line && !chunk.size) return false;
        if (line && !more && repl_is_command(line)) {
            lines_remember(lines, line);
            repl_run_command(r, line);
            return true;
        }
        if (!line && r->terminal) {    /* Ctrl-D drops the unfinished chunk, but does not end the session */
            puts("");
            return true;
        }
        if (line) {
            if (more) text_add(&chunk, "\n");
            text_add(&chunk, line);
            repl_scan(&scan, line);
            if (!repl_scan_due(&scan, chunk.size)) continue;
        }
        const char *text = chunk.data;
        if (*text == '=') text++;                           /* as at the prompt of Lua 5.1 */
        if (!text[strspn(text, " \t\n")]) return line != NULL;
        ChunkResult result = repl_run(r, "prompt", text, !line);
        if (result == CHUNK_INCOMPLETE) continue;
        lines_remember(lines, chunk.data);
        if (result == CHUNK_DONE) text_printf(&r->typed, "%s\n", text);
        return line != NULL;
    }
}

static bool take_chunk(Repl *r, Lines *lines)
{
    Arena *a = arena_new();
    const bool more = gather(r, lines, a);
    arena_free(a);
    return more;
}

static Exit talk(Repl *r)
{
    Lines *lines = lines_open(r);
    while (!r->quit && !ferror(stdout) && take_chunk(r, lines))
        if (r->terminal) background_poll(NULL, true);       /* compile while the user types */
    if (r->terminal && !r->quit) puts("");
    lines_close(lines);
    return r->terminal ? EXIT_DONE : r->exit_code;
}

/* ---- commands ---------------------------------------------------------------------------------------------------- */

/* If the command line names a spec, read it as `spec` and compile it as `m`. */
static void compile_first(Repl *r)
{
    const char *spec = r->options->spec;
    if (!spec) return;
    lua_pushstring(r->L, spec);
    lua_setglobal(r->L, "spec_path");
    lua_pushstring(r->L, r->options->from);
    lua_setglobal(r->L, "spec_weights");
    repl_run(r, "prompt", "spec = xf.spec(spec_path, { weights = spec_weights }); "
             "spec_path, spec_weights = nil, nil; m = xf.compile(spec); return m", true);
}

Exit repl_prompt(const ReplOptions *o)
{
    Repl *r = open_repl(o);
    r->terminal = isatty(0) && isatty(1);
    repl_catch_interrupts(r);
    if (r->terminal) printf("xformc %s, %s. :help lists the commands.\n", XFORMC_VERSION, LUA_RELEASE);
    compile_first(r);
    const Exit code = talk(r);
    close_repl(r);
    return code;
}

/* Run a Lua file with `xf` loaded; the words after it are in `arg`. */
Exit repl_script(const ReplOptions *o)
{
    Repl *r = open_repl(o);
    repl_catch_interrupts(r);
    lua_createtable(r->L, o->word_count, 1);
    for (int i = -1; i < o->word_count; i++) {
        lua_pushstring(r->L, i < 0 ? o->spec : o->words[i]);
        lua_rawseti(r->L, -2, i + 1);
    }
    lua_setglobal(r->L, "arg");
    const Exit code = repl_file(r, o->spec) ? EXIT_DONE : r->exit_code;
    close_repl(r);
    return code;
}
