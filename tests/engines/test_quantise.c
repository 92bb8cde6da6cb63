/* test_quantise.c: Rounding of weights and activations to f16, bf16, 8 and 4 bits: results equal
 * values computed by hand, and errors stay within their bounds. Packing into panels and back. */
#include "engine_test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pack_parts.h"
#include "quantise.h"

/* The code for vectors of four lanes, which runs everywhere, for comparison with this
 * processor's. */
#define LANES 4
#define NAME(word) word##_of_four
#define TARGET
#include "quantise_lanes.h"

static float random_float(void)
{
    static uint64_t state = 88172645463325252u;
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return (float)(int32_t)(state >> 32) * 0x1p-31f;
}

static void halves_come_back(void **state)
{
    (void)state;
    for (uint32_t h = 0; h < 0x10000; h++) {
        const float x = float_of_half((uint16_t)h);
        if (isnan(x)) assert_true(isnan(float_of_half(half_of_float(x))));
        else assert_int_equal(half_of_float(x), h);
    }
}

/* A number between two neighbours goes to the nearer one, a tie to the even one. */
static void halves_are_the_nearest(void **state)
{
    (void)state;
    for (uint16_t h = 0; h < 0x7BFF; h++) {
        const double a = float_of_half(h), b = float_of_half((uint16_t)(h + 1)), middle = (a + b) / 2;
        assert_int_equal(half_of_float((float)middle), h % 2 ? h + 1 : h);
        assert_int_equal(half_of_float(nextafterf((float)middle, 0)), h);
        assert_int_equal(half_of_float(-nextafterf((float)middle, INFINITY)), 0x8000 | (h + 1));
    }
    assert_int_equal(half_of_float(65519), 0x7BFF);
    assert_int_equal(half_of_float(65520), 0x7C00);
}

/* The same for bf16, the upper half of f32. All finite numbers are tried; the neighbour of the
 * largest one is infinity. */
static void bf16_are_the_nearest(void **state)
{
    (void)state;
    for (uint32_t h = 0; h < 0x7F80; h++) {
        const float a = float_of_bf16((uint16_t)h);
        const uint32_t between = h << 16 | 0x8000;
        float middle;
        memcpy(&middle, &between, sizeof middle);
        assert_int_equal(bf16_of_float(a), h);
        assert_int_equal(bf16_of_float(-a), 0x8000 | h);
        assert_int_equal(bf16_of_float(middle), h % 2 ? h + 1 : h);
        assert_int_equal(bf16_of_float(nextafterf(middle, 0)), h);
        assert_int_equal(bf16_of_float(-nextafterf(middle, INFINITY)), 0x8000 | (h + 1));
    }
    assert_true(float_of_bf16(0x3F80) == 1 && float_of_bf16(0xC049) == -3.140625f && isinf(float_of_bf16(0x7F80)));
    assert_true(bf16_of_float(INFINITY) == 0x7F80 && isnan(float_of_bf16(bf16_of_float(NAN))));
    const uint32_t low = 0x7F800001;                /* a NaN only because of its lowest bit */
    float none;
    memcpy(&none, &low, sizeof none);
    assert_true(isnan(float_of_bf16(bf16_of_float(none))));
}

typedef struct Group { uint16_t d; int q[QUANTISE_GROUP]; } Group;

/* Quantise n numbers, followed by zeros, as row `row`; the other rows are random. Vectors of four
 * lanes must give the same. */
static Group group_in_row(const float *numbers, int n, int bits, int row)
{
    float x[QUANTISE_GROUP][QUANTISE_ROWS];
    QuantisedGroups groups, narrower;
    Group g;
    for (int i = 0; i < QUANTISE_GROUP; i++)
        for (int r = 0; r < QUANTISE_ROWS; r++) x[i][r] = 100 * random_float();
    for (int i = 0; i < QUANTISE_GROUP; i++) x[i][row] = i < n ? numbers[i] : 0;
    quantise_groups(&groups, x, bits);
    quantise_of_four(&narrower, x, bits);
    assert_memory_equal(&narrower, &groups, sizeof groups);
    g.d = groups.d[row];
    for (int i = 0; i < QUANTISE_GROUP; i++) g.q[i] = groups.q[i][row];
    return g;
}

