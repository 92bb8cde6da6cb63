/* verify_trace.c: run one engine on given inputs and return its trace. */
#include "verify_parts.h"

#include "progress.h"

static Trace *checked(Verify *v, const Subject *s, Trace *t)
{
    if (!t->status) return t;
    if (t->status == RT_BAD_VALUE) {
        diag_error(v->diag, EXIT_BAD_DATA, (Loc){ 0 }, "%s: %s", s->label,
                   engine_fault(v->arena, s->engine));
        return NULL;
    }
    diag_error(v->diag, v->options->against ? EXIT_BAD_DATA : EXIT_OUR_BUG, (Loc){ .file = v->options->against }, "%s: %s", s->label,
               rt_status_text(t->status));
    return NULL;
}

static const float *guided(void *user, const char *name)
{
    const TraceTensor *t = trace_find(user, name);
    return t ? t->values : NULL;
}

/* Call this before a subject runs. */
static void set_guide(Verify *v, const Subject *s)
{
    if (verify_is_generic(s->engine)) generic_follow(s->engine, v->guide && s->tapped ? guided : NULL, (void *)v->guide);
}

Trace *verify_trace(Verify *v, Arena *into, const Subject *s, const int *source, int n, const int *target, int m)
{
    set_guide(v, s);
    const Model *model = v->model;
    if (model->has_encoder && model->has_decoder) progress_say("%s, source length %d, target length %d", s->label, n, m);
    else progress_say("%s, length %d", s->label, model->has_encoder ? n : m);
    if (!engine_start_threads(v->diag, s->engine, s->threads)) return NULL;
    return checked(v, s, trace_run(into, s->engine, source, n, target, m));
}

Trace *verify_trace_graph(Verify *v, Arena *into, const Subject *s)
{
    set_guide(v, s);
    progress_say("%s", s->label);
    if (!engine_start_threads(v->diag, s->engine, s->threads)) return NULL;
    return checked(v, s, trace_graph(into, s->engine));
}
