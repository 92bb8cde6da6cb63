/* verify.c: run all engines on the same inputs and compare them.
 *
 * Lengths range from one id to the longest input of the model, so that tails, full buffers and
 * empty caches are tested; if that would take too long, the longest input is shortened. */
#include "tolerance.h"
#include "verify_parts.h"

#include <math.h>
#include <string.h>

#include "progress.h"

/* ---- which is compared with which -------------------------------------------------------------------------- */

static int add_subject(Verify *v, Engine *e, int threads, bool tapped, const char *what)
{
    v->subjects[v->subject_count] = (Subject){ e, *what ? arena_format(v->arena, "%s, %s", e->name, what) : e->name, threads, tapped };
    return v->subject_count++;
}

static void add_pair(Verify *v, int a, int b, bool bits) { v->pairs[v->pair_count++] = (Pair){ a, b, bits, false }; }

/* Add the subjects of an engine, and pairs that compare them with each other; returns the subject
 * that other engines are compared with. */
static int add_engine(Verify *v, const VerifyEngine *e)
{
    int main = e->tapped ? add_subject(v, e->tapped, 1, true, "") : -1;
    if (!e->plain) return main;
    int plain = add_subject(v, e->plain, 1, false, main < 0 ? "" : "no taps");
    if (main >= 0) add_pair(v, plain, main, false);
    if (v->options->threads > 1) {
        int many = add_subject(v, e->plain, v->options->threads, false, arena_format(v->arena, "%d threads", v->options->threads));
        add_pair(v, many, plain, e->same_bits > 0);
    }
    return main < 0 ? plain : main;
}

static void add_engines(Verify *v, const VerifyEngine *engines, int n)
{
    int *main = arena_array(v->arena, (size_t)n, sizeof *main), generic = 0;
    v->subjects = arena_array(v->arena, 3 * (size_t)n, sizeof *v->subjects);
    v->pairs = arena_array(v->arena, 4 * (size_t)n, sizeof *v->pairs);
    for (int i = 0; i < n; i++) {
        if (!engines[i].tapped && !engines[i].plain) die("engine %d is neither open with taps nor without", i);
        main[i] = add_engine(v, &engines[i]);
        if (verify_is_generic(v->subjects[main[i]].engine)) generic = i;
    }
    const Subject *reference = &v->subjects[main[generic]];
    v->follower = verify_is_generic(reference->engine) && reference->tapped ? main[generic] : -1;
    for (int i = 1; i < n; i++) {
        const int first = v->pair_count;
        add_pair(v, main[i], main[0], engines[i].same_bits && engines[i].same_bits == engines[0].same_bits);
        if (i != generic && generic) add_pair(v, main[i], main[generic], false);
        /* The bits of the two engines differ before rounding, and neither follows the other. */
        for (int k = first; k < v->pair_count; k++)
            v->pairs[k].apart = model_rounds(v->model) && engines[i].same_bits && engines[i].same_bits != engines[0].same_bits;
    }
}

/* ---- comparing ------------------------------------------------------------------------------------------ */

static size_t bytes_of(const TraceTensor *t)
{
    size_t n = sizeof *t->values;
    for (int r = 0; r < t->rank; r++) n *= (size_t)t->shape[r];
    return n;
}

/* 0 only if all bits are equal, including the signs of zeros. */
static double bits_distance(const TraceTensor *a, const TraceTensor *b)
{
    double distance = trace_distance(a, b);
    if (distance) return distance;
    return memcmp(a->values, b->values, bytes_of(a)) ? INFINITY : 0;
}

/* An operation that is compared in isolation, on equal inputs, must agree to a tenth of the
 * tolerance. Over 4,400 random models the largest distance was 2e-7, three f32 roundings. */
enum { RIGHT_ALONE = 10 };

