/* verify_reference.c: compare every engine with tensors that another program computed, from a
 * safetensors file.
 *
 * The file has those of `source` and `target` that the model takes, and optionally `greedy` and
 * `second` (where the second text of a pair begins), as integers; all other tensors have their
 * names in the graph. A tensor that the model lacks is reported and counts as a difference; a wrong
 * shape is an error, not a distance. */
#include "verify_parts.h"

#include <inttypes.h>
#include <limits.h>
#include <string.h>

#include "dtypes.h"
#include "text.h"
#include "tolerance.h"
#include "weights.h"

typedef struct Ids { int *id; int n; } Ids;

typedef struct Reference {
    Verify *v;
    Arena *arena;                   /* for numbers and traces */
    TensorFile *file;
    const char *label;              /* the file name without folders */
    Ids source, target, greedy, second;
    int compared;
} Reference;

static Loc place(const Reference *r) { return (Loc){ .file = r->file->path }; }

/* ---- integers ------------------------------------------------------------------------------------------- */

static bool is_integer(DType t) { return t == DTYPE_I32 || t == DTYPE_I64; }

static int64_t integer_at(const TensorSource *t, int64_t i)
{
    const unsigned char *from = t->file->map.data + t->offset;
    int32_t narrow;
    int64_t wide;
    if (t->dtype == DTYPE_I32) {
        memcpy(&narrow, from + i * 4, sizeof narrow);
        return narrow;
    }
    memcpy(&wide, from + i * 8, sizeof wide);
    return wide;
}

/* Read the ids of tensor `name`; none if it is optional and absent. */
static bool read_ids(Reference *r, const char *name, bool needed, Ids *ids)
{
    Diag *d = r->v->diag;
    const TensorSource *t = tensor_file_find(r->file, name);
    if (!t && !needed) return true;
    if (!t) {
        diag_error(d, EXIT_BAD_DATA, place(r), "the file has no tensor \"%s\" with the input ids", name);
        return false;
    }
    if (t->rank != 1 || !is_integer(t->dtype) || t->shape[0] > INT_MAX) {
        diag_error(d, EXIT_BAD_DATA, place(r), "\"%s\" is a %d-dimensional tensor of %s, expected a 1-dimensional one of I32 or I64", name,
                   t->rank, dtype_name(t->dtype));
        return false;
    }
    *ids = (Ids){ arena_array(r->arena, (size_t)t->shape[0], sizeof(int)), (int)t->shape[0] };
    for (int i = 0; i < ids->n; i++) {
        int64_t id = integer_at(t, i);
        ids->id[i] = id < 0 || id > INT_MAX ? -1 : (int)id;
    }
    return true;
}

/* ---- tensors -------------------------------------------------------------------------------------------- */

/* Read a tensor, of a shape that same_shape accepted, as f32. */
static TraceTensor read_tensor(const Reference *r, const TensorSource *t)
{
    TraceTensor x = { .name = t->name, .rank = t->rank };
    memcpy(x.shape, t->shape, sizeof x.shape);
    x.values = arena_array(r->arena, (size_t)tensor_elements(t), sizeof *x.values);
    tensor_read(t, x.values);
    return x;
}

static const char *shape_of(Arena *a, const int64_t *shape, int rank)
{
    Text t = text_new(a);
    for (int i = 0; i < rank; i++) text_printf(&t, "%s%" PRId64, i ? ", " : "", shape[i]);
    return arena_format(a, "[%s]", t.data);
}

static bool same_shape(const Reference *r, const TensorSource *given, const char *name, const int64_t *shape, int rank)
{
    if (given->rank == rank && memcmp(given->shape, shape, (size_t)rank * sizeof *shape) == 0) return true;
    Arena *a = r->v->arena;
    diag_error(r->v->diag, EXIT_BAD_DATA, place(r), "\"%s\" is %s, but the model's is %s", name, shape_of(a, given->shape, given->rank),
               shape_of(a, shape, rank));
    return false;
}

/* False, after a reported error, if a tensor that is to be compared or given has no floating-point
 * numbers. */
static bool has_floats(const Reference *r, const TensorSource *given)
{
    if (dtype_is_float(given->dtype)) return true;
    diag_error(r->v->diag, EXIT_BAD_DATA, place(r), "\"%s\" is a tensor of %s, expected floating-point numbers", given->name,
               dtype_name(given->dtype));
    return false;
}

