/* test_attention.c: rt_attention_f32 against softmax(scale q k^T) v in double, with bias, mask,
 * softcap and added values; equal bits for every division of the work, with taps and on teams;
 * nothing else is written. Caches are NaN beyond the visible positions. */
#include "kernel_test.h"

typedef struct Case {
    RtAttention shape;
    int rows, *visible, *positions, reach, mask_stride, extras;
    ptrdiff_t added_head;
    Buffer q, k, v, out, scratch, scores, weights, bias, mask, added;
} Case;

enum { BIAS = 1, MASK = 2, CAP = 4, ADDED = 8, EXTRAS = 16 };

/* Offset of element (h, j, i) in a cache of keys or of values; layouts as in RtCache. */
static size_t key_at(const RtAttention *s, int h, int j, int i)
{
    return (size_t)(((h * (s->capacity / 16) + j / 16) * s->d_k + i) * 16 + j % 16);
}

static size_t value_at(const RtAttention *s, int h, int j, int i)
{
    return (size_t)(((h * (padded16(s->d_v) / 16) + i / 16) * s->capacity + j) * 16 + i % 16);
}

static void fill_caches(Case *c, int positions)
{
    const RtAttention *s = &c->shape;
    c->k = buffer((size_t)(s->kv_heads * s->capacity * s->d_k));
    c->v = buffer((size_t)(s->kv_heads * s->capacity * padded16(s->d_v)));
    for (int h = 0; h < s->kv_heads; h++)
        for (int j = 0; j < positions; j++) {
            for (int i = 0; i < s->d_k; i++)
                c->k.data[key_at(s, h, j, i)] = 3 * random_float();
            for (int i = 0; i < s->d_v; i++)
                c->v.data[value_at(s, h, j, i)] = random_float();
        }
}

typedef enum Pattern { FULL, CAUSAL, ANY, PATTERNS } Pattern;

static int visible_of(Pattern pattern, int r, int rows, int capacity)
{
    const int first = capacity > rows ? capacity - rows : 0;
    switch (pattern) {
    case FULL: return capacity - 3;
    case CAUSAL: return first + r + 1 < capacity ? first + r + 1 : capacity;
    default: return r % 5 == 2 ? 0 : (int)(random_bits() % (unsigned)(capacity + 1));
    }
}

/* Numbers to add, or -inf: one set for all heads or one per head, laid out like the mask. One row
 * of four is all -inf. Past visible[r] the numbers are NaN. */
static void fill_added(Case *c)
{
    const int by_head = c->rows % 2, heads = by_head ? c->shape.heads : 1;
    c->added_head = by_head ? c->rows * c->mask_stride : 0;
    c->added = buffer((size_t)(heads * c->rows * c->mask_stride));
    for (int r = 0; r < heads * c->rows; r++)
        for (int j = 0; j < c->visible[r % c->rows]; j++)
            c->added.data[r * c->mask_stride + j] =
                r % 4 == 3 || random_bits() % 4 == 0 ? -INFINITY : 3 * random_float();
}

/* The bias reaches exactly as far as needed. The mask hides about half of the positions, and all of
 * them in one row of three; its other numbers are 1 or tiny, not 0. Past visible[r] it is NaN. */
static void fill_extras(Case *c)
{
    const RtAttention *s = &c->shape;
    c->reach = s->capacity;
    c->mask_stride = padded16(s->capacity) + 16;
    c->bias = random_rows(s->heads, 2 * c->reach - 1, 2 * c->reach - 1);
    c->mask = buffer((size_t)(c->rows * c->mask_stride));
    for (int r = 0; r < c->rows; r++) {
        c->positions[r] = (int)(random_bits() % (unsigned)c->reach);
        for (int j = 0; j < c->visible[r]; j++)
            c->mask.data[r * c->mask_stride + j] = r % 3 == 1 || random_bits() % 2 ? 0 : j % 7 ? 1 : -1e-30f;
    }
}

static Case make_case(int heads, int kv_heads, int d_k, int d_v, int capacity, int rows, Pattern pattern, int extras)
{
    Case c;
    int most = 0;
    c.shape = (RtAttention){ heads, kv_heads, d_k, d_v, capacity, padded16(heads * d_k) + 16,
                             padded16(heads * d_v) + 16, rows + 1, capacity + 5, 1 / sqrtf((float)d_k),
                             extras & CAP ? 1.5f : 0 };
    c.rows = rows;
    c.extras = extras;
    c.positions = malloc((size_t)(rows + 1) * sizeof(int));
    c.visible = malloc((size_t)(rows + 1) * sizeof(int));
    for (int r = 0; r < rows; r++) {
        c.visible[r] = visible_of(pattern, r, rows, capacity);
        most = c.visible[r] > most ? c.visible[r] : most;
    }
    c.q = random_rows(rows, heads * d_k, c.shape.q_stride);
    c.out = buffer((size_t)(rows * c.shape.out_stride));
    c.scratch = buffer((size_t)(RT_ATTENTION_ROWS * (capacity + 16)));
    c.scores = buffer((size_t)(heads * c.shape.tap_rows * c.shape.tap_columns));
    c.weights = buffer(c.scores.n);
    fill_caches(&c, most);
    fill_extras(&c);
    fill_added(&c);
    return c;
}

