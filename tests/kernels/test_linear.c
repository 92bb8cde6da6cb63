/* test_linear.c: rt_linear_f32 against a plain product at awkward sizes. Every division of the work
 * and every tile size gives the same bits. Also gates and sums. */
#include "kernel_test.h"

typedef struct Case { RtLinear shape; int rows; Buffer x, y, w; float *plain, *bias; } Case;

static Case make_case(int in, int out, int rows, int has_bias, RtActivation activation)
{
    Case c = { { .in = in, .out = out, .x_stride = padded16(in) + 16, .y_stride = padded16(out) + 16, .has_bias = has_bias,
                 .activation = activation }, rows,
               { NULL, 0 }, { NULL, 0 }, { NULL, 0 }, NULL, NULL };
    c.x = random_rows(rows, in, c.shape.x_stride);
    c.y = buffer((size_t)rows * (size_t)c.shape.y_stride);
    c.plain = malloc((size_t)(out * in) * sizeof(float));
    c.bias = malloc((size_t)out * sizeof(float));
    for (int i = 0; i < out * in; i++)
        c.plain[i] = random_float();
    for (int o = 0; o < out; o++)
        c.bias[o] = random_float();
    c.w = panels(c.plain, has_bias ? c.bias : NULL, out, in);
    return c;
}

static void free_case(Case c)
{
    release(c.x), release(c.y), release(c.w);
    free(c.plain), free(c.bias);
}

static Exact *reference(const Case *c)
{
    const RtLinear *s = &c->shape;
    Exact *want = malloc((size_t)(c->rows * s->out + 1) * sizeof *want);
    for (int r = 0; r < c->rows; r++)
        for (int o = 0; o < s->out; o++) {
            Exact sum = { 0, 0 };
            if (s->has_bias) exact_add(&sum, c->bias[o]);
            for (int i = 0; i < s->in; i++)
                exact_add(&sum, (double)c->plain[o * s->in + i] * c->x.data[r * s->x_stride + i]);
            if (s->activation == RT_RELU && sum.value < 0) sum.value = 0;
            want[r * s->out + o] = sum;
        }
    return want;
}

static void run(const Case *c, float *y, int row, int rows, int begin, int end)
{
    const RtLinear *s = &c->shape;
    rt_linear_f32(s, y + row * s->y_stride, c->x.data + row * s->x_stride, c->w.data, rows, begin, end);
}

static const int ins[] = { 1, 2, 7, 16, 31, 64, 511, 512, 513, 1030 };
static const int outs[] = { 1, 11, 16, 17, 33, 64, 130, 300 };
static const int many[] = { 0, 1, 2, 3, 5, 7, 12, 13, 14, 15, 27, 28, 29, 43 };

static void against_reference(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(ins); i++)
        for (size_t o = 0; o < COUNT(outs); o++)
            for (size_t r = 0; r < COUNT(many); r++)
                for (int k = 0; k < 4; k++) {
                    if (left_out()) continue;
                    Case c = make_case(ins[i], outs[o], many[r], k & 1, k & 2 ? RT_RELU : RT_IDENTITY);
                    Exact *want = reference(&c);
                    run(&c, c.y.data, 0, c.rows, 0, padded16(c.shape.out) / 16);
                    check_close(c.y.data, c.shape.y_stride, want, c.rows, c.shape.out);
                    check_padding(c.y.data, c.shape.y_stride, c.rows, c.shape.out);
                    free(want);
                    free_case(c);
                }
}

/* Any division in two of rows or panels, and each row and panel alone, gives the same bits as the
 * whole. */
static void every_cut(void **state)
{
    static const int sizes[][2] = { { 7, 17 }, { 64, 130 }, { 513, 300 } };
    const int rows = 31;
    (void)state;
    for (size_t k = 0; k < COUNT(sizes); k++) {
        Case c = make_case(sizes[k][0], sizes[k][1], rows, 1, RT_RELU);
        const int n = padded16(c.shape.out) / 16;
        Buffer y = buffer(c.y.n);
        run(&c, c.y.data, 0, rows, 0, n);
        for (int cut = 0; cut <= rows; cut++) {
            fill_guard(y.data, y.n);
            if (left_out()) continue;
            run(&c, y.data, 0, cut, 0, n), run(&c, y.data, cut, rows - cut, 0, n);
            check_same_bits(y.data, c.y.data, y.n);
        }
        for (int cut = 0; cut <= n; cut++) {
            fill_guard(y.data, y.n);
            if (left_out()) continue;
            run(&c, y.data, 0, rows, 0, cut), run(&c, y.data, 0, rows, cut, n);
            check_same_bits(y.data, c.y.data, y.n);
        }
        fill_guard(y.data, y.n);
        for (int r = 0; r < rows; r++)
            for (int p = 0; p < n; p++)
                run(&c, y.data, r, 1, p, p + 1);
        check_same_bits(y.data, c.y.data, y.n);
        release(y);
        free_case(c);
    }
}

/* ---- fused with another operation, and other tiles ------------------------------------------- */

