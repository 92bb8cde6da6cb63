/* bind_model.c: add the tensors of a Transformer in order of use, with their spellings in files. */
#include "bind_find.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

typedef struct Place { const char *stack; int64_t layer; } Place;

#define format(f, ...) arena_format((f)->arena, __VA_ARGS__)

static void add_linear(Finder *f, const char *name, const char *spellings, int64_t out, int64_t in, bool bias)
{
    finder_add(f, ROLE_WEIGHT, format(f, "%s.weight", name), format(f, "%s.weight", spellings), out, in, in);
    if (bias) finder_add(f, ROLE_BIAS, format(f, "%s.bias", name), format(f, "%s.bias", spellings), out, 0, in);
}

/* With GAINS_ONE_PLUS the file stores gain - 1; random gains are 1 already. */
static void add_gain(Finder *f, const Stack *s, const char *name, const char *spellings, int64_t width)
{
    finder_add(f, ROLE_GAIN, name, spellings, width, 0, width);
    TensorSource *t = &f->model->tensors[f->model->tensor_count - 1];
    if (s->norm_gain == GAINS_ONE_PLUS && t->kind == SOURCE_FILE) t->plus = 1;
}

static void add_norm_of(Finder *f, const Stack *s, const char *name, const char *spellings, int64_t d)
{
    add_gain(f, s, format(f, "%s.gain", name), format(f, "%s.(a_2|a2|weight|gain)", spellings), d);
    if (s->norm != NORMS_RMS) finder_add(f, ROLE_NORM_BIAS, format(f, "%s.bias", name), format(f, "%s.(b_2|b2|bias)", spellings), d, 0, d);
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
    finder_shape(&t, length, stack_position_width(s, f->model->d_model));
    finder_append(f, t);
}

static void add_learned(Finder *f, const char *stack, const Stack *s, int64_t length)
{
    int64_t d = stack_position_width(s, f->model->d_model);
    finder_add(f, ROLE_WEIGHT, format(f, "%s.position.table", stack), format(f, "%s.position.(table|weight)", stack), length, d, d);
}

/* Add a table for each number above 0 in s->rotary, with the rates of the first layer that has that
 * number. */
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
        finder_shape(&t, length, l->rope_dims);
        finder_append(f, t);
    }
}

static void add_relative(Finder *f, const char *stack, const Stack *s, int64_t length)
{
    int64_t heads = s->layer[0].heads;
    finder_add(f, ROLE_WEIGHT, format(f, "%s.relative.table", stack), format(f, "%s.relative.(table|weight)", stack), s->rel_buckets, heads, heads);
    TensorSource *table = arena_alloc(f->arena, sizeof *table);
    *table = f->model->tensors[f->model->tensor_count - 1]; /* the array may move when it grows */
    TensorSource t = { .name = format(f, "%s.relative.bias", stack), .kind = SOURCE_DISTANCE, .dtype = DTYPE_F32, .table = table,
        .distance = (int)s->rel_distance,
        .both_ways = !strcmp(stack, "encoder") && !s->layer[0].causal };
    finder_shape(&t, heads, 2 * length - 1);
    finder_append(f, t);
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

/* Add the head of an encoder-only model. */
static void add_head(Finder *f)
{
    const Model *m = f->model;
    int64_t in = model_pooled_width(m);
    for (int i = 0; i < m->head_width.count; i++) {
        const int64_t out = m->head_width.value[i];
        const char *name = format(f, "head.%d", i);
        add_linear(f, name, name, out, in, model_head_value(&m->head_bias, i));
        if (model_head_value(&m->head_norm, i)) {
            finder_add(f, ROLE_GAIN, format(f, "%s.norm.gain", name), format(f, "%s.norm.(weight|gain)", name), out, 0, out);
            finder_add(f, ROLE_NORM_BIAS, format(f, "%s.norm.bias", name), format(f, "%s.norm.bias", name), out, 0, out);
        }
        in = out;
    }
    static const char own[] = "head.output.weight";
    if (m->head_own) finder_add(f, ROLE_WEIGHT, own, own, m->source_vocab, in, in);
    if (m->head_tied) finder_add(f, ROLE_BIAS, "head.output.bias", "head.output.bias", m->source_vocab, 0, in);
    if (!m->normalize) return;
    if (m->head_tied) in = m->source_vocab;
    TensorSource t = { .name = "head.normalize.gain", .kind = SOURCE_CONSTANT, .dtype = DTYPE_F32, .constant = (float)(1 / sqrt((double)in)),
        .computed = true };
    finder_shape(&t, in, 0);
    finder_append(f, t);
}

void finder_add_transformer(Finder *f)
{
    const Model *m = f->model;
    if (m->has_encoder) {
        const int64_t d = m->encoder.embed_width, sum = stack_position_width(&m->encoder, m->d_model);
        finder_add(f, ROLE_WEIGHT, "encoder.embed.table", "(src_embed|source_embed).(0.lut|lut|0).weight", m->source_vocab, d, d);
        if (m->token_types) finder_add(f, ROLE_WEIGHT, "encoder.types.table", "encoder.types.(table|weight)", m->token_types, sum, sum);
        add_positions(f, "encoder", &m->encoder, m->max_source);
        add_stack(f, "encoder", &m->encoder, false);
    }
    if (!m->has_decoder) {
        add_head(f);
        return;
    }
    const int64_t d = m->decoder.embed_width, out = stack_output_width(&m->decoder, m->d_model);
    finder_add(f, ROLE_WEIGHT, "decoder.embed.table", "(tgt_embed|target_embed).(0.lut|lut|0).weight", m->target_vocab, d, d);
    add_positions(f, "decoder", &m->decoder, m->max_target);
    add_stack(f, "decoder", &m->decoder, m->has_encoder);
    if (out != m->d_model) finder_add(f, ROLE_WEIGHT, "output.project.weight", "output.project.weight", out, m->d_model, m->d_model);
    if (!m->tied) finder_add(f, ROLE_WEIGHT, "output.weight", "generator.(proj|project).weight", m->target_vocab, out, out);
    if (m->output_bias) finder_add(f, ROLE_BIAS, "output.bias", "generator.(proj|project).bias", m->target_vocab, 0, d);
}
