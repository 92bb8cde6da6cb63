/* test_packed.c: The header of packed weights: its hashes, and the self-test's values, converted to
 * text and back. Also the self-test's inputs, which results it keeps, and their distance. */
#include "kernel_test.h"
#include "rt_packed.h"
#include <math.h>

/* Published test vectors of FNV-1a. */
static void hash(void **state)
{
    (void)state;
    assert_true(rt_hash(rt_hash_start, "", 0) == 0xcbf29ce484222325u);
    assert_true(rt_hash(rt_hash_start, "a", 1) == 0xaf63dc4c8601ec8cu);
    assert_true(rt_hash(rt_hash_start, "foobar", 6) == 0x85944171f73967e8u);
    assert_true(rt_hash(rt_hash(rt_hash_start, "foo", 3), "bar", 3) == 0x85944171f73967e8u);
}

/* Every byte counts, except those of the hash itself. */
static void content(void **state)
{
    enum { BYTES = 200, KINDS = 2 };
    static const char *const kinds[KINDS] = { "content", "digests" };
    unsigned char file[BYTES];
    (void)state;
    for (int kind = 0; kind < KINDS; kind++) {
        for (int i = 0; i < BYTES; i++) file[i] = (unsigned char)(7 * i);
        memcpy(file + RT_PACKED_KIND_AT, kinds[kind], strlen(kinds[kind]));
        const uint64_t whole = rt_packed_content(file, BYTES);
        for (int i = 0; i < BYTES; i++) {
            const int own = i >= RT_PACKED_CONTENT_AT && i < RT_PACKED_DATA_AT;
            for (int bit = 0; bit < 8; bit++) {
                file[i] ^= (unsigned char)(1 << bit);
                assert_int_equal(rt_packed_content(file, BYTES) == whole, own);
                file[i] ^= (unsigned char)(1 << bit);
            }
        }
        assert_true(rt_packed_content(file, BYTES - 1) != whole);
        memset(file + RT_PACKED_CONTENT_AT, '0', RT_PACKED_DIGITS);
        assert_true(rt_packed_content(file, BYTES) == whole);
        assert_int_equal(rt_hash(rt_hash_start, file, BYTES) == whole, kind == 0);
    }
    assert_true(rt_packed_number("00000000000000ff...") == 255);
    assert_true(rt_packed_number("fedcba9876543210") == 0xfedcba9876543210u);
    assert_true(rt_packed_number("fedcba987654321G") == 0);
}

/* The hash joins the digest of the header and those of the blocks, in order. Digests are the same
 * on every machine: two of them are given here. */
static void digests(void **state)
{
    enum { BYTES = RT_PACKED_DATA_AT + 2 * RT_PACKED_BLOCK + 77 };
    unsigned char *file = calloc(BYTES, 1);
    (void)state;
    assert_non_null(file);
    for (int i = 0; i < BYTES; i++) file[i] = (unsigned char)((uint32_t)i * 2654435761u >> 13);
    memcpy(file + RT_PACKED_KIND_AT, "digests", 7);
    uint64_t h = rt_digest(file, RT_PACKED_CONTENT_AT);
    for (int i = 0; i < 3; i++) {
        const size_t at = RT_PACKED_DATA_AT + (size_t)i * RT_PACKED_BLOCK;
        h = rt_digest_join(h, rt_digest(file + at, i < 2 ? RT_PACKED_BLOCK : BYTES - at));
    }
    assert_true(rt_packed_content(file, BYTES) == h);
    for (size_t at = RT_PACKED_DATA_AT; at < BYTES; at += 4099) {
        file[at] ^= 0x80;
        assert_true(rt_packed_content(file, BYTES) != h);
        file[at] ^= 0x80;
    }
    /* Swapping two blocks changes the hash; swapping two numbers of a block changes its digest. */
    for (int i = 0; i < RT_PACKED_BLOCK; i++) {
        unsigned char *one = &file[RT_PACKED_DATA_AT + i], kept = *one;
        *one = one[RT_PACKED_BLOCK], one[RT_PACKED_BLOCK] = kept;
    }
    assert_true(rt_packed_content(file, BYTES) != h);
    static const char other[] = "89abcdef012345670123456789abcdefX";
    assert_true(rt_digest("0123456789abcdef0123456789abcdefX", 33) != rt_digest(other, 33));
    assert_true(rt_digest("", 0) != rt_digest("\0", 1));
    assert_true(rt_digest("", 0) == 0x41f97df0c176f0ffu);
    assert_true(rt_digest("0123456789abcdef0123456789abcdefX", 33) == 0x845353e0159a4428u);
    free(file);
}

