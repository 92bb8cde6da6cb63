/* test_text.c: arena.c and text.c: memory, growing texts, templates, strict UTF-8, endings. */
#include "front_test.h"

#include "text.h"

static void arena_gives_zeroed_aligned_memory(void **state)
{
    (void)state;
    Arena *a = arena_new();
    for (size_t bytes = 0; bytes < 200000; bytes += 1 + bytes / 3) {
        unsigned char *p = arena_alloc(a, bytes);
        assert_int_equal((uintptr_t)p % 16, 0);
        for (size_t i = 0; i < bytes; i++) assert_int_equal(p[i], 0);
        if (bytes) memset(p, 0xAA, bytes);
    }
    arena_free(a);
    arena_free(NULL);
}

static void arena_grows_and_copies(void **state)
{
    (void)state;
    Arena *a = arena_new();
    char *p = arena_copy(a, "abc", 3);
    p = arena_grow(a, p, 4, 100000);
    assert_string_equal(p, "abc");
    assert_int_equal(p[99999], 0);
    assert_string_equal(arena_format(a, "%s-%d", "x", 3), "x-3");
    arena_free(a);
}

static void text_grows(void **state)
{
    (void)state;
    Arena *a = arena_new();
    Text t = text_new(a);
    assert_string_equal(t.data, "");
    for (int i = 0; i < 10000; i++) text_printf(&t, "%d,", i % 10);
    assert_int_equal(t.size, 20000);
    assert_int_equal(strlen(t.data), 20000);
    for (size_t n = 0; n < 600; n++) {      /* every length around the initial capacity */
        Text u = text_new(a);
        for (size_t i = 0; i < n; i++) text_add(&u, "x");
        assert_int_equal(strlen(u.data), n);
    }
    arena_free(a);
}

static const char *filled(Arena *a, const char *template, const char *value)
{
    Text t = text_new(a);
    text_fill(&t, template, "v", value, NULL);
    return t.data;
}

static void templates_are_filled(void **state)
{
    (void)state;
    Arena *a = arena_new();
    assert_string_equal(filled(a, "a ${v} b ${v}", "x"), "a x b x");
    assert_string_equal(filled(a, "$ {v} $${v}$", "x"), "$ {v} $x$");
    assert_string_equal(filled(a, "  ${v}\n", "one\ntwo\n"), "  one\n  two\n");
    assert_string_equal(filled(a, "\tf(${v});\n", "1,\n2"), "\tf(1,\n\t2);\n");
    assert_string_equal(filled(a, "a\n  ${v}  \nb\n", ""), "a\nb\n");
    assert_string_equal(filled(a, "a\n  x${v}\nb", ""), "a\n  x\nb");
    assert_string_equal(filled(a, "  ${v}", "one\n\ntwo"), "  one\n\n  two");
    Text t = text_new(a);
    text_fill(&t, "${a}${b}\n", "b", "2", "a", "1", NULL);
    assert_string_equal(t.data, "12\n");
    arena_free(a);
}

static int length_of(const char *s, size_t n)
{
    int32_t c;
    return utf8_next(s, n, &c);
}

static void utf8_is_strict(void **state)
{
    (void)state;
    int32_t c;
    assert_int_equal(utf8_next("A", 1, &c), 1);
    assert_int_equal(utf8_next("\xE6\x97\xA5", 3, &c), 3);
    assert_int_equal(c, 0x65E5);
    assert_int_equal(utf8_next("\xF0\x9F\x98\x80", 4, &c), 4);
    assert_int_equal(c, 0x1F600);
    assert_int_equal(length_of("", 0), 0);
    assert_int_equal(length_of("\xE6\x97", 2), 0);              /* truncated */
    assert_int_equal(length_of("\xC0\x80", 2), 0);              /* overlong */
    assert_int_equal(length_of("\xE0\x80\xAF", 3), 0);
    assert_int_equal(length_of("\xED\xA0\x80", 3), 0);          /* surrogate */
    assert_int_equal(length_of("\xF4\x90\x80\x80", 4), 0);      /* past U+10FFFF */
    assert_int_equal(length_of("\x80", 1), 0);
    assert_int_equal(length_of("\xFF", 1), 0);
}

static void an_ending_is_found(void **state)
{
    (void)state;
    assert_true(text_ends("weights.npy", ".npy"));
    assert_true(text_ends(".npy", ".npy"));
    assert_true(text_ends("", ""));
    assert_false(text_ends("npy", ".npy"));                     /* shorter than the ending */
    assert_false(text_ends("weights.npy2", ".npy"));
    assert_false(text_ends("weights.NPY", ".npy"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arena_gives_zeroed_aligned_memory), cmocka_unit_test(arena_grows_and_copies),
        cmocka_unit_test(text_grows), cmocka_unit_test(templates_are_filled), cmocka_unit_test(utf8_is_strict),
        cmocka_unit_test(an_ending_is_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