static void compare_tensor(Verify *v, const Pair *p, Trace *const *traces, const TraceTensor *a,
                           const TraceTensor *b, int order)
{
    const char *name = a ? a->name : b->name;
    VerifyRow row = { .name = name, .engine = v->subjects[p->a].label, .against = v->subjects[p->b].label, .order = order,
                      .distance = INFINITY, .tolerance = p->bits ? 0 : p->apart ? model_tolerance_apart(v->model, name)
                                                                                : model_tolerance(v->model, name) };
    if (a && b) row.distance = p->bits ? bits_distance(a, b) : trace_distance(a, b);
    row.end_to_end = row.distance;
    if (a && b && !p->bits && row_differs(&row)) {
        const double alone = verify_alone(v, p, traces, name);
        row.alone = alone <= row.tolerance / RIGHT_ALONE;
        if (row.alone) row.distance = alone;
    }
    table_add(&v->table, row);
}

/* The index of a tensor in order of execution in the first trace; one that it lacks comes last. */
static int order_of(Trace *const *traces, const char *name)
{
    const TraceTensor *t = trace_find(traces[0], name);
    return t ? (int)(t - traces[0]->tensors) : traces[0]->count;
}

/* Compare every tensor that both have; if both have taps, also those that only one has. */
static void compare_pair(Verify *v, const Pair *p, Trace *const *traces)
{
    const Trace *a = traces[p->a], *b = traces[p->b];
    const bool all = v->subjects[p->a].tapped && v->subjects[p->b].tapped;
    for (int i = 0; i < b->count; i++) {
        const TraceTensor *t = trace_find(a, b->tensors[i].name);
        if (t || all)
            compare_tensor(v, p, traces, t, &b->tensors[i], order_of(traces, b->tensors[i].name));
    }
    for (int i = 0; i < a->count && all; i++)
        if (!trace_find(b, a->tensors[i].name))
            compare_tensor(v, p, traces, &a->tensors[i], NULL,
                           order_of(traces, a->tensors[i].name));
}

/* ---- running -------------------------------------------------------------------------------------------- */

static void compare_all(Verify *v, Trace *const *traces, const Inputs *inputs)
{
    v->inputs = inputs;
    v->alone = arena_array(inputs->arena, (size_t)v->subject_count, sizeof *v->alone);
    for (int i = 0; i < v->pair_count; i++) compare_pair(v, &v->pairs[i], traces);
    v->inputs = NULL;
}

int verify_inputs(const Graph *g) { return !g->model->graph ? 6 : g->step_rows ? 5 : 2; }

/* ---- random inputs -------------------------------------------------------------------------------------- */

typedef struct Random { uint64_t state; } Random;

/* SplitMix64. The modulus is far below 2^64, so the bias is negligible. */
static uint64_t draw(Random *r, uint64_t below)
{
    uint64_t x = r->state += 0x9E3779B97F4A7C15u;
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9u;
    x = (x ^ x >> 27) * 0x94D049BB133111EBu;
    return (x ^ x >> 31) % below;
}

static int *random_ids(Arena *a, Random *r, int64_t n, int64_t vocabulary)
{
    int *ids = arena_array(a, (size_t)n, sizeof *ids);
    for (int64_t i = 0; i < n; i++) ids[i] = (int)draw(r, (uint64_t)vocabulary);
    return ids;
}

/* Keep the trace of subject 0 as the guide if the model rounds; false if t is NULL. */
static bool keep_guide(Verify *v, int i, const Trace *t)
{
    if (i == 0 && model_rounds(v->model)) v->guide = t;
    return t != NULL;
}

static bool run_ids(Verify *v, Random *r, int64_t n, int64_t m)
{
    const Model *model = v->model;
    Arena *into = arena_new();
    Trace **traces = arena_array(into, (size_t)v->subject_count, sizeof *traces);
    int *source = random_ids(into, r, n, model->has_encoder ? model->source_vocab : 1);
    int *target = random_ids(into, r, m, model->has_decoder ? model->target_vocab : 1);
    if (model->has_encoder && model->has_decoder) target[0] = (int)model->start_id;
    bool good = true;
    for (int i = 0; i < v->subject_count && good; i++)
        good = keep_guide(v, i, traces[i] = verify_trace(v, into, &v->subjects[i], source, (int)n, target, (int)m));
    v->guide = NULL;
    const Inputs inputs = { .arena = into, .source = source, .n = (int)n,
                            .target = target, .m = (int)m };
    if (good) compare_all(v, traces, &inputs);
    arena_free(into);
    return good;
}

