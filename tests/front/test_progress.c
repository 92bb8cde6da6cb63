/* test_progress.c: The text of the progress line: how much is done, how fast, and the time left. */
#include "front_test.h"
#include "progress.h"

static void says(const char *expected, double done, double all, double rate, bool bytes)
{
    char words[64];
    progress_words(words, sizeof words, "packing", done, all, rate, bytes);
    assert_string_equal(words, expected);
}

static void parts_have_a_time(void **state)
{
    (void)state;
    says("packing, 0 %", 0, 200, 0, false);
    says("packing, 50 %", 100, 200, 0, false);
    says("packing, 25 %, 15 s left", 50, 200, 10, false);
    says("packing, 30 %, 119 s left", 51, 170, 1, false);
    says("packing, 25 %, 3 min left", 60, 240, 1, false);
    says("packing, 100 %", 200, 200, 10, false);
    says("packing, 100 %", 0, 0, 0, false);
}

static void bytes_have_a_rate(void **state)
{
    (void)state;
    says("packing, 0 %", 0, 4e9, 0, true);
    says("packing, 50 %, 500 MB/s, 4 s left", 2e9, 4e9, 5e8, true);
    says("packing, 100 %, 1500 MB/s", 4e9, 4e9, 1.5e9, true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_have_a_time), cmocka_unit_test(bytes_have_a_rate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
