/* test_slices.c: Packing in slices on all processors gives the same bytes as packing each tensor as
 * a whole, in memory and as a stream. A stream stops when a write fails. Some rows of a tensor are
 * those of the whole. */
#include "plan_test.h"
#include "pack_parts.h"
#include "weights.h"

#include <stdlib.h>
#include <string.h>

/* Matrices of several slices with a partial last panel, tables, and a transposed matrix.
 * tests/front/test_tensor_source.c tests rows of other sources. */
static const char wide[] =
    "return xf.model { name = \"wide\", kind = \"decoder\", layers = 2, heads = 8, d_model = 1000, d_ff = 3001, vocab = 5003,"
    " max_target = 64, position = \"learned\", weights = \"random\" }";
static const char turned[] =
    "local w = {} for i = 1, 700 * 1100 do w[i] = (i * 7919 % 2003) / 1001 - 1 end\n"
    "return xf.graph(\"turned\", function(g)\n"
    "    g.output(\"z\", g.matmul(g.input(\"x\", { 2, 700 }), g.param(\"w\", { 700, 1100 }, w)))\n"
    "end)";

static unsigned char *by_tensor(const Plan *p, const PackEntry *e, int n)
{
    unsigned char *data = calloc(p->weights_bytes, 1);
    assert_non_null(data);
    for (int i = 0; i < n; i++) pack_tensor(data + e[i].offset, &e[i]);
    return data;
}

/* The bytes written so far. `most`: writes beyond it fail. `largest`: the largest write. */
typedef struct Sink { unsigned char *data; size_t size, most, largest; } Sink;

static bool take(void *user, const void *bytes, size_t n)
{
    Sink *s = user;
    if (n > s->largest) s->largest = n;
    if (s->size + n > s->most) return false;
    memcpy(s->data + s->size, bytes, n);
    s->size += n;
    return true;
}

static void compare(const char *spec, int dtype)
{
    Planned o = planned_open(spec);
    o.model->dtype = dtype;
    const Plan *p = planned_make(&o, TARGET_PANELS, false, 1);
    int n;
    const PackEntry *e = pack_entries(o.arena, p, &n);
    unsigned char *expected = by_tensor(p, e, n), *found = calloc(p->weights_bytes, 1);
    assert_non_null(found);
    pack_tensors(found, e, n);
    assert_memory_equal(found, expected, p->weights_bytes);
    memset(found, 255, p->weights_bytes);
    Sink s = { .data = found, .most = p->weights_bytes };
    assert_true(pack_stream(e, n, p->weights_bytes, take, &s));
    assert_int_equal(s.size, p->weights_bytes);
    assert_memory_equal(found, expected, p->weights_bytes);
    assert_true(s.largest <= (size_t)3 << 20);
    free(expected);
    free(found);
    planned_close(&o);
}

static void slices_have_the_bytes_of_the_whole(void **state)
{
    (void)state;
    for (int dtype = DTYPES_F32; dtype < DTYPES_FILE; dtype++) {
        compare(wide, dtype);
        compare(turned, dtype);
    }
}

static void a_stream_ends_where_it_cannot_be_written(void **state)
{
    (void)state;
    Planned o = planned_open(wide);
    const Plan *p = planned_make(&o, TARGET_PANELS, false, 1);
    int n;
    const PackEntry *e = pack_entries(o.arena, p, &n);
    const size_t places[] = { 0, 1, 5000000, p->weights_bytes - 1 };
    unsigned char *data = malloc(p->weights_bytes);
    assert_non_null(data);
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        Sink s = { .data = data, .most = places[i] };
        assert_false(pack_stream(e, n, p->weights_bytes, take, &s));
        assert_true(s.size <= places[i]);
    }
    free(data);
    planned_close(&o);
}

static void rows_of_a_tensor_are_those_of_the_whole(void **state)
{
    (void)state;
    Planned o = planned_open(wide);
    for (int i = 0; i < o.model->tensor_count; i++) {
        const TensorSource *t = &o.model->tensors[i];
        const int64_t all = tensor_elements(t), width = all / t->shape[0], first = t->shape[0] / 3, rows = t->shape[0] - first;
        TensorSource part;
        float *whole = calloc((size_t)all, sizeof *whole), *some = calloc((size_t)all, sizeof *some);
        assert_non_null(whole);
        assert_non_null(some);
        tensor_read(t, whole);
        assert_true(tensor_rows(t, first, rows, &part));
        tensor_read(&part, some);
        assert_memory_equal(some, whole + first * width, (size_t)(rows * width) * sizeof *some);
        free(whole);
        free(some);
    }
    planned_close(&o);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slices_have_the_bytes_of_the_whole),
        cmocka_unit_test(a_stream_ends_where_it_cannot_be_written),
        cmocka_unit_test(rows_of_a_tensor_are_those_of_the_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
