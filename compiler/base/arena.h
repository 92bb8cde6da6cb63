/* arena.h: memory that is freed all at once. Everything returned lives in the arena until
 * arena_free. If memory runs out, no_memory() ends the program. */
#ifndef ARENA_H
#define ARENA_H

#include <stdarg.h>
#include <stddef.h>

typedef struct Arena Arena;

Arena *arena_new(void);
void   arena_free(Arena *a);                                /* NULL is allowed */
void  *arena_alloc(Arena *a, size_t bytes);                 /* zeroed, 16-byte aligned */
void  *arena_array(Arena *a, size_t count, size_t bytes);   /* zeroed; die() on overflow */
void  *arena_grow(Arena *a, void *old, size_t old_bytes, size_t new_bytes);   /* a copy, the rest zeroed */
char  *arena_copy(Arena *a, const char *text, size_t n);    /* NUL-terminated */
char  *arena_text(Arena *a, const char *text);
char  *arena_format(Arena *a, const char *format, ...) __attribute__((format(printf, 2, 3)));
char  *arena_vformat(Arena *a, const char *format, va_list args);

/* Report a failed allocation: print "error: no memory for " and the message, which says what for
 * or how much, on stderr, and exit with code 69. */
_Noreturn void no_memory(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Physical memory of this machine in bytes, used or free; 0 if the system does not report it. */
size_t memory_of_machine(void);

/* Report a bug in xformc: print file, line and the message on stderr, and exit with code 70. */
#define die(...) die_at(__FILE__, __LINE__, __VA_ARGS__)
_Noreturn void die_at(const char *file, int line, const char *format, ...) __attribute__((format(printf, 3, 4)));

#endif
