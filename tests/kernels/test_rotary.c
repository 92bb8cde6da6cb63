/* test_rotary.c: rt_rotary_f32 against its definition in double. The bits are the same for every
 * cut between heads, for each row alone, and in place. */
#include "kernel_test.h"

enum { ROWS = 5, POSITIONS = 9 };
static const int shapes[][3] = { { 1, 2, 2 }, { 3, 5, 4 }, { 4, 16, 16 }, { 2, 20, 18 }, { 3, 32, 32 }, { 5, 33, 30 },
                                 { 2, 64, 64 }, { 2, 80, 20 }, { 3, 100, 98 }, { 1, 128, 128 } };
static const int positions[ROWS] = { 8, 0, 3, 3, 7 };

static Buffer angles(int dims)
{
    const int padded = padded16(dims);
    Buffer table = random_rows(POSITIONS, dims, padded);  /* made-up numbers, so that a wrong index shows */
    for (int p = 0; p < POSITIONS; p++)
        for (int i = dims; i < padded; i++)
            table.data[p * padded + i] = NAN;
    return table;
}

static void reference(const RtRotary *s, Exact *want, const float *x, const float *table)
{
    const int half = s->dims / 2, used = s->heads * s->width;
    for (int r = 0; r < ROWS; r++)
        for (int i = 0; i < used; i++) {
            const int head = i / s->width * s->width, column = i % s->width;
            const int pair = s->interleaved ? column / 2 : column % half;
            const int second = s->interleaved ? column % 2 : column >= half;
            const float *angle = table + positions[r] * padded16(s->dims), *row = x + r * s->x_stride + head;
            Exact e = { 0, 0 };
            if (column >= s->dims) exact_add(&e, row[column]);
            else {
                const double a = row[s->interleaved ? 2 * pair : pair], b = row[s->interleaved ? 2 * pair + 1 : pair + half];
                exact_add(&e, second ? b * angle[pair] : a * angle[pair]);
                exact_add(&e, second ? a * angle[half + pair] : -b * angle[half + pair]);
            }
            want[r * used + i] = e;
        }
}

static void one_shape(int heads, int width, int dims, int interleaved)
{
    const int used = heads * width, stride = padded16(used) + 16;
    const RtRotary s = { heads, width, dims, interleaved, stride, stride + 16 };
    const RtRotary same = { heads, width, dims, interleaved, stride, stride };
    Buffer x = random_rows(ROWS, used, stride), y = buffer((size_t)(ROWS * s.y_stride)), z = buffer(y.n);
    Buffer table = angles(dims);
    Exact *want = malloc((size_t)(ROWS * used) * sizeof *want);
    reference(&s, want, x.data, table.data);
    rt_rotary_f32(&s, y.data, x.data, table.data, positions, ROWS, 0, heads);
    check_close(y.data, s.y_stride, want, ROWS, used);
    for (int r = 0; r < ROWS; r++)
        for (int i = used; i < s.y_stride; i++)
            assert_true(is_guard(y.data + r * s.y_stride + i));
    for (int cut = 0; cut <= heads; cut++) {
        fill_guard(z.data, z.n);
        rt_rotary_f32(&s, z.data, x.data, table.data, positions, ROWS, cut, heads);
        for (int i = 0; i < cut * width; i++)
            assert_true(is_guard(z.data + i));
        for (int r = 0; r < ROWS; r++)
            rt_rotary_f32(&s, z.data + r * s.y_stride, x.data + r * stride, table.data, positions + r, 1, 0, cut);
        check_same_bits(z.data, y.data, y.n);
    }
    rt_rotary_f32(&same, x.data, x.data, table.data, positions, ROWS, 0, heads);
    for (int r = 0; r < ROWS; r++)
        check_same_bits(x.data + r * stride, y.data + r * s.y_stride, (size_t)used);
    free(want);
    release(x), release(y), release(z), release(table);
}

static void every_shape(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(shapes); i++)
        for (int interleaved = 0; interleaved < 2; interleaved++)
            one_shape(shapes[i][0], shapes[i][1], shapes[i][2], interleaved);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(every_shape) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
