/* test_rotary_rates.c: Frequencies and factors of rotary positions against transformers
 * (rotary_rates.h, by goldens/rope_rates.py): frequencies within 2^-22, over 90 % of them equal.
 *
 * Powers in transformers may differ from the correctly rounded ones in the last bit. */
#include "front_test.h"

#include <math.h>

#include "model.h"
#include "rotary_rates.h"

enum { COUNT = sizeof expected / sizeof *expected };

static void rates_are_those_of_transformers(void **state)
{
    (void)state;
    int equal = 0, all = 0;
    for (int i = 0; i < COUNT; i++) {
        const Numbers list = { expected[i].count, expected[i].list };
        LayerFields l = expected[i].layer;
        float rates[128];
        l.rope_short_factor = &list;
        rotary_rates(&l, rates);
        for (int j = 0; j < l.rope_dims / 2; j++, all++) {
            const float want = expected[i].rates[j];
            if (fabs((double)rates[j] - (double)want) > (double)want * 0x1p-22)
                fail_msg("%s: rate %d is %a, not %a", expected[i].name, j, (double)rates[j], (double)want);
            equal += rates[j] <= want && rates[j] >= want;
        }
    }
    assert_true(all > 600);
    assert_true(equal * 10 > all * 9);
}

static void factors_are_those_of_transformers(void **state)
{
    (void)state;
    for (int i = 0; i < COUNT; i++)
        if (fabs(rotary_factor(&expected[i].layer) - expected[i].factor) > 1e-15 * expected[i].factor)
            fail_msg("%s: factor %.17g, not %.17g", expected[i].name, rotary_factor(&expected[i].layer), expected[i].factor);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rates_are_those_of_transformers), cmocka_unit_test(factors_are_those_of_transformers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
