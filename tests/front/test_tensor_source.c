/* test_tensor_source.c: tensor_read for sources of every kind but rotary tables and relative
 * position biases: dtypes, strides, seeds, constants, sinusoids. Also for ranges of rows. */
#include "front_test.h"
#include "weights.h"

#include <math.h>

#include "model.h"

/* A file tensor whose data start at offset 1, so that they are unaligned. */
static TensorSource in_memory(TensorFile *f, DType dtype, const void *data, size_t size, int64_t n)
{
    static unsigned char bytes[256];
    memcpy(bytes + 1, data, size);
    f->map = (FileMap){ .data = bytes, .size = sizeof bytes };
    return (TensorSource){ .name = "t", .kind = SOURCE_FILE, .dtype = dtype, .rank = 1, .shape = { n }, .stride = { 1 },
                           .file = f, .offset = 1 };
}

static void float_formats_are_read(void **state)
{
    (void)state;
    TensorFile f = { .path = "x" };
    float out[8];
    static const float f32[] = { 1.5f, -0.0f, 3.4e38f };
    static const double f64[] = { 1.1, -2.5, 1e-50 };
    static const uint16_t half[] = { 0x3C00, 0xC000, 0x0001, 0x83FF, 0x7BFF, 0x7C00, 0xFE00, 0x8000 };
    static const uint16_t brain[] = { 0x3F80, 0xC040, 0x7F80, 0x0001 };
    TensorSource t = in_memory(&f, DTYPE_F32, f32, sizeof f32, 3);
    tensor_read(&t, out);
    assert_memory_equal(out, f32, sizeof f32);
    t = in_memory(&f, DTYPE_F64, f64, sizeof f64, 3);
    tensor_read(&t, out);
    assert_true(out[0] == 1.1f && out[1] == -2.5f && out[2] == 0.0f);
    t = in_memory(&f, DTYPE_F16, half, sizeof half, 8);
    tensor_read(&t, out);
    assert_true(out[0] == 1 && out[1] == -2 && out[2] == ldexpf(1, -24) && out[3] == -ldexpf(1023, -24) && out[4] == 65504);
    assert_true(isinf(out[5]) && isnan(out[6]) && out[7] == 0 && signbit(out[7]));
    t = in_memory(&f, DTYPE_BF16, brain, sizeof brain, 4);
    tensor_read(&t, out);
    assert_true(out[0] == 1 && out[1] == -3 && isinf(out[2]) && out[3] == ldexpf(1, -133));
}

static float half_by_powers(uint32_t h)
{
    const int exponent = h >> 10 & 31, fraction = h & 1023;
    const float size = exponent ? ldexpf((float)(1024 + fraction), exponent - 25)
                                : ldexpf((float)fraction, -24);
    return h & 0x8000 ? -size : size;
}

/* All f16 and bf16 values, in runs of 1 to 67. */
static void all_short_numbers_are_read(void **state)
{
    (void)state;
    enum { ALL = 65536 };
    static unsigned char bytes[2 * ALL + 1];
    static float out[ALL];
    TensorFile f = { .path = "x", .map = { .data = bytes, .size = sizeof bytes } };
    for (uint32_t h = 0; h < ALL; h++) {
        bytes[1 + 2 * h] = (unsigned char)h;
        bytes[2 + 2 * h] = (unsigned char)(h >> 8);
    }
    for (int kind = 0; kind < 2; kind++)
        for (int64_t first = 0, n = 1; first < ALL; first += n, n = n % 67 + 1) {
            if (n > ALL - first) n = ALL - first;
            const TensorSource t = { .kind = SOURCE_FILE, .dtype = kind ? DTYPE_BF16 : DTYPE_F16,
                                     .rank = 1, .shape = { n }, .stride = { 1 }, .start = first,
                                     .file = &f, .offset = 1 };
            tensor_read(&t, out + first);
            for (int64_t h = first; h < first + n; h++) {
                const uint32_t expected = (uint32_t)h << 16;
                if (kind) {
                    assert_memory_equal(&out[h], &expected, sizeof expected);
                    continue;
                }
                assert_int_equal(!signbit(out[h]), !(h & 0x8000));
                if ((h >> 10 & 31) < 31) assert_true(out[h] == half_by_powers((uint32_t)h));
                else assert_true(h & 1023 ? isnan(out[h]) : isinf(out[h]));
            }
        }
}

