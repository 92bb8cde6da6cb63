/* test_generic.c: The generic engine against PyTorch (every intermediate tensor of several goldens)
 * and against the worked example. A step with the KV cache equals a replay from the start. Inputs,
 * masks, windows, greedy ids, copies of a state, threads, errors, distances of tensors. Weights
 * that are read anew, packed or shared give the same results. */
#include "engine_test.h"
#include "generic.h"
#include "pack_parts.h"
#include "weights.h"

#include <math.h>
#include <string.h>

enum { START = 1 };

/* ---- against PyTorch ------------------------------------------------------------------------- */

static void check_tensor(const Opened *o, const Trace *t, const TensorSource *expected)
{
    const TraceTensor *found = trace_find(t, expected->name);
    if (!found) fail_msg("%s is not traced", expected->name);
    TraceTensor x = { .name = expected->name, .rank = expected->rank };
    memcpy(x.shape, expected->shape, sizeof x.shape);
    x.values = arena_array(o->arena, (size_t)tensor_elements(expected), sizeof *x.values);
    tensor_read(expected, x.values);
    double distance = trace_distance(found, &x);
    if (!(distance <= 1e-5)) fail_msg("%s: %s: %g", o->model->name, expected->name, distance);
}

/* Every float tensor of the reference appears in the trace under its name, and agrees. */
static void check_golden(const char *name)
{
    Opened o = open_golden(name);
    TensorFile *f = safetensors_open(o.arena, o.diag, (Loc){ 0 }, golden_reference(o.arena, name));
    assert_non_null(f);
    Ids source = read_ids(o.arena, f, "source"), target = read_ids(o.arena, f, "target");
    Trace *t = trace_run(o.arena, o.tapped, source.id, source.n, target.id, target.n);
    assert_int_equal(t->status, RT_OK);
    for (int i = 0; i < f->count; i++)
        if (f->tensors[i].dtype == DTYPE_F32) check_tensor(&o, t, &f->tensors[i]);
    tensor_file_close(f);
    close_spec(&o);
}

static void goldens_agree(void **state)
{
    (void)state;
    for (int i = 0; golden_names[i]; i++) check_golden(golden_names[i]);
}

/* ---- the worked example ---------------------------------------------------------------------- */

static void check_values(const Trace *t, const char *name, const float *expected, int n)
{
    const TraceTensor *x = trace_find(t, name);
    assert_non_null(x);
    for (int i = 0; i < n; i++)
        if (fabsf(x->values[i] - expected[i]) > 1e-5f) fail_msg("%s[%d] is %.6f, expected %.6f", name, i, x->values[i], expected[i]);
}

/* Three words, computed by hand. */
static void the_worked_example_is_reproduced(void **state)
{
    (void)state;
    static const float q[] = { 1, 1, 1, 2, 2, 2, 2, 2, 2 }, k[] = { 0, 2, 1, 4, 0, 2, 2, 2, 2 }, v[] = { 0, 1, 1, 4, 2, 2, 2, 2, 2 };
    static const float scores[] = { 3, 6, 6, 6, 12, 12, 6, 12, 12 };
    static const float weights[] = { 0.08127f, 0.45936f, 0.45936f, 0.01541f, 0.49230f, 0.49230f, 0.01541f, 0.49230f, 0.49230f };
    static const float z[] = { 2.75619f, 1.91873f, 1.91873f, 2.95377f, 1.98459f, 1.98459f, 2.95377f, 1.98459f, 1.98459f };
    static const char *const order[] = { "X", "Q", "K", "V", "Z", "weights", "scores" };
    Opened o = open_spec("tests/engines/worked_example.lua");
    Trace *t = trace_graph(o.arena, o.tapped);
    assert_int_equal(t->status, RT_OK);
    assert_int_equal(t->count, 7);
    for (int i = 0; i < t->count; i++) assert_string_equal(t->tensors[i].name, order[i]);
    check_values(t, "Q", q, 9);
    check_values(t, "K", k, 9);
    check_values(t, "V", v, 9);
    check_values(t, "scores", scores, 9);
    check_values(t, "weights", weights, 9);
    check_values(t, "Z", z, 9);
    close_spec(&o);
}

