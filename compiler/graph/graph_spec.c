/* graph_spec.c: build the calls of an xf.graph as one program with one block.
 *
 * A parameter becomes a tensor when an operation uses it, since matmul wants it transposed: all
 * later stages have weights as [out, in]. */
#include "graph_build.h"

#include <math.h>
#include <string.h>

#include "rt.h"

/* name: of an input or a result: what the user called it; else NULL. */
typedef struct Value {
    const GraphCall *made_by;
    Tensor *tensor, *transposed;
    const char *name;
    Node *append;                   /* of a cache and of the result of g.append */
    bool read;                      /* an attention operation reads this cache */
} Value;

typedef struct SpecBuild {
    Maker *k;
    const GraphSpec *spec;
    Value *values;
    const GraphCall *call;
    NameMap *taken;                 /* all names of the spec, and automatic ones */
    NameMap *named;                 /* inputs and results by the spec's names */
    int64_t capacity;               /* of the smallest cache; 0 without caches */
} SpecBuild;

static void refuse(SpecBuild *b, const char *what)
{
    diag_error(b->k->diag, EXIT_BAD_DATA, b->call->at, "%s: %s", b->call->op, what);
    b->k->failed = true;
}

/* A name for a value that the spec does not name: `name`, with a number if it is taken. */
static const char *automatic_name(SpecBuild *b, const char *name)
{
    const char *out = name;
    for (int i = 2; name_map_find(b->taken, out); i++) out = arena_format(b->k->arena, "%s.%d", name, i);
    name_map_add(b->taken, out, b);
    return out;
}

static const char *numbered_name(SpecBuild *b, const char *stem, int number)
{
    return automatic_name(b, arena_format(b->k->arena, "%s%d", stem, number));
}

/* Emitted code counts the elements of a buffer, with rows padded to sixteen, in an int. */
static bool check_size(SpecBuild *b, const Tensor *t)
{
    const double most = 1 << 30;
    double elements = 16 * ceil((double)t->dim[t->rank - 1].bound / 16);
    for (int r = 0; r + 1 < t->rank; r++) elements *= (double)t->dim[r].bound;
    if (elements <= most) return true;
    diag_error(b->k->diag, EXIT_BAD_DATA, b->call->at, "%s: %.4g elements, with rows padded to a multiple of 16, exceed the limit of %.4g",
               b->call->op, elements, most);
    b->k->failed = true;
    return false;
}

/* A source without numbers, used while the builder runs and there is no model yet. */
static const TensorSource *source_of_call(SpecBuild *b, const GraphCall *c)
{
    TensorSource *s = arena_alloc(b->k->arena, sizeof *s);
    *s = (TensorSource){ .name = c->name, .rank = c->rank };
    int64_t stride = 1;
    for (int r = c->rank; r-- > 0; stride *= c->shape[r]) {
        s->shape[r] = c->shape[r];
        s->stride[r] = stride;
    }
    return s;
}

/* The source of a param's numbers; for matmul it is transposed to [out, in]. */
static const TensorSource *param_source(SpecBuild *b, const GraphCall *c, bool transposed)
{
    const TensorSource *given = b->k->graph->model ? model_tensor(b->k->graph->model, c->name) : source_of_call(b, c);
    if (!given) die("the model has no tensor %s", c->name);
    if (!transposed || given->rank != 2) return given;
    TensorSource *s = arena_alloc(b->k->arena, sizeof *s);
    *s = *given;
    for (int r = 0; r < 2; r++) {
        s->shape[r] = given->shape[1 - r];
        s->stride[r] = given->stride[1 - r];
    }
    return s;
}

static Tensor *param_tensor(SpecBuild *b, Value *v, bool transposed)
{
    Tensor **slot = transposed ? &v->transposed : &v->tensor;
    if (*slot) return *slot;
    const TensorSource *source = param_source(b, v->made_by, transposed);
    Dim dim[MAX_RANK];
    for (int r = 0; r < source->rank; r++) dim[r] = dim_constant(source->shape[r]);
    bool twice = v->tensor || v->transposed;
    const char *name = twice ? automatic_name(b, arena_format(b->k->arena, "%s.transposed", source->name)) : source->name;
    *slot = make_tensor(b->k, TENSOR_PARAM, name, 0, source->rank, dim);
    (*slot)->source = arena_array(b->k->arena, 1, sizeof *(*slot)->source);
    (*slot)->source[0] = source;
    return *slot;
}

