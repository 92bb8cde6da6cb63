/* test_scale.c: rt_scale_f32 against its definition in double. The bits are the same for every cut
 * between groups, for each row alone, and in place. */
#include "kernel_test.h"

enum { ROWS = 3 };
static const int widths[] = { 1, 15, 16, 17, 37, 64 };
static const float factors[][2] = { { 1, 0 }, { 0.25f, 0 }, { 0, 0 }, { 1, 30 }, { 1.5f, 0.7f }, { 40, 1 } };

static void one_shape(int width, float scale, float softcap)
{
    const int stride = padded16(width) + 16, groups = (width + 15) / 16;
    const RtScale s = { width, stride, stride + 16, scale, softcap }, same = { width, stride, stride, scale, softcap };
    Buffer x = random_rows(ROWS, width, stride), y = buffer((size_t)(ROWS * s.y_stride)), z = buffer(y.n);
    rt_scale_f32(&s, y.data, x.data, ROWS, 0, groups);
    for (int r = 0; r < ROWS; r++)
        for (int i = 0; i < s.y_stride; i++) {
            const double in = (double)scale * (i < width ? x.data[r * stride + i] : 0);
            const double want = softcap > 0 ? (double)softcap * tanh(in / (double)softcap) : in;
            const float found = y.data[r * s.y_stride + i];
            if (i >= padded16(width)) assert_true(is_guard(&y.data[r * s.y_stride + i]));
            else assert_true(fabs(found - want) <= 4e-7 * (fabs(want) + fabs(in) * 0.1));
        }
    for (int cut = 0; cut <= groups; cut++) {
        fill_guard(z.data, z.n);
        rt_scale_f32(&s, z.data, x.data, ROWS, cut, groups);
        for (int r = 0; r < ROWS; r++) rt_scale_f32(&s, z.data + r * s.y_stride, x.data + r * stride, 1, 0, cut);
        check_same_bits(z.data, y.data, y.n);
    }
    rt_scale_f32(&same, x.data, x.data, ROWS, 0, groups);
    for (int r = 0; r < ROWS; r++) check_same_bits(x.data + r * stride, y.data + r * s.y_stride, (size_t)padded16(width));
    release(x), release(y), release(z);
}

static void every_shape(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(widths); i++)
        for (size_t j = 0; j < COUNT(factors); j++) one_shape(widths[i], factors[j][0], factors[j][1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(every_shape) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