/* Row 0 sees no key: zeros. Row 1 sees one key and gives that key's value. */
static void rows_see_only_what_they_may(void **state)
{
    (void)state;
    static const float weights[] = { 0, 0, 0, 1, 0, 0 }, z[] = { 0, 0, 0, 0, 1, 1 }, mask[] = { 0, 0, 0, 1, 0, 0, 1, 1, 1 };
    Opened o = open_spec("tests/engines/masked_example.lua");
    engine_set_input(o.tapped, "mask", mask);
    Trace *t = trace_graph(o.arena, o.tapped);
    check_values(t, "weights", weights, 6);
    check_values(t, "Z", z, 6);
    close_spec(&o);
}

static void inputs_are_set_and_reset(void **state)
{
    (void)state;
    static const float ones[12] = { 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1 }, q[] = { 2, 2, 2 }, first[] = { 1, 1, 1 };
    Opened o = open_spec("tests/engines/worked_example.lua");
    engine_set_input(o.tapped, "X", ones);
    Trace *t = trace_graph(o.arena, o.tapped);
    check_values(t, "X", ones, 12);
    check_values(t, "Q", q, 3);
    engine_reset(o.tapped);
    check_values(trace_graph(o.arena, o.tapped), "Q", first, 3);
    close_spec(&o);
}

/* ---- the cache ------------------------------------------------------------------------------- */

static void feed(Engine *e, const int *target, int m)
{
    for (int i = 0; i < m; i++) assert_int_equal(e->ops->step(e, target[i]), RT_OK);
}

/* Each step gives the same bits as that step in a fresh state, after a replay of all steps before
 * it. */
static void a_step_equals_a_replay(void **state)
{
    (void)state;
    Opened o = open_golden("longest");
    static const int source[] = { 3, 12, 7, 7, 5 }, target[] = { 1, 9, 4, 4, 16, 0, 2, 8, 11 };
    const size_t bytes = (size_t)o.model->target_vocab * sizeof(float);
    assert_int_equal(o.plain->ops->encode(o.plain, 0, source, 5), RT_OK);
    for (int i = 0; i < 9; i++) {
        feed(o.plain, target + i, 1);
        engine_reset(o.tapped);
        assert_int_equal(o.tapped->ops->encode(o.tapped, 0, source, 5), RT_OK);
        feed(o.tapped, target, i + 1);
        assert_memory_equal(o.plain->ops->logits(o.plain), o.tapped->ops->logits(o.tapped), bytes);
    }
    close_spec(&o);
}

/* Data that a longer source or target left in the state does not affect a shorter one. */
static void a_used_state_is_as_a_new_one(void **state)
{
    (void)state;
    static const int source[12] = { 3, 12, 7, 7, 5, 4, 9, 9, 1, 0, 2, 6 }, target[9] = { 1, 9, 4, 4, 16, 0, 2, 8, 11 };
    Opened o = open_golden("longest"), fresh = open_golden("longest");
    trace_run(o.arena, o.tapped, source, 12, target, 9);
    Trace *used = trace_run(o.arena, o.tapped, source, 2, target, 3), *new = trace_run(fresh.arena, fresh.tapped, source, 2, target, 3);
    for (int i = 0; i < new->count; i++) assert_true(trace_distance(trace_find(used, new->tensors[i].name), &new->tensors[i]) == 0);
    close_spec(&o);
    close_spec(&fresh);
}

