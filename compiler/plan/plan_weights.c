/* plan_weights.c: choose the format, shape and offset of each packed tensor. Offsets are 64-byte
 * aligned and in order of execution, so that weights are read as one forward stream; tensors that
 * layers or blocks share, and tables of tokenizers, come last.
 *
 * The tensors of a block of layers are contiguous, layer after layer, at a constant stride. */
#include "plan.h"
#include "weights.h"

#include <string.h>

/* The format that a matrix has in its file: int8 or int4 in groups, or bf16; f32 for all other
 * formats, or if its layers differ. */
static Format format_in_file(const Tensor *t)
{
    Format f = FORMAT_PANELS_F32;
    for (int i = 0; i < (t->layers ? t->layers : 1); i++) {
        const int bits = tensor_block_bits(t->source[i]);
        const Format of_layer = bits == 8 ? FORMAT_PANELS_INT8 : bits == 4 ? FORMAT_PANELS_INT4
                              : tensor_is_bf16(t->source[i]) ? FORMAT_PANELS_BF16 : FORMAT_PANELS_F32;
        if (i && of_layer != f) return FORMAT_PANELS_F32;
        f = of_layer;
    }
    return f;
}

/* True for a matrix that is read, and read only by linears and embeddings. */
static bool is_matrix(const Graph *g, const Tensor *t)
{
    bool used = false;
    if (t->kind != TENSOR_PARAM || t->rank != 2) return false;
    for (int i = 0; i < g->block_count; i++)
        for (int j = 0; j < g->blocks[i]->count; j++) {
            const Node *n = g->blocks[i]->nodes[j];
            for (int k = 0; k < NODE_INPUTS; k++) {
                if (n->in[k] != t) continue;
                if (!(n->op == OP_LINEAR && k == 1) && !(n->op == OP_EMBED && k == 0)) return false;
                used = true;
            }
        }
    return used;
}

/* The name in the model; for several layers, that of the first. */
static const char *matrix_name(const Tensor *t) { return t->layers ? t->source[0]->name : t->name; }

/* The format of panels for a dtype. */
static Format format_of_dtype(int dtype)
{
    int n;
    const char *word = field_words("dtypes", &n)[dtype];
    for (int f = 0; f < FORMATS; f++)
        if (strcmp(format_rows[f].word, word) == 0) return (Format)f;
    die("no format for dtype %s", word);
}

Format plan_weight_format(const Graph *g, const Tensor *t)
{
    enum { MOST_INPUTS = 65536 };               /* the longest row that kernels round at once */
    if (!model_is_narrow(g->model) || !is_matrix(g, t)) return FORMAT_PANELS_F32;
    const int dtype = model_dtype_of(g->model, matrix_name(t));
    const Format f = dtype == DTYPES_FILE ? format_in_file(t) : format_of_dtype(dtype);
    return format_is_quantised(f) && t->dim[1].bound > MOST_INPUTS ? FORMAT_PANELS_F32 : f;
}

/* True if a rule matches the matrix t or one of its layers. */
static bool is_matched(const DtypeRule *r, const Graph *g, const Tensor *t)
{
    bool any = false;
    if (!is_matrix(g, t)) return false;
    for (int i = 0; i < (t->layers ? t->layers : 1); i++) any |= dtype_rule_matches(r, t->layers ? t->source[i]->name : t->name);
    return any;
}

static bool matches_any(Diag *d, const Graph *g, const DtypeRule *r)
{
    for (int i = 0; i < g->tensor_count; i++)
        if (is_matched(r, g, g->tensors[i])) return true;
    diag_error(d, EXIT_BAD_DATA, r->at, "dtype: no linear or embedding matches \"%s\"",
               r->pattern);
    if (g->model->tied && strncmp(r->pattern, "output", strlen("output")) == 0)
        diag_note(d, r->at, "the output layer is the embedding, \"decoder.embed.table\"");
    else diag_note(d, r->at, "'xformc compile SPEC -d m' lists the names");
    return false;
}

