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
#include "text.h"
#include "weights.h"

typedef enum Role { ROLE_WEIGHT, ROLE_BIAS, ROLE_GAIN, ROLE_NORM_BIAS } Role;

enum { MOST_TOLD = 3 };             /* of tensors with the same fault */

typedef struct Finder {
    Arena *arena;
    Diag *diag;
    const Draft *draft;
    Model *model;
    const Family *family;           /* whose names the file has; NULL for those in this file */
    Loc at;                         /* the field `weights`, or the call */
    bool *used;                     /* [weight_file->count] */
    bool *of_matmul;                /* of a graph's values: a matmul reads it as its weights */
    int differing;                  /* tensors of another shape than was expected */
    int room;
    TensorSource *missing;          /* those without a tensor in the file, told when all names are known */
    int missing_count, missing_room;
} Finder;

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

static const TensorSource *find_spelling(Finder *f, const char *pattern)
{
    if (!strchr(pattern, '(')) return tensor_file_find(f->model->weight_file, pattern);
    for (int n = 0;; n++) {
        Text t = text_new(f->arena);
        if (!choose(&t, pattern, n)) return NULL;
        const TensorSource *found = find_spelling(f, t.data);
        if (found) return found;
    }
}

/* ---- one tensor ----------------------------------------------------------------------------------------- */

static TensorSource *append(Finder *f, TensorSource t)
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

static void set_shape(TensorSource *t, int64_t rows, int64_t columns)
{
    t->rank = columns ? 2 : 1;
    t->shape[0] = rows;
    t->stride[0] = columns ? columns : 1;
    t->shape[1] = columns;
    t->stride[1] = columns ? 1 : 0;
}

static void keep_missing(Finder *f, const TensorSource *t, const char *spelling)
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
static void take_whole(Finder *f, TensorSource *t, const TensorSource *found)
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
    const TensorSource *found = find_spelling(f, spelling);
    if (!found) {
        keep_missing(f, t, first_spelling(f->arena, spelling));
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
    const FamilyTensor *row = family_tensor(f->arena, f->family, t->name, &layer);
    if (!row) {
        keep_missing(f, t, t->name);
        return;
    }
    const char *spelling = family_spelling(f->arena, f->family, row->file, t->name, layer);
    const TensorSource *found = find_spelling(f, spelling);
    if (!found) {
        keep_missing(f, t, first_spelling(f->arena, spelling));
        return;
    }
    take_from_file(f, t, found);
    if (row->added) add_vector(f, t, row->added);
    if (!family_view(row, layer_of(f->model, t->name, layer), found, t, expected, &rank)) tell_shape(f, found, expected, rank);
}

/* Numbers from the seed: Xavier for rank 2, uniform for biases, 1 and 0 for norms. */
static void make_random(const Finder *f, TensorSource *t, Role role, int64_t fan_in)
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
    if (found) take_whole(f, t, found);
    else keep_missing(f, t, t->name);
}

/* columns 0: a vector. fan_in: inputs of the linear that it belongs to. */
static void add(Finder *f, Role role, const char *name, const char *spellings, int64_t rows, int64_t columns, int64_t fan_in)
{
    TensorSource t = { .name = name, .dtype = DTYPE_F32 };
    set_shape(&t, rows, columns);
    if (f->model->random_weights) {
        make_random(f, &t, role, fan_in);
    } else if (lies_beside(f->model, name)) {
        add_beside(f, &t);
    } else if (f->family) {
        add_of_family(f, &t);
    } else {
        const TensorSource *found = find_spelling(f, spellings);
        if (!found) found = tensor_file_find(f->model->weight_file, name);
        if (found) take_whole(f, &t, found);
        else keep_missing(f, &t, first_spelling(f->arena, spellings));
    }
    append(f, t);
}

/* ---- the model's tensors, in order of use ---------------------------------------------------------------- */

typedef struct Place { const char *stack; int64_t layer; } Place;

#define format(f, ...) arena_format((f)->arena, __VA_ARGS__)

