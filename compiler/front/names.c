/* names.c: a model's tensors by canonical name, found in its file under any accepted spelling, or made from a seed.
 *
 * A spelling is a pattern: (a|b) stands for one or the other. Each tensor's first spelling is the one that messages
 * name; its last is the canonical name itself. */
#include "fields.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "dtypes.h"
#include "family.h"
#include "front.h"
#include "names_find.h"
#include "text.h"

enum { MOST_TOLD = 3 };             /* of tensors with the same fault */

/* ---- spellings ------------------------------------------------------------------------------------------ */

/* Replace the first group of `pattern` by its alternative n; false when there is no such alternative. */
static bool choose(Text *t, const char *pattern, int n)
{
    const char *open = strchr(pattern, '('), *close = strchr(open, ')'), *word = open + 1;
    for (; n; n--) {
        word += strcspn(word, "|)");
        if (word == close) return false;
        word++;
    }
    text_add_bytes(t, pattern, (size_t)(open - pattern));
    text_add_bytes(t, word, strcspn(word, "|)"));
    text_add(t, close + 1);
    return true;
}

static const char *first_spelling(Arena *a, const char *pattern)
{
    while (strchr(pattern, '(')) {
        Text t = text_new(a);
        choose(&t, pattern, 0);
        pattern = t.data;
    }
    return pattern;
}

const TensorSource *finder_spelling(Finder *f, const char *pattern)
{
    if (!strchr(pattern, '(')) return tensor_file_find(f->model->weight_file, pattern);
    for (int n = 0;; n++) {
        Text t = text_new(f->arena);
        if (!choose(&t, pattern, n)) return NULL;
        const TensorSource *found = finder_spelling(f, t.data);
        if (found) return found;
    }
}

/* ---- one tensor ----------------------------------------------------------------------------------------- */

TensorSource *finder_append(Finder *f, TensorSource t)
{
    Model *m = f->model;
    if (m->tensor_count == f->room) {
        size_t bytes = sizeof t * (size_t)f->room, more = bytes ? bytes * 2 : 64 * sizeof t;
        m->tensors = arena_grow(f->arena, m->tensors, bytes, more);
        f->room = (int)(more / sizeof t);
    }
    m->tensors[m->tensor_count] = t;
    return &m->tensors[m->tensor_count++];
}

void finder_shape(TensorSource *t, int64_t rows, int64_t columns)
{
    t->rank = columns ? 2 : 1;
    t->shape[0] = rows;
    t->stride[0] = columns ? columns : 1;
    t->shape[1] = columns;
    t->stride[1] = columns ? 1 : 0;
}

void finder_missing(Finder *f, const TensorSource *t, const char *spelling)
{
    if (f->missing_count == f->missing_room) {
        size_t bytes = sizeof *t * (size_t)f->missing_room, more = bytes ? bytes * 2 : 16 * sizeof *t;
        f->missing = arena_grow(f->arena, f->missing, bytes, more);
        f->missing_room = (int)(more / sizeof *t);
    }
    f->missing[f->missing_count] = *t;
    f->missing[f->missing_count++].file_name = spelling;
}

static bool ends_with(const char *s, const char *end)
{
    size_t n = strlen(s), m = strlen(end);
    return n >= m && !strcmp(s + n - m, end);
}

/* Whether it is of a linear with a file of its own. */
static bool lies_beside(const Model *m, const char *name) { return m->head_weights.count && !strncmp(name, "head.", 5); }

static void tell_shape(Finder *f, const TensorSource *found, const int64_t *expected, int rank)
{
    if (f->differing++ < MOST_TOLD)
        diag_error(f->diag, EXIT_BAD_DATA, f->at, "tensor \"%s\" in %s has shape %s, expected %s", found->name,
                   lies_beside(f->model, found->name) ? found->file->path : f->model->weights_path,
                   shape_text(f->arena, found->shape, found->rank), shape_text(f->arena, expected, rank));
}

/* Whether tensor_read can make numbers of it. */
static bool is_readable(const TensorSource *t) { return dtype_is_float(t->dtype) || (t->dtype == DTYPE_I8 && t->group); }

static void take_from_file(Finder *f, TensorSource *t, const TensorSource *found)
{
    f->used[found - f->model->weight_file->tensors] = true;
    t->kind = SOURCE_FILE;
    t->file = found->file;
    t->file_name = found->name;
    t->offset = found->offset;
    t->start = found->start;
    t->dtype = found->dtype;
    t->group = found->group;
    t->scales = found->scales;
    if (!is_readable(found))
        diag_error(f->diag, EXIT_BAD_DATA, f->at, "tensor \"%s\" in %s holds %s numbers, expected F32, F16, BF16 or F64",
                   found->name, f->model->weights_path, found->dtype == DTYPE_OTHER ? "other" : dtype_name(found->dtype));
}

