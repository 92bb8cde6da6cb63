/* test_window.c: rt_window_attention_f32 and stores into ring buffers against the definition in
 * double: windows shorter and longer than the sequence and on both sides, ring buffers that wrap,
 * rows in pieces of many sizes. Values that no row attends to are NaN. */
#include "kernel_test.h"

enum { LENGTH = 90, HEADS = 4, GROUPS = 2, COLUMNS = 96 };

typedef struct World { RtWindow shape; RtCache keys, values; Buffer q, k, v, ring_k, ring_v; } World;

static World new_world(int d_k, int d_v, int window, int capacity, float softcap)
{
    const int q_stride = padded16(HEADS * d_k), out_stride = padded16(HEADS * d_v);
    World w = { .shape = { HEADS, GROUPS, d_k, d_v, capacity, q_stride, out_stride, LENGTH, COLUMNS, 0.4f, softcap, window, 0 },
                .keys = { GROUPS, d_k, capacity, padded16(GROUPS * d_k) }, .values = { GROUPS, d_v, capacity, padded16(GROUPS * d_v) } };
    w.q = random_rows(LENGTH, HEADS * d_k, q_stride);
    w.k = random_rows(LENGTH, GROUPS * d_k, w.keys.x_stride);
    w.v = random_rows(LENGTH, GROUPS * d_v, w.values.x_stride);
    w.ring_k = buffer((size_t)(GROUPS * d_k * capacity));
    w.ring_v = buffer((size_t)(GROUPS * padded16(d_v) * capacity));
    for (size_t i = 0; i < w.ring_k.n; i++) w.ring_k.data[i] = NAN;
    for (size_t i = 0; i < w.ring_v.n; i++) w.ring_v.data[i] = NAN;
    return w;
}

static void end_world(World *w)
{
    release(w->q), release(w->k), release(w->v), release(w->ring_k), release(w->ring_v);
}

static void store(World *w, int from, int to)
{
    int positions[LENGTH];
    for (int i = from; i < to; i++) positions[i] = i;
    for (int h = 0; h < GROUPS; h++) {
        rt_ring_store_k_f32(&w->keys, w->ring_k.data, w->k.data + from * w->keys.x_stride, positions + from, to - from, h, h + 1);
        rt_ring_store_v_f32(&w->values, w->ring_v.data, w->v.data + from * w->values.x_stride, positions + from, to - from, h, h + 1);
    }
}

static double score_of(const World *w, int h, int row, int key)
{
    const int d = w->shape.d_k;
    double sum = 0;
    for (int i = 0; i < d; i++)
        sum += (double)w->q.data[row * w->shape.q_stride + h * d + i] * w->k.data[key * w->keys.x_stride + h / (HEADS / GROUPS) * d + i];
    return sum;
}

static double weigh(const World *w, double score)
{
    const double s = score * (double)w->shape.scale, c = (double)w->shape.softcap;
    return exp(c > 0 ? c * tanh(s / c) : s);
}

/* Check one row of one head, and its taps. length: that of the text, for windows on both sides. */
static void check_row(const World *w, const float *out, const float *scores, const float *weights,
                      int h, int row, int length)
{
    const int first = row + 1 > w->shape.window ? row + 1 - w->shape.window : 0, d = w->shape.d_v;
    const int far = w->shape.both ? row + w->shape.window - 1 : row;
    const int last = far < length ? far : length - 1;
    double sum = 0, want[64] = { 0 };
    for (int j = first; j <= last; j++) sum += weigh(w, score_of(w, h, row, j));
    for (int j = 0; j < COLUMNS; j++) {
        const int seen = j >= first && j <= last;
        const double score = seen ? score_of(w, h, row, j) : 0, weight = seen ? weigh(w, score) / sum : 0;
        const size_t at = ((size_t)h * LENGTH + (size_t)row) * COLUMNS + (size_t)j;
        if (scores) assert_true(fabs(scores[at] - score) < 2e-5);
        if (weights) assert_true(fabs(weights[at] - weight) < 2e-6);
        for (int i = 0; i < d && seen; i++) want[i] += weight * w->v.data[j * w->values.x_stride + h / (HEADS / GROUPS) * d + i];
    }
    for (int i = 0; i < d; i++) assert_true(fabs(out[row * w->shape.out_stride + h * d + i] - want[i]) < 5e-6);
}

/* Compute `piece` rows at a time, with heads before `cut` and from `cut` on in separate calls. The
 * result must be bit-identical to that of one row at a time with all heads. */
static void run(World *w, Buffer out, float *scratch, int piece, int cut, const RtAttentionExtra *taps)
{
    int visible[LENGTH];
    for (int i = 0; i < LENGTH; i++) visible[i] = i + 1;
    for (int at = 0, n; at < LENGTH; at += n) {
        n = LENGTH - at < piece ? LENGTH - at : piece;
        store(w, at, at + n);
        RtAttentionExtra moved = { .scores = NULL };
        if (taps) moved.scores = taps->scores + at * COLUMNS, moved.weights = taps->weights + at * COLUMNS;
        for (int h = 0; h < HEADS; h = h < cut ? cut : HEADS)
            rt_window_attention_f32(&w->shape, out.data + at * w->shape.out_stride, w->q.data + at * w->shape.q_stride, w->ring_k.data,
                                    w->ring_v.data, scratch, taps ? &moved : NULL, visible + at, n, h, h < cut ? cut : HEADS);
    }
}