/* Input 1 of g.append must be a cache. A cache can only be appended to, and the result of g.append
 * can only be the keys or values of attention. False after a reported error. */
static bool may_be_cache(SpecBuild *b, const Value *v, int i)
{
    const bool cache = strcmp(v->made_by->op, "cache") == 0, appended = v->append && !cache;
    const bool to_append = strcmp(b->call->op, "append") == 0 && i == 0;
    const bool to_attend = strcmp(b->call->op, "attention") == 0 && (i == 1 || i == 2);
    if (cache == to_append && (!appended || to_attend)) return true;
    refuse(b, arena_format(b->k->arena, to_append ? "input 1 must be a cache" : cache ? "the cache \"%s\" can only be appended to"
                           : "the result of g.append can only be used as keys or values of "
                           "g.attention", v->made_by->name));
    return false;
}

/* Input `i` of the call, which must be a parameter if `param` is true, and must not be one if it is
 * false. NULL if the input is omitted, or after a reported error. */
static Tensor *operand(SpecBuild *b, int i, bool param, bool transposed)
{
    if (i >= b->call->input_count || b->call->inputs[i] < 0) return NULL;
    Value *v = &b->values[b->call->inputs[i]];
    bool is_param = strcmp(v->made_by->op, "param") == 0;
    if (!may_be_cache(b, v, i)) return NULL;
    if (is_param == param) return param ? param_tensor(b, v, transposed) : v->tensor;
    diag_error(b->k->diag, EXIT_BAD_DATA, b->call->at, param ? "%s: input %d must be a parameter" : "%s: input %d must not be a parameter",
               b->call->op, i + 1);
    b->k->failed = true;
    return NULL;
}

static void add_input(SpecBuild *b)
{
    const GraphCall *c = b->call;
    Maker *k = b->k;
    if (c->rank != 2 && c->rank != 3) {
        diag_error(k->diag, EXIT_BAD_DATA, c->at, "the input \"%s\" has %d dimension%s, expected 2 (rows, "
                   "columns), or 3 (heads, queries, keys) for a bias of g.attention", c->name,
                   c->rank, c->rank == 1 ? "" : "s");
        k->failed = true;
        return;
    }
    Dim dim[3];
    for (int r = 0; r < c->rank; r++) dim[r] = dim_constant(c->shape[r]);
    Tensor *t = make_input(k, c->name, false, c->rank, dim);
    if (!check_size(b, t)) return;
    t->values = c->values;
    b->values[c->first_result].tensor = t;
    b->values[c->first_result].name = c->name;
    name_map_add(b->named, c->name, t);
}

/* A cache: rows of a sequence, kept from run to run. */
static void add_cache(SpecBuild *b)
{
    const GraphCall *c = b->call;
    if (c->rank != 2) {
        refuse(b, arena_format(b->k->arena, "\"%s\" has %d dimension%s, expected 2 (capacity, width)", c->name, c->rank,
                               c->rank == 1 ? "" : "s"));
        return;
    }
    const Dim dim[2] = { dim_constant(c->shape[0]), dim_constant(c->shape[1]) };
    Tensor *t = make_tensor(b->k, TENSOR_STATE, c->name, 0, 2, dim);
    if (check_size(b, t)) b->values[c->first_result].tensor = t;
    if (!b->capacity || c->shape[0] < b->capacity) b->capacity = c->shape[0];
}

/* Report caches that no attention reads, since they would have no layout. */
static bool caches_are_read(SpecBuild *b)
{
    bool good = true;
    for (int i = 0; i < b->spec->count; i++) {
        b->call = &b->spec->calls[i];
        if (strcmp(b->call->op, "cache") != 0 || b->values[b->call->first_result].read) continue;
        refuse(b, arena_format(b->k->arena, "no g.attention reads \"%s\"", b->call->name));
        good = false;
    }
    return good;
}

/* A copy of the value, under the name in the call. */
static Tensor *copy_value(SpecBuild *b, Tensor *t)
{
    const Node attributes = { .op = OP_ACTIVATION, .kind = RT_IDENTITY, .at = b->call->at };
    Tensor *const in[NODE_INPUTS] = { t };
    Node *n = make_node_from(b->k, &attributes, b->call->name, in);
    return n ? n->out[0] : NULL;
}

