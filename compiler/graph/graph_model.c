/* graph_model.c: build the Graph of a Transformer.
 *
 * Consecutive layers that have equal fields and are packed alike share one block. Values have the
 * names that `verify` and pictures show: encoder.0.self_attn.q, encoder.0.self_attn.weights,
 * encoder.0.ffn, encoder.0.norm.1, logits.
 *
 * The decoder is built for one row and, if a call may have several, once more for many rows. Both
 * share params, caches and inputs; the results of the second are named rows.NAME. */
#include "graph_make.h"
#include "graph_build.h"

#include <math.h>
#include <string.h>

/* A stack that is being built. */
typedef struct StackBuild {
    Maker *k;
    const Model *m;
    const Stack *stack;
    const char *prefix;             /* "encoder" or "decoder" */
    const char *suffix;             /* of the names of its blocks: "" or "_rows" */
    Count count;                    /* of its rows */
    Tensor *ids, *positions;        /* [rows] */
    Tensor *types;                  /* [rows]; NULL without token types */
    Tensor *visible;                /* [rows]: how many keys each row sees in self-attention */
    Tensor *seen;                   /* the same in an encoder's causal layers; NULL without any */
    Tensor *visible_memory;         /* [rows]: in cross-attention; NULL without a memory */
    bool cached;                    /* keeps keys and values from call to call: a decoder */
    int64_t rows;                   /* maximum number of rows at a time */
    int64_t capacity;               /* positions of its self-attention */
    int64_t most_rows;              /* of a decoder's largest program */
} StackBuild;

static const char *join(StackBuild *b, const char *name) { return arena_format(b->k->arena, "%s_%s%s", b->prefix, name, b->suffix); }

static Tensor *result(Node *n) { return n ? n->out[0] : NULL; }

static Tensor *linear(Maker *k, const char *name, const char *stem, Tensor *x, bool bias)
{
    Tensor *w = make_param(k, arena_format(k->arena, "%s.weight", stem));
    Tensor *b = bias ? make_param(k, arena_format(k->arena, "%s.bias", stem)) : NULL;
    return result(make_node(k, OP_LINEAR, name, x, w, b, NULL));
}

static Tensor *norm(StackBuild *b, const char *suffix, Tensor *x)
{
    Maker *k = b->k;
    const Node attributes = { .op = OP_NORM, .heads = 1, .kind = b->stack->norm, .eps = b->stack->norm_eps };
    Tensor *gain = make_param(k, arena_format(k->arena, "%s.gain", suffix));
    Tensor *bias = b->stack->norm == NORMS_RMS ? NULL : make_param(k, arena_format(k->arena, "%s.bias", suffix));
    Tensor *const in[NODE_INPUTS] = { x, gain, bias };
    return result(make_node_from(k, &attributes, suffix, in));
}

/* Normalise each head of queries or keys, if the layer has qk_norm. */
static Tensor *norm_heads(StackBuild *b, const LayerFields *f, const char *which, const char *suffix, Tensor *x, int64_t heads)
{
    if (!f->qk_norm) return x;
    const Node attributes = { .op = OP_NORM, .heads = (int)heads, .kind = NORMS_RMS, .eps = b->stack->norm_eps };
    Tensor *const in[NODE_INPUTS] = { x, make_param(b->k, which) };
    return result(make_node_from(b->k, &attributes, suffix, in));
}

/* most_rows: if attention reads the cache through a window, the most rows appended at once; else
 * 0. */
static Tensor *append(Maker *k, const char *suffix, Tensor *cache, Tensor *x, Tensor *positions, const LayerFields *f, bool values, int64_t most_rows)
{
    const Node attributes = { .op = OP_APPEND, .kv_heads = (int)f->kv_heads, .values = values, .window = most_rows ? f->window : 0,
                              .ring = most_rows ? f->window + most_rows - 1 : 0 };
    Tensor *const in[NODE_INPUTS] = { cache, x, positions };
    return result(make_node_from(k, &attributes, suffix, in));
}

/* The inputs of attention besides queries, keys and values, and its window. */
typedef struct Looks { Tensor *visible, *places, *positions, *bias; int64_t window; } Looks;