static void free_case(Case c)
{
    release(c.q), release(c.k), release(c.v), release(c.out);
    release(c.scratch), release(c.scores), release(c.weights), release(c.bias), release(c.mask);
    release(c.added);
    free(c.visible), free(c.positions);
}

static void run(const Case *c, float *out, int row, int rows, int begin, int end, int taps)
{
    const RtAttention *s = &c->shape;
    const RtAttentionExtra extra = {
        .bias = c->extras & BIAS ? c->bias.data : NULL, .reach = c->reach, .positions = c->positions + row,
        .mask = c->extras & MASK ? c->mask.data + row * c->mask_stride : NULL, .mask_stride = c->mask_stride,
        .added = c->extras & ADDED ? c->added.data + row * c->mask_stride : NULL,
        .added_stride = c->mask_stride, .added_head = c->added_head,
        .scores = taps ? c->scores.data + row * s->tap_columns : NULL,
        .weights = taps ? c->weights.data + row * s->tap_columns : NULL };
    rt_attention_f32(s, out + row * s->out_stride, c->q.data + row * s->q_stride, c->k.data, c->v.data, c->scratch.data,
                     taps || c->extras & (BIAS | MASK | ADDED) ? &extra : NULL, c->visible + row, rows,
                     begin, end);
}

static float added_at(const Case *c, int r, int h, int j)
{
    return c->extras & ADDED ? c->added.data[h * c->added_head + r * c->mask_stride + j] : 0;
}

static int hidden(const Case *c, int r, int h, int j)
{
    const int masked = c->extras & MASK && c->mask.data[r * c->mask_stride + j] == 0;
    return masked || added_at(c, r, h, j) == -INFINITY;
}

/* The exponent of the weight of position j; `score` is q . k. */
static Exact exponent(const Case *c, int r, int h, int j, Exact score)
{
    Exact e = { c->shape.scale * score.value, c->shape.scale * score.magnitude };
    if (c->extras & CAP) e.value = c->shape.softcap * tanh(e.value / (double)c->shape.softcap);
    if (c->extras & BIAS) exact_add(&e, c->bias.data[h * (2 * c->reach - 1) + j - c->positions[r] + c->reach - 1]);
    exact_add(&e, added_at(c, r, h, j));
    return e;
}

/* One row of one head in double: scores and weights [visible], out [d_v]. */
static void reference(const Case *c, int r, int h, Exact *scores, Exact *weights, Exact *out)
{
    const RtAttention *s = &c->shape;
    const int kv = h / (s->heads / s->kv_heads), n = c->visible[r];
    double max = -INFINITY, sum = 0, steep = 1;         /* exp turns errors of scores into relative ones */
    for (int j = 0; j < n; j++) {
        scores[j] = weights[j] = (Exact){ 0, 0 };
        if (hidden(c, r, h, j)) continue;
        for (int i = 0; i < s->d_k; i++)
            exact_add(&scores[j], (double)c->q.data[r * s->q_stride + h * s->d_k + i]
                                  * c->k.data[key_at(s, kv, j, i)]);
        weights[j] = exponent(c, r, h, j, scores[j]);
        max = fmax(max, weights[j].value);
        steep = fmax(steep, weights[j].magnitude);
    }
    for (int j = 0; j < n; j++)
        sum += hidden(c, r, h, j) ? 0 : exp(weights[j].value - max);
    for (int j = 0; j < n; j++) {
        weights[j].value = hidden(c, r, h, j) ? 0 : exp(weights[j].value - max) / sum;
        weights[j].magnitude = weights[j].value * steep;
    }
    for (int i = 0; i < s->d_v; i++) {
        out[i] = (Exact){ 0, 0 };
        for (int j = 0; j < n; j++)
            exact_add(&out[i], weights[j].value * c->v.data[value_at(s, kv, j, i)]);
        out[i].magnitude *= steep;
    }
}

static void check_tap(const Case *c, Buffer tap, int r, int h, const Exact *want)
{
    const RtAttention *s = &c->shape;
    const float *row = tap.data + (h * s->tap_rows + r) * s->tap_columns;
    check_close(row, s->tap_columns, want, 1, c->visible[r]);
    for (int j = c->visible[r]; j < s->tap_columns; j++)
        assert_true(row[j] == 0);
}

