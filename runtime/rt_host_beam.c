/* rt_host_beam.c: the model of a program as rt_beam.h wants it. A source is encoded into slot 0 and its answer begins with
 * the start id; a decoder alone continues the text. */
#include "rt_host_beam.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
    if (p->slots < 2) return 0;                                         /* one beam is the greedy answer */
    b->options = (RtBeamOptions){ .beams = o->beams, .ends = &p->end, .end_count = 1, .length_penalty = o->length_penalty,
                                  .early_stopping = o->early_stopping };
    b->bytes = rt_beam_scratch_bytes(o->beams, 1, p->max_target);
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
    return b->program->rows_of(b->model, b->state, rows, n);
}

static const float *call_logits(void *self)
{
    const HostBeam *b = self;
    return b->program->logits(b->state);
}

static rt_status call_fork(void *self, int from, int to)
{
    const HostBeam *b = self;
    return b->program->fork_slot(b->state, from, to);
}

static rt_status call_clear(void *self, int slot)
{
    const HostBeam *b = self;
    return b->program->clear(b->state, slot);
}

/* ---- an answer ------------------------------------------------------------------------------------------ */

rt_status host_beam_answer(HostBeam *b, const int *input, int n, int *ids, int *count, double *score)
{
    const rt_program *p = b->program;
    const RtBeamModel model = { .self = b, .slots = p->slots, .rows_most = p->rows, .vocab = p->vocab, .stride = p->logits_stride,
                                .rows = call_rows, .logits = call_logits, .fork = call_fork, .clear = call_clear };
    rt_status status = p->max_source ? p->encode(b->model, b->state, input, n) : RT_OK;
    int found = 0;
    *count = 0, *score = 0;
    b->options.most = p->max_source ? p->max_target - 1 : p->max_target - n + 1;    /* the last id is not fed */
    if (status != RT_OK || b->options.most < 1) return status;
    status = rt_beam_search(&model, &b->options, p->max_source ? &p->start : input, p->max_source ? 1 : n, b->scratch, b->bytes, b->results, &found);
    if (status != RT_OK) return status;
    if (!found) return RT_BAD_WEIGHTS;
    memcpy(ids, b->results[0].ids, (size_t)b->results[0].length * sizeof *ids);
    *count = b->results[0].length, *score = b->results[0].sum;
    return RT_OK;
}
