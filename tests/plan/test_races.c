/* test_races.c: Threads never race: between two barriers no thread writes a value that another
 * thread reads or writes.
 *
 * The reads and writes of each thread are simulated as rectangles of buffers, from what the kernels
 * are known to do, not from the rules of plan_split.c. */
#include "plan_test.h"

#include <string.h>

/* A rectangle of a buffer: rows (positions of a cache) by columns (heads times width). */
typedef struct Part { const Buffer *buffer; int64_t row, rows, column, columns; bool write; int thread; const PlanOp *op; } Part;

typedef struct Play { Part parts[8192]; int count, thread; const PlanOp *op; } Play;
static Play play;

enum { EVERY = 1 << 30 };

static void touch(const Buffer *b, bool write, int64_t row, int64_t rows, int64_t column, int64_t columns)
{
    if (!b || rows <= 0 || columns <= 0) return;
    assert_true(play.count < 8192);
    if (b->parent) {                 /* a view: columns of its parent */
        const int64_t most = pad16(b->width) - column;
        columns = columns < most ? columns : most;
        column += b->column;
        b = b->parent;
    }
    if (b->layout == LAYOUT_COPIES) row = play.thread, rows = 1;        /* this thread's copy */
    play.parts[play.count++] = (Part){ b, row, rows, column, columns, write, play.thread, play.op };
}

static void rows_of(const Buffer *b, bool write, rt_span s) { touch(b, write, s.begin, s.end - s.begin, 0, EVERY); }

/* A span of pieces of `each` columns, in every row. */
static void columns_of(const Buffer *b, bool write, rt_span s, int64_t each)
{
    touch(b, write, 0, EVERY, s.begin * each, (s.end - s.begin) * each);
}

static void whole(const Buffer *b, bool write) { touch(b, write, 0, EVERY, 0, EVERY); }

static void play_rows(const PlanOp *op, rt_span s)
{
    const bool attention = kernel_is_attention(op->kernel);
    if (s.begin == s.end) return;
    for (int i = 0; i < 5; i++)
        if (op->in[i] && (!attention || i == 0)) rows_of(op->in[i], false, s);
    if (attention) whole(op->in[1], false), whole(op->in[2], false);
    for (int i = 0; i < 3; i++) rows_of(op->out[i], true, s);
}

static void play_columns(const PlanOp *op, rt_span s)
{
    if (s.begin == s.end) return;
    for (int i = 0; i < 2; i++) {
        if (kernel_is_linear(op->kernel) && i == 0 && op->in[i]) whole(op->in[i], false);
        else columns_of(op->in[i], false, s, 16);
    }
    columns_of(op->out[0], true, s, 16);
}

/* Attention: columns of queries and results, whole heads of caches and taps. Rotary and stores: the
 * columns of their heads. */
static void play_heads(const PlanOp *op, rt_span s)
{
    const Node *n = op->node;
    if (s.begin == s.end) return;
    if (op->kernel == KERNEL_ROTARY) {
        columns_of(op->in[0], false, s, op->in[0]->width / n->heads);
        columns_of(op->out[0], true, s, op->out[0]->width / n->heads);
        return;
    }
    if (!kernel_is_attention(op->kernel)) {       /* a store: copies part of x into heads of the cache */
        columns_of(op->in[1], false, s, op->out[0]->width);
        columns_of(op->out[0], true, s, op->out[0]->width);
        return;
    }
    const int64_t d_k = n->in[0]->dim[1].bound / n->heads, d_v = n->out[0]->dim[1].bound / n->heads, group = n->heads / n->kv_heads;
    const rt_span kv = { (int)(s.begin / group), (int)((s.end - 1) / group + 1) };
    columns_of(op->in[0], false, s, d_k);
    columns_of(op->in[1], false, kv, op->in[1]->width);
    columns_of(op->in[2], false, kv, op->in[2]->width);
    columns_of(op->out[0], true, s, d_v);
    for (int i = 1; i < 3; i++)
        if (op->out[i]) touch(op->out[i], true, (int64_t)s.begin * op->out[i]->rows, (int64_t)(s.end - s.begin) * op->out[i]->rows, 0, EVERY);
}

static void play_op(const PlanOp *op, int thread, int threads, double used)
{
    const int rows = (int)(op->parts * used + 0.999);
    play.thread = thread;
    play.op = op;
    switch (op->split) {
    case SPLIT_ROWS:       play_rows(op, rt_split(rows, thread, threads)); break;
    case SPLIT_COLUMNS:    play_columns(op, rt_split(op->parts, thread, threads)); break;
    case SPLIT_HEADS:      play_heads(op, rt_split(op->parts, thread, threads)); break;
    case SPLIT_FIRST_THREAD: if (thread == 0) play_rows(op, (rt_span){ 0, EVERY }); break;
    case SPLIT_EACH_THREAD: play_rows(op, (rt_span){ 0, EVERY }); break;
    }
}

static bool meet(const Part *a, const Part *b)
{
    if (a->buffer != b->buffer || a->thread == b->thread || (!a->write && !b->write)) return false;
    return a->row < b->row + b->rows && b->row < a->row + a->rows && a->column < b->column + b->columns && b->column < a->column + a->columns;
}