/* softmax(scale q k^T + bias) v, then the output linear; `place` is self_attn or cross_attn. */
static Tensor *attend(StackBuild *b, const LayerFields *f, const char *place, Tensor *q, Tensor *keys, Tensor *values, Looks looks)
{
    Maker *k = b->k;
    const Node attributes = { .op = OP_ATTENTION, .heads = (int)f->heads, .kv_heads = (int)f->kv_heads, .scale = f->attention_scale,
                              .softcap = f->attention_softcap, .window = looks.window };
    Tensor *const in[NODE_INPUTS] = { q, keys, values, looks.visible, looks.places, looks.positions, NULL, looks.bias };
    Node *n = make_node_from(k, &attributes, arena_format(k->arena, "%s.context", place), in);
    if (!n) return NULL;
    n->out[1]->name = make_result_name(k, arena_format(k->arena, "%s.weights", place));
    n->out[2]->name = make_result_name(k, arena_format(k->arena, "%s.scores", place));
    const char *out = arena_format(k->arena, "%s.out", place);
    return linear(k, out, out, n->out[0], f->out_bias);
}

/* Apply the layer's rotary embedding to queries or keys; returns x if it has none. */
static Tensor *rotate(StackBuild *b, const LayerFields *f, const char *suffix, Tensor *x, int64_t heads)
{
    const int number = b->stack->position == POSITIONS_ROTARY ? b->stack->rotary[f - b->stack->layer] : 0;
    if (!number) return x;
    const Node attributes = { .op = OP_ROTARY, .heads = (int)heads, .dims = (int)f->rope_dims,
                              .interleaved = f->rope_layout == ROTATIONS_INTERLEAVED };
    Tensor *table = make_global_param(b->k, rotary_table_name(b->k->arena, b->prefix, number));
    Tensor *const in[NODE_INPUTS] = { x, table, b->positions };
    return result(make_node_from(b->k, &attributes, suffix, in));
}

static Tensor *self_attention(StackBuild *b, const LayerFields *f, Tensor *x)
{
    Maker *k = b->k;
    Tensor *q = linear(k, "self_attn.q", "self_attn.q", x, f->qkv_bias);
    q = norm_heads(b, f, "self_attn.q_norm.weight", "self_attn.q_normed", q, f->heads);
    q = rotate(b, f, "self_attn.q_turned", q, f->heads);
    Tensor *keys = linear(k, "self_attn.k", "self_attn.k", x, f->qkv_bias);
    keys = norm_heads(b, f, "self_attn.k_norm.weight", "self_attn.k_normed", keys, f->kv_heads);
    keys = rotate(b, f, "self_attn.k_turned", keys, f->kv_heads);
    Tensor *values = linear(k, "self_attn.v", "self_attn.v", x, f->qkv_bias);
    Looks looks = { .visible = b->seen && f->causal ? b->seen : b->visible, .places = b->positions,
                    .window = f->window < b->capacity ? f->window : 0 };
    const bool both_sides = looks.window && !b->cached && !f->causal;
    if (both_sides) looks.positions = b->positions;
    if (position_is_relative(b->stack->position)) {
        looks.positions = b->positions;
        looks.bias = make_global_param(k, arena_format(k->arena, "%s.relative.bias", b->prefix));
    }
    if (b->cached) {                /* keep the keys and values of earlier steps */
        Tensor *k_cache = make_state(k, "self_attn.k_cache", b->capacity, COUNT_TARGET, f->kv_heads * f->head_dim);
        Tensor *v_cache = make_state(k, "self_attn.v_cache", b->capacity, COUNT_TARGET, f->kv_heads * f->value_dim);
        keys = append(k, "self_attn.keys", k_cache, keys, b->positions, f, false, looks.window ? b->most_rows : 0);
        values = append(k, "self_attn.values", v_cache, values, b->positions, f, true, looks.window ? b->most_rows : 0);
        looks.places = NULL;
    }
    return attend(b, f, "self_attn", q, keys, values, looks);
}