static void add_linear(Finder *f, const char *name, const char *spellings, int64_t out, int64_t in, bool bias)
{
    add(f, ROLE_WEIGHT, format(f, "%s.weight", name), format(f, "%s.weight", spellings), out, in, in);
    if (bias) add(f, ROLE_BIAS, format(f, "%s.bias", name), format(f, "%s.bias", spellings), out, 0, in);
}

/* Random ones are 1 as they are. */
static void add_gain(Finder *f, const Stack *s, const char *name, const char *spellings, int64_t width)
{
    add(f, ROLE_GAIN, name, spellings, width, 0, width);
    TensorSource *t = &f->model->tensors[f->model->tensor_count - 1];
    if (s->norm_gain == GAINS_ONE_PLUS && t->kind == SOURCE_FILE) t->plus = 1;
}

static void add_norm_of(Finder *f, const Stack *s, const char *name, const char *spellings, int64_t d)
{
    add_gain(f, s, format(f, "%s.gain", name), format(f, "%s.(a_2|a2|weight|gain)", spellings), d);
    if (s->norm != NORMS_RMS) add(f, ROLE_NORM_BIAS, format(f, "%s.bias", name), format(f, "%s.(b_2|b2|bias)", spellings), d, 0, d);
}

static void add_norm(Finder *f, const Stack *s, const char *name, const char *spellings)
{
    add_norm_of(f, s, name, spellings, f->model->d_model);
}

/* which: norm or norm_after */
static void add_layer_norm(Finder *f, Place p, const Stack *s, const char *which, int k)
{
    add_norm(f, s, format(f, "%s.%" PRId64 ".%s.%d", p.stack, p.layer, which, k),
             format(f, "%s.layers.%" PRId64 ".sublayer.%d.%s", p.stack, p.layer, k, which));
}

static void add_head_norm(Finder *f, Place p, const Stack *s, const char *which)
{
    const char *name = format(f, "%s.%" PRId64 ".self_attn.%s.weight", p.stack, p.layer, which);
    add_gain(f, s, name, format(f, "%s.layers.%" PRId64 ".self_attn.%s.weight", p.stack, p.layer, which), s->layer[p.layer].head_dim);
}

static void add_attention(Finder *f, Place p, const LayerFields *l, const char *block, const char *blocks)
{
    int64_t d = f->model->d_model, queries = l->heads * l->head_dim;
    int64_t keys = l->kv_heads * l->head_dim, values = l->kv_heads * l->value_dim;
    const char *name = format(f, "%s.%" PRId64 ".%s", p.stack, p.layer, block);
    const char *spellings = format(f, "%s.layers.%" PRId64 ".%s", p.stack, p.layer, blocks);
    add_linear(f, format(f, "%s.q", name), format(f, "%s.(linears.0|w_q|q)", spellings), queries, d, l->qkv_bias);
    add_linear(f, format(f, "%s.k", name), format(f, "%s.(linears.1|w_k|k)", spellings), keys, d, l->qkv_bias);
    add_linear(f, format(f, "%s.v", name), format(f, "%s.(linears.2|w_v|v)", spellings), values, d, l->qkv_bias);
    add_linear(f, format(f, "%s.out", name), format(f, "%s.(linears.3|w_o|out)", spellings), d, l->heads * l->value_dim, l->out_bias);
}

static void add_feed_forward(Finder *f, Place p, const LayerFields *l)
{
    int64_t d = f->model->d_model;
    const char *name = format(f, "%s.%" PRId64 ".ffn", p.stack, p.layer);
    const char *spellings = format(f, "%s.layers.%" PRId64 ".(feed_forward|ffn)", p.stack, p.layer);
    if (l->gated) add_linear(f, format(f, "%s.gate", name), format(f, "%s.gate", spellings), l->d_ff, d, l->ffn_bias);
    add_linear(f, format(f, "%s.up", name), format(f, "%s.(w_1|w1|up)", spellings), l->d_ff, d, l->ffn_bias);
    add_linear(f, format(f, "%s.down", name), format(f, "%s.(w_2|w2|down)", spellings), d, l->d_ff, l->ffn_bias);
}

enum { SUBLAYER_SELF, SUBLAYER_CROSS, SUBLAYER_FFN };

