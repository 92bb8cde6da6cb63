/* tags: slow */
/* test_cancellation.c: Specs whose sums cancel, so that correct engines end far apart: verify says
 * that they agree. It still finds one weight that is 1 % off, a mask that hides one key too many,
 * and two swapped heads. Also an engine without taps, rounded weights, and a graph with caches.
 *
 * Specs are those of random_spec.h, by number; random_specs prints more. Sums in double are the
 * reference. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "front.h"
#include "generic.h"
#include "jit.h"
#include "pack.h"
#include "random_spec.h"
#include "verify.h"
#include "weights.h"

/* Specs among the first 1,500 whose engines differ by more than 1e-5 end to end. */
static const int cancelling[] = {
    8, 11, 15, 54, 60, 69, 72, 80, 90, 101, 103, 122, 127, 141, 160, 180, 187, 235, 238, 242, 245,
    249, 252, 261, 281, 289, 295, 300, 314, 316, 318, 329, 370, 387, 401, 418, 457, 474, 497, 505,
    528, 599, 665, 719, 764, 788, 865, 869, 887, 932, 959, 969, 977, 1011, 1026, 1042, 1043, 1058,
    1078, 1080, 1085, 1093, 1098, 1126, 1148, 1150, 1161, 1162, 1174, 1239, 1241, 1266, 1279,
    1297, 1306, 1364, 1383, 1391, 1407, 1442, 1469, 1470, 1491, 1495,
};
/* Some specs whose engines do not. */
static const int plain[] = {
    1, 2, 3, 4, 5, 6, 7, 9, 10, 12, 13, 14, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28,
    29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40,
};
/* Specs whose engines differ by more than 1e-4, even from sums in double: they cancel with any
 * BLAS. */
static const int far[] = { 103, 141, 977, 1093, 1239 };

/* Specs whose last result cancels. For the second, the difference is as large as the result. */
static const int to_the_end[] = { 8, 977 };

#define COUNT(list) ((int)(sizeof(list) / sizeof *(list)))

static char folder[] = "/tmp/xformc-cancellation-XXXXXX";

/* A spec and its engines. model NULL: the spec is rejected, and there are no engines. */
typedef struct Opened {
    Arena *arena;
    Diag *diag;
    Model *model;
    Engine *jit, *generic;
    Engine *right;                  /* like jit, but never changed; opened when needed */
} Opened;

static Plan *plan_of(Opened *o, Graph *g, PlanTarget target)
{
    const PlanOptions options = { .target = target, .taps = true, .slots = 1, .max_threads = 1 };
    return plan_make(o->arena, g, options);
}

static Opened open_text(int number, const char *text)
{
    Opened o = { .arena = arena_new() };
    int n;
    const OpName *ops = graph_builder_ops(&n);
    char path[80];
    snprintf(path, sizeof path, "%s/%d.lua", folder, number);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
    o.diag = diag_new(o.arena);
    o.model = model_read(o.arena, o.diag, path, ops, n, NULL);
    unlink(path);
    if (!o.model) return o;
    Graph *g = graph_build(o.arena, o.diag, o.model, 1);
    Plan *panels = plan_of(&o, g, TARGET_PANELS);
    o.jit = jit_open(o.arena, o.diag, panels, (EmitForm){ 0 }, 0);
    o.generic = generic_open(o.arena, o.diag, plan_of(&o, g, TARGET_ROW_MAJOR), NULL);
    assert_non_null(o.jit);
    assert_non_null(o.generic);
    return o;
}

/* more: fields after those of the spec, or "". */
static Opened open_with(int number, const char *more)
{
    const char *spec = random_spec((uint64_t)number);
    char text[2000];
    snprintf(text, sizeof text, "%.*s%s}\n", (int)strlen(spec) - 1, spec, more);
    return open_text(number, text);
}

static Opened open_spec(int number) { return open_with(number, ""); }

static void close_spec(Opened *o)
{
    if (o->model) {
        engine_close(o->jit);
        engine_close(o->right);         /* may be NULL */
        engine_close(o->generic);
        model_close(o->model);
    }
    arena_free(o->arena);
}

/* Compare two engines. *table receives the table that verify prints; the caller frees it. */
static Exit verify_engines(Opened *o, const VerifyEngine engines[2], char **table)
{
    const VerifyOptions options = { .seed = 1, .threads = 1, .all = true };
    size_t size;
    FILE *out = open_memstream(table, &size);
    const Exit found = verify_run(o->arena, o->diag, o->model, engines, 2, &options, out);
    fclose(out);
    return found;
}

