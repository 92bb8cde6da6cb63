/* bench_tests.c: choose the tests for a model, and count what one run of each test computes and
 * reads. */
#include "bench.h"

#include <math.h>
#include <string.h>

#include "progress.h"

/* ---- work ------------------------------------------------------------------------------------------------- */

typedef struct Work { double flops, bytes; } Work;

static Work sum(Work a, Work b) { return (Work){ a.flops + b.flops, a.bytes + b.bytes }; }

/* Bytes of keys and values that an attention operation reads once for all its rows. */
static double cache_bytes(const PlanOp *op, int64_t keys, int64_t memory_keys)
{
    if (!kernel_is_attention(op->kernel)) return 0;
    const Tensor *k = op->node->in[1];
    int64_t seen = k->kind == TENSOR_STATE && k->dim[0].count == COUNT_SOURCE ? memory_keys : keys;
    if (op->node->window && seen > op->node->window) seen = op->node->window;
    double bytes = 0;
    for (int i = 1; i <= 2; i++) {
        const Buffer *b = op->in[i];
        bytes += (double)b->heads * ((double)b->width * (double)buffer_element_bytes(b) + (double)buffer_scale_bytes(b));
    }
    return bytes * (double)seen;
}

/* The work of one call of a program. Each row sees `keys` keys on average, and at most `most`. */
static Work program_work(const Plan *p, ProgramKind kind, int64_t rows, int64_t keys, int64_t most,
                         int64_t memory_keys)
{
    const Cost c = plan_cost(p, kind, rows, keys, memory_keys);
    const PlanPart part = plan_part(p, kind);
    Work w = { c.flops, c.weight_bytes };
    for (int i = 0; i < part.runs; i++) {
        const PlanBlock *b = part.program->runs[i].block;
        for (int j = 0; j < b->op_count; j++)
            w.bytes += cache_bytes(&b->ops[j], most, memory_keys) * plan_part_layers(&part, i, j);
    }
    return w;
}

static Work encode_work(const Plan *p, int n)
{
    return program_work(p, PROGRAM_ENCODE, n, n, n, n);
}

/* The work of a batch, in calls of up to `at_once` sentences; each call reads the weights once. */
static Work sentences_work(const Plan *p, const BenchTest *t)
{
    const int n = t->prompt;
    const Work one = encode_work(p, n);
    const double caches = one.bytes - plan_cost(p, PROGRAM_ENCODE, n, n, n).weight_bytes;
    Work all = { one.flops * t->batch, caches * t->batch };
    for (int left = t->batch; left > 0; left -= t->at_once) {
        const int rows = (left < t->at_once ? left : t->at_once) * n;
        all.bytes += plan_cost(p, PROGRAM_ENCODE, rows, n, n).weight_bytes;
    }
    return all;
}

static Work steps_work(const Plan *p, int steps, int source)
{
    Work w = { 0, 0 };
    for (int i = 1; i <= steps; i++) w = sum(w, program_work(p, PROGRAM_STEP, 1, i, i, source));
    return w;
}

/* The work of a prompt: calls of up to `most` rows without logits, and a step for the last token. A
 * row sees itself and those before it. */
static Work prompt_work(const Plan *p, int n, int most)
{
    Work w = program_work(p, PROGRAM_STEP, 1, n, n, 0);
    for (int first = 0, rows; first < n - 1; first += rows) {
        rows = n - 1 - first < most ? n - 1 - first : most;
        w = sum(w, program_work(p, rows > 1 ? PROGRAM_PREFILL : PROGRAM_STEP, rows,
                                first + (rows + 1) / 2, first + rows, 0));
    }
    return w;
}

/* The work of an xf.graph: every operation on all its rows. */
static Work graph_work(const Plan *p)
{
    const PlanProgram *pp = plan_program(p, PROGRAM_RUN);
    Work w = { 0, 0 };
    for (int i = 0; i < pp->count; i++)
        for (int j = 0; j < pp->runs[i].block->op_count; j++) {
            const PlanOp *op = &pp->runs[i].block->ops[j];
            const int64_t keys = kernel_is_attention(op->kernel) ? op->node->in[1]->dim[0].bound : 0;
            const Cost c = plan_op_cost(op, op->result->dim[op->result->rank == 3].bound, keys, keys);
            w = sum(w, (Work){ c.flops, c.weight_bytes + cache_bytes(op, keys, keys) });
        }
    return w;
}

