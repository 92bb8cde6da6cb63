/* graph_make.c: make programs, blocks, tensors and nodes. */
#include "graph_make.h"

#include <string.h>

const char *count_name(Count c)
{
    static const char *const names[] = { [COUNT_CONSTANT] = "", [COUNT_SOURCE] = "source", [COUNT_ROWS] = "rows",
                                         [COUNT_TARGET] = "target" };
    return names[c];
}

const char *program_name(ProgramKind kind)
{
    static const char *const names[] = {
        [PROGRAM_ENCODE] = "encode", [PROGRAM_STEP] = "step", [PROGRAM_NEXT] = "next",
        [PROGRAM_DECODE] = "decode", [PROGRAM_DECODE_GREEDY] = "decode_greedy", [PROGRAM_RUN] = "run",
        [PROGRAM_PREFILL] = "prefill",
    };
    return names[kind];
}

/* Make room for one more element in an array that began empty and is grown only here: its capacity
 * doubles whenever `count` is a power of two. */
static void *grow(Maker *k, void *array, int count, size_t size)
{
    if (count & (count - 1)) return array;
    return arena_grow(k->arena, array, (size_t)count * size, (count ? 2 * (size_t)count : 1) * size);
}

Program *make_program(Maker *k, ProgramKind kind, const char *doc, Count rows)
{
    Graph *g = k->graph;
    enum { MOST = 5 };                          /* encode, step, next, decode, decode_greedy */
    if (g->program_count == MOST) die("too many programs");
    if (!g->programs) g->programs = arena_array(k->arena, MOST, sizeof *g->programs);
    Program *p = &g->programs[g->program_count++];
    *p = (Program){ .kind = kind, .doc = doc, .rows = rows };
    return p;
}

Block *make_block(Maker *k, const char *name, const char *doc, const char *stem, int layers, int *layer)
{
    Graph *g = k->graph;
    Block *b = arena_alloc(k->arena, sizeof *b);
    *b = (Block){ .name = name, .doc = doc, .stem = stem, .layers = layers, .layer = layer };
    g->blocks = grow(k, g->blocks, g->block_count, sizeof *g->blocks);
    g->blocks[g->block_count++] = b;
    k->block = b;
    k->part = NULL;
    return b;
}

void make_run(Maker *k, Program *p, Block *b, int first, int count)
{
    p->runs = grow(k, p->runs, p->count, sizeof *p->runs);
    p->runs[p->count++] = (Run){ b, first, count };
}

Tensor *make_tensor(Maker *k, TensorKind kind, const char *name, int layers, int rank, const Dim *dim)
{
    Graph *g = k->graph;
    Tensor *t = arena_alloc(k->arena, sizeof *t);
    t->name = name;
    t->kind = kind;
    t->layers = layers;
    t->rank = rank;
    if (rank) memcpy(t->dim, dim, (size_t)rank * sizeof *dim);
    t->id = g->tensor_count;
    g->tensors = grow(k, g->tensors, g->tensor_count, sizeof *g->tensors);
    g->tensors[g->tensor_count++] = t;
    return t;
}

Tensor *make_input(Maker *k, const char *name, bool integer, int rank, const Dim *dim)
{
    Tensor *t = make_tensor(k, TENSOR_INPUT, name, 0, rank, dim);
    t->integer = integer;
    return t;
}

static const char *name_of(Maker *k, const char *suffix)
{
    const char *stem = k->block->stem;
    return *stem ? arena_format(k->arena, "%s.%s", stem, suffix) : suffix;
}

/* Like name_of, with the prefix: programs for one row and for many rows have separate results. */
const char *make_result_name(Maker *k, const char *suffix)
{
    const char *name = name_of(k, suffix);
    return k->prefix ? arena_format(k->arena, "%s%s", k->prefix, name) : name;
}

/* The key of a param or state in k->shared. */
static const char *key_of(Maker *k, TensorKind kind, const char *name, int layers, int first_layer)
{
    return arena_format(k->arena, "%d:%d:%d:%s", (int)kind, layers, first_layer, name);
}