/* A value has one name; any further one names a copy. */
static void name_value(SpecBuild *b)
{
    const char *name = b->call->name;
    Tensor *t = operand(b, 0, false, false), *before = name_map_find(b->named, name);
    if (!t) return;
    Value *v = &b->values[b->call->inputs[0]];
    if (before) t = before;
    else if (v->name) t = copy_value(b, t);
    else t->name = v->name = name;
    if (!t) return;
    name_map_add(b->named, name, t);
    if (strcmp(b->call->op, "output") == 0) t->output = check_size(b, t);
}

/* Append rows after those in the cache. A cache has one append, and all appends of a graph add the
 * same number of rows. */
static void fill_append(SpecBuild *b, Node *n, Tensor *in[NODE_INPUTS])
{
    Graph *g = b->k->graph;
    if (!in[0] || !in[1] || in[1]->rank != 2) return;
    const Value *cache = &b->values[b->call->inputs[0]];
    const int64_t rows = in[1]->dim[0].bound;
    if (cache->append) refuse(b, arena_format(b->k->arena, "line %d already appends to the cache \"%s\"", cache->append->at.line,
                                              cache->made_by->name));
    else if (g->step_rows && g->step_rows != rows)
        refuse(b, arena_format(b->k->arena, "%lld row%s, but an earlier g.append or g.rotary has %lld; "
                               "all must have the same number", (long long)rows, rows == 1 ? "" : "s", (long long)g->step_rows));
    else if (rows > b->capacity)
        refuse(b, arena_format(b->k->arena, "%lld rows do not fit in the smallest cache, which has room for %lld", (long long)rows,
                               (long long)b->capacity));
    g->step_rows = rows;
    g->capacity = b->capacity;
    n->kv_heads = 1;
    in[2] = make_input(b->k, numbered_name(b, "positions.", b->call->first_result), true, 1, &in[1]->dim[0]);
    in[2]->fill = FILL_POSITION;
}

/* Input `i` of attention comes from a cache: give the cache the layout that this operation
 * reads. */
static void read_cache(SpecBuild *b, int i, int kv_heads)
{
    Value *v = &b->values[b->call->inputs[i]], *cache = &b->values[v->made_by->inputs[0]];
    Node *append = v->append;
    const char *name = cache->made_by->name;
    if (cache->read && append->values != (i == 2)) refuse(b, arena_format(b->k->arena, "the cache \"%s\" cannot hold both keys and values", name));
    else if (cache->read && append->kv_heads != kv_heads)
        refuse(b, arena_format(b->k->arena, "the cache \"%s\" is read with kv_heads = %d elsewhere", name, append->kv_heads));
    cache->read = true;
    append->values = i == 2;
    append->kv_heads = kv_heads;
}

/* Attention over the cached keys and values of the sequence so far: a row sees those up to its
 * own. */
static void fill_cached(SpecBuild *b, Node *n, Tensor *in[NODE_INPUTS])
{
    const bool both = b->values[b->call->inputs[1]].append && b->values[b->call->inputs[2]].append;
    if (!both) refuse(b, "keys and values must both come from g.append");
    else if (option_number(b->call, "keys", 0) != 0) refuse(b, "the \"keys\" option does not apply to caches: each row sees the keys up to its own");
    else if (in[0]->dim[0].bound != b->k->graph->step_rows)
        refuse(b, "the number of queries must equal the number of appended rows");
    else if (in[1]->dim[1].bound % n->kv_heads == 0 && in[2] && in[2]->dim[1].bound % n->kv_heads == 0) {
        read_cache(b, 1, n->kv_heads);
        read_cache(b, 2, n->kv_heads);
    }
    n->scale = option_number(b->call, "scale", 1 / sqrt((double)in[0]->dim[1].bound / n->heads));
    in[3] = make_input(b->k, numbered_name(b, "visible.", b->call->first_result), true, 1, &in[0]->dim[0]);
    in[3]->fill = FILL_SEEN;
}

/* Mark t as a mask or a bias; a tensor used as both is checked as a mask. */
static void set_holds(Tensor *t, Holds holds)
{
    if (t && t->holds != HOLDS_MASK) t->holds = holds;
}

/* Set the attributes of attention, and its inputs besides queries, keys and values. Without caches,
 * a query sees the first `keys` keys, or with `causal` those up to its own position, where the mask
 * is not 0. */