/* Of a table of positions the first rows are enough for a length that was asked for. */
static bool may_be_longer(const Finder *f, const TensorSource *t, const TensorSource *found)
{
    return f->draft->longest && ends_with(t->name, ".position.table") && found->rank == 2 && found->shape[0] >= t->shape[0]
        && found->shape[1] == t->shape[1];
}

/* As it lies in the file. */
void finder_take(Finder *f, TensorSource *t, const TensorSource *found)
{
    take_from_file(f, t, found);
    if (may_be_longer(f, t, found)) memcpy(t->stride, found->stride, sizeof t->stride);
    else if (t->rank == found->rank && !memcmp(t->shape, found->shape, sizeof *t->shape * (size_t)t->rank))
        memcpy(t->stride, found->stride, sizeof t->stride);
    else tell_shape(f, found, t->shape, t->rank);
}

/* ---- a family's names ------------------------------------------------------------------------------------ */

static const LayerFields *layer_of(const Model *m, const char *name, int64_t layer)
{
    const Stack *s = !strncmp(name, "encoder.", 8) ? &m->encoder : &m->decoder;
    return s->layers ? &s->layer[layer < s->layers ? layer : 0] : NULL;
}

/* Row 0 of a table of theirs, for every row of `t`. */
static void add_vector(Finder *f, TensorSource *t, const char *file)
{
    const char *spelling = family_spelling(f->arena, f->family, file, t->name, 0);
    const TensorSource *found = finder_spelling(f, spelling);
    if (!found) {
        finder_missing(f, t, first_spelling(f->arena, spelling));
        return;
    }
    TensorSource *v = arena_alloc(f->arena, sizeof *v);
    *v = (TensorSource){ .name = t->name, .rank = 1, .shape = { t->shape[1] } };
    take_from_file(f, v, found);
    if (found->rank != 2 || found->shape[1] != t->shape[1] || !found->shape[0])
        tell_shape(f, found, (const int64_t[]){ 1, t->shape[1] }, 2);
    v->stride[0] = found->stride[1];
    t->added = v;
}

/* A tensor by the rows of the family; what it does not have is missing under its own name. */
static void add_of_family(Finder *f, TensorSource *t)
{
    int64_t layer, expected[2];
    int rank;
    const char *own = family_own_name(f->arena, f->family, t->name);
    const FamilyTensor *row = family_tensor(f->arena, f->family, own, &layer);
    if (!row) {
        finder_missing(f, t, t->name);
        return;
    }
    const TensorSource *found = finder_tied(f, t->name);
    if (!found) {
        const char *spelling = family_spelling(f->arena, f->family, row->file, t->name, layer);
        finder_missing(f, t, first_spelling(f->arena, spelling));
        return;
    }
    take_from_file(f, t, found);
    if (row->added) add_vector(f, t, row->added);
    if (!family_view(row, layer_of(f->model, t->name, layer), found, t, expected, &rank)) tell_shape(f, found, expected, rank);
}

/* Numbers from the seed: Xavier for rank 2, uniform for biases, 1 and 0 for norms. */
void finder_random(const Finder *f, TensorSource *t, Role role, int64_t fan_in)
{
    static const SourceKind kinds[] = { [ROLE_WEIGHT] = SOURCE_XAVIER, [ROLE_BIAS] = SOURCE_UNIFORM,
        [ROLE_GAIN] = SOURCE_CONSTANT, [ROLE_NORM_BIAS] = SOURCE_CONSTANT };
    t->kind = kinds[role];
    t->seed = (uint64_t)f->model->seed;
    t->fan_in = fan_in;
    t->fan_out = t->shape[0];
    t->constant = role == ROLE_GAIN ? 1 : 0;
}

static void add_beside(Finder *f, TensorSource *t)
{
    const TensorSource *found = tensor_file_find(f->model->weight_file, t->name);
    if (found) finder_take(f, t, found);
    else finder_missing(f, t, t->name);
}

/* columns 0: a vector. fan_in: inputs of the linear that it belongs to. */
void finder_add(Finder *f, Role role, const char *name, const char *spellings, int64_t rows, int64_t columns, int64_t fan_in)
{
    TensorSource t = { .name = name, .dtype = DTYPE_F32 };
    finder_shape(&t, rows, columns);
    if (f->model->random_weights) {
        finder_random(f, &t, role, fan_in);
    } else if (lies_beside(f->model, name)) {
        add_beside(f, &t);
    } else if (f->family) {
        add_of_family(f, &t);
    } else {
        const TensorSource *found = finder_spelling(f, spellings);
        if (!found) found = tensor_file_find(f->model->weight_file, name);
        if (found) finder_take(f, &t, found);
        else finder_missing(f, &t, first_spelling(f->arena, spellings));
    }
    finder_append(f, t);
}

/* ---- the file ------------------------------------------------------------------------------------------- */