/* A state is its bytes: an engine that receives a copy continues the sequence. */
static void a_copied_state_goes_on(void **state)
{
    (void)state;
    Opened o = open_golden("pre_layer"), other = open_golden("pre_layer");
    static const int source[] = { 3, 4, 5 }, target[] = { 1, 6, 7 };
    assert_int_equal(o.plain->ops->encode(o.plain, 0, source, 3), RT_OK);
    feed(o.plain, target, 2);
    memcpy(other.plain->state, o.plain->state, o.plain->plan->state_bytes);
    feed(o.plain, target + 2, 1);
    feed(other.plain, target + 2, 1);
    assert_memory_equal(o.plain->ops->logits(o.plain), other.plain->ops->logits(other.plain), (size_t)o.model->target_vocab * sizeof(float));
    close_spec(&o);
    close_spec(&other);
}

static void first_maximum(const Opened *o, const float *p, int best)
{
    for (int j = 0; j < o->model->target_vocab; j++) assert_true(j < best ? p[j] < p[best] : p[j] <= p[best]);
}

/* `next` gives the index of the first maximum of a step's logits, decode_greedy that of each of
 * several rows. The log-softmax does not change the ids. */
static void next_is_the_argmax_of_step(void **state)
{
    (void)state;
    Opened o = open_golden("awkward");
    static const int source[] = { 3, 4, 5, 9 };
    int id = START, best, next[3];
    rt_token rows[3];
    assert_int_equal(o.plain->ops->encode(o.plain, 0, source, 4), RT_OK);
    assert_int_equal(o.tapped->ops->encode(o.tapped, 0, source, 4), RT_OK);
    for (int i = 0; i < o.model->max_target; i++) {
        assert_int_equal(o.plain->ops->step(o.plain, id), RT_OK);
        assert_int_equal(o.tapped->ops->next(o.tapped, id, &best), RT_OK);
        first_maximum(&o, o.plain->ops->logits(o.plain), best);
        if (i < 3) rows[i] = (rt_token){ 0, i, id };
        id = best;
    }
    assert_int_equal(o.tapped->ops->clear(o.tapped), RT_OK);
    assert_int_equal(o.plain->ops->decode(o.plain, rows, 3), RT_OK);
    assert_int_equal(o.tapped->ops->decode_greedy(o.tapped, rows, 3, next), RT_OK);
    for (int i = 0; i < 3; i++) first_maximum(&o, o.plain->ops->logits(o.plain) + i * engine_logits_stride(o.plain), next[i]);
    rows[2].id = (int)o.model->target_vocab;
    assert_int_equal(o.tapped->ops->decode_greedy(o.tapped, rows, 3, next), RT_BAD_ID);
    close_spec(&o);
}

/* ---- threads, errors ------------------------------------------------------------------------- */

static void threads_agree(void **state)
{
    (void)state;
    static const int source[12] = { 3, 12, 7, 7, 5, 4, 9, 9, 1, 0, 2, 6 }, target[] = { 1, 9 };
    Opened o = open_golden("longest");
    Trace *one = trace_run(o.arena, o.tapped, source, 12, target, 2);
    assert_int_equal(o.tapped->ops->threads(o.tapped, 2), RT_OK);
    Trace *two = trace_run(o.arena, o.tapped, source, 12, target, 2);
    for (int i = 0; i < one->count; i++) assert_true(trace_distance(&two->tensors[i], &one->tensors[i]) <= 1e-5);
    assert_int_equal(o.tapped->ops->threads(o.tapped, 0), RT_NO_ROOM);
    close_spec(&o);
}

