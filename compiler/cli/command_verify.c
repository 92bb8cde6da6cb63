/* command_verify.c: every engine against every other, with taps and without, or against a reference of the user's. */
#include "command.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command_verify_task.h"
#include "progress.h"
#include "verify.h"

enum { MAX_ENGINES = 5, LANES = 2, SEED = 1 };

typedef struct Engines { VerifyEngine list[MAX_ENGINES]; int count; } Engines;

/* Whether a command is on the PATH. */
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

/* The generic engine of a quantised model has taps, by which it follows another. */
static bool open_engine(Session *s, Engines *e, const char *name, const char *cc, int same_bits)
{
    VerifyEngine *v = &e->list[e->count++];
    *v = (VerifyEngine){ .same_bits = same_bits };
    progress_say("opening %s%s%s", name, cc ? " by " : "", cc ? cc : "");
    v->tapped = session_engine(s, name, cc, true);
    if (v->tapped && strcmp(name, "generic") == 0 && model_rounds(s->model)) return true;
    if (v->tapped) v->plain = session_engine(s, name, cc, false);
    return v->plain != NULL;
}

/* Native code by --cc, or by each of gcc and clang that there is; *first receives the first of them. Emitted code gives the
 * same bits whichever compiler made it. */
static bool open_native(Session *s, Engines *e, const char **first)
{
    static const char *const compilers[] = { "gcc", "clang" };
    *first = s->choices->cc;
    if (*first) return open_engine(s, e, "native", *first, 1);
    for (int i = 0; i < 2; i++) {
        if (!on_path(s->arena, compilers[i])) continue;
        if (!*first) *first = compilers[i];
        if (!open_engine(s, e, "native", compilers[i], 1)) return false;
    }
    if (*first) return true;
    return open_engine(s, e, "native", *first = "cc", 1);
}

/* The other form of kernels, which sums in another order: bits of its own. */
static bool open_unrolled(Session *s, Engines *e, const char *cc)
{
    const Choices *given = s->choices;
    Choices c = *given;
    c.kernels = KERNELS_UNROLLED;
    s->choices = &c;
    const bool opened = open_engine(s, e, "native", cc, 2);
    s->choices = given;
    if (opened) e->list[e->count - 1].tapped->name = e->list[e->count - 1].plain->name = "native (unrolled)";
    return opened;
}

/* All engines, or the generic one and that of --engine. Emitted code gives the same bits whichever compiler made it. */
static bool open_engines(Session *s, Engines *e)
{
    const char *only = s->choices->engine, *cc;
    if ((!only || strcmp(only, "jit") == 0) && !open_engine(s, e, "jit", NULL, 1)) return false;
    if (!only || strcmp(only, "native") == 0) {
        if (!open_native(s, e, &cc)) return false;
        if (s->choices->kernels == KERNELS_LIBRARY && !model_is_narrow(s->model) && !open_unrolled(s, e, cc)) return false;
    }
    return open_engine(s, e, "generic", NULL, 0);
}

/* As many as there are threads asked for, or two where a state has room for them. */
static int lanes_of(const Choices *c)
{
    const int lanes = c->threads > 1 ? c->threads : LANES;
    return lanes < session_lanes(c) ? lanes : session_lanes(c);
}

static void close_engines(Engines *e)
{
    for (int i = 0; i < e->count; i++) {
        if (e->list[i].tapped) engine_close(e->list[i].tapped);
        if (e->list[i].plain) engine_close(e->list[i].plain);
    }
}

Exit command_verify(const Choices *c)
{
    Session *s = session_new(c);
    Engines engines = { .count = 0 };
    Exit found = EXIT_DONE;
    Task task = { .count = 0 };
    progress_begin("verify", false);
    progress_say("reading %s", c->spec);
    bool good = session_open(s) && (!c->against || verify_reference_fits(s->arena, s->diag, s->model, c->against));
    if (good && task_measure(s, &task) && open_engines(s, &engines)) {
        const VerifyOptions options = { .against = c->against, .seed = SEED, .lanes = lanes_of(c),
                                        .all = c->verbose, .more = task_json(s->arena, &task), .json = c->json };
        found = verify_run(s->arena, s->diag, s->model, engines.list, engines.count, &options, stdout);
        if (!c->json) task_print(s->arena, &task, stdout);
        fflush(stdout);
        command_ended(s, NULL, "verify: done", NULL);
    }
    progress_end();
    close_engines(&engines);
    const char *fault = file_output_fault();
    if (fault) diag_error(s->diag, EXIT_IO, (Loc){ 0 }, "cannot write to standard output: %s", fault);
    Exit told = session_end(s);
    return told != EXIT_DONE ? told : found;
}