/* Compare the jit with another engine. */
static Exit verify(Opened *o, Engine *other, char **table)
{
    return verify_engines(o, (const VerifyEngine[]){ { o->jit, NULL, 0 }, { other, NULL, 0 } }, table);
}

static void agree(Opened *o, int number, bool cancels)
{
    char *table;
    if (verify(o, o->generic, &table) != EXIT_DONE) fail_msg("spec %d: %s", number, table);
    if (cancels && !strstr(table, "end to end")) fail_msg("spec %d: nothing cancels", number);
    free(table);
}

static bool differ(Opened *o, Engine *other)
{
    char *table;
    const Exit found = verify(o, other, &table);
    free(table);
    return found == EXIT_DIFFERS;
}

/* ---- correct engines ------------------------------------------------------------------------- */

/* Products in double, rounded once. */
static void exact_product(const BlasProduct *p, float *c, const float *a, const float *b)
{
    for (int i = 0; i < p->m; i++)
        for (int j = 0; j < p->n; j++) {
            float *y = c + (long long)i * p->c_stride + j;
            const float *x = a + (long long)i * p->a_stride;
            const long long first = p->transposed ? (long long)j * p->b_stride : j;
            const long long stride = p->transposed ? 1 : p->b_stride;
            double sum = p->add ? *y : 0;
            for (int k = 0; k < p->k; k++) sum += (double)x[k] * b[first + k * stride];
            *y = (float)sum;
        }
}

static void check_right(const int *numbers, int n, bool cancels)
{
    int opened = 0;
    for (int i = 0; i < n; i++) {
        Opened o = open_spec(numbers[i]);
        if (o.model) {
            agree(&o, numbers[i], cancels);
            ((Generic *)o.generic->own)->product = exact_product;
            agree(&o, numbers[i], cancels);
            opened++;
        }
        close_spec(&o);
    }
    assert_true(4 * opened >= 3 * n);           /* some specs are rejected */
}

static void right_engines_agree(void **state)
{
    (void)state;
    check_right(cancelling, COUNT(cancelling), false);
    check_right(plain, COUNT(plain), false);
}

static void far_ones_are_judged_alone(void **state)
{
    (void)state;
    check_right(far, COUNT(far), true);
}

/* ---- an engine without taps ------------------------------------------------------------------ */

/* Compare jit and generic. `untapped`, which sums in double, stands for the jit without taps. */
static Exit verify_untapped(Opened *o, Engine *untapped, char **table)
{
    return verify_engines(o, (const VerifyEngine[]){ { o->jit, untapped, 0 }, { o->generic, NULL, 0 } }, table);
}

static Engine *open_untapped(Opened *o)
{
    const PlanOptions options = { .target = TARGET_ROW_MAJOR, .slots = 1, .max_threads = 1 };
    Engine *e = generic_open_plain(o->arena, plan_make(o->arena, o->generic->plan->graph, options), true);
    ((Generic *)e->own)->product = exact_product;
    return e;
}

/* Change the last tensor of the weights of `untapped` by 5 %. */
static void spoil(Opened *o, Engine *untapped)
{
    const TensorSource *t = &o->model->tensors[o->model->tensor_count - 1];
    const size_t n = (size_t)tensor_elements(t);
    float *values = arena_array(o->arena, n, sizeof *values);
    tensor_read(t, values);
    for (size_t i = 0; i < n; i++) values[i] *= i % 2 ? 1.05f : 0.95f;
    generic_set_weight(untapped, t->name, values);
}

/* An engine without taps cannot be followed. If its result cancels, it still agrees; a wrong result
 * does not, which only the first spec can show. */
static void engines_without_taps_agree(void **state)
{
    (void)state;
    for (int i = 0; i < COUNT(to_the_end); i++) {
        char *table;
        Opened o = open_spec(to_the_end[i]);
        Engine *untapped = open_untapped(&o);
        const Exit found = verify_untapped(&o, untapped, &table);
        const char *row = strstr(table, "no taps");
        assert_non_null(row);
        if (found != EXIT_DONE) fail_msg("spec %d: %s", to_the_end[i], row);
        assert_non_null(strstr(arena_copy(o.arena, row, strcspn(row, "\n")), "end to end"));
        free(table);
        spoil(&o, untapped);
        if (i == 0) assert_int_equal(verify_untapped(&o, untapped, &table), EXIT_DIFFERS), free(table);
        engine_close(untapped);
        close_spec(&o);
    }
}

