/* graph_spec.c: the calls of an xf.graph builder as one program of one block.
 *
 * A parameter becomes a tensor where an operation uses it, since matmul wants it transposed: weights are [out, in]
 * everywhere below this file. */
#include "graph_build.h"

#include <math.h>
#include <string.h>

#include "../../runtime/rt.h"

typedef struct Value { const GraphCall *made_by; Tensor *tensor, *transposed; } Value;

typedef struct SpecBuild { Maker *k; const GraphSpec *spec; Value *values; const GraphCall *call; } SpecBuild;

static double option_number(const GraphCall *c, const char *name, double otherwise)
{
    for (int i = 0; i < c->option_count; i++)
        if (strcmp(c->options[i].name, name) == 0 && !c->options[i].word) return c->options[i].number;
    return otherwise;
}

static const char *option_word(const GraphCall *c, const char *name, const char *otherwise)
{
    for (int i = 0; i < c->option_count; i++)
        if (strcmp(c->options[i].name, name) == 0 && c->options[i].word) return c->options[i].word;
    return otherwise;
}

/* The index of option `name` in a list of words of fields.def, told as an error when it is not one of them. */
static int option_choice(SpecBuild *b, const char *name, const char *list, const char *otherwise)
{
    int n;
    const char *const *words = field_words(list, &n);
    const char *word = option_word(b->call, name, otherwise);
    for (int i = 0; i < n; i++)
        if (strcmp(words[i], word) == 0) return i;
    diag_error(b->k->diag, EXIT_BAD_DATA, b->call->at, "%s: %s is no %s", b->call->op, word, name);
    const char *near = diag_nearest(word, words, n);
    if (near) diag_note(b->k->diag, (Loc){ 0 }, "did you mean \"%s\"?", near);
    b->k->failed = true;
    return 0;
}

static void check_options(SpecBuild *b, const char *const *allowed, int n)
{
    for (int i = 0; i < b->call->option_count; i++) {
        const char *name = b->call->options[i].name;
        bool known = false;
        for (int j = 0; j < n; j++) known |= strcmp(allowed[j], name) == 0;
        if (known) continue;
        diag_error(b->k->diag, EXIT_BAD_DATA, b->call->at, "%s has no option %s", b->call->op, name);
        const char *near = diag_nearest(name, allowed, n);
        if (near) diag_note(b->k->diag, (Loc){ 0 }, "did you mean \"%s\"?", near);
        b->k->failed = true;
    }
}

/* Where a param's numbers come from; matmul's are turned to [out, in]. */
static const TensorSource *param_source(SpecBuild *b, const GraphCall *c, bool transposed)
{
    const TensorSource *given = model_tensor(b->k->graph->model, c->name);
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
    const char *name = twice ? arena_format(b->k->arena, "%s.transposed", source->name) : source->name;
    *slot = make_tensor(b->k, TENSOR_PARAM, name, 0, source->rank, dim);
    (*slot)->source = arena_array(b->k->arena, 1, sizeof *(*slot)->source);
    (*slot)->source[0] = source;
    return *slot;
}

/* Input `i` of the call, which must (or must not) be a parameter; NULL where it was left out or does not fit. */
static Tensor *operand(SpecBuild *b, int i, bool param, bool transposed)
{
    if (i >= b->call->input_count || b->call->inputs[i] < 0) return NULL;
    Value *v = &b->values[b->call->inputs[i]];
    bool is_param = strcmp(v->made_by->op, "param") == 0;
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
    if (c->rank != 2) {
        diag_error(k->diag, EXIT_BAD_DATA, c->at, "input %s has %d dimensions, expected 2: rows and columns", c->name, c->rank);
        k->failed = true;
        return;
    }
    const Dim dim[2] = { dim_constant(c->shape[0]), dim_constant(c->shape[1]) };
    Tensor *t = make_input(k, c->name, false, 2, dim);
    t->values = c->values;
    b->values[c->first_result].tensor = t;
}

static void name_value(SpecBuild *b)
{
    Tensor *t = operand(b, 0, false, false);
    if (!t) return;
    if (t->kind == TENSOR_TEMP) t->name = b->call->name;
    if (strcmp(b->call->op, "output") == 0) t->output = true;
}

static void fill_attention(SpecBuild *b, Node *n, Tensor *in[5])
{
    static const char *const allowed[] = { "heads", "kv_heads", "scale" };
    check_options(b, allowed, 3);
    n->heads = (int)option_number(b->call, "heads", 1);
    n->kv_heads = (int)option_number(b->call, "kv_heads", n->heads);
    if (n->heads < 1 || n->kv_heads < 1) {
        diag_error(b->k->diag, EXIT_BAD_DATA, b->call->at, "attention: heads and kv_heads must be at least 1");
        b->k->failed = true;
        return;
    }
    if (!in[0] || !in[1] || in[0]->rank != 2 || in[1]->rank != 2) return;
    n->scale = option_number(b->call, "scale", 1 / sqrt((double)in[0]->dim[1].bound / n->heads));
    in[3] = make_input(b->k, arena_format(b->k->arena, "visible.%d", b->call->first_result), true, 1, &in[0]->dim[0]);
    in[3]->fill = (int)in[1]->dim[0].bound;
    in[4] = make_input(b->k, arena_format(b->k->arena, "places.%d", b->call->first_result), true, 1, &in[1]->dim[0]);
    in[4]->fill = FILL_INDEX;
}