/* down(act(up x)), or gated: down(act(gate x) * up x). */
static Tensor *feed_forward(Maker *k, const LayerFields *f, Tensor *x)
{
    Tensor *gate = f->gated ? linear(k, "ffn.gate", "ffn.gate", x, f->ffn_bias) : NULL;
    Tensor *up = linear(k, "ffn.up", "ffn.up", x, f->ffn_bias);
    Tensor *const in[NODE_INPUTS] = { gate ? gate : up, gate ? up : NULL };
    const Node attributes = { .op = gate ? OP_GATE : OP_ACTIVATION, .kind = (int)f->activation };
    return linear(k, "ffn", "ffn.down", result(make_node_from(k, &attributes, "ffn.hidden", in)), f->ffn_bias);
}

/* Cross-attention over the keys and values that `encode` stored for this layer. */
static Tensor *cross_attention(StackBuild *b, const LayerFields *f, Tensor *x)
{
    Maker *k = b->k;
    Tensor *keys = make_state(k, "cross_attn.k_memory", b->m->max_source, COUNT_SOURCE, f->kv_heads * f->head_dim);
    Tensor *values = make_state(k, "cross_attn.v_memory", b->m->max_source, COUNT_SOURCE, f->kv_heads * f->value_dim);
    Tensor *q = linear(k, "cross_attn.q", "cross_attn.q", x, f->qkv_bias);
    return attend(b, f, "cross_attn", q, keys, values, (Looks){ .visible = b->visible_memory });
}

typedef enum Sublayer { SELF_ATTENTION, CROSS_ATTENTION, FEED_FORWARD } Sublayer;

static Tensor *sublayer_value(StackBuild *b, const LayerFields *f, Sublayer which, Tensor *x)
{
    switch (which) {
    case SELF_ATTENTION:  return self_attention(b, f, x);
    case CROSS_ATTENTION: return cross_attention(b, f, x);
    case FEED_FORWARD:    return feed_forward(b->k, f, x);
    }
    return NULL;
}

static const char *const parts[] = { [SELF_ATTENTION] = "self-attention", [CROSS_ATTENTION] = "cross-attention",
                                     [FEED_FORWARD] = "feed-forward" };

static Tensor *residual(Maker *k, int index, Tensor *x, Tensor *y)
{
    return result(make_node(k, OP_ADD, arena_format(k->arena, "residual.%d", index), x, y, NULL, NULL));
}

/* pre: x + f(norm(x)); post: norm(x + f(x)); both: x + norm_after(f(norm(x))). `index` numbers the
 * sublayer in its layer. */
static Tensor *sublayer(StackBuild *b, const LayerFields *f, Sublayer which, int index, Tensor *x)
{
    Maker *k = b->k;
    const char *norm_name = arena_format(k->arena, "norm.%d", index);
    const int place = (int)b->stack->norm_at;
    k->part = parts[which];
    Tensor *y = sublayer_value(b, f, which, place == NORM_PLACES_POST ? x : norm(b, norm_name, x));
    if (place == NORM_PLACES_BOTH) y = norm(b, arena_format(k->arena, "norm_after.%d", index), y);
    Tensor *sum = residual(k, index, x, y);
    return place == NORM_PLACES_POST ? norm(b, norm_name, sum) : sum;
}

/* x + attention(norm.0 x) + ffn(norm.1 x) */
static Tensor *parallel_sublayers(StackBuild *b, const LayerFields *f, Tensor *x)
{
    Maker *k = b->k;
    k->part = parts[SELF_ATTENTION];
    Tensor *attention = self_attention(b, f, norm(b, "norm.0", x));
    k->part = parts[FEED_FORWARD];
    Tensor *ffn = feed_forward(k, f, norm(b, "norm.1", x));
    return residual(k, 1, residual(k, 0, x, attention), ffn);
}

/* The output of a layer for x. */
static Tensor *sublayers(StackBuild *b, const LayerFields *f, Tensor *x)
{
    int index = 0;
    if (f->parallel) return parallel_sublayers(b, f, x);
    x = sublayer(b, f, SELF_ATTENTION, index++, x);
    if (b->visible_memory) x = sublayer(b, f, CROSS_ATTENTION, index++, x);
    return sublayer(b, f, FEED_FORWARD, index, x);
}

/* Make the input of a block, [rows][width]. It is also the block's result until that is set. */
static Tensor *carry(Maker *k, Block *block, int64_t rows, Count count, int64_t width)
{
    const Dim dim[2] = { { rows, count }, dim_constant(width) };
    Tensor *x = make_tensor(k, TENSOR_TEMP, arena_format(k->arena, "%s.x", block->name), 0, 2, dim);
    block->carry_in = block->carry_out = x;
    return x;
}

