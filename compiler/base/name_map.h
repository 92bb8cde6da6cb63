/* name_map.h: a hash table from names to pointers. Everything is in the arena. The map keeps the
 * caller's pointer to a name, so the name must not change. */
#ifndef NAME_MAP_H
#define NAME_MAP_H

#include "arena.h"

typedef struct NameMap NameMap;
NameMap *name_map_new(Arena *a);
void *name_map_find(const NameMap *m, const char *name);                /* NULL if absent */
void  name_map_add(NameMap *m, const char *name, void *value);          /* replaces the value of that name */
/* Add and return the first unused name of NAME, NAME_2, NAME_3, ... */
const char *name_map_add_free(NameMap *m, const char *name);

#endif
