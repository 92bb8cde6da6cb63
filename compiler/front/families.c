/* families.c: families.def as a table; a family's rows by canonical name, and the views that they stand for. */
#include "family.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "text.h"

#define FAMILY(id, model_type, about) extern const Family family_##id;
#include "families.def"
#undef FAMILY

static const struct { const Family *family; const char *about; } families[] = {
    { NULL, "the names of xformc, of documents and of the Annotated Transformer" },
#define FAMILY(id, model_type, about) { &family_##id, about },
#include "families.def"
#undef FAMILY
};

const Family *family_of_word(int word)
{
    return families[word].family;
}

const char *family_about(int word)
{
    return families[word].about;
}

static void apply_settings(Arena *a, Draft *draft, const Family *f)
{
    if (!f) return;
    apply_settings(a, draft, f->like);
    for (int i = 0; i < f->setting_count; i++)
        draft_set_number(a, draft, f->settings[i].side, f->settings[i].field, draft->at, f->settings[i].number);
}

void family_apply(Arena *a, Draft *draft, int word)
{
    draft_set_number(a, draft, SIDE_BOTH, FIELD_ID_names, draft->at, word);
    draft_set_number(a, draft, SIDE_BOTH, FIELD_ID_kind, draft->at, family_of_word(word)->kind);
    apply_settings(a, draft, family_of_word(word));
}

/* ---- names ---------------------------------------------------------------------------------------------- */

/* Whether `name` up to its last word is `pattern`, with a number in the place of {}. */
static bool fits(const char *pattern, const char *name, int64_t *layer)
{
    const char *end = strrchr(name, '.');
    if (!end) end = name + strlen(name);
    *layer = 0;
    for (; *pattern; pattern++) {
        if (pattern[0] == '{' && pattern[1] == '}') {
            char *after;
            if (*name < '0' || *name > '9') return false;
            *layer = strtoll(name, &after, 10);
            name = after;
            pattern++;
        } else if (name >= end || *pattern != *name++) {
            return false;
        }
    }
    return name == end;
}

const FamilyTensor *family_tensor(Arena *a, const Family *f, const char *name, int64_t *layer)
{
    for (int i = 0; i < f->tensor_count; i++)
        if (fits(f->tensors[i].name, name, layer)) return &f->tensors[i];
    return f->like ? family_tensor(a, f->like, name, layer) : NULL;
}

/* What stands behind the last point of a name in their files. */
static const char *ending(const char *name)
{
    const char *word = strrchr(name, '.');
    if (!strcmp(word, ".gain")) return ".(weight|gamma)";
    return strcmp(word, ".bias") ? ".weight" : ".(bias|beta)";
}

const char *family_spelling(Arena *a, const Family *f, const FamilyTensor *row, const char *name, int64_t layer)
{
    const char *from = row->file;
    while (!f->prefix && f->like) f = f->like;
    Text t = text_new(a);
    if (*from == '/') from++;
    else if (f->prefix) text_add(&t, f->prefix);
    for (; *from && *from != '!'; from++)
        if (from[0] == '{' && from[1] == '}') text_printf(&t, "%" PRId64, layer), from++;
        else text_add_bytes(&t, from, 1);
    if (*from != '!') text_add(&t, ending(name));
    return t.data;
}

bool family_is_buffer(const char *name)
{
    static const char *const buffers[] = {
        ".position_ids", ".token_type_ids", ".attn.bias", ".attn.masked_bias", ".attention.bias", ".attention.masked_bias",
        ".rotary_emb.inv_freq", ".embed_positions.weights", "decoder.block.0.layer.1.EncDecAttention.relative_attention_bias.weight",
    };
    const size_t n = strlen(name);
    for (size_t i = 0; i < sizeof buffers / sizeof *buffers; i++) {
        const size_t m = strlen(buffers[i]);
        if (n >= m && !strcmp(name + n - m, buffers[i])) return true;
    }
    return false;
}

/* ---- views ---------------------------------------------------------------------------------------------- */