static Group quantise_group(const float *x, int n, int bits)
{
    static int row;
    return group_in_row(x, n, bits, row = (row + 1) % QUANTISE_ROWS);
}

/* d = 2 / 127 in f16. 1 / d is 63.5; halves round away from zero. */
static void a_group_by_hand(void **state)
{
    (void)state;
    const float x[] = { 1, -1, 2, -2, 0, 0.25f, -0.375f };
    const int want[] = { 64, -64, 127, -127, 0, 16, -24 };
    const Group g = quantise_group(x, 7, 8);
    assert_int_equal(g.d, half_of_float(2.0f / 127));
    for (int i = 0; i < QUANTISE_GROUP; i++) assert_int_equal(g.q[i], i < 7 ? want[i] : 0);
}

static void groups_are_near(void **state)
{
    (void)state;
    for (int round = 0; round < 2000; round++) {
        float x[QUANTISE_GROUP], most = 0;
        const float size = ldexpf(1, round % 20 - 10);
        for (int i = 0; i < QUANTISE_GROUP; i++) most = fmaxf(most, fabsf(x[i] = size * random_float()));
        const Group g = quantise_group(x, QUANTISE_GROUP, 8);
        int largest = 0;
        for (int i = 0; i < QUANTISE_GROUP; i++) {
            if (abs(g.q[i]) > largest) largest = abs(g.q[i]);
            assert_true(fabs(x[i] - (double)most / 127 * g.q[i]) <= 0.50001 * most / 127);
        }
        assert_int_equal(largest, 127);
        assert_true(fabs(float_of_half(g.d) - most / 127) <= most / 127 * 0x1p-11 + 0x1p-25);
    }
}

/* With d = 0.5 there is no error, so no other candidate wins. A single number becomes -8 d. */
static void a_group_of_four_bits_by_hand(void **state)
{
    (void)state;
    const float x[] = { 1, -4, 3.5f, 0, 0.5f, -0.5f, 2 };
    const int want[] = { 2, -8, 7, 0, 1, -1, 4 };
    Group g = quantise_group(x, 7, 4);
    assert_int_equal(g.d, half_of_float(0.5f));
    for (int i = 0; i < QUANTISE_GROUP; i++) assert_int_equal(g.q[i], i < 7 ? want[i] : 0);
    g = quantise_group(&x[6], 1, 4);
    assert_int_equal(g.d, half_of_float(-0.25f));
    assert_int_equal(g.q[0], -8);
}

/* 31 whole numbers and -9.25, which is cut to -8, an error of 1.25: a larger d would give the
 * others larger errors in total. */
static void a_number_is_cut_for_the_sake_of_others(void **state)
{
    (void)state;
    float x[QUANTISE_GROUP];
    for (int i = 0; i < QUANTISE_GROUP; i++) x[i] = (float)(i % 14 - 7);
    x[17] = -9.25f;
    const Group g = quantise_group(x, QUANTISE_GROUP, 4);
    assert_true(fabsf(float_of_half(g.d) - 1) < 0.03f);
    for (int i = 0; i < QUANTISE_GROUP; i++) assert_int_equal(g.q[i], i == 17 ? -8 : i % 14 - 7);
}

static double squares_left(const float *x, const Group *g)
{
    double sum = 0;
    for (int i = 0; i < QUANTISE_GROUP; i++) {
        const double left = x[i] - (double)float_of_half(g->d) * g->q[i];
        sum += left * left;
    }
    return sum;
}

/* The error is never above that of Q4_0, where d = m / -8 for the number m with the largest
 * magnitude, and in total it is at least a tenth less. Rounding again changes nothing. */