static void add_sublayer(Finder *f, Place p, const Stack *s, int sublayer, int k)
{
    const LayerFields *l = &s->layer[p.layer];
    if (s->norm_at != NORM_PLACES_POST) add_layer_norm(f, p, s, "norm", k);
    switch (sublayer) {
    case SUBLAYER_SELF:
        add_attention(f, p, l, "self_attn", "self_attn");
        if (l->qk_norm) add_head_norm(f, p, s, "q_norm");
        if (l->qk_norm) add_head_norm(f, p, s, "k_norm");
        break;
    case SUBLAYER_CROSS: add_attention(f, p, l, "cross_attn", "(src_attn|cross_attn)"); break;
    case SUBLAYER_FFN:   add_feed_forward(f, p, l); break;
    }
    if (s->norm_at == NORM_PLACES_POST) add_layer_norm(f, p, s, "norm", k);
    if (s->norm_at == NORM_PLACES_BOTH) add_layer_norm(f, p, s, "norm_after", k);
}

static void add_sinusoids(Finder *f, const char *stack, const Stack *s, int64_t length)
{
    TensorSource t = { .name = format(f, "%s.position.table", stack), .kind = SOURCE_SINUSOID, .dtype = DTYPE_F32,
        .layout = s->position_layout, .divisor = s->position_divisor, .first = (int)s->position_first };
    set_shape(&t, length, stack_position_width(s, f->model->d_model));
    append(f, t);
}

static void add_learned(Finder *f, const char *stack, const Stack *s, int64_t length)
{
    int64_t d = stack_position_width(s, f->model->d_model);
    add(f, ROLE_WEIGHT, format(f, "%s.position.table", stack), format(f, "%s.position.(table|weight)", stack), length, d, d);
}

/* A table for each of the numbers in s->rotary, of the first layer that has it. */
static void add_rotary(Finder *f, const char *stack, const Stack *s, int64_t length)
{
    int made = 0;
    for (int64_t n = 0; n < s->layers; n++) {
        const LayerFields *l = &s->layer[n];
        if (s->rotary[n] <= made) continue;
        made = s->rotary[n];
        float *rates = arena_array(f->arena, (size_t)l->rope_dims / 2, sizeof *rates);
        rotary_rates(l, rates);
        TensorSource t = { .name = rotary_table_name(f->arena, stack, made), .kind = SOURCE_ROTARY, .dtype = DTYPE_F32, .rates = rates,
            .constant = (float)l->rope_attention_factor };
        set_shape(&t, length, l->rope_dims);
        append(f, t);
    }
}

static void add_relative(Finder *f, const char *stack, const Stack *s, int64_t length)
{
    int64_t heads = s->layer[0].heads;
    add(f, ROLE_WEIGHT, format(f, "%s.relative.table", stack), format(f, "%s.relative.(table|weight)", stack), s->rel_buckets, heads, heads);
    TensorSource *table = arena_alloc(f->arena, sizeof *table);
    *table = f->model->tensors[f->model->tensor_count - 1];         /* the array may move when it grows */
    TensorSource t = { .name = format(f, "%s.relative.bias", stack), .kind = SOURCE_DISTANCE, .dtype = DTYPE_F32, .table = table,
        .distance = (int)s->rel_distance, .both_ways = !strcmp(stack, "encoder") };
    set_shape(&t, heads, 2 * length - 1);
    append(f, t);
}

static void add_positions(Finder *f, const char *stack, const Stack *s, int64_t length)
{
    if (s->position == POSITIONS_SINUSOIDAL) add_sinusoids(f, stack, s, length);
    if (s->position == POSITIONS_ROTARY) add_rotary(f, stack, s, length);
    if (position_is_learned(s->position)) add_learned(f, stack, s, length);
    if (position_is_relative(s->position)) add_relative(f, stack, s, length);
    const int64_t width = stack_position_width(s, f->model->d_model);
    if (s->embed_norm) add_norm_of(f, s, format(f, "%s.embed.norm", stack), format(f, "%s.embed.norm", stack), width);
    if (s->embed_width == f->model->d_model) return;
    const char *project = format(f, "%s.embed.project", stack);
    add_linear(f, project, project, f->model->d_model, s->embed_width, s->embed_project == PROJECTIONS_LAST);
}