/* The tensors of the file that nothing uses; buffers, as those of sinusoids (….pe), do not count. */
static int unused_names(const Finder *f, const char **names)
{
    const TensorFile *file = f->model->weight_file;
    int n = 0;
    for (int i = 0; i < file->count; i++) {
        const char *name = file->tensors[i].name;
        const bool buffer = f->family ? family_is_buffer(name) : ends_with(name, ".pe") || !strcmp(name, "pe");
        if (!f->used[i] && !buffer) names[n++] = name;
    }
    return n;
}

static void tell_more(Finder *f, int count, const char *one, const char *several)
{
    int more = count - MOST_TOLD;
    if (more == 1) diag_note(f->diag, (Loc){ 0 }, "and 1 more tensor %s", one);
    if (more > 1) diag_note(f->diag, (Loc){ 0 }, "and %d more tensors %s", more, several);
}

static void tell_missing(Finder *f, const char *const *unused, int n)
{
    for (int i = 0; i < f->missing_count && i < MOST_TOLD; i++) {
        const TensorSource *t = &f->missing[i];
        const char *near = diag_nearest(t->file_name, unused, n), *found = near ? near : "";
        diag_error(f->diag, EXIT_BAD_DATA, f->at, "%s has no tensor \"%s\" %s%s%s%s", f->model->weights_path, t->file_name,
                   shape_text(f->arena, t->shape, t->rank), near ? "; did you mean \"" : "", found, near ? "\"?" : "");
    }
    tell_more(f, f->missing_count, "is missing", "are missing");
}

static void tell_unused(Finder *f, const char *const *unused, int n)
{
    enum { SHOWN = 3 };
    if (!n || diag_errors(f->diag)) return;
    Text t = text_new(f->arena);
    for (int i = 0; i < n && i < SHOWN; i++) text_printf(&t, "%s\"%s\"", i ? ", " : "", unused[i]);
    diag_remark(f->diag, f->at, "%d tensor%s of %s %s not used: %s%s", n, n == 1 ? "" : "s", f->model->weights_path,
                n == 1 ? "is" : "are", t.data, n > SHOWN ? ", …" : "");
}

static void add_all(Finder *f)
{
    const GraphSpec *g = f->model->graph;
    if (!g) finder_add_transformer(f);
    else finder_mark_matmuls(f);
    for (int i = 0; g && i < g->count; i++)
        if (!strcmp(g->calls[i].op, "param")) finder_add_param(f, &g->calls[i]);
}

static void find_in_file(Finder *f)
{
    if (!model_open_weights(f->arena, f->diag, f->draft, f->model)) return;
    size_t n = (size_t)f->model->weight_file->count;
    const char **unused = arena_array(f->arena, n, sizeof *unused);
    f->used = arena_array(f->arena, n, sizeof *f->used);
    if (f->family) finder_settle_tying(f);
    add_all(f);
    if (f->family) finder_mark_copies(f);
    if (f->family) finder_refuse_left_out(f);
    int count = unused_names(f, unused);
    tell_more(f, f->differing, "differs", "differ");
    tell_missing(f, unused, count);
    tell_unused(f, unused, count);
    if (!diag_errors(f->diag) && !f->draft->sizes_only) weights_tell_strange(f->diag, f->at, f->model->weight_file, f->used);
}

/* What names the file: the field `weights`, or nothing of the spec. */
static Loc weights_place(const Draft *draft)
{
    return draft->weights ? (Loc){ 0 } : draft_place(draft, SIDE_BOTH, FIELD_ID_weights);
}

bool model_open_weights(Arena *a, Diag *d, const Draft *draft, Model *m)
{
    const char *path = m->weights_path;
    if (!path || m->weight_file || (draft->sizes_only && access(path, F_OK) != 0)) return true;
    m->weight_file = weights_open(a, d, weights_place(draft), path);
    if (m->weight_file && m->head_weights.count)
        m->weight_file = weights_with_linears(a, d, draft_place(draft, SIDE_BOTH, FIELD_ID_head_weights), m->weight_file, &m->head_weights);
    return m->weight_file != NULL;
}

/* The map is made last: the array moves while it grows. */
static void map_names(Finder *f)
{
    Model *m = f->model;
    m->tensor_of = name_map_new(f->arena);
    for (int i = 0; i < m->tensor_count; i++) name_map_add(m->tensor_of, m->tensors[i].name, &m->tensors[i]);
}

/* A graph's params may bring their values along, so it needs no weights. */
void model_find_tensors(Arena *a, Diag *d, const Draft *draft, Model *m)
{
    Finder f = { .arena = a, .diag = d, .draft = draft, .model = m, .family = family_of_word(m->names) };
    f.at = weights_place(draft);
    if (!m->weights && !m->weights_path && !m->graph) {
        diag_error(d, EXIT_BAD_DATA, f.at, "weights is missing: a safetensors file, or \"random\"");
        return;
    }
    m->weights_missing = draft->sizes_only && m->weights_path && access(m->weights_path, F_OK) != 0;
    m->random_weights = (m->weights && !m->weights_path) || m->weights_missing;
    if (!m->weights_path || m->random_weights) add_all(&f);
    else find_in_file(&f);
    map_names(&f);
}
