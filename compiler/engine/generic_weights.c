/* generic_weights.c: the weights of the generic engine: dense row-major f32, rounded to their
 * formats. Either they are kept, or each is read for an operation (in generic_walk, for a layer)
 * and then dropped. */
#include "generic.h"
#include "weights.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static void round_rows(float *w, const Plan *p, const Tensor *t, int64_t rows)
{
    const Format f = p->formats[t->id];
    if (format_is_narrow(f)) round_narrow(w, f, rows, t->dim[1].bound);
}

void generic_round_weights(float *w, const Plan *p, const Tensor *t)
{
    round_rows(w, p, t, t->dim[0].bound);
}

/* Read `source`, the tensor or some of its rows, and round it to the tensor's format unless it is
 * stored with as many bits. */
static void read_rounded(float *to, const Plan *p, const Tensor *t, const TensorSource *source)
{
    tensor_read(source, to);
    const bool as_stored = tensor_block_bits(source) == format_bits(p->formats[t->id]);
    if (!as_stored) round_rows(to, p, t, source->shape[0]);
}

/* The number of layers of a param; 0 for any other tensor. */
static int layers_of(const Tensor *t) { return t->kind != TENSOR_PARAM ? 0 : t->layers ? t->layers : 1; }

static float *room_for(Arena *a, const Tensor *t, int layer)
{
    return arena_array(a, (size_t)tensor_elements(t->source[layer]), sizeof(float));
}

/* A pointer to the weights of each layer of each param, all NULL. */
static float ***new_table(Arena *a, const Graph *g)
{
    float ***table = arena_array(a, (size_t)g->tensor_count, sizeof *table);
    for (int i = 0; i < g->tensor_count; i++) {
        const int n = layers_of(g->tensors[i]);
        if (n) table[g->tensors[i]->id] = arena_array(a, (size_t)n, sizeof **table);
    }
    return table;
}

static KeptWeights *read_all(const Plan *p)
{
    const Graph *g = p->graph;
    Arena *a = arena_new();
    KeptWeights *kept = arena_alloc(a, sizeof *kept);
    *kept = (KeptWeights){ .arena = a, .weights = new_table(a, g) };
    for (int i = 0; i < g->tensor_count; i++) {
        const Tensor *t = g->tensors[i];
        for (int j = 0; j < layers_of(t); j++) {
            float *values = room_for(a, t, j);
            read_rounded(values, p, t, t->source[j]);
            kept->weights[t->id][j] = values;
        }
    }
    return kept;
}

static bool same_weights(const Plan *p, const Engine *beside)
{
    const Graph *g = p->graph;
    return beside && beside->plan->graph == g && ((const Generic *)beside->own)->kept &&
           memcmp(beside->plan->formats, p->formats, (size_t)g->tensor_count * sizeof *p->formats) == 0;
}

void generic_open_weights(Generic *own, const Plan *p, bool keep, const Engine *beside)
{
    const Graph *g = p->graph;
    own->weights = new_table(own->arena, g);
    if (!keep) return;
    own->kept = same_weights(p, beside) ? ((const Generic *)beside->own)->kept : read_all(p);
    own->kept->users++;
    for (int i = 0; i < g->tensor_count; i++) {
        const int id = g->tensors[i]->id;
        for (int j = 0; j < layers_of(g->tensors[i]); j++) own->weights[id][j] = own->kept->weights[id][j];
    }
}

void generic_close_weights(Generic *own)
{
    if (own->kept && --own->kept->users == 0) arena_free(own->kept->arena);
}

float *generic_own_weights(Generic *own, const Tensor *t, int layer)
{
    float **w = &own->weights[t->id][layer];
    if (!*w || (own->kept && *w == own->kept->weights[t->id][layer])) *w = room_for(own->arena, t, layer);
    return *w;
}

/* ---- reading by threads ---------------------------------------------------------------------- */

/* BLOCK: numbers in the rows that a thread takes at a time. LEAST_SHARED: numbers in the smallest
 * matrix that is worth starting threads for. */
enum { BLOCK = 1 << 17, LEAST_SHARED = 1 << 20, MOST_THREADS = 8 };

/* The threads that share the reading of a matrix of that many numbers; they are started for the
 * first large matrix. */
static rt_team *team_for(Generic *own, int64_t numbers)
{
    const int processors = rt_processors();
    if (!own->team && numbers >= LEAST_SHARED)
        rt_team_resize(&own->team, processors < MOST_THREADS ? processors : MOST_THREADS);
    return own->team;
}

typedef struct Reading {
    const Plan *plan;
    const Tensor *w;  const TensorSource *source;
    float *to;
    int64_t all, each, width;               /* rows; rows per block; numbers per row */
    atomic_llong next;
} Reading;