/* Transposed views, and views of every other column, give the values of the whole tensor. */
static void views_have_the_numbers_of_the_whole(void **state)
{
    (void)state;
    enum { ROWS = 130, COLUMNS = 512, BEFORE = 5 };
    static unsigned char bytes[8 * ROWS * COLUMNS + 64];
    static float whole[ROWS * COLUMNS], out[ROWS * COLUMNS];
    static const DType dtypes[] = {
        DTYPE_F32, DTYPE_F16, DTYPE_BF16, DTYPE_F64, DTYPE_I8, DTYPE_Q8_0,
        DTYPE_Q4_0, DTYPE_Q4_1, DTYPE_Q5_0, DTYPE_Q4_K, DTYPE_Q5_K, DTYPE_Q6_K,
    };
    const TensorFile f = { .path = "x", .map = { .data = bytes, .size = sizeof bytes } };
    for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = (unsigned char)(i * 2654435761u >> 11);
    for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; d++) {
        TensorSource t = { .kind = SOURCE_FILE, .dtype = dtypes[d], .rank = 2,
                           .shape = { ROWS, COLUMNS }, .stride = { COLUMNS, 1 },
                           .file = &f, .offset = 3 };
        tensor_read(&t, whole);
        TensorSource turned = t;
        turned.shape[0] = COLUMNS - BEFORE, turned.shape[1] = ROWS;
        turned.stride[0] = 1, turned.stride[1] = COLUMNS, turned.start = BEFORE;
        tensor_read(&turned, out);
        const float *at = out;
        for (int64_t c = BEFORE; c < COLUMNS; c++)
            for (int64_t r = 0; r < ROWS; r++, at++)
                assert_memory_equal(at, &whole[r * COLUMNS + c], sizeof *at);
        TensorSource second = t;
        second.shape[1] = COLUMNS / 2, second.stride[1] = 2, second.start = 1;
        tensor_read(&second, out);
        at = out;
        for (int64_t r = 0; r < ROWS; r++)
            for (int64_t c = 1; c < COLUMNS; c += 2, at++)
                assert_memory_equal(at, &whole[r * COLUMNS + c], sizeof *at);
    }
}

static void strides_are_followed(void **state)
{
    (void)state;
    static const float values[] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 };
    TensorSource t = { .kind = SOURCE_VALUES, .rank = 2, .shape = { 4, 3 }, .stride = { 1, 4 }, .values = values };
    float out[12];
    tensor_read(&t, out);
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 3; j++) assert_true(out[i * 3 + j] == (float)(j * 4 + i));
    TensorSource cube = { .kind = SOURCE_VALUES, .rank = 3, .shape = { 2, 1, 2 }, .stride = { 6, 0, -1 }, .values = values + 1 };
    tensor_read(&cube, out);
    assert_true(out[0] == 1 && out[1] == 0 && out[2] == 7 && out[3] == 6);
    TensorSource scalar = { .kind = SOURCE_VALUES, .rank = 0, .values = values + 5 };
    tensor_read(&scalar, out);
    assert_true(out[0] == 5);
    TensorSource empty = { .kind = SOURCE_VALUES, .rank = 2, .shape = { 0, 3 }, .values = values };
    tensor_read(&empty, out);
    assert_int_equal(tensor_elements(&empty), 0);
}

static void random_numbers_are_uniform_and_repeat(void **state)
{
    (void)state;
    enum { ROWS = 100, COLUMNS = 200 };
    static float one[ROWS * COLUMNS], two[ROWS * COLUMNS];
    TensorSource t = { .name = "a", .kind = SOURCE_XAVIER, .rank = 2, .shape = { ROWS, COLUMNS }, .stride = { COLUMNS, 1 },
                       .seed = 1, .fan_in = COLUMNS, .fan_out = ROWS };
    tensor_read(&t, one);
    tensor_read(&t, two);
    assert_memory_equal(one, two, sizeof one);
    double bound = sqrt(6.0 / (ROWS + COLUMNS)), sum = 0, squares = 0, most = 0;
    for (int i = 0; i < ROWS * COLUMNS; i++) {
        sum += (double)one[i];
        squares += (double)one[i] * (double)one[i];
        most = fmax(most, fabs((double)one[i]));
    }
    assert_true(most <= bound && most > 0.999 * bound);
    assert_true(fabs(sum / (ROWS * COLUMNS)) < 0.02 * bound);
    assert_true(fabs(squares / (ROWS * COLUMNS) / (bound * bound / 3) - 1) < 0.03);
    t.name = "b";
    tensor_read(&t, two);
    assert_memory_not_equal(one, two, sizeof one);
    t.name = "a";
    t.seed = 2;
    tensor_read(&t, two);
    assert_memory_not_equal(one, two, sizeof one);
    t.kind = SOURCE_UNIFORM;
    tensor_read(&t, two);
    for (int i = 0; i < ROWS * COLUMNS; i++) assert_true(fabs((double)two[i]) <= 1 / sqrt(COLUMNS));
    /* Fixed values: random weights are the same on every machine and in every version. */
    t.kind = SOURCE_XAVIER;
    t.seed = 1;
    t.shape[0] = 1;
    t.shape[1] = 3;
    tensor_read(&t, two);
    assert_true(two[0] == 0.0453979373f && two[1] == -0.116020702f && two[2] == 0.136174053f);
}

