/* pack_slices.c: pack with several threads, in slices of about SLICE_BYTES, each of whole panels or
 * rows. A file is written slice by slice, so that only a few slices are in memory. */
#include "pack_parts.h"

#include <limits.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "progress.h"
#include "rt.h"
#include "weights.h"

/* Bytes of weights as f32; a panel, or an entry that cannot be cut, may be larger. */
enum { SLICE_BYTES = 2 << 20 };

/* `count` panels or rows of an entry, from `first` on; `at`: their offset in the data. */
typedef struct Slice { const PackEntry *entry; int64_t first, count; size_t at, bytes; } Slice;

/* ---- cutting --------------------------------------------------------------------------------- */

/* Tensor rows in a unit of an entry: 16 for panels, 1 for tables; 0 if it cannot be cut. */
static int64_t rows_in_unit(const PackEntry *e)
{
    const Packed *k = e->packed;
    TensorSource part;
    const bool panels = k->format == FORMAT_PANELS_F32 || format_is_narrow(k->format);
    if (!panels && k->format != FORMAT_TABLE_F32) return 0;
    for (int i = 0; i < 2 && k->tensor[i]; i++)
        if (!tensor_rows(k->tensor[i]->source[e->layer_index], 0, 1, &part)) return 0;
    return panels ? 16 : 1;
}

static int64_t units_in_slice(const PackEntry *e)
{
    const Packed *k = e->packed;
    const int64_t rows = rows_in_unit(e);
    if (!rows) return k->shape[0];
    const int64_t units = SLICE_BYTES / (4 * rows * k->tensor[0]->dim[1].bound);
    return units < 1 ? 1 : units < k->shape[0] ? units : k->shape[0];
}

static Slice *slices_of(const PackEntry *e, int n, int64_t *count)
{
    *count = 0;
    for (int i = 0; i < n; i++) {
        const int64_t most = units_in_slice(&e[i]);
        *count += (e[i].packed->shape[0] + most - 1) / most;
    }
    Slice *slices = malloc((size_t)*count * sizeof *slices + 1), *s = slices;
    if (!slices) no_memory("%lld slices of weights", (long long)*count);
    for (int i = 0; i < n; i++) {
        const int64_t units = e[i].packed->shape[0], most = units_in_slice(&e[i]);
        const size_t each = e[i].packed->bytes / (size_t)units;
        for (int64_t first = 0; first < units; first += most, s++) {
            const int64_t these = units - first < most ? units - first : most;
            const size_t at = e[i].offset + (size_t)first * each;
            *s = (Slice){ &e[i], first, these, at, (size_t)these * each };
        }
    }
    return slices;
}

/* Pack a slice like an entry whose tensors have only the rows of the slice. */
static void pack_slice(unsigned char *out, const Slice *s)
{
    const Packed *whole = s->entry->packed;
    if (s->count == whole->shape[0]) {
        pack_tensor(out, s->entry);
        return;
    }
    Packed k = *whole;
    Tensor tensors[2];
    TensorSource sources[2];
    const TensorSource *at[2] = { &sources[0], &sources[1] };
    const int64_t each = rows_in_unit(s->entry), first = s->first * each;
    const int64_t left = whole->tensor[0]->dim[0].bound - first;
    const int64_t rows = left < s->count * each ? left : s->count * each;
    for (int i = 0; i < 2 && whole->tensor[i]; i++) {
        const TensorSource *source = whole->tensor[i]->source[s->entry->layer_index];
        tensors[i] = *whole->tensor[i];
        tensors[i].dim[0].bound = rows;
        tensors[i].source = &at[i];
        if (!tensor_rows(source, first, rows, &sources[i])) die("%s cannot be cut into slices", whole->name);
        k.tensor[i] = &tensors[i];
    }
    k.shape[0] = s->count;
    k.bytes = s->bytes;
    pack_tensor(out, &(PackEntry){ &k, 0, 0 });
}

/* ---- by several threads ---------------------------------------------------------------------- */

/* True if packing takes long enough to be worth threads and a progress report. */
static bool is_long(double bytes) { return bytes > 16 << 20; }

static void tell(size_t done, double all)
{
    if (is_long(all)) progress_bytes("packing weights", (double)done, all);
}

/* A team on at most `most` processors. NULL, so that the caller packs alone, if packing does not
 * take long or the system provides no threads. */
