/* isa.h: instruction sets that emitted C can be compiled for, by the names of --isa. */
#ifndef ISA_H
#define ISA_H

#include "arena.h"

enum { MAX_ISAS = 4 };              /* in one program */

/* isa_flags: compiler flags for an instruction set ("native", "avx2"); NULL if the name is unknown.
 * isa_names: all names. */
const char *isa_flags(const char *name);
const char *const *isa_names(int *n);
extern const char isa_option_more[];     /* help text of --isa: lists all names */

/* The words of a list, "avx512,portable"; *n receives their number. NULL is the list "native".
 * Adjacent commas give an empty word. */
const char *const *isa_list(Arena *a, const char *list, int *n);
/* The error in a list of names, phrased to end a sentence; NULL if it is valid. Unknown names are
 * not checked. Variants are tried in the order of the list, so one that needs no more than a later
 * one is an error. */
const char *isa_list_fault(Arena *a, const char *list);

#endif