static void what_does_not_fit_is_refused(void **state)
{
    (void)state;
    Opened o = open_golden("longest");
    Engine *e = o.plain;
    const int vocabulary = (int)o.model->target_vocab;
    int ids[13] = { 3 }, bad[] = { 3, (int)o.model->source_vocab }, next;
    assert_int_equal(e->ops->step(e, START), RT_ORDER);
    assert_int_equal(e->ops->next(e, START, &next), RT_ORDER);
    assert_int_equal(e->ops->run(e), RT_ORDER);
    assert_int_equal(e->ops->encode(e, 0, ids, 0), RT_ORDER);
    assert_int_equal(e->ops->encode(e, 0, ids, 13), RT_TOO_LONG);
    assert_int_equal(e->ops->encode(e, 0, bad, 2), RT_BAD_ID);
    bad[1] = -1;
    assert_int_equal(e->ops->encode(e, 0, bad, 2), RT_BAD_ID);
    assert_int_equal(e->ops->step(e, START), RT_ORDER);     /* none of these sets a source */
    assert_int_equal(e->ops->encode(e, 0, ids, 12), RT_OK);
    assert_int_equal(e->ops->step(e, vocabulary), RT_BAD_ID);
    assert_int_equal(e->ops->step(e, -1), RT_BAD_ID);
    for (int i = 0; i < o.model->max_target; i++) assert_int_equal(e->ops->step(e, vocabulary - 1), RT_OK);
    assert_int_equal(e->ops->step(e, START), RT_TOO_LONG);
    assert_int_equal(e->ops->next(e, START, &next), RT_TOO_LONG);
    engine_reset(e);
    assert_int_equal(e->ops->step(e, START), RT_ORDER);
    close_spec(&o);
}

/* The generic engine keeps every key, but like engines with ring buffers it goes back at most 8
 * rows from the furthest position, or to position 0. */
static void a_window_is_taken_back_as_rings_are(void **state)
{
    (void)state;
    Opened o = open_spec("tests/specs/windows.lua");
    Engine *e = o.plain;
    assert_int_equal(o.plain->plan->back, 8);
    for (int i = 0; i < 40; i++) assert_int_equal(e->ops->step(e, 3), RT_OK);
    assert_int_equal(e->ops->decode(e, &(rt_token){ 0, 31, 3 }, 1), RT_ORDER);
    assert_int_equal(e->ops->decode(e, &(rt_token){ 0, 41, 3 }, 1), RT_ORDER);
    assert_int_equal(e->ops->decode(e, &(rt_token){ 0, 32, 3 }, 1), RT_OK);
    assert_int_equal(e->ops->decode(e, &(rt_token){ 0, 31, 3 }, 1), RT_ORDER);
    assert_int_equal(e->ops->decode(e, &(rt_token){ 0, 0, 3 }, 1), RT_OK);
    assert_int_equal(e->ops->step(e, 3), RT_OK);
    assert_int_equal(e->ops->decode(e, &(rt_token){ 0, 1, 3 }, 1), RT_OK);
    close_spec(&o);
}

static void a_graph_takes_no_sentences(void **state)
{
    (void)state;
    Opened o = open_spec("tests/engines/worked_example.lua");
    assert_int_equal(o.plain->ops->encode(o.plain, 0, (const int[]){ 1 }, 1), RT_ORDER);
    assert_int_equal(o.plain->ops->step(o.plain, 1), RT_ORDER);
    close_spec(&o);
}

static void a_trace_tells_its_status(void **state)
{
    (void)state;
    Opened o = open_golden("length_one");
    assert_int_equal(trace_run(o.arena, o.tapped, (const int[]){ 99 }, 1, (const int[]){ 1 }, 1)->status, RT_BAD_ID);
    assert_int_equal(trace_run(o.arena, o.tapped, (const int[]){ 3 }, 1, (const int[]){ 1, 99 }, 2)->status, RT_BAD_ID);
    assert_int_equal(trace_run(o.arena, o.tapped, NULL, 0, NULL, 0)->status, RT_ORDER);
    Trace *t = trace_run(o.arena, o.plain, (const int[]){ 3 }, 1, (const int[]){ 1, 4 }, 2);
    assert_int_equal(t->status, RT_OK);
    assert_int_equal(t->count, 1);                          /* without taps: the program's result */
    assert_string_equal(t->tensors[0].name, "log_probs");
    close_spec(&o);
}

/* ---- distances ------------------------------------------------------------------------------- */

