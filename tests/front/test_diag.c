/* test_diag.c: Diagnostics: the text with place and caret, the exit code, "did you mean", limits on
 * repeats and long lines, no control characters. */
#include "front_test.h"

static const Loc nowhere;

static void place_and_caret_are_printed(void **state)
{
    (void)state;
    Arena *a = arena_new();
    Diag *d = diag_new(a);
    diag_source(d, "foo.lua", "first\n\td_model = 65, -- é日 x\nlast");
    diag_error(d, EXIT_BAD_DATA, (Loc){ "foo.lua", 2, 2 }, "d_model (%d) is odd", 65);
    diag_note(d, (Loc){ "foo.lua", 2, 2 }, "the same place");
    diag_note(d, (Loc){ "foo.lua", 1, 3 }, "another");
    diag_error(d, EXIT_NO_INPUT, (Loc){ "foo.lua", 2, 25 }, "past wide characters");
    diag_error(d, EXIT_IO, (Loc){ "foo.lua", 0, 0 }, "the whole file");
    diag_error(d, EXIT_IO, nowhere, "no file");
    diag_error(d, EXIT_IO, (Loc){ "foo.lua", 9, 1 }, "no such line");
    diag_remark(d, nowhere, "by the way");
    assert_string_equal(printed(a, d),
        "foo.lua:2:2: error: d_model (65) is odd\n"
        "\td_model = 65, -- é日 x\n\t^\n"
        "foo.lua:2:2: note: the same place\n"
        "foo.lua:1:3: note: another\nfirst\n  ^\n"
        "foo.lua:2:25: error: past wide characters\n"
        "\td_model = 65, -- é日 x\n\t                     ^\n"
        "foo.lua: error: the whole file\n"
        "error: no file\n"
        "foo.lua:9:1: error: no such line\n"
        "note: by the way\n");
    assert_int_equal(diag_errors(d), 5);
    assert_int_equal(diag_exit(d), EXIT_BAD_DATA);
    arena_free(a);
}

static void a_remark_is_no_error(void **state)
{
    (void)state;
    Arena *a = arena_new();
    Diag *d = diag_new(a);
    diag_note(d, nowhere, "to nothing");
    diag_remark(d, nowhere, "remark");
    assert_int_equal(diag_exit(d), EXIT_DONE);
    assert_string_equal(printed(a, d), "note: to nothing\nnote: remark\n");
    arena_free(a);
}

static void repeats_and_floods_are_cut(void **state)
{
    (void)state;
    Arena *a = arena_new();
    Diag *d = diag_new(a);
    for (int i = 0; i < 30; i++) {
        diag_error(d, EXIT_IO, nowhere, "error %d", i);
        diag_error(d, EXIT_IO, nowhere, "error %d", i);
    }
    assert_int_equal(diag_errors(d), 30);
    const char *text = printed(a, d);
    assert_non_null(strstr(text, "error 19\n10 more errors\n"));
    assert_null(strstr(text, "error 20"));
    arena_free(a);
}

static void nothing_harms_a_terminal(void **state)
{
    (void)state;
    Arena *a = arena_new();
    Diag *d = diag_new(a);
    diag_source(d, "f", "a\xFF\x1B[2Jb");
    diag_error(d, EXIT_IO, (Loc){ "f", 1, 7 }, "name \x1B[31m\x7F \xC3");
    assert_string_equal(printed(a, d),
        "f:1:7: error: name \xEF\xBF\xBD[31m\xEF\xBF\xBD \xEF\xBF\xBD\n"
        "a\xEF\xBF\xBD\xEF\xBF\xBD[2Jb\n      ^\n");
    arena_free(a);
}

static void long_lines_are_cut_around_the_column(void **state)
{
    (void)state;
    Arena *a = arena_new();
    Diag *d = diag_new(a);
    char *line = arena_alloc(a, 100001);
    memset(line, 'x', 100000);
    line[50000] = '!';
    diag_source(d, "f", line);
    diag_error(d, EXIT_IO, (Loc){ "f", 1, 50001 }, "here");
    const char *text = printed(a, d), *mark = strchr(text, '!'), *caret = strchr(text, '^');
    assert_true(strlen(text) < 2000);
    assert_non_null(mark);
    assert_non_null(caret);
    assert_int_equal(mark - (strchr(text, '\n') + 1), caret - (strchr(mark, '\n') + 1));
    arena_free(a);
}

static void near_words_are_found(void **state)
{
    (void)state;
    static const char *const words[] = { "heads", "head_dim", "d_model", "d_ff", "layers" };
    assert_string_equal(diag_nearest("head", words, 5), "heads");
    assert_string_equal(diag_nearest("haeds", words, 5), "heads");
    assert_string_equal(diag_nearest("dmodel", words, 5), "d_model");
    assert_string_equal(diag_nearest("layer", words, 5), "layers");
    assert_null(diag_nearest("dropout", words, 5));
    assert_null(diag_nearest("", words, 5));
    assert_null(diag_nearest("x", words, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(place_and_caret_are_printed), cmocka_unit_test(a_remark_is_no_error),
        cmocka_unit_test(repeats_and_floods_are_cut), cmocka_unit_test(nothing_harms_a_terminal),
        cmocka_unit_test(long_lines_are_cut_around_the_column), cmocka_unit_test(near_words_are_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
