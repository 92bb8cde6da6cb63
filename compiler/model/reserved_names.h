/* reserved_names.h: names that a variable, a function or a model may not have. */
#ifndef RESERVED_NAMES_H
#define RESERVED_NAMES_H

#include <stdbool.h>

#include "arena.h"

/* A keyword of C or C++, or a name of the standard library: no variable, no function may be called so. */
bool name_is_of_c(const char *name);
/* The same, or what the emitted text or its Makefile has taken: no model may be called so. */
bool name_is_reserved(const char *name);
/* Why no model may have the name: '("2x") is not a C identifier: …'; NULL: it may. */
const char *name_fault(Arena *a, const char *name);

#endif