/* The limit on the FLOPs of one input, which one engine computes in a few seconds. */
static const double MOST_FLOPS = 5e9;

static int64_t affordable(const Plan *p, ProgramKind program, int64_t most, int64_t memory)
{
    bool steps = program == PROGRAM_STEP;
    int64_t n = most;
    while (n > 16 && plan_cost(p, program, steps ? 1 : n, n, memory).flops * (steps ? (double)n : 1) > MOST_FLOPS) n = (n + 1) / 2;
    return n;
}

static bool run_all_ids(Verify *v)
{
    const Plan *p = v->subjects[0].engine->plan;
    const int64_t most_source = v->model->has_encoder ? v->model->max_source : 1, most_target = v->model->has_decoder ? v->model->max_target : 1;
    const int64_t n = affordable(p, PROGRAM_ENCODE, most_source, 0);
    const int64_t m = affordable(p, PROGRAM_STEP, most_target, n);
    if (n < most_source)
        diag_remark(v->diag, (Loc){ 0 }, "verify: to save time, sources are limited to %lld id%s", (long long)n, n == 1 ? "" : "s");
    if (m < most_target)
        diag_remark(v->diag, (Loc){ 0 }, "verify: to save time, targets are limited to %lld id%s", (long long)m, m == 1 ? "" : "s");
    Random r = { v->options->seed };
    if (!run_ids(v, &r, 1, m) || !run_ids(v, &r, n, 1) || !run_ids(v, &r, n, m)) return false;
    for (int i = 3; i < verify_inputs(p->graph); i++) {
        int64_t source = 1 + (int64_t)draw(&r, (uint64_t)n), target = 1 + (int64_t)draw(&r, (uint64_t)m);
        if (!run_ids(v, &r, source, target)) return false;
    }
    return true;
}

/* A random number for an input of this kind; one in eight is -inf in a bias, and 0 in a mask. */
static float draw_value(Random *r, Holds holds)
{
    const float x = (float)draw(r, 1 << 24) / (1 << 23) - 1;
    const bool hidden = holds != HOLDS_ANY && draw(r, 8) == 0;
    if (holds == HOLDS_MASK) return hidden ? 0 : 1;
    return hidden ? -INFINITY : x;
}

/* True if the graph computes a mask from its inputs; random inputs would not make a valid mask. */
static bool computes_masks(const Graph *g)
{
    for (int i = 0; i < g->tensor_count; i++)
        if (g->tensors[i]->kind == TENSOR_TEMP && g->tensors[i]->holds == HOLDS_MASK) return true;
    return false;
}

/* Set inputs to random numbers; those with numbers in the spec keep them unless `all`. If the graph
 * computes masks, no input is random. */
static void set_inputs(Arena *a, Engine *e, Random r, bool all)
{
    const Graph *g = e->plan->graph;
    engine_inputs(e);
    for (int i = 0; i < g->tensor_count && !computes_masks(g); i++) {
        const Tensor *t = g->tensors[i];
        if (t->kind != TENSOR_INPUT || t->integer || (t->values && !all)) continue;
        int64_t n = 1;
        for (int k = 0; k < t->rank; k++) n *= t->dim[k].bound;
        float *values = arena_array(a, (size_t)n, sizeof *values);
        for (int64_t j = 0; j < n; j++) values[j] = draw_value(&r, t->holds);
        engine_set_input(e, t->name, values);
    }
}

/* Restore a subject's sequence, or begin a new one if it has no room, and set the inputs. */
static void go_on(Verify *v, Arena *a, int subject, Random r, bool all)
{
    Engine *e = v->subjects[subject].engine;
    memcpy(e->state, v->states[subject], e->plan->state_bytes);
    if (!engine_has_room(e)) engine_forget(e);
    set_inputs(a, e, r, all);
}

