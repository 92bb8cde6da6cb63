/* bench.c: run tests on engines in turn and keep all measured times.
 *
 * For each test and number of threads: repetition 1 on engine A, on engine B, …, repetition 2 on A,
 * … Only the work of the test is timed: ids are fixed, so there is no tokenising and no
 * sampling. */
#include "bench.h"
#include "progress.h"

#include <math.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static void pause_for(int64_t ns)
{
    const struct timespec t = { (time_t)(ns / 1000000000), (long)(ns % 1000000000) };
    nanosleep(&t, NULL);
}

/* ---- inputs ----------------------------------------------------------------------------------------------- */

/* The i-th id of an input: scattered over the vocabulary, and the same in every run. */
static int an_id(int i, int64_t vocabulary) { return (int)((uint32_t)i * 2654435761u % (uint32_t)vocabulary); }

static int *source_ids(const Bench *b)
{
    const Model *m = b->session->model;
    int *ids = arena_array(b->arena, (size_t)m->max_source + 1, sizeof *ids);
    for (int i = 0; m->has_encoder && i < m->max_source; i++) ids[i] = an_id(i, m->source_vocab);
    return ids;
}

static rt_token *target_rows(const Bench *b)
{
    const Model *m = b->session->model;
    rt_token *rows = arena_array(b->arena, (size_t)m->max_target + 1, sizeof *rows);
    for (int i = 0; m->has_decoder && i < m->max_target; i++) rows[i] = (rt_token){ 0, i, an_id(i, m->target_vocab) };
    if (m->has_decoder && m->has_encoder) rows[0].id = (int)m->start_id;
    return rows;
}

/* source: every source is a prefix of it. sentences, lengths: the sources of one batched call, set
 * for each test by fill_sentences. vectors: room for their vectors; NULL if they have none. */
typedef struct Inputs { int *source;  rt_token *target;  int *sentences, *lengths;  float *vectors; } Inputs;

static Inputs inputs_of(const Bench *b)
{
    const Model *m = b->session->model;
    Inputs in = { .source = source_ids(b), .target = target_rows(b) };
    if (m->model_kind != KIND_ENCODER) return in;
    const size_t texts = (size_t)(m->max_source + 15) / 16;
    in.sentences = arena_array(b->arena, (size_t)m->max_source, sizeof *in.sentences);
    in.lengths = arena_array(b->arena, texts, sizeof *in.lengths);
    if (model_pools(m)) in.vectors = arena_array(b->arena, texts * (size_t)model_vector_width(m), sizeof *in.vectors);
    return in;
}

/* ---- one run ---------------------------------------------------------------------------------------------- */

static rt_status write_tokens(Engine *e, const Inputs *in, int n)
{
    rt_status s = RT_OK;
    for (int i = 0; i < n && !s; i++) s = e->ops->step(e, in->target[i].id);
    return s;
}

static rt_status read_prompt(Engine *e, const Inputs *in, int n)
{
    const int most = engine_rows(e);
    rt_status s = RT_OK;
    for (int i = 0; i < n - 1 && !s; i += most) s = e->ops->prefill(e, in->target + i, n - 1 - i < most ? n - 1 - i : most);
    return s ? s : e->ops->decode(e, in->target + n - 1, 1);
}

int bench_at_once(const BenchTest *t, const Engine *e) { return e->ops->encode_batch ? t->at_once : 1; }

static rt_status read_sentences(Engine *e, const BenchTest *t, const Inputs *in, int count)
{
    const int most = bench_at_once(t, e);
    rt_status s = RT_OK;
    for (int i = 0; i < count && !s; i += most) {
        const int n = count - i < most ? count - i : most;
        s = n > 1 ? e->ops->encode_batch(e, in->sentences, in->lengths, NULL, n, in->vectors) : e->ops->encode(e, 0, in->source, t->prompt);
    }
    return s;
}

/* Set the sentences of a test, before it runs. */
static void fill_sentences(const BenchTest *t, const Inputs *in)
{
    for (int i = 0; i < t->at_once && in->sentences; i++) {
        in->lengths[i] = t->prompt;
        memcpy(in->sentences + i * t->prompt, in->source, (size_t)t->prompt * sizeof *in->source);
    }
}

/* Clear the engine's sequence before a run of the decoder alone; this is not timed. */
static rt_status prepare(Engine *e, const BenchTest *t)
{
    const bool writes = t->work == BENCH_DECODE || t->work == BENCH_GENERATE || t->work == BENCH_PROMPT;
    return writes ? e->ops->clear(e) : RT_OK;
}

