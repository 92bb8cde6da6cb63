/* test_linear_bf16.c: Linears and embeddings with bf16 weights give the same bits as the same
 * weights in f32 do, in one call and for each row and panel alone. test_linear.c compares f32 with
 * a plain product. */
#include <stdbool.h>
#include "kernel_test.h"

/* One or more matrices, one after another, in f32 panels and in bf16 panels, and the input x. */
typedef struct Case { RtLinear shape; int rows; Buffer x, wide, narrow; size_t narrow_panel; } Case;

/* A random finite bf16, sometimes tiny. */
static uint16_t random_weight(void)
{
    const uint16_t h = (uint16_t)random_bits();
    return random_bits() % 16 == 0 ? (uint16_t)(h & 0x80ff) : (uint16_t)((h & 0x807f) | (120 + h % 8) << 7);
}

static float widened(uint16_t h)
{
    const uint32_t bits = (uint32_t)h << 16;
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}

/* Fill `wide` and `narrow`, each with the panels of `count` matrices; the biases are f32 in both.
 * The bytes that pad a narrow panel to a multiple of 64 bytes keep the guard. */
static void fill_panels(const Case *c, int count)
{
    const RtLinear *s = &c->shape;
    const int depth = s->in + s->has_bias, panels = count * padded16(s->out) / 16;
    for (int p = 0; p < panels; p++) {
        float *wide = c->wide.data + (size_t)p * 16 * (size_t)depth;
        unsigned char *narrow = (unsigned char *)c->narrow.data + (size_t)p * c->narrow_panel;
        for (int l = 0; s->has_bias && l < 16; l++) wide[l] = random_float();
        if (s->has_bias) memcpy(narrow, wide, 64);
        for (int i = 0; i < 16 * s->in; i++) {
            const bool fills = 16 * (p % (padded16(s->out) / 16)) + i % 16 >= s->out;
            const uint16_t h = fills ? 0 : random_weight();
            wide[16 * s->has_bias + i] = widened(h);
            memcpy(narrow + 64 * s->has_bias + 64 * (i / 32) + 4 * (i % 16) + 2 * (i / 16 % 2), &h, sizeof h);
        }
    }
}

static Case make_case(int in, int out, int rows, int has_bias, RtActivation activation, int count)
{
    const size_t panels = (size_t)(count * padded16(out) / 16), narrow_panel = rt_panel_bytes(in, has_bias, 16);
    Case c = { { .in = in, .out = out, .x_stride = padded16(in) + 16, .y_stride = padded16(out) + 16, .has_bias = has_bias, .activation = activation,
                 .one_stream = rows % 2, .wide_tile = rows % 3 == 0, .no_prefetch = rows % 4 == 0 },
               rows, random_rows(rows, in, padded16(in) + 16),
               buffer(panels * 16 * (size_t)(in + has_bias)), buffer(panels * narrow_panel / 4), narrow_panel };
    assert_int_equal(narrow_panel % 64, 0);
    assert_in_range(narrow_panel, 64 * has_bias + 32 * in, 64 * has_bias + 32 * in + 63);
    fill_panels(&c, count);
    return c;
}

static void free_case(Case c) { release(c.x), release(c.wide), release(c.narrow); }

typedef enum Kind { PLAIN, GATE, ADD, KINDS } Kind;

/* Call one kernel, starting at row `row`; a: the addend of ADD, unused otherwise. */
static void run(Kind kind, bool narrow, const Case *c, float *y, const float *a, int row, int rows, int begin, int end)
{
    const RtLinear *s = &c->shape;
    const float *x = c->x.data + row * s->x_stride;
    const void *w = narrow ? (const void *)c->narrow.data : c->wide.data;
    y += row * s->y_stride;
    if (kind == PLAIN) (narrow ? rt_linear_bf16 : rt_linear_f32)(s, y, x, w, rows, begin, end);
    if (kind == GATE) (narrow ? rt_linear_gate_bf16 : rt_linear_gate_f32)(s, y, x, w, rows, begin, end);
    if (kind == ADD) (narrow ? rt_linear_add_bf16 : rt_linear_add_f32)(s, y, x, w, a + row * s->y_stride, rows, begin, end);
}

static void compare(Kind kind, const Case *c)
{
    const int n = padded16(c->shape.out) / 16;
    const size_t size = (size_t)c->rows * (size_t)c->shape.y_stride;
    Buffer a = random_rows(c->rows, c->shape.out, c->shape.y_stride), want = buffer(size), got = buffer(size);
    run(kind, false, c, want.data, a.data, 0, c->rows, 0, n);
    run(kind, true, c, got.data, a.data, 0, c->rows, 0, n);
    check_same_bits(got.data, want.data, size);
    fill_guard(got.data, size);
    for (int r = 0; r < c->rows; r++)
        for (int p = 0; p < n; p++) run(kind, true, c, got.data, a.data, r, 1, p, p + 1);
    check_same_bits(got.data, want.data, size);
    release(a), release(want), release(got);
}

static void bits_of_f32(void **state)
{
    static const int ins[] = { 1, 2, 31, 64, 513, 1030 }, outs[] = { 1, 16, 17, 130, 300 }, many[] = { 1, 2, 15, 43 };
    static const RtActivation kinds[] = { RT_IDENTITY, RT_RELU, RT_SILU };
    (void)state;
    for (size_t i = 0; i < COUNT(ins); i++)
        for (size_t o = 0; o < COUNT(outs); o++)
            for (size_t r = 0; r < COUNT(many); r++)
                for (int kind = 0; kind < KINDS; kind++) {
                    if (left_out()) continue;
                    Case c = make_case(ins[i], outs[o], many[r], (int)(i + r) % 2, kinds[(i + o + r) % COUNT(kinds)], kind == GATE ? 2 : 1);
                    compare((Kind)kind, &c);
                    free_case(c);
                }
}

static void embeddings(void **state)
{
    static const int widths[] = { 1, 15, 16, 17, 31, 64, 288 }, ids[] = { 0, 36, 15, 16, 31, 32, 1, 36 };
    (void)state;
    for (size_t k = 0; k < COUNT(widths); k++) {
        const int width = widths[k], stride = padded16(width) + 16;
        Case c = make_case(width, 37, 0, 0, RT_IDENTITY, 1);
        const RtEmbed s = { width, stride, 1.7f };
        Buffer y = buffer(COUNT(ids) * (size_t)stride);
        rt_embed_bf16(&s, y.data, c.narrow.data, ids, (int)COUNT(ids));
        for (size_t r = 0; r < COUNT(ids); r++)
            for (int i = 0; i < width; i++) {
                const float weight = c.wide.data[(ids[r] / 16 * width + i) * 16 + ids[r] % 16];
                assert_true(y.data[(int)r * stride + i] == 1.7f * weight);
            }
        check_padding(y.data, stride, (int)COUNT(ids), width);
        release(y);
        free_case(c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(bits_of_f32), cmocka_unit_test(embeddings) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
