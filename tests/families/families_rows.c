/* families_rows.c: compare a folder's model with its reference: a decoder's logits, with rows fed
 * one by one, all at once and in pieces, and its greedy ids by `next` and by `decode_greedy`; or an
 * encoder's hidden states or vector.
 * usage: families_rows FOLDER REFERENCE ENGINE [CC [unrolled]]
 * Prints the distances; exits with 0 if all agree. */
#include <stdio.h>
#include <string.h>

#include "dtypes.h"
#include "engine_open.h"
#include "session.h"
#include "tolerance.h"
#include "trace.h"
#include "weights.h"

enum { MOST_ROWS = 256 };

typedef struct Ids { int id[MOST_ROWS]; int n; } Ids;

static bool read_ids(const TensorFile *f, const char *name, Ids *ids)
{
    const TensorSource *t = tensor_file_find(f, name);
    if (!t || t->rank != 1 || t->dtype != DTYPE_I32 || t->shape[0] > MOST_ROWS) return false;
    ids->n = (int)t->shape[0];
    memcpy(ids->id, f->map.data + t->offset, sizeof *ids->id * (size_t)ids->n);
    return true;
}

static void keep(const Engine *e, float *to, int first, int n, int64_t vocab)
{
    for (int i = 0; i < n; i++)
        memcpy(to + (first + i) * vocab, e->ops->logits(e) + i * engine_logits_stride(e), (size_t)vocab * sizeof *to);
}

/* Feed rows first .. first + n - 1 in one call, or by step if n is 1, and keep their logits. */
static bool feed(Engine *e, const Ids *target, int first, int n, float *to, int64_t vocab)
{
    rt_token rows[MOST_ROWS];
    for (int i = 0; i < n; i++) rows[i] = (rt_token){ .slot = 0, .pos = first + i, .id = target->id[first + i] };
    if ((n == 1 ? e->ops->step(e, target->id[first]) : e->ops->decode(e, rows, n)) != RT_OK) return false;
    keep(e, to, first, n, vocab);
    return true;
}

/* Encode the source, if any, feed the target in pieces of `piece` rows, and keep the logits. */
static bool run(Engine *e, const Ids *source, const Ids *target, int piece, float *to, int64_t vocab)
{
    engine_reset(e);
    if (source->n && e->ops->encode(e, 0, source->id, source->n) != RT_OK) return false;
    for (int at = 0; at < target->n; at += piece)
        if (!feed(e, target, at, at + piece <= target->n ? piece : target->n - at, to, vocab)) return false;
    return true;
}

/* Compare the greedy ids again, with all rows fed in one call. */
static bool check_greedy_rows(Engine *e, const Ids *source, const Ids *target, const Ids *greedy)
{
    rt_token rows[MOST_ROWS];
    int next[MOST_ROWS], same = 0;
    engine_reset(e);
    if (source->n && e->ops->encode(e, 0, source->id, source->n) != RT_OK) return false;
    for (int i = 0; i < greedy->n; i++) rows[i] = (rt_token){ 0, i, i ? greedy->id[i - 1] : target->id[0] };
    if (e->ops->decode_greedy(e, rows, greedy->n, next) != RT_OK) return false;
    for (int i = 0; i < greedy->n; i++) same += next[i] == greedy->id[i];
    printf("greedy, at once: %d ids of %d\n", same, greedy->n);
    return same == greedy->n;
}

/* Compare the greedy ids that follow the target's first id, by `next`, then by
 * check_greedy_rows. */
static bool check_greedy(Engine *e, const Ids *source, const Ids *target, const Ids *greedy)
{
    int id = target->id[0], same = 0;
    engine_reset(e);
    if (source->n && e->ops->encode(e, 0, source->id, source->n) != RT_OK) return false;
    for (int i = 0; i < greedy->n && e->ops->next(e, id, &id) == RT_OK; i++) same += id == greedy->id[i];
    printf("greedy: %d ids of %d\n", same, greedy->n);
    return greedy->n && same == greedy->n && check_greedy_rows(e, source, target, greedy);
}

