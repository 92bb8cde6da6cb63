/* command_tune.c: measure choices that change only speed, and write the winners to a Lua file. */
#include "command.h"

#include <string.h>

#include "pack.h"
#include "progress.h"
#include "tune.h"

/* ---- messages --------------------------------------------------------------------------------------------- */

static void print_choice(const char *name, const char *taken, const char *note)
{
    if (note) printf("%-40s %s, us: %s\n", name, taken, note);
}

static void print_result(Arena *a, const Tuning *r)
{
    print_choice("threads", arena_format(a, "%d", r->threads), r->threads_note);
    print_choice("layers", r->layers ? tuned_layers_names[r->layers] : "default", r->layers_note);
    print_choice("isa", r->isa ? r->isa : "default", r->isa_note);
    for (int i = 0; i < r->call_count; i++) printf("%-40s %s\n", r->calls[i].name, tuning_times(a, &r->calls[i]));
}

/* ---- the file --------------------------------------------------------------------------------------------- */

static const FileKind tune_kind = { "-- Measured by `xformc tune`", "a tuning file", ".lua" };

static bool may_write(Session *s, const char *path)
{
    if (!file_is_folder(path)) return file_may_replace(s->arena, s->diag, path, tune_kind);
    diag_error(s->diag, EXIT_IO, (Loc){ path, 0, 0 }, "this is a folder; choose a file with --output");
    return false;
}

static bool keep(Session *s, const Options *o, const Tuning *r, const char *path)
{
    const Text text = tuning_text(s->arena, r);
    if (!file_replace(s->arena, s->diag, path, tune_kind, text.data, text.size)) return false;
    int others = (r->threads > 1) + (r->layers != 0) + (r->isa != NULL);
    for (int i = 0; i < r->call_count; i++) others += r->calls[i].take != LINEAR_CUT_USUAL;
    const char *line = arena_format(s->arena, "%s: %d non-default choice%s for %s", path, others,
                                    others == 1 ? "" : "s", s->model->name);
    const char *spec = command_shell_path(s->arena, o->spec);
    const char *file = command_shell_path(s->arena, path);
    command_ended(o, line, line,
                  arena_format(s->arena, "use it: xformc build %s --tune %s", spec, file));
    return true;
}

/* ---- the command ------------------------------------------------------------------------------------------ */

static bool measure(Session *s, const Options *o, Tune *t)
{
    static const int one[] = { 1 };
    const double row_seconds = 0.3;
    Bench *b = &t->bench;
    b->plan = session_plan(s, TARGET_PANELS, false);
    b->threads = one;
    b->thread_count = 1;
    if (!bench_probe(b)) return false;
    b->engine_count = CUTS;
    bench_choose_tests(b);
    b->engine_count = 0;
    b->deadline_ns = 0;
    b->seconds = o->seconds > 0 ? o->seconds : row_seconds;
    bench_choose_threads(b, o->threads, o->threads_count);
    const bool ok = tune_calls(t) && tune_whole(t);
    tune_progress(t, NULL, 0);
    return ok;
}

Exit command_tune(const Options *o)
{
    enum { ROUNDS = 7 };
    CompileOptions compile;
    if (!options_compile(o, &compile)) return EXIT_USAGE;
    Session *s = session_new(&compile);
    Tuning result = { .path = NULL };
    Tune t = { .bench = { .command = "tune", .session = s, .arena = s->arena, .seconds = o->seconds,
                          .repetitions = o->repetitions ? o->repetitions : ROUNDS }, .result = &result };
    progress_begin("tune", o->quiet);
    progress_say("reading %s", o->spec);
    if (session_open(s)) {
        const char *path = o->output ? o->output : arena_format(s->arena, "%s.tune.lua", s->model->name), *machine = machine_processor(s->arena);
        if (may_write(s, path) && measure(s, o, &t)) {
            result.machine = *machine ? machine : NULL;
            result.model = s->model->name;
            result.dtype = model_dtype(s->model);
            result.identity = pack_layout(s->arena, t.bench.plan).identity;
            if (keep(s, o, &result, path) && !o->quiet) print_result(s->arena, &result);
        }
    }
    progress_end();
    const char *fault = file_output_fault();
    if (fault) diag_error(s->diag, EXIT_IO, (Loc){ 0 }, "cannot write to standard output: %s", fault);
    return session_end(s);
}
