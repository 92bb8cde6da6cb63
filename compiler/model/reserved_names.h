/* reserved_names.h: names that a variable, a function or a model may not have. */
#ifndef RESERVED_NAMES_H
#define RESERVED_NAMES_H

#include <stdbool.h>

#include "arena.h"

/* True for keywords of C and C++ and names of the standard library, which no variable or function
 * may have. */
bool name_is_of_c(const char *name);
/* True for those and for names that the emitted code or its Makefile uses, which no model may
 * have. */
bool name_is_reserved(const char *name);
/* Why a model may not have the name: '("2x") is not a C identifier: …'; NULL if it may. */
const char *name_fault(Arena *a, const char *name);

#endif