static void fill_attention(SpecBuild *b, Node *n, Tensor *in[NODE_INPUTS])
{
    n->heads = (int)option_number(b->call, "heads", 1);
    n->kv_heads = (int)option_number(b->call, "kv_heads", n->heads);
    n->softcap = option_number(b->call, "softcap", 0);
    in[6] = in[3];
    in[8] = in[4];
    in[3] = in[4] = NULL;
    set_holds(in[6], HOLDS_MASK);
    set_holds(in[8], HOLDS_BIAS);
    if (!in[0] || !in[1] || in[0]->rank != 2 || in[1]->rank != 2) return;
    if (b->values[b->call->inputs[1]].append || (in[2] && b->values[b->call->inputs[2]].append)) {
        fill_cached(b, n, in);
        return;
    }
    int64_t m = in[1]->dim[0].bound;
    double keys = option_number(b->call, "keys", (double)m);
    bool causal = option_number(b->call, "causal", 0) != 0;
    if (keys > (double)m) {
        refuse(b, "the \"keys\" option must not exceed the number of keys");
        return;
    }
    if (causal && in[0]->dim[0].bound > m) {
        refuse(b, "the \"causal\" option needs a key for every query");
        return;
    }
    n->scale = option_number(b->call, "scale", 1 / sqrt((double)in[0]->dim[1].bound / n->heads));
    in[3] = make_input(b->k, numbered_name(b, "visible.", b->call->first_result), true, 1, &in[0]->dim[0]);
    in[3]->fill = causal ? FILL_COUNT : (int)keys;
    in[4] = make_input(b->k, numbered_name(b, "places.", b->call->first_result), true, 1, &in[1]->dim[0]);
    in[4]->fill = FILL_INDEX;
}

/* Set the attributes of rotary, and make its positions and its table of cosines and sines, from
 * `theta`, for the first `dims` dimensions of each head. With caches, positions count from the
 * beginning of the sequence. */
static void fill_rotary(SpecBuild *b, Node *n, Tensor *in[NODE_INPUTS])
{
    if (!in[0] || in[0]->rank != 2) return;
    int64_t heads = (int64_t)option_number(b->call, "heads", 1), rows = in[0]->dim[0].bound;
    const int64_t places = b->capacity ? b->capacity : rows;
    int64_t dims = (int64_t)option_number(b->call, "dims", (double)(in[0]->dim[1].bound / heads));
    double theta = option_number(b->call, "theta", 10000);
    n->heads = (int)heads;
    n->dims = (int)dims;
    n->interleaved = option_choice(b->call, "layout", "rotations", ROTATIONS_HALVES) == ROTATIONS_INTERLEAVED;
    if (dims < 2 || dims % 2 || dims > in[0]->dim[1].bound / heads) {
        refuse(b, "dims must be even, at least 2 and at most the width of a head");
        return;
    }
    TensorSource *s = arena_alloc(b->k->arena, sizeof *s);
    float *rates = arena_array(b->k->arena, (size_t)dims / 2, sizeof *rates);
    rotary_rates(&(LayerFields){ .rope_dims = dims, .rope_theta = theta }, rates);
    *s = (TensorSource){ .name = numbered_name(b, "rotary.", b->call->first_result), .kind = SOURCE_ROTARY, .dtype = DTYPE_F32,
                         .rank = 2, .shape = { places, dims }, .stride = { dims, 1 }, .rates = rates, .constant = 1 };
    const Dim dim[2] = { dim_constant(places), dim_constant(dims) };
    in[1] = make_tensor(b->k, TENSOR_PARAM, s->name, 0, 2, dim);
    in[1]->source = arena_array(b->k->arena, 1, sizeof *in[1]->source);
    in[1]->source[0] = s;
    in[2] = make_input(b->k, numbered_name(b, "positions.", b->call->first_result), true, 1, &in[0]->dim[0]);
    in[2]->fill = b->capacity ? FILL_POSITION : FILL_INDEX;
    if (b->capacity && !b->k->graph->step_rows) b->k->graph->step_rows = rows;
    if (b->capacity && b->k->graph->step_rows != rows)
        refuse(b, "in a graph with caches, the number of rotated rows must equal the number of "
               "appended rows");
}

