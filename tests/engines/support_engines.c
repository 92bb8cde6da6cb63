/* support_engines.c: open specs for the tests of this folder. */
#include "engine_test.h"
#include "front.h"
#include "weights.h"

#include <string.h>

const char *const golden_names[] = { "one_head", "one_layer", "dv_ne_dk", "length_one", "longest", "padding", "pre_annotated",
                                     "post_annotated", "pre_layer", "post_layer", "post_final", "awkward", "halves", NULL };

const char *golden_reference(Arena *a, const char *name) { return arena_format(a, "tests/goldens/%s.ref.safetensors", name); }

static Engine *open_generic(Opened *o, bool taps)
{
    const PlanOptions options = { .target = TARGET_ROW_MAJOR, .taps = taps, .slots = 1, .max_threads = 1 };
    return generic_open(o->arena, o->diag, plan_make(o->arena, o->graph, options), NULL);
}

Opened open_spec(const char *path)
{
    Arena *a = arena_new();
    Opened o = { .arena = a, .diag = diag_new(a) };
    int n;
    const OpName *ops = graph_builder_ops(&n);
    o.model = model_read(a, o.diag, path, ops, n, NULL);
    if (o.model) o.graph = graph_build(a, o.diag, o.model, 8);
    diag_print(o.diag, stderr, false);
    assert_non_null(o.graph);
    graph_check(o.graph);
    o.tapped = open_generic(&o, true);
    o.plain = open_generic(&o, false);
    return o;
}

Opened open_golden(const char *name)
{
    char path[200];
    snprintf(path, sizeof path, "tests/goldens/%s.lua", name);
    return open_spec(path);
}

void close_spec(Opened *o)
{
    engine_close(o->tapped);
    engine_close(o->plain);
    model_close(o->model);
    arena_free(o->arena);
}

Ids read_ids(Arena *a, const TensorFile *f, const char *name)
{
    const TensorSource *t = tensor_file_find(f, name);
    assert_non_null(t);
    assert_int_equal(t->dtype, DTYPE_I32);
    assert_int_equal(t->rank, 1);
    Ids ids = { arena_array(a, (size_t)t->shape[0], sizeof(int)), (int)t->shape[0] };
    memcpy(ids.id, f->map.data + t->offset, (size_t)ids.n * sizeof(int));
    return ids;
}