static void fill_norm(SpecBuild *b, Node *n)
{
    static const char *const allowed[] = { "kind", "eps" };
    check_options(b, allowed, 2);
    n->kind = option_choice(b, "kind", "norms", "layer");
    n->eps = option_number(b->call, "eps", n->kind == NORMS_ANNOTATED ? 1e-6 : 1e-5);
}

static void fill_activation(SpecBuild *b, Node *n)
{
    static const char *const allowed[] = { "kind" };
    check_options(b, allowed, 1);
    bool relu = strcmp(b->call->op, "relu") == 0;
    n->kind = relu ? RT_RELU : option_choice(b, "kind", "activations", "relu");
}

/* What a builder's word stands for, and which of its inputs are parameters (bit i: input i). */
static const struct Word { const char *name; OpKind op; int results; unsigned params; bool transposed; } words[] = {
    { "matmul",     OP_LINEAR,     1, 2, true },
    { "linear",     OP_LINEAR,     1, 6, false },
    { "norm",       OP_NORM,       1, 6, false },
    { "add",        OP_ADD,        1, 0, false },
    { "relu",       OP_ACTIVATION, 1, 0, false },
    { "activation", OP_ACTIVATION, 1, 0, false },
    { "attention",  OP_ATTENTION,  3, 0, false },
    { "log_softmax", OP_LOG_SOFTMAX, 1, 0, false },
};
enum { WORD_COUNT = sizeof words / sizeof *words };

const OpName *graph_builder_ops(int *n)
{
    static OpName names[WORD_COUNT];
    for (int i = 0; i < WORD_COUNT; i++) names[i] = (OpName){ words[i].name, words[i].results };
    *n = WORD_COUNT;
    return names;
}

static void add_operation(SpecBuild *b, const struct Word *w)
{
    Maker *k = b->k;
    Node n = { .op = w->op, .at = b->call->at };
    Tensor *in[5] = { 0 };
    for (int i = 0; i < 3; i++) in[i] = operand(b, i, w->params >> i & 1, w->transposed);
    if (w->op == OP_ATTENTION) fill_attention(b, &n, in);
    if (w->op == OP_NORM) fill_norm(b, &n);
    if (w->op == OP_ACTIVATION) fill_activation(b, &n);
    const char *name = arena_format(k->arena, "t%d", b->call->first_result);
    Node *made = make_node_from(k, &n, name, in);
    for (int r = 0; made && r < b->call->results; r++) {
        b->values[b->call->first_result + r].tensor = made->out[r];
        if (r) made->out[r]->name = arena_format(k->arena, "t%d", b->call->first_result + r);
    }
}

static void add_call(SpecBuild *b)
{
    for (int r = 0; r < b->call->results; r++) b->values[b->call->first_result + r].made_by = b->call;
    if (strcmp(b->call->op, "input") == 0) { add_input(b); return; }
    if (strcmp(b->call->op, "param") == 0) return;
    if (strcmp(b->call->op, "name") == 0 || strcmp(b->call->op, "output") == 0) { name_value(b); return; }
    for (int i = 0; i < WORD_COUNT; i++)
        if (strcmp(words[i].name, b->call->op) == 0) { add_operation(b, &words[i]); return; }
    die("no operation %s", b->call->op);
}

bool graph_from_spec(Maker *k, const GraphSpec *spec)
{
    Program *p = make_program(k, "run", "inputs into outputs", COUNT_CONSTANT);
    SpecBuild b = { .k = k, .spec = spec, .values = arena_array(k->arena, (size_t)spec->values + 1, sizeof *b.values) };
    Block *block = make_block(k, "graph", "All operations of the graph", "", 0, NULL);
    make_run(k, p, block, 0, 1);
    bool told = false;
    for (int i = 0; i < spec->count; i++) {
        k->failed = false;          /* go on after a fault, to tell several */
        b.call = &spec->calls[i];
        bool whole = true;          /* a value that could not be made was told once */
        for (int j = 0; j < b.call->input_count; j++) {
            const Value *v = b.call->inputs[j] < 0 ? NULL : &b.values[b.call->inputs[j]];
            if (v && !v->tensor && strcmp(v->made_by->op, "param") != 0) whole = false;
        }
        if (whole) add_call(&b);
        else for (int r = 0; r < b.call->results; r++) b.values[b.call->first_result + r].made_by = b.call;
        told |= k->failed;
    }
    if (!told && !block->count) {
        diag_error(k->diag, EXIT_BAD_DATA, k->graph->model->at, "the graph has no operation");
        return false;
    }
    return !told;
}
