/* repl_commands.c: the commands, such as :code and ?x. Commands on a model use the latest
 * compiled model that is still open. */
#include "repl.h"

#include <string.h>

#include "emit.h"
#include "file.h"
#include "info.h"
#include "jit.h"
#include "pack.h"
#include "svg.h"

typedef void Command(Repl *r, const char *words);
typedef struct CommandText { const char *name, *arguments, *doc; Command *run; } CommandText;

/* ---- running Lua ------------------------------------------------------------------------------------------------- */

/* Run a piece of Lua: `format` with `words`, which are Lua too. */
static void lua_line(Repl *r, const char *format, const char *words)
{
    Arena *a = arena_new();
    repl_chunk(r, "command", arena_format(a, format, words), true);
    arena_free(a);
}

static ReplModel *model_or_tell(Repl *r)
{
    ReplModel *m = repl_last_model(r->L);
    if (!m) repl_refuse(r, EXIT_BAD_DATA, "no model is compiled; compile one, as in m = xf.compile(\"specs/dates.lua\")");
    return m;
}

/* ---- commands ---------------------------------------------------------------------------------------------------- */

static void quit(Repl *r, const char *words)
{
    (void)words;
    r->quit = true;
}

static void timed(Repl *r, const char *words)
{
    if (!*words) {
        if (model_or_tell(r)) lua_line(r, "local m = xf.last(); m:time()%s", "");
        return;
    }
    lua_line(r, "local s = [==[%s]==] local f, e = load('return ' .. s, '=command', 't') if not f then f, e = load(s, '=command', 't') end "
             "if not f then error(e, 0) end "
             "local t = os.clock() local r = table.pack(f()) "
             "print(string.format('%%.3f ms', (os.clock() - t) * 1e3)) return table.unpack(r, 1, r.n)", words);
}

static void benched(Repl *r, const char *words)
{
    if (model_or_tell(r)) lua_line(r, "xf.last():bench(%s)", words);
}

static void looked(Repl *r, const char *words)
{
    if (!model_or_tell(r)) return;
    if (*words && *words != '"') repl_chunk_with(r, "command", "xf.last():attention(...)", words);
    else lua_line(r, "xf.last():attention(%s)", words);
}

/* The text of an emitted file of the model, named by the format `suffix`; NULL if there is none. */
static const char *text_of(Arena *a, const ReplModel *m, const char *suffix)
{
    const Plan *p = m->engine->plan;
    const Pack pack = pack_layout(a, p);
    int n;
    const EmittedFile *files = emit_files(a, p, pack.identity, pack.head_bytes, (EmitForm){ .weights = WEIGHTS_FILE }, &n);
    const char *name = arena_format(a, suffix, m->session->model->name);
    for (int i = 0; i < n; i++)
        if (strcmp(files[i].name, name) == 0) return files[i].text.data;
    return NULL;
}

/* The start of the comment that ends right before `at`; `at` if there is none. */
static const char *comment_before(const char *text, const char *at)
{
    while (at > text + 1) {
        const char *line = at - 1;
        while (line > text && line[-1] != '\n') line--;
        if (strncmp(line, "/*", 2) != 0 && strncmp(line, " *", 2) != 0) break;
        at = line;
    }
    return at;
}

/* Print a function with its comment; false if the text does not define it. */
static bool print_function(const char *text, const char *name)
{
    const char *begin, *end;
    if (!repl_find_function(text, name, &begin, &end)) return false;
    begin = comment_before(text, begin);
    fwrite(begin, 1, (size_t)(end - begin), stdout);
    return true;
}

static void list_functions(ReplModel *m)
{
    const Plan *p = m->engine->plan;
    fputs("functions:", stdout);
    for (int i = 0; i < p->block_count; i++) printf(" %s", p->blocks[i]->block->name);
    puts("");
}

static void code(Repl *r, const char *words)
{
    ReplModel *m = model_or_tell(r);
    if (!m) return;
    if (m->engine->plan->options.target != TARGET_PANELS) {
        repl_refuse(r, EXIT_BAD_DATA, "the generic engine emits no code");
        return;
    }
    if (!*words) {
        list_functions(m);
        return;
    }
    /* The C that runs, with all edits. */
    const Engine *jit = m->kind == ENGINE_JIT ? repl_tier_jit(m) : NULL;
    Arena *a = arena_new();
    const bool printed = jit ? print_function(jit_text(jit), words)
                             : print_function(text_of(a, m, "%s.c"), words) || print_function(text_of(a, m, "%s_kernels.h"), words);
    arena_free(a);
    if (printed) return;
    repl_refuse(r, EXIT_BAD_DATA, "no function '%s'", words);
    list_functions(m);
}