static void fill_norm(SpecBuild *b, Node *n)
{
    n->heads = (int)option_number(b->call, "heads", 1);
    n->kind = option_choice(b->call, "kind", "norms", NORMS_LAYER);
    n->eps = option_number(b->call, "eps", n->kind == NORMS_ANNOTATED ? 1e-6 : 1e-5);
}

static void fill_activation(SpecBuild *b, Node *n)
{
    enum { NOT_GIVEN = -1 };
    bool relu = strcmp(b->call->op, "relu") == 0;
    n->kind = relu ? RT_RELU : option_choice(b->call, "kind", "activations", NOT_GIVEN);
    if (n->kind == NOT_GIVEN)
        refuse(b, arena_format(b->k->arena, "the \"kind\" option is missing; the choices are %s", option_words(b->k->arena, "activations")));
}

/* The builder's operations: the maximum number of values each takes, how many it returns, which of
 * its inputs are parameters (bit i: input i), and whether these are transposed. */
static const struct Word { const char *name; OpKind op; int inputs, results; unsigned params; bool transposed; } words[] = {
    { "matmul",     OP_LINEAR,     2, 1, 2, true },
    { "linear",     OP_LINEAR,     3, 1, 6, false },
    { "norm",       OP_NORM,       3, 1, 6, false },
#define OP(id, name, inputs, results, in_place, signature, doc)
#define ELEMENT_OP(id, name, inputs, value, signature) { name, OP_##id, inputs, 1, 0, false },
#include "ops.def"
#undef OP
    { "relu",       OP_ACTIVATION, 1, 1, 0, false },
    { "activation", OP_ACTIVATION, 1, 1, 0, false },
    { "gate",       OP_GATE,       2, 1, 0, false },
    { "rotary",     OP_ROTARY,     1, 1, 0, false },
    { "attention",  OP_ATTENTION,  5, 3, 0, false },
    { "log_softmax", OP_LOG_SOFTMAX, 1, 1, 0, false },
    { "append",     OP_APPEND,     2, 1, 0, false },
};
enum { WORD_COUNT = sizeof words / sizeof *words };

const OpName *graph_builder_ops(int *n)
{
    static OpName names[WORD_COUNT];
    for (int i = 0; i < WORD_COUNT; i++) names[i] = (OpName){ words[i].name, words[i].results };
    *n = WORD_COUNT;
    return names;
}

static void check_inputs(SpecBuild *b, const struct Word *w)
{
    int n = b->call->input_count;
    while (n > 0 && b->call->inputs[n - 1] < 0) n--;        /* ignore nil at the end */
    if (n <= w->inputs) return;
    int at = w->inputs;
    while (b->call->inputs[at] < 0) at++;
    const int first = b->call->inputs[at];
    const char *name = first < 0 ? NULL : b->values[first].name;
    const char *which = name ? arena_format(b->k->arena, ", %s", name) : "";
    diag_error(b->k->diag, EXIT_BAD_DATA, b->call->at,
               "%s takes at most %d value%s; unexpected argument %d%s", w->name, w->inputs,
               w->inputs == 1 ? "" : "s", at + 1, which);
    b->k->failed = true;
}

/* Report weights of g.matmul that do not fit x, by their own dimensions: in[1] is transposed. */
static void check_matmul(SpecBuild *b, Tensor *const in[NODE_INPUTS])
{
    if (!in[0] || !in[1] || in[0]->rank != 2 || in[1]->rank != 2) return;
    const int64_t width = in[0]->dim[1].bound, found = in[1]->dim[1].bound;
    if (found == width) return;
    refuse(b, arena_format(b->k->arena, "dimension 1 of input 2 is %lld, expected %lld (the width of x)",
                           (long long)found, (long long)width));
}

