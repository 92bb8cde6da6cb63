/* test_linear_int8.c: Linears and embeddings with int8 and int4 weights against sums of integers in
 * double at awkward sizes. Every division of the work gives the same bits. The reference rounds the
 * rows of x itself, as rt.h says. */
#include "kernel_test.h"

/* The kernels of a format. */
typedef struct Format {
    int bits;
    void (*linear)(const RtLinear *, float *, const float *, const void *, void *, int, int, int);
    void (*gate)(const RtLinear *, float *, const float *, const void *, void *, int, int, int);
    void (*add)(const RtLinear *, float *, const float *, const void *, const float *, void *, int, int, int);
    void (*embed)(const RtEmbed *, float *, const void *, const int *, int);
} Format;

static const Format formats[] = {
    { 8, rt_linear_int8, rt_linear_gate_int8, rt_linear_add_int8, rt_embed_int8 },
    { 4, rt_linear_int4, rt_linear_gate_int4, rt_linear_add_int4, rt_embed_int4 },
};

/* w[o][i] = the f16 factor[o][i / 32] * value[o][i] */
typedef struct Case {
    const Format *f;
    RtLinear shape;
    int rows;
    Buffer x, y, w;
    uint16_t *factor;
    int *value;
    float *bias;
} Case;

static int groups_of(int in) { return (in + 31) / 32; }

static double half(uint16_t h)
{
    const int exponent = h >> 10 & 31, fraction = h & 1023;
    const double size = exponent ? ldexp(1024 + fraction, exponent - 25) : ldexp(fraction, -24);
    return h & 0x8000 ? -size : size;
}

/* The byte of input `i` of output `o` in a group, and the shift of its number. */
static int byte_at(int bits, int o, int i) { return 64 * (bits == 8 ? i / 4 : i / 8) + o % 16 * 4 + i % 4; }
static int shift_at(int bits, int i) { return bits == 4 && i / 4 % 2 ? 4 : 0; }

/* Pack the numbers of the case into panels, each a multiple of 64 bytes. Outputs and inputs that
 * are padding are zeros. */
static Buffer pack(const Case *c)
{
    const RtLinear *s = &c->shape;
    const int groups = groups_of(s->in), panels = padded16(s->out) / 16, bits = c->f->bits;
    const size_t panel_bytes = rt_panel_bytes(s->in, s->has_bias, bits), scales = s->has_bias ? 64 : 0;
    const size_t data = scales + ((size_t)groups * 32 + 63) / 64 * 64;
    Buffer b = buffer((size_t)panels * panel_bytes / 4);
    unsigned char *to = (unsigned char *)b.data;
    assert_int_equal(panel_bytes % 64, 0);
    assert_int_equal(panel_bytes, data + (size_t)(groups * 64 * bits));
    memset(to, 0, (size_t)panels * panel_bytes);
    for (int o = 0; o < 16 * panels; o++) {
        unsigned char *panel = to + (size_t)(o / 16) * panel_bytes;
        if (s->has_bias && o < s->out) memcpy(panel + 4 * (o % 16), &c->bias[o], 4);
        for (int g = 0; g < groups && o < s->out; g++) memcpy(panel + scales + 32 * g + o % 16 * 2, &c->factor[o * groups + g], 2);
        for (int i = 0; i < 32 * groups; i++) {
            const int value = o < s->out && i < s->in ? c->value[o * s->in + i] : 0;
            unsigned char *byte = panel + data + (size_t)(i / 32 * 64 * bits + byte_at(bits, o, i % 32));
            *byte |= (unsigned char)((value + (1 << (bits - 1))) << shift_at(bits, i));
        }
    }
    return b;
}

static Case make_case(const Format *f, int in, int out, int rows, int has_bias, RtActivation activation)
{
    Case c = { f, { .in = in, .out = out, .x_stride = padded16(in) + 16, .y_stride = padded16(out) + 16, .has_bias = has_bias,
                    .activation = activation, .one_stream = rows % 2, .no_prefetch = rows % 4 == 0 }, rows,
               random_rows(rows, in, padded16(in) + 16), buffer((size_t)rows * (size_t)(padded16(out) + 16)), { NULL, 0 }, NULL, NULL, NULL };
    const int n = out * groups_of(in), least = -(1 << (f->bits - 1));
    c.factor = malloc((size_t)n * sizeof *c.factor);
    c.value = malloc((size_t)(out * in) * sizeof *c.value);
    c.bias = malloc((size_t)out * sizeof *c.bias);
    for (int i = 0; i < n; i++) c.factor[i] = (uint16_t)(random_bits() % 0x3c00 | (random_bits() & 0x8000)); /* below 1, some denormal */
    for (int i = 0; i < out * in; i++) c.value[i] = (int)(random_bits() % (1u << f->bits)) + least;
    for (int o = 0; o < out; o++) c.bias[o] = random_float();
    c.w = pack(&c);
    return c;
}