static void add_stack(Finder *f, const char *stack, const Stack *s, bool cross)
{
    for (int64_t n = 0; n < s->layers; n++) {
        Place p = { stack, n };
        int k = 0;
        add_sublayer(f, p, s, SUBLAYER_SELF, k++);
        if (cross) add_sublayer(f, p, s, SUBLAYER_CROSS, k++);
        add_sublayer(f, p, s, SUBLAYER_FFN, k);
    }
    if (s->final_norm) add_norm(f, s, format(f, "%s.norm", stack), format(f, "%s.norm", stack));
}

/* Behind an encoder alone. */
static void add_head(Finder *f)
{
    const Model *m = f->model;
    int64_t in = model_pooled_width(m);
    for (int i = 0; i < m->head_width.count; i++) {
        const int64_t out = m->head_width.value[i];
        const char *name = format(f, "head.%d", i);
        add_linear(f, name, name, out, in, model_head_value(&m->head_bias, i));
        if (model_head_value(&m->head_norm, i)) {
            add(f, ROLE_GAIN, format(f, "%s.norm.gain", name), format(f, "%s.norm.(weight|gain)", name), out, 0, out);
            add(f, ROLE_NORM_BIAS, format(f, "%s.norm.bias", name), format(f, "%s.norm.bias", name), out, 0, out);
        }
        in = out;
    }
    if (m->head_tied) add(f, ROLE_BIAS, "head.output.bias", "head.output.bias", m->source_vocab, 0, in);
    if (!m->normalize) return;
    if (m->head_tied) in = m->source_vocab;
    TensorSource t = { .name = "head.normalize.gain", .kind = SOURCE_CONSTANT, .dtype = DTYPE_F32, .constant = (float)(1 / sqrt((double)in)),
        .computed = true };
    set_shape(&t, in, 0);
    append(f, t);
}

static void add_transformer(Finder *f)
{
    const Model *m = f->model;
    if (m->has_encoder) {
        const int64_t d = m->encoder.embed_width, sum = stack_position_width(&m->encoder, m->d_model);
        add(f, ROLE_WEIGHT, "encoder.embed.table", "(src_embed|source_embed).(0.lut|lut|0).weight", m->source_vocab, d, d);
        if (m->token_types) add(f, ROLE_WEIGHT, "encoder.types.table", "encoder.types.(table|weight)", m->token_types, sum, sum);
        add_positions(f, "encoder", &m->encoder, m->max_source);
        add_stack(f, "encoder", &m->encoder, false);
    }
    if (!m->has_decoder) {
        add_head(f);
        return;
    }
    const int64_t d = m->decoder.embed_width, out = stack_output_width(&m->decoder, m->d_model);
    add(f, ROLE_WEIGHT, "decoder.embed.table", "(tgt_embed|target_embed).(0.lut|lut|0).weight", m->target_vocab, d, d);
    add_positions(f, "decoder", &m->decoder, m->max_target);
    add_stack(f, "decoder", &m->decoder, m->has_encoder);
    if (out != m->d_model) add(f, ROLE_WEIGHT, "output.project.weight", "output.project.weight", out, m->d_model, m->d_model);
    if (!m->tied) add(f, ROLE_WEIGHT, "output.weight", "generator.(proj|project).weight", m->target_vocab, out, out);
    if (m->output_bias) add(f, ROLE_BIAS, "output.bias", "generator.(proj|project).bias", m->target_vocab, 0, d);
}

/* ---- a graph's params ------------------------------------------------------------------------------------ */

/* A matmul reads [in, out]; a file's NAME.weight is a linear's, [out, in]. */
static void mark_matmul_operands(Finder *f)
{
    const GraphSpec *g = f->model->graph;
    f->of_matmul = arena_array(f->arena, (size_t)g->values + 1, sizeof *f->of_matmul);
    for (int i = 0; i < g->count; i++) {
        const GraphCall *c = &g->calls[i];
        if (!strcmp(c->op, "matmul") && c->input_count > 1 && c->inputs[1] >= 0) f->of_matmul[c->inputs[1]] = true;
    }
}

