/* pack_shared.c: packed data in memory, shared by all plans with the same data, so that it is not
 * packed again when an option that does not affect it changes. */
#include "pack_parts.h"

#include <stdlib.h>
#include <string.h>

#include "rt_weights.h"
#include "weights.h"

/* Packed data, most recently used first. `data` is `room`, or part of `map`, a cache file; `copy`
 * is the copy of that part that pack_settle made. */
typedef struct Kept {
    uint64_t key;
    size_t bytes;
    int users;
    const unsigned char *data;
    unsigned char *room;
    FileMap map;
    RtWeights copy;
    struct Kept *next;
} Kept;
static Kept *kept;
enum { MOST_UNUSED = 256 << 20 };       /* bytes that are kept without a user */

static void forget(Kept *k)
{
    if (k->map.data) file_unmap(&k->map);
    rt_weights_close(&k->copy);
    free(k->room);
    free(k);
}

static void forget_unused(void)
{
    size_t unused = 0;
    for (Kept **k = &kept; *k;) {
        Kept *this = *k;
        if (!this->users && (unused += this->bytes) > MOST_UNUSED) {
            *k = this->next;
            forget(this);
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

static void pack_in_memory(Kept *k, const PackEntry *e, int n)
{
    k->data = k->room = rt_weights_room(k->bytes, NULL);
    if (!k->room) no_memory("%zu bytes of weights", k->bytes);
    memset(k->room, 0, k->bytes);
    pack_tensors(k->room, e, n);
}

const unsigned char *pack_acquire(Arena *a, Diag *d, const Pack *pack, bool *reused)
{
    int n;
    bool packed;
    const size_t bytes = pack->plan->weights_bytes;
    const PackEntry *e = pack_entries(a, pack->plan, &n);
    const uint64_t key = pack_key(e, n, bytes);
    Kept *k = find_kept(key);
    *reused = k != NULL;
    if (!k) {
        k = calloc(1, sizeof *k);
        if (!k) no_memory("a list of weights");
        k->key = key, k->bytes = bytes;
        const PackCached found = pack_cache_open(a, d, pack->plan, key, &k->map, &k->data, &packed);
        if (found == PACK_NOT_CACHED) pack_in_memory(k, e, n);
        if (found == PACK_SPOILED || (found == PACK_NOT_CACHED && !weights_stay(d, pack->plan->graph->model))) {
            forget(k);
            return NULL;
        }
        *reused = found == PACK_CACHED && !packed;
        k->next = kept;
        kept = k;
    }
    k->users++;
    return k->data;
}

const unsigned char *pack_settle(const unsigned char *data)
{
    for (Kept *k = kept; k; k = k->next) {
        if (k->data != data || !k->map.data) continue;
        if (!k->copy.data) rt_weights_copy(&k->copy, k->data, k->bytes);
        return k->copy.data ? k->copy.data : data;
    }
    return data;
}

void pack_release(const unsigned char *data)
{
    for (Kept *k = kept; k; k = k->next)
        if (k->data == data && k->users) k->users--;
    forget_unused();
}