static rt_status run(Engine *e, const BenchTest *t, const Inputs *in)
{
    rt_status s = RT_OK;
    switch (t->work) {
    case BENCH_ENCODE:    return e->ops->encode(e, 0, in->source, t->prompt);
    case BENCH_SENTENCES: return read_sentences(e, t, in, t->batch);
    case BENCH_DECODE:
    case BENCH_GENERATE: return write_tokens(e, in, t->generated);
    case BENCH_BOTH:
        s = e->ops->encode(e, 0, in->source, t->prompt);
        return s ? s : write_tokens(e, in, t->generated);
    case BENCH_PROMPT: return read_prompt(e, in, t->prompt);
    case BENCH_GRAPH:  return engine_run(e);
    }
    return RT_ORDER;
}

/* The nanoseconds of one run; -1, with *status, if it fails. */
static int64_t time_run(Engine *e, const BenchTest *t, const Inputs *in, rt_status *status)
{
    *status = prepare(e, t);
    const int64_t begin = clock_now_ns();
    if (!*status) *status = run(e, t, in);
    return *status ? -1 : clock_now_ns() - begin;
}

rt_status bench_ready(const Bench *b, Engine *e, const BenchTest *t)
{
    return t->work == BENCH_DECODE ? e->ops->encode(e, 0, source_ids(b), t->prompt) : RT_OK;
}

rt_status bench_run(const Bench *b, Engine *e, const BenchTest *t)
{
    const Inputs in = inputs_of(b);
    fill_sentences(t, &in);
    const rt_status s = prepare(e, t);
    return s ? s : run(e, t, &in);
}

/* ---- one repetition --------------------------------------------------------------------------------------- */

static void keep(Bench *b, BenchRow *r, int64_t ns)
{
    if (r->runs == r->room) {
        const int room = r->room ? 2 * r->room : 256;
        r->runs_ns = arena_grow(b->arena, r->runs_ns, (size_t)r->room * sizeof *r->runs_ns, (size_t)room * sizeof *r->runs_ns);
        r->room = room;
    }
    r->runs_ns[r->runs++] = (double)ns;
}

/* Bring weights and code back into the caches, and the processor to full speed. Skipped if the last
 * run took more than 0.1 s. */
static rt_status warm_up(const BenchRow *r, const Inputs *in)
{
    const int64_t enough = 10000000, long_run = 100000000;
    if (r->runs && r->runs_ns[r->runs - 1] > long_run) return RT_OK;
    Engine *e = r->engine->engine;
    rt_status s = RT_OK;
    if (r->test->work == BENCH_DECODE) s = e->ops->encode(e, 0, in->source, r->test->prompt);
    for (int64_t spent = 0; !s && spent < enough;) spent += time_run(e, r->test, in, &s);
    return s;
}

static rt_status repetition(Bench *b, BenchRow *r, const Inputs *in)
{
    const int64_t share = (int64_t)(1e9 * b->seconds / b->repetitions);
    Engine *e = r->engine->engine;
    const int first = r->runs;
    int64_t spent = 0;
    rt_status s = RT_OK;
    if (r->test->work == BENCH_DECODE) s = e->ops->encode(e, 0, in->source, r->test->prompt);
    if (!s) s = warm_up(r, in);
    while (!s && (spent < share || r->runs == first)) {
        const int64_t ns = time_run(e, r->test, in, &s);
        if (s) break;
        keep(b, r, ns);
        spent += ns;
    }
    if (s) return s;
    r->samples_ns[r->samples++] = bench_median(b->arena, r->runs_ns + first, r->runs - first);
    if (r->threads > 1) pause_for(r->engine->pause_ns);
    return RT_OK;
}

/* ---- before all that -------------------------------------------------------------------------------------- */

int64_t bench_resident_bytes(void)
{
    long long all, resident = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    if (!f) return 0;
    if (fscanf(f, "%lld %lld", &all, &resident) != 2) resident = 0;
    fclose(f);
    return resident * sysconf(_SC_PAGESIZE);
}

/* Raise max_abs_err to the largest difference of a[n] from b[n], INFINITY if a number of `a` is not
 * finite; and `largest` to the largest absolute value of b[n]. */