/* The param or state made before with this key, perhaps for another program; NULL if there is
 * none. */
static Tensor *made_before(Maker *k, const char *key)
{
    if (!k->shared) k->shared = name_map_new(k->arena);
    return name_map_find(k->shared, key);
}

static int first_layer(const int *layer, int layers) { return layers ? layer[0] : 0; }

const char *tensor_layer_name(Arena *a, const Tensor *t, int layer)
{
    const char *place = strstr(t->name, "{}");
    return place ? arena_format(a, "%.*s%d%s", (int)(place - t->name), t->name, layer, place + 2) : t->name;
}

/* The tensor of a param, made on first use, with one source per layer; layers 0: a param without
 * layers. */
static Tensor *find_param(Maker *k, const char *name, int layers, const int *layer)
{
    int n = layers ? layers : 1;
    const char *key = key_of(k, TENSOR_PARAM, name, layers, first_layer(layer, layers));
    Tensor *before = made_before(k, key);
    if (before) return before;
    Tensor pattern = { .name = name };
    const TensorSource **source = arena_array(k->arena, (size_t)n, sizeof *source);
    for (int i = 0; i < n; i++) {
        const char *one = tensor_layer_name(k->arena, &pattern, layers ? layer[i] : 0);
        source[i] = model_tensor(k->graph->model, one);
        if (!source[i]) die("the model has no tensor %s", one);
    }
    Dim dim[MAX_RANK];
    for (int r = 0; r < source[0]->rank; r++) dim[r] = dim_constant(source[0]->shape[r]);
    Tensor *t = make_tensor(k, TENSOR_PARAM, name, layers, source[0]->rank, dim);
    t->source = source;
    t->first_layer = first_layer(layer, layers);
    name_map_add(k->shared, key, t);
    return t;
}

Tensor *make_param(Maker *k, const char *suffix)
{
    return find_param(k, name_of(k, suffix), k->block->layers, k->block->layer);
}

Tensor *make_global_param(Maker *k, const char *name) { return find_param(k, name, 0, NULL); }

Tensor *make_state(Maker *k, const char *suffix, int64_t capacity, Count count, int64_t width)
{
    const Dim dim[2] = { { capacity, count }, dim_constant(width) };
    const char *name = name_of(k, suffix);
    int layers = k->block->layers, first = first_layer(k->block->layer, layers);
    const char *key = key_of(k, TENSOR_STATE, name, layers, first);
    Tensor *t = made_before(k, key);
    if (t) return t;
    t = make_tensor(k, TENSOR_STATE, name, layers, 2, dim);
    t->first_layer = first;
    name_map_add(k->shared, key, t);
    return t;
}

Node *make_node_from(Maker *k, const Node *attributes, const char *suffix, Tensor *const in[NODE_INPUTS])
{
    if (k->failed) return NULL;
    Node *n = arena_alloc(k->arena, sizeof *n);
    *n = *attributes;
    memcpy(n->in, in, sizeof n->in);
    n->part = k->part;
    const OpRow *row = &op_rows[n->op];
    for (int r = 0; r < row->results; r++) {
        /* graph_shape sets its shape */
        Tensor *t = make_tensor(k, TENSOR_TEMP, NULL, k->block->layers, 0, NULL);
        n->out[r] = t;
    }
    n->out[0]->name = make_result_name(k, suffix);
    if (!graph_shape(k->diag, n)) {
        k->failed = true;
        return NULL;
    }
    Block *b = k->block;
    b->nodes = grow(k, b->nodes, b->count, sizeof *b->nodes);
    b->nodes[b->count++] = n;
    return n;
}

Node *make_node(Maker *k, OpKind op, const char *suffix, Tensor *a, Tensor *b, Tensor *c, Tensor *e)
{
    Tensor *const in[NODE_INPUTS] = { a, b, c, e };
    return make_node_from(k, &(Node){ .op = op }, suffix, in);
}
