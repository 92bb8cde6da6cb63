/* test_int8_cache.c: Stores into int8 caches against rounding one number at a time. Attention over
 * int8 caches whose scales are powers of two is bit-identical to attention of rotated queries over
 * the same numbers as f32. */
#include "narrow_cache.h"
#include "rt_plain.h"
#include "rt_tile.h"

static void every_byte_is_a_float(void **state)
{
    (void)state;
    for (int first = -128; first < 128; first += 16) {
        int8_t bytes[17];
        float f[16];
        for (int i = 0; i < 16; i++) bytes[i + 1] = (int8_t)(first + i);
        rt_store(f, rt_load_int8(bytes + 1));
        for (int i = 0; i < 16; i++) assert_true(f[i] == (float)(first + i));
    }
}

/* ---- caches ---------------------------------------------------------------------------------- */

enum { ROWS = 11, HEADS = 3, CAPACITY = 32, FILL = 0x55, WIDEST = 256 };
static const int widths[] = { 1, 2, 7, 15, 16, 17, 31, 48, 64, 130, WIDEST };

static int8_t *bytes_of(Buffer b) { return (int8_t *)b.data; }

/* The size in bytes of the keys, or values, of a head. */
static size_t head_bytes(int capacity, int width, int values)
{
    return (size_t)capacity * (size_t)((values ? padded16(width) : width) + 4);
}

/* The place of number i of position j in its head, and that of the scale. */
static size_t byte_at(int capacity, int width, int values, int j, int i)
{
    return values ? (size_t)((i / 16 * capacity + j) * 16 + i % 16) : (size_t)(j / 16 * 16 * (width + 4) + 16 * i + j % 16);
}

static size_t scale_at(int capacity, int width, int values, int j)
{
    return values ? (size_t)(capacity * padded16(width) + 4 * j) : (size_t)(j / 16 * 16 * (width + 4) + 16 * width + 4 * (j % 16));
}

static Buffer bytes_buffer(size_t bytes)
{
    Buffer b = buffer((bytes + 3) / 4);
    memset(b.data, FILL, 4 * b.n);
    return b;
}

/* Check the rotated key, or the value, at position j: each number is q d, for an integer q and
 * d = max |x| / 127; d is NaN if a number is not finite. Clears the bytes of the position in
 * `left`. */
static void check_stored(const int8_t *head, char *left, const float *numbers, int capacity, int width, int values, int j)
{
    float most = 0, scale, x[WIDEST];
    int finite = 1;
    memcpy(x, numbers, (size_t)width * sizeof *x);
    if (!values) rt_plain_rotate_key(x, width);
    for (int i = 0; i < width; i++) finite &= isfinite(x[i]) != 0, most = fmaxf(most, fabsf(x[i]));
    memcpy(&scale, head + scale_at(capacity, width, values, j), sizeof scale);
    memset(left + scale_at(capacity, width, values, j), 0, sizeof scale);
    if (!finite) assert_true(isnan(scale));
    else assert_true(scale == most / 127);
    for (int i = 0; i < (values ? padded16(width) : width); i++) {
        const size_t at = byte_at(capacity, width, values, j, i);
        const float factor = 127 / most;
        left[at] = 0;
        if (!finite) continue;
        const float want = i < width && isfinite(factor) ? rintf(x[i] * factor) : 0;
        if ((float)head[at] != want) fail_msg("width %d: %d instead of %g", width, head[at], (double)want);
        if (i < width) assert_int_equal(rt_plain_to_int8(x[i] * factor), head[at]);
    }
    const float largest = rt_plain_largest(x, width);
    assert_true(finite ? largest == most : !isfinite(largest));
    assert_true(memcmp(&scale, &(float){ rt_plain_scale(head + scale_at(capacity, width, values, j)) }, sizeof scale) == 0);
}

static void check_store(int width, int ring, int values)
{
    const RtCache s = { HEADS, width, CAPACITY, padded16(HEADS * width) + 16 };
    const size_t bytes = head_bytes(CAPACITY, width, values);
    Buffer x = random_rows(ROWS, HEADS * width, s.x_stride), cache = bytes_buffer(HEADS * bytes);
    char *left = malloc(HEADS * bytes);
    int positions[ROWS];
    assert_non_null(left);
    memset(left, 1, HEADS * bytes);
    for (int r = 0; r < ROWS; r++) {
        static const float factors[ROWS] = { 1, 10, 1e-6f, 1e30f, 1e-30f, 0, 1e-40f, 1, 1, 1, 1e36f };
        for (int i = 0; i < HEADS * width; i++) x.data[r * s.x_stride + i] *= factors[r];
        positions[r] = (ring ? 57 : 20) + r;
    }
    x.data[7 * s.x_stride + width - 1] = NAN, x.data[8 * s.x_stride + width / 2] = INFINITY;
    x.data[9 * s.x_stride] = -INFINITY;
    for (int h = 0; h < HEADS; h += 2) {                    /* heads 0 and 1, then 2 */
        const int end = h + 2 < HEADS ? h + 2 : HEADS;
        if (values) (ring ? rt_ring_store_v_int8 : rt_store_v_int8)(&s, bytes_of(cache), x.data, positions, ROWS, h, end);
        else (ring ? rt_ring_store_k_int8 : rt_store_k_int8)(&s, bytes_of(cache), x.data, positions, ROWS, h, end);
    }
    for (int h = 0; h < HEADS; h++)
        for (int r = 0; r < ROWS; r++)
            check_stored(bytes_of(cache) + (size_t)h * bytes, left + (size_t)h * bytes, x.data + r * s.x_stride + h * width, CAPACITY, width,
                         values, positions[r] % CAPACITY);
    for (size_t i = 0; i < HEADS * bytes; i++) assert_true(!left[i] || bytes_of(cache)[i] == FILL);
    free(left);
    release(x), release(cache);
}

