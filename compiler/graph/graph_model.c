/* graph_model.c: a Model's layers as blocks of nodes.
 *
 * A stack is a list of runs of equal layers: layers whose fields agree share one block. Names of values are those
 * that `verify` and pictures use: encoder.0.self_attn.q, …weights, encoder.0.ffn, encoder.0.norm.1, logits. */
#include "graph_make.h"
#include "graph_build.h"

#include <math.h>
#include <string.h>

/* What both stacks of a model are built from. */
typedef struct StackBuild {
    Maker *k;
    const Model *m;
    const Stack *stack;
    const char *prefix;             /* "encoder" or "decoder" */
    Count count;                    /* of its rows */
    Tensor *ids, *positions;        /* [rows] */
    Tensor *visible;                /* [rows]: keys that each row sees in self-attention */
    Tensor *visible_memory;         /* [rows]: in cross-attention; decoder only */
    int64_t rows;                   /* most rows at once */
    int64_t capacity;               /* positions of its self-attention */
} StackBuild;

static const char *join(StackBuild *b, const char *suffix) { return arena_format(b->k->arena, "%s_%s", b->prefix, suffix); }

static Tensor *result(Node *n) { return n ? n->out[0] : NULL; }

static Tensor *linear(Maker *k, const char *name, const char *stem, Tensor *x)
{
    Tensor *w = make_param(k, arena_format(k->arena, "%s.weight", stem));
    Tensor *b = make_param(k, arena_format(k->arena, "%s.bias", stem));
    return result(make_node(k, OP_LINEAR, name, x, w, b, NULL));
}

static Tensor *norm(StackBuild *b, const char *suffix, Tensor *x)
{
    Maker *k = b->k;
    const Node attributes = { .op = OP_NORM, .kind = b->stack->norm, .eps = b->stack->norm_eps };
    Tensor *const in[5] = { x, make_param(k, arena_format(k->arena, "%s.gain", suffix)),
                            make_param(k, arena_format(k->arena, "%s.bias", suffix)), NULL };
    return result(make_node_from(k, &attributes, suffix, in));
}

static Tensor *append(Maker *k, const char *suffix, Tensor *cache, Tensor *x, Tensor *positions, const LayerFields *f, bool values)
{
    const Node attributes = { .op = OP_APPEND, .kv_heads = (int)f->heads, .values = values };
    Tensor *const in[5] = { cache, x, positions, NULL };
    return result(make_node_from(k, &attributes, suffix, in));
}

/* softmax(q k^T / sqrt(d_k)) v, then the output linear; `place` is self_attn or cross_attn. */
static Tensor *attend(StackBuild *b, const LayerFields *f, const char *place, Tensor *q, Tensor *keys, Tensor *values, Tensor *visible,
                      Tensor *places)
{
    Maker *k = b->k;
    const Node attributes = { .op = OP_ATTENTION, .heads = (int)f->heads, .kv_heads = (int)f->heads,
                              .scale = 1 / sqrt((double)f->head_dim) };
    Tensor *const in[5] = { q, keys, values, visible, places };
    Node *n = make_node_from(k, &attributes, arena_format(k->arena, "%s.context", place), in);
    if (!n) return NULL;
    n->out[1]->name = make_name(k, arena_format(k->arena, "%s.weights", place));
    n->out[2]->name = make_name(k, arena_format(k->arena, "%s.scores", place));
    const char *out = arena_format(k->arena, "%s.out", place);
    return linear(k, out, out, n->out[0]);
}

static Tensor *self_attention(StackBuild *b, const LayerFields *f, Tensor *x)
{
    Maker *k = b->k;
    Tensor *q = linear(k, "self_attn.q", "self_attn.q", x);
    Tensor *keys = linear(k, "self_attn.k", "self_attn.k", x);
    Tensor *values = linear(k, "self_attn.v", "self_attn.v", x);
    if (b->visible_memory) {        /* a decoder keeps the keys and values of earlier steps */
        Tensor *k_cache = make_state(k, "self_attn.k_cache", b->capacity, COUNT_TARGET, f->heads * f->head_dim);
        Tensor *v_cache = make_state(k, "self_attn.v_cache", b->capacity, COUNT_TARGET, f->heads * f->value_dim);
        keys = append(k, "self_attn.keys", k_cache, keys, b->positions, f, false);
        values = append(k, "self_attn.values", v_cache, values, b->positions, f, true);
    }
    return attend(b, f, "self_attn", q, keys, values, b->visible, b->positions);
}

static Tensor *feed_forward(Maker *k, const LayerFields *f, Tensor *x)
{
    Tensor *up = linear(k, "ffn.up", "ffn.up", x);
    Tensor *const in[5] = { up };
    Tensor *hidden = result(make_node_from(k, &(Node){ .op = OP_ACTIVATION, .kind = (int)f->activation }, "ffn.hidden", in));
    return linear(k, "ffn", "ffn.down", hidden);
}