static void free_case(Case c)
{
    release(c.x), release(c.y), release(c.w);
    free(c.factor), free(c.value), free(c.bias);
}

/* Round group g of a row to 8 bits; returns the scale. */
static float rounded(const float *x, int in, int g, int q[32])
{
    float most = 0;
    const int n = in - 32 * g < 32 ? in - 32 * g : 32;
    for (int i = 0; i < n; i++) most = fmaxf(most, fabsf(x[32 * g + i]));
    for (int i = 0; i < 32; i++) q[i] = i < n && most > 0 ? (int)rintf(x[32 * g + i] * (127 / most)) : 0;
    return most / 127;
}

static Exact *reference(const Case *c)
{
    const RtLinear *s = &c->shape;
    const int groups = groups_of(s->in);
    Exact *want = calloc((size_t)(c->rows * s->out + 1), sizeof *want);
    for (int r = 0; r < c->rows; r++)
        for (int o = 0; o < s->out; o++) {
            Exact *sum = &want[r * s->out + o];
            if (s->has_bias) exact_add(sum, c->bias[o]);
            for (int g = 0; g < groups; g++) {
                int q[32];
                const double scale = (double)rounded(c->x.data + r * s->x_stride, s->in, g, q) * half(c->factor[o * groups + g]);
                double whole = 0;
                for (int i = 0; i < 32 && 32 * g + i < s->in; i++) whole += q[i] * c->value[o * s->in + 32 * g + i];
                exact_add(sum, scale * whole);
            }
            if (s->activation == RT_RELU && sum->value < 0) sum->value = 0;
        }
    return want;
}

/* A buffer for the rows that a call rounds, of exactly the size that rt.h states. */
static Buffer room(const RtLinear *s, int rows)
{
    return buffer((size_t)rt_rounded_rows(s->in, rows) * (size_t)rt_rounded_stride(s->in));
}

static void linear(const Format *f, const RtLinear *s, float *y, const float *x, const void *w, int rows, int begin, int end)
{
    Buffer b = room(s, rows);
    f->linear(s, y, x, w, b.data, rows, begin, end);
    release(b);
}

static void gate(const Format *f, const RtLinear *s, float *y, const float *x, const void *w, int rows, int begin, int end)
{
    Buffer b = room(s, rows);
    f->gate(s, y, x, w, b.data, rows, begin, end);
    release(b);
}

static void add(const Format *f, const RtLinear *s, float *y, const float *x, const void *w, const float *a, int rows, int begin, int end)
{
    Buffer b = room(s, rows);
    f->add(s, y, x, w, a, b.data, rows, begin, end);
    release(b);
}

static void run(const Case *c, float *y, int row, int rows, int begin, int end)
{
    const RtLinear *s = &c->shape;
    linear(c->f, s, y + row * s->y_stride, c->x.data + row * s->x_stride, c->w.data, rows, begin, end);
}

static const int ins[] = { 1, 31, 32, 33, 64, 288, 517 };
static const int outs[] = { 1, 15, 16, 17, 33, 48 };
static const int many[] = { 0, 1, 2, 3, 5, 6, 7, 12, 13, 14, 15, 64 };

static void against_reference(void **state)
{
    (void)state;
    for (size_t f = 0; f < COUNT(formats); f++)
        for (size_t i = 0; i < COUNT(ins); i++)
            for (size_t o = 0; o < COUNT(outs); o++)
                for (size_t r = 0; r < COUNT(many); r++)
                    for (int k = 0; k < 4; k++) {
                        Case c = make_case(&formats[f], ins[i], outs[o], many[r], k & 1, k & 2 ? RT_RELU : RT_IDENTITY);
                        Exact *want = reference(&c);
                        run(&c, c.y.data, 0, c.rows, 0, padded16(c.shape.out) / 16);
                        check_close(c.y.data, c.shape.y_stride, want, c.rows, c.shape.out);
                        check_padding(c.y.data, c.shape.y_stride, c.rows, c.shape.out);
                        free(want);
                        free_case(c);
                    }
}

