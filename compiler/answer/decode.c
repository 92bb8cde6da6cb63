/* decode.c: from ids to ids by an engine's calls. A source is encoded into slot 0, and its target begins with the start
 * id; a prompt is fed as it is. The last id is never fed. */
#include "decode.h"

static const Model *model_of(const Decoder *d) { return d->engine->plan->graph->model; }

Decoder *decoder_new(Arena *a, Engine *e, const RtGeneration *g)
{
    const Model *m = e->plan->graph->model;
    Decoder *d = arena_alloc(a, sizeof *d);
    *d = (Decoder){ .engine = e, .generation = *g, .longest = (int)m->max_target + !m->has_encoder };
    d->results = arena_array(a, g->beams ? (size_t)g->beams : 1, sizeof *d->results);
    d->scratch_bytes = rt_answer_scratch_bytes(g, d->longest, (int)m->target_vocab);
    d->scratch = arena_alloc(a, d->scratch_bytes);
    return d;
}

void decoder_hold(Arena *a, Decoder *d)
{
    d->held = (RtHeld){ .ids = arena_array(a, (size_t)d->longest, sizeof(int)) };
    d->answering.held = &d->held;
}

static const EngineOps *ops_of(void *self) { return ((Decoder *)self)->engine->ops; }

static rt_status call_rows(void *self, const rt_row *rows, int n)
{
    Decoder *d = self;
    const rt_status status = ops_of(d)->rows(d->engine, rows, n);
    if (status == RT_OK) rt_timing_fed(&d->timing, n);
    return status;
}

static rt_status call_read(void *self, const rt_row *rows, int n)
{
    Decoder *d = self;
    const rt_status status = ops_of(d)->read(d->engine, rows, n);
    if (status == RT_OK) rt_timing_fed(&d->timing, n);
    return status;
}

static rt_status call_next(void *self, int id, int *next)
{
    Decoder *d = self;
    const rt_status status = ops_of(d)->next(d->engine, id, next);
    if (status == RT_OK) rt_timing_fed(&d->timing, 1);
    return status;
}

static const float *call_logits(void *self) { return ops_of(self)->logits(((Decoder *)self)->engine); }
static rt_status call_fork(void *self, int from, int to) { return ops_of(self)->fork(((Decoder *)self)->engine, from, to); }

/* An engine clears slot 0, the only one that is cleared. */
static rt_status call_clear(void *self, int slot)
{
    Decoder *d = self;
    rt_timing_anew(&d->timing);
    return slot ? RT_BAD_ID : ops_of(d)->clear(d->engine);
}

rt_status decoder_answer(Decoder *d, const int *ids, int n)
{
    const Model *m = model_of(d);
    Engine *e = d->engine;
    const RtDecoder calls = { .self = d, .slots = e->plan->options.slots, .rows_most = engine_rows(e), .vocab = (int)m->target_vocab,
                              .stride = (int)engine_logits_stride(e), .rows = call_rows, .read = call_read, .logits = call_logits,
                              .fork = call_fork,
                              .clear = call_clear, .next = call_next };
    const int start = (int)m->start_id, *prompt = m->has_encoder ? &start : ids;
    rt_timing_begin(&d->timing, n, m->has_encoder ? 1 : n, d->answering.held ? rt_held_of(d->answering.held, ids, n) : 0);
    const rt_status status = m->has_encoder ? e->ops->encode(e, ids, n) : RT_OK;
    d->count = 0;
    if (status != RT_OK) return status;
    return rt_answer(&calls, &d->generation, &d->answering, prompt, m->has_encoder ? 1 : n, d->longest, d->scratch, d->scratch_bytes,
                     d->results, &d->count);
}

bool decoder_is_end(const Decoder *d, int id)
{
    for (int i = 0; i < d->generation.end_count; i++)
        if (d->generation.ends[i] == id) return true;
    return false;
}

bool decoder_ended(const Decoder *d, const RtBeamResult *r) { return r->length && decoder_is_end(d, r->ids[r->length - 1]); }
