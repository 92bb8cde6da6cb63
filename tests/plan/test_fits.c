/* test_fits.c: Plans that are too large are rejected, large ones are made quickly, and every C
 * name is unique. */
#include "plan_test.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

static bool fits(const Planned *o, int slots)
{
    const PlanOptions options = { .target = TARGET_PANELS, .taps = true, .slots = slots, .max_threads = 16 };
    return plan_fits(o->diag, o->graph, options);
}

static void a_state_of_absurd_size_is_refused(void **state)
{
    (void)state;
    Planned o = planned_open("return xf.model { name = \"wide\", kind = \"decoder\", layers = 8, heads = 64, d_model = 4096, d_ff = 4,"
                             "max_target = 1048576, vocab = 5, position = \"none\", weights = \"random\" }");
    assert_true(fits(&o, 1));
    assert_int_equal(diag_errors(o.diag), 0);
    assert_false(fits(&o, 2000));
    assert_int_equal(diag_exit(o.diag), EXIT_BAD_DATA);
    planned_close(&o);
}

/* The estimate is an upper bound: a plan that fits is not larger than the limit of 2^46 bytes. */
static void what_fits_is_no_larger_than_was_said(void **state)
{
    (void)state;
    Planned o = planned_open("specs/dates.lua");
    assert_true(fits(&o, 1000));
    const Plan *p = planned_make(&o, TARGET_PANELS, true, 1000);
    assert_true((double)p->state_bytes < 70368744177664.0);
    planned_close(&o);
}

static void plan_many(const char *body)
{
    char spec[1024];
    snprintf(spec, sizeof spec, "return xf.graph(\"many\", function(g) local x = g.input(\"X\", {2, 4}) %s g.output(\"Y\", x) end)", body);
    Planned o = planned_open(spec);
    planned_make(&o, TARGET_PANELS, true, 1);
    planned_make(&o, TARGET_ROW_MAJOR, true, 1);
    planned_close(&o);
}

/* A quadratic algorithm would take minutes. */
static void many_nodes_are_planned(void **state)
{
    (void)state;
    static const char *const bodies[] = {
        "for i = 1, 9000 do x = g.relu(x) end",
        "for i = 1, 3000 do x = g.attention(x, x, x) end",
        "for i = 1, 4500 do g.input(\"U\" .. i, {2, 4}) x = g.relu(x) end",
        "for i = 1, 4500 do x = g.output(\"O\" .. i, g.relu(x)) end",
        "for i = 1, 4500 do x = g.matmul(x, g.param(\"W\" .. i, {4, 4})) end",
        "local all = {} for i = 1, 4000 do all[i] = g.relu(x) end for i = 1, 4000 do x = g.add(x, all[i]) end",
    };
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) plan_many(bodies[i]);
}

static void identifiers_are_unique(void **state)
{
    (void)state;
    Planned o = planned_open("return xf.graph(\"tiny\", function(g) local x = g.input(\"X\", {2, 4})\n"
                             "for _, n in ipairs { \"a.b\", \"a_b\", \"A.B\", \"W\", \"w\", \"w.weight\", \"stride\" } do "
                             "g.output(\"o.\" .. n .. #n .. (n == n:upper() and \"u\" or \"\") .. (n:sub(2, 2) == \".\" and \"d\" or \"\"),"
                             "g.matmul(x, g.param(n, {4, 4}))) end\n"
                             "g.name(\"graph_Q\", g.relu(x)) g.name(\"Q\", g.relu(x)) g.name(\"q\", g.relu(x)) g.output(\"graph.q\", g.relu(x))\n"
                             "g.name(\"NAN\", g.relu(x)) g.name(\"TINY_MAX_THREADS\", g.relu(x)) g.name(\"s\", g.relu(x)) end)");
    const Plan *p = planned_make(&o, TARGET_PANELS, true, 1);
    assert_int_equal(p->packed_count, 7);
    for (int i = 0; i < p->packed_count; i++)
        for (int j = 0; j < i; j++) assert_string_not_equal(p->packed[i]->identifier, p->packed[j]->identifier);
    const PlanBlock *b = p->blocks[0];
    for (int i = 0; i < b->buffer_count; i++) {
        const char *name = b->buffers[i]->name, *macro = arena_format(o.arena, "graph_%s", name);
        assert_string_not_equal(name, "NAN");
        assert_string_not_equal(name, "TINY_MAX_THREADS");
        assert_string_not_equal(name, "s");
        for (int j = 0; j < i; j++) assert_true(strcasecmp(name, b->buffers[j]->name) != 0);
        for (int j = 0; j < p->buffer_count; j++) {
            assert_true(strcasecmp(macro, p->buffers[j]->name) != 0);
            assert_true(strcasecmp(name, p->buffers[j]->name) != 0);
        }
    }
    planned_close(&o);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_state_of_absurd_size_is_refused),
        cmocka_unit_test(what_fits_is_no_larger_than_was_said),
        cmocka_unit_test(many_nodes_are_planned),
        cmocka_unit_test(identifiers_are_unique),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
