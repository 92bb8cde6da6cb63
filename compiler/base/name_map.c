/* name_map.c: a hash table from names to pointers: open addressing, never more than half full. */
#include "name_map.h"

#include <stdint.h>
#include <string.h>

typedef struct Slot { const char *name; void *value; uint32_t hash; } Slot;

struct NameMap { Arena *arena; Slot *slots; uint32_t room, count; };     /* room: a power of two */

/* FNV-1a, 32 bits. */
static uint32_t hash_name(const char *s)
{
    uint32_t h = 2166136261u;
    for (; *s; s++) h = (h ^ (unsigned char)*s) * 16777619u;
    return h;
}

NameMap *name_map_new(Arena *a)
{
    NameMap *m = arena_alloc(a, sizeof *m);
    *m = (NameMap){ .arena = a, .room = 16, .slots = arena_array(a, 16, sizeof *m->slots) };
    return m;
}

/* The slot of the name, or the free slot for it. */
static Slot *slot_of(const NameMap *m, const char *name, uint32_t hash)
{
    uint32_t i = hash & (m->room - 1);
    while (m->slots[i].name && (m->slots[i].hash != hash || strcmp(m->slots[i].name, name))) i = (i + 1) & (m->room - 1);
    return &m->slots[i];
}

static void widen(NameMap *m)
{
    NameMap wide = { .arena = m->arena, .room = m->room * 2, .count = m->count };
    wide.slots = arena_array(m->arena, wide.room, sizeof *wide.slots);
    for (uint32_t i = 0; i < m->room; i++)
        if (m->slots[i].name) *slot_of(&wide, m->slots[i].name, m->slots[i].hash) = m->slots[i];
    *m = wide;
}

void *name_map_find(const NameMap *m, const char *name)
{
    const Slot *s = slot_of(m, name, hash_name(name));
    return s->name ? s->value : NULL;
}

void name_map_add(NameMap *m, const char *name, void *value)
{
    if (m->count >= m->room / 2) widen(m);
    uint32_t hash = hash_name(name);
    Slot *s = slot_of(m, name, hash);
    m->count += !s->name;
    *s = (Slot){ name, value, hash };
}

const char *name_map_add_free(NameMap *m, const char *name)
{
    const char *out = name;
    for (int i = 2; name_map_find(m, out); i++) out = arena_format(m->arena, "%s_%d", name, i);
    name_map_add(m, out, m);
    return out;
}