static void count_work(const Plan *p, BenchTest *t)
{
    Work all = { 0, 0 };
    double held = 0;
    switch (t->work) {
    case BENCH_ENCODE:
        all = encode_work(p, t->prompt);
        held = all.bytes;
        break;
    case BENCH_SENTENCES:
        all = sentences_work(p, t);
        held = encode_work(p, t->prompt).bytes;
        break;
    case BENCH_DECODE:
        all = steps_work(p, t->generated, t->prompt);
        held = program_work(p, PROGRAM_STEP, 1, t->generated, t->generated, t->prompt).bytes;
        break;
    case BENCH_BOTH:
        all = sum(encode_work(p, t->prompt), steps_work(p, t->generated, t->prompt));
        held = encode_work(p, t->prompt).bytes +
               program_work(p, PROGRAM_STEP, 1, t->generated, t->generated, t->prompt).bytes;
        break;
    case BENCH_PROMPT:
        all = prompt_work(p, t->prompt, plan_rows(p));
        held = program_work(p, PROGRAM_STEP, 1, t->prompt, t->prompt, 0).bytes;
        break;
    case BENCH_GENERATE:
        all = steps_work(p, t->generated, 0);
        held = program_work(p, PROGRAM_STEP, 1, t->generated, t->generated, 0).bytes;
        break;
    case BENCH_GRAPH:
        all = graph_work(p);
        held = all.bytes;
        break;
    }
    t->flops = all.flops;
    t->bytes = all.bytes;
    t->held = held;
}

/* ---- which ------------------------------------------------------------------------------------------------ */

enum { MOST_TESTS = 16 };

static void add(Bench *b, BenchWork work, const char *name, int prompt, int generated, int batch)
{
    BenchTest *t = &b->tests[b->test_count++];
    const int places = (prompt + 15) / 16 * 16;     /* rows of every sentence but the last */
    const int fit = batch > 1 ? ((int)b->session->model->max_source - prompt) / places + 1 : 1;
    *t = (BenchTest){ .name = name, .work = work, .prompt = prompt, .generated = generated, .batch = batch,
                      .at_once = fit < batch ? fit : batch };
    count_work(b->plan, t);
}

static int at_least_1(int64_t n) { return n > 1 ? (int)n : 1; }
static int lesser(int64_t a, int64_t b) { return (int)(a < b ? a : b); }

/* Lengths are the model's own, divided by `shorter`; the last position of a target is never an
 * input. dec keeps the length of its source as `prompt`. */
static void add_both(Bench *b, int shorter)
{
    const Model *m = b->session->model;
    const int source = at_least_1(m->max_source / shorter), written = at_least_1((m->max_target - 1) / shorter);
    add(b, BENCH_ENCODE, "enc", source, 0, 1);
    add(b, BENCH_DECODE, "dec", source, written, 1);
    add(b, BENCH_BOTH, "e2e", source, written, 1);
}

static void add_decoder(Bench *b, int shorter)
{
    enum { PROMPT = 512, GENERATED = 128 };
    const int64_t most = b->session->model->max_target;
    const int prompt = at_least_1(lesser(most, PROMPT) / shorter), generated = at_least_1(lesser(most, GENERATED) / shorter);
    add(b, BENCH_PROMPT, arena_format(b->arena, "pp%d", prompt), prompt, 0, 1);
    add(b, BENCH_GENERATE, arena_format(b->arena, "tg%d", generated), 0, generated, 1);
}

/* Lengths are not shortened; instead, if `shorter` is above 1, the tests with the most tokens are
 * left out. */
static void add_encoder(Bench *b, int shorter)
{
    static const int lengths[] = { 16, 128, 512 }, batches[] = { 1, 8, 32 };
    const int64_t most = b->session->model->max_source;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            const int length = lengths[i], batch = batches[j];
            if (length > most && i > 0) continue;
            if ((double)length * batch * shorter > 512.0 * 32 && i + j > 0) continue;
            const int n = lesser(length, most);
            add(b, BENCH_SENTENCES, arena_format(b->arena, "b%dx%d", batch, n), n, 0, batch);
        }
}

