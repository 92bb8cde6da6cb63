/* test_f16.c: Conversions of every f16 and every tie against arithmetic in double. Stores into f16
 * caches against those into f32 caches. Attention over f16 caches is bit-identical to attention
 * over the same numbers as f32. */
#include "narrow_cache.h"
#include "rt_simd_f16.h"

/* ---- conversions ----------------------------------------------------------------------------- */

static double value_of(unsigned h)
{
    const int exponent = (int)(h >> 10 & 31), fraction = (int)(h & 1023);
    const double size = exponent == 31 ? fraction ? NAN : INFINITY : ldexp(exponent ? 1024 + fraction : fraction, (exponent ? exponent : 1) - 25);
    return h & 0x8000 ? -size : size;
}

/* Ties go to even, as with rint; magnitudes saturate at 65504. NaN gives a NaN. */
static unsigned nearest(float x)
{
    const unsigned sign = signbit(x) ? 0x8000 : 0;
    const double size = fabs((double)x);
    if (isnan(x)) return 0x7e00;
    if (size > 65504) return sign | 0x7bff;
    if (size < 0x1p-14) return sign | (unsigned)rint(size * 0x1p24);
    const int e = ilogb(size);
    return sign | ((unsigned)(e + 14) * 1024 + (unsigned)rint(ldexp(size, 10 - e)));
}

static int is_nan(unsigned h) { return (h & 0x7fff) > 0x7c00; }

static void every_f16_is_a_float(void **state)
{
    (void)state;
    for (unsigned h = 0; h < 65536; h += 16) {
        rt_f16 half[16];
        float f[16];
        for (unsigned i = 0; i < 16; i++) half[i] = (rt_f16)(h + i);
        rt_store(f, rt_load_f16(half));
        for (unsigned i = 0; i < 16; i++) {
            const double want = value_of(h + i);
            const float plain = rt_plain_of_f16(half[i]);
            if (isnan(want)) assert_true(isnan(f[i]) && isnan(plain));
            else assert_true((double)f[i] == want && !signbit(f[i]) == !signbit(want) && memcmp(&plain, &f[i], sizeof plain) == 0);
        }
    }
}

/* Store x and -x, with instructions and with plain code. */
static void check_stored(const float x[16])
{
    for (int sign = 0; sign < 2; sign++) {
        rt_f16 half[16 + 2] = { [0] = 0xa5a5, [17] = 0xa5a5 };
        float y[16];
        for (int i = 0; i < 16; i++) y[i] = sign ? -x[i] : x[i];
        rt_store_f16(half + 1, rt_load(y));
        assert_true(half[0] == 0xa5a5 && half[17] == 0xa5a5);
        for (int i = 0; i < 16; i++) {
            const unsigned want = nearest(y[i]), got = half[i + 1];
            if (is_nan(want) ? !is_nan(got) : got != want) fail_msg("%.9g: %04x instead of %04x", (double)y[i], got, want);
            assert_true(rt_plain_to_f16(y[i]) == got);
        }
    }
}

/* Every finite f16, the midpoint to the next, the floats next to both; then every 40009th float. */
static void stored_is_the_nearest(void **state)
{
    (void)state;
    for (unsigned h = 0; h < 0x7c00; h += 2) {
        float x[16] = { 0 };
        for (int i = 0; i < 2; i++) {
            const float this = (float)value_of(h + (unsigned)i), next = h + (unsigned)i < 0x7bff ? (float)value_of(h + (unsigned)i + 1) : 65536;
            const float half_way = (float)((double)this / 2 + (double)next / 2), at[2] = { this, half_way };
            for (int k = 0; k < 2; k++) {
                x[6 * i + 3 * k] = at[k];
                x[6 * i + 3 * k + 1] = nextafterf(at[k], INFINITY);
                x[6 * i + 3 * k + 2] = nextafterf(at[k], 0);
            }
        }
        check_stored(x);
    }
    for (uint32_t bits = 0; bits < 0x7f800000u - 16 * 40009u; bits += 16 * 40009u) {
        float x[16];
        for (uint32_t i = 0; i < 16; i++) {
            const uint32_t b = bits + i * 40009u;
            memcpy(&x[i], &b, sizeof b);
        }
        check_stored(x);
    }
}

static void what_is_too_large_becomes_the_largest(void **state)
{
    uint32_t quiet = 0x7fc00000u | 0x2abcdu, other = 0x7f800001u;
    float x[16] = { INFINITY, 3e38f, 65504, 65519.996f, 65520, 65536, 1e5f, NAN, 0, 1e-45f, 5.9604645e-8f, 2.9802322e-8f, 2.98023256e-8f };
    (void)state;
    memcpy(&x[13], &quiet, sizeof quiet), memcpy(&x[14], &other, sizeof other);
    check_stored(x);
    for (int i = 0; i < 7; i++) assert_int_equal(rt_plain_to_f16(x[i]), 0x7bff);
    assert_int_equal(rt_plain_to_f16(-INFINITY), 0xfbff);
    assert_int_equal(rt_plain_to_f16(-0.0f), 0x8000);
    assert_int_equal(rt_plain_to_f16(x[11]), 0);            /* half of the smallest f16: a tie */
    assert_int_equal(rt_plain_to_f16(x[12]), 1);
}