/* Print the assembly of one function, compiled so that it is not inlined into its callers. */
static void assembly(Repl *r, const char *words)
{
    ReplModel *m = model_or_tell(r);
    if (!m) return;
    if (!*words || strspn(words, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") != strlen(words)) {
        if (*words) repl_refuse(r, EXIT_BAD_DATA, "no function '%s'", words);
        list_functions(m);
        return;
    }
    const Exit code = repl_assembly(m, words);
    if (code != EXIT_DONE) r->exit_code = code;
}

/* Write a picture to a file and print its path. Frees the arena. */
static void draw(Repl *r, Arena *a, const char *path, Text picture)
{
    Diag *d = diag_new(a);
    if (file_replace(a, d, path, svg_kind, picture.data, picture.size)) printf("%s\n", path);
    else {
        diag_print(d, stderr, diag_colours(2));
        r->exit_code = diag_exit(d);
    }
    arena_free(a);
}

static void graph(Repl *r, const char *words)
{
    ReplModel *m = model_or_tell(r);
    Arena *a = arena_new();
    if (m) draw(r, a, *words ? words : "graph.svg", info_graph_picture(a, m->session->graph));
    else arena_free(a);
}

static void memory(Repl *r, const char *words)
{
    ReplModel *m = model_or_tell(r);
    Arena *a = arena_new();
    if (m) draw(r, a, *words ? words : "memory.svg", info_memory_picture(a, m->engine->plan));
    else arena_free(a);
}

static void load(Repl *r, const char *words)
{
    if (!*words) repl_refuse(r, EXIT_USAGE, ":load needs a FILE");
    else repl_file(r, words);
}

static void help(Repl *r, const char *words);

static const CommandText commands[] = {
    { ":help",  "[NAME]",      "this list, or help on a name; ?NAME is the same", help },
    { ":time",  "[LUA]",       "the times of compile phases, or the CPU time of Lua code", timed },
    { ":bench", "[SECONDS]",   "the time of a run: minimum, median, histogram", benched },
    { ":code",  "[FUNCTION]",  "the emitted C of one function", code },
    { ":asm",   "[FUNCTION]",  "the assembly of one function, as the C compiler makes it", assembly },
    { ":graph", "[FILE.svg]",  "draw the model", graph },
    { ":mem",   "[FILE.svg]",  "draw the memory plan", memory },
    { ":attn",  "[TEXT]",      "draw which tokens each head attends to", looked },
    { ":load",  "FILE",        "run a Lua file", load },
    { ":save",  "FILE",        "save to a file the Lua code that ran", NULL },
    { ":quit",  "",            "end the session, like Ctrl-D", quit },
};
enum { COMMANDS = sizeof commands / sizeof *commands };

const char *repl_command_name(int i) { return i < COMMANDS ? commands[i].name : NULL; }

/* ---- help -------------------------------------------------------------------------------------------------------- */

static void print_command(const CommandText *c) { printf("  %-7s %-12s %s\n", c->name, c->arguments, c->doc); }

static void help(Repl *r, const char *words)
{
    for (int i = 0; i < COMMANDS; i++)
        if (strcmp(words, commands[i].name) == 0) {
            print_command(&commands[i]);
            return;
        }
    if (*words) {
        repl_help(r, words);
        return;
    }
    puts("Lua, with `xf`: m = xf.compile(\"specs/dates.lua\"), then\n"
         "m(\"3rd of May 2019\"). _ is the last value.\n");
    for (int i = 0; i < COMMANDS; i++) print_command(&commands[i]);
    puts("\n?xf, ?model, ?tensor, ?g and ?spec explain their calls. Tab completes, Ctrl-C stops,\n"
         "Ctrl-R searches the history.");
}

static char *trimmed(Arena *a, const char *s)
{
    s += strspn(s, " \t");
    size_t n = strlen(s);
    while (n && strchr(" \t", s[n - 1])) n--;
    return arena_copy(a, s, n);
}

/* :save: write to a file the chunks that ran without an error. */
static void save(Repl *r, const char *path)
{
    Diag *d = diag_new(r->reader.arena);
    if (!*path) repl_refuse(r, EXIT_USAGE, ":save needs a FILE");
    else if (!file_write(r->reader.arena, d, path, r->typed.data, r->typed.size)) {
        diag_print(d, stderr, diag_colours(2));
        r->exit_code = diag_exit(d);
    }
}

void repl_command(Repl *r, const char *line)
{
    Arena *a = r->reader.arena;
    if (*line == '?') {
        help(r, trimmed(a, line + 1));
        return;
    }
    const size_t n = strcspn(line, " \t");
    const char *name = arena_copy(a, line, n), *words = trimmed(a, line + n), *names[COMMANDS];
    for (int i = 0; i < COMMANDS; i++) {
        names[i] = commands[i].name;
        if (strcmp(name, names[i]) != 0) continue;
        if (commands[i].run) commands[i].run(r, words);
        else save(r, words);
        fflush(stdout);
        return;
    }
    const char *near = diag_nearest(name, names, COMMANDS);
    repl_refuse(r, EXIT_BAD_DATA, "no command %s (:help lists all commands)%s%s%s", name, near ? "; did you mean " : "", near ? near : "",
                near ? "?" : "");
}