static void constants_are_constant(void **state)
{
    (void)state;
    TensorSource t = { .kind = SOURCE_CONSTANT, .rank = 1, .shape = { 3 }, .stride = { 1 }, .constant = 0.5f };
    float out[3];
    tensor_read(&t, out);
    assert_true(out[0] == 0.5f && out[1] == 0.5f && out[2] == 0.5f);
}

static float rate_of(int j, double divisor)
{
    return (float)exp(j * (-log(10000.0) / divisor));
}

static void sinusoids_follow_layout_divisor_and_first(void **state)
{
    (void)state;
    enum { N = 50, D = 8 };
    float out[N * D];
    for (int layout = 0; layout < 2; layout++)
        for (int divisor = 0; divisor < 2; divisor++)
            for (int first = 0; first < 3; first += 2) {
                TensorSource t = { .kind = SOURCE_SINUSOID, .rank = 2, .shape = { N, D }, .stride = { D, 1 },
                                   .layout = layout, .divisor = divisor, .first = first };
                tensor_read(&t, out);
                for (int p = 0; p < N; p++)
                    for (int j = 0; j < D / 2; j++) {
                        float angle = (float)(p + first) * rate_of(j, divisor == DIVISORS_HALF ? D / 2 : D / 2 - 1);
                        int sine = layout == LAYOUTS_INTERLEAVED ? 2 * j : j;
                        int cosine = layout == LAYOUTS_INTERLEAVED ? 2 * j + 1 : D / 2 + j;
                        assert_true(out[p * D + sine] == (float)sin((double)angle));
                        assert_true(out[p * D + cosine] == (float)cos((double)angle));
                    }
            }
}

/* Position 3 with d_model 4: frequencies 1 and 0.01. */
static void sinusoids_have_known_values(void **state)
{
    (void)state;
    float out[16];
    TensorSource t = { .kind = SOURCE_SINUSOID, .rank = 2, .shape = { 4, 4 }, .stride = { 4, 1 } };
    tensor_read(&t, out);
    static const double expected[] = { 0.1411200081, -0.9899924966, 0.0299955002, 0.9995500337 };
    for (int i = 0; i < 4; i++) assert_true(fabs((double)out[12 + i] - expected[i]) < 1e-7);
    assert_true(out[0] == 0 && out[1] == 1 && out[2] == 0 && out[3] == 1);
}

/* Each range of rows, read alone, equals those rows of the whole tensor. */
static void cut(const TensorSource *t)
{
    enum { MOST = 4096 };
    static float whole[MOST], some[MOST];
    const int64_t all = tensor_elements(t), rows = t->shape[0], width = all / rows;
    assert_true(all <= MOST);
    tensor_read(t, whole);
    for (int64_t first = 0; first < rows; first++)
        for (int64_t n = 1; n <= rows - first; n++) {
            TensorSource part;
            assert_true(tensor_rows(t, first, n, &part));
            assert_int_equal(tensor_elements(&part), n * width);
            tensor_read(&part, some);
            assert_memory_equal(some, whole + first * width, (size_t)(n * width) * sizeof *some);
            assert_int_equal(tensor_block_bits(&part), tensor_block_bits(t));
            for (int64_t r = 0; tensor_block_bits(t) && r < n; r++)
                assert_ptr_equal(tensor_blocks(&part, r), tensor_blocks(t, first + r));
        }
}

