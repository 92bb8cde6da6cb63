/* test_perturbed.c: `verify` finds that one weight is 1 % off, and names the first tensor that
 * differs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "front.h"
#include "trace.h"
#include "verify.h"
#include "weights.h"

static Arena *arena;
static Diag *diag;

static Model *model_of(const char *name)
{
    int n;
    const OpName *ops = graph_builder_ops(&n);
    Model *m = model_read(arena, diag, arena_format(arena, "tests/goldens/%s.lua", name), ops, n, NULL);
    diag_print(diag, stderr, false);
    assert_non_null(m);
    return m;
}

/* Multiply the value with the largest magnitude in a tensor by `factor`. */
static void change(Model *m, const char *name, float factor)
{
    TensorSource *t = NULL;
    for (int i = 0; i < m->tensor_count; i++)
        if (strcmp(m->tensors[i].name, name) == 0) t = &m->tensors[i];
    if (!t) fail_msg("no tensor %s", name);
    const int64_t n = tensor_elements(t);
    float *values = arena_array(arena, (size_t)n, sizeof *values);
    int64_t largest = 0;
    tensor_read(t, values);
    for (int64_t i = 1; i < n; i++)
        if (values[i] * values[i] > values[largest] * values[largest]) largest = i;
    values[largest] *= factor;
    t->kind = SOURCE_VALUES;
    t->values = values;
    for (int64_t r = t->rank, stride = 1; r-- > 0; stride *= t->shape[r]) t->stride[r] = stride;
}

static Engine *open_engine(const Model *m, const char *name)
{
    const PlanOptions options = { .target = TARGET_ROW_MAJOR, .taps = true, .slots = 1, .max_threads = 1 };
    Graph *g = graph_build(arena, diag, m, 8);
    assert_non_null(g);
    Engine *e = generic_open(arena, diag, plan_make(arena, g, options), NULL);
    assert_non_null(e);
    e->name = name;
    return e;
}

/* Verify a model against itself with one value of a tensor changed. `departs`: the first tensor
 * that differs, "" if none does. */
static void check(const char *golden, const char *tensor, float factor, const char *departs)
{
    arena = arena_new();
    diag = diag_new(arena);
    Model *right = model_of(golden), *off = model_of(golden);
    change(off, tensor, factor);
    const VerifyEngine engines[] = { { open_engine(right, "right"), NULL, 0 }, { open_engine(off, "off"), NULL, 0 } };
    const VerifyOptions options = { .seed = 1, .threads = 1 };
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    Exit found = verify_run(arena, diag, right, engines, 2, &options, out);
    fclose(out);
    assert_int_equal(found, *departs ? EXIT_DIFFERS : EXIT_DONE);
    const char *line = *departs ? arena_format(arena, "verify: first difference: %s (off against right): ", departs) : "all within tolerance";
    if (!strstr(text, line)) fail_msg("%s: no \"%s\" in\n%s", tensor, line, text);
    free(text);
    for (int i = 0; i < 2; i++) engine_close(engines[i].tapped);
    model_close(right);
    model_close(off);
    arena_free(arena);
}

static void one_percent_is_found(void **state)
{
    (void)state;
    check("awkward", "encoder.0.self_attn.q.weight", 1.01f, "encoder.0.self_attn.q");
    check("awkward", "encoder.2.ffn.down.weight", 1.01f, "encoder.2.ffn");
    check("awkward", "encoder.1.norm.1.gain", 1.01f, "encoder.1.norm.1");
    check("awkward", "decoder.2.cross_attn.v.weight", 1.01f, "decoder.2.cross_attn.v");
    check("awkward", "decoder.1.self_attn.out.weight", 1.01f, "decoder.1.self_attn.out");
    check("awkward", "decoder.0.norm.2.bias", 1.01f, "decoder.0.norm.2");
    check("awkward", "output.weight", 1.01f, "logits");
    check("post_annotated", "encoder.0.ffn.up.weight", 1.01f, "encoder.0.ffn.up");
}

static void nothing_is_found_in_itself(void **state)
{
    (void)state;
    check("awkward", "output.weight", 1, "");
    check("post_annotated", "encoder.0.ffn.up.weight", 1, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_percent_is_found),
        cmocka_unit_test(nothing_is_found_in_itself),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