static void read_blocks(void *user, int thread, int threads)
{
    Reading *job = user;
    (void)thread, (void)threads;
    for (int64_t first; (first = atomic_fetch_add(&job->next, job->each)) < job->all;) {
        const int64_t rows = job->all - first < job->each ? job->all - first : job->each;
        TensorSource part;
        if (!tensor_rows(job->source, first, rows, &part)) die("cannot read some rows of %s", job->source->name);
        read_rounded(job->to + first * job->width, job->plan, job->w, &part);
    }
}

const float *generic_read_weights(const Engine *e, const Tensor *t, int layer)
{
    Generic *own = e->own;
    const TensorSource *source = t->source[layer];
    float **w = &own->weights[t->id][layer];
    const int64_t n = tensor_elements(source);
    TensorSource part;
    *w = malloc((size_t)n * sizeof **w + 1);
    if (!*w) no_memory("the %lld numbers of %s", (long long)n, source->name);
    if (own->anew_count == own->anew_room) {
        own->anew_room = own->anew_room ? 2 * own->anew_room : 32;
        own->anew = realloc(own->anew, (size_t)own->anew_room * sizeof *own->anew);
        if (!own->anew) no_memory("%d weights of an operation", own->anew_room);
    }
    own->anew[own->anew_count++] = w;
    if (n < LEAST_SHARED || !tensor_rows(source, 0, 1, &part)) {
        read_rounded(*w, e->plan, t, source);
        return *w;
    }
    Reading job = { .plan = e->plan, .w = t, .source = source, .to = *w,
                    .all = source->shape[0], .width = source->shape[1] };
    job.each = job.width < BLOCK ? BLOCK / job.width : 1;
    rt_team_share(team_for(own, n), read_blocks, &job);
    return *w;
}

static bool is_kept(const Generic *own, const Tensor *t, int layer)
{
    return own->weights[t->id][layer] != NULL;
}

const float *generic_table_row(const Engine *e, const Tensor *t, int layer, int64_t row)
{
    Generic *own = e->own;
    const int64_t width = t->dim[1].bound;
    TensorSource part;
    if (is_kept(own, t, layer)) return own->weights[t->id][layer] + row * width;
    if (!tensor_rows(t->source[layer], row, 1, &part))
        return generic_read_weights(e, t, layer) + row * width;
    if (own->row_room < width) {
        own->row = arena_array(own->arena, (size_t)width, sizeof *own->row);
        own->row_room = width;
    }
    read_rounded(own->row, e->plan, t, &part);
    return own->row;
}

/* ---- products by rows ------------------------------------------------------------------------ */

typedef struct ByRows {
    const Engine *engine;
    const Tensor *w;  const TensorSource *source;  int layer;
    const BlasProduct *product;
    float *c;  const float *a;
    float *room;                            /* [threads][rows][product->k] */
    int rows;
    atomic_int next;
} ByRows;

static void read_rows(float *to, const ByRows *job, int first, int rows)
{
    const PackedData *packed = ((const Generic *)job->engine->own)->packed;
    TensorSource part;
    if (packed && unpack_rows(packed, job->source, job->layer, first, rows, to)) return;
    if (!tensor_rows(job->source, first, rows, &part)) die("cannot read some rows of %s", job->source->name);
    read_rounded(to, job->engine->plan, job->w, &part);
}

static void some_rows(void *user, int thread, int threads)
{
    ByRows *job = user;
    BlasProduct p = *job->product;
    float *const room = job->room + (int64_t)thread * job->rows * p.k;
    (void)threads;
    for (int first; (first = atomic_fetch_add(&job->next, job->rows)) < job->product->n;) {
        p.n = job->product->n - first < job->rows ? job->product->n - first : job->rows;
        read_rows(room, job, first, p.n);
        plain_product(&p, job->c + first, job->a, room);
    }
}

bool generic_product_by_rows(const Engine *e, const Tensor *w, int layer, const BlasProduct *p,
                             float *c, const float *a)
{
    Generic *own = e->own;
    TensorSource part;
    if (own->product != plain_product || own->walks || is_kept(own, w, layer)) return false;
    if (!tensor_rows(w->source[layer], 0, 1, &part)) return false;
    rt_team *team = team_for(own, (int64_t)p->n * p->k);
    ByRows job = { .engine = e, .w = w, .source = w->source[layer], .layer = layer,
                   .product = p, .c = c, .a = a };
    job.rows = p->k < BLOCK / 16 ? BLOCK / p->k / 16 * 16 : 16;         /* whole panels */
    if (job.rows > p->n) job.rows = p->n;
    const size_t numbers = (size_t)rt_team_threads(team) * (size_t)job.rows * (size_t)p->k;
    if (!(job.room = malloc(numbers * sizeof *job.room)))
        no_memory("%zu numbers of %s", numbers, job.source->name);
    rt_team_share(team, some_rows, &job);
    free(job.room);
    return true;
}

void generic_forget_weights(Generic *own)
{
    while (own->anew_count) {
        float **w = own->anew[--own->anew_count];
        free(*w);
        *w = NULL;
    }
}
