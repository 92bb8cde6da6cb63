/* test_prefetch.c: Kernels prefetch on the processors that gain by it, recognised by cpuid, and on
 * no others. */
#include "kernel_test.h"

#if (defined(__x86_64__) || defined(__i386__)) && defined(__GNUC__)
/* The rule is static, so rt_prefetch.c is included. It is linked too, so rt_ahead is renamed. */
RtAhead rt_ahead_again(int from_memory);
#define rt_ahead rt_ahead_again
#include "../../runtime/rt_prefetch.c"
#undef rt_ahead

static void zen3_prefetches(void **state)
{
    (void)state;
    static const unsigned zen3[] = { 0x00A00F11 /* Milan */, 0x00A00F82 /* Chagall */, 0x00A20F10 /* Vermeer */,
                                     0x00A40F41 /* Rembrandt */, 0x00A50F00 /* Cezanne */ };
    for (size_t i = 0; i < COUNT(zen3); i++) assert_int_equal(way_on("AuthenticAMD", zen3[i]), WAY_ALL);
}

static void zen4_prefetches_from_memory(void **state)
{
    (void)state;
    static const unsigned zen4[] = { 0x00A10F11 /* Genoa */, 0x00A10F81 /* Storm Peak */, 0x00A60F12 /* Raphael */,
                                     0x00A70F41 /* Phoenix */, 0x00AA0F02 /* Bergamo */ };
    for (size_t i = 0; i < COUNT(zen4); i++) assert_int_equal(way_on("AuthenticAMD", zen4[i]), WAY_MEMORY);
}

static void other_amd_processors_do_not(void **state)
{
    (void)state;
    static const unsigned others[] = { 0x00830F10 /* Rome */, 0x00800F12 /* Naples */, 0x00B40F40 /* Zen 5, family 0x1A */ };
    for (size_t i = 0; i < COUNT(others); i++) assert_int_equal(way_on("AuthenticAMD", others[i]), WAY_NONE);
}

static void intel_prefetches_and_others_do_not(void **state)
{
    (void)state;
    assert_int_equal(way_on("GenuineIntel", 0x000C06F2), WAY_ALL);         /* Emerald Rapids */
    assert_int_equal(way_on("HygonGenuine", 0x00A00F11), WAY_NONE);
    assert_int_equal(way_on("CentaurHauls", 0x00A00F11), WAY_NONE);
}

static void what_each_way_prefetches(void **state)
{
    (void)state;
    static const RtAhead want[WAYS][2] = {
        [WAY_NONE] = { { 0, 0 }, { 0, 0 } }, [WAY_ALL] = { { 4096, 0 }, { 4096, 0 } }, [WAY_MEMORY] = { { 0, 0 }, { 6144, 1 } }
    };
    assert_memory_equal(aheads, want, sizeof want);
}

static void this_processor_follows_the_rule(void **state)
{
    (void)state;
    for (int again = 0; again < 2; again++)
        for (int from_memory = 0; from_memory < 2; from_memory++) {
            const RtAhead want = aheads[way()][from_memory], first = rt_ahead(from_memory), second = rt_ahead_again(from_memory);
            assert_memory_equal(&first, &want, sizeof want);
            assert_memory_equal(&second, &want, sizeof want);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(zen3_prefetches), cmocka_unit_test(zen4_prefetches_from_memory),
        cmocka_unit_test(other_amd_processors_do_not), cmocka_unit_test(intel_prefetches_and_others_do_not),
        cmocka_unit_test(what_each_way_prefetches), cmocka_unit_test(this_processor_follows_the_rule),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
#else
static void no_others_prefetch(void **state)
{
    (void)state;
    assert_int_equal(rt_ahead(0).bytes, 0);
    assert_int_equal(rt_ahead(1).bytes, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(no_others_prefetch) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
#endif
