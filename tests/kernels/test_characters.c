/* test_characters.c: UTF-8 to ids and back, valid and invalid. Also status messages and the
 * names of instruction sets. */
#include "kernel_test.h"

/* Special tokens 0 and 1, then characters of each length in UTF-8, at both ends of the ranges. */
static const int32_t table[] = { ' ', 2, 'a', 3, 0x7f, 4, 0x80, 5, 0xe9, 6, 0x7ff, 7, 0x800, 8, 0x20ac, 9, 0xd7ff, 10,
    0xe000, 11, 0xffff, 12, 0x10000, 13, 0x10ffff, 14 };
static const int32_t texts[] = { -1, -1, ' ', 'a', 0x7f, 0x80, 0xe9, 0x7ff, 0x800, 0x20ac, 0xd7ff, 0xe000, 0xffff,
    0x10000, 0x10ffff };
static const RtCharacters characters = { table, COUNT(table) / 2, texts, COUNT(texts) };

static const char *const all = " a\x7f\xc2\x80\xc3\xa9\xdf\xbf\xe0\xa0\x80\xe2\x82\xac\xed\x9f\xbf\xee\x80\x80"
    "\xef\xbf\xbf\xf0\x90\x80\x80\xf4\x8f\xbf\xbf";

static void there_and_back(void **state)
{
    int ids[16], n = -1;
    int marked[26];
    char out[64];
    size_t bytes = 0;
    (void)state;
    assert_int_equal(rt_characters_encode(&characters, all, ids, 16, &n, NULL), RT_OK);
    assert_int_equal(n, 13);
    for (int i = 0; i < n; i++) {
        assert_int_equal(ids[i], i + 2);
        marked[2 * i] = ids[i], marked[2 * i + 1] = i % 2;
    }
    assert_int_equal(rt_characters_decode(&characters, marked, 2 * n, out, sizeof out, &bytes), RT_OK);
    assert_string_equal(out, all);
    assert_int_equal(bytes, strlen(all));
    assert_int_equal(rt_characters_decode(&characters, marked, 0, out, 1, &bytes), RT_OK);
    assert_string_equal(out, "");
    assert_int_equal(bytes, 0);
    assert_int_equal(rt_characters_encode(&characters, "", ids, 0, &n, NULL), RT_OK);
    assert_int_equal(n, 0);
}

static void room(void **state)
{
    int ids[4] = { -7, -7, -7, -7 }, n;
    char out[6] = "xxxxx";
    size_t used = 0;
    (void)state;
    assert_int_equal(rt_characters_encode(&characters, "aaa", ids, 3, &n, NULL), RT_OK);
    assert_int_equal(rt_characters_encode(&characters, "aaaaa", ids, 3, &n, NULL), RT_TOO_LONG);
    assert_int_equal(n, 5);
    assert_int_equal(ids[3], -7);
    assert_int_equal(rt_characters_decode(&characters, (int[]){ 9, 0 }, 2, out, 4, &used), RT_OK);      /* three bytes and the NUL */
    assert_int_equal(used, 3);
    assert_int_equal(rt_characters_decode(&characters, (int[]){ 9, 3 }, 2, out, 4, &used), RT_NO_ROOM);
    assert_int_equal(used, 3);
    assert_string_equal(out, "\xe2\x82\xac");
    assert_int_equal(out[4], 'x');
    assert_int_equal(rt_characters_decode(&characters, (int[]){ 9 }, 1, out, 3, NULL), RT_NO_ROOM);
    assert_string_equal(out, "");
    assert_int_equal(rt_characters_decode(&characters, (int[]){ 9 }, 0, out, 0, &used), RT_NO_ROOM);
    assert_int_equal(rt_characters_decode(&characters, (int[]){ 9, 15 }, 2, out, 6, &used), RT_BAD_ID);
    assert_int_equal(rt_characters_decode(&characters, (int[]){ -1 }, 1, out, 6, &used), RT_BAD_ID);
}