/* Set all tests, with lengths divided by `shorter`, but at least 1; see add_encoder. */
static void add_tests(Bench *b, int shorter)
{
    b->test_count = 0;
    switch (b->session->model->model_kind) {
    case KIND_ENCODER_DECODER: add_both(b, shorter); break;
    case KIND_DECODER:         add_decoder(b, shorter); break;
    case KIND_ENCODER:         add_encoder(b, shorter); break;
    case KIND_GRAPH:           add(b, BENCH_GRAPH, "run", 0, 0, 1); break;
    }
}

/* ---- time ------------------------------------------------------------------------------------------------- */

/* The longest time that measuring should take, without compiling and loading. */
static const double MOST_SECONDS = 25;

static double row_seconds(const Bench *b)
{
    const double share = MOST_SECONDS / (b->test_count * b->thread_count * b->engine_count);
    return b->seconds > 0 ? b->seconds : share < 1 ? share : 1;
}

/* An estimate: every engine runs at a third of the limit, with one warm-up run per repetition. */
static double all_seconds(const Bench *b)
{
    double all = 0;
    for (int i = 0; i < b->test_count; i++)
        for (int k = 0; k < b->thread_count; k++) {
            const BenchTest *t = &b->tests[i];
            const int threads = b->threads[k];
            const double once = 3 * limits_seconds(&b->limits, t->flops, t->bytes, limits_level(&b->limits, t->held, threads), threads);
            all += b->engine_count * fmax(row_seconds(b), 2 * b->repetitions * once);
        }
    return all;
}

int bench_choose_tests(Bench *b)
{
    enum { SHORTEST = 64 };
    const bool fixed = b->session->model->model_kind == KIND_GRAPH;
    int shorter = 1;
    b->tests = arena_array(b->arena, MOST_TESTS, sizeof *b->tests);
    add_tests(b, shorter);
    while (!fixed && b->seconds == 0 && all_seconds(b) > 1.2 * MOST_SECONDS && shorter < SHORTEST) add_tests(b, shorter *= 2);
    b->deadline_ns = b->seconds > 0 ? 0 : clock_now_ns() + (int64_t)(1.3e9 * MOST_SECONDS);
    b->seconds = row_seconds(b);
    return shorter;
}

void bench_tests(Bench *b)
{
    const bool left_out = b->session->model->model_kind == KIND_ENCODER;    /* see add_encoder */
    if (bench_choose_tests(b) > 1)
        diag_remark(b->session->diag, (Loc){ 0 }, "bench: tests were %s to save time; use --seconds S to run them %s",
                    left_out ? "left out" : "shortened", left_out ? "all" : "in full");
}

void bench_tests_like(Bench *b, const Bench *other)
{
    b->tests = arena_array(b->arena, MOST_TESTS, sizeof *b->tests);
    b->test_count = other->test_count;
    for (int i = 0; i < b->test_count; i++) {
        b->tests[i] = other->tests[i];
        count_work(b->plan, &b->tests[i]);
    }
}

void bench_choose_threads(Bench *b, const int *asked, int count)
{
    const int threads = session_max_threads(&b->session->options), room = threads < LIMIT_THREADS ? threads : LIMIT_THREADS;
    const int processors = rt_processors() < room ? rt_processors() : room;
    int *list = arena_array(b->arena, LIMIT_THREADS + 1, sizeof *list), n = 0;
    for (int i = 0; i < count; i++) list[n++] = asked[i] < room ? asked[i] : room;
    for (int i = 1; !count && i < processors; i = i < 4 ? i + 1 : 2 * i) list[n++] = i;
    if (!count) list[n++] = processors;
    b->threads = list;
    b->thread_count = n;
}

bool bench_probe(Bench *b)
{
    progress_say("probing the machine");
    if (limits_probe(&b->limits, b->threads, b->thread_count)) return true;
    diag_error(b->session->diag, EXIT_NO_FEATURE, (Loc){ 0 }, "cannot probe the machine: no memory or no threads");
    return false;
}
