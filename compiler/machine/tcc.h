/* tcc.h: compile C into the memory of this process with libtcc. */
#ifndef TCC_H
#define TCC_H

#include <stdbool.h>
#include <stddef.h>

typedef struct CMemory CMemory;

/* A function that the C text may call. */
typedef struct CSymbol { const char *name; void (*function)(void); } CSymbol;
#define C_SYMBOL(function) { #function, (void (*)(void))function }

/* Receives each message of the compiler. */
typedef void CSay(void *user, const char *message);

/* Compile freestanding C and link it with symbols[n]; NULL after any message. Warnings count too:
 * for libtcc a call of an undeclared function is only a warning. */
CMemory *c_memory_compile(const char *text, const CSymbol *symbols, int n, void *user, CSay *say);
void *c_memory_symbol(CMemory *code, const char *name);     /* NULL if absent */
void c_memory_free(CMemory *code);
/* Call `each` for every non-static function and variable of compiled code, for the symbols[n] that
 * it was linked with, and for the marks of libtcc, whose names begin with _. */
typedef void CEachSymbol(void *user, const char *name, const void *address);
void c_memory_symbols(CMemory *code, void *user, CEachSymbol *each);

/* True if libtcc gets through a text, with or without errors, in a child process with two seconds
 * of time and limited memory, or if no child can be started. A user's macros may expand so that the
 * stack overflows or compilation never ends, and code and data may exceed 256 MiB. What happens
 * first depends on the machine, so one message (C_TRIAL_WORDS) names all causes. A trial usually
 * takes a millisecond or two. */
bool c_memory_try(const char *text, const CSymbol *symbols, int n);
#define C_TRIAL_WORDS "libtcc crashes, or exceeds 2 s or 256 MiB, on the C code"

/* libtcc is linked with these instead of malloc, calloc, realloc and exit (Makefile). If memory
 * runs out, the program ends with exit code 69. */
void *c_memory_malloc(size_t bytes);
void *c_memory_calloc(size_t count, size_t bytes);
void *c_memory_realloc(void *old, size_t bytes);
void  c_memory_exit(int code);

#endif