static Tensor *carry_stack(StackBuild *b, Block *block) { return carry(b->k, block, b->rows, b->count, b->m->d_model); }

/* Up to two programs that run the same blocks, such as `step` and `next`. */
typedef struct Programs { Program *list[2]; int count; } Programs;

static void run(Maker *k, const Programs *p, Block *block, int count)
{
    for (int i = 0; i < p->count; i++) make_run(k, p->list[i], block, 0, count);
}

/* Apply the linear between embeddings and layers of different widths, if the stack has it at this
 * place, PROJECTIONS_*; else return x. */
static Tensor *project(StackBuild *b, int place, Tensor *x)
{
    if (b->stack->embed_width == b->m->d_model || b->stack->embed_project != place) return x;
    return linear(b->k, "embed.project", "embed.project", x, place == PROJECTIONS_LAST);
}

static void embedding(StackBuild *b, const Programs *p)
{
    Maker *k = b->k;
    bool table = b->stack->position == POSITIONS_SINUSOIDAL || position_is_learned(b->stack->position);
    const char *plus = !b->types ? table ? ", plus positions" : "" : table ? ", plus token types and positions" : ", plus token types";
    const char *doc = arena_format(k->arena, "Token embeddings%s%s%s", b->stack->embed_scale == 1 ? "" : ", scaled", plus,
                                   b->stack->embed_norm ? ", normalised" : "");
    Block *block = make_block(k, join(b, "embedding"), doc, b->prefix, 0, NULL);
    const Node attributes = { .op = OP_EMBED, .scale = b->stack->embed_scale };
    Tensor *const in[NODE_INPUTS] = { make_param(k, "embed.table"), b->ids };
    Tensor *x = result(make_node_from(k, &attributes, "embed", in));
    if (x) x->dim[0].bound = b->rows;       /* shared inputs fit the largest program */
    x = project(b, PROJECTIONS_FIRST, x);
    if (b->types) x = result(make_node(k, OP_POSITION, "embed.types", x, make_param(k, "types.table"), b->types, NULL));
    if (table) x = result(make_node(k, OP_POSITION, "embed.position", x, make_param(k, "position.table"), b->positions, NULL));
    if (b->stack->embed_norm) x = norm(b, "embed.norm", x);
    block->carry_out = project(b, PROJECTIONS_LAST, x);
    run(k, p, block, 1);
}

/* The length of the run of layers from `first` that have equal fields and are packed alike. */
static int equal_layers(Arena *a, const Model *m, const Stack *s, int first)
{
    const char *name = s == &m->encoder ? "encoder" : "decoder";
    int n = 1;
    while (first + n < s->layers && layer_same(&s->layer[first], &s->layer[first + n]) &&
           model_layers_pack_alike(a, m, name, first, first + n)) n++;
    return n;
}

static int *layer_numbers(Maker *k, int first, int n)
{
    int *layer = arena_array(k->arena, (size_t)n, sizeof *layer);
    for (int i = 0; i < n; i++) layer[i] = first + i;
    return layer;
}

/* "encoder_layer", or "encoder_layer_3" for a later run of a stack whose layers differ. */
static const char *layer_name(StackBuild *b, const char *what, int first)
{
    return join(b, first ? arena_format(b->k->arena, "%s_%d", what, first) : what);
}

static const char *layer_doc(const StackBuild *b, const LayerFields *f)
{
    if (b->visible_memory)
        return "Causal self-attention, cross-attention and feed-forward, each with a residual";
    return b->cached || f->causal ? "Causal self-attention and feed-forward, each with a residual"
                                  : "Self-attention and feed-forward, each with a residual";
}

static void layers(StackBuild *b, const Programs *p)
{
    Maker *k = b->k;
    for (int first = 0, n; first < b->stack->layers; first += n) {
        n = equal_layers(k->arena, b->m, b->stack, first);
        const LayerFields *f = &b->stack->layer[first];
        Block *block = make_block(k, layer_name(b, "layer", first), layer_doc(b, f), arena_format(k->arena, "%s.{}", b->prefix), n,
                                  layer_numbers(k, first, n));
        block->carry_out = sublayers(b, f, carry_stack(b, block));
        run(k, p, block, n);
    }
}

