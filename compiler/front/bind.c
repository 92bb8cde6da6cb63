/* bind.c: bind all tensors of a model to its weights file, and report missing and unused ones. */
#include "fields.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dtypes.h"
#include "family.h"
#include "front.h"
#include "bind_find.h"
#include "text.h"

/* ---- the file ------------------------------------------------------------------------------------------- */

/* List the unused tensors of the file; returns their number. Buffers, such as tables of sinusoids
 * (….pe), do not count. */
static int unused_names(const Finder *f, const char **names)
{
    const TensorFile *file = f->model->weight_file;
    int n = 0;
    for (int i = 0; i < file->count; i++) {
        const char *name = file->tensors[i].name;
        const bool buffer = f->family ? family_is_buffer(name) : finder_ends_with(name, ".pe") || !strcmp(name, "pe");
        if (!f->used[i] && !buffer) names[n++] = name;
    }
    return n;
}

static void tell_more(Finder *f, int count, const char *one, const char *several)
{
    int more = count - FINDER_MOST_TOLD;
    if (more == 1) diag_note(f->diag, (Loc){ 0 }, "and 1 more tensor %s", one);
    if (more > 1) diag_note(f->diag, (Loc){ 0 }, "and %d more tensors %s", more, several);
}

/* The prefix that the names of all missing tensors have in the file; NULL if there is none. */
static const char *common_prefix(Finder *f, const char *const *unused, int n)
{
    const char *prefix = NULL, *first = f->missing_count ? f->missing[0].file_name : NULL;
    for (int i = 0; first && i < n && !prefix; i++) {
        const size_t bytes = strlen(unused[i]) - strlen(first);
        if (finder_ends_with(unused[i], first) && bytes && unused[i][bytes - 1] == '.') prefix = arena_copy(f->arena, unused[i], bytes);
    }
    for (int i = 0; prefix && i < f->missing_count; i++)
        if (!tensor_file_find(f->model->weight_file, arena_format(f->arena, "%s%s", prefix, f->missing[i].file_name))) return NULL;
    return prefix;
}

/* The path of the file that lacks a tensor; *name receives the tensor's name there. With
 * head_weights, each linear of the head has its own file. */
static const char *place_of_missing(Finder *f, const TensorSource *t, const char **name)
{
    const TensorFile *file = f->model->weight_file;
    char *rest = NULL;
    *name = t->file_name;
    if (!f->model->head_weights.count || strncmp(t->name, "head.", 5)) return f->model->weights_path;
    const long i = strtol(t->name + 5, &rest, 10);
    if (*rest != '.' || i < 0 || i + 1 >= file->part_count) return f->model->weights_path;
    *name = arena_format(f->arena, "linear%s", rest);
    return file->parts[i + 1]->path;
}

static void tell_missing(Finder *f, const char *const *unused, int n)
{
    const char *prefix = common_prefix(f, unused, n);
    if (prefix) {
        diag_error(f->diag, EXIT_BAD_DATA, f->at, "tensor names in %s have the prefix \"%s\", as in \"%s%s\": save the tensors "
                   "without it", f->model->weights_path, prefix, prefix, f->missing[0].file_name);
        return;
    }
    for (int i = 0; i < f->missing_count && i < FINDER_MOST_TOLD; i++) {
        const TensorSource *t = &f->missing[i];
        const char *name, *path = place_of_missing(f, t, &name);
        const char *near = name == t->file_name ? diag_nearest(name, unused, n) : NULL, *found = near ? near : "";
        diag_error(f->diag, EXIT_BAD_DATA, f->at, "%s has no tensor \"%s\" %s%s%s%s", path, name,
                   shape_text(f->arena, t->shape, t->rank), near ? "; did you mean \"" : "", found, near ? "\"?" : "");
        if (f->missing_count == 1 && !strcmp(t->file_name, "lm_head.weight"))
            diag_note(f->diag, (Loc){ 0 },
                      "a folder saved by AutoModel has no output layer and cannot generate text");
    }
    tell_more(f, f->missing_count, "is missing", "are missing");
}

static void tell_unused(Finder *f, const char *const *unused, int n)
{
    enum { SHOWN = 3 };
    if (!n || diag_errors(f->diag)) return;
    Text t = text_new(f->arena);
    for (int i = 0; i < n && i < SHOWN; i++)
        text_printf(&t, "%s\"%s\"", i ? ", " : "", tensor_file_find(f->model->weight_file, unused[i])->file_name);
    diag_remark(f->diag, f->at, "%d tensor%s in %s %s not used: %s%s", n, n == 1 ? "" : "s",
                f->model->head_weights.count ? "the weights files" : f->model->weights_path,
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
    f->model->weights_used = f->used;
    f->model->weights_at = f->at;
}

/* The place of the field `weights`; none if an option names the file. */
static Loc weights_place(const Draft *draft)
{
    return draft->weights ? (Loc){ 0 } : draft_place(draft, SIDE_BOTH, FIELD_ID_weights);
}

bool model_open_weights(Arena *a, Diag *d, const Draft *draft, Model *m)
{
    const char *path = m->weights_path;
    if (!path || m->weight_file || (draft->sizes_only && access(path, F_OK) != 0)) return true;
    m->weight_file = weights_open(a, d, weights_place(draft), path);
    if (m->weight_file && family_of_word(m->names) && !tensor_file_unwrap(a, d, weights_place(draft), m->weight_file)) return false;
    if (m->weight_file && m->head_weights.count)
        m->weight_file = weights_with_linears(a, d, draft_place(draft, SIDE_BOTH, FIELD_ID_head_weights), m->weight_file, &m->head_weights);
    return m->weight_file != NULL;
}

/* Call this last: the array of tensors moves while it grows. */
static void map_names(Finder *f)
{
    Model *m = f->model;
    m->tensor_of = name_map_new(f->arena);
    for (int i = 0; i < m->tensor_count; i++) name_map_add(m->tensor_of, m->tensors[i].name, &m->tensors[i]);
}

void model_look_at_weights(Diag *d, Model *m)
{
    m->weights_finite = !m->weights_used || !weights_tell_strange(d, m->weights_at, m->weight_file, m->weights_used);
}

/* A graph may have all its values in the spec, so it may lack the field `weights`. */
void model_find_tensors(Arena *a, Diag *d, const Draft *draft, Model *m)
{
    Finder f = { .arena = a, .diag = d, .draft = draft, .model = m, .family = family_of_word(m->names) };
    f.at = weights_place(draft);
    if (!m->weights && !m->weights_path && !m->graph) {
        diag_error(d, EXIT_BAD_DATA, f.at, "the field weights is missing: expected a weights file or \"random\"");
        return;
    }
    m->weights_missing = draft->sizes_only && m->weights_path && access(m->weights_path, F_OK) != 0;
    m->random_weights = (m->weights && !m->weights_path) || m->weights_missing;
    if (!m->weights_path || m->random_weights) add_all(&f);
    else find_in_file(&f);
    map_names(&f);
}
