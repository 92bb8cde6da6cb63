/* c_memory.h: C compiled into the memory of this process, by libtcc. */
#ifndef C_MEMORY_H
#define C_MEMORY_H

#include <stdbool.h>

typedef struct CMemory CMemory;

/* What a text may call besides its own functions. */
typedef struct CSymbol { const char *name; void (*function)(void); } CSymbol;
#define C_SYMBOL(function) { #function, (void (*)(void))function }

/* Every message of the compiler, one by one. */
typedef void CSay(void *user, const char *message);

/* Freestanding C, compiled and linked with symbols[n]; NULL after messages, and warnings are such, for a call of what is not declared
 * is only a warning to libtcc. */
CMemory *c_memory_compile(const char *text, const CSymbol *symbols, int n, void *user, CSay *say);
void *c_memory_symbol(CMemory *code, const char *name);     /* NULL if absent */
void c_memory_free(CMemory *code);

/* What libtcc makes of a text, in a process apart with two seconds of time and a bound to its memory: macros may expand into what overflows
 * the stack, or never ends, and code and data be more than 256 MiB. For texts of a user; it takes a millisecond or two. */
typedef enum CTrial { C_TRIAL_GOOD, C_TRIAL_LARGE, C_TRIAL_ENDLESS } CTrial;
CTrial c_memory_try(const char *text, const CSymbol *symbols, int n);

#endif