/* The cross-attention's keys and values, which the block decoder_memory has stored for this layer. */
typedef struct Memory { Tensor *keys, *values; } Memory;

typedef enum Sublayer { SELF_ATTENTION, CROSS_ATTENTION, FEED_FORWARD } Sublayer;

static Tensor *sublayer_value(StackBuild *b, const LayerFields *f, Sublayer which, const Memory *memory, Tensor *x)
{
    switch (which) {
    case SELF_ATTENTION: return self_attention(b, f, x);
    case CROSS_ATTENTION:
        return attend(b, f, "cross_attn", linear(b->k, "cross_attn.q", "cross_attn.q", x), memory->keys, memory->values,
                      b->visible_memory, NULL);
    case FEED_FORWARD: return feed_forward(b->k, f, x);
    }
    return NULL;
}

/* pre: x + f(norm(x)); post: norm(x + f(x)). `index` numbers the sublayer in its layer. */
static Tensor *sublayer(StackBuild *b, const LayerFields *f, Sublayer which, int index, const Memory *memory, Tensor *x)
{
    Maker *k = b->k;
    const char *norm_name = arena_format(k->arena, "norm.%d", index);
    const char *sum_name = arena_format(k->arena, "residual.%d", index);
    static const char *const parts[] = { [SELF_ATTENTION] = "self-attention", [CROSS_ATTENTION] = "cross-attention",
                                         [FEED_FORWARD] = "feed-forward" };
    bool pre = b->stack->norm_at == NORM_PLACES_PRE;
    k->part = parts[which];
    Tensor *y = sublayer_value(b, f, which, memory, pre ? norm(b, norm_name, x) : x);
    Tensor *sum = result(make_node(k, OP_ADD, sum_name, x, y, NULL, NULL));
    return pre ? sum : norm(b, norm_name, sum);
}

static Tensor *carry(StackBuild *b, Block *block)
{
    const Dim dim[2] = { { b->rows, b->count }, dim_constant(b->m->d_model) };
    Tensor *x = make_tensor(b->k, TENSOR_TEMP, arena_format(b->k->arena, "%s.x", block->name), 0, 2, dim);
    block->carry_in = block->carry_out = x;
    return x;
}

static void embedding(StackBuild *b, Program *const *programs, int n)
{
    Maker *k = b->k;
    Block *block = make_block(k, join(b, "embedding"), "Token embeddings, scaled, plus positions", b->prefix, 0, NULL);
    const Node attributes = { .op = OP_EMBED, .scale = b->stack->embed_scale };
    Tensor *const in[5] = { make_param(k, "embed.table"), b->ids, NULL, NULL };
    Tensor *x = result(make_node_from(k, &attributes, "embed", in));
    if (b->stack->position != POSITIONS_NONE)
        x = result(make_node(k, OP_POSITION, "embed.position", x, make_param(k, "position.table"), b->positions, NULL));
    block->carry_out = x;
    for (int i = 0; i < n; i++) make_run(k, programs[i], block, 0, 1);
}

/* The next run of layers, from `first`, whose fields agree; returns its length. */
static int equal_layers(const Stack *s, int first)
{
    int n = 1;
    while (first + n < s->layers && memcmp(&s->layer[first], &s->layer[first + n], sizeof *s->layer) == 0) n++;
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
    return first ? arena_format(b->k->arena, "%s_%d", what, first) : what;
}

static void encoder_layers(StackBuild *b, Program *p)
{
    Maker *k = b->k;
    for (int first = 0, n; first < b->stack->layers; first += n) {
        n = equal_layers(b->stack, first);
        const LayerFields *f = &b->stack->layer[first];
        Block *block = make_block(k, layer_name(b, "encoder_layer", first), "Self-attention and feed-forward, each with a residual",
                                  "encoder.{}", n, layer_numbers(k, first, n));
        Tensor *x = carry(b, block);
        x = sublayer(b, f, SELF_ATTENTION, 0, NULL, x);
        x = sublayer(b, f, FEED_FORWARD, 1, NULL, x);
        block->carry_out = x;
        make_run(k, p, block, 0, n);
    }
}

static void encoder_end(StackBuild *b, Program *p)
{
    if (!b->stack->final_norm) return;
    Block *block = make_block(b->k, "encoder_end", "The encoder's final norm", b->prefix, 0, NULL);
    Tensor *x = carry(b, block);
    block->carry_out = norm(b, "norm", x);
    make_run(b->k, p, block, 0, 1);
}