static void rows_are_cut_from_every_source(void **state)
{
    (void)state;
    static unsigned char bytes[4096];
    static float values[360];
    for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = (unsigned char)(i * 37 % 61);
    for (int i = 0; i < 360; i++) values[i] = (float)(i % 119) - 50;
    const TensorFile f = { .path = "x", .map = { .data = bytes, .size = sizeof bytes } };
    const TensorSource added = { .kind = SOURCE_VALUES, .rank = 1, .shape = { 7 }, .stride = { 1 }, .values = values };
    const TensorSource sources[] = {
        { .kind = SOURCE_VALUES, .rank = 1, .shape = { 9 }, .stride = { 2 }, .start = 3, .values = values },
        { .kind = SOURCE_VALUES, .rank = 2, .shape = { 5, 7 }, .stride = { 11, 1 }, .start = 4, .values = values, .added = &added },
        { .kind = SOURCE_VALUES, .rank = 2, .shape = { 5, 7 }, .stride = { 1, 5 }, .values = values },
        { .kind = SOURCE_VALUES, .rank = 3, .shape = { 4, 2, 3 }, .stride = { 1, 12, 4 }, .values = values },
        /* Heads of a fused matrix: every third pair of rows, three times. Then rows that each
         * consist of two runs. */
        { .kind = SOURCE_VALUES, .rank = 2, .shape = { 6, 7 }, .view_rank = 3, .view_shape = { 3, 2, 7 }, .view_stride = { 42, 7, 1 },
          .start = 14, .values = values },
        { .kind = SOURCE_VALUES, .rank = 2, .shape = { 6, 8 }, .view_rank = 4, .view_shape = { 3, 2, 2, 4 },
          .view_stride = { 4, 100, 50, 1 }, .values = values },
        { .kind = SOURCE_FILE, .dtype = DTYPE_BF16, .rank = 2, .shape = { 5, 7 }, .stride = { 9, 1 }, .start = 2,
          .offset = 1, .file = &f, .plus = 1 },
        { .kind = SOURCE_FILE, .dtype = DTYPE_Q8_0, .rank = 2, .shape = { 6, 64 }, .stride = { 64, 1 }, .start = 64, .offset = 2, .file = &f },
        { .kind = SOURCE_FILE, .dtype = DTYPE_Q4_0, .rank = 2, .shape = { 6, 96 }, .stride = { 96, 1 }, .start = 192, .offset = 2, .file = &f },
        { .kind = SOURCE_FILE, .dtype = DTYPE_Q6_K, .rank = 2, .shape = { 3, 512 }, .stride = { 512, 1 }, .start = 512, .offset = 2, .file = &f },
        { .kind = SOURCE_FILE, .dtype = DTYPE_I8, .rank = 2, .shape = { 6, 64 }, .stride = { 64, 1 }, .start = 64,
          .group = 16, .scales = 2048, .file = &f },
        { .name = "a", .kind = SOURCE_XAVIER, .rank = 2, .shape = { 6, 7 }, .seed = 1, .fan_in = 7, .fan_out = 6 },
        { .name = "a", .kind = SOURCE_UNIFORM, .rank = 1, .shape = { 6 }, .seed = 3, .fan_in = 7 },
        { .kind = SOURCE_CONSTANT, .rank = 1, .shape = { 6 }, .constant = 0.5f },
    };
    for (size_t i = 0; i < sizeof sources / sizeof *sources; i++) cut(&sources[i]);
}

/* Sources that are computed as a whole, runs that cross rows, and tensors without rows are not
 * divided. */
static void what_has_no_rows_is_not_cut(void **state)
{
    (void)state;
    static const float values[12] = { 0 };
    TensorSource part;
    const TensorSource sources[] = {
        { .kind = SOURCE_SINUSOID, .rank = 2, .shape = { 4, 4 }, .stride = { 4, 1 } },
        { .kind = SOURCE_VALUES, .rank = 2, .shape = { 4, 3 }, .view_rank = 2, .view_shape = { 2, 6 }, .view_stride = { 6, 1 }, .values = values },
        { .kind = SOURCE_VALUES, .rank = 0, .values = values },
        { .kind = SOURCE_VALUES, .rank = 2, .shape = { 0, 3 }, .values = values },
    };
    for (size_t i = 0; i < sizeof sources / sizeof *sources; i++) assert_false(tensor_rows(&sources[i], 0, 1, &part));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(float_formats_are_read), cmocka_unit_test(all_short_numbers_are_read),
        cmocka_unit_test(views_have_the_numbers_of_the_whole),
        cmocka_unit_test(strides_are_followed),
        cmocka_unit_test(random_numbers_are_uniform_and_repeat), cmocka_unit_test(constants_are_constant),
        cmocka_unit_test(sinusoids_follow_layout_divisor_and_first), cmocka_unit_test(sinusoids_have_known_values),
        cmocka_unit_test(rows_are_cut_from_every_source), cmocka_unit_test(what_has_no_rows_is_not_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
