/* isa.h: instruction sets that emitted C can be compiled for, by the names of --isa. */
#ifndef ISA_H
#define ISA_H

#include "arena.h"

enum { MAX_ISAS = 4 };              /* in one program */

/* The compiler's flags for a set by name ("native", "avx2"), or NULL; names for messages. */
const char *isa_flags(const char *name);
const char *const *isa_names(int *n);
extern const char isa_option_more[];     /* of --isa, for the help: names them all */

/* The words of a list, "avx512,portable"; *n receives their number, 1 where `list` is NULL: "native". Commas without a
 * word between give an empty one. */
const char *const *isa_list(Arena *a, const char *list, int *n);
/* What is wrong with a list of names, as a sentence's end, or NULL. Variants are tried in their order. */
const char *isa_list_fault(Arena *a, const char *list);

#endif