static void groups_of_four_bits_are_near(void **state)
{
    (void)state;
    double all = 0, of_q4_0 = 0;
    for (int round = 0; round < 2000; round++) {
        float x[QUANTISE_GROUP], most = 0;
        for (int i = 0; i < QUANTISE_GROUP; i++)
            if (fabsf(x[i] = random_float()) > fabsf(most)) most = x[i];
        Group plain = { .d = half_of_float(most / -8) };
        for (int i = 0; i < QUANTISE_GROUP; i++)
            plain.q[i] = (int)fminf(7, floorf(x[i] / (most / -8) + 8.5f) - 8);
        const Group g = quantise_group(x, QUANTISE_GROUP, 4);
        const double left = squares_left(x, &g), left_by_plain = squares_left(x, &plain);
        assert_true(left <= left_by_plain * 1.0001);
        all += left, of_q4_0 += left_by_plain;
        for (int i = 0; i < QUANTISE_GROUP; i++) {
            assert_in_range(g.q[i] + 8, 0, 15);
            x[i] = float_of_half(g.d) * (float)g.q[i];
        }
        const Group again = quantise_group(x, QUANTISE_GROUP, 4);
        for (int i = 0; i < QUANTISE_GROUP; i++) assert_true(float_of_half(again.d) * (float)again.q[i] == x[i]);
    }
    assert_true(all < 0.9 * of_q4_0);
}

/* The functions up to one_by_one apply the formulas of quantise.h to one number at a time, and add
 * in the order of quantise_lanes.h. */
static float largest_of(const float *x, int n)
{
    float most = 0;
    for (int i = 0; i < n; i++)
        if (!(fabsf(x[i]) <= fabsf(most))) most = x[i];
    for (int i = 0; i < n; i++)
        if (isnan(x[i])) return x[i];
    return most;
}

static Group bytes_one_by_one(const float *x, int n)
{
    const float d = fabsf(largest_of(x, n)) / 127, inverse = d > 0 && 1 / d < INFINITY ? 1 / d : 0;
    Group g = { .d = half_of_float(d) };
    for (int i = 0; i < n; i++) {
        const float q = roundf(x[i] * inverse);
        g.q[i] = (int)(q > 127 ? 127 : q == q ? q : 0);
    }
    return g;
}

static float nibbles_one_by_one(Group *g, const float *x, int n, float inverse)
{
    float products[8] = { 0 }, product = 0, squares = 0;
    for (int i = 0; i < n; i++) {
        const int q = (int)(x[i] * inverse + 8.5f);
        g->q[i] = (q < 0 ? 0 : q > 15 ? 15 : q) - 8;
        products[i % 8] += x[i] * (float)g->q[i];
        squares += (float)(g->q[i] * g->q[i]);
    }
    for (int k = 0; k < 8; k++) product += products[k];
    g->d = half_of_float(squares > 0 ? product / squares : 0);
    return float_of_half(g->d) * (2 * product - float_of_half(g->d) * squares);
}

static Group one_by_one(const float *x, int n, int bits)
{
    static const float places[] = { -8, -7, -7.5f, -8.5f, -9, -9.5f };
    const float m = largest_of(x, n);
    float most = 0;
    Group best = { .d = 0 }, g = { .d = 0 };
    if (bits == 8) return bytes_one_by_one(x, n);
    if (!(fabsf(m) > 1e-15f && fabsf(m) < 1e15f))
        return (Group){ .d = half_of_float(m / -8) };
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        const float gain = nibbles_one_by_one(&g, x, n, places[i] / m);
        if (gain > most) best = g, most = gain;
    }
    int least = 0;
    for (int i = 0; i < n; i++) least = best.q[i] < least ? best.q[i] : least;
    if (least == -8 || !(best.d & 0x8000)) return best;
    best.d &= 0x7FFF;
    for (int i = 0; i < n; i++) best.q[i] = -best.q[i];
    return best;
}

