/* tcc.h: C compiled into the memory of this process, by libtcc. */
#ifndef TCC_H
#define TCC_H

#include <stdbool.h>
#include <stddef.h>

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

/* Whether libtcc comes to an end with a text, seen in a process apart with two seconds of time and a bound to its memory: macros may expand
 * into what overflows the stack, or never ends, and code and data be more than 256 MiB. Which bound is met first is a matter of the
 * machine, so one message (C_TRIAL_WORDS) names both. For texts of a user; it takes a millisecond or two. */
bool c_memory_try(const char *text, const CSymbol *symbols, int n);
#define C_TRIAL_WORDS "libtcc needs more than 2 s or 256 MiB for the C of "

/* What libtcc has in the place of malloc, calloc, realloc and exit (Makefile): where there is no memory,
 * the program ends with exit code 69. */
void *c_memory_malloc(size_t bytes);
void *c_memory_calloc(size_t count, size_t bytes);
void *c_memory_realloc(void *old, size_t bytes);
void  c_memory_exit(int code);

#endif