/* ---- one weight ------------------------------------------------------------------------------ */

static bool is_table(const PackedTensor *t) { return t->packed->format == FORMAT_TABLE_F32; }

/* Scale the number with the largest magnitude by 1.01. False if all n are zero. */
static bool grow_largest(float *x, int64_t n)
{
    int64_t largest = 0;
    for (int64_t i = 0; i < n; i++)
        if (x[i] * x[i] > x[largest] * x[largest]) largest = i;
    x[largest] *= 1.01f;
    return x[largest] != 0;
}

/* Change one number of a matrix; in a table, whose rows are not all read, one number of each row.
 * False if nothing changes. */
static bool change(float *x, const PackedTensor *t)
{
    bool changed = false;
    if (!is_table(t)) return grow_largest(x, t->rows * t->columns);
    for (int64_t r = 0; r < t->rows; r++) changed |= grow_largest(x + r * t->columns, t->columns);
    return changed;
}

/* Check that comparison with the generic engine finds a fault in the jit. A fault may change
 * nothing, since a norm of width 1 or a relu can give only zeros; then the results must equal those
 * of the correct jit, by plain distance. */
static void check_wrong(Opened *o, const char *what, int number)
{
    if (differ(o, o->generic)) return;
    if (!o->right) o->right = jit_open(o->arena, o->diag, o->jit->plan, (EmitForm){ 0 }, 0);
    assert_non_null(o->right);
    if (differ(o, o->right)) fail_msg("spec %d: a fault in %s is not found", number, what);
}

/* Check that a number that is 1 % off in the jit's copy of a tensor is found. False if the jit has
 * no copy or nothing changes. */
static bool check_weight(Opened *o, const char *name, int number)
{
    int places;
    const PackedTensor *t = pack_find(o->arena, o->jit->plan, name, &places);
    if (!places) return false;
    unsigned char *data = jit_own_weights(o->jit);
    const size_t n = (size_t)(t->rows * t->columns);
    float *right = arena_array(o->arena, n, sizeof *right);
    float *wrong = arena_array(o->arena, n, sizeof *wrong);
    pack_get(data, t, right);
    memcpy(wrong, right, n * sizeof *wrong);
    if (!change(wrong, t)) return false;
    pack_put(data, t, wrong);
    check_wrong(o, name, number);
    pack_put(data, t, right);
    return true;
}

/* In each spec change one tensor in EVERY, starting at a different tensor from spec to spec, so
 * that all kinds occur. */
enum { EVERY = 12 };

static int check_weights(const int *numbers, int n)
{
    int changed = 0;
    for (int i = 0; i < n; i++) {
        Opened o = open_spec(numbers[i]);
        for (int k = i % EVERY; o.model && k < o.model->tensor_count; k += EVERY)
            changed += check_weight(&o, o.model->tensors[k].name, numbers[i]);
        close_spec(&o);
    }
    return changed;
}

static void one_percent_is_found(void **state)
{
    (void)state;
    assert_true(check_weights(cancelling, COUNT(cancelling)) > 400);
    assert_true(check_weights(plain, COUNT(plain)) > 100);
}

/* ---- one mask, two heads --------------------------------------------------------------------- */

/* Replace a string in the jit's C with another; false if the C does not contain it. */
static bool edit(Opened *o, const char *old, const char *new)
{
    const char *text = jit_text(o->jit), *at = strstr(text, old);
    if (!at) return false;
    const int before = (int)(at - text);
    const char *edited = arena_format(o->arena, "%.*s%s%s", before, text, new, at + strlen(old));
    assert_true(jit_recompile(o->arena, o->diag, o->jit, edited));
    return true;
}

/* Rows do not see their last key, unless it is the only one: in a decoder, in one source, in
 * several sources. */
static const char *const masks[][2] = {
    { "rt_rows_begin(&r, rows, n);", "rt_rows_begin(&r, rows, n);\n"
      "    for (int i = 0; status == RT_OK && i < n; i++) r.visible[i] = rows[i].pos + !rows[i].pos;" },
    { "visible[i] = n;", "visible[i] = n - (n > 1);" },
    { "visible[begin + i] = lengths[t];", "visible[begin + i] = lengths[t] - (lengths[t] > 1);" },
};

