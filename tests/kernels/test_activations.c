/* test_activations.c: Every row of activations.def against libm in double, over a dense sweep of
 * all floats and at the extremes. Element-wise kernels, gates and linears give the same bits. */
#include "kernel_test.h"
#include "rt_simd.h"

static double relu(double x) { return x > 0 ? x : 0; }
static double identity(double x) { return x; }
static double gelu(double x) { return x * erfc(-x / sqrt(2)) / 2; }
static double sigmoid(double x) { return 1 / (1 + exp(-x)); }
static double gelu_tanh(double x) { return x * sigmoid(2 * sqrt(2 / acos(-1)) * (x + 0.044715 * x * x * x)); }
static double quick_gelu(double x) { return x * sigmoid(1.702 * x); }
static double silu(double x) { return x * sigmoid(x); }
static double relu2(double x) { return relu(x) * relu(x); }

/* The limits stated in rt_simd.h; identity, relu and relu2 are rounded correctly. ulp: error for
 * x >= lowest, in units in the last place of the exact result. share: error for all x, in
 * 2^-23 |x|; 0 if it is not proportional to x. */
typedef struct Row { const char *name; double (*exact)(double), ulp, lowest, share; } Row;
static const Row rows[RT_ACTIVATIONS] = {
    [RT_IDENTITY] = { "identity", identity, 0, -INFINITY, 0 },
    [RT_RELU] = { "relu", relu, 0, -INFINITY, 0 },
    [RT_GELU] = { "gelu", gelu, 3, -1, 1 },
    [RT_GELU_TANH] = { "gelu_tanh", gelu_tanh, 3, -1, 1 },
    [RT_QUICK_GELU] = { "quick_gelu", quick_gelu, 3, -1, 1 },
    [RT_SILU] = { "silu", silu, 3, -1, 1 },
    [RT_TANH] = { "tanh", tanh, 1.3, -INFINITY, 0 },
    [RT_SIGMOID] = { "sigmoid", sigmoid, 2.5, -87, 0 },
    [RT_RELU2] = { "relu2", relu2, 0.5, -INFINITY, 0 },
};

static float one(RtActivation kind, float x)
{
    float y[16];
    rt_store(y, rt_activate(kind, rt_set1(x)));
    return y[11];
}

/* Check every 499th float, of both signs. */
static void sweep(RtActivation kind)
{
    const Row *row = &rows[kind];
    assert_non_null(row->exact);
    double ulp = 0, share = 0, ulp_at = 0, share_at = 0;
    for (uint32_t bits = 0; bits < 0x7f800000u; bits += 499 * 8 * test_share()) {
        float x[16], y[16];
        for (uint32_t l = 0; l < 16; l++) {
            const uint32_t b = bits + 499 * (l / 2), last = 0x7f7fffffu, c = (b < last ? b : last) | l % 2 << 31;
            memcpy(&x[l], &c, sizeof c);
        }
        rt_store(y, rt_activate(kind, rt_load(x)));
        for (int l = 0; l < 16; l++) {
            const double want = row->exact(x[l]), error = fabs(y[l] - want);
            const float nearest = (float)want;
            if (isinf(nearest) || (fabs(want) > 3.4e38 && isinf(y[l]))) {
                assert_true(y[l] > 3.4e38f);
                continue;
            }
            assert_true(isfinite(y[l]));
            const double u = error / (nextafterf(fabsf(nearest), INFINITY) - fabsf(nearest));
            const double s = row->share > 0 && x[l] != 0 ? (error - 1e-37) / (ldexp(1, -23) * fabs(x[l])) : 0;
            if (x[l] >= row->lowest && u > ulp) ulp = u, ulp_at = x[l];
            if (s > share) share = s, share_at = x[l];
            if (x[l] < row->lowest && row->share == 0) assert_true(y[l] >= 0 && error < 1e-36);
        }
    }
    print_message("%s: %.2f ulp at %.9g, %.2f of 2^-23 |x| at %.9g\n", row->name, ulp, ulp_at, share, share_at);
    assert_true(ulp <= row->ulp && share <= row->share);
}

static void errors(void **state)
{
    (void)state;
    for (int kind = 0; kind < RT_ACTIVATIONS; kind++)
        sweep((RtActivation)kind);
}

static void ends(void **state)
{
    static const struct { RtActivation kind; float low, high; } limits[] = {
        { RT_IDENTITY, -INFINITY, INFINITY }, { RT_RELU, 0, INFINITY }, { RT_GELU, 0, INFINITY },
        { RT_GELU_TANH, 0, INFINITY }, { RT_QUICK_GELU, 0, INFINITY }, { RT_SILU, 0, INFINITY }, { RT_TANH, -1, 1 },
        { RT_SIGMOID, 0, 1 }, { RT_RELU2, 0, INFINITY },
    };
    (void)state;
    assert_int_equal(COUNT(limits), RT_ACTIVATIONS);
    for (size_t i = 0; i < COUNT(limits); i++) {
        const RtActivation kind = limits[i].kind;
        assert_true(one(kind, -INFINITY) == limits[i].low && one(kind, INFINITY) == limits[i].high);
        assert_true(isnan(one(kind, NAN)) && isnan(one(kind, -NAN)));
        assert_true(one(kind, 0) == (kind == RT_SIGMOID ? 0.5f : 0));
        if (isinf(limits[i].high)) continue;
        assert_true(one(kind, 1e4f) == limits[i].high && one(kind, -1e4f) == limits[i].low);
    }
    for (float x = 20; x < 1e38f; x *= 3)                          /* the tail vanishes: x itself */
        assert_true(one(RT_GELU, x) == x && one(RT_GELU_TANH, x) == x && one(RT_QUICK_GELU, x) == x && one(RT_SILU, x) == x);
    assert_true(one(RT_GELU, -20) == 0 && one(RT_GELU_TANH, -20) == 0);
}

