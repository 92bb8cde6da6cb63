/* repl.c: the prompt: a Lua state with `xf`, line after line; and the same for a file. */
#include "repl.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "command.h"
#include "emit_kind.h"

/* ---- the state --------------------------------------------------------------------------------------------------- */

static Repl *open_repl(const Choices *c)
{
    Repl *r = calloc(1, sizeof *r);
    lua_State *L = luaL_newstate();
    if (!r || !L) die("no memory for a Lua state");
    int n;
    r->reader.arena = arena_new();
    r->reader.diag = diag_new(r->reader.arena);
    r->reader.path = "prompt";
    r->reader.folder = ".";
    r->reader.ops = graph_builder_ops(&n);
    r->reader.op_count = n;
    r->reader.shape_of = graph_value_shape;     /* what is typed is the user's own business */
    r->reader.lexer = lexer_new(r->reader.arena, arena_text(r->reader.arena, ""), 0);
    r->typed = text_new(r->reader.arena);
    r->L = L;
    r->choices = c;
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

/* ---- Ctrl-C ------------------------------------------------------------------------------------------------------ */

static Repl *running;               /* for the signal handler */
static volatile sig_atomic_t busy;

static volatile sig_atomic_t interrupts;        /* since what runs began; those that come at once are one */
static volatile int64_t interrupted_ns;

/* The first asks to stop; the second leaves emitted code that does not hear it; where it is another's code, one more ends the process. */
static void on_interrupt(int signal)
{
    static const char words[] = "\nthis cannot be stopped: Ctrl-C once more ends xformc\n";
    enum { AT_ONCE_NS = 250000000 };
    const int64_t now = clock_now_ns();
    (void)signal;
    if (!busy || (interrupts && now - interrupted_ns < AT_ONCE_NS)) return;
    interrupted_ns = now;
    if (++interrupts > 2) _exit(EXIT_INTERRUPT);
    if (repl_interrupt(running, interrupts > 1)) return;
    if (write(2, words, sizeof words - 1) < 0) return;
}

static void catch_interrupts(Repl *r)
{
    struct sigaction action = { .sa_handler = on_interrupt };
    running = r;
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
}

/* ---- lines ------------------------------------------------------------------------------------------------------- */

static ChunkResult run(Repl *r, const char *name, const char *text, bool last)
{
    interrupts = 0;
    busy = 1;
    ChunkResult result = repl_chunk(r, name, text, last);
    busy = 0;
    return result;
}

/* Lines of one chunk, until it is whole. False at the end of the input. */
static bool take_chunk(Repl *r, Lines *lines, Exit *code)
{
    Text chunk = text_new(r->reader.arena);
    for (bool more = false;; more = true) {
        const char *line = lines_next(lines, more);
        if (line && *line == '\x03') {                      /* Ctrl-C while typing: begin anew */
            puts("^C");
            return true;
        }
        if (!line && !chunk.size) return false;
        if (line && !more && (*line == ':' || *line == '?') && line[1] != ':') {
            lines_remember(lines, line);
            interrupts = 0;
            busy = 1;
            repl_command(r, line);
            busy = 0;
            return true;
        }
        if (line) {
            if (more) text_add(&chunk, "\n");
            text_add(&chunk, line);
        }
        const char *text = chunk.data;
        if (!more && *text == '=') text++;                  /* as Lua 5.1's prompt had it */
        if (!text[strspn(text, " \t\n")]) return line != NULL;
        ChunkResult result = run(r, "prompt", text, !line);
        if (result == CHUNK_INCOMPLETE) continue;
        lines_remember(lines, chunk.data);
        if (result == CHUNK_DONE) text_printf(&r->typed, "%s\n", text);
        else *code = r->code;
        return line != NULL;
    }
}

static Exit talk(Repl *r)
{
    Exit code = EXIT_DONE;
    Lines *lines = lines_open(r);
    while (!r->quit && take_chunk(r, lines, &code))
        if (r->terminal) background_poll(NULL, true);       /* a person takes longer to type than a child to start */
    if (r->terminal && !r->quit) puts("");
    lines_close(lines);
    return r->terminal ? EXIT_DONE : code;
}

/* ---- commands ---------------------------------------------------------------------------------------------------- */

/* The spec of the command line, compiled as `m`. */
static bool compile_first(Repl *r)
{
    const char *spec = r->choices->spec;
    if (!spec) return true;
    lua_pushstring(r->L, spec);
    lua_setglobal(r->L, "spec_path");
    return run(r, "prompt", "spec = xf.spec(spec_path); spec_path = nil; m = xf.compile(spec); return m", true) == CHUNK_DONE;
}

Exit command_repl(const Choices *c)
{
    Repl *r = open_repl(c);
    r->terminal = isatty(0) && isatty(1);
    catch_interrupts(r);
    if (r->terminal) printf("xformc %s, %s. :help says more.\n", XFORMC_VERSION, LUA_RELEASE);
    const Exit first = compile_first(r) ? EXIT_DONE : r->code, rest = talk(r), code = rest == EXIT_DONE && !r->terminal ? first : rest;
    close_repl(r);
    return code;
}

/* A file of Lua with `xf` loaded; the words behind it are its arguments. */
Exit command_lua(const Choices *c)
{
    Repl *r = open_repl(c);
    size_t size;
    catch_interrupts(r);
    char *text = file_read(r->reader.arena, r->reader.diag, (Loc){ 0 }, c->spec, 16 << 20, &size);
    Exit code = diag_exit(r->reader.diag);
    if (!text) diag_print(r->reader.diag, stderr, isatty(2));
    else {
        if (size > 2 && memcmp(text, "#!", 2) == 0) memcpy(text, "--", 2);
        lua_createtable(r->L, c->word_count, 1);
        for (int i = -1; i < c->word_count; i++) {
            lua_pushstring(r->L, i < 0 ? c->spec : c->words[i]);
            lua_rawseti(r->L, -2, i + 1);
        }
        lua_setglobal(r->L, "arg");
        if (run(r, c->spec, text, true) != CHUNK_DONE) code = r->code;
    }
    close_repl(r);
    return code;
}