static rt_team *team_of(double bytes, int most)
{
    rt_team *team = NULL;
    const int processors = rt_processors();
    if (is_long(bytes)) rt_team_resize(&team, processors < most ? processors : most);
    return team;
}

typedef struct InMemory {
    const Slice *slices;  int64_t count;
    unsigned char *data;
    double bytes;
    atomic_llong next;
} InMemory;

static void pack_in_memory(void *user, int thread, int threads)
{
    InMemory *m = user;
    (void)threads;
    for (int64_t i; (i = atomic_fetch_add(&m->next, 1)) < m->count;) {
        const Slice *slice = &m->slices[i];
        if (!thread) tell(slice->at, m->bytes);
        pack_slice(m->data + slice->at, slice);
    }
}

void pack_tensors(unsigned char *data, const PackEntry *e, int n)
{
    InMemory m = { .data = data };
    Slice *slices = slices_of(e, n, &m.count);
    m.slices = slices;
    for (int i = 0; i < n; i++) m.bytes += (double)e[i].packed->bytes;
    rt_team *team = team_of(m.bytes, INT_MAX);
    rt_team_share(team, pack_in_memory, &m);
    rt_team_resize(&team, 1);
    free(slices);
}

/* ---- to a file ------------------------------------------------------------------------------- */

/* Slices that are packed while those of the previous round are written, each in its own buffer.
 * There are at most ROUND threads, since more slices at once would take more memory. */
enum { ROUND = 8 };
typedef struct Round { const Slice *slices; int count; unsigned char *bytes[ROUND]; } Round;

typedef struct Stream {
    Round packed, written;          /* threads fill `packed`; thread 0 first writes `written` */
    atomic_int next;
    size_t at, bytes;               /* bytes written; bytes in all */
    PackWrite *write;  void *user;
    bool failed;
} Stream;

static bool write_zeros(Stream *s, size_t end)
{
    static const unsigned char zeros[4096];
    while (s->at < end) {
        const size_t n = end - s->at < sizeof zeros ? end - s->at : sizeof zeros;
        if (!s->write(s->user, zeros, n)) return false;
        s->at += n;
    }
    return true;
}

static void write_round(Stream *s)
{
    const Round *r = &s->written;
    for (int i = 0; i < r->count && !s->failed; i++) {
        const Slice *slice = &r->slices[i];
        s->failed = !write_zeros(s, slice->at) || !s->write(s->user, r->bytes[i], slice->bytes);
        s->at = slice->at + slice->bytes;
    }
    tell(s->at, (double)s->bytes);
}

static void pack_round(void *user, int thread, int threads)
{
    Stream *s = user;
    (void)threads;
    if (!thread) write_round(s);
    for (int i; (i = atomic_fetch_add(&s->next, 1)) < s->packed.count;) {
        memset(s->packed.bytes[i], 0, s->packed.slices[i].bytes);
        pack_slice(s->packed.bytes[i], &s->packed.slices[i]);
    }
}

static void make_room(Round *r, size_t bytes)
{
    for (int i = 0; i < ROUND; i++)
        if (!(r->bytes[i] = malloc(bytes + 1))) no_memory("%zu bytes of a slice of weights", bytes);
}

static void free_room(Round *r)
{
    for (int i = 0; i < ROUND; i++) free(r->bytes[i]);
}

bool pack_stream(const PackEntry *e, int n, size_t bytes, PackWrite *write, void *user)
{
    Stream s = { .bytes = bytes, .write = write, .user = user };
    int64_t count;
    size_t largest = 0;
    Slice *slices = slices_of(e, n, &count);
    for (int64_t i = 0; i < count; i++)
        if (slices[i].bytes > largest) largest = slices[i].bytes;
    make_room(&s.packed, largest);
    make_room(&s.written, largest);
    rt_team *team = team_of((double)bytes, ROUND);
    for (int64_t first = 0; !s.failed && (first < count || s.packed.count); first += ROUND) {
        const Round filled = s.packed;
        s.packed = s.written;
        s.written = filled;
        s.packed.slices = slices + (first < count ? first : count);
        s.packed.count = first >= count ? 0 : count - first < ROUND ? (int)(count - first) : ROUND;
        atomic_store(&s.next, 0);
        rt_team_share(team, pack_round, &s);
    }
    rt_team_resize(&team, 1);
    free_room(&s.packed);
    free_room(&s.written);
    free(slices);
    return !s.failed && write_zeros(&s, bytes);
}
