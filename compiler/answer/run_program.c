/* run_program.c: build from a Plan and an engine the rt_program that the emitted NAME_main.c would
 * define. */
#include "run_program.h"

#include "chat.h"
#include "generation.h"

bool run_has_texts(const Model *m) { return m->tokenizer_data || (m->source && m->target); }

static const RunProgram *run_of(const void *model) { return model; }
static Engine *engine_of(const void *model) { return run_of(model)->engine; }

/* ---- calls ------------------------------------------------------------------------------------------------ */

static rt_status encode(const void *m, void *state, int slot, const int *ids, int n)
{
    (void)state;
    return engine_of(m)->ops->encode(engine_of(m), slot, ids, n);
}

static rt_status encode_pair(const void *m, void *state, int slot, const int *ids, int n, int first)
{
    engine_pair(engine_of(m), first, n);
    const rt_status status = encode(m, state, slot, ids, n);
    engine_pair(engine_of(m), 0, n);
    return status;
}

static rt_status encode_batch(const void *m, void *state, const int *ids, const int *lengths, const int *firsts, int count, float *vectors)
{
    (void)state;
    return engine_of(m)->ops->encode_batch(engine_of(m), ids, lengths, firsts, count, vectors);
}

static const float *rows_in(const Engine *e, const Buffer *b) { return (const float *)(e->state + plan_address(e->plan, b)); }
static const float *hidden(const void *state) { return rows_in(engine_of(state), plan_hidden(engine_of(state)->plan)); }
static const float *vector(const void *state) { return rows_in(engine_of(state), plan_vector(engine_of(state)->plan)); }

static rt_status decode(const void *m, void *state, const rt_token *r, int n)
{
    (void)state;
    return engine_of(m)->ops->decode(engine_of(m), r, n);
}

static rt_status prefill(const void *m, void *state, const rt_token *r, int n)
{
    (void)state;
    return engine_of(m)->ops->prefill(engine_of(m), r, n);
}

static rt_status next(const void *m, void *state, int id, int *next_id)
{
    (void)state;
    return engine_of(m)->ops->next(engine_of(m), id, next_id);
}

static const float *logits(const void *state) { return engine_of(state)->ops->logits(engine_of(state)); }
static rt_status fork_slot(void *state, int from, int to) { return engine_of(state)->ops->fork(engine_of(state), from, to); }

static rt_team *team(const void *m)
{
    const Engine *e = engine_of(m);
    return e->ops->team ? e->ops->team(e) : NULL;
}

static int saturated(const void *state) { return engine_saturated(engine_of(state)); }

/* An engine can clear slot 0 only. */
static rt_status clear(void *state, int slot) { return slot ? RT_BAD_ID : engine_of(state)->ops->clear(engine_of(state)); }

static rt_status tokenize(const void *m, void *state, const char *utf8, int *ids, int room, int *n, RtTextFault *fault)
{
    (void)state;
    return rt_characters_encode(&run_of(m)->source, utf8, ids, room, n, fault);
}

static rt_status detokenize(const void *m, const int *ids, int n, char *out, size_t cap, size_t *bytes)
{
    return rt_characters_decode(&run_of(m)->target, ids, n, out, cap, bytes);
}

static const void *tokenizer(const void *m, size_t *bytes)
{
    const Model *model = engine_of(m)->plan->graph->model;
    *bytes = model->tokenizer_size;
    return model->tokenizer_data;
}

/* ---- filling ---------------------------------------------------------------------------------------------- */

static void add_encoder(RunProgram *r, const Model *m)
{
    rt_program *p = &r->program;
    p->max_source = (int)m->max_source, p->source_vocab = (int)m->source_vocab;
    p->encode = encode;
    p->pairs = m->pairs;
    p->has_pad = m->pad_id >= 0, p->pad_id = (int)m->pad_id;
    if (m->pairs && m->token_types > 1) p->encode_pair = encode_pair;
}