/* Make an empty sequence for every subject, in the arena. */
static void begin_sequences(Verify *v, Arena *a)
{
    v->states = arena_array(a, (size_t)v->subject_count, sizeof *v->states);
    for (int i = 0; i < v->subject_count; i++) {
        const Engine *e = v->subjects[i].engine;
        v->states[i] = arena_alloc(a, e->plan->state_bytes);
        memcpy(v->states[i], e->state, e->plan->state_bytes);
        memset(v->states[i], 0, e->plan->header_bytes);
    }
}

static bool run_graph(Verify *v, Random r, bool all)
{
    Arena *into = arena_new();
    Trace **traces = arena_array(into, (size_t)v->subject_count, sizeof *traces);
    Inputs inputs = { .arena = into };
    bool good = true;
    for (int i = 0; i < v->subject_count && good; i++) {
        const Engine *e = v->subjects[i].engine;
        go_on(v, into, i, r, all);
        if (i == v->follower) inputs.state = memcpy(arena_alloc(into, e->plan->state_bytes), e->state,
                                                    e->plan->state_bytes);
        good = keep_guide(v, i, traces[i] = verify_trace_graph(v, into, &v->subjects[i]));
        memcpy(v->states[i], e->state, e->plan->state_bytes);
    }
    v->guide = NULL;
    if (good) compare_all(v, traces, &inputs);
    arena_free(into);
    return good;
}

/* A graph with caches runs a few more steps; they continue one sequence while there is room. */
static bool run_all_graphs(Verify *v)
{
    const Graph *g = v->subjects[0].engine->plan->graph;
    const Random r = { v->options->seed };
    if (computes_masks(g))
        diag_remark(v->diag, (Loc){ 0 }, "verify: using the spec's own inputs, since random ones would "
                    "not give a valid mask in this graph");
    Arena *states = arena_new();
    begin_sequences(v, states);
    bool good = run_graph(v, r, false) && run_graph(v, r, true);
    for (int i = 2; i < verify_inputs(g) && good; i++)
        good = run_graph(v, (Random){ v->options->seed + (uint64_t)(i - 1) }, true);
    v->states = NULL;
    arena_free(states);
    return good;
}

/* ---- all of it ------------------------------------------------------------------------------------------ */

static void report(Verify *v, const VerifyEngine *engines, int n, FILE *out)
{
    progress_clear();
    table_sort(&v->table);
    v->table.unknown = v->unknown;
    const VerifyRow *first = table_first_differing(&v->table);
    if (v->options->json) {
        const char **names = arena_array(v->arena, (size_t)n, sizeof *names);
        for (int i = 0; i < n; i++) names[i] = engines[i].tapped ? engines[i].tapped->name : engines[i].plain->name;
        table_print_json(&v->table, names, n, v->options->more ? v->options->more : "", out);
        if (first) diag_remark(v->diag, (Loc){ 0 }, "verify: first difference: %s", row_text(v->arena, first));
        return;
    }
    table_print(&v->table, v->options->all, out);
    if (first) fprintf(out, "verify: first difference: %s\n", row_text(v->arena, first));
}

Exit verify_run(Arena *a, Diag *d, const Model *m, const VerifyEngine *engines, int n, const VerifyOptions *options, FILE *out)
{
    Verify v = { .arena = a, .diag = d, .model = m, .options = options, .table = { .arena = a } };
    const int errors = diag_errors(d);
    add_engines(&v, engines, n);
    bool good = options->against ? verify_reference(&v) : m->model_kind == KIND_GRAPH ? run_all_graphs(&v) : run_all_ids(&v);
    if (!good || diag_errors(d) > errors) return diag_exit(d);
    report(&v, engines, n, out);
    return table_differing(&v.table) || v.unknown ? EXIT_DIFFERS : EXIT_DONE;
}