/* The panels of a, then those of b, in one buffer. */
static Buffer two_matrices(const Case *a, const Case *b)
{
    Buffer w = buffer(a->w.n + b->w.n);
    memcpy(w.data, a->w.data, a->w.n * sizeof *w.data);
    memcpy(w.data + a->w.n, b->w.data, b->w.n * sizeof *w.data);
    return w;
}

/* A gated linear gives the same bits as two linears and a gate, in one call and for each row and
 * panel alone. 300 rows make many tiles. */
static void gate_is_two_linears(void **state)
{
    static const int sizes[][3] = { { 1, 1, 1 }, { 7, 17, 1 }, { 64, 172, 1 }, { 64, 300, 1 }, { 31, 33, 2 }, { 64, 130, 15 }, { 513, 300, 31 },
                                    { 20, 40, 129 }, { 16, 16, 300 } };
    static const RtActivation kinds[] = { RT_SILU, RT_GELU, RT_RELU };
    (void)state;
    for (size_t k = 0; k < COUNT(sizes); k++)
        for (int bias = 0; bias < 2; bias++)
            for (size_t a = 0; a < COUNT(kinds); a++) {
                if (left_out()) continue;
                const int rows = sizes[k][2];
                Case g = make_case(sizes[k][0], sizes[k][1], rows, bias, RT_IDENTITY);
                Case u = make_case(sizes[k][0], sizes[k][1], rows, bias, RT_IDENTITY);
                const int n = padded16(g.shape.out) / 16;
                RtLinear s = g.shape;
                s.activation = kinds[a];
                Buffer w = two_matrices(&g, &u), up = buffer(g.y.n), y = buffer(g.y.n);
                run(&g, g.y.data, 0, rows, 0, n);
                const RtLinear plain = g.shape;
                rt_linear_f32(&plain, up.data, g.x.data, u.w.data, rows, 0, n);
                const RtElement element = { 16 * n, s.y_stride, s.y_stride, s.y_stride, kinds[a] };
                rt_gate_f32(&element, g.y.data, g.y.data, up.data, rows, 0, n);
                rt_linear_gate_f32(&s, y.data, g.x.data, w.data, rows, 0, n);
                check_same_bits(y.data, g.y.data, y.n);
                fill_guard(y.data, y.n);
                for (int r = 0; r < rows; r++)
                    for (int p = 0; p < n; p++)
                        rt_linear_gate_f32(&s, y.data + r * s.y_stride, g.x.data + r * s.x_stride, w.data, 1, p, p + 1);
                check_same_bits(y.data, g.y.data, y.n);
                release(w), release(up), release(y);
                free_case(g), free_case(u);
            }
}

/* The fused sum gives the same bits as a linear and a sum, in place or not, and for each row and
 * panel alone. The padding of the addend is never read. */
static void add_is_a_linear_and_a_sum(void **state)
{
    static const int sizes[][3] = { { 1, 1, 1 }, { 7, 17, 1 }, { 172, 64, 1 }, { 64, 300, 1 }, { 31, 33, 2 }, { 513, 300, 31 }, { 20, 40, 129 },
                                    { 16, 16, 300 } };
    (void)state;
    for (size_t k = 0; k < COUNT(sizes); k++)
        for (int kind = 0; kind < 4; kind++) {
            const int rows = sizes[k][2];
            Case c = make_case(sizes[k][0], sizes[k][1], rows, kind & 1, kind & 2 ? RT_TANH : RT_IDENTITY);
            const RtLinear *s = &c.shape;
            const int n = padded16(s->out) / 16;
            const RtElement element = { s->out, s->y_stride, s->y_stride, s->y_stride, RT_IDENTITY };
            Buffer a = random_rows(rows, s->out, s->y_stride), y = buffer(a.n);
            run(&c, c.y.data, 0, rows, 0, n);
            rt_add_f32(&element, c.y.data, a.data, c.y.data, rows, 0, n);
            rt_linear_add_f32(s, y.data, c.x.data, c.w.data, a.data, rows, 0, n);
            check_same_bits(y.data, c.y.data, y.n);
            fill_guard(y.data, y.n);
            for (int r = 0; r < rows; r++)
                for (int p = 0; p < n; p++) {
                    const int at = r * s->y_stride;
                    rt_linear_add_f32(s, y.data + at, c.x.data + r * s->x_stride, c.w.data, a.data + at, 1, p, p + 1);
                }
            check_same_bits(y.data, c.y.data, y.n);
            rt_linear_add_f32(s, a.data, c.x.data, c.w.data, a.data, rows, 0, n);
            for (int r = 0; r < rows; r++) check_same_bits(a.data + r * s->y_stride, y.data + r * s->y_stride, (size_t)s->out);
            release(a), release(y);
            free_case(c);
        }
}