static double distance_of(bool lowest, float a0, float a1, float b0, float b1)
{
    const TraceTensor a = { "a", 1, { 2 }, (float[]){ a0, a1 }, lowest };
    const TraceTensor b = { "b", 1, { 2 }, (float[]){ b0, b1 }, false };
    return trace_distance(&a, &b);
}

static double distance(float a0, float a1, float b0, float b1)
{
    return distance_of(false, a0, a1, b0, b1);
}

static void distances_are_relative_to_the_largest(void **state)
{
    (void)state;
    assert_true(distance(1, 2, 1, 2) == 0);
    assert_true(distance(0, 0, 0, 0) == 0);
    assert_true(distance(1, 3, 1, 4) == 0.25);
    assert_true(distance(1, 0, 0, 0) == INFINITY);
    assert_true(distance(NAN, 0, 1, 0) == INFINITY);
    assert_true(distance(1, 0, 1, NAN) == INFINITY);
    assert_true(distance(INFINITY, 0, INFINITY, 0) == INFINITY);
    assert_true(distance_of(true, -INFINITY, 3, -INFINITY, 4) == 0.25);
    assert_true(distance_of(true, -INFINITY, 3, 3, 3) == INFINITY);
    assert_true(distance_of(true, 3, 3, -INFINITY, 3) == INFINITY);
    assert_true(distance_of(true, INFINITY, 3, INFINITY, 3) == INFINITY);
    assert_true(distance_of(true, NAN, 3, NAN, 3) == INFINITY);
    const TraceTensor a = { "a", 1, { 2 }, (float[]){ 1, 2 }, false };
    const TraceTensor b = { "b", 2, { 2, 1 }, (float[]){ 1, 2 }, false };
    assert_true(trace_distance(&a, &b) == INFINITY);
}

/* ---- weights that are not kept --------------------------------------------------------------- */

/* Run a source, several rows of a target, then one row, with the programs encode, decode and step
 * that the model has. statuses: one per call. */
static void run_all(Engine *e, const Model *m, rt_status statuses[3])
{
    const int source[] = { 3, 4, 2 };
    const rt_token rows[] = { { 0, 0, 1 }, { 0, 1, 3 }, { 0, 2, 4 } };
    if (m->has_encoder) statuses[0] = e->ops->encode(e, 0, source, 3);
    if (m->has_decoder) {
        statuses[1] = e->ops->decode(e, rows, 3);
        statuses[2] = e->ops->step(e, 3);
    }
}

/* With matrices from packed data the state is that of `kept`. With zeros in place of the data it is
 * not, so the matrices do come from the data. */
static void compare_packed(const Opened *o, const Plan *p, const Engine *kept, const char *name)
{
    int n;
    const PlanOptions options = { .target = TARGET_PANELS, .slots = 1, .max_threads = 1 };
    const Plan *panels = plan_make(o->arena, o->graph, options);
    const PackEntry *e = pack_entries(o->arena, panels, &n);
    unsigned char *data = arena_alloc(o->arena, panels->weights_bytes);
    const PackedData packed = { panels, data };
    for (int zeros = 1; zeros >= 0; zeros--) {
        rt_status statuses[3] = { RT_OK };
        if (!zeros) pack_tensors(data, e, n);
        Engine *unpacked = generic_open_packed(o->arena, p, &packed);
        run_all(unpacked, o->model, statuses);
        const bool same = memcmp(kept->state, unpacked->state, p->state_bytes) == 0;
        if (same == zeros) fail_msg("%s: %s state", name, zeros ? "the same" : "a different");
        engine_close(unpacked);
    }
}

/* ---- a layer at a time ----------------------------------------------------------------------- */

