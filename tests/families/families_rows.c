/* families_rows.c: a folder's model fed row by row, all rows at once, and in two pieces, each against the logits that its reference
 * has. usage: families_rows FOLDER REFERENCE ENGINE [CC]          prints the distances; 0 where all are agreement */
#include <stdio.h>
#include <string.h>

#include "dtypes.h"
#include "session.h"
#include "trace.h"

enum { MOST_ROWS = 64 };

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

/* Rows first .. first + n - 1 in one call, or by step where n is 1. */
static bool feed(Engine *e, const Ids *target, int first, int n, float *to, int64_t vocab)
{
    rt_row rows[MOST_ROWS];
    for (int i = 0; i < n; i++) rows[i] = (rt_row){ .slot = 0, .position = first + i, .id = target->id[first + i] };
    if ((n == 1 ? e->ops->step(e, target->id[first]) : e->ops->rows(e, rows, n)) != RT_OK) return false;
    keep(e, to, first, n, vocab);
    return true;
}

/* The target in pieces of so many rows. */
static bool run(Engine *e, const Ids *source, const Ids *target, int piece, float *to, int64_t vocab)
{
    engine_reset(e);
    if (source->n && e->ops->encode(e, source->id, source->n) != RT_OK) return false;
    for (int at = 0; at < target->n; at += piece)
        if (!feed(e, target, at, at + piece <= target->n ? piece : target->n - at, to, vocab)) return false;
    return true;
}

static bool check(Session *s, Engine *e, const char *path)
{
    Ids source = { .n = 0 }, target;
    TensorFile *f = safetensors_open(s->arena, s->diag, (Loc){ 0 }, path);
    const TensorSource *logits = f ? tensor_file_find(f, "logits") : NULL;
    bool good = logits && read_ids(f, "target", &target) && (!s->model->has_encoder || read_ids(f, "source", &source));
    const int64_t n = good ? tensor_elements(logits) : 0, vocab = s->model->target_vocab;
    float *expected = arena_array(s->arena, (size_t)n, sizeof *expected), *found = arena_array(s->arena, (size_t)n, sizeof *found);
    good = good && logits->shape[1] == vocab && logits->shape[0] == target.n;
    if (good) tensor_read(logits, expected);
    const int pieces[] = { 1, good ? target.n : 1, 5, 3 };
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces && good; i++) {
        memset(found, 0, (size_t)n * sizeof *found);
        good = run(e, &source, &target, pieces[i], found, vocab);
        const TraceTensor a = { "logits", 2, { target.n, vocab }, found }, b = { "logits", 2, { target.n, vocab }, expected };
        const double distance = trace_distance(&a, &b);
        printf("pieces of %d: %.1e\n", pieces[i], distance);
        good = good && distance <= engine_tolerance(s->model, "logits");
    }
    tensor_file_close(f);
    return good;
}

int main(int argc, char **argv)
{
    const Choices c = { .spec = argc > 3 ? argv[1] : NULL, .engine = argc > 3 ? argv[3] : NULL, .cc = argc > 4 ? argv[4] : NULL };
    if (!c.spec) return EXIT_USAGE;
    Session *s = session_new(&c);
    Engine *e = session_read(s) ? session_engine(s, c.engine, NULL, false) : NULL;
    const bool good = e && check(s, e, argv[2]);
    if (e) engine_close(e);
    const Exit code = session_end(s);
    return code != EXIT_DONE ? (int)code : good ? 0 : 1;
}