/* The members for an encoder-only model. */
static void add_vectors(RunProgram *r, const Model *m)
{
    static const RtScoring kinds[] = { [SCORINGS_SOFTMAX] = RT_SCORING_SOFTMAX, [SCORINGS_SIGMOID] = RT_SCORING_SIGMOID,
                                       [SCORINGS_NONE] = RT_SCORING_NONE };
    static const RtSimilarity similarities[] = {
        [SIMILARITIES_COSINE] = RT_SIMILARITY_COSINE, [SIMILARITIES_DOT] = RT_SIMILARITY_DOT,
        [SIMILARITIES_EUCLIDEAN] = RT_SIMILARITY_EUCLIDEAN, [SIMILARITIES_MANHATTAN] = RT_SIMILARITY_MANHATTAN,
    };
    const Plan *plan = r->engine->plan;
    rt_program *p = &r->program;
    p->width = (int)m->d_model, p->hidden_stride = (int)plan_hidden(plan)->stride, p->hidden = hidden;
    p->vectors = &rt_cli_vector;
    if (r->engine->ops->encode_batch) p->encode_batch = encode_batch;
    p->has_mask = m->mask_id >= 0, p->mask_id = (int)m->mask_id;
    p->labels = m->labels.count ? m->labels.text : NULL;
    p->scoring = kinds[m->label_scores];
    p->similarity = similarities[m->similarity];
    if (!model_has_head(m)) return;
    p->vector_width = (int)model_vector_width(m), p->vector = vector;
    p->vector_stride = model_pools(m) ? 0 : (int)plan_vector(plan)->stride;
}

static void add_decoder(RunProgram *r, const Model *m)
{
    rt_program *p = &r->program;
    p->max_target = (int)m->max_target, p->vocab = (int)m->target_vocab, p->start = (int)m->start_id;
    p->slots = r->engine->plan->options.slots;
    p->rows = engine_rows(r->engine), p->logits_stride = (int)engine_logits_stride(r->engine);
    p->decode = decode, p->prefill = prefill, p->next = next, p->logits = logits,
    p->clear = clear, p->fork_slot = fork_slot, p->saturated = saturated;
    r->generation = generation_of(m), p->generation = &r->generation;
}

const char *const *run_translations(Arena *a, const Model *m)
{
    const int n = m->translations.count;
    if (!n) return NULL;
    const char **rows = arena_array(a, (size_t)n + 1, sizeof *rows);
    for (int i = 0; i < n; i++) rows[i] = m->translations.text[i];
    rows[n] = NULL;
    return rows;
}

RtCharacters run_characters(const Packed *table, const Packed *texts)
{
    return (RtCharacters){ table->integers, (int)(table->integer_count / 2), texts->integers, (int)texts->integer_count };
}

static void add_texts(Arena *a, RunProgram *r, const Model *m)
{
    const Plan *plan = r->engine->plan;
    rt_program *p = &r->program;
    if (m->tokenizer_data) {
        p->texts = &rt_cli_text, p->tokenizer = tokenizer;
    } else if (run_has_texts(m)) {
        r->source = run_characters(plan->source_characters, plan->source_texts);
        r->target = run_characters(plan->target_characters, plan->target_texts);
        p->tokenize = tokenize, p->detokenize = detokenize;
    }
    p->translations = run_translations(a, m);
    if (model_chats(m)) r->chat = chat_of(m), p->chat = &r->chat;
}

RunProgram *run_program(Arena *a, Engine *e)
{
    const Model *m = e->plan->graph->model;
    RunProgram *r = arena_alloc(a, sizeof *r);
    *r = (RunProgram){ .engine = e, .program = { .name = m->name, .team = team } };
    if (m->has_encoder) add_encoder(r, m);
    if (m->has_decoder) add_decoder(r, m);
    else add_vectors(r, m);
    add_texts(a, r, m);
    return r;
}

Cli run_cli(RunProgram *r, const CliOptions *o)
{
    return (Cli){ .program = &r->program, .options = o, .weights = { .model = r }, .model = r, .state = r };
}