static void compare_traces(const Trace *a, const Trace *b, const char *name)
{
    assert_int_equal(a->status, RT_OK);
    assert_int_equal(b->status, RT_OK);
    assert_int_equal(a->count, b->count);
    for (int i = 0; i < a->count; i++) {
        const TraceTensor *x = &a->tensors[i], *y = trace_find(b, x->name);
        size_t bytes = sizeof *x->values;
        for (int r = 0; r < x->rank; r++) bytes *= (size_t)x->shape[r];
        assert_non_null(y);
        assert_memory_equal(x->shape, y->shape, sizeof x->shape);
        if (memcmp(x->values, y->values, bytes) != 0) fail_msg("%s: %s differs", name, x->name);
    }
}

/* The values of every other tensor of the trace `user`; NULL for the rest. */
static const float *half_of_them(void *user, const char *name)
{
    const Trace *t = user;
    const TraceTensor *found = trace_find(t, name);
    return found && (found - t->tensors) % 2 ? found->values : NULL;
}

/* An engine that reads its weights anew, a layer at a time, gives the same traces as one that keeps
 * them: plain ones, those that follow half of an earlier trace (generic_follow), and those of the
 * sizes of terms (generic_weigh). Afterwards, and after one more step of a decoder, both states
 * have the same header and slot. */
static void compare_walk(const Opened *o, Engine *kept, Engine *anew, const char *name)
{
    const int source[] = { 3, 4, 2, 1 }, target[] = { 1, 3, 4, 2, 0, 3, 1 };
    const int n = 4, m = o->model->max_target < 7 ? (int)o->model->max_target - 1 : 6;
    Engine *const both[] = { kept, anew };
    Trace *t[2], *first = NULL;
    assert_false(generic_reads_anew(kept));
    assert_true(generic_reads_anew(anew));
    for (int turn = 0; turn < 3; turn++) {
        for (int i = 0; i < 2; i++) {
            generic_follow(both[i], turn == 1 ? half_of_them : NULL, first);
            generic_weigh(both[i], turn == 2);
            t[i] = trace_run(o->arena, both[i], source, n, target, m);
        }
        compare_traces(t[0], t[1], name);
        first = t[0];
    }
    for (int i = 0; i < 2 && o->model->has_decoder; i++)
        assert_int_equal(both[i]->ops->step(both[i], target[m]), RT_OK);
    const Plan *p = kept->plan;
    assert_memory_equal(kept->state, anew->state, p->header_bytes);
    if (memcmp(kept->state + p->slots_offset, anew->state + p->slots_offset, p->slot_bytes) != 0)
        fail_msg("%s: the slot differs", name);
}

static void compare_tapped(const Opened *o, const char *name)
{
    for (int taps = 0; taps < 2; taps++) {
        const PlanOptions options = { .target = TARGET_ROW_MAJOR, .taps = taps, .slots = 1, .max_threads = 1 };
        const Plan *p = plan_make(o->arena, o->graph, options);
        Engine *kept = generic_open_plain(o->arena, p, true), *anew = generic_open_plain(o->arena, p, false);
        compare_walk(o, kept, anew, name);
        engine_close(kept);
        engine_close(anew);
    }
}

/* Ids that cannot be appended are rejected before anything runs. */
static void a_walk_refuses_what_steps_refuse(void **state)
{
    (void)state;
    const int ids[] = { 1, 3, 99999999 };
    Opened o = open_spec("specs/gpt.lua");
    const PlanOptions options = { .target = TARGET_ROW_MAJOR, .taps = true, .slots = 1, .max_threads = 1 };
    Engine *e = generic_open_plain(o.arena, plan_make(o.arena, o.graph, options), false);
    assert_int_equal(trace_run(o.arena, e, NULL, 0, ids, 3)->status, RT_BAD_ID);
    assert_int_equal(trace_run(o.arena, e, NULL, 0, ids, 2)->status, RT_OK);
    assert_int_equal(trace_run(o.arena, e, NULL, 0, ids, 0)->status, RT_ORDER);
    engine_close(e);
    close_spec(&o);
}