static void add_operation(SpecBuild *b, const struct Word *w)
{
    Maker *k = b->k;
    Node n = { .op = w->op, .word = w->name, .at = b->call->at };
    Tensor *in[NODE_INPUTS] = { 0 };
    k->failed |= !options_check(k, b->call);
    check_inputs(b, w);
    if (k->failed) return;
    for (int i = 0; i < w->inputs; i++) in[i] = operand(b, i, w->params >> i & 1, w->transposed);
    switch (w->op) {
    case OP_ATTENTION:  fill_attention(b, &n, in); break;
    case OP_ROTARY:     fill_rotary(b, &n, in); break;
    case OP_APPEND:     fill_append(b, &n, in); break;
    case OP_NORM:       fill_norm(b, &n); break;
    case OP_ACTIVATION:
    case OP_GATE:       fill_activation(b, &n); break;
    default:            break;
    }
    if (w->transposed) check_matmul(b, in);
    if (k->failed) return;
    Node *made = make_node_from(k, &n, numbered_name(b, "t", b->call->first_result), in);
    if (!made || !check_size(b, made->out[0])) return;
    if (w->op == OP_APPEND) b->values[b->call->inputs[0]].append = b->values[b->call->first_result].append = made;
    for (int r = 0; r < b->call->results; r++) {
        b->values[b->call->first_result + r].tensor = made->out[r];
        if (r) made->out[r]->name = numbered_name(b, "t", b->call->first_result + r);
    }
}

/* A call of an xf.op. Any of its inputs may be a parameter. */
static void add_custom(SpecBuild *b)
{
    Maker *k = b->k;
    const GraphCall *c = b->call;
    Node n = { .op = OP_CUSTOM, .custom = c->custom, .shape = { c->shape[0], c->shape[1] }, .at = c->at };
    Tensor *in[NODE_INPUTS] = { 0 };
    for (int i = 0; i < c->input_count; i++) {
        const bool param = strcmp(b->values[c->inputs[i]].made_by->op, "param") == 0;
        in[i] = operand(b, i, param, false);
    }
    for (int i = 0; i < c->option_count; i++) n.attributes[i] = c->options[i].number;
    if (k->failed) return;
    Node *made = make_node_from(k, &n, numbered_name(b, "t", c->first_result), in);
    if (made && check_size(b, made->out[0])) b->values[c->first_result].tensor = made->out[0];
}

static void add_call(SpecBuild *b)
{
    for (int r = 0; r < b->call->results; r++) b->values[b->call->first_result + r].made_by = b->call;
    if (strcmp(b->call->op, "input") == 0) { add_input(b); return; }
    if (strcmp(b->call->op, "param") == 0) return;
    if (strcmp(b->call->op, "cache") == 0) { add_cache(b); return; }
    if (b->call->custom) { add_custom(b); return; }
    if (strcmp(b->call->op, "name") == 0 || strcmp(b->call->op, "output") == 0) { name_value(b); return; }
    for (int i = 0; i < WORD_COUNT; i++)
        if (strcmp(words[i].name, b->call->op) == 0) { add_operation(b, &words[i]); return; }
    die("no operation %s", b->call->op);
}

/* Remark on inputs that nothing uses: perhaps a mistake, but not an error. */
static void tell_unused(SpecBuild *b, const Block *block)
{
    enum { MOST_TOLD = 3 };
    bool *used = arena_array(b->k->arena, (size_t)b->k->graph->tensor_count + 1, sizeof *used);
    for (int i = 0; i < block->count; i++)
        for (int j = 0; j < NODE_INPUTS; j++)
            if (block->nodes[i]->in[j]) used[block->nodes[i]->in[j]->id] = true;
    int unused = 0;
    for (int i = 0; i < b->spec->count; i++) {
        const GraphCall *c = &b->spec->calls[i];
        const Tensor *t = strcmp(c->op, "input") == 0 ? b->values[c->first_result].tensor : NULL;
        if (t && !used[t->id] && !t->output && unused++ < MOST_TOLD) diag_remark(b->k->diag, c->at, "nothing uses the input \"%s\"", t->name);
    }
    if (unused > MOST_TOLD) diag_remark(b->k->diag, (Loc){ 0 }, "%d more input%s unused", unused - MOST_TOLD,
                                       unused - MOST_TOLD == 1 ? " is" : "s are");
}

/* Process call `i`, unless one of its inputs failed, which has already been reported. */
static void take_call(SpecBuild *b, int i)
{
    b->call = &b->spec->calls[i];
    b->k->failed = false;           /* continue after an error, to report several */
    bool whole = true;
    for (int j = 0; j < b->call->input_count; j++) {
        const Value *v = b->call->inputs[j] < 0 ? NULL : &b->values[b->call->inputs[j]];
        if (v && !v->tensor && strcmp(v->made_by->op, "param") != 0) whole = false;
    }
    if (whole) add_call(b);
    else for (int r = 0; r < b->call->results; r++) b->values[b->call->first_result + r].made_by = b->call;
}