/* ---- in other kernels ------------------------------------------------------------------------ */

enum { ROWS = 5 };
static const int widths[] = { 1, 2, 7, 15, 16, 17, 33, 97 };

static void element_wise(RtActivation kind, int width)
{
    const int padded = padded16(width), groups = padded / 16;
    const RtElement s = { width, padded + 16, padded, padded + 32, kind };
    Buffer a = random_rows(ROWS, width, s.a_stride), b = random_rows(ROWS, width, s.b_stride);
    Buffer y = buffer(ROWS * (size_t)s.y_stride), z = buffer(ROWS * (size_t)s.y_stride);
    for (int cut = 0; cut <= groups; cut++) {
        fill_guard(y.data, y.n), fill_guard(z.data, z.n);
        rt_activation_f32(&s, y.data, a.data, ROWS, cut, groups);
        rt_activation_f32(&s, y.data, a.data, ROWS, 0, cut);
        rt_gate_f32(&s, z.data, a.data, b.data, ROWS, 0, cut);
        for (int i = 16 * cut; i < s.y_stride; i++)
            assert_true(is_guard(z.data + i));
        rt_gate_f32(&s, z.data, a.data, b.data, ROWS, cut, groups);
        check_padding(y.data, s.y_stride, ROWS, width);
        check_padding(z.data, s.y_stride, ROWS, width);
        for (int r = 0; r < ROWS; r++)
            for (int i = 0; i < width; i++) {
                const float want = one(kind, a.data[r * s.a_stride + i]);
                assert_true(y.data[r * s.y_stride + i] == want);
                assert_true(z.data[r * s.y_stride + i] == want * b.data[r * s.b_stride + i]);
            }
    }
    for (int operand = 0; operand < 2; operand++) {        /* y in place of a, then of b, by rows */
        Buffer from = operand ? b : a, copy = buffer(from.n);
        const int stride = operand ? s.b_stride : s.a_stride;
        const RtElement same = { width, s.a_stride, s.b_stride, stride, kind };
        memcpy(copy.data, from.data, from.n * sizeof(float));
        for (int r = 0; r < ROWS; r++)
            rt_gate_f32(&same, from.data + r * stride, a.data + r * s.a_stride, b.data + r * s.b_stride, 1, 0, groups);
        for (int r = 0; r < ROWS; r++)
            check_same_bits(from.data + r * stride, z.data + r * s.y_stride, (size_t)width);
        memcpy(from.data, copy.data, from.n * sizeof(float));
        release(copy);
    }
    release(a), release(b), release(y), release(z);
}

static void elements(void **state)
{
    (void)state;
    for (int kind = 0; kind < RT_ACTIVATIONS; kind++)
        for (size_t i = 0; i < COUNT(widths); i++)
            element_wise((RtActivation)kind, widths[i]);
}

/* A linear with an activation is bit-identical to the linear followed by the activation, even with
 * more inputs than one block holds. */
static void after_linear(RtActivation kind, int rows_n, int in, int out)
{
    const int stride = padded16(in), y_stride = padded16(out);
    const RtLinear plain = { .in = in, .out = out, .x_stride = stride, .y_stride = y_stride, .has_bias = 1, .activation = RT_IDENTITY };
    RtLinear fused = plain;
    fused.activation = kind;
    const RtElement element = { out, y_stride, y_stride, y_stride, kind };
    Buffer x = random_rows(rows_n, in, stride), w = random_rows(out, in, in), bias = random_rows(1, out, out);
    Buffer p = panels(w.data, bias.data, out, in);
    Buffer y = buffer((size_t)(rows_n * y_stride)), z = buffer(y.n);
    rt_linear_f32(&plain, y.data, x.data, p.data, rows_n, 0, y_stride / 16);
    rt_activation_f32(&element, y.data, y.data, rows_n, 0, y_stride / 16);
    rt_linear_f32(&fused, z.data, x.data, p.data, rows_n, 0, y_stride / 16);
    for (int r = 0; r < rows_n; r++)
        check_same_bits(y.data + r * y_stride, z.data + r * y_stride, (size_t)out);
    release(x), release(w), release(bias), release(p), release(y), release(z);
}

static void linears(void **state)
{
    static const int shapes[][3] = { { 1, 5, 7 }, { 1, 700, 150 }, { 3, 17, 40 }, { 15, 530, 33 }, { 29, 16, 16 } };
    (void)state;
    for (int kind = 0; kind < RT_ACTIVATIONS; kind++)
        for (size_t i = 0; i < COUNT(shapes); i++)
            after_linear((RtActivation)kind, shapes[i][0], shapes[i][1], shapes[i][2]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(errors), cmocka_unit_test(ends), cmocka_unit_test(elements), cmocka_unit_test(linears),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