static void check_case(const Case *c)
{
    const RtAttention *s = &c->shape;
    Exact *scores = malloc((size_t)(2 * s->capacity + s->d_v) * sizeof *scores);
    Exact *weights = scores + s->capacity, *out = weights + s->capacity;
    for (int r = 0; r < c->rows; r++)
        for (int h = 0; h < s->heads; h++) {
            reference(c, r, h, scores, weights, out);
            check_close(c->out.data + r * s->out_stride + h * s->d_v, s->out_stride, out, 1, s->d_v);
            check_tap(c, c->scores, r, h, scores);
            check_tap(c, c->weights, r, h, weights);
        }
    for (int r = 0; r < c->rows; r++)                              /* nothing after the last head */
        for (int i = s->heads * s->d_v; i < s->out_stride; i++)
            assert_true(is_guard(c->out.data + r * s->out_stride + i));
    for (int h = 0; h < s->heads; h++)                       /* nor in the unused row of the taps */
        assert_true(is_guard(c->scores.data + (h * s->tap_rows + c->rows) * s->tap_columns));
    free(scores);
}

static const int heads[][2] = { { 1, 1 }, { 4, 4 }, { 4, 2 }, { 6, 1 }, { 17, 1 } };
static const int widths[][2] = { { 1, 1 }, { 5, 7 }, { 16, 16 }, { 17, 20 }, { 64, 48 }, { 3, 130 } };
static const int capacities[] = { 16, 48, 112 };
static const int many[] = { 0, 1, 2, 3, 13, 14, 15, 29 };

static void against_reference(void **state)
{
    (void)state;
    for (size_t h = 0; h < COUNT(heads); h++)
        for (size_t w = 0; w < COUNT(widths); w++)
            for (size_t k = 0; k < COUNT(capacities); k++)
                for (size_t r = 0; r < COUNT(many); r++)
                    for (int p = 0; p < PATTERNS; p++) {
                        if (left_out()) continue;
                        Case c = make_case(heads[h][0], heads[h][1], widths[w][0], widths[w][1], capacities[k],
                                           many[r], (Pattern)p, (int)(w + k + r) % EXTRAS);
                        run(&c, c.out.data, 0, c.rows, 0, c.shape.heads, 1);
                        check_case(&c);
                        c.extras = 0, c.shape.softcap = 0;
                        run(&c, c.out.data, 0, c.rows, 0, c.shape.heads, 1);
                        check_case(&c);
                        free_case(c);
                    }
}

/* Any division of rows and heads, with and without taps, gives the same bits as the whole. A head
 * does not write to its neighbours. */
static void every_cut(void **state)
{
    (void)state;
    for (size_t w = 0; w < COUNT(widths); w++)
        for (int p = 0; p < PATTERNS * EXTRAS; p++) {
            if (left_out()) continue;
            Case c = make_case(4, 2, widths[w][0], widths[w][1], 48, 31, (Pattern)(p % PATTERNS), p / PATTERNS);
            Buffer out = buffer(c.out.n);
            run(&c, c.out.data, 0, c.rows, 0, 4, 0);
            for (int cut = 0; cut <= c.rows; cut++) {
                fill_guard(out.data, out.n);
                run(&c, out.data, 0, cut, 0, 4, 1), run(&c, out.data, cut, c.rows - cut, 0, 4, 1);
                check_same_bits(out.data, c.out.data, out.n);
            }
            fill_guard(out.data, out.n);
            for (int h = 3; h >= 0; h--)
                for (int r = 0; r < c.rows; r++)
                    run(&c, out.data, r, 1, h, h + 1, 0);
            check_same_bits(out.data, c.out.data, out.n);
            for (int cut = 0; cut <= 4; cut++) {
                fill_guard(out.data, out.n);
                for (int r = 0; r < c.rows; r++) run(&c, out.data, r, 1, 0, cut, 0), run(&c, out.data, r, 1, cut, 4, 0);
                check_same_bits(out.data, c.out.data, out.n);
            }
            release(out);
            free_case(c);
        }
}

/* One row of up to 16 heads that share keys and values gives the bits of the same row among others,
 * in tiles of any number of these heads. */
static void every_share(void **state)
{
    (void)state;
    for (int share = 1; share <= 16; share++) {
        Case c = make_case(2 * share, 2, 17, 33, 48, 3, CAUSAL, 0);
        Buffer out = buffer(c.out.n);
        run(&c, c.out.data, 0, c.rows, 0, 2 * share, 0);
        for (int cut = 0; cut <= 2 * share; cut++) {
            fill_guard(out.data, out.n);
            for (int r = 0; r < c.rows; r++) run(&c, out.data, r, 1, 0, cut, 0), run(&c, out.data, r, 1, cut, 2 * share, 0);
            check_same_bits(out.data, c.out.data, out.n);
        }
        release(out);
        free_case(c);
    }
}

