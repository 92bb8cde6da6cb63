/* pack_shared.c: packed data in memory, once for all plans that have the same: a change of choices packs nothing anew. */
#include "pack_parts.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "rt_packed.h"
#include "rt_weights.h"


/* Everything but values that lie elsewhere, and those where they are few. */
static uint64_t hash_source_fields(uint64_t h, const TensorSource *s)
{
    const int64_t whole[] = { s->kind, s->dtype, s->rank, (int64_t)s->offset, (int64_t)s->seed, s->fan_in, s->fan_out, s->layout, s->divisor,
                              s->first, s->distance, s->both_ways, s->start, s->view_rank, s->group, (int64_t)s->scales };
    h = rt_hash(h, whole, sizeof whole);
    h = rt_hash(h, s->shape, (size_t)s->rank * sizeof *s->shape);
    h = rt_hash(h, s->stride, (size_t)s->rank * sizeof *s->stride);
    h = rt_hash(h, &s->plus, sizeof s->plus);
    h = rt_hash(h, s->view_shape, (size_t)s->view_rank * sizeof *s->view_shape);
    h = rt_hash(h, s->view_stride, (size_t)s->view_rank * sizeof *s->view_stride);
    return rt_hash(h, &s->constant, sizeof s->constant);
}

static uint64_t hash_file(uint64_t h, const TensorFile *f)
{
    struct stat status;
    h = rt_hash(h, f->path, strlen(f->path) + 1);
    if (stat(f->path, &status) != 0) return h;
    const int64_t whole[] = { (int64_t)status.st_ino, (int64_t)status.st_size, (int64_t)status.st_mtim.tv_sec, (int64_t)status.st_mtim.tv_nsec };
    return rt_hash(h, whole, sizeof whole);
}

static uint64_t hash_source(uint64_t h, const TensorSource *s)
{
    h = hash_source_fields(h, s);
    if (s->kind == SOURCE_FILE) h = hash_file(h, s->file);
    if (s->kind == SOURCE_XAVIER || s->kind == SOURCE_UNIFORM) h = rt_hash(h, s->name, strlen(s->name) + 1);
    if (s->values) h = rt_hash(h, s->values, (size_t)tensor_elements(s) * sizeof *s->values);
    if (s->rates) h = rt_hash(h, s->rates, (size_t)s->shape[1] / 2 * sizeof *s->rates);
    if (s->added) h = hash_source(h, s->added);
    return s->table ? hash_source(h, s->table) : h;
}

/* What the packed data depends on: two plans of one key have the same bytes. */
static uint64_t data_key(const PackEntry *e, int n, size_t bytes)
{
    uint64_t h = rt_hash(rt_hash_start, &bytes, sizeof bytes);
    for (int i = 0; i < n; i++) {
        const Packed *k = e[i].packed;
        h = rt_hash(rt_hash(h, &k->format, sizeof k->format), &e[i].offset, sizeof e[i].offset);
        h = rt_hash(h, k->shape, (size_t)k->rank * sizeof *k->shape);
        if (k->integers) h = rt_hash(h, k->integers, (size_t)k->integer_count * sizeof *k->integers);
        for (int t = 0; t < 2; t++)
            if (k->tensor[t]) h = hash_source(h, k->tensor[t]->source[e[i].layer_index]);
    }
    return h;
}

/* The latest data first. */
typedef struct Kept { uint64_t key; size_t bytes; int users; unsigned char *data; struct Kept *next; } Kept;
static Kept *kept;
enum { MOST_UNUSED = 256 << 20 };       /* bytes of data that nobody uses and that is kept nevertheless */

static void forget_unused(void)
{
    size_t unused = 0;
    for (Kept **k = &kept; *k;) {
        Kept *this = *k;
        if (!this->users && (unused += this->bytes) > MOST_UNUSED) {
            *k = this->next;
            free(this->data);
            free(this);
        } else k = &this->next;
    }
}

static Kept *find_kept(uint64_t key)
{
    for (Kept **k = &kept; *k; k = &(*k)->next) {
        Kept *this = *k;
        if (this->key != key) continue;
        *k = this->next;
        this->next = kept;
        return kept = this;
    }
    return NULL;
}

const unsigned char *pack_acquire(Arena *a, const Pack *pack, bool *reused)
{
    int n;
    const size_t bytes = pack->plan->weights_bytes;
    const PackEntry *e = pack_entries(a, pack->plan, &n);
    const uint64_t key = data_key(e, n, bytes);
    Kept *k = find_kept(key);
    *reused = k != NULL;
    if (!k) {
        k = malloc(sizeof *k);
        unsigned char *data = rt_weights_room(bytes, NULL);
        if (!k || !data) no_memory("%zu bytes of weights", bytes);
        memset(data, 0, bytes);
        pack_tensors(data, e, n);
        *k = (Kept){ key, bytes, 0, data, kept };
        kept = k;
    }
    k->users++;
    return k->data;
}

void pack_release(const unsigned char *data)
{
    for (Kept *k = kept; k; k = k->next)
        if (k->data == data && k->users) k->users--;
    forget_unused();
}
