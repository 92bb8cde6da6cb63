/* rt_host_beam.c: the model of a program as rt_beam.h wants it. A source is encoded into slot 0 and its answer begins with
 * the start id; a decoder alone continues the text. */
#include "rt_host_beam.h"
#include <stdio.h>
#include <stdlib.h>

/* Why the program cannot search with so many beams: one line. */
static int refuse(const rt_program *p, int beams)
{
    if (!p->slots) fprintf(stderr, "%s: --beam: this program has no decoder to search with\n", p->name);
    else
        fprintf(stderr, "%s: --beam %d: a state of this program holds %d %s; build it with --slots %d\n", p->name, beams, p->slots,
                p->slots == 1 ? "sequence" : "sequences", beams);
    return EXIT_MISSING;
}

int host_beam_open(HostBeam *b, const rt_program *p, const HostOptions *o, void *model, void *state)
{
    const HostBeam none = { .program = p, .model = model, .state = state };
    *b = none;
    if (!o->beams) return 0;
    if (o->beams > p->slots) return refuse(p, o->beams);
    if (!p->decoder) return 0;                                          /* one beam is the greedy answer */
    b->options = (RtBeamOptions){ .beams = o->beams, .ends = &p->decoder->end, .end_count = 1, .length_penalty = o->length_penalty,
                                  .early_stopping = o->early_stopping };
    b->bytes = rt_beam_scratch_bytes(o->beams, 1, p->decoder->max_target);
    b->scratch = malloc(b->bytes);
    b->results = malloc((size_t)o->beams * sizeof *b->results);
    if (b->scratch && b->results) return 0;
    fprintf(stderr, "%s: no memory for %d beams\n", p->name, o->beams);
    return EXIT_MISSING;
}

void host_beam_close(HostBeam *b) { free(b->scratch), free(b->results); }

/* ---- the model's calls ---------------------------------------------------------------------------------- */

static rt_status call_rows(void *self, const rt_row *rows, int n)
{
    const HostBeam *b = self;
    return b->program->decoder->rows(b->model, b->state, rows, n);
}

static const float *call_logits(void *self)
{
    const HostBeam *b = self;
    return b->program->decoder->logits(b->state);
}

static rt_status call_fork(void *self, int from, int to)
{
    const HostBeam *b = self;
    return b->program->decoder->fork_slot(b->state, from, to);
}

static rt_status call_clear(void *self, int slot)
{
    const HostBeam *b = self;
    return b->program->decoder->clear(b->state, slot);
}

/* ---- an answer ------------------------------------------------------------------------------------------ */

static rt_status write_answer(const HostBeam *b, const RtBeamResult *r, char *out, size_t cap)
{
    size_t used = 0;
    rt_status status = RT_OK;
    for (int i = 0; i < r->length && status == RT_OK; i++) status = b->program->decoder->append(b->model, r->ids[i], out, cap, &used);
    return status;
}

rt_status host_beam_answer(HostBeam *b, const int *ids, int n, char *out, size_t cap)
{
    const rt_decoder *d = b->program->decoder;
    const RtBeamModel model = { .self = b, .slots = b->program->slots, .rows_most = d->rows_most, .vocab = d->vocab, .stride = d->stride,
                                .rows = call_rows, .logits = call_logits, .fork = call_fork, .clear = call_clear };
    rt_status status = d->encode ? d->encode(b->model, b->state, ids, n) : RT_OK;
    int count = 0;
    out[0] = '\0';
    b->options.most = d->encode ? d->max_target - 1 : d->max_target - n + 1;        /* the last id is not fed */
    if (status != RT_OK || b->options.most < 1) return status;
    status = rt_beam_search(&model, &b->options, d->encode ? &d->start : ids, d->encode ? 1 : n, b->scratch, b->bytes, b->results, &count);
    if (status != RT_OK) return status;
    return count ? write_answer(b, &b->results[0], out, cap) : RT_BAD_WEIGHTS;
}