static void compare(Reference *r, const Subject *s, const TraceTensor *ours, const TensorSource *given, int order)
{
    if (!same_shape(r, given, ours->name, ours->shape, ours->rank)) return;
    const TraceTensor theirs = read_tensor(r, given);
    const double distance = trace_distance(ours, &theirs);
    const VerifyRow row = { .name = ours->name, .engine = s->label, .against = r->label, .order = order,
                            .distance = distance, .end_to_end = distance, .tolerance = model_tolerance_exact(r->v->model, ours->name) };
    table_add(&r->v->table, row);
    r->compared++;
}

static void compare_trace(Reference *r, const Subject *s, const Trace *t, int first)
{
    for (int i = 0; i < t->count; i++) {
        const TensorSource *given = tensor_file_find(r->file, t->tensors[i].name);
        if (given && has_floats(r, given)) compare(r, s, &t->tensors[i], given, first + i);
    }
}

/* ---- greedy --------------------------------------------------------------------------------------------- */

/* Set where the second text of the source begins, for the calls that follow. */
static void set_pair(const Reference *r, Engine *e) { engine_pair(e, r->second.n ? r->second.id[0] : 0, r->source.n); }

/* The share of ids that differ from the reference's, each generated from the one before. */
static double greedy_distance(const Reference *r, Engine *e)
{
    const Model *m = r->v->model;
    int id = (int)m->start_id, differing = 0;
    set_pair(r, e);
    const rt_status s = m->has_encoder ? e->ops->encode(e, 0, r->source.id, r->source.n) : e->ops->clear(e);
    e->second = 0;
    if (s) return 1;
    for (int i = 0; i < r->greedy.n; i++) {
        if (e->ops->next(e, id, &id)) return 1;
        differing += id != r->greedy.id[i];
    }
    return (double)differing / r->greedy.n;
}

static void compare_greedy(Reference *r, const Subject *s)
{
    const double distance = greedy_distance(r, s->engine);
    const VerifyRow row = { .name = "greedy", .engine = s->label, .against = r->label, .order = INT_MAX,
                            .distance = distance, .end_to_end = distance };
    table_add(&r->v->table, row);
    r->compared++;
}

/* ---- what the model is given ---------------------------------------------------------------------------- */

/* Check that the model has room for that many ids, and that each is in its vocabulary. */
static bool check_ids(const Reference *r, const char *name, const Ids *ids, int64_t most, int64_t vocabulary)
{
    Diag *d = r->v->diag;
    if (ids->n > most) {
        diag_error(d, EXIT_BAD_DATA, place(r), "\"%s\" has %d ids; the model has room for %" PRId64, name, ids->n, most);
        return false;
    }
    for (int i = 0; i < ids->n; i++) {
        if (ids->id[i] >= 0 && ids->id[i] < vocabulary) continue;
        diag_error(d, EXIT_BAD_DATA, place(r), "\"%s\": the id at position %d is not in the vocabulary, 0 to %" PRId64, name, i + 1, vocabulary - 1);
        return false;
    }
    return true;
}

static bool check_source(const Reference *r)
{
    const Model *m = r->v->model;
    if (r->source.n) return check_ids(r, "source", &r->source, m->max_source, m->source_vocab);
    diag_error(r->v->diag, EXIT_BAD_DATA, place(r), "\"source\" has no ids");
    return false;
}

static bool read_inputs(Reference *r)
{
    const Model *m = r->v->model;
    if (m->model_kind == KIND_GRAPH) return true;
    if (!read_ids(r, "source", m->has_encoder, &r->source) || !read_ids(r, "target", m->has_decoder, &r->target)
        || !read_ids(r, "greedy", false, &r->greedy) || !read_ids(r, "second", false, &r->second)) return false;
    if (m->has_encoder && !check_source(r)) return false;
    if (!m->has_decoder) return true;
    return check_ids(r, "target", &r->target, m->max_target, m->target_vocab) && check_ids(r, "greedy", &r->greedy, m->max_target, m->target_vocab);
}