bool plan_dtypes_hold(Diag *d, const Graph *g)
{
    const Model *m = g->model;
    bool good = true;
    for (int i = 0; i < m->dtype_rule_count; i++) good &= matches_any(d, g, &m->dtype_rules[i]);
    for (int i = 0; m->dtype_rule_count && good && i < m->tensor_count; i++) {
        const DtypeRule *other, *rule = model_dtype_rule(m, m->tensors[i].name, &other);
        if (!other) continue;
        diag_error(d, EXIT_BAD_DATA, other->at, "dtype: \"%s\" and \"%s\" both match %s, and "
                   "neither is more specific", rule->pattern, other->pattern,
                   m->tensors[i].name);
        good = false;
    }
    return good;
}

/* The shape is [panels][bytes] if elements are bytes, else [panels][pairs of inputs][32]. */
static void shape_narrow(Packed *k)
{
    const Tensor *t = k->tensor[0];
    const int64_t size = format_rows[k->format].size;
    const int64_t bytes = (int64_t)rt_panel_bytes((int)t->dim[1].bound, k->tensor[1] != NULL, format_bits(k->format));
    k->rank = size > 1 ? 3 : 2;
    k->shape[0] = pad16(t->dim[0].bound) / 16;
    k->shape[1] = size > 1 ? bytes / (32 * size) : bytes;
    k->shape[2] = 32;
}

static void shape_packed(Packed *k)
{
    const Tensor *t = k->tensor[0];
    switch (k->format) {
    case FORMAT_PANELS_F32:
        k->rank = 3;
        k->shape[0] = pad16(t->dim[0].bound) / 16;
        k->shape[1] = t->dim[1].bound + (k->tensor[1] ? 1 : 0);
        k->shape[2] = 16;
        break;
    case FORMAT_VECTORS_F32:
        k->rank = 2;
        k->shape[0] = k->tensor[1] ? 2 : 1;
        k->shape[1] = pad16(t->dim[0].bound);
        break;
    case FORMAT_TABLE_F32:
        k->rank = 2;
        k->shape[0] = t->dim[0].bound;
        k->shape[1] = pad16(t->dim[1].bound);
        break;
    case FORMAT_DISTANCE_F32:
        k->rank = 1;
        k->shape[0] = pad16(t->dim[0].bound * t->dim[1].bound);
        break;
    case FORMAT_TABLE_I32:
        k->rank = 1;
        k->shape[0] = pad16(k->integer_count);
        break;
    default: shape_narrow(k); break;
    }
    k->bytes = (size_t)format_rows[k->format].size;
    for (int r = 0; r < k->rank; r++) k->bytes *= (size_t)k->shape[r];
}

static size_t place_block(Plan *p, PlanBlock *b, size_t at)
{
    size_t start = at;
    for (int i = 0; i < p->packed_count; i++) {
        Packed *k = p->packed[i];
        if (k->block != b) continue;
        k->offset = at;
        at += k->bytes;
    }
    b->weights_offset = start;
    b->weights_stride = at - start;
    for (int i = 0; i < p->packed_count; i++)
        if (p->packed[i]->block == b) p->packed[i]->stride = p->packed[i]->layers ? b->weights_stride : 0;
    int layers = b->block->layers ? b->block->layers : 1;
    return start + (size_t)layers * b->weights_stride;
}

/* About the size of the last-level cache of current machines. Larger weights are read from memory
 * for each row. */
enum { MOST_CACHED = 32 << 20 };

/* About the size of the largest cache of one core. With few rows and larger weights, reading the
 * weights takes most of the time. If threads divide the rows, each thread reads all weights: with
 * 1.1 billion int8 weights, eight rows divided this way took 97 ms on two threads, against 131 ms
 * on one. */
enum { LEAST_SHARED = 4 << 20 };

void plan_weights(Plan *p)
{
    size_t at = 0;
    for (int i = 0; i < p->packed_count; i++) shape_packed(p->packed[i]);
    for (int i = 0; i < p->block_count; i++) at = place_block(p, p->blocks[i], at);
    for (int i = 0; i < p->packed_count; i++) {
        Packed *k = p->packed[i];
        if (k->block) continue;     /* what layers or blocks share, and tokenizers, come last */
        k->offset = at;
        at += k->bytes;
    }
    p->weights_bytes = at;
    const double read = plan_cost(p, PROGRAM_STEP, 1, 1, 1).weight_bytes;
    p->one_stream = read > MOST_CACHED;
    p->few_rows = p->options.target == TARGET_PANELS && plan_rows(p) > 1 && read >= LEAST_SHARED ? PLAN_FEW_ROWS : 0;
}