/* Numbers of all sizes, with ties, zeros, infinities and NaN. */
static void vectors_give_what_numbers_give(void **state)
{
    (void)state;
    for (int round = 0; round < 40000; round++) {
        const int n = round % 3 ? QUANTISE_GROUP : round / 3 % QUANTISE_GROUP + 1;
        const int bits = round % 2 ? 4 : 8;
        const float size = powf(10, (float)(round % 83 - 44)), step = round % 7 ? 0 : 0.125f;
        float x[QUANTISE_GROUP];
        for (int i = 0; i < n; i++) {
            const float u = random_float();
            x[i] = (step > 0 ? roundf(u / step) * step : u) * size;
            if (round % 5 == 0 && i % 3) x[i] = i % 2 ? 0 : -0.0f;
        }
        if (round % 11 == 0) x[round % n] = INFINITY;
        if (round % 13 == 0) x[round / 7 % n] = round % 2 ? NAN : -NAN;
        const Group g = quantise_group(x, n, bits), expected = one_by_one(x, n, bits);
        assert_int_equal(g.d, expected.d);
        assert_memory_equal(g.q, expected.q, sizeof g.q);
    }
}

static void unusual_groups(void **state)
{
    (void)state;
    const float zeros[2] = { 0, 0 }, large[2] = { 1e30f, 1 }, none[2] = { 1, NAN };
    Group g = quantise_group(zeros, 2, 8);
    assert_int_equal(g.d, 0);
    assert_int_equal(g.q[0], 0);
    assert_int_equal(quantise_group(large, 2, 8).d, 0x7C00);
    assert_int_equal(quantise_group(large, 2, 4).d, 0xFC00);
    for (int bits = 4; bits <= 8; bits += 4) {
        const float tiny[2] = { 1e-42f, -1e-42f };          /* 1 / x overflows */
        assert_true(isnan(float_of_half(quantise_group(none, 2, bits).d)));
        g = quantise_group(tiny, 2, bits);
        assert_true(g.d % 0x8000 == 0 && g.q[0] == 0 && g.q[1] == 0);
    }
}

/* In group 0 d = 1: ties go to even. In group 1 d = 2 / 127. NaN spoils only its own group. */
static void activations_by_hand(void **state)
{
    (void)state;
    float x[40] = { 127, 0.5f, 1.5f, -2.5f, 3.49f, -126.51f }, y[40];
    x[32] = 2, x[33] = 1.01f;
    quantise_activations(y, x, 40);
    const float want[] = { 127, 0, 2, -2, 3, -127 };
    for (int i = 0; i < 6; i++) assert_true(y[i] == want[i]);
    assert_true(y[32] == 2.0f / 127 * 127);
    assert_true(y[33] == 2.0f / 127 * 64);
    x[39] = NAN;
    quantise_activations(y, x, 40);
    assert_true(isnan(y[32]) && y[0] == 127);
    for (int i = 0; i < 40; i++) x[i] = i % 2 ? 1e-37f : 0;  /* 127 / x overflows: kernels take 0 */
    quantise_activations(y, x, 40);
    for (int i = 0; i < 40; i++) assert_true(y[i] == 0);
}

/* Pack 19 outputs of 70 inputs. Unpacked, they are the rounded weights; rounding again changes
 * nothing. Biases come first, unchanged; padding stands for zeros. Packing over other bytes gives
 * the same result if the biases and the padding after the factors are already there. */