/* ---- caches ---------------------------------------------------------------------------------- */

static rt_f16 *halves(Buffer b) { return (rt_f16 *)(void *)b.data; }

/* A buffer of n f16, all NaN. */
static Buffer half_buffer(size_t n)
{
    Buffer b = buffer((n + 1) / 2);
    for (size_t i = 0; i < 2 * b.n; i++) halves(b)[i] = 0x7e01;
    return b;
}

/* Each stored number of the f16 cache is that of the f32 cache, rounded; the rest is untouched. */
static void check_rounded(Buffer half, Buffer single)
{
    for (size_t i = 0; i < single.n; i++)
        assert_int_equal(halves(half)[i], is_guard(single.data + i) ? 0x7e01 : nearest(single.data[i]));
}

enum { ROWS = 9, GROUPS = 3 };
static const int widths[] = { 1, 2, 7, 15, 16, 17, 31, 48, 130 };

static void stores(void **state)
{
    (void)state;
    for (size_t w = 0; w < COUNT(widths); w++) {
        const RtCache s = { GROUPS, widths[w], 32, padded16(GROUPS * widths[w]) + 16 };
        const size_t keys = (size_t)(GROUPS * 32 * s.width), values = (size_t)(GROUPS * 32 * padded16(s.width));
        Buffer x = random_rows(ROWS, GROUPS * s.width, s.x_stride);
        for (int r = 0; r < ROWS; r++)
            for (int i = 0; i < GROUPS * s.width; i++) x.data[r * s.x_stride + i] *= r == 3 ? 1e6f : r == 4 ? 1e-6f : 10;
        for (int ring = 0; ring < 2; ring++) {
            int positions[ROWS];
            Buffer k = buffer(keys), v = buffer(values), half_k = half_buffer(keys), half_v = half_buffer(values);
            for (int r = 0; r < ROWS; r++) positions[r] = (ring ? 57 : 20) + r;
            for (int h = 0; h < GROUPS; h += 2) {           /* heads 0 and 1, then 2 */
                const int end = h + 2 < GROUPS ? h + 2 : GROUPS;
                (ring ? rt_ring_store_k_f32 : rt_store_k_f32)(&s, k.data, x.data, positions, ROWS, h, end);
                (ring ? rt_ring_store_v_f32 : rt_store_v_f32)(&s, v.data, x.data, positions, ROWS, h, end);
                (ring ? rt_ring_store_k_f16 : rt_store_k_f16)(&s, halves(half_k), x.data, positions, ROWS, h, end);
                (ring ? rt_ring_store_v_f16 : rt_store_v_f16)(&s, halves(half_v), x.data, positions, ROWS, h, end);
            }
            check_rounded(half_k, k), check_rounded(half_v, v);
            release(k), release(v), release(half_k), release(half_v);
        }
        release(x);
    }
}

/* ---- attention ------------------------------------------------------------------------------- */

static Pair random_pair(int heads, int capacity, int width, int values)
{
    const size_t n = (size_t)(heads * capacity * (values ? padded16(width) : width));
    Pair p = { buffer(n), half_buffer(n) };
    for (size_t i = 0; i < n; i++) {
        const unsigned h = nearest(2 * random_float());
        halves(p.narrow)[i] = (rt_f16)h;
        p.single.data[i] = (float)value_of(h);
    }
    return p;
}

static void hide(Pair p, int heads, int capacity, int width, int values, int j)
{
    for (int h = 0; h < heads; h++)
        for (int i = 0; i < (values ? padded16(width) : width); i++) {
            const size_t at = place_of(h, capacity, width, values, j, i);
            p.single.data[at] = NAN;
            halves(p.narrow)[at] = 0x7e00;
        }
}

static void attention(const RtAttention *shape, float *out, const float *q, const void *k, const void *v, float *scratch,
                      const RtAttentionExtra *extra, const int *visible, int rows, int begin, int end)
{
    rt_attention_f16(shape, out, q, k, v, scratch, extra, visible, rows, begin, end);
}

static void window(const RtWindow *shape, float *out, const float *q, const void *k, const void *v, float *scratch,
                   const RtAttentionExtra *extra, const int *visible, int rows, int begin, int end)
{
    rt_window_attention_f16(shape, out, q, k, v, scratch, extra, visible, rows, begin, end);
}

static void attention_has_the_bits_of_f32(void **state)
{
    const NarrowCache f16 = { random_pair, NULL, hide, attention, window };
    (void)state;
    check_attention(&f16);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_f16_is_a_float), cmocka_unit_test(stored_is_the_nearest), cmocka_unit_test(what_is_too_large_becomes_the_largest),
        cmocka_unit_test(stores), cmocka_unit_test(attention_has_the_bits_of_f32),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
