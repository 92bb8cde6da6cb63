/* decode.c: from ids to ids by an engine's calls, as a generated program answers. */
#include "decode.h"

Decoder *decoder_new(Arena *a, Engine *e, const RtGeneration *g)
{
    RunProgram *r = run_program(a, e);
    const rt_program *p = &r->program;
    Decoder *d = arena_alloc(a, sizeof *d);
    HostWeights *weights = arena_alloc(a, sizeof *weights);
    *weights = (HostWeights){ .program = p, .model = r };
    *d = (Decoder){ .host = { .program = p, .weights = weights, .model = r, .state = r, .settings = *g, .start = p->start,
                              .longest = p->max_target + !p->max_source } };
    d->host.bytes = rt_answer_scratch_bytes(g, d->host.longest, p->vocab);
    d->host.scratch = arena_alloc(a, d->host.bytes);
    d->host.results = arena_array(a, g->beams ? (size_t)g->beams : 1, sizeof *d->host.results);
    d->ids = arena_array(a, (size_t)p->max_target + 1, sizeof *d->ids);
    return d;
}

rt_status decoder_answer(Decoder *d, const int *ids, int n)
{
    int count;
    double score;
    return host_decoder_answer(&d->host, &d->answering, ids, n, d->ids, &count, &score);
}

bool decoder_ended(const Decoder *d, const RtBeamResult *r) { return r->length && host_decoder_is_end(&d->host, r->ids[r->length - 1]); }
