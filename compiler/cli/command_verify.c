/* command_verify.c: compare the engines with each other, with and without taps, or with a
 * reference; also measure accuracy and perplexity. */
#include "command.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command_verify_task.h"
#include "progress.h"
#include "verify.h"

enum { MAX_ENGINES = 5, THREADS = 2, SEED = 1 };

/* Classes of kernels. Engines whose kernels are of the same class, except OTHER_BITS, compute the
 * same bits; different classes add up terms in different orders. */
enum { OTHER_BITS, BITS_OF_LIBRARY, BITS_OF_UNROLLED };

typedef struct Engines { VerifyEngine list[MAX_ENGINES]; int count; } Engines;

/* True if a command is on the PATH. */
static bool on_path(Arena *a, const char *command)
{
    const char *path = getenv("PATH");
    for (const char *s = path ? path : ""; *s;) {
        size_t n = strcspn(s, ":");
        if (n && access(file_join(a, arena_copy(a, s, n), command), X_OK) == 0) return true;
        s += n + (s[n] == ':');
    }
    return false;
}

/* Open an engine with and without taps. For a model that rounds at run time, the generic engine is
 * needed only with taps, where it takes over the values of another engine. */
static bool open_engine(Session *s, Engines *e, EngineKind kind, const CompileOptions *o, int same_bits)
{
    VerifyEngine *v = &e->list[e->count++];
    *v = (VerifyEngine){ .same_bits = same_bits };
    const char *cc = kind == ENGINE_NATIVE ? o->cc : NULL;
    progress_say("opening %s%s%s", engine_name(kind), cc ? " with " : "", cc ? cc : "");
    v->tapped = session_engine_as(s, kind, true, o);
    if (v->tapped && kind == ENGINE_GENERIC && model_rounds(s->model)) return true;
    if (v->tapped) v->plain = session_engine_beside(s, kind, v->tapped, o);
    return v->plain != NULL;
}

/* Open native code compiled by the compiler that --cc names; by default, by those of gcc and clang
 * that are on the PATH, or by cc if neither is. *first is set to the first compiler. Emitted code
 * computes the same bits with every compiler. */
static bool open_native(Session *s, Engines *e, const char **first)
{
    static const char *const compilers[] = { "gcc", "clang" };
    CompileOptions o = s->options;
    const int bits = o.form.kernels == KERNELS_UNROLLED ? BITS_OF_UNROLLED : BITS_OF_LIBRARY;
    *first = o.cc;
    if (*first) return open_engine(s, e, ENGINE_NATIVE, &o, bits);
    for (int i = 0; i < 2; i++) {
        o.cc = compilers[i];
        if (!on_path(s->arena, o.cc)) continue;
        if (!*first) *first = o.cc;
        if (!open_engine(s, e, ENGINE_NATIVE, &o, bits)) return false;
    }
    if (*first) return true;
    o.cc = *first = "cc";
    return open_engine(s, e, ENGINE_NATIVE, &o, bits);
}

/* Open native code with unrolled kernels. */
static bool open_unrolled(Session *s, Engines *e, const char *cc)
{
    CompileOptions o = s->options;
    o.form.kernels = KERNELS_UNROLLED;
    o.cc = cc;
    const bool opened = open_engine(s, e, ENGINE_NATIVE, &o, BITS_OF_UNROLLED);
    if (opened) e->list[e->count - 1].tapped->name = e->list[e->count - 1].plain->name = "native (unrolled)";
    return opened;
}

/* Open all engines; with --engine, that one and the generic one. Native code is also opened with
 * unrolled kernels, unless the model is narrow or --kernels already asks for them. */
static bool open_engines(Session *s, Engines *e, EngineKind only)
{
    const char *cc;
    if ((!only || only == ENGINE_JIT) && !open_engine(s, e, ENGINE_JIT, &s->options, BITS_OF_LIBRARY)) return false;
    if (!only || only == ENGINE_NATIVE) {
        if (!open_native(s, e, &cc)) return false;
        if (s->options.form.kernels == KERNELS_LIBRARY && !model_is_narrow(s->model) && !open_unrolled(s, e, cc)) return false;
    }
    return open_engine(s, e, ENGINE_GENERIC, &s->options, OTHER_BITS);
}

/* The number of threads to compare with one thread: the number given if it is above one, else two;
 * at most as many as a state has room for. */
static int threads_of(const CompileOptions *o)
{
    const int threads = o->threads > 1 ? o->threads : THREADS;
    return threads < session_max_threads(o) ? threads : session_max_threads(o);
}

static void close_engines(Engines *e)
{
    for (int i = 0; i < e->count; i++) {
        if (e->list[i].tapped) engine_close(e->list[i].tapped);
        if (e->list[i].plain) engine_close(e->list[i].plain);
    }
}

Exit command_verify(const Options *o)
{
    CompileOptions compile;
    EngineKind only;
    if (!options_compile(o, &compile) || !options_engine(o, ENGINE_ANY, &only)) return EXIT_USAGE;
    Session *s = session_new(&compile);
    Engines engines = { .count = 0 };
    Exit found = EXIT_DONE;
    Task task = { .answers = o->task ? file_installed(s->arena, o->task) : NULL, .perplexity = o->perplexity };
    progress_begin("verify", false);
    progress_say("reading %s", o->spec);
    bool good = session_open(s) && (!o->against || verify_reference_fits(s->arena, s->diag, s->model, o->against));
    if (good && task_measure(s, only ? only : ENGINE_JIT, &task) && open_engines(s, &engines, only)) {
        const VerifyOptions options = { .against = o->against, .seed = SEED, .threads = threads_of(&compile),
                                        .all = o->verbose, .more = task_json(s->arena, &task), .json = o->json };
        found = verify_run(s->arena, s->diag, s->model, engines.list, engines.count, &options, stdout);
        if (!o->json) task_print(s->arena, &task, stdout);
        fflush(stdout);
        command_ended(o, NULL, "verify: done", NULL);
    }
    progress_end();
    close_engines(&engines);
    const char *fault = file_output_fault();
    if (fault) diag_error(s->diag, EXIT_IO, (Loc){ 0 }, "cannot write to standard output: %s", fault);
    Exit told = session_end(s);
    return told != EXIT_DONE ? told : found;
}