/* Weights read one panel after another give the same bits as panels read side by side. */
static void one_stream_changes_no_bit(void **state)
{
    static const int sizes[][2] = { { 1, 1 }, { 7, 17 }, { 64, 128 }, { 31, 250 }, { 288, 300 } };
    (void)state;
    for (size_t k = 0; k < COUNT(sizes); k++)
        for (int bias = 0; bias < 2; bias++) {
            Case g = make_case(sizes[k][0], sizes[k][1], 1, bias, RT_SILU), u = make_case(sizes[k][0], sizes[k][1], 1, bias, RT_SILU);
            const int n = padded16(g.shape.out) / 16;
            RtLinear plain = g.shape, streamed = g.shape;
            streamed.one_stream = 1;
            Buffer w = two_matrices(&g, &u), y = buffer(g.y.n);
            rt_linear_f32(&plain, g.y.data, g.x.data, g.w.data, 1, 0, n);
            rt_linear_f32(&streamed, y.data, g.x.data, g.w.data, 1, 0, n);
            check_same_bits(y.data, g.y.data, y.n);
            rt_linear_gate_f32(&plain, g.y.data, g.x.data, w.data, 1, 0, n);
            rt_linear_gate_f32(&streamed, y.data, g.x.data, w.data, 1, 0, n);
            check_same_bits(y.data, g.y.data, y.n);
            plain.activation = streamed.activation = RT_RELU;
            rt_linear_add_f32(&plain, g.y.data, g.x.data, g.w.data, g.y.data, 1, 0, n);
            rt_linear_add_f32(&streamed, y.data, g.x.data, g.w.data, y.data, 1, 0, n);
            check_same_bits(y.data, g.y.data, (size_t)g.shape.out);
            release(w), release(y);
            free_case(g), free_case(u);
        }
}

/* Wide tiles without prefetch change no bit either, for various remainders of rows and panels. */
static void tiles_change_no_bit(void **state)
{
    static const int sizes[][3] = { { 1, 1, 2 }, { 7, 17, 3 }, { 64, 128, 8 }, { 31, 250, 16 }, { 513, 48, 29 }, { 1030, 100, 45 } };
    (void)state;
    for (size_t k = 0; k < COUNT(sizes); k++)
        for (int bias = 0; bias < 2; bias++) {
            const int rows = sizes[k][2];
            Case g = make_case(sizes[k][0], sizes[k][1], rows, bias, RT_SILU), u = make_case(sizes[k][0], sizes[k][1], rows, bias, RT_SILU);
            const int n = padded16(g.shape.out) / 16;
            const RtLinear plain = g.shape;
            RtLinear wide = g.shape;
            wide.wide_tile = wide.no_prefetch = 1;
            Buffer w = two_matrices(&g, &u), y = buffer(g.y.n);
            rt_linear_f32(&plain, g.y.data, g.x.data, g.w.data, rows, 0, n);
            rt_linear_f32(&wide, y.data, g.x.data, g.w.data, rows, 0, n);
            check_same_bits(y.data, g.y.data, y.n);
            rt_linear_gate_f32(&plain, g.y.data, g.x.data, w.data, rows, 0, n);
            rt_linear_gate_f32(&wide, y.data, g.x.data, w.data, rows, 0, n);
            check_same_bits(y.data, g.y.data, y.n);
            rt_linear_add_f32(&plain, g.y.data, g.x.data, g.w.data, g.y.data, rows, 0, n);
            rt_linear_add_f32(&wide, y.data, g.x.data, g.w.data, y.data, rows, 0, n);
            for (int r = 0; r < rows; r++) check_same_bits(y.data + r * plain.y_stride, g.y.data + r * plain.y_stride, (size_t)plain.out);
            release(w), release(y);
            free_case(g), free_case(u);
        }
}

typedef struct Job { const Case *c; float *y; int by_rows; } Job;

static void body(void *argument, int thread, int threads)
{
    const Job *job = argument;
    const int n = padded16(job->c->shape.out) / 16;
    const rt_span s = rt_split(job->by_rows ? job->c->rows : n, thread, threads);
    if (job->by_rows) run(job->c, job->y, s.begin, s.end - s.begin, 0, n);
    else run(job->c, job->y, 0, job->c->rows, s.begin, s.end);
}

/* One to three threads divide the rows or the panels: a thread gets one, several or none. */
static void on_teams(void **state)
{
    static const int rows[] = { 1, 2, 3, 29 };
    rt_team *team = NULL;
    (void)state;
    for (int threads = 1; threads <= 3; threads++) {
        assert_int_equal(rt_team_resize(&team, threads), RT_OK);
        for (size_t r = 0; r < COUNT(rows); r++)
            for (int by_rows = 0; by_rows < 2; by_rows++) {
                Case c = make_case(100, 130, rows[r], 1, RT_IDENTITY);
                Buffer y = buffer(c.y.n);
                Job job = { &c, y.data, by_rows };
                run(&c, c.y.data, 0, c.rows, 0, padded16(c.shape.out) / 16);
                rt_team_run(team, body, &job);
                check_same_bits(y.data, c.y.data, y.n);
                release(y);
                free_case(c);
            }
    }
    assert_int_equal(rt_team_resize(&team, 1), RT_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(against_reference), cmocka_unit_test(every_cut), cmocka_unit_test(on_teams),
        cmocka_unit_test(gate_is_two_linears), cmocka_unit_test(add_is_a_linear_and_a_sum),
        cmocka_unit_test(one_stream_changes_no_bit),
        cmocka_unit_test(tiles_change_no_bit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