static bool has_part(const TensorSource *t, const char *part)
{
    const char *found = strstr(t->name, part);
    return found && found[strlen(part)] == '.';
}

/* The rows of the stored matrix before ours, and in all. */
static int64_t fused_rows(const LayerFields *l, const TensorSource *t, int64_t *all)
{
    const int64_t q = l->heads * l->head_dim, k = l->kv_heads * l->head_dim, v = l->kv_heads * l->value_dim;
    const bool ffn = has_part(t, ".gate") || has_part(t, ".up");
    *all = ffn ? 2 * l->d_ff : q + k + v;
    if (has_part(t, ".up")) return l->d_ff;
    return has_part(t, ".k") ? q : has_part(t, ".v") ? q + k : 0;
}

static void view(TensorSource *t, int rank, const int64_t *shape, const int64_t *stride)
{
    t->view_rank = rank;
    memcpy(t->view_shape, shape, (size_t)rank * sizeof *shape);
    memcpy(t->view_stride, stride, (size_t)rank * sizeof *stride);
}

/* Of each head its q, k and v: rows [heads][3][head_dim]. */
static int64_t view_heads(const LayerFields *l, TensorSource *t, int64_t columns)
{
    const int64_t d = l->head_dim, shape[] = { l->heads, d, columns }, stride[] = { 3 * d * columns, columns, 1 };
    view(t, 3, shape, stride);
    return (has_part(t, ".k") ? d : has_part(t, ".v") ? 2 * d : 0) * columns;
}

/* Rows [heads][half][2] as [heads][2][half]. */
static void view_pairs(const LayerFields *l, TensorSource *t, int64_t columns)
{
    const int64_t d = l->head_dim, shape[] = { t->shape[0] / d, 2, d / 2, columns }, stride[] = { d * columns, columns, 2 * columns, 1 };
    view(t, 4, shape, stride);
}

static void turn(TensorSource *t, int64_t stored_columns)
{
    t->stride[0] = 1;
    t->stride[1] = stored_columns;
}

static bool is_shape(const TensorSource *found, const int64_t *expected, int rank)
{
    int skip = found->rank - rank;
    if (skip < 0) return false;
    for (int i = 0; i < skip; i++)
        if (found->shape[i] != 1) return false;
    return !memcmp(found->shape + skip, expected, sizeof *expected * (size_t)rank);
}

bool family_view(const FamilyTensor *row, const LayerFields *l, const TensorSource *found, TensorSource *t, int64_t expected[2], int *rank)
{
    const bool matrix = t->rank == 2;
    const int64_t columns = matrix ? t->shape[1] : 1;
    int64_t rows = t->shape[0], first = 0;
    Cut cut = row->cut;
    if (cut == CUT_FUSED || cut == CUT_FUSED_TURNED) first = fused_rows(l, t, &rows);
    if (cut == CUT_FUSED_HEADS) rows = 3 * l->heads * l->head_dim;
    if (cut == CUT_ROWS_2) first = 2, rows += 2;
    *rank = t->rank;
    expected[0] = rows;
    expected[1] = columns;
    if (matrix && (cut == CUT_TURNED || cut == CUT_FUSED_TURNED)) expected[0] = columns, expected[1] = rows;
    const bool table = strstr(t->name, ".position.") != NULL;           /* may be longer than the model is to be */
    int64_t stored = expected[0];
    if (table && found->rank == 2 && found->shape[0] > stored) stored = found->shape[0];
    if (!is_shape(found, (const int64_t[]){ stored, expected[1] }, *rank)) return false;
    switch (cut) {
    case CUT_WHOLE: break;
    case CUT_FUSED: case CUT_ROWS_2: first *= columns; break;
    case CUT_TURNED: case CUT_FUSED_TURNED: if (matrix) turn(t, rows); break;
    case CUT_FUSED_HEADS: first = view_heads(l, t, columns); break;
    case CUT_PAIRS: if (matrix) view_pairs(l, t, columns); break;
    }
    t->start = found->start + first;
    return true;
}
