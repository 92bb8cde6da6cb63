/* test_prefetch.c: Kernels prefetch on the processors that gain by it, recognised by cpuid, and on
 * no others. */
#include "kernel_test.h"

#if (defined(__x86_64__) || defined(__i386__)) && defined(__GNUC__)
/* The rule is static, so rt_prefetch.c is included. It is linked too, so rt_ahead is renamed. */
int rt_ahead_again(void);
#define rt_ahead rt_ahead_again
#include "../../runtime/rt_prefetch.c"
#undef rt_ahead

static void zen3_prefetches(void **state)
{
    (void)state;
    static const unsigned zen3[] = { 0x00A00F11 /* Milan */, 0x00A00F82 /* Chagall */, 0x00A20F10 /* Vermeer */,
                                     0x00A40F41 /* Rembrandt */, 0x00A50F00 /* Cezanne */ };
    for (size_t i = 0; i < COUNT(zen3); i++) assert_int_equal(ahead_on("AuthenticAMD", zen3[i]), 4096);
}

static void other_amd_processors_do_not(void **state)
{
    (void)state;
    static const unsigned others[] = { 0x00A10F11 /* Genoa */, 0x00A10F81 /* Storm Peak */, 0x00A60F12 /* Raphael */,
                                       0x00A70F41 /* Phoenix */, 0x00AA0F02 /* Bergamo */, 0x00830F10 /* Rome */,
                                       0x00800F12 /* Naples */, 0x00B40F40 /* Zen 5, family 0x1A */ };
    for (size_t i = 0; i < COUNT(others); i++) assert_int_equal(ahead_on("AuthenticAMD", others[i]), 0);
}

static void intel_prefetches_and_others_do_not(void **state)
{
    (void)state;
    assert_int_equal(ahead_on("GenuineIntel", 0x000C06F2), 4096);          /* Emerald Rapids */
    assert_int_equal(ahead_on("HygonGenuine", 0x00A00F11), 0);
    assert_int_equal(ahead_on("CentaurHauls", 0x00A00F11), 0);
}

static void this_processor_follows_the_rule(void **state)
{
    (void)state;
    const int bytes = rt_ahead();
    assert_true(bytes == 0 || bytes == 4096);
    assert_int_equal(rt_ahead_again(), bytes);
    assert_int_equal(rt_ahead(), bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(zen3_prefetches), cmocka_unit_test(other_amd_processors_do_not),
        cmocka_unit_test(intel_prefetches_and_others_do_not), cmocka_unit_test(this_processor_follows_the_rule),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
#else
static void no_others_prefetch(void **state)
{
    (void)state;
    assert_int_equal(rt_ahead(), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(no_others_prefetch) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
#endif