/* One run of decoder layers: first their memory, filled by `encode`, then the layers themselves. */
static void decoder_run(StackBuild *b, StackBuild *source, Program *encode, Program *const *steps, int step_count, int first, int n)
{
    Maker *k = b->k;
    const LayerFields *f = &b->stack->layer[first];
    int *layer = layer_numbers(k, first, n);
    Block *fill = make_block(k, layer_name(b, "decoder_memory", first),
                             "Keys and values of the cross-attention, once per source", "decoder.{}", n, layer);
    Tensor *x = carry(source, fill);
    Tensor *k_memory = make_state(k, "cross_attn.k_memory", source->capacity, COUNT_SOURCE, f->heads * f->head_dim);
    Tensor *v_memory = make_state(k, "cross_attn.v_memory", source->capacity, COUNT_SOURCE, f->heads * f->value_dim);
    append(k, "cross_attn.keys", k_memory, linear(k, "cross_attn.k", "cross_attn.k", x), source->positions, f, false);
    append(k, "cross_attn.values", v_memory, linear(k, "cross_attn.v", "cross_attn.v", x), source->positions, f, true);
    make_run(k, encode, fill, 0, n);

    Block *block = make_block(k, layer_name(b, "decoder_layer", first),
                              "Causal self-attention, cross-attention and feed-forward, each with a residual", "decoder.{}", n, layer);
    const Memory memory = { k_memory, v_memory };
    x = carry(b, block);
    x = sublayer(b, f, SELF_ATTENTION, 0, NULL, x);
    x = sublayer(b, f, CROSS_ATTENTION, 1, &memory, x);
    x = sublayer(b, f, FEED_FORWARD, 2, NULL, x);
    block->carry_out = x;
    for (int i = 0; i < step_count; i++) make_run(k, steps[i], block, 0, n);
}

static Tensor *logits(StackBuild *b, Program *const *steps, int n)
{
    Maker *k = b->k;
    Block *block = make_block(k, "decoder_output", "Final norm and logits", "decoder", 0, NULL);
    Tensor *x = carry(b, block);
    if (b->stack->final_norm) x = norm(b, "norm", x);
    Tensor *w = make_global_param(k, "output.weight"), *bias = make_global_param(k, "output.bias");
    block->stem = "";
    x = result(make_node(k, OP_LINEAR, "logits", x, w, bias, NULL));
    block->carry_out = x;
    for (int i = 0; i < n; i++) make_run(k, steps[i], block, 0, 1);
    return x;
}

/* A last block that turns the logits into what a program gives. */
static void tail(Maker *k, Program *p, OpKind op, const char *name, const char *doc, const char *value, const Tensor *like)
{
    Block *block = make_block(k, name, doc, "", 0, NULL);
    Tensor *x = make_tensor(k, TENSOR_TEMP, arena_format(k->arena, "%s.x", name), 0, 2, like->dim);
    block->carry_in = x;
    Node *n = make_node(k, op, value, x, NULL, NULL, NULL);
    if (n) n->out[0]->output = true;
    block->carry_out = result(n);
    make_run(k, p, block, 0, 1);
}

static Tensor *integers(Maker *k, const char *name, int64_t bound, Count count)
{
    return make_input(k, name, true, 1, &(Dim){ bound, count });
}

bool graph_encoder_decoder(Maker *k, const Model *m)
{
    Program *encode = make_program(k, "encode", "a source into a slot's memory", COUNT_SOURCE);
    Program *step = make_program(k, "step", "one decoder row into logits", COUNT_ROWS);
    Program *next = make_program(k, "next", "one decoder row into the likeliest id", COUNT_ROWS);
    Program *const steps[2] = { step, next };
    StackBuild source = { .k = k, .m = m, .stack = &m->encoder, .prefix = "encoder", .count = COUNT_SOURCE,
                          .rows = m->max_source, .capacity = m->max_source };
    source.ids = integers(k, "source.ids", m->max_source, COUNT_SOURCE);
    source.positions = integers(k, "source.positions", m->max_source, COUNT_SOURCE);
    source.visible = integers(k, "source.visible", m->max_source, COUNT_SOURCE);
    embedding(&source, &encode, 1);
    encoder_layers(&source, encode);
    encoder_end(&source, encode);

    const int64_t rows = 1;
    StackBuild target = { .k = k, .m = m, .stack = &m->decoder, .prefix = "decoder", .count = COUNT_ROWS,
                          .rows = rows, .capacity = m->max_target };
    target.ids = integers(k, "rows.ids", rows, COUNT_ROWS);
    target.positions = integers(k, "rows.positions", rows, COUNT_ROWS);
    target.visible = integers(k, "rows.visible", rows, COUNT_ROWS);
    target.visible_memory = integers(k, "rows.visible_memory", rows, COUNT_ROWS);
    embedding(&target, steps, 2);
    for (int first = 0, n; first < m->decoder.layers; first += n) {
        n = equal_layers(&m->decoder, first);
        decoder_run(&target, &source, encode, steps, 2, first, n);
    }
    Tensor *y = logits(&target, steps, 2);
    if (k->failed) return false;
    if (m->log_softmax) tail(k, step, OP_LOG_SOFTMAX, "log_probabilities", "Log-softmax of the logits", "log_probs", y);
    else y->output = true;
    tail(k, next, OP_ARGMAX, "likeliest", "The first maximum of the logits", "next_id", y);
    return !k->failed;
}
