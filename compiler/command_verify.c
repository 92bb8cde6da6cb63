/* command_verify.c: every engine against every other, with taps and without, or against a reference of the user's. */
#include "command.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "verify.h"

enum { MAX_ENGINES = 4, LANES = 2, SEED = 1 };

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

static bool open_engine(Session *s, Engines *e, const char *name, const char *cc, int same_bits)
{
    VerifyEngine *v = &e->list[e->count++];
    *v = (VerifyEngine){ .same_bits = same_bits };
    v->tapped = session_engine(s, name, cc, true);
    if (v->tapped) v->plain = session_engine(s, name, cc, false);
    return v->plain != NULL;
}

/* One of the engines, by the compilers that there are: --cc, or each of gcc and clang. */
static bool open_native(Session *s, Engines *e)
{
    static const char *const compilers[] = { "gcc", "clang" };
    const int before = e->count;
    if (s->choices->cc) return open_engine(s, e, "native", s->choices->cc, 1);
    for (int i = 0; i < 2; i++)
        if (on_path(s->arena, compilers[i]) && !open_engine(s, e, "native", compilers[i], 1)) return false;
    return e->count > before || open_engine(s, e, "native", "cc", 1);
}

/* All engines, or the generic one and that of --engine. Emitted code gives the same bits whichever compiler made it. */
static bool open_engines(Session *s, Engines *e)
{
    const char *only = s->choices->engine;
    if ((!only || strcmp(only, "jit") == 0) && !open_engine(s, e, "jit", NULL, 1)) return false;
    if ((!only || strcmp(only, "native") == 0) && !open_native(s, e)) return false;
    return open_engine(s, e, "generic", NULL, 0);
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
    bool good = session_read(s) && (!c->against || verify_reference_fits(s->arena, s->diag, s->model, c->against));
    if (good && open_engines(s, &engines)) {
        const VerifyOptions options = { .against = c->against, .seed = SEED, .lanes = c->threads > 1 ? c->threads : LANES,
                                        .all = c->verbose, .json = c->json };
        found = verify_run(s->arena, s->diag, s->model, engines.list, engines.count, &options, stdout);
    }
    close_engines(&engines);
    if (fflush(stdout) != 0 || ferror(stdout)) diag_error(s->diag, EXIT_IO, (Loc){ 0 }, "cannot write the results");
    Exit told = session_end(s);
    return told != EXIT_DONE ? told : found;
}