static void compare_opened(Opened o, const char *name, int dtype)
{
    const PlanOptions options = { .target = TARGET_ROW_MAJOR, .slots = 1, .max_threads = 1 };
    o.model->dtype = dtype;
    const Plan *p = plan_make(o.arena, o.graph, options);
    Engine *kept = generic_open_plain(o.arena, p, true), *anew = generic_open_plain(o.arena, p, false);
    const Generic *own = anew->own;
    rt_status of_kept[3] = { RT_OK }, of_anew[3] = { RT_OK };
    run_all(kept, o.model, of_kept);
    run_all(anew, o.model, of_anew);
    assert_memory_equal(of_kept, of_anew, sizeof of_kept);
    if (memcmp(kept->state, anew->state, p->state_bytes) != 0) fail_msg("%s: the state differs", name);
    for (int i = 0; i < o.graph->tensor_count; i++)
        for (int j = 0; own->weights[i] && j < (o.graph->tensors[i]->layers ? o.graph->tensors[i]->layers : 1); j++)
            assert_null(own->weights[i][j]);
    if (o.model->has_encoder || o.model->has_decoder) {
        compare_packed(&o, p, kept, name);
        compare_tapped(&o, name);
    }
    engine_close(kept);
    engine_close(anew);
    close_spec(&o);
}

static void compare_anew(const char *name, int dtype)
{
    compare_opened(open_golden(name), name, dtype);
}

/* Several goldens in f32, and in f32 and int4 models with position biases, rotary tables, token
 * types, layers of different sizes or a matrix that two operations read. */
static void weights_read_anew_are_the_same(void **state)
{
    static const char *const more[] = {
        "like_t5", "like_gemma3", "like_llama_tied", "like_bert_pair", "rope_mixed", "layers_heads", "types_memory",
    };
    (void)state;
    for (int i = 0; golden_names[i]; i++) compare_anew(golden_names[i], DTYPES_F32);
    for (size_t i = 0; i < sizeof more / sizeof *more; i++) {
        compare_anew(more[i], DTYPES_F32);
        compare_anew(more[i], DTYPES_PANELS_INT4);
    }
}

/* Matrices of several blocks of rows, the last of which is shorter. Threads share the
 * reading of the vocabulary matrix. */
static void blocks_of_rows_are_the_same(void **state)
{
    static const char spec[] = "tests/engines/wide_vocabulary.lua";
    static const int dtypes[] = {
        DTYPES_F32, DTYPES_PANELS_BF16, DTYPES_PANELS_INT8, DTYPES_PANELS_INT4,
    };
    (void)state;
    for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++)
        compare_opened(open_spec(spec), spec, dtypes[i]);
}

/* Values that replace a tensor's are kept, even by an engine that reads its weights anew. */
static void a_weight_that_was_set_is_kept(void **state)
{
    (void)state;
    Opened o = open_spec("specs/gpt.lua");
    const PlanOptions options = { .target = TARGET_ROW_MAJOR, .slots = 1, .max_threads = 1 };
    const Plan *p = plan_make(o.arena, o.graph, options);
    Engine *kept = generic_open_plain(o.arena, p, true), *anew = generic_open_plain(o.arena, p, false);
    const TensorSource *t = &o.model->tensors[o.model->tensor_count - 1];
    float *values = arena_array(o.arena, (size_t)tensor_elements(t), sizeof *values);
    for (int64_t i = 0; i < tensor_elements(t); i++) values[i] = 0.25f * (float)(i % 7);
    rt_status statuses[2][3] = { { RT_OK } };
    Engine *const both[] = { kept, anew };
    for (int i = 0; i < 2; i++) {
        generic_set_weight(both[i], t->name, values);
        run_all(both[i], o.model, statuses[i]);
        run_all(both[i], o.model, statuses[i]);
    }
    assert_int_equal(statuses[0][1], RT_OK);
    assert_memory_equal(kept->state, anew->state, p->state_bytes);
    engine_close(kept);
    engine_close(anew);
    close_spec(&o);
}

