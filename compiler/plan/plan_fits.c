/* plan_fits.c: check that the sizes of a Plan are sensible, before anything multiplies them as
 * integers, and that a Plan fits into the memory of the machine; choose a decoder's rows per call.
 *
 * Sizes before planning are upper bounds in floating point, as if no two buffers of a block shared
 * memory. */
#include "arena.h"
#include "plan.h"
#include "text.h"

#include <math.h>

static const double MOST_BYTES = 70368744177664.0;      /* 2^46 */

static double padded(double n) { return 16 * ceil(n / 16); }

/* Rows are padded as well, as in panels of keys; 16 more columns allow for the stride that
 * size_rows chooses. */
static double tensor_bytes(const Tensor *t)
{
    if (t->rank == 1) return 4 * padded((double)t->dim[0].bound);
    double elements = padded((double)t->dim[t->rank - 1].bound) + 16;
    for (int r = 0; r + 1 < t->rank; r++) elements *= r ? (double)t->dim[r].bound : padded((double)t->dim[r].bound);
    return 4 * elements;
}

/* Panels of keys and values, and for each thread RT_ATTENTION_ROWS rows of scores and queries. */
static double attention_bytes(const Node *n, int threads)
{
    double keys = padded((double)n->in[1]->dim[0].bound) + 16;
    double width = (double)n->in[1]->dim[1].bound + (double)n->in[2]->dim[1].bound + 16.0 * n->kv_heads;
    return 4 * (keys * width + (keys + padded((double)n->in[1]->dim[1].bound)) * (double)threads * RT_ATTENTION_ROWS);
}

/* Bytes of one slot, bytes of the buffers that outlive their block, and the most bytes that a block
 * needs for its own buffers. */
typedef struct Sizes { double slot, kept, largest; } Sizes;

static void add_node(Sizes *s, double *own, const Node *n, PlanOptions o, int layers)
{
    for (int r = 0; r < op_rows[n->op].results; r++) {
        const Tensor *t = n->out[r];
        bool wanted = r == 0 || t->output || o.taps || o.target == TARGET_ROW_MAJOR;
        if (wanted && n->op != OP_APPEND) *own += tensor_bytes(t);
        if (o.taps && n->op != OP_APPEND) s->kept += tensor_bytes(t) * (layers ? layers : 1);
        if (t->output || t->holds) s->kept += tensor_bytes(t);
    }
    if (n->op == OP_ATTENTION) *own += attention_bytes(n, o.max_threads);
}

static Sizes sizes_of(const Graph *g, PlanOptions o)
{
    Sizes s = { 0, 0, 0 };
    for (int i = 0; i < g->tensor_count; i++) {
        const Tensor *t = g->tensors[i];
        if (t->kind == TENSOR_STATE) s.slot += tensor_bytes(t) * (t->layers ? t->layers : 1);
        if (t->kind == TENSOR_INPUT) s.kept += tensor_bytes(t);
    }
    for (int i = 0; i < g->block_count; i++) {
        double own = 0;
        for (int j = 0; j < g->blocks[i]->count; j++) add_node(&s, &own, g->blocks[i]->nodes[j], o, g->blocks[i]->layers);
        if (own > s.largest) s.largest = own;
    }
    return s;
}

static double weight_bytes(const Graph *g)
{
    double bytes = 0;
    for (int i = 0; i < g->tensor_count; i++)
        if (g->tensors[i]->kind == TENSOR_PARAM) bytes += tensor_bytes(g->tensors[i]) * (g->tensors[i]->layers ? g->tensors[i]->layers : 1);
    return bytes;
}

bool plan_fits(Diag *d, const Graph *g, PlanOptions options)
{
    const Sizes s = sizes_of(g, options);
    double state = s.slot * options.slots + s.kept + s.largest, weights = weight_bytes(g);
    if (state > MOST_BYTES) {
        diag_error(d, EXIT_BAD_DATA, g->model->at, "the state would take %.3g bytes; the limit is %.3g", state, MOST_BYTES);
        diag_note(d, g->model->at, "%d slot%s of %.3g bytes%s", options.slots, options.slots == 1 ? "" : "s", s.slot,
                  options.slots == 1 ? "" : " each");
    } else if (weights > MOST_BYTES)
        diag_error(d, EXIT_BAD_DATA, g->model->at, "the weights would take %.3g bytes; the limit is %.3g", weights, MOST_BYTES);
    return state <= MOST_BYTES && weights <= MOST_BYTES;
}

/* ---- the memory of this machine ------------------------------------------------------------------------------------ */

static bool fits(double bytes)
{
    const size_t memory = memory_of_machine();
    return !memory || bytes <= (double)memory;
}

/* The weights count twice, as a bound for a second copy of the largest tensor. */
bool plan_is_small(const Graph *g, PlanOptions options)
{
    const Sizes s = sizes_of(g, options);
    return fits(s.slot * options.slots + s.kept + s.largest + 2 * weight_bytes(g));
}

static double dense_bytes(const Tensor *t)
{
    double bytes = 4;
    for (int r = 0; r < t->rank; r++) bytes *= (double)t->dim[r].bound;
    return bytes;
}