/* All products of a group are the largest, so sums in 16 bits would overflow first here. */
static void largest_sums(void **state)
{
    (void)state;
    static const int rows[] = { 1, 2, 7 };
    for (size_t f = 0; f < COUNT(formats); f++)
        for (size_t r = 0; r < COUNT(rows); r++)
            for (int sign = -1; sign <= 1; sign += 2) {
                const int most = (1 << (formats[f].bits - 1)) - 1;
                Case c = make_case(&formats[f], 96, 17, rows[r], 0, RT_IDENTITY);
                for (int i = 0; i < 17 * 96; i++) c.value[i] = i / 96 % 2 ? most : -most - 1;
                for (int i = 0; i < rows[r] * c.shape.x_stride; i++) c.x.data[i] = (float)sign * 0.75f;
                release(c.w);
                c.w = pack(&c);
                Exact *want = reference(&c);
                run(&c, c.y.data, 0, c.rows, 0, 2);
                check_close(c.y.data, c.shape.y_stride, want, c.rows, c.shape.out);
                free(want);
                free_case(c);
            }
}

/* More rows than are rounded at once, and rows so long that only one is rounded at a time. */
static void long_rows(void **state)
{
    static const int sizes[][3] = { { 4096, 17, 37 }, { 30000, 3, 5 }, { 65536, 17, 2 }, { 65569, 17, 2 } };
    (void)state;
    for (size_t f = 0; f < COUNT(formats); f++)
        for (size_t k = 0; k < COUNT(sizes); k++) {
            Case c = make_case(&formats[f], sizes[k][0], sizes[k][1], sizes[k][2], 1, RT_IDENTITY);
            Exact *want = reference(&c);
            run(&c, c.y.data, 0, c.rows, 0, padded16(c.shape.out) / 16);
            check_close(c.y.data, c.shape.y_stride, want, c.rows, c.shape.out);
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
    for (size_t k = 0; k < COUNT(sizes) * COUNT(formats); k++) {
        Case c = make_case(&formats[k / COUNT(sizes)], sizes[k % COUNT(sizes)][0], sizes[k % COUNT(sizes)][1], rows, 1, k % 2 ? RT_RELU : RT_TANH);
        const int n = padded16(c.shape.out) / 16;
        Buffer y = buffer(c.y.n);
        run(&c, c.y.data, 0, rows, 0, n);
        for (int cut = 0; cut <= rows; cut++) {
            fill_guard(y.data, y.n);
            run(&c, y.data, 0, cut, 0, n), run(&c, y.data, cut, rows - cut, 0, n);
            check_same_bits(y.data, c.y.data, y.n);
        }
        for (int cut = 0; cut <= n; cut++) {
            fill_guard(y.data, y.n);
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

/* ---- fused with another operation ------------------------------------------------------------ */

static const int pairs[][3] = { { 1, 1, 1 }, { 7, 17, 1 }, { 64, 172, 1 }, { 31, 33, 2 }, { 64, 130, 15 }, { 513, 300, 31 }, { 20, 40, 129 },
                                { 2100, 40, 64 } };

/* A gated linear gives the same bits as two linears and a gate, in one call and for each row and
 * panel alone. */
static void gate_is_two_linears(void **state)
{
    static const RtActivation kinds[] = { RT_SILU, RT_RELU };
    (void)state;
    for (size_t k = 0; k < COUNT(pairs) * COUNT(formats); k++)
        for (int kind = 0; kind < 4; kind++) {
            const int *size = pairs[k % COUNT(pairs)], rows = size[2], bias = kind & 1;
            const Format *f = &formats[k / COUNT(pairs)];
            Case g = make_case(f, size[0], size[1], rows, bias, RT_IDENTITY), u = make_case(f, size[0], size[1], rows, bias, RT_IDENTITY);
            const int n = padded16(g.shape.out) / 16;
            RtLinear s = g.shape;
            s.activation = kinds[kind / 2];
            Buffer w = buffer(g.w.n + u.w.n), up = buffer(g.y.n), y = buffer(g.y.n);
            memcpy(w.data, g.w.data, g.w.n * sizeof *w.data);
            memcpy(w.data + g.w.n, u.w.data, u.w.n * sizeof *w.data);
            run(&g, g.y.data, 0, rows, 0, n);
            linear(f, &g.shape, up.data, g.x.data, u.w.data, rows, 0, n);
            const RtElement element = { 16 * n, s.y_stride, s.y_stride, s.y_stride, s.activation };
            rt_gate_f32(&element, g.y.data, g.y.data, up.data, rows, 0, n);
            gate(f, &s, y.data, g.x.data, w.data, rows, 0, n);
            check_same_bits(y.data, g.y.data, y.n);
            fill_guard(y.data, y.n);
            for (int r = 0; r < rows; r++)
                for (int p = 0; p < n; p++)
                    gate(f, &s, y.data + r * s.y_stride, g.x.data + r * s.x_stride, w.data, 1, p, p + 1);
            check_same_bits(y.data, g.y.data, y.n);
            release(w), release(up), release(y);
            free_case(g), free_case(u);
        }
}

/* The fused sum gives the same bits as a linear and a sum, in place or not, and for each row and
 * panel alone. The padding of the addend is never read. */
static void add_is_a_linear_and_a_sum(void **state)
{
    (void)state;
    for (size_t k = 0; k < COUNT(pairs) * COUNT(formats); k++)
        for (int kind = 0; kind < 4; kind++) {
            const int *size = pairs[k % COUNT(pairs)], rows = size[2];
            Case c = make_case(&formats[k / COUNT(pairs)], size[0], size[1], rows, kind & 1, kind & 2 ? RT_TANH : RT_IDENTITY);
            const RtLinear *s = &c.shape;
            const int n = padded16(s->out) / 16;
            const RtElement element = { s->out, s->y_stride, s->y_stride, s->y_stride, RT_IDENTITY };
            Buffer a = random_rows(rows, s->out, s->y_stride), y = buffer(a.n);
            run(&c, c.y.data, 0, rows, 0, n);
            rt_add_f32(&element, c.y.data, a.data, c.y.data, rows, 0, n);
            add(c.f, s, y.data, c.x.data, c.w.data, a.data, rows, 0, n);
            check_same_bits(y.data, c.y.data, y.n);
            fill_guard(y.data, y.n);
            for (int r = 0; r < rows; r++)
                for (int p = 0; p < n; p++) {
                    const int at = r * s->y_stride;
                    add(c.f, s, y.data + at, c.x.data + r * s->x_stride, c.w.data, a.data + at, 1, p, p + 1);
                }
            check_same_bits(y.data, c.y.data, y.n);
            add(c.f, s, a.data, c.x.data, c.w.data, a.data, rows, 0, n);
            for (int r = 0; r < rows; r++) check_same_bits(a.data + r * s->y_stride, y.data + r * s->y_stride, (size_t)s->out);
            release(a), release(y);
            free_case(c);
        }
}

/* ---- unusual rows of x ----------------------------------------------------------------------- */

static float output_of(float x0, float x1)
{
    Case c = make_case(&formats[0], 40, 1, 1, 0, RT_IDENTITY);
    for (int i = 0; i < 40; i++) c.x.data[i] = 0;
    c.x.data[1] = x0, c.x.data[39] = x1;
    run(&c, c.y.data, 0, 1, 0, 1);
    const float y = c.y.data[0];
    free_case(c);
    return y;
}

/* Groups of zeros or of the smallest numbers give about 0. Infinity and NaN show in the result. */
static void extremes(void **state)
{
    (void)state;
    assert_true(output_of(0, 0) == 0);
    assert_true(fabsf(output_of(1e-45f, -1e-38f)) < 1e-30f);
    assert_true(isfinite(output_of(1e35f, -1e35f)));
    const float none[] = { NAN, INFINITY, -INFINITY };
    for (size_t i = 0; i < COUNT(none); i++) {
        assert_false(isfinite(output_of(none[i], 1)));
        assert_false(isfinite(output_of(1, none[i])));
        assert_false(isfinite(output_of(none[i], none[i])));
    }
}

/* ---- embeddings ------------------------------------------------------------------------------ */

static void embeddings(void **state)
{
    static const int widths[] = { 1, 15, 16, 17, 31, 33, 64, 100, 288 };
    static const int ids[] = { 0, 36, 15, 16, 31, 32, 1, 36 };
    (void)state;
    for (size_t k = 0; k < 2 * COUNT(widths); k++) {
        const int width = widths[k / 2], stride = padded16(width) + 16, groups = groups_of(width);
        Case c = make_case(&formats[k % 2], width, 37, 0, 0, RT_IDENTITY);
        const RtEmbed s = { width, stride, 1.5f };
        Buffer y = buffer(COUNT(ids) * (size_t)stride);
        c.f->embed(&s, y.data, c.w.data, ids, (int)COUNT(ids));
        for (size_t r = 0; r < COUNT(ids); r++)
            for (int i = 0; i < width; i++) {
                const double want = half(c.factor[ids[r] * groups + i / 32]) * c.value[ids[r] * width + i];
                assert_true(y.data[(int)r * stride + i] == 1.5f * (float)want);
            }
        check_padding(y.data, stride, (int)COUNT(ids), width);
        release(y);
        free_case(c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(against_reference), cmocka_unit_test(long_rows), cmocka_unit_test(every_cut), cmocka_unit_test(gate_is_two_linears),
        cmocka_unit_test(add_is_a_linear_and_a_sum), cmocka_unit_test(extremes), cmocka_unit_test(largest_sums), cmocka_unit_test(embeddings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