static bool near(const Session *s, const char *name, int64_t rows, int64_t width, float *found, float *expected)
{
    const TraceTensor a = { name, 2, { rows, width }, found, false }, b = { name, 2, { rows, width }, expected, false };
    const double distance = trace_distance(&a, &b);
    printf("%s: %.1e\n", name, distance);
    return distance <= model_tolerance(s->model, name);
}

static bool check_decoder(Session *s, Engine *e, TensorFile *f)
{
    Ids source = { .n = 0 }, target, greedy;
    const TensorSource *logits = tensor_file_find(f, "logits");
    bool good = logits && read_ids(f, "target", &target) && read_ids(f, "greedy", &greedy);
    if (s->model->has_encoder) good = good && read_ids(f, "source", &source);
    const int64_t n = good ? tensor_elements(logits) : 0, vocab = s->model->target_vocab;
    float *expected = arena_array(s->arena, (size_t)n, sizeof *expected), *found = arena_array(s->arena, (size_t)n, sizeof *found);
    good = good && logits->shape[1] == vocab && logits->shape[0] == target.n;
    if (good) tensor_read(logits, expected);
    const int pieces[] = { 1, good ? target.n : 1, 5, 3 };
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces && good; i++) {
        memset(found, 0, (size_t)n * sizeof *found);
        printf("pieces of %d, ", pieces[i]);
        good = run(e, &source, &target, pieces[i], found, vocab) && near(s, "logits", target.n, vocab, found, expected);
    }
    return good && check_greedy(e, &source, &target, &greedy);
}

/* Compare an encoder's hidden states, or the output of its head. */
static bool check_encoder(Session *s, Engine *e, TensorFile *f)
{
    const Model *m = s->model;
    const bool head = model_has_head(m);
    const char *name = head ? "vector" : arena_format(s->arena, "encoder.%d.norm.1", (int)m->encoder.layers - 1);
    const TensorSource *t = tensor_file_find(f, name);
    const int64_t width = head ? model_vector_width(m) : m->d_model;
    Ids source;
    if (!t || !read_ids(f, "source", &source) || e->ops->encode(e, 0, source.id, source.n) != RT_OK) return false;
    const int rows = head && model_pools(m) ? 1 : source.n;
    if (tensor_elements(t) != rows * width) return false;
    float *expected = arena_array(s->arena, (size_t)(rows * width), sizeof *expected);
    float *found = arena_array(s->arena, (size_t)(rows * width), sizeof *found);
    tensor_read(t, expected);
    engine_read(e, head ? plan_vector(e->plan) : plan_hidden(e->plan), 0, rows, (int)width, found);
    return near(s, name, rows, width, found, expected);
}

static bool check(Session *s, Engine *e, const char *path)
{
    TensorFile *f = safetensors_open(s->arena, s->diag, (Loc){ 0 }, path);
    const bool good = f && (s->model->has_decoder ? check_decoder : check_encoder)(s, e, f);
    tensor_file_close(f);
    return good;
}

int main(int argc, char **argv)
{
    const CompileOptions c = { .spec = argc > 3 ? argv[1] : NULL, .cc = argc > 4 ? argv[4] : NULL,
                        .form.kernels = argc > 5 ? KERNELS_UNROLLED : KERNELS_LIBRARY };
    if (!c.spec) return EXIT_USAGE;
    Session *s = session_new(&c);
    Engine *e = session_read(s) ? session_engine(s, argc > 3 ? engine_of_name(argv[3]) : ENGINE_ANY, false) : NULL;
    const bool good = e && check(s, e, argv[2]);
    if (e) engine_close(e);
    const Exit code = session_end(s);
    return code != EXIT_DONE ? (int)code : good ? 0 : 1;
}