static void panels_in_and_out(int bits, Format format)
{
    enum { OUT = 19, IN = 70, GROUPS = 3, DATA = 64 + 128 };
    Tensor weight = { .rank = 2, .dim = { { .bound = OUT }, { .bound = IN } } }, bias = { .rank = 1, .dim = { { .bound = OUT } } };
    const Packed k = { .format = format, .tensor = { &weight, &bias }, .shape = { 2, (int64_t)rt_panel_bytes(IN, 1, bits) } };
    float w[OUT * IN], b[OUT], out[OUT * IN];
    const size_t size = 2 * (size_t)(DATA + GROUPS * 64 * bits);
    unsigned char bytes[2 * (DATA + GROUPS * 512)] = { 0 }, again[2 * (DATA + GROUPS * 512)];
    assert_int_equal(2 * k.shape[1], size);
    for (int i = 0; i < OUT * IN; i++) w[i] = random_float();
    for (int i = 0; i < OUT; i++) b[i] = random_float();
    pack_biases(bytes, &k, b);
    pack_narrow(bytes, &k, w, NULL);
    unpack_narrow(bytes, &k, out);
    quantise_rows(w, OUT, IN, bits);
    assert_memory_equal(out, w, sizeof w);
    quantise_rows(w, OUT, IN, bits);
    assert_memory_equal(out, w, sizeof w);
    memset(again, 0x5A, sizeof again);
    memcpy(again, bytes, 64), memcpy(again + size / 2, bytes + size / 2, 64);
    memset(again + 64 + 96, 0, 32), memset(again + size / 2 + 64 + 96, 0, 32);   /* padding after the factors */
    pack_narrow(again, &k, w, NULL);
    assert_memory_equal(again, bytes, size);
    assert_memory_equal(bytes, b, 64);
    assert_memory_equal(bytes + size / 2, b + 16, 12);
    const unsigned char *last = bytes + size / 2;
    for (int i = 0; i < 128 * bits; i++) assert_true(i % 64 < 12 || last[DATA + i] == (bits == 8 ? 128 : 0x88));
    for (int i = 6; i < 32; i++) assert_int_equal(last[64 + i], 0);
}

static void panels_of_bytes(void **state) { (void)state, panels_in_and_out(8, FORMAT_PANELS_INT8); }
static void panels_of_halves(void **state) { (void)state, panels_in_and_out(4, FORMAT_PANELS_INT4); }

/* Pack outputs in bf16 and unpack them. If the number of inputs is odd, zeros fill the last pairs. */
static void panels_of_bf16(void **state)
{
    enum { OUT = 19, IN = 7, PANEL = 64 + 8 * 32 };
    Tensor weight = { .rank = 2, .dim = { { .bound = OUT }, { .bound = IN } } }, bias = { .rank = 1, .dim = { { .bound = OUT } } };
    const Packed k = { .format = FORMAT_PANELS_BF16, .tensor = { &weight, &bias } };
    float w[OUT * IN], b[OUT], out[OUT * IN];
    unsigned char bytes[2 * PANEL] = { 0 };
    (void)state;
    assert_int_equal(narrow_panel_bytes(&k), PANEL);
    for (int i = 0; i < OUT * IN; i++) w[i] = random_float();
    for (int i = 0; i < OUT; i++) b[i] = random_float();
    pack_biases(bytes, &k, b);
    pack_narrow(bytes, &k, w, NULL);
    unpack_narrow(bytes, &k, out);
    assert_memory_equal(bytes, b, 64);
    assert_memory_equal(bytes + PANEL, b + 16, 12);
    for (int o = 0; o < OUT; o++)
        for (int i = 0; i < IN; i++) {
            const uint16_t h = bf16_of_float(w[o * IN + i]);
            assert_memory_equal(bytes + o / 16 * PANEL + 64 + 64 * (i / 2) + o % 16 * 4 + i % 2 * 2, &h, 2);
            assert_true(out[o * IN + i] == float_of_bf16(h));
        }
    for (int o = 0; o < 16; o++)
        for (int i = PANEL - 64 + 4 * o + 2; i < PANEL - 64 + 4 * o + 4; i++) assert_int_equal(bytes[i] | bytes[PANEL + i], 0);
    round_to_bf16(w, OUT * IN);
    assert_memory_equal(out, w, sizeof w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(halves_come_back), cmocka_unit_test(halves_are_the_nearest), cmocka_unit_test(bf16_are_the_nearest),
        cmocka_unit_test(a_group_by_hand),
        cmocka_unit_test(groups_are_near), cmocka_unit_test(unusual_groups), cmocka_unit_test(activations_by_hand),
        cmocka_unit_test(panels_of_bytes), cmocka_unit_test(panels_of_halves), cmocka_unit_test(panels_of_bf16),
        cmocka_unit_test(a_group_of_four_bits_by_hand), cmocka_unit_test(a_number_is_cut_for_the_sake_of_others),
        cmocka_unit_test(groups_of_four_bits_are_near), cmocka_unit_test(vectors_give_what_numbers_give),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