static void one_shape(int d_k, int d_v, int window, int most_rows, float softcap)
{
    const int capacity = padded16(window + most_rows - 1);
    World w = new_world(d_k, d_v, window, capacity, softcap);
    Buffer steps = buffer((size_t)(LENGTH * w.shape.out_stride)), rows = buffer(steps.n), tap[2];
    Buffer scratch = buffer((size_t)(RT_ATTENTION_ROWS * (capacity + 16)));
    for (int i = 0; i < 2; i++) tap[i] = buffer((size_t)(HEADS * LENGTH * COLUMNS));
    const RtAttentionExtra taps = { .scores = tap[0].data, .weights = tap[1].data };
    run(&w, steps, scratch.data, 1, 0, &taps);
    for (int h = 0; h < HEADS; h++)
        for (int r = 0; r < LENGTH; r++)
            check_row(&w, steps.data, tap[0].data, tap[1].data, h, r, LENGTH);
    for (int i = 0, piece = 1; piece <= most_rows; i++, piece += i < HEADS ? 0 : piece < 5 ? 1 : 9) {
        World again = new_world(d_k, d_v, window, capacity, softcap);
        memcpy(again.q.data, w.q.data, w.q.n * sizeof(float));
        memcpy(again.k.data, w.k.data, w.k.n * sizeof(float));
        memcpy(again.v.data, w.v.data, w.v.n * sizeof(float));
        fill_guard(rows.data, rows.n);
        run(&again, rows, scratch.data, piece, i % HEADS, NULL);
        check_same_bits(rows.data, steps.data, steps.n);
        end_world(&again);
    }
    release(steps), release(rows), release(scratch), release(tap[0]), release(tap[1]);
    end_world(&w);
}

static void every_shape(void **state)
{
    (void)state;
    static const int widths[][2] = { { 1, 1 }, { 5, 18 }, { 16, 16 }, { 33, 47 } };
    static const int windows[][2] = { { 1, 1 }, { 1, 40 }, { 7, 9 }, { 16, 17 }, { 17, 16 }, { 33, 40 }, { 120, 40 } };
    for (size_t i = 0; i < COUNT(widths); i++)
        for (size_t j = 0; j < COUNT(windows); j++) one_shape(widths[i][0], widths[i][1], windows[j][0], windows[j][1], j % 2 ? 1.5f : 0);
}

/* Compute rows first .. first + n - 1 of a text of `length` positions, all of which are stored. */
static void both_rows(World *w, Buffer out, float *scratch, int first, int n, int length,
                      const RtAttentionExtra *taps)
{
    int visible[LENGTH], positions[LENGTH];
    RtAttentionExtra extra = { .positions = positions };
    for (int i = 0; i < n; i++) visible[i] = length, positions[i] = first + i;
    if (taps) extra.scores = taps->scores + first * COLUMNS;
    if (taps) extra.weights = taps->weights + first * COLUMNS;
    rt_window_attention_f32(&w->shape, out.data + first * w->shape.out_stride,
                            w->q.data + first * w->shape.q_stride, w->ring_k.data, w->ring_v.data,
                            scratch, &extra, visible, n, 0, HEADS);
}

static void both_sides(int window, int length, float softcap)
{
    World w = new_world(5, 18, window, COLUMNS, softcap);
    Buffer whole = buffer((size_t)(LENGTH * w.shape.out_stride)), single = buffer(whole.n), tap[2];
    Buffer scratch = buffer((size_t)(RT_ATTENTION_ROWS * (COLUMNS + 16)));
    for (int i = 0; i < 2; i++) tap[i] = buffer((size_t)(HEADS * LENGTH * COLUMNS));
    const RtAttentionExtra taps = { .scores = tap[0].data, .weights = tap[1].data };
    w.shape.both = 1;
    store(&w, 0, length);
    fill_guard(whole.data, whole.n), fill_guard(single.data, single.n);
    both_rows(&w, whole, scratch.data, 0, length, length, &taps);
    for (int r = 0; r < length; r++) both_rows(&w, single, scratch.data, r, 1, length, NULL);
    check_same_bits(whole.data, single.data, whole.n);
    for (int h = 0; h < HEADS; h++)
        for (int r = 0; r < length; r++)
            check_row(&w, whole.data, tap[0].data, tap[1].data, h, r, length);
    release(whole), release(single), release(scratch), release(tap[0]), release(tap[1]);
    end_world(&w);
}

static void windows_on_both_sides(void **state)
{
    (void)state;
    static const int windows[] = { 1, 2, 7, 16, 17, 40, 120 };
    static const int lengths[] = { 1, 15, 16, 33, LENGTH };
    for (size_t i = 0; i < COUNT(windows); i++)
        for (size_t j = 0; j < COUNT(lengths); j++)
            both_sides(windows[i], lengths[j], j % 2 ? 1.5f : 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_shape),
        cmocka_unit_test(windows_on_both_sides),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