static double dense_bytes_of_all(const Graph *g)
{
    double bytes = 0;
    for (int i = 0; i < g->tensor_count; i++) {
        const Tensor *t = g->tensors[i];
        if (t->kind == TENSOR_PARAM) bytes += dense_bytes(t) * (t->layers ? t->layers : 1);
    }
    return bytes;
}

/* Weights of one layer of a block. A weight that two of its operations read counts twice. */
static double dense_bytes_of_block(const Block *b)
{
    double bytes = 0;
    for (int i = 0; i < b->count; i++)
        for (int k = 0; k < NODE_INPUTS; k++) {
            const Tensor *t = b->nodes[i]->in[k];
            if (t && t->kind == TENSOR_PARAM) bytes += dense_bytes(t);
        }
    return bytes;
}

double plan_generic_bytes(const Graph *g, bool *anew)
{
    const double all = dense_bytes_of_all(g);
    double most = 0;
    *anew = !fits(2 * all);
    for (int i = 0; i < g->block_count && *anew; i++)
        most = fmax(most, dense_bytes_of_block(g->blocks[i]));
    return *anew && most < all ? most : all;
}

/* Memory needed at once, in bytes. An engine holds all weights, or, if it reads them again whenever
 * they are needed, those of one layer as f32. Packing holds only slices, which are not counted. */
typedef struct Needs { double weights, layer, state; } Needs;

static double sum(Needs n) { return n.weights + n.layer + n.state; }

static Needs needs_of(const Plan *p, PlanWork work)
{
    bool anew;
    Needs n = { .state = (double)p->state_bytes };
    if (work == WORK_PACK) return n;
    const double held = plan_generic_bytes(p->graph, &anew);
    if (p->options.target == TARGET_PANELS) n.weights = (double)p->weights_bytes;
    else if (anew) n.layer = held;
    else n.weights = held;
    return n;
}

static const char *size_words(Arena *a, double bytes) { return text_bytes(a, (size_t)bytes); }

/* Report how much memory the model takes with another option, if that saves more than a tenth. */
static void tell_choice(Diag *d, const Plan *p, PlanWork work, const Model *m, const char *option)
{
    Arena *a = arena_new();
    const Graph *g = graph_build(a, diag_new(a), m, plan_decoder_rows(m, p->options.slots));
    const double bytes = g ? sum(needs_of(plan_make(a, g, p->options), work)) : HUGE_VAL;
    if (bytes < 0.9 * sum(needs_of(p, work)))
        diag_note(d, (Loc){ 0 }, "with %s it %sneeds %s", option, fits(bytes) ? "" : "still ",
                  size_words(a, bytes));
    arena_free(a);
}

/* Report the options with which the model takes less memory, each on its own. */
static void tell_choices(Diag *d, const Plan *p, PlanWork work)
{
    enum { SHORT = 2048 };
    Arena *a = arena_new();
    int n;
    const char *const *dtypes = field_words("dtypes", &n);
    for (int i = 0; i < n; i++) {
        Model m = *p->graph->model;
        m.dtype = i;
        m.dtype_rule_count = 0;
        if (i != DTYPES_FILE)
            tell_choice(d, p, work, &m, arena_format(a, "--dtype %s", dtypes[i]));
    }
    Model m = *p->graph->model;
    m.max_source = m.max_source < SHORT ? m.max_source : SHORT;
    m.max_target = m.max_target < SHORT ? m.max_target : SHORT;
    tell_choice(d, p, work, &m, "-c 2048");
    m = *p->graph->model;
    for (m.kv_dtype = KV_DTYPES_F16; m.has_decoder && m.kv_dtype < KV_DTYPES; m.kv_dtype++)
        tell_choice(d, p, work, &m, arena_format(a, "--kv-dtype %s", model_kv_dtype(&m)));
    arena_free(a);
}

/* "12.7 TiB of weights, 113 GiB of state", without parts of 0 bytes. */
static const char *needs_words(Arena *a, Needs n)
{
    const struct { double bytes; const char *words; } parts[] = {
        { n.weights, "of weights" }, { n.state, "of state" }, { n.layer, "to read the largest layer" },
    };
    Text t = text_new(a);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (parts[i].bytes >= 1)
            text_printf(&t, "%s%s %s", t.size ? ", " : "", size_words(a, parts[i].bytes), parts[i].words);
    return t.data;
}

bool plan_fits_machine(Diag *d, const Plan *p, PlanWork work)
{
    const Model *m = p->graph->model;
    const Needs n = needs_of(p, work);
    if (fits(sum(n))) return true;
    Arena *a = arena_new();
    diag_error(d, EXIT_NO_FEATURE, (Loc){ 0 }, "%s needs %s of memory (%s), but this machine has %s",
               m->name, size_words(a, sum(n)), needs_words(a, n), text_bytes(a, memory_of_machine()));
    if (m->model_kind != KIND_GRAPH && p->options.target == TARGET_PANELS) tell_choices(d, p, work);
    if (p->options.slots > 1) diag_note(d, (Loc){ 0 }, "with fewer slots (--slots) or beams it needs less");
    diag_note(d, (Loc){ 0 }, "'xformc info' prints the details");
    arena_free(a);
    return false;
}

int64_t plan_decoder_rows(const Model *m, int slots)
{
    enum { MOST_ROWS = 128 };
    const int64_t rows = m->max_target * slots;
    return rows < MOST_ROWS ? rows : MOST_ROWS;
}
