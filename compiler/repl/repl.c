/* repl.c: the prompt: a Lua state with `xf`, line after line; and the same for a file. */
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

static volatile sig_atomic_t busy;
static bool typed;                              /* a person types: Ctrl-C there is a matter of the line */
static struct sigaction before;                 /* what SIGINT does to every command */
static volatile sig_atomic_t interrupts;        /* since what runs began; those that come at once are one */
static volatile int64_t interrupted_ns;

/* The first asks to stop; the second leaves emitted code that does not hear it; where it is another's code, one more ends the process. */
static void on_interrupt(int signal)
{
    static const char words[] = "\nthis cannot be stopped: Ctrl-C once more ends xformc\n";
    enum { AT_ONCE_NS = 250000000 };
    const int64_t now = clock_now_ns();
    if (!busy && !typed) before.sa_handler(signal);
    if (!busy || (interrupts && now - interrupted_ns < AT_ONCE_NS)) return;
    interrupted_ns = now;
    if (++interrupts > 2) cleanup_end(SIGINT);
    if (repl_interrupt(interrupts > 1)) return;
    if (write(2, words, sizeof words - 1) < 0) return;
}

void repl_forget_interrupts(void) { interrupts = 0; }

/* What was ignored at the start stays ignored. */
static void catch_interrupts(const Repl *r)
{
    struct sigaction action = { .sa_handler = on_interrupt };
    typed = r->terminal;
    sigemptyset(&action.sa_mask);
    if (sigaction(SIGINT, NULL, &before) == 0 && before.sa_handler != SIG_IGN) sigaction(SIGINT, &action, NULL);
}

/* ---- lines ------------------------------------------------------------------------------------------------------- */

/* A script that is interrupted does not go on; it has failed, whatever its chunk made of that. */
static ChunkResult done(Repl *r, ChunkResult result)
{
    busy = 0;
    if (!repl_interrupted() || r->terminal) return result;
    r->quit = true;
    r->told = EXIT_INTERRUPT;
    return CHUNK_FAILED;
}

ChunkResult repl_run(Repl *r, const char *name, const char *text, bool last)
{
    interrupts = 0;
    busy = 1;
    ChunkResult result = repl_chunk(r, name, text, last);
    return done(r, result);
}

ChunkResult repl_run_piece(Repl *r, const ReplWhole *whole, int line, const char *text)
{
    interrupts = 0;
    busy = 1;
    ChunkResult result = repl_piece(r, whole, line, text);
    return done(r, result);
}

void repl_run_command(Repl *r, const char *line)
{
    interrupts = 0;
    busy = 1;
    repl_command(r, line);
    done(r, CHUNK_DONE);
}

bool repl_is_command(const char *line) { return (*line == ':' || *line == '?') && line[1] != ':'; }

/* Lines of one chunk, until it is whole, in an arena of their own. False at the end of the input. */
static bool gather(Repl *r, Lines *lines, Arena *a)
{
    Text chunk = text_new(a);
    ReplScan scan = REPL_SCAN;
    for (bool more = false;; more = true) {
        const char *line = lines_next(lines, more);
        if (line && *line == '\x03') {                      /* Ctrl-C while typing: begin anew */
            puts("^C");
            return true;
        }
        if (!line && !chunk.size) return false;
        if (line && !more && repl_is_command(line)) {
            lines_remember(lines, line);
            repl_run_command(r, line);
            return true;
        }
        if (!line && r->terminal) {                         /* Ctrl-D gives up what was begun, not the session */
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
        if (*text == '=') text++;                           /* as Lua 5.1's prompt had it */
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
        if (r->terminal) background_poll(NULL, true);       /* a person takes longer to type than a child to start */
    if (r->terminal && !r->quit) puts("");
    lines_close(lines);
    return r->terminal ? EXIT_DONE : r->told;
}

/* ---- commands ---------------------------------------------------------------------------------------------------- */

/* The spec of the command line, compiled as `m`. */
static void compile_first(Repl *r)
{
    const char *spec = r->choices->spec;
    if (!spec) return;
    lua_pushstring(r->L, spec);
    lua_setglobal(r->L, "spec_path");
    lua_pushstring(r->L, r->choices->from);
    lua_setglobal(r->L, "spec_weights");
    repl_run(r, "prompt", "spec = xf.spec(spec_path, { weights = spec_weights }); "
             "spec_path, spec_weights = nil, nil; m = xf.compile(spec); return m", true);
}

Exit command_repl(const Choices *c)
{
    Repl *r = open_repl(c);
    r->terminal = isatty(0) && isatty(1);
    catch_interrupts(r);
    if (r->terminal) printf("xformc %s, %s. :help says more.\n", XFORMC_VERSION, LUA_RELEASE);
    compile_first(r);
    const Exit code = talk(r);
    close_repl(r);
    return code;
}

/* A file of Lua with `xf` loaded; the words behind it are its arguments. */
Exit command_lua(const Choices *c)
{
    Repl *r = open_repl(c);
    catch_interrupts(r);
    lua_createtable(r->L, c->word_count, 1);
    for (int i = -1; i < c->word_count; i++) {
        lua_pushstring(r->L, i < 0 ? c->spec : c->words[i]);
        lua_rawseti(r->L, -2, i + 1);
    }
    lua_setglobal(r->L, "arg");
    const Exit code = repl_file(r, c->spec) ? EXIT_DONE : r->told;
    close_repl(r);
    return code;
}
