/* pack_key.c: a hash of everything that packed data depends on: the sources of its numbers, how
 * they are packed, the files as they were when opened, and the packer itself. */
#include "pack_parts.h"

#include <string.h>

#include "rt_packed.h"

#ifndef PACKER_VERSION
#error "PACKER_VERSION is a hash of the sources that determine the bytes; see the Makefile"
#endif

/* Hash the fields of a source, but neither its name nor what it points to; hash_source adds these
 * if the numbers depend on them. */
static uint64_t hash_source_fields(uint64_t h, const TensorSource *s)
{
    const int64_t whole[] = {
        s->kind, s->dtype, s->rank, (int64_t)s->offset, (int64_t)s->seed, s->fan_in, s->fan_out,
        s->layout, s->divisor, s->first, s->distance, s->both_ways, s->start, s->skip,
        s->view_rank, s->group, (int64_t)s->scales,
    };
    h = rt_hash(h, whole, sizeof whole);
    h = rt_hash(h, s->shape, (size_t)s->rank * sizeof *s->shape);
    h = rt_hash(h, s->stride, (size_t)s->rank * sizeof *s->stride);
    h = rt_hash(h, &s->plus, sizeof s->plus);
    h = rt_hash(h, s->view_shape, (size_t)s->view_rank * sizeof *s->view_shape);
    h = rt_hash(h, s->view_stride, (size_t)s->view_rank * sizeof *s->view_stride);
    return rt_hash(h, &s->constant, sizeof s->constant);
}

/* Hash the path, the stamp and both ends of a file instead of all its bytes: writing to a file
 * changes its times and, in most cases, its beginning or end. */
static uint64_t hash_file(const TensorFile *f)
{
    enum { ENDS = 4096 };
    const FileStamp *stamp = &f->map.stamp;
    const size_t n = f->map.size < ENDS ? f->map.size : ENDS;
    const int64_t whole[] = {
        (int64_t)stamp->device, (int64_t)stamp->inode, stamp->size, stamp->seconds,
        stamp->nanoseconds, stamp->changed_seconds, stamp->changed_nanoseconds,
    };
    uint64_t h = rt_hash(rt_hash_start, f->path, strlen(f->path) + 1);
    h = rt_hash(h, whole, sizeof whole);
    h = rt_hash(h, f->map.data, n);
    return rt_hash(h, f->map.data + f->map.size - n, n);
}

/* The file hashed last: consecutive tensors are mostly from one file. */
typedef struct LastFile { const TensorFile *file; uint64_t hash; } LastFile;

static uint64_t hash_source(uint64_t h, const TensorSource *s, LastFile *last)
{
    h = hash_source_fields(h, s);
    const bool of_file = s->kind == SOURCE_FILE;
    const bool of_name = s->kind == SOURCE_XAVIER || s->kind == SOURCE_UNIFORM;
    if (of_file && last->file != s->file) *last = (LastFile){ s->file, hash_file(s->file) };
    if (of_file) h = rt_hash(h, &last->hash, sizeof last->hash);
    if (of_name) h = rt_hash(h, s->name, strlen(s->name) + 1);
    if (s->values) h = rt_hash(h, s->values, (size_t)tensor_elements(s) * sizeof *s->values);
    if (s->rates) h = rt_hash(h, s->rates, (size_t)s->shape[1] / 2 * sizeof *s->rates);
    if (s->added) h = hash_source(h, s->added, last);
    return s->table ? hash_source(h, s->table, last) : h;
}

uint64_t pack_key(const PackEntry *e, int n, size_t bytes)
{
    static const uint64_t version = PACKER_VERSION;
    LastFile last = { NULL, 0 };
    uint64_t h = rt_hash(rt_hash(rt_hash_start, &version, sizeof version), &bytes, sizeof bytes);
    for (int i = 0; i < n; i++) {
        const Packed *k = e[i].packed;
        h = rt_hash(rt_hash(h, &k->format, sizeof k->format), &e[i].offset, sizeof e[i].offset);
        h = rt_hash(h, k->shape, (size_t)k->rank * sizeof *k->shape);
        const size_t integers = (size_t)k->integer_count * sizeof *k->integers;
        if (k->integers) h = rt_hash(h, k->integers, integers);
        for (int t = 0; t < 2; t++)
            if (k->tensor[t]) h = hash_source(h, k->tensor[t]->source[e[i].layer_index], &last);
    }
    return h;
}