static const char *race_in_phase(Arena *arena, const PlanBlock *b)
{
    for (int i = 0; i < play.count; i++)
        for (int j = 0; j < i; j++)
            if (meet(&play.parts[i], &play.parts[j]))
                return arena_format(arena, "%s: threads %d and %d meet in %s: %s and %s", b->block->name, play.parts[j].thread, play.parts[i].thread,
                                    play.parts[i].buffer->name, play.parts[j].op->result->name, play.parts[i].op->result->name);
    return NULL;
}

/* The first race of a block, or NULL. `used`: the share of the rows in use. */
static const char *race(Arena *arena, const PlanBlock *b, int threads, double used)
{
    const char *found = NULL;
    play.count = 0;
    for (int i = 0; i < b->op_count && !found; i++) {
        if (b->ops[i].barrier) {
            found = race_in_phase(arena, b);
            play.count = 0;
        }
        for (int thread = 0; thread < threads; thread++) play_op(&b->ops[i], thread, threads, used);
    }
    return found ? found : race_in_phase(arena, b);
}

static const char *any_race(Arena *arena, const Plan *p)
{
    static const int threads[] = { 2, 3, 16 };
    const char *found = NULL;
    for (int i = 0; i < p->block_count; i++)
        for (int j = 0; j < 3 && !found; j++)
            for (int k = 1; k < 4 && !found; k++) found = race(arena, p->blocks[i], threads[j], k / 3.0);
    return found;
}

/* Each thread writes all of its copy, and nothing else: what all threads write would race. */
static int copies(const Plan *p)
{
    int n = 0;
    for (int i = 0; i < p->block_count; i++)
        for (int j = 0; j < p->blocks[i]->op_count; j++) {
            const PlanOp *op = &p->blocks[i]->ops[j];
            for (int k = 0; k < 3; k++)
                if (op->out[k]) assert_true((op->out[k]->layout == LAYOUT_COPIES) == (op->split == SPLIT_EACH_THREAD));
            n += op->split == SPLIT_EACH_THREAD;
        }
    return n;
}

static void check_spec(const char *spec)
{
    Planned o = planned_open(spec);
    for (int taps = 0; taps < 2; taps++) {
        const Plan *p = planned_make(&o, TARGET_PANELS, taps, 1);
        const char *found = any_race(o.arena, p);
        assert_true(copies(p) == 0 || !taps);
        if (found) fail_msg("%s; taps %d\n%s", found, taps, spec);
    }
    planned_close(&o);
}

enum { SPECS = 60 };

static void no_thread_overtakes_another(void **state)
{
    (void)state;
    Random r = { 30 };
    Arena *a = arena_new();
    for (int i = 0; i < SPECS; i++) check_spec(random_spec(a, &r, i));
    arena_free(a);
}

static void nor_in_graphs(void **state)
{
    (void)state;
    check_spec("specs/self_attention.lua");
    check_spec("tests/specs/two_attentions.lua");
    check_spec("specs/dates.lua");
    check_spec("tests/specs/modern_decoder.lua");
    check_spec("tests/specs/windows.lua");
    check_spec("tests/goldens/like_gemma2.lua");
}

/* With head widths that are not multiples of 16 every barrier is needed: without any one of them
 * there is a race. */
static void each_barrier_is_needed(void **state)
{
    (void)state;
    Planned o = planned_open("tests/goldens/dv_ne_dk.lua");
    Plan *p = planned_make(&o, TARGET_PANELS, false, 1);
    int barriers = 0;
    for (int i = 0; i < p->block_count; i++)
        for (int j = 0; j < p->blocks[i]->op_count; j++) {
            PlanOp *op = &p->blocks[i]->ops[j];
            if (!op->barrier) continue;
            op->barrier = false;
            if (!any_race(o.arena, p)) fail_msg("%s: no race without the barrier before %s", p->blocks[i]->block->name, op->result->name);
            op->barrier = true;
            barriers++;
        }
    assert_int_equal(barriers, 9);
    assert_null(any_race(o.arena, p));
    planned_close(&o);
}

/* In a step of one row, each thread computes the norms before linears for itself, in models that
 * normalize before and after them. Blocks of many rows divide them. */
static void each_thread_has_its_norms(void **state)
{
    (void)state;
    static const struct { const char *spec; int copies; } rows[] = {
        { "specs/dates.lua", 4 }, { "tests/specs/modern_decoder.lua", 3 }, { "specs/encoder.lua", 0 }, { "specs/self_attention.lua", 0 }
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        Planned o = planned_open(rows[i].spec);
        const int n = copies(planned_make(&o, TARGET_PANELS, false, 1));
        if (n != rows[i].copies) fail_msg("%s: %d norms in each thread", rows[i].spec, n);
        planned_close(&o);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_thread_overtakes_another),
        cmocka_unit_test(nor_in_graphs),
        cmocka_unit_test(each_barrier_is_needed),
        cmocka_unit_test(each_thread_has_its_norms),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