static void note_error(BenchEngine *mine, const float *a, const float *b, int64_t n)
{
    double most = mine->max_abs_err, largest = mine->largest;
    for (int64_t i = 0; i < n; i++) {
        most = isfinite(a[i]) ? fmax(most, fabs((double)a[i] - b[i])) : INFINITY;
        largest = fmax(largest, fabs((double)b[i]));
    }
    mine->max_abs_err = most;
    mine->largest = largest;
}

/* Compare every row of logits of n target tokens: one token per call, or several if `at_once`. */
static rt_status decoder_error(const Bench *b, const Inputs *in, int n, bool at_once, BenchEngine *mine, const BenchEngine *its)
{
    Engine *a = mine->engine, *c = its->engine;
    const int width = (int)b->session->model->target_vocab, most = at_once ? engine_rows(a) : 1;
    rt_status s = a->ops->clear(a);
    if (!s) s = c->ops->clear(c);
    for (int i = 0, rows; i < n && !s; i += rows) {
        rows = n - i < most ? n - i : most;
        s = at_once ? a->ops->decode(a, in->target + i, rows) : a->ops->step(a, in->target[i].id);
        if (!s) s = at_once ? c->ops->decode(c, in->target + i, rows) : c->ops->step(c, in->target[i].id);
        for (int k = 0; k < rows && !s; k++)
            note_error(mine, a->ops->logits(a) + k * engine_logits_stride(a), c->ops->logits(c) + k * engine_logits_stride(c), width);
    }
    return s;
}

static void buffer_error(Bench *b, const Buffer *x, const Buffer *y, int64_t rows, BenchEngine *mine, const BenchEngine *its)
{
    const size_t n = (size_t)(x->heads * rows * x->width);
    float *found = arena_array(b->arena, n, sizeof *found), *expected = arena_array(b->arena, n, sizeof *expected);
    engine_read(mine->engine, x, 0, rows, x->width, found);
    engine_read(its->engine, y, 0, rows, y->width, expected);
    note_error(mine, found, expected, (int64_t)n);
}

/* Compare the outputs of an xf.graph: buffers with the same name in both plans. */
static void graph_error(Bench *b, BenchEngine *mine, const BenchEngine *its)
{
    const Plan *p = mine->engine->plan;
    for (int i = 0; i < p->buffer_count; i++) {
        const Buffer *x = p->buffers[i], *y = plan_buffer(its->engine->plan, x->name);
        if (x->tensor->output && x->layout == LAYOUT_ROWS && y && y->layout == LAYOUT_ROWS) buffer_error(b, x, y, x->rows, mine, its);
    }
}

/* Compare every sentence of a batched call of `mine` with the sentence as `its` encodes it
 * alone. */
static rt_status sentences_error(Bench *b, const BenchTest *t, const Inputs *in, BenchEngine *mine, const BenchEngine *its)
{
    Engine *a = mine->engine, *c = its->engine;
    const Buffer *x = plan_hidden(a->plan), *y = plan_hidden(c->plan);
    const int count = bench_at_once(t, a);
    const size_t n = (size_t)(t->prompt * x->width);
    float *found = arena_array(b->arena, n * (size_t)count, sizeof *found), *expected = arena_array(b->arena, n, sizeof *expected);
    fill_sentences(t, in);
    rt_status s = read_sentences(a, t, in, count);
    if (!s) s = c->ops->encode(c, 0, in->source, t->prompt);
    if (s) return s;
    engine_read(a, x, 0, count * t->prompt, x->width, found);
    engine_read(c, y, 0, t->prompt, y->width, expected);
    for (int i = 0; i < count; i++) note_error(mine, found + (size_t)i * n, expected, (int64_t)n);
    return RT_OK;
}

/* True if another test compares the same outputs: decoding reads what was encoded. */
static bool seen_elsewhere(const BenchTest *t) { return t->work == BENCH_ENCODE || t->work == BENCH_BOTH; }

/* Compare the outputs of two engines after the work of a test. */
static rt_status compare(Bench *b, const BenchTest *t, const Inputs *in, BenchEngine *mine, const BenchEngine *its)
{
    const bool encodes = b->session->model->has_encoder;
    Engine *a = mine->engine, *c = its->engine;
    rt_status s = RT_OK;
    if (seen_elsewhere(t)) return RT_OK;
    if (t->work == BENCH_SENTENCES) return sentences_error(b, t, in, mine, its);
    if (encodes) s = a->ops->encode(a, 0, in->source, t->prompt);
    if (encodes && !s) s = c->ops->encode(c, 0, in->source, t->prompt);
    if (s) return s;
    switch (t->work) {
    case BENCH_ENCODE:
    case BENCH_SENTENCES:
    case BENCH_BOTH:      break;
    case BENCH_DECODE:
    case BENCH_GENERATE:  return decoder_error(b, in, t->generated, false, mine, its);
    case BENCH_PROMPT:    return decoder_error(b, in, t->prompt, true, mine, its);
    case BENCH_GRAPH:
        engine_forget(a);
        engine_forget(c);
        s = a->ops->run(a);
        if (!s) s = c->ops->run(c);
        if (!s) graph_error(b, mine, its);
        return s;
    }
    return RT_ORDER;
}

