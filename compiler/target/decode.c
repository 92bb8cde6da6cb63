/* decode.c: from ids to ids by an engine's calls. A source is encoded into slot 0, and its target begins with the start
 * id; a prompt is fed as it is. The last id is never fed. */
#include "decode.h"

#include <string.h>

static const Model *model_of(const Decoder *d) { return d->engine->plan->graph->model; }

Decoder *decoder_new(Arena *a, Engine *e, DecodeOptions options)
{
    const Model *m = e->plan->graph->model;
    const int results = options.beams ? options.beams : 1;
    Decoder *d = arena_alloc(a, sizeof *d);
    *d = (Decoder){ .engine = e, .options = options, .room = (int)m->max_target, .end = (int)m->end_id };
    d->results = arena_array(a, (size_t)results, sizeof *d->results);
    d->scratch_bytes = options.beams ? rt_beam_scratch_bytes(options.beams, 1, d->room) : (size_t)d->room * sizeof(int);
    d->scratch = arena_alloc(a, d->scratch_bytes);
    return d;
}

/* ---- greedy --------------------------------------------------------------------------------------------- */

/* `most` ids at most behind the prompt. The sum is that of the logits. */
static rt_status greedy(Decoder *d, const int *prompt, int n, int most)
{
    const EngineOps *ops = d->engine->ops;
    int *ids = d->scratch, count = 0;
    double sum = 0;
    rt_status status = ops->clear(d->engine);
    for (int i = 0; i + 1 < n && status == RT_OK; i++) status = ops->step(d->engine, prompt[i]);
    for (int id = prompt[n - 1]; count < most && status == RT_OK;) {
        if ((status = ops->next(d->engine, id, &id)) != RT_OK) break;
        sum += (double)ops->logits(d->engine)[id];
        ids[count++] = id;
        if (id == d->end) break;
    }
    d->results[0] = (RtBeamResult){ ids, count, sum, sum };
    d->count = 1;
    return status;
}

/* ---- beams ---------------------------------------------------------------------------------------------- */

static rt_status call_rows(void *self, const rt_row *rows, int n) { return ((Engine *)self)->ops->rows(self, rows, n); }
static const float *call_logits(void *self) { return ((Engine *)self)->ops->logits(self); }
static rt_status call_fork(void *self, int from, int to) { return ((Engine *)self)->ops->fork(self, from, to); }

/* An engine clears slot 0, the only one that a search clears. */
static rt_status call_clear(void *self, int slot) { return slot ? RT_BAD_ID : ((Engine *)self)->ops->clear(self); }

static rt_status search(Decoder *d, const int *prompt, int n, int most)
{
    Engine *e = d->engine;
    const RtBeamModel model = { .self = e, .slots = e->plan->options.slots, .rows_most = engine_rows(e), .vocab = (int)model_of(d)->target_vocab,
                                .stride = (int)engine_logits_stride(e), .rows = call_rows, .logits = call_logits, .fork = call_fork,
                                .clear = call_clear };
    const RtBeamOptions options = { .beams = d->options.beams, .most = most, .ends = &d->end, .end_count = 1,
                                    .length_penalty = d->options.length_penalty, .early_stopping = d->options.early_stopping };
    return rt_beam_search(&model, &options, prompt, n, d->scratch, d->scratch_bytes, d->results, &d->count);
}

rt_status decoder_answer(Decoder *d, const int *ids, int n)
{
    const Model *m = model_of(d);
    const int start = (int)m->start_id, *prompt = m->has_encoder ? &start : ids;
    const int length = m->has_encoder ? 1 : n, room = d->room - length + (m->has_encoder ? 0 : 1);
    const int most = d->options.most && d->options.most < room ? d->options.most : room;
    const rt_status status = m->has_encoder ? d->engine->ops->encode(d->engine, ids, n) : RT_OK;
    d->count = 0;
    if (status != RT_OK) return status;
    if (length < 1) return RT_ORDER;
    if (most < 1 || !d->options.beams) return greedy(d, prompt, length, most);
    return search(d, prompt, length, most);
}