static void input(void **state)
{
    int ids[RT_SELFTEST_SOURCE];
    (void)state;
    assert_int_equal(rt_selftest_source(ids, 5, 3), 5);
    assert_true(ids[0] == 0 && ids[2] == 2 && ids[3] == 0 && ids[4] == 1);
    assert_int_equal(rt_selftest_source(ids, 1000, 7), RT_SELFTEST_SOURCE);
    assert_int_equal(rt_selftest_target(ids, 4, 15, 1), 4);
    assert_true(ids[0] == 1 && ids[1] == 14 && ids[2] == 13 && ids[3] == 12);
    assert_int_equal(rt_selftest_target(ids, 1000, 3, 5), RT_SELFTEST_ROWS);  /* no such start id */
    for (int i = 0; i < RT_SELFTEST_ROWS; i++) assert_in_range(ids[i], 0, 2);
}

static void kept(void **state)
{
    static float x[10][64];
    float values[RT_SELFTEST_VALUES] = { 0 };
    (void)state;
    for (int i = 0; i < 640; i++) x[i / 64][i % 64] = (float)i;
    rt_selftest_keep(values, RT_SELFTEST_VALUES, 1, 15, x[0], 0, 1, 64);
    for (int i = 0; i < RT_SELFTEST_VALUES; i++) assert_true(values[i] == (i < 15 ? (float)i : 0));
    rt_selftest_keep(values, RT_SELFTEST_VALUES, 10, 64, x[0], 0, 9, 64);   /* every fifth of 640 */
    assert_true(values[RT_SELFTEST_VALUES - 1] == 0);
    rt_selftest_keep(values, RT_SELFTEST_VALUES, 10, 64, x[9], 9, 1, 64);
    for (int i = 0; i < RT_SELFTEST_VALUES; i++) assert_true(values[i] == (float)(5 * i));
}

static void digits(void **state)
{
    float values[RT_SELFTEST_VALUES] = { 1, -0.0f, 1e-40f, -3.4e38f, 0.1f }, back[RT_SELFTEST_VALUES];
    char text[RT_SELFTEST_DIGITS];
    (void)state;
    rt_selftest_write(text, values);
    assert_memory_equal(text, "3f80000080000000", 16);
    assert_true(rt_selftest_read(back, text));
    assert_memory_equal(values, back, sizeof back);
    text[7] = 'x';
    assert_false(rt_selftest_read(back, text));
    memset(text, '0', sizeof text);
    assert_false(rt_selftest_read(back, text));
}

static void distance(void **state)
{
    float a[RT_SELFTEST_VALUES] = { 1, -4, 2 }, b[RT_SELFTEST_VALUES] = { 1, -4, 2 };
    (void)state;
    assert_true(rt_selftest_distance(a, b) == 0);
    a[RT_SELFTEST_VALUES - 1] = 0.5f;
    assert_true(rt_selftest_distance(a, b) == 0.125);
    a[2] = NAN;
    assert_true(isinf(rt_selftest_distance(a, b)) && isinf(rt_selftest_distance(b, a)));
    memset(a, 0, sizeof a), memset(b, 0, sizeof b);
    assert_true(rt_selftest_distance(a, b) == 0);
    a[0] = 1;
    assert_true(isinf(rt_selftest_distance(a, b)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hash), cmocka_unit_test(content), cmocka_unit_test(digests),
        cmocka_unit_test(input), cmocka_unit_test(kept), cmocka_unit_test(digits),
        cmocka_unit_test(distance),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
