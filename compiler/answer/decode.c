/* decode.c: generate ids with an engine, using the code of generated programs. */
#include "decode.h"

Decoder *decoder_new(Arena *a, Engine *e, const RtGeneration *g)
{
    RunProgram *r = run_program(a, e);
    const rt_program *p = &r->program;
    Decoder *d = arena_alloc(a, sizeof *d);
    CliWeights *weights = arena_alloc(a, sizeof *weights);
    *weights = (CliWeights){ .program = p, .model = r };
    *d = (Decoder){ .cli = { .program = p, .weights = weights, .model = r, .state = r, .settings = *g, .start = p->start,
                              .longest = p->max_target + !p->max_source } };
    d->cli.bytes = rt_answer_scratch_bytes(g, d->cli.longest, p->vocab);
    d->cli.scratch = arena_alloc(a, d->cli.bytes);
    d->cli.results = arena_array(a, g->beams ? (size_t)g->beams : 1, sizeof *d->cli.results);
    d->ids = arena_array(a, (size_t)p->max_target + 1, sizeof *d->ids);
    return d;
}

rt_status decoder_answer(Decoder *d, const int *ids, int n)
{
    int count;
    double score;
    return cli_decoder_answer(&d->cli, &d->answering, ids, n, d->ids, &count, &score);
}

bool decoder_ended(const Decoder *d, const RtBeamResult *r) { return r->length && cli_decoder_is_end(&d->cli, r->ids[r->length - 1]); }
