/* emitted.c: look up and make the calls of an emitted model. */
#include "emitted.h"

#include "emit.h"

#include <stdlib.h>
#include <string.h>

void emitted_read(Emitted *e)
{
    enum { READS_IN_PLACE = 32 };
    if (e->reads < READS_IN_PLACE && ++e->reads == READS_IN_PLACE) e->model.weights = pack_settle(e->model.weights);
}

static const EmittedModel *model_to_read(Emitted *k)
{
    if (!k->reads_apart) emitted_read(k);
    return &k->model;
}

rt_status emitted_encode(Engine *e, int slot, const int *ids, int n)
{
    Emitted *k = e->own;
    if (!e->plan->graph->model->has_encoder) return RT_ORDER;
    if (e->second && k->encode_pair) return k->encode_pair(model_to_read(k), e->state, slot, ids, n, e->second);
    return k->encode(model_to_read(k), e->state, slot, ids, n);
}

rt_status emitted_encode_batch(Engine *e, const int *ids, const int *lengths, const int *firsts, int count, float *vectors)
{
    Emitted *k = e->own;
    return k->encode_batch ? k->encode_batch(model_to_read(k), e->state, ids, lengths, firsts, count, vectors) : RT_ORDER;
}

rt_status emitted_step(Engine *e, int id)
{
    Emitted *k = e->own;
    return k->step(model_to_read(k), e->state, id);
}

rt_status emitted_next(Engine *e, int id, int *next)
{
    Emitted *k = e->own;
    return k->next(model_to_read(k), e->state, id, next);
}

rt_status emitted_decode(Engine *e, const rt_token *rows, int n)
{
    Emitted *k = e->own;
    return k->decode ? k->decode(model_to_read(k), e->state, rows, n) : RT_ORDER;
}

rt_status emitted_prefill(Engine *e, const rt_token *rows, int n)
{
    Emitted *k = e->own;
    return k->prefill ? k->prefill(model_to_read(k), e->state, rows, n) : RT_ORDER;
}

rt_status emitted_decode_greedy(Engine *e, const rt_token *rows, int n, int *next)
{
    Emitted *k = e->own;
    return k->decode_greedy ? k->decode_greedy(model_to_read(k), e->state, rows, n, next) : RT_ORDER;
}

const float *emitted_logits(const Engine *e) { return ((const Emitted *)e->own)->logits(e->state); }

rt_status emitted_fork(Engine *e, int from, int to)
{
    const Emitted *k = e->own;
    return k->fork ? k->fork(e->state, from, to) : RT_ORDER;
}

rt_status emitted_clear(Engine *e)
{
    const Emitted *k = e->own;
    return k->clear ? k->clear(e->state, 0) : RT_ORDER;
}

rt_status emitted_run(Engine *e)
{
    Emitted *k = e->own;
    return k->run(model_to_read(k), e->state);
}

rt_status emitted_threads(Engine *e, int threads)
{
    Emitted *k = e->own;
    return k->threads(&k->model, threads);
}

rt_team *emitted_team(const Engine *e)
{
    const Emitted *k = e->own;
    return k->model.team;
}

void emitted_release(Emitted *e)
{
    if (e->threads && e->model.team) e->threads(&e->model, 1);
}

bool emitted_state(Diag *d, Engine *e)
{
    e->state = aligned_alloc(64, e->plan->state_bytes);
    if (e->state) engine_reset(e);
    else diag_error(d, EXIT_NO_FEATURE, (Loc){ 0 }, "no memory for a state of %zu bytes", e->plan->state_bytes);
    return e->state != NULL;
}

/* ---- finding ---------------------------------------------------------------------------------------------------- */

typedef struct Finding { Arena *arena; Diag *diag; const char *name; EmittedLookup *lookup; void *code; bool good; } Finding;

static void find(Finding *f, const char *suffix, void *out)
{
    void *symbol = f->lookup(f->code, arena_format(f->arena, "%s_%s", f->name, suffix));
    if (!symbol) {
        diag_error(f->diag, EXIT_OUR_BUG, (Loc){ 0 }, "the compiled code has no function %s_%s", f->name, suffix);
        f->good = false;
    }
    memcpy(out, &symbol, sizeof symbol);    /* POSIX: a void pointer can hold a function pointer */
}

bool emitted_find(Arena *a, Diag *d, Emitted *e, const Model *m, EmittedLookup *lookup, void *code)
{
    Finding f = { a, d, m->name, lookup, code, true };
    find(&f, "bind", &e->bind);
    find(&f, "threads", &e->threads);
    if (m->graph) find(&f, "run", &e->run);
    if (m->has_encoder) find(&f, "encode", &e->encode);
    if (m->has_encoder && !m->has_decoder) find(&f, "encode_batch", &e->encode_batch);
    if (m->token_types > 1) find(&f, "encode_pair", &e->encode_pair);
    if (m->has_decoder) {
        find(&f, "clear", &e->clear);
        find(&f, "fork", &e->fork);
        find(&f, "step", &e->step);
        find(&f, "next", &e->next);
        find(&f, "decode", &e->decode);
        find(&f, "prefill", &e->prefill);
        find(&f, "decode_greedy", &e->decode_greedy);
        find(&f, emit_scores(m), &e->logits);
    }
    return f.good;
}

/* Call `bind` without weights: it selects the variant and checks its instruction set, and only then
 * returns RT_BAD_WEIGHTS. */
bool emitted_bind(Diag *d, Emitted *e, const unsigned char *data)
{
    const rt_status s = e->bind(&e->model, NULL, 0);
    e->model.weights = data;
    if (s == RT_BAD_WEIGHTS) return true;
    diag_error(d, s == RT_NO_ISA ? EXIT_NO_FEATURE : EXIT_OUR_BUG, (Loc){ 0 }, "the compiled model cannot be used: %s", rt_status_text(s));
    return false;
}
