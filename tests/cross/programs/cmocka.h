/* cmocka.h: the part of cmocka that the kernel tests of cross/run.sh use, for machines without
 * cmocka. A failure ends the program with exit status 1. */
#ifndef CROSS_CMOCKA_H
#define CROSS_CMOCKA_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct CMUnitTest { const char *name; void (*run)(void **state); };
#define cmocka_unit_test(f) { #f, f }

#define fail_msg(...) (printf("%s:%d: ", __FILE__, __LINE__), printf(__VA_ARGS__), puts(""), exit(1))
#define assert_true(c) ((c) ? (void)0 : fail_msg("%s", #c))
#define assert_false(c) assert_true(!(c))
#define assert_non_null(p) assert_true((p) != NULL)
#define assert_int_equal(a, b) assert_true((a) == (b))
#define assert_ptr_equal(a, b) assert_true((a) == (b))
#define assert_in_range(x, low, high) assert_true((x) >= (low) && (x) <= (high))
#define assert_string_equal(a, b) assert_true(strcmp(a, b) == 0)
#define assert_memory_equal(a, b, n) assert_true(memcmp(a, b, n) == 0)
#define print_message(...) printf(__VA_ARGS__)

static inline int cross_run(const struct CMUnitTest *tests, size_t n)
{
    for (size_t i = 0; i < n; i++) tests[i].run(&(void *){ NULL });
    printf("%zu tests passed\n", n);
    return 0;
}
#define cmocka_run_group_tests(tests, setup, teardown) cross_run(tests, sizeof (tests) / sizeof *(tests))

#endif
