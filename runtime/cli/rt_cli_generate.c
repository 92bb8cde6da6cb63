/* rt_cli_generate.c: the model of a program as an RtDecoder. A source is encoded into slot 0 and
 * its answer begins with the start id; a decoder-only model continues the text. */
#include "rt_cli_generate.h"
#include <stdio.h>
#include <stdlib.h>

/* Report that the program has too few slots for so many beams. */
static int refuse(const rt_program *p, int beams)
{
    fprintf(stderr, "%s: --beam %d: a state of this program holds %d %s; build it with --slots %d\n", p->name, beams, p->slots,
            p->slots == 1 ? "sequence" : "sequences", beams);
    return RT_EXIT_MISSING;
}

static int refuse_options(const rt_program *p, const char *why)
{
    fprintf(stderr, "%s: %s\n", p->name, why);
    return RT_EXIT_USAGE;
}

int cli_no_memory(const rt_program *p)
{
    fprintf(stderr, "%s: no memory for texts\n", p->name);
    return RT_EXIT_MISSING;
}

int cli_decoder_open(CliDecoder *d, const rt_program *p, const CliOptions *o, CliBegin begin, CliWeights *weights, void *state)
{
    const CliDecoder none = { .program = p, .weights = weights, .model = weights->model, .state = state, .settings = o->generation,
                               .start = begin.start };
    RtGeneration *g = &d->settings;
    const char *fault = rt_generation_fault(&o->generation);
    *d = none;
    if (begin.first >= 0) g->processors.force_first = 1, g->processors.first = begin.first;
    if (!p->max_target) return 0;
    if (fault) return refuse_options(p, fault);
    if (g->beams > p->slots) return refuse(p, g->beams);
    /* A decoder-only model has room for one more id: the last id of a sequence is not fed. */
    d->longest = (o->longest && o->longest < p->max_target ? o->longest : p->max_target) + !p->max_source;
    d->bytes = rt_answer_scratch_bytes(g, d->longest, p->vocab);
    d->scratch = malloc(d->bytes);
    d->results = malloc((size_t)(g->beams ? g->beams : 1) * sizeof *d->results);
    if (o->turns) d->prompt_cache.ids = malloc((size_t)d->longest * sizeof *d->prompt_cache.ids);
    if (d->scratch && d->results && (d->prompt_cache.ids || !o->turns)) return 0;
    return cli_no_memory(p);
}

void cli_decoder_close(CliDecoder *d) { free(d->scratch), free(d->results), free(d->prompt_cache.ids); }

/* ---- the model's calls ---------------------------------------------------------------------------------- */

static rt_status call_decode(void *self, const rt_token *rows, int n)
{
    CliDecoder *d = self;
    cli_weights_read(d->weights);
    const rt_status status = d->program->decode(d->model, d->state, rows, n);
    if (status == RT_OK) rt_timing_fed(&d->timing, n);
    return status;
}

static rt_status call_prefill(void *self, const rt_token *rows, int n)
{
    CliDecoder *d = self;
    cli_weights_read(d->weights);
    const rt_status status = d->program->prefill(d->model, d->state, rows, n);
    if (status == RT_OK) rt_timing_fed(&d->timing, n);
    return status;
}

static const float *call_logits(void *self)
{
    const CliDecoder *d = self;
    return d->program->logits(d->state);
}

static rt_status call_fork(void *self, int from, int to)
{
    const CliDecoder *d = self;
    return d->program->fork_slot(d->state, from, to);
}

static rt_status call_clear(void *self, int slot)
{
    CliDecoder *d = self;
    rt_timing_anew(&d->timing);
    return d->program->clear(d->state, slot);
}

static rt_status call_next(void *self, int id, int *next)
{
    CliDecoder *d = self;
    cli_weights_read(d->weights);
    const rt_status status = d->program->next(d->model, d->state, id, next);
    if (status == RT_OK) rt_timing_fed(&d->timing, 1);
    return status;
}

/* ---- an answer ------------------------------------------------------------------------------------------ */

int cli_decoder_is_end(const CliDecoder *d, int id)
{
    return rt_is_end(d->settings.ends, d->settings.end_count, id);
}

rt_status cli_decoder_answer(CliDecoder *d, const RtAnswering *how, const int *input, int n, int *ids, int *count, double *score)
{
    const rt_program *p = d->program;
    const RtDecoder calls = { .self = d, .slots = p->slots, .rows_most = p->rows, .vocab = p->vocab, .stride = p->logits_stride,
                              .decode = call_decode, .prefill = p->prefill ? call_prefill : NULL,
                              .logits = call_logits, .fork = call_fork, .clear = call_clear,
                              .next = call_next };
    rt_timing_begin(&d->timing, n, p->max_source ? 1 : n, how->prompt_cache ? rt_prompt_cache_kept(how->prompt_cache, input, n) : 0);
    cli_weights_read(d->weights);
    rt_status status = p->max_source ? p->encode(d->model, d->state, 0, input, n) : RT_OK;
    d->count = *count = 0, *score = 0;
    if (status == RT_OK)
        status = rt_answer(&calls, &d->settings, how, p->max_source ? &d->start : input, p->max_source ? 1 : n, d->longest, d->scratch,
                           d->bytes, d->results, &d->count);
    if (status != RT_OK) return status;
    /* An empty answer has NULL for its ids. */
    for (int i = 0; i < d->results[0].length; i++) ids[i] = d->results[0].ids[i];
    *count = d->results[0].length, *score = d->results[0].sum;
    return RT_OK;
}
