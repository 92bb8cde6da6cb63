/* dates_generate.c: dates_generate, built on the model's other calls. Compiled for the baseline
 * instruction set. */
#include "dates.h"
#include "rt_generate_text.h"
extern const RtGeneration dates_generation;

/* ---- the model's calls, as rt_generate_text.h expects them ----------------------------------- */

typedef struct call { const dates *model; dates_state *state; } call;

static rt_status call_decode(void *self, const rt_token *rows, int n)
{
    const call *c = self;
    return dates_decode(c->model, c->state, rows, n);
}

static rt_status call_prefill(void *self, const rt_token *rows, int n)
{
    const call *c = self;
    return dates_prefill(c->model, c->state, rows, n);
}

static rt_status call_next(void *self, int id, int *next)
{
    const call *c = self;
    return dates_next(c->model, c->state, id, next);
}

static const float *call_logits(void *self)
{
    const call *c = self;
    return dates_scores(c->state);
}

static rt_status call_fork(void *self, int from, int to)
{
    const call *c = self;
    return dates_fork(c->state, from, to);
}

static rt_status call_clear(void *self, int slot)
{
    const call *c = self;
    return dates_clear(c->state, slot);
}

static rt_status call_encode(void *self, int slot, const int *ids, int n)
{
    const call *c = self;
    return dates_encode(c->model, c->state, slot, ids, n);
}

static rt_status call_tokenize(void *self, const RtTextInput *in, int *ids, int room, int *n)
{
    const call *c = self;
    return dates_tokenize(c->model, c->state, in->text, ids, room, n, NULL);
}

static rt_status call_detokenize(void *self, const int *ids, int from, int n, int last, char *out,
                                 size_t cap, size_t *used)
{
    const call *c = self;
    size_t bytes;
    (void)last;
    const rt_status status = dates_detokenize(c->model, ids + from, n - from, out + *used,
                                              cap - *used, &bytes);
    *used += bytes;
    return status;
}

rt_status dates_generate(const dates *m, dates_state *s, const char *text,
                         const rt_generate_options *options,
                         rt_on_token *on_token, void *user)
{
    call c = { .model = m, .state = s };
    const RtTextModel calls = {
        .decoder = {
            .self = &c, .slots = DATES_SLOTS, .rows_most = DATES_ROWS,
            .vocab = DATES_VOCAB, .stride = DATES_LOGITS_STRIDE,
            .decode = call_decode, .prefill = call_prefill, .next = call_next,
            .logits = call_logits, .fork = call_fork, .clear = call_clear,
        },
        .settings = &dates_generation, .tokenize = call_tokenize, .detokenize = call_detokenize,
        .encode = call_encode, .start = DATES_START,
        .source = DATES_MAX_SOURCE, .longest = DATES_MAX_TARGET,
        .token = 4,
        .ids = (int *)(void *)(s->bytes + 435712),          /* [80] */
        .work = s->bytes + 436032, .bytes = 2640,
    };
    return rt_generate_text(&calls, text, options, on_token, user);
}