/* The encoder's final norm. hidden: the result is the model's output, a copy if there is no norm.
 * NULL if there is no norm and `hidden` is false. */
static Tensor *encoder_end(StackBuild *b, const Programs *p, bool hidden)
{
    if (!b->stack->final_norm && !hidden) return NULL;
    Block *block = make_block(b->k, "encoder_end", b->stack->final_norm ? "The encoder's final norm" : "The encoder's output", b->prefix, 0, NULL);
    Tensor *x = carry_stack(b, block);
    if (b->stack->final_norm) block->carry_out = norm(b, "norm", x);
    else {
        Tensor *const in[NODE_INPUTS] = { x };
        block->carry_out = result(make_node_from(b->k, &(Node){ .op = OP_ACTIVATION }, "norm", in));
    }
    if (hidden && block->carry_out) block->carry_out->output = true;
    run(b->k, p, block, 1);
    return block->carry_out;
}

static Tensor *head_linear(StackBuild *b, int i, Tensor *x)
{
    Maker *k = b->k;
    const Model *m = b->m;
    const char *name = arena_format(k->arena, "head.%d", i);
    const int activation = (int)model_head_value(&m->head_activation, i);
    Tensor *w = make_global_param(k, arena_format(k->arena, "%s.weight", name));
    Tensor *bias = model_head_value(&m->head_bias, i) ? make_global_param(k, arena_format(k->arena, "%s.bias", name)) : NULL;
    x = result(make_node(k, OP_LINEAR, name, x, w, bias, NULL));
    if (activation) {
        Tensor *const in[NODE_INPUTS] = { x };
        x = result(make_node_from(k, &(Node){ .op = OP_ACTIVATION, .kind = activation }, arena_format(k->arena, "%s.active", name), in));
    }
    if (!model_head_value(&m->head_norm, i)) return x;
    const Node attributes = { .op = OP_NORM, .heads = 1, .kind = NORMS_LAYER, .eps = b->stack->norm_eps };
    Tensor *const in[NODE_INPUTS] = { x, make_global_param(k, arena_format(k->arena, "%s.norm.gain", name)),
                                      make_global_param(k, arena_format(k->arena, "%s.norm.bias", name)) };
    return result(make_node_from(k, &attributes, arena_format(k->arena, "%s.normed", name), in));
}

/* x / |x|, as an RMS norm whose gain is 1 / sqrt(width); zeros stay zeros. */
static Tensor *unit(Maker *k, Tensor *x)
{
    const Node attributes = { .op = OP_NORM, .heads = 1, .kind = NORMS_RMS, .eps = 1e-26 };
    Tensor *const in[NODE_INPUTS] = { x, make_global_param(k, "head.normalize.gain") };
    return result(make_node_from(k, &attributes, "unit", in));
}

/* The head of an encoder-only model: one vector with pooling, else one per row. It reads the hidden
 * states by name, not as carry_in, so they are kept. */
static void head(StackBuild *b, const Programs *p, Tensor *hidden)
{
    Maker *k = b->k;
    const Model *m = b->m;
    if (!hidden || !model_has_head(m)) return;
    const char *doc = model_pools(m) ? "One vector from the hidden states" : "The layers after the hidden states, row by row";
    Block *block = make_block(k, "head", doc, "", 0, NULL);
    Tensor *x = hidden;
    if (model_pools(m)) {
        Tensor *const in[NODE_INPUTS] = { hidden, b->visible };
        x = result(make_node_from(k, &(Node){ .op = OP_POOL, .parts = &m->pooling }, "pooled", in));
    }
    for (int i = 0; i < m->head_width.count; i++) x = head_linear(b, i, x);
    const char *vocabulary = m->head_own ? "head.output.weight" : "encoder.embed.table";
    if (m->head_tied)
        x = result(make_node(k, OP_LINEAR, "head.output", x, make_global_param(k, vocabulary),
                             make_global_param(k, "head.output.bias"), NULL));
    if (m->normalize) x = unit(k, x);
    if (x) {
        x->name = "vector";
        x->output = true;
    }
    block->carry_out = x;
    run(k, p, block, 1);
}