/* False, after errors, if the spec gives an input numbers that it may not hold, such as -inf in one
 * that is not a bias. */
static bool values_hold(SpecBuild *b)
{
    const int errors = diag_errors(b->k->diag);
    for (int i = 0; i < b->spec->count; i++) {
        const GraphCall *c = &b->spec->calls[i];
        const Tensor *t = strcmp(c->op, "input") == 0 ? b->values[c->first_result].tensor : NULL;
        if (!t || !t->values) continue;
        const char *fault = graph_value_fault(b->k->arena, t, t->values);
        for (int64_t j = 0; !fault && t->holds == HOLDS_ANY && j < c->value_count; j++)
            if (!isfinite(t->values[j]))
                fault = arena_format(b->k->arena, "values of %s: number %lld (%.9g) is not a finite "
                                     "float", c->name, (long long)j + 1, (double)t->values[j]);
        if (fault) diag_error(b->k->diag, EXIT_BAD_DATA, c->at, "%s", fault);
    }
    return diag_errors(b->k->diag) == errors;
}

bool graph_from_spec(Maker *k, const GraphSpec *spec)
{
    Program *p = make_program(k, PROGRAM_RUN, "compute the outputs from the inputs", COUNT_CONSTANT);
    SpecBuild b = { .k = k, .spec = spec, .values = arena_array(k->arena, (size_t)spec->values + 1, sizeof *b.values),
                    .taken = name_map_new(k->arena), .named = name_map_new(k->arena) };
    for (int i = 0; i < spec->count; i++) {
        const GraphCall *c = &spec->calls[i];
        if (c->name) name_map_add(b.taken, c->name, k);
        if (strcmp(c->op, "cache") == 0 && (!b.capacity || c->shape[0] < b.capacity)) b.capacity = c->shape[0];
    }
    Block *block = make_block(k, "graph", "All operations of the graph", "", 0, NULL);
    make_run(k, p, block, 0, 1);
    bool told = false;
    for (int i = 0; i < spec->count; i++) {
        take_call(&b, i);
        told |= k->failed;
    }
    if (!told) told = !caches_are_read(&b);
    if (!told) told = !values_hold(&b);
    if (!told && !block->count) {
        diag_error(k->diag, EXIT_BAD_DATA, k->graph->model->at, "the graph has no operations");
        return false;
    }
    if (!told) tell_unused(&b, block);
    return !told;
}

/* ---- shapes while the builder runs ------------------------------------------------------------------------ */

typedef struct Shapes { Maker k; SpecBuild b; int done, room; } Shapes;

static Shapes *shapes_new(Arena *a, GraphSpec *spec)
{
    Shapes *s = arena_alloc(a, sizeof *s);
    Graph *g = arena_alloc(a, sizeof *g);
    s->k = (Maker){ .arena = a, .diag = diag_new(a), .graph = g };
    s->b = (SpecBuild){ .k = &s->k, .spec = spec, .taken = name_map_new(a), .named = name_map_new(a) };
    make_block(&s->k, "graph", "", "", 0, NULL);
    return s;
}

static void make_room(Arena *a, Shapes *s, int values)
{
    if (values <= s->room) return;
    const int room = 2 * values;
    s->b.values = arena_grow(a, s->b.values, (size_t)s->room * sizeof *s->b.values, (size_t)room * sizeof *s->b.values);
    s->room = room;
}

int graph_value_shape(Arena *a, GraphSpec *spec, int value, int64_t shape[MAX_RANK])
{
    Shapes *s = spec->shapes;
    if (!s) spec->shapes = s = shapes_new(a, spec);
    make_room(a, s, spec->values);
    for (; s->done < spec->count; s->done++) take_call(&s->b, s->done);
    const Value *v = &s->b.values[value];
    if (strcmp(v->made_by->op, "param") == 0) {
        memcpy(shape, v->made_by->shape, sizeof v->made_by->shape);
        return v->made_by->rank;
    }
    for (int r = 0; v->tensor && r < v->tensor->rank; r++) shape[r] = v->tensor->dim[r].bound;
    return v->tensor ? v->tensor->rank : 0;
}

bool graph_has_custom(const Graph *g)
{
    const GraphSpec *s = g->model->graph;
    for (int i = 0; s && i < s->count; i++)
        if (s->calls[i].custom) return true;
    return false;
}
