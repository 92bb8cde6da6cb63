/* pack_file.c: write a packed file in order: its header, its data slice by slice, and finally the
 * self-test's values and the hash, which go into the header. */
#include "pack_parts.h"

#include <inttypes.h>
#include <string.h>

#include "progress.h"
#include "rt_packed.h"

/* ---- values of the self-test ----------------------------------------------------------------- */

bool pack_has_values(const Plan *p) { return !p->graph->model->graph; }

void pack_values(const Pack *pack, const unsigned char *data, char *digits)
{
    if (!pack->selftest || !pack_has_values(pack->plan)) return;
    progress_say("computing the values of the self-test");
    pack->selftest(&(PackedData){ pack->plan, data }, digits);
}

/* ---- writing --------------------------------------------------------------------------------- */

/* The file being written, and the digests of the blocks after the hash. */
typedef struct Written {
    FileWriter *to;
    uint64_t *digests;  size_t count;
    size_t filled;                          /* bytes in block */
    unsigned char block[RT_PACKED_BLOCK];
} Written;

static void digest_block(Written *w)
{
    if (w->filled) w->digests[w->count++] = rt_digest(w->block, w->filled);
    w->filled = 0;
}

static bool write_part(void *user, const void *bytes, size_t n)
{
    Written *w = user;
    const unsigned char *from = bytes;
    for (size_t left = n; left;) {
        const size_t room = sizeof w->block - w->filled, now = left < room ? left : room;
        memcpy(w->block + w->filled, from, now);
        w->filled += now, from += now, left -= now;
        if (w->filled == sizeof w->block) digest_block(w);
    }
    return file_append(w->to, bytes, n);
}

/* Run the self-test on the written data and put its values into the header. This changes the first
 * block, so its digest is computed again. */
static bool write_values(const PackedFile *file, Written *w)
{
    FileMap map;
    char digits[RT_SELFTEST_DIGITS];
    if (!file->values || !file->values->selftest || !pack_has_values(file->plan)) return true;
    if (!file_view(w->to, &map)) return false;
    pack_values(file->values, map.data + file->head_bytes, digits);
    const size_t behind = map.size - RT_PACKED_DATA_AT;
    const size_t n = behind < sizeof w->block ? behind : sizeof w->block;
    memcpy(w->block, map.data + RT_PACKED_DATA_AT, n);
    memcpy(w->block + RT_PACKED_SELFTEST_AT - RT_PACKED_DATA_AT, digits, sizeof digits);
    w->digests[0] = rt_digest(w->block, n);
    file_unmap(&map);
    return file_patch(w->to, RT_PACKED_SELFTEST_AT, digits, sizeof digits);
}

static bool write_hash(Arena *a, Written *w, uint64_t h)
{
    for (size_t i = 0; i < w->count; i++) h = rt_digest_join(h, w->digests[i]);
    const char *digits = arena_format(a, "%016" PRIx64, h);
    return file_patch(w->to, RT_PACKED_CONTENT_AT, digits, RT_PACKED_DIGITS);
}

bool pack_to_file(Arena *a, FileWriter *to, const PackedFile *file)
{
    const size_t bytes = file->plan->weights_bytes;
    const size_t most = (file->head_bytes + bytes) / RT_PACKED_BLOCK + 1;
    Written *w = arena_alloc(a, sizeof *w);
    *w = (Written){ .to = to, .digests = arena_array(a, most, sizeof *w->digests) };
    if (!file_append(to, file->head, RT_PACKED_DATA_AT)) return false;
    const size_t rest = file->head_bytes - RT_PACKED_DATA_AT;
    if (!write_part(w, file->head + RT_PACKED_DATA_AT, rest)) return false;
    if (!pack_stream(file->entries, file->count, bytes, write_part, w)) return false;
    digest_block(w);
    return write_values(file, w) && write_hash(a, w, rt_digest(file->head, RT_PACKED_CONTENT_AT));
}
