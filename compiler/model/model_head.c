/* model_head.c: the head of an encoder-only model: pooling, linears, normalization. */
#include "fields.h"

#include <inttypes.h>
#include <string.h>

#include "rt.h"

bool model_has_head(const Model *m)
{
    return model_pools(m) || m->head_width.count || m->head_tied || m->normalize;
}

bool model_pools(const Model *m) { return m->pooling.count && m->pooling.value[0] != POOLINGS_NONE; }

int64_t model_head_value(const FieldList *list, int i) { return list->value[i % list->count]; }

int64_t model_pooled_width(const Model *m) { return m->d_model * (model_pools(m) ? m->pooling.count : 1); }

/* The values of a LIST field: the spec's choice, else the default. */
static FieldList list_of(Arena *a, const Draft *draft, FieldId id)
{
    const Choice *c = draft_choice(draft, SIDE_BOTH, id);
    const int n = c ? c->count : fields[id].has_default;
    int64_t *values = arena_array(a, (size_t)n + 1, sizeof *values);
    const char **texts = arena_array(a, (size_t)n + 1, sizeof *texts);
    for (int i = 0; i < n; i++) {
        const FieldValue v = c ? c->values[i] : field_preset(&fields[id]);
        values[i] = v.integer;
        texts[i] = v.text;
    }
    return (FieldList){ n, values, texts };
}

static const FieldId of_head[] = { FIELD_ID_pooling, FIELD_ID_normalize, FIELD_ID_head_width, FIELD_ID_head_activation, FIELD_ID_head_bias,
                                   FIELD_ID_head_norm, FIELD_ID_head_weights, FIELD_ID_head_tied, FIELD_ID_labels, FIELD_ID_label_scores,
                                   FIELD_ID_similarity, FIELD_ID_pairs, FIELD_ID_mask_id };
enum { OF_HEAD = sizeof of_head / sizeof *of_head };

/* Check that a list has no more values than there are linears. */
static bool check_length(Diag *d, const Draft *draft, FieldId id, const FieldList *list, int most)
{
    const Choice *c = draft_choice(draft, SIDE_BOTH, id);
    if (!c || list->count <= most) return true;
    diag_error(d, EXIT_BAD_DATA, c->at, "%s lists %d value%s; head_width lists %d", fields[id].name, list->count,
               list->count == 1 ? "" : "s", most);
    return false;
}

/* Check that there is one label per number of a single vector. */
static void check_labels(Diag *d, const Draft *draft, const Model *m, int64_t width)
{
    const Loc at = draft_place(draft, SIDE_BOTH, FIELD_ID_labels);
    if (!m->labels.count) return;
    if (!model_pools(m)) diag_error(d, EXIT_BAD_DATA, at, "labels needs a single vector: "
                                    "set pooling to \"cls\", \"mean\" or another mode that gives one");
    else if (m->labels.count != width)
        diag_error(d, EXIT_BAD_DATA, at, "labels lists %d name%s; the model returns %" PRId64 " number%s", m->labels.count,
                   m->labels.count == 1 ? "" : "s", width, width == 1 ? "" : "s");
    else if (m->normalize) diag_error(d, EXIT_BAD_DATA, at, "labels and normalize cannot be combined: normalize would change the scores");
}

int64_t model_vector_width(const Model *m)
{
    const int n = m->head_width.count;
    return m->head_tied ? m->source_vocab : n ? m->head_width.value[n - 1] : model_pooled_width(m);
}

void model_fill_lists(Arena *a, const Draft *draft, Model *m)
{
    for (int i = 0; i < FIELD_COUNT; i++)
        if (fields[i].scope == SCOPE_LIST) *(FieldList *)((char *)m + fields[i].offset) = list_of(a, draft, (FieldId)i);
}

void model_check_head(Diag *d, const Draft *draft, Model *m)
{
    for (int i = 0; m->model_kind != KIND_ENCODER && i < OF_HEAD; i++) {
        const Choice *c = draft_choice(draft, SIDE_BOTH, of_head[i]);
        if (!c) continue;
        diag_error(d, EXIT_BAD_DATA, c->at, "%s needs kind = \"encoder\"", fields[of_head[i]].name);
        return;
    }
    if (m->pooling.count > RT_POOL_PARTS) {
        diag_error(d, EXIT_BAD_DATA, draft_place(draft, SIDE_BOTH, FIELD_ID_pooling), "pooling lists %d values; at most %d are allowed",
                   m->pooling.count, RT_POOL_PARTS);
        return;
    }
    for (int i = 0; m->pooling.count > 1 && i < m->pooling.count; i++) {
        if (m->pooling.value[i] != POOLINGS_NONE) continue;
        diag_error(d, EXIT_BAD_DATA, draft_place(draft, SIDE_BOTH, FIELD_ID_pooling),
                   "pooling \"none\" cannot be combined with other modes");
        return;
    }
    const int n = m->head_width.count;
    if (!check_length(d, draft, FIELD_ID_head_activation, &m->head_activation, n) || !check_length(d, draft, FIELD_ID_head_bias, &m->head_bias, n) ||
        !check_length(d, draft, FIELD_ID_head_norm, &m->head_norm, n)) return;
    if (m->head_weights.count && m->head_weights.count != n) {
        diag_error(d, EXIT_BAD_DATA, draft_place(draft, SIDE_BOTH, FIELD_ID_head_weights), "head_weights lists %d file%s; head_width lists %d",
                   m->head_weights.count, m->head_weights.count == 1 ? "" : "s", n);
        return;
    }
    const int64_t last = n ? m->head_width.value[n - 1] : model_pooled_width(m);
    if (m->head_tied && last != m->encoder.embed_width)
        diag_error(d, EXIT_BAD_DATA, draft_place(draft, SIDE_BOTH, FIELD_ID_head_tied),
                   "head_tied needs vectors of width %s (%" PRId64 "), but its input has width %" PRId64,
                   m->encoder.embed_width == m->d_model ? "d_model" : "embed_width", m->encoder.embed_width, last);
    check_labels(d, draft, m, model_vector_width(m));
    if (m->mask_id < 0) return;
    const Loc at = draft_place(draft, SIDE_BOTH, FIELD_ID_mask_id);
    if (!m->head_tied || model_pools(m) || m->normalize)
        diag_error(d, EXIT_BAD_DATA, at, "mask_id needs a masked language model: head_tied "
                   "without pooling or normalize");
    else if (m->mask_id >= m->source_vocab)
        diag_error(d, EXIT_BAD_DATA, at, "mask_id (%" PRId64 ") is outside the vocabulary of %" PRId64 " ids", m->mask_id, m->source_vocab);
}
