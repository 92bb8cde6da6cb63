/* families.c: the table of families, their rows by canonical name, and the views that rows
 * describe. */
#include "family.h"
#include "hf.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "text.h"

#define FAMILY(id, model_type, about) extern const Family family_##id;
#include "families.def"
#undef FAMILY

static const struct { const Family *family; const char *about; } families[] = {
    { NULL, "the names of xformc, of its documentation and of the Annotated Transformer" },
#define FAMILY(id, model_type, about) { &family_##id, about },
#include "families.def"
#undef FAMILY
};

const Family *family_of_word(int word)
{
    return families[word].family;
}

void families_print(FILE *to)
{
    int n;
    const char *const *names = field_words("families", &n);
    for (int i = 1; i < n; i++) fprintf(to, "%-14s %s\n", names[i], families[i].about);
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

/* True if `name` without its last word matches `pattern`, where {} is a number that *layer
 * receives. A pattern that ends in '!' is a whole name. */
static bool fits(const char *pattern, const char *name, int64_t *layer)
{
    const size_t n = strlen(pattern);
    const char *end = strrchr(name, '.');
    *layer = 0;
    if (pattern[n - 1] == '!') return strlen(name) == n - 1 && !memcmp(name, pattern, n - 1);
    if (!end) end = name + strlen(name);
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

const char *family_own_name(Arena *a, const Family *f, const char *name)
{
    const bool moved = f->kind == KIND_DECODER && !strncmp(name, "encoder.", 8);
    return moved ? arena_format(a, "decoder.%s", name + 8) : name;
}

const FamilyTensor *family_tensor(Arena *a, const Family *f, const char *name, int64_t *layer)
{
    for (int i = 0; i < f->tensor_count; i++)
        if (fits(f->tensors[i].name, name, layer)) return &f->tensors[i];
    return f->like ? family_tensor(a, f->like, name, layer) : NULL;
}

/* The pattern of the ending in the file, for the last word of the canonical name. */
static const char *ending(const char *name)
{
    const char *word = strrchr(name, '.');
    if (!strcmp(word, ".gain")) return ".(weight|gamma)";
    return strcmp(word, ".bias") ? ".weight" : ".(bias|beta)";
}

const char *family_spelling(Arena *a, const Family *f, const char *file, const char *name, int64_t layer)
{
    const char *from = file;
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
        ".rotary_emb.inv_freq", ".embed_positions.weights", ".embed_positions.weight",
        "decoder.block.0.layer.1.EncDecAttention.relative_attention_bias.weight", "rope_freqs.weight",
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

/* Returns the first row of the tensor in its fused matrix; *all receives that matrix's number of
 * rows. */
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

/* Strides of a stored tensor, in elements: to the next row and the next column. */
typedef struct Steps { int64_t row, column; } Steps;

/* View rows stored as [heads][3][head_dim]: q, k and v of each head. Returns the offset of the
 * first element. */
static int64_t view_heads(const LayerFields *l, TensorSource *t, Steps s)
{
    const int64_t d = l->head_dim, shape[] = { l->heads, d, t->shape[1] }, stride[] = { 3 * d * s.row, s.row, s.column };
    view(t, t->rank + 1, shape, stride);
    return (has_part(t, ".k") ? d : has_part(t, ".v") ? 2 * d : 0) * s.row;
}

/* View rows stored as [heads][half][2] as [heads][2][half]. */
static void view_pairs(const LayerFields *l, TensorSource *t, Steps s)
{
    const int64_t d = l->head_dim, shape[] = { t->shape[0] / d, 2, d / 2, t->shape[1] };
    const int64_t stride[] = { d * s.row, s.row, 2 * s.row, s.column };
    view(t, t->rank + 2, shape, stride);
}

static bool is_shape(const TensorSource *found, const int64_t *expected, int rank)
{
    const int skip = found->rank - rank;
    if (skip < 0) return false;
    for (int i = 0; i < skip; i++)
        if (found->shape[i] != 1) return false;
    return !memcmp(found->shape + skip, expected, sizeof *expected * (size_t)rank);
}

bool family_view(const FamilyTensor *row, const LayerFields *l, const TensorSource *found, TensorSource *t, int64_t expected[2], int *rank)
{
    const bool matrix = t->rank == 2, transposed = matrix && (row->cut == CUT_TRANSPOSED || row->cut == CUT_FUSED_TRANSPOSED);
    /* may have more rows than the model uses */
    const bool table = strstr(t->name, ".position.") != NULL;
    int64_t rows = t->shape[0], first = 0;
    if (row->cut == CUT_FUSED || row->cut == CUT_FUSED_TRANSPOSED) first = fused_rows(l, t, &rows);
    if (row->cut == CUT_FUSED_HEADS) rows = 3 * l->heads * l->head_dim;
    if (row->cut == CUT_ROWS_2) first = 2, rows += 2;
    if (table && found->rank == 2 && found->shape[0] > rows) rows = found->shape[0];
    *rank = t->rank;
    expected[0] = transposed ? t->shape[1] : rows;
    expected[1] = transposed ? rows : t->shape[1];
    if (!is_shape(found, expected, *rank)) return false;
    Steps s = { found->stride[found->rank - t->rank], matrix ? found->stride[found->rank - 1] : 0 };
    if (transposed) s = (Steps){ s.column, s.row };
    t->stride[0] = s.row;
    t->stride[1] = s.column;
    first *= s.row;
    if (row->cut == CUT_FUSED_HEADS) first = view_heads(l, t, s);
    if (row->cut == CUT_PAIRS) view_pairs(l, t, s);
    t->start = found->start + first;
    return true;
}