static float *const *weights_of(const Engine *e, int id) { return ((const Generic *)e->own)->weights[id]; }

/* An engine that is opened beside another one on the same graph shares the other's weights. If one
 * of them sets a weight, the other keeps the old one; either may be closed first. Engines with
 * different formats share none. */
static void weights_are_shared(void **state)
{
    (void)state;
    Opened o = open_spec("specs/gpt.lua");
    PlanOptions options = { .target = TARGET_ROW_MAJOR, .taps = true, .slots = 1, .max_threads = 1 };
    const Plan *tapped = plan_make(o.arena, o.graph, options), *plain = (options.taps = false, plan_make(o.arena, o.graph, options));
    for (int order = 0; order < 2; order++) {
        Engine *a = generic_open(o.arena, o.diag, tapped, NULL), *b = generic_open(o.arena, o.diag, plain, a);
        const TensorSource *t = NULL;
        for (int i = 0; i < o.graph->tensor_count; i++) {
            if (o.graph->tensors[i]->kind != TENSOR_PARAM) continue;
            if (!t) t = o.graph->tensors[i]->source[0];
            assert_ptr_equal(weights_of(a, i)[0], weights_of(b, i)[0]);
            assert_ptr_not_equal(weights_of(a, i)[0], weights_of(o.plain, i)[0]);
        }
        assert_non_null(t);
        float *values = arena_array(o.arena, (size_t)tensor_elements(t), sizeof *values);
        generic_set_weight(order ? a : b, t->name, values);
        engine_close(order ? a : b);
        Engine *left = order ? b : a, *same = order ? o.plain : o.tapped;
        rt_status statuses[2][3] = { { RT_OK } };
        run_all(left, o.model, statuses[0]);
        run_all(same, o.model, statuses[1]);
        assert_memory_equal(statuses[0], statuses[1], sizeof *statuses);
        assert_memory_equal(left->state, same->state, left->plan->state_bytes);
        Plan other = *plain;
        Format *formats = arena_array(o.arena, (size_t)o.graph->tensor_count, sizeof *formats);
        memcpy(formats, plain->formats, (size_t)o.graph->tensor_count * sizeof *formats);
        for (int i = 0; i < o.graph->tensor_count; i++)
            if (formats[i] == FORMAT_PANELS_F32) formats[i] = FORMAT_PANELS_BF16;
        other.formats = formats;
        Engine *c = generic_open(o.arena, o.diag, &other, left);
        for (int i = 0; i < o.graph->tensor_count; i++)
            if (o.graph->tensors[i]->kind == TENSOR_PARAM) assert_ptr_not_equal(weights_of(c, i)[0], weights_of(left, i)[0]);
        engine_close(c);
        engine_close(left);
    }
    close_spec(&o);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(goldens_agree),
        cmocka_unit_test(the_worked_example_is_reproduced),
        cmocka_unit_test(rows_see_only_what_they_may),
        cmocka_unit_test(inputs_are_set_and_reset),
        cmocka_unit_test(a_step_equals_a_replay),
        cmocka_unit_test(a_used_state_is_as_a_new_one),
        cmocka_unit_test(a_copied_state_goes_on),
        cmocka_unit_test(next_is_the_argmax_of_step),
        cmocka_unit_test(threads_agree),
        cmocka_unit_test(what_does_not_fit_is_refused),
        cmocka_unit_test(a_window_is_taken_back_as_rings_are),
        cmocka_unit_test(weights_read_anew_are_the_same),
        cmocka_unit_test(blocks_of_rows_are_the_same),
        cmocka_unit_test(a_walk_refuses_what_steps_refuse),
        cmocka_unit_test(a_weight_that_was_set_is_kept),
        cmocka_unit_test(weights_are_shared),
        cmocka_unit_test(a_graph_takes_no_sentences),
        cmocka_unit_test(a_trace_tells_its_status),
        cmocka_unit_test(distances_are_relative_to_the_largest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
