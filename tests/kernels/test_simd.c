/* test_simd.c: rt_v16 element by element, and the error of rt_exp and rt_log over dense sweeps. */
#include "kernel_test.h"
#include "rt_simd.h"

/* The limits stated in rt_simd.h, in units in the last place of the exact result. */
#define EXP_ULP 1.02
#define LOG_ULP 1.0

static double ulps(float got, double exact)
{
    const float nearest = (float)exact;
    return fabs(got - exact) / (nextafterf(nearest, INFINITY) - nearest);
}

static float exp1(float x)
{
    float y[16];
    rt_store(y, rt_exp(rt_set1(x)));
    return y[7];
}

/* Every 199th float of magnitude 2^-31 or more whose exp is normal. */
static void exp_error(void **state)
{
    double worst = 0;
    float x[16], y[16], at = 0;
    (void)state;
    for (uint32_t sign = 0; sign < 2; sign++)
        for (uint32_t bits = 0x30000000u; bits < 0x42b17218u; bits += 199 * 16) {
            for (uint32_t l = 0; l < 16; l++) {
                const uint32_t b = (bits + 199 * l) | sign << 31;
                memcpy(&x[l], &b, sizeof b);
            }
            rt_store(y, rt_exp(rt_load(x)));
            for (int l = 0; l < 16; l++) {
                if (x[l] < -87.33654f || x[l] > 88.72283f) continue;
                const double e = ulps(y[l], exp((double)x[l]));
                if (e > worst) worst = e, at = x[l];
            }
        }
    print_message("rt_exp: %.3f ulp at %.9g\n", worst, at);
    assert_true(worst <= EXP_ULP);
}

static void exp_ends(void **state)
{
    (void)state;
    assert_true(exp1(0) == 1 && exp1(-0.0f) == 1);
    assert_true(exp1(-INFINITY) == 0 && exp1(-1e30f) == 0 && exp1(-87.4f) == 0 && exp1(-104) == 0);
    assert_true(exp1(-87.33654f) > 0);
    assert_true(isinf(exp1(INFINITY)) && isinf(exp1(88.73f)) && isinf(exp1(1e30f)));
    assert_true(isfinite(exp1(88.72283f)) && exp1(88.72283f) > 3.4e38f);
    assert_true(isnan(exp1(NAN)) && isnan(exp1(-NAN)));
}

static void log_error(void **state)
{
    double worst = 0;
    (void)state;
    for (uint32_t bits = 0x3f800001u; bits < 0x4b000000u; bits += 97) { /* 1 .. 2^23: sums of exp */
        float x;
        memcpy(&x, &bits, sizeof x);
        worst = fmax(worst, ulps(rt_log(x), log((double)x)));
    }
    print_message("rt_log: %.3f ulp\n", worst);
    assert_true(worst <= LOG_ULP);
    assert_true(rt_log(1) == 0);
}

static void lanes(void **state)
{
    Buffer a = random_rows(1, 16, 16), b = random_rows(1, 16, 16), y = buffer(16);
    (void)state;
    const rt_v16 p = rt_load(a.data), q = rt_load(b.data);
#define EACH(value, want) do { \
        rt_store(y.data, value); \
        for (int i = 0; i < 16; i++) { \
            const float s = a.data[i], t = b.data[i]; \
            (void)s, (void)t; \
            assert_true(y.data[i] == (want)); \
        } \
    } while (0)
    EACH(rt_add(p, q), s + t);
    EACH(rt_sub(p, q), s - t);
    EACH(rt_mul(p, q), s * t);
    EACH(rt_div(p, q), s / t);
    EACH(rt_max(p, q), s > t ? s : t);
    EACH(rt_min(p, q), s < t ? s : t);
    EACH(rt_set1(3), 3);
    EACH(rt_if_less(p, q, rt_set1(1), rt_set1(2)), s < t ? 1 : 2);
    EACH(rt_activate(RT_RELU, p), s > 0 ? s : 0);
    EACH(rt_activate(RT_IDENTITY, p), s);
    rt_store(y.data, rt_fma(p, q, p));
    for (int i = 0; i < 16; i++)
        assert_true(fabs(y.data[i] - ((double)a.data[i] * b.data[i] + a.data[i])) < 1e-6);
#undef EACH
    release(a), release(b), release(y);
}

/* Every bf16 is the upper half of the float it becomes, lane by lane, at either place in a pair. */
static void bf16(void **state)
{
    (void)state;
    for (uint32_t first = 0; first < 0x10000; first += 16) {
        uint16_t pairs[16][2];
        uint32_t even[16], odd[16];
        Buffer y = buffer(16);
        for (uint32_t i = 0; i < 16; i++) {
            pairs[i][0] = (uint16_t)(first + i * 4097), pairs[i][1] = (uint16_t)~pairs[i][0];
            even[i] = (uint32_t)pairs[i][0] << 16, odd[i] = (uint32_t)pairs[i][1] << 16;
        }
        rt_store(y.data, rt_load_bf16_even(pairs));
        assert_memory_equal(y.data, even, sizeof even);
        rt_store(y.data, rt_load_bf16_odd(pairs));
        assert_memory_equal(y.data, odd, sizeof odd);
        release(y);
    }
}

/* Only the first n lanes are read or written, as a buffer of n floats between guards shows. */
static void partial(void **state)
{
    (void)state;
    for (int n = 0; n <= 16; n++) {
        Buffer a = random_rows(1, n, n), y = buffer((size_t)n), all = buffer(16);
        rt_store(all.data, rt_load_n(a.data, n));
        for (int i = 0; i < 16; i++)
            assert_true(i < n ? all.data[i] == a.data[i] : all.data[i] == 0);
        rt_store_n(y.data, rt_set1(5), n);
        rt_store(all.data, rt_first_n(rt_set1(1), n, rt_set1(2)));
        for (int i = 0; i < 16; i++) {
            if (i < n) assert_true(y.data[i] == 5);
            assert_true(all.data[i] == (i < n ? 1 : 2));
        }
        release(a), release(y), release(all);
    }
}

/* Sums combine lanes in exactly the stated order: i and i+8, then i+4, i+2, i+1. */
static void horizontal(void **state)
{
    (void)state;
    for (int n = 0; n < 1000; n++) {
        Buffer a = random_rows(1, 16, 16);
        const float sum = rt_sum(rt_load(a.data)), max = rt_max_of(rt_load(a.data));
        float most = a.data[0];
        for (int i = 1; i < 16; i++)
            most = a.data[i] > most ? a.data[i] : most;
        for (int half = 8; half; half /= 2)
            for (int i = 0; i < half; i++)
                a.data[i] = a.data[i] + a.data[i + half];
        assert_true(sum == a.data[0] && max == most);
        release(a);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lanes), cmocka_unit_test(bf16), cmocka_unit_test(partial), cmocka_unit_test(horizontal), cmocka_unit_test(exp_error),
        cmocka_unit_test(exp_ends), cmocka_unit_test(log_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