static void a_wrong_mask_is_found(void **state)
{
    (void)state;
    int found = 0;
    for (int i = 0; i < COUNT(cancelling); i += 2) {
        Opened o = open_spec(cancelling[i]);
        const Model *m = o.model;
        const bool longer = m->has_decoder ? m->max_target > 1 : m->max_source > 1;
        bool edited = false;
        for (int k = 0; k < COUNT(masks) && !edited; k++)
            edited = edit(&o, masks[k][0], masks[k][1]);
        assert_true(edited);
        if (longer) check_wrong(&o, "the mask", cancelling[i]);
        found += longer && differ(&o, o.generic);
        close_spec(&o);
    }
    assert_true(found > 20);
}

static const LayerFields *first_layer(const Model *m)
{
    return m->has_encoder ? &m->encoder.layer[0] : &m->decoder.layer[0];
}

/* In x[rows][columns], swap the columns of heads 0 and 1, each `width` wide, so that the linear
 * after the attention takes one head for the other. */
static void swap_heads(float *x, int64_t rows, int64_t columns, int64_t width)
{
    for (int64_t r = 0; r < rows; r++)
        for (int64_t i = 0; i < width; i++) {
            float *a = x + r * columns + i, *b = a + width, kept = *a;
            *a = *b;
            *b = kept;
        }
}

static void swapped_heads_are_found(void **state)
{
    (void)state;
    int swapped = 0;
    for (int i = 0; i < COUNT(cancelling); i += 2) {
        Opened o = open_spec(cancelling[i]);
        const LayerFields *l = first_layer(o.model);
        if (l->heads > 1 && l->kv_heads == l->heads) {
            const char *stack = o.model->has_encoder ? "encoder" : "decoder";
            const char *name = arena_format(o.arena, "%s.0.self_attn.out.weight", stack);
            int places;
            const PackedTensor *t = pack_find(o.arena, o.jit->plan, name, &places);
            assert_int_equal(places, 1);
            float *x = arena_array(o.arena, (size_t)(t->rows * t->columns), sizeof *x);
            unsigned char *data = jit_own_weights(o.jit);
            pack_get(data, t, x);
            swap_heads(x, t->rows, t->columns, l->value_dim);
            pack_put(data, t, x);
            check_wrong(&o, "the heads", cancelling[i]);
            swapped += differ(&o, o.generic);
        }
        close_spec(&o);
    }
    assert_true(swapped > 10);
}

/* ---- rounded weights ------------------------------------------------------------------------- */

/* If weights are rounded, the generic engine follows the other engine from the start: it takes over
 * that engine's values. The last result must be compared nevertheless. */
static void the_last_result_is_compared(void **state)
{
    (void)state;
    static const char *const names[] = { "encoder.norm.gain", "decoder.norm.gain",
                                         "output.weight" };
    int changed = 0;
    for (int i = 0; i < COUNT(plain); i++) {
        const bool has_dtype = strstr(random_spec((uint64_t)plain[i]), "dtype");
        Opened o = open_with(plain[i], has_dtype ? "" : "dtype = \"int8\", ");
        for (int k = 0; o.model && k < COUNT(names); k++)
            changed += check_weight(&o, names[k], plain[i]);
        close_spec(&o);
    }
    assert_true(changed > 20);
}

/* ---- caches ---------------------------------------------------------------------------------- */

/* An xf.graph whose rows come one at a time: the second run sees the keys of the first. */
static const char steps[] =
    "return xf.graph(\"steps\", function(g)"
    "  local x = g.input(\"X\", { 1, 4 })"
    "  local k, v = g.append(g.cache(\"K\", { 6, 4 }), x), g.append(g.cache(\"V\", { 6, 4 }), x)"
    "  g.output(\"Z\", (g.attention(x, k, v, { heads = 2 })))"
    " end)";

static void a_sequence_goes_on(void **state)
{
    (void)state;
    Opened o = open_text(0, steps);
    assert_non_null(o.model);
    assert_false(differ(&o, o.generic));
    assert_true(edit(&o, "*position += 1;", ""));
    assert_true(differ(&o, o.generic));
    close_spec(&o);
}

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
    (void)state;
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(right_engines_agree), cmocka_unit_test(engines_without_taps_agree),
        cmocka_unit_test(far_ones_are_judged_alone),
        cmocka_unit_test(one_percent_is_found),
        cmocka_unit_test(a_wrong_mask_is_found),
        cmocka_unit_test(swapped_heads_are_found),
        cmocka_unit_test(the_last_result_is_compared),
        cmocka_unit_test(a_sequence_goes_on),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