static const char *lower(Arena *a, const char *s)
{
    char *copy = arena_text(a, s);
    for (char *p = copy; *p; p++)
        if (*p >= 'A' && *p <= 'Z') *p = (char)(*p - 'A' + 'a');
    return copy;
}

/* The file's tensor of that name as it is, or a linear's weight: w_q.weight for W_Q. */
static void find_param(Finder *f, const GraphCall *call, TensorSource *t)
{
    const TensorSource *found = tensor_file_find(f->model->weight_file, t->name);
    bool linear = !found && t->rank == 2;
    if (linear) found = find_spelling(f, format(f, "(%s|%s).weight", t->name, lower(f->arena, t->name)));
    if (!found) {
        keep_missing(f, t, t->name);
        return;
    }
    bool turned = linear && f->of_matmul[call->first_result];
    if (turned) set_shape(t, t->shape[1], t->shape[0]);
    take_whole(f, t, found);
    if (!turned) return;
    int64_t columns = t->shape[0];
    t->stride[0] = 1;
    t->stride[1] = t->shape[1];
    t->shape[0] = t->shape[1];
    t->shape[1] = columns;
}

static void add_param(Finder *f, const GraphCall *call)
{
    TensorSource t = { .name = call->name, .dtype = DTYPE_F32, .rank = call->rank, .values = call->values };
    int64_t stride = 1;
    for (int i = t.rank - 1; i >= 0; i--) {
        t.shape[i] = call->shape[i];
        t.stride[i] = stride;
        stride *= t.shape[i];
    }
    if (t.values && !f->draft->weights) t.kind = SOURCE_VALUES;
    else if (f->model->weight_file) find_param(f, call, &t);
    else make_random(f, &t, t.rank > 1 ? ROLE_WEIGHT : ROLE_BIAS, t.rank > 1 ? t.shape[1] : t.rank ? t.shape[0] : 1);
    append(f, t);
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
    if (!g) add_transformer(f);
    else mark_matmul_operands(f);
    for (int i = 0; g && i < g->count; i++)
        if (!strcmp(g->calls[i].op, "param")) add_param(f, &g->calls[i]);
}

/* Whether two tensors of the file hold the same bytes. */
static bool same_bytes(const TensorSource *a, const TensorSource *b)
{
    if (a->dtype != b->dtype || a->group || tensor_elements(a) != tensor_elements(b)) return false;
    if (a->file == b->file && a->offset == b->offset) return true;
    return !memcmp(a->file->map.data + a->offset, b->file->map.data + b->offset, (size_t)tensor_elements(a) * dtype_bytes(a->dtype));
}

static const TensorSource *find_of_family(Finder *f, const char *name)
{
    int64_t layer;
    const FamilyTensor *row = family_tensor(f->arena, f->family, name, &layer);
    return row ? find_spelling(f, family_spelling(f->arena, f->family, row->file, name, layer)) : NULL;
}

/* The file says whether the output layer is the embedding: its own tensor is used where there is one that differs. */
static void settle_tying(Finder *f)
{
    const TensorSource *head = find_of_family(f, "output.weight"), *embed = find_of_family(f, "decoder.embed.table");
    if (!head == !embed) f->model->tied = f->model->tied && (!head || same_bytes(head, embed));
    else f->model->tied = !head && (f->model->tied || f->family->tied);     /* of a family that has its own it is missing */
    if (f->model->tied && head) f->used[head - f->model->weight_file->tensors] = true;
}

static void find_in_file(Finder *f)
{
    if (!model_open_weights(f->arena, f->diag, f->draft, f->model)) return;
    size_t n = (size_t)f->model->weight_file->count;
    const char **unused = arena_array(f->arena, n, sizeof *unused);
    f->used = arena_array(f->arena, n, sizeof *f->used);
    if (f->family && f->model->has_decoder) settle_tying(f);
    add_all(f);
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