/* Set the inputs of an xf.graph that the file has; the others keep the spec's numbers. */
static bool set_inputs(Reference *r, Engine *e)
{
    const Graph *g = e->plan->graph;
    engine_reset(e);
    for (int i = 0; i < g->tensor_count; i++) {
        const Tensor *t = g->tensors[i];
        const TensorSource *given = t->kind == TENSOR_INPUT && !t->integer ? tensor_file_find(r->file, t->name) : NULL;
        if (!given) continue;
        if (!has_floats(r, given)) return false;
        int64_t shape[MAX_RANK];
        for (int k = 0; k < t->rank; k++) shape[k] = t->dim[k].bound;
        if (!same_shape(r, given, t->name, shape, t->rank)) return false;
        const float *values = read_tensor(r, given).values;
        const char *fault = graph_value_fault(r->arena, t, values);
        if (fault) diag_error(r->v->diag, EXIT_BAD_DATA, place(r), "%s", fault);
        if (fault) return false;
        engine_set_input(e, t->name, values);
    }
    return true;
}

static Trace *run(Reference *r, const Subject *s)
{
    engine_forget(s->engine);
    if (r->v->model->model_kind == KIND_GRAPH)
        return set_inputs(r, s->engine) ? verify_trace_graph(r->v, r->arena, s) : NULL;
    set_pair(r, s->engine);
    Trace *t = verify_trace(r->v, r->arena, s, r->source.id, r->source.n, r->target.id, r->target.n);
    s->engine->second = 0;
    return t;
}

static bool is_ids(const char *name)
{
    return !strcmp(name, "second") || !strcmp(name, "source") || !strcmp(name, "target") || !strcmp(name, "greedy");
}

static const char *nearest_tensor(const Reference *r, const Trace *t, const char *name)
{
    const char **names = arena_array(r->arena, (size_t)t->count + 1, sizeof *names);
    for (int i = 0; i < t->count; i++) names[i] = t->tensors[i].name;
    return diag_nearest(name, names, t->count);
}

/* Report the tensors of the file that the model does not have, so that nobody assumes that they
 * were compared. */
static void mention_unknown(const Reference *r, const Trace *t)
{
    enum { NAMED = 10 };
    Text names = text_new(r->v->arena);
    int n = 0;
    for (int i = 0; i < r->file->count; i++) {
        const char *name = r->file->tensors[i].name;
        if (is_ids(name) || trace_find(t, name) || model_tensor(r->v->model, name) || n++ >= NAMED) continue;
        const char *near = nearest_tensor(r, t, name);
        text_printf(&names, "%s%s", n > 1 ? ", " : "", name);
        if (near) text_printf(&names, " (did you mean %s?)", near);
    }
    r->v->unknown = n;
    if (n) diag_remark(r->v->diag, place(r), "the model does not have %d of the file's tensors: %s%s", n, names.data,
                       n > NAMED ? ", …" : "");
}

static bool compare_all(Reference *r)
{
    const Trace *longest = NULL;
    for (int i = 0; i < r->v->subject_count; i++) {
        const Subject *s = &r->v->subjects[i];
        const Trace *t = run(r, s);
        if (!t) return false;
        if (!longest || t->count > longest->count) longest = t;
        /* A trace without taps has only the outputs: sort them with the last tensors of one with
         * taps. */
        compare_trace(r, s, t, s->tapped ? 0 : longest->count - t->count);
        if (r->greedy.n) compare_greedy(r, s);
    }
    mention_unknown(r, longest);
    if (r->compared || diag_errors(r->v->diag)) return true;
    diag_error(r->v->diag, EXIT_BAD_DATA, place(r), "the file has no tensor that can be compared with the "
               "model's");
    return false;
}

static const char *without_folders(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static bool open_reference(Verify *v, Reference *r)
{
    const char *path = v->options->against;
    TensorFile *file = safetensors_open(v->arena, v->diag, (Loc){ 0 }, path);
    if (!file) return false;
    *r = (Reference){ .v = v, .arena = arena_new(), .file = file, .label = arena_text(v->arena, without_folders(path)) };
    return true;
}

static void close_reference(Reference *r)
{
    arena_free(r->arena);
    tensor_file_close(r->file);
}

bool verify_reference(Verify *v)
{
    Reference r;
    if (!open_reference(v, &r)) return false;
    bool good = read_inputs(&r) && compare_all(&r);
    close_reference(&r);
    return good;
}

bool verify_reference_fits(Arena *a, Diag *d, const Model *m, const char *against)
{
    const VerifyOptions options = { .against = against };
    Verify v = { .arena = a, .diag = d, .model = m, .options = &options };
    Reference r;
    if (!open_reference(&v, &r)) return false;
    bool good = read_inputs(&r);
    close_reference(&r);
    return good;
}