static void refused(void **state)
{
    static const struct { const char *text; size_t at; int code_point; } faults[] = {
        { "ab", 1, 'b' }, { "a\xc3\xa8", 1, 0xe8 }, { "\xf0\x9f\x98\x80", 0, 0x1f600 }, { "a\na", 1, '\n' },
        { "a\x80", 1, -1 }, { "aa\xbf", 2, -1 },                        /* lone continuations */
        { "a\xc3", 1, -1 }, { "\xe2\x82", 0, -1 }, { "\xf0\x90\x80", 0, -1 }, { "\xc3" "a", 0, -1 }, /* truncated */
        { "\xc0\x80", 0, -1 }, { "\xc1\xbf", 0, -1 }, { "\xe0\x9f\xbf", 0, -1 }, { "\xf0\x8f\xbf\xbf", 0, -1 },
        { "\xed\xa0\x80", 0, -1 }, { "\xed\xbf\xbf", 0, -1 },           /* surrogates */
        { "\xf4\x90\x80\x80", 0, -1 }, { "\xf7\xbf\xbf\xbf", 0, -1 }, { "\xf8\x88\x80\x80\x80", 0, -1 },
        { "\xfe", 0, -1 }, { "aaaaaaaaaaaaaaaaaaaaaaa\xff", 23, -1 },  /* invalid before too long */
    };
    (void)state;
    for (size_t i = 0; i < COUNT(faults); i++) {
        RtTextFault fault = { 99, 99 };
        int ids[16], n;
        assert_int_equal(rt_characters_encode(&characters, faults[i].text, ids, 16, &n, &fault), RT_BAD_ID);
        assert_int_equal(fault.at, faults[i].at);
        assert_int_equal(fault.code_point, faults[i].code_point);
        assert_int_equal(rt_characters_encode(&characters, faults[i].text, ids, 16, &n, NULL), RT_BAD_ID);
    }
}

/* Encode each code point but 0, without a table: it is reported as itself, or as invalid if it is a
 * surrogate. */
static void every_code_point(void **state)
{
    const RtCharacters none = { NULL, 0, NULL, 0 };
    (void)state;
    for (int c = 1; c < 0x110000; c++) {
        const int surrogate = c >= 0xd800 && c < 0xe000;
        const int32_t one = c;
        const RtCharacters only = { NULL, 0, &one, 1 };
        RtTextFault fault;
        char text[8];
        int n;
        assert_int_equal(rt_characters_decode(&only, (int[]){ 0 }, 1, text, sizeof text, NULL), RT_OK);
        assert_int_equal(rt_characters_encode(&none, text, NULL, 0, &n, &fault), RT_BAD_ID);
        assert_int_equal(fault.code_point, surrogate ? -1 : c);
    }
}

static void names(void **state)
{
    (void)state;
    for (int s = RT_OK; s <= RT_NOT_FINITE; s++)
        assert_string_not_equal(rt_status_text((rt_status)s), "unknown status");
    assert_string_equal(rt_status_text((rt_status)(RT_NOT_FINITE + 1)), "unknown status");
    assert_string_equal(rt_isa_text(0), "portable");
    assert_string_equal(rt_isa_text(RT_ISA_AVX2 | RT_ISA_FMA | RT_ISA_AVX512), "avx512");
    assert_string_equal(rt_isa_text(RT_ISA_AVX2 | RT_ISA_FMA | RT_ISA_AVX512 | RT_ISA_AVX512VNNI), "avx512vnni");
    assert_string_equal(rt_isa_text(RT_ISA_AVX2 | RT_ISA_FMA), "avx2");
    assert_int_equal(rt_isa_missing(0), 0);
#if defined(__x86_64__) && defined(__GNUC__)
    __builtin_cpu_init();
    /* gcc 12 takes some Zen 4 for Zen 3, which has no AVX-512; a hypervisor can hide AVX-512. */
    const int zen = __builtin_cpu_is("znver3"), intel = __builtin_cpu_is("intel");
    for (int again = 0; again < 2; again++) {
        const RtAhead cached = rt_ahead(0), memory = rt_ahead(1);
        assert_true(!zen || memory.bytes > 0);
        if (intel) assert_true(cached.bytes == 4096 && memory.bytes == 4096);
        if (!intel && !__builtin_cpu_is("amd")) assert_true(cached.bytes == 0 && memory.bytes == 0);
        if (zen && __builtin_cpu_supports("avx512f")) assert_true(cached.bytes == 0 && memory.thin);
    }
#endif
    assert_true(rt_isa_missing(RT_ISA_NEON | RT_ISA_AVX512) != 0);      /* no processor has both */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(there_and_back), cmocka_unit_test(room), cmocka_unit_test(refused),
        cmocka_unit_test(every_code_point), cmocka_unit_test(names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