/* A row that sees nothing gives zeros. Scores around 1000 do not overflow. A single visible
 * position has weight 1. */
static void extremes(void **state)
{
    Case c = make_case(1, 1, 16, 16, 16, 3, FULL, 0);
    (void)state;
    for (int i = 0; i < 3 * c.shape.q_stride; i++)
        c.q.data[i] *= 1000;
    c.visible[0] = 0, c.visible[1] = 1, c.visible[2] = 13;
    run(&c, c.out.data, 0, 3, 0, 1, 1);
    for (int i = 0; i < 16; i++) {
        assert_true(c.out.data[i] == 0);
        assert_true(c.out.data[c.shape.out_stride + i] == c.v.data[value_at(&c.shape, 0, 0, i)]);
        assert_true(isfinite(c.out.data[2 * c.shape.out_stride + i]));
    }
    assert_true(c.weights.data[c.shape.tap_columns] == 1);
    free_case(c);
}

/* Extras that are all NULL change no bit. */
static void extras_of_none(void **state)
{
    Case c = make_case(2, 1, 17, 20, 48, 15, ANY, 0);
    Buffer out = buffer(c.out.n);
    const RtAttentionExtra none = { 0 };
    (void)state;
    run(&c, c.out.data, 0, c.rows, 0, 2, 0);
    rt_attention_f32(&c.shape, out.data, c.q.data, c.k.data, c.v.data, c.scratch.data, &none, c.visible, c.rows, 0, 2);
    check_same_bits(out.data, c.out.data, out.n);
    release(out);
    free_case(c);
}

/* A mask that hides all but one position gives that position's value. A fully masked row gives
 * zeros, even if a value is NaN. */
static void one_unmasked(void **state)
{
    Case c = make_case(1, 1, 16, 16, 48, 3, FULL, MASK);
    const RtAttention *s = &c.shape;
    (void)state;
    for (int r = 0; r < 3; r++)
        for (int j = 0; j < c.visible[r]; j++)
            c.mask.data[r * c.mask_stride + j] = r != 1 && j == 20 + r;
    for (int i = 0; i < 16; i++)
        for (int r = 0; r < 3; r++)
            c.q.data[r * s->q_stride + i] *= 1000;
    run(&c, c.out.data, 0, 3, 0, 1, 1);
    for (int r = 0; r < 3; r++)
        for (int i = 0; i < 16; i++)
            assert_true(c.out.data[r * s->out_stride + i] == (r == 1 ? 0 : c.v.data[value_at(s, 0, 20 + r, i)]));
    for (int r = 0; r < 3; r++)
        for (int j = 0; j < s->tap_columns; j++)
            assert_true(c.weights.data[r * s->tap_columns + j] == (r != 1 && j == 20 + r));
    for (int i = 0; i < 16; i++)
        c.v.data[value_at(s, 0, 3, i)] = NAN;
    run(&c, c.out.data, 1, 1, 0, 1, 0);
    for (int i = 0; i < 16; i++)
        assert_true(c.out.data[s->out_stride + i] == 0);
    free_case(c);
}

typedef struct Job { const Case *c; float *out; float *scratch; int by_rows; } Job;

static void body(void *argument, int thread, int threads)
{
    const Job *job = argument;
    const rt_span s = rt_split(job->by_rows ? job->c->rows : job->c->shape.heads, thread, threads);
    Case c = *job->c;
    c.scratch.data = job->scratch + (size_t)thread * c.scratch.n;
    if (job->by_rows) run(&c, job->out, s.begin, s.end - s.begin, 0, c.shape.heads, 0);
    else run(&c, job->out, 0, c.rows, s.begin, s.end, 0);
}

static void on_teams(void **state)
{
    rt_team *team = NULL;
    (void)state;
    for (int threads = 1; threads <= 3; threads++) {
        assert_int_equal(rt_team_resize(&team, threads), RT_OK);
        for (int by_rows = 0; by_rows < 2; by_rows++)
            for (int rows = 1; rows < 20; rows += 6) {
                Case c = make_case(4, 4, 17, 20, 48, rows, CAUSAL, rows % EXTRAS);
                Buffer out = buffer(c.out.n), scratch = buffer(c.scratch.n * (size_t)threads);
                Job job = { &c, out.data, scratch.data, by_rows };
                run(&c, c.out.data, 0, rows, 0, 4, 0);
                rt_team_run(team, body, &job);
                check_same_bits(out.data, c.out.data, out.n);
                release(out), release(scratch);
                free_case(c);
            }
    }
    assert_int_equal(rt_team_resize(&team, 1), RT_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(against_reference), cmocka_unit_test(every_cut), cmocka_unit_test(every_share),
        cmocka_unit_test(extremes), cmocka_unit_test(extras_of_none), cmocka_unit_test(one_unmasked),
        cmocka_unit_test(on_teams),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