/* Store the cross-attention's keys and values for every decoder layer, as part of `encode`. */
static void memories(StackBuild *source, const Stack *decoder, const Programs *encode)
{
    Maker *k = source->k;
    for (int first = 0, n; first < decoder->layers; first += n) {
        n = equal_layers(k->arena, source->m, decoder, first);
        const LayerFields *f = &decoder->layer[first];
        const char *name = first ? arena_format(k->arena, "decoder_memory_%d", first) : "decoder_memory";
        Block *fill = make_block(k, name, "Keys and values of the cross-attention, once per source", "decoder.{}", n, layer_numbers(k, first, n));
        Tensor *x = carry_stack(source, fill);
        Tensor *k_memory = make_state(k, "cross_attn.k_memory", source->capacity, COUNT_SOURCE, f->kv_heads * f->head_dim);
        Tensor *v_memory = make_state(k, "cross_attn.v_memory", source->capacity, COUNT_SOURCE, f->kv_heads * f->value_dim);
        append(k, "cross_attn.keys", k_memory, linear(k, "cross_attn.k", "cross_attn.k", x, f->qkv_bias), source->positions, f, false, 0);
        append(k, "cross_attn.values", v_memory, linear(k, "cross_attn.v", "cross_attn.v", x, f->qkv_bias), source->positions, f, true, 0);
        run(k, encode, fill, n);
    }
}

static Tensor *scale_logits(StackBuild *b, Tensor *x)
{
    Tensor *const in[NODE_INPUTS] = { x };
    const Node attributes = { .op = OP_SCALE, .scale = b->m->logit_scale, .softcap = b->m->logit_softcap };
    Tensor *y = result(make_node_from(b->k, &attributes, "logits", in));
    if (x) x->alias_of = y;             /* both share a buffer */
    return y;
}

static Tensor *logits(StackBuild *b, const Programs *p)
{
    Maker *k = b->k;
    Block *block = make_block(k, join(b, "output"), b->stack->final_norm ? "Final norm and logits" : "Logits", "decoder", 0, NULL);
    Tensor *x = carry_stack(b, block);
    if (b->stack->final_norm) x = norm(b, "norm", x);
    if (stack_output_width(b->stack, b->m->d_model) != b->m->d_model)
        x = result(make_node(k, OP_LINEAR, "output.project", x, make_global_param(k, "output.project.weight"), NULL, NULL));
    Tensor *w = make_global_param(k, b->m->tied ? "decoder.embed.table" : "output.weight");
    Tensor *bias = b->m->output_bias ? make_global_param(k, "output.bias") : NULL;
    block->stem = "";
    const bool scaled = b->m->logit_softcap > 0 || b->m->logit_scale < 1 || b->m->logit_scale > 1;
    x = result(make_node(k, OP_LINEAR, scaled ? "logits.raw" : "logits", x, w, bias, NULL));
    block->carry_out = scaled ? scale_logits(b, x) : x;
    run(k, p, block, 1);
    return block->carry_out;
}

/* Add a last block that computes a program's result from the logits. */
static Tensor *tail(StackBuild *b, Program *p, OpKind op, const char *name, const char *doc, const char *value, const Tensor *like)
{
    Maker *k = b->k;
    Block *block = make_block(k, arena_format(k->arena, "%s%s", name, b->suffix), doc, "", 0, NULL);
    Tensor *x = carry(k, block, like->dim[0].bound, like->dim[0].count, like->dim[1].bound);
    Node *n = make_node(k, op, value, x, NULL, NULL, NULL);
    if (n) n->out[0]->output = true;
    block->carry_out = result(n);
    make_run(k, p, block, 0, 1);
    return result(n);
}

static Tensor *integers(Maker *k, const char *name, int64_t bound, Count count)
{
    return make_input(k, name, true, 1, &(Dim){ bound, count });
}

static bool any_causal(const Stack *s)
{
    for (int64_t n = 0; n < s->layers; n++)
        if (s->layer[n].causal) return true;
    return false;
}