static const char *name_of(const Bench *b) { return b->command ? b->command : "bench"; }

static bool told(Bench *b, const BenchEngine *e, rt_status s)
{
    if (s) diag_error(b->session->diag, EXIT_OUR_BUG, (Loc){ 0 }, "%s: %s: %s", name_of(b), e->label, rt_status_text(s));
    return !s;
}

bool bench_try(Bench *b, BenchEngine *e, const BenchEngine *its)
{
    const Inputs in = inputs_of(b);
    rt_status s = RT_OK;
    const int64_t before = bench_resident_bytes();
    for (int i = 0; i < b->test_count && !s; i++) {
        fill_sentences(&b->tests[i], &in);
        time_run(e->engine, &b->tests[i], &in, &s);
    }
    const int64_t more = bench_resident_bytes() - before;
    if (more > 0) e->rss_bytes += more;
    e->max_abs_err = its ? 0 : -1;
    for (int i = 0; i < b->test_count && its && !s; i++) s = compare(b, &b->tests[i], &in, e, its);
    return told(b, e, s);
}

/* ---- all rows --------------------------------------------------------------------------------------------- */

static void show(const Bench *b, const BenchRow *r, int repetition)
{
    if (r)
        progress_say("%s, %s, %d thread%s, repetition %d of %d", r->test->name, r->engine->label,
                     r->threads, r->threads > 1 ? "s" : "", repetition + 1, b->repetitions);
    else progress_clear();
}

/* True if the deadline has passed; the first time, a remark says so. */
static bool late(Bench *b)
{
    if (b->deadline_ns == 0 || clock_now_ns() < b->deadline_ns) return false;
    if (!b->late)
        diag_remark(b->session->diag, (Loc){ 0 }, "bench: to save time, the last rows have fewer repetitions; use --seconds S to run all of them");
    return b->late = true;
}

/* Measure the rows of one test in turn; false after an error. */
static bool take_turns(Bench *b, BenchRow *rows, int n, const Inputs *in)
{
    for (int i = 0; i < n; i++) rows[i].samples_ns = arena_array(b->arena, (size_t)b->repetitions, sizeof(double));
    fill_sentences(rows->test, in);
    for (int k = 0; k < b->repetitions && (k == 0 || !late(b)); k++)
        for (int i = 0; i < n; i++) {
            show(b, &rows[i], k);
            if (!engine_start_threads(b->session->diag, rows[i].engine->engine, rows[i].threads)) return false;
            if (!told(b, rows[i].engine, repetition(b, &rows[i], in))) return false;
        }
    return true;
}

bool bench_turns(Bench *b, BenchRow *rows, int n)
{
    const Inputs in = inputs_of(b);
    const bool ok = take_turns(b, rows, n, &in);
    show(b, NULL, 0);
    return ok;
}

/* Measure all engines on one test with one number of threads. */
static bool measure_test(Bench *b, const BenchTest *t, int threads, const Inputs *in)
{
    BenchRow *rows = &b->rows[b->row_count];
    for (int i = 0; i < b->engine_count; i++) rows[i] = (BenchRow){ .engine = &b->engines[i], .test = t, .threads = threads };
    b->row_count += b->engine_count;
    return take_turns(b, rows, b->engine_count, in);
}

bool bench_measure(Bench *b)
{
    const Inputs in = inputs_of(b);
    bool ok = true;
    b->rows = arena_array(b->arena, (size_t)(b->test_count * b->thread_count * b->engine_count), sizeof *b->rows);
    for (int i = 0; i < b->engine_count && ok; i++) ok = bench_try(b, &b->engines[i], i ? &b->engines[0] : NULL);
    for (int i = 0; i < b->test_count && ok; i++)
        for (int k = 0; k < b->thread_count && ok; k++) ok = measure_test(b, &b->tests[i], b->threads[k], &in);
    show(b, NULL, 0);
    return ok;
}
