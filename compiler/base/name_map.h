/* name_map.h: names to pointers, found by hash. Everything lives in the arena; a name must stay as it was. */
#ifndef NAME_MAP_H
#define NAME_MAP_H

#include "arena.h"

typedef struct NameMap NameMap;
NameMap *name_map_new(Arena *a);
void *name_map_find(const NameMap *m, const char *name);                /* NULL if absent */
void  name_map_add(NameMap *m, const char *name, void *value);          /* replaces what had that name */
/* The first of NAME, NAME_2, NAME_3 .. that nothing has; the map itself then has it. */
const char *name_map_add_free(NameMap *m, const char *name);

#endif