static StackBuild encoder_build(Maker *k, const Model *m)
{
    StackBuild b = { .k = k, .m = m, .stack = &m->encoder, .prefix = "encoder", .suffix = "", .count = COUNT_SOURCE,
                     .rows = m->max_source, .capacity = m->max_source };
    b.ids = integers(k, "source.ids", m->max_source, COUNT_SOURCE);
    b.positions = integers(k, "source.positions", m->max_source, COUNT_SOURCE);
    b.visible = integers(k, "source.visible", m->max_source, COUNT_SOURCE);
    if (any_causal(&m->encoder)) b.seen = integers(k, "source.seen", m->max_source, COUNT_SOURCE);
    if (m->token_types) b.types = integers(k, "source.types", m->max_source, COUNT_SOURCE);
    return b;
}

static void encoder_programs(Maker *k, const Model *m)
{
    StackBuild b = encoder_build(k, m);
    const char *doc = m->has_decoder ? "turn a source into keys and values for cross-attention, in a slot"
                     : model_has_head(m) ? "turn a source into hidden states and the head's output"
                                         : "turn a source into hidden states";
    const Programs encode = { { make_program(k, PROGRAM_ENCODE, doc, COUNT_SOURCE) }, 1 };
    embedding(&b, &encode);
    layers(&b, &encode);
    Tensor *hidden = encoder_end(&b, &encode, !m->has_decoder);
    if (!m->has_decoder) head(&b, &encode, hidden);
    if (m->has_decoder) memories(&b, &m->decoder, &encode);
}

/* Add the decoder's blocks for b->rows rows to both programs, and a log-softmax to the first if the
 * model has one. Returns the logits. */
static Tensor *decoder_blocks(StackBuild *b, const Programs *p)
{
    embedding(b, p);
    layers(b, p);
    Tensor *y = logits(b, p);
    if (b->k->failed) return NULL;
    if (b->m->log_softmax) tail(b, p->list[0], OP_LOG_SOFTMAX, "log_probabilities", "Log-softmax of the logits", "log_probs", y);
    else y->output = true;          /* log_probs, if any, overwrite them */
    return y;
}

static void decoder_programs(Maker *k, const Model *m, int64_t rows)
{
    StackBuild b = { .k = k, .m = m, .stack = &m->decoder, .prefix = "decoder", .suffix = "", .count = COUNT_ROWS, .cached = true,
                     .rows = 1, .capacity = m->max_target, .most_rows = rows };
    b.ids = integers(k, "rows.ids", rows, COUNT_ROWS);
    b.positions = integers(k, "rows.positions", rows, COUNT_ROWS);
    b.visible = integers(k, "rows.visible", rows, COUNT_ROWS);
    if (m->has_encoder) b.visible_memory = integers(k, "rows.visible_memory", rows, COUNT_ROWS);
    const char *step = m->log_softmax ? "turn one decoder row into log-probabilities" : "turn one decoder row into logits";
    const Programs one = { { make_program(k, PROGRAM_STEP, step, COUNT_ROWS),
                             make_program(k, PROGRAM_NEXT, "find the most likely id after one decoder row",
                                          COUNT_ROWS) }, 2 };
    Tensor *y = decoder_blocks(&b, &one);
    if (k->failed) return;
    Tensor *next = tail(&b, one.list[1], OP_ARGMAX, "argmax", "The first maximum of the logits", "next_id", y);
    if (rows == 1) return;
    b.rows = rows;
    b.suffix = "_rows";
    k->prefix = "rows.";
    const char *decode = m->log_softmax ? "turn decoder rows into log-probabilities" : "turn decoder rows into logits";
    const Programs many = { { make_program(k, PROGRAM_DECODE, decode, COUNT_ROWS),
                              make_program(k, PROGRAM_DECODE_GREEDY,
                                           "find the most likely id after each decoder row",
                                           COUNT_ROWS) }, 2 };
    Tensor *all = decoder_blocks(&b, &many);
    Tensor *all_next = all ? tail(&b, many.list[1], OP_ARGMAX, "argmax", "The first maximum of each row's logits", "next_id", all) : NULL;
    k->prefix = NULL;
    if (all_next) y->alias_of = all, next->alias_of = all_next;
}

bool graph_transformer(Maker *k, const Model *m, int64_t rows)
{
    if (m->has_encoder) encoder_programs(k, m);
    if (m->has_decoder) decoder_programs(k, m, rows);
    return !k->failed;
}