static void stores(void **state)
{
    (void)state;
    for (size_t w = 0; w < COUNT(widths); w++)
        for (int ring = 0; ring < 2; ring++)
            for (int values = 0; values < 2; values++) check_store(widths[w], ring, values);
}

/* ---- rotation -------------------------------------------------------------------------------- */

static int ones(int n) { return n ? (n & 1) + ones(n >> 1) : 0; }

/* Number i of a rotated block is the sum of all numbers k of the block, negated where i & k has an
 * odd number of ones. The product of a rotated query and a rotated key is that of the query
 * and the key, except for rounding. */
static void keys_are_rotated(void **state)
{
    static const struct { int width, block; } cases[] = { { 1, 1 }, { 7, 1 }, { 6, 2 }, { 8, 8 }, { 48, 16 }, { 64, 64 }, { 80, 16 }, { 128, 64 } };
    (void)state;
    for (size_t c = 0; c < COUNT(cases); c++) {
        const int width = cases[c].width, block = cases[c].block;
        Buffer key = random_rows(1, width, width), query = random_rows(1, width, width), turned = buffer((size_t)width);
        Exact plain = { 0, 0 }, rotated = { 0, 0 };
        assert_int_equal(rt_rotated_block(width), block);
        memcpy(turned.data, key.data, (size_t)width * sizeof(float));
        rt_plain_rotate_key(turned.data, width);
        for (int i = 0; i < width; i++) {
            Exact want = { 0, 0 };
            for (int k = 0; k < block; k++) exact_add(&want, (ones(i % block & k) % 2 ? -1 : 1) * (double)key.data[i / block * block + k]);
            check_close(turned.data + i, 1, &want, 1, 1);
            exact_add(&plain, (double)key.data[i] * (double)query.data[i]);
        }
        Buffer to = buffer((size_t)width);
        rt_plain_rotated_query(to.data, query.data, width);
        for (int i = 0; i < width; i++) exact_add(&rotated, (double)turned.data[i] * (double)to.data[i]);
        assert_true(fabs(plain.value - rotated.value) <= TOLERANCE * rotated.magnitude);
        release(key), release(query), release(turned), release(to);
    }
}

/* ---- attention ------------------------------------------------------------------------------- */

static void rotated(float *to, const float *q, int width) { rt_plain_rotated_query(to, q, width); }

/* The scales are powers of two, so products with them are exact. */
static Pair random_pair(int heads, int capacity, int width, int values)
{
    const int padded = values ? padded16(width) : width;
    const size_t bytes = head_bytes(capacity, width, values);
    Pair p = { buffer((size_t)(heads * capacity * padded)), bytes_buffer((size_t)heads * bytes) };
    for (int h = 0; h < heads; h++)
        for (int j = 0; j < capacity; j++) {
            int8_t *head = bytes_of(p.narrow) + (size_t)h * bytes;
            const float scale = ldexpf(1, -4 - (int)(random_bits() % 5));
            memcpy(head + scale_at(capacity, width, values, j), &scale, sizeof scale);
            for (int i = 0; i < padded; i++) {
                const int byte = i < width ? (int)(random_bits() % 255) - 127 : 0;
                head[byte_at(capacity, width, values, j, i)] = (int8_t)byte;
                p.single.data[place_of(h, capacity, width, values, j, i)] = scale * (float)byte;
            }
        }
    return p;
}

static void hide(Pair p, int heads, int capacity, int width, int values, int j)
{
    const float none = NAN;
    for (int h = 0; h < heads; h++) {
        int8_t *head = bytes_of(p.narrow) + (size_t)h * head_bytes(capacity, width, values);
        memcpy(head + scale_at(capacity, width, values, j), &none, sizeof none);
        for (int i = 0; i < (values ? padded16(width) : width); i++)
            p.single.data[place_of(h, capacity, width, values, j, i)] = NAN;
    }
}

static void attention(const RtAttention *shape, float *out, const float *q, const void *k, const void *v, float *scratch,
                      const RtAttentionExtra *extra, const int *visible, int rows, int begin, int end)
{
    rt_attention_int8(shape, out, q, k, v, scratch, extra, visible, rows, begin, end);
}

static void window(const RtWindow *shape, float *out, const float *q, const void *k, const void *v, float *scratch,
                   const RtAttentionExtra *extra, const int *visible, int rows, int begin, int end)
{
    rt_window_attention_int8(shape, out, q, k, v, scratch, extra, visible, rows, begin, end);
}

static void attention_has_the_bits_of_f32(void **state)
{
    const NarrowCache int8 = { random_pair, rotated, hide, attention, window };
    (void)state;
    check_attention(&int8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_byte_is_a_float), cmocka_unit_test(stores), cmocka_unit_test(keys_are_rotated),
        cmocka_unit_test(attention_has_the_bits_of_f32),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
