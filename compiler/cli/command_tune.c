/* command_tune.c: measure what changes only speed, and keep what won in a file of Lua. */
#include "command.h"

#include <string.h>

#include "pack.h"
#include "progress.h"
#include "tune.h"

/* ---- telling ---------------------------------------------------------------------------------------------- */

static void print_choice(const char *name, const char *taken, const char *note)
{
    if (note) printf("%-40s %s, us: %s\n", name, taken, note);
}

static void print_result(Arena *a, const Tuning *r)
{
    print_choice("threads", arena_format(a, "%d", r->threads), r->threads_note);
    print_choice("layers", r->layers ? tuned_layers_names[r->layers] : "as usual", r->layers_note);
    print_choice("isa", r->isa ? r->isa : "as usual", r->isa_note);
    for (int i = 0; i < r->call_count; i++) printf("%-40s %s\n", r->calls[i].name, tuning_times(a, &r->calls[i]));
}

/* ---- the file --------------------------------------------------------------------------------------------- */

static const FileKind tune_kind = { "-- Measured by `xformc tune`", "a file of xformc tune", ".lua" };

static bool may_write(Session *s, const char *path)
{
    if (!file_is_folder(path)) return file_may_replace(s->arena, s->diag, path, tune_kind);
    diag_error(s->diag, EXIT_IO, (Loc){ path, 0, 0 }, "is a folder; --output is a file");
    return false;
}

static bool keep(Session *s, const Tuning *r, const char *path)
{
    const Text text = tuning_text(s->arena, r);
    if (!file_replace(s->arena, s->diag, path, tune_kind, text.data, text.size)) return false;
    int others = (r->threads > 1) + (r->layers != 0) + (r->isa != NULL);
    for (int i = 0; i < r->call_count; i++) others += r->calls[i].take != LINEAR_CUT_USUAL;
    const char *line = arena_format(s->arena, "%s: %d choice%s other than usual, of %s", path, others,
                                    others == 1 ? "" : "s", s->model->name);
    const char *spec = command_shell_path(s->arena, s->choices->spec);
    const char *file = command_shell_path(s->arena, path);
    command_ended(s, line, line,
                  arena_format(s->arena, "use them: xformc build %s --tune %s", spec, file));
    return true;
}

/* ---- the command ------------------------------------------------------------------------------------------ */

static bool measure(Session *s, Tune *t)
{
    static const int one[] = { 1 };
    const double row_seconds = 0.3;
    Bench *b = &t->bench;
    progress_say("probing the machine");
    if (!limits_probe(&b->limits, one, 1)) {
        diag_error(s->diag, EXIT_NO_FEATURE, (Loc){ 0 }, "the machine cannot be probed: no memory");
        return false;
    }
    b->plan = session_plan(s, TARGET_PANELS, false);
    b->threads = one;
    b->thread_count = 1;
    b->engine_count = CUTS;
    bench_choose_tests(b);
    b->engine_count = 0;
    b->deadline_ns = 0;
    b->seconds = s->choices->bench.seconds > 0 ? s->choices->bench.seconds : row_seconds;
    bench_choose_threads(b);
    const bool ok = tune_calls(t) && tune_whole(t);
    tune_progress(t, NULL, 0);
    return ok;
}

Exit command_tune(const Choices *c)
{
    enum { ROUNDS = 7 };
    Session *s = session_new(c);
    Tuning result = { .path = NULL };
    Tune t = { .bench = { .command = "tune", .session = s, .arena = s->arena, .seconds = c->bench.seconds,
                          .repetitions = c->bench.repetitions ? c->bench.repetitions : ROUNDS }, .result = &result };
    progress_begin("tune", c->quiet);
    progress_say("reading %s", c->spec);
    if (session_open(s)) {
        const char *path = c->folder ? c->folder : arena_format(s->arena, "%s.tune.lua", s->model->name), *machine = machine_processor(s->arena);
        if (may_write(s, path) && measure(s, &t)) {
            result.machine = *machine ? machine : NULL;
            result.model = s->model->name;
            result.dtype = model_dtype(s->model);
            result.identity = pack_layout(s->arena, t.bench.plan).identity;
            if (keep(s, &result, path) && !c->quiet) print_result(s->arena, &result);
        }
    }
    progress_end();
    const char *fault = file_output_fault();
    if (fault) diag_error(s->diag, EXIT_IO, (Loc){ 0 }, "cannot write to standard output: %s", fault);
    return session_end(s);
}
