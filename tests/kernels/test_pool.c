/* test_pool.c: rt_pool_f32 against its definition in double, at awkward widths. Rows past the
 * visible ones are NaN. */
#include "kernel_test.h"

enum { MOST = 19 };
static const RtPoolKind kinds[] = { RT_POOL_MEAN, RT_POOL_FIRST, RT_POOL_MAX, RT_POOL_MEAN_SQRT, RT_POOL_WEIGHTED, RT_POOL_LAST };

static double expected(RtPoolKind kind, const float *x, int stride, int rows)
{
    double sum = 0, weighted = 0, most = -INFINITY;
    for (int r = 0; r < rows; r++) {
        const double v = (double)x[r * stride];
        sum += v, weighted += (r + 1) * v, most = v > most ? v : most;
    }
    switch (kind) {
    case RT_POOL_MEAN:      return sum / rows;
    case RT_POOL_MEAN_SQRT: return sum / sqrt(rows);
    case RT_POOL_WEIGHTED:  return 2 * weighted / (rows * (rows + 1.0));
    case RT_POOL_MAX:       return most;
    case RT_POOL_FIRST:     return (double)x[0];
    case RT_POOL_LAST:      return (double)x[(rows - 1) * stride];
    }
    return NAN;
}

static void one_shape(int width, int parts, int rows)
{
    RtPool s = { .width = width, .x_stride = padded16(width) + 16, .parts = parts };
    const int used = parts * width, visible[1] = { rows };
    for (int p = 0; p < parts; p++) s.kind[p] = kinds[(p + rows) % (int)COUNT(kinds)];
    Buffer x = random_rows(MOST, width, s.x_stride), y = buffer((size_t)padded16(used) + 16);
    for (int r = rows; r < MOST; r++)
        for (int i = 0; i < s.x_stride; i++) x.data[r * s.x_stride + i] = NAN;
    rt_pool_f32(&s, y.data, x.data, visible, 1);
    for (int i = 0; i < used; i++)
        assert_true(fabs((double)y.data[i] - expected(s.kind[i / width], x.data + i % width, s.x_stride, rows)) < 2e-6);
    for (int i = used; i < padded16(used); i++) assert_true(y.data[i] <= 0 && y.data[i] >= 0);
    for (int i = padded16(used); i < padded16(used) + 16; i++) assert_true(is_guard(y.data + i));
    release(x), release(y);
}

static void every_shape(void **state)
{
    (void)state;
    static const int widths[] = { 1, 15, 16, 17, 40 };
    for (size_t i = 0; i < COUNT(widths); i++)
        for (int parts = 1; parts <= 6; parts++)
            for (int rows = 1; rows <= MOST; rows += rows < 3 ? 1 : 8) one_shape(widths[i], parts, rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(every_shape) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
