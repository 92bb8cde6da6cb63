/* arena.c: a list of blocks, filled from the front. An allocation of more than a quarter of a block
 * gets a block of its own if it does not fit into the newest one. */
#include "arena.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BLOCK_BYTES = 64 * 1024, ALIGNMENT = 16 };

typedef struct Block {
    struct Block *next;
    size_t used, room;          /* bytes of data */
    _Alignas(ALIGNMENT) unsigned char data[];
} Block;

struct Arena { Block *newest; };

void die_at(const char *file, int line, const char *format, ...)
{
    fprintf(stderr, "%s:%d: internal error: ", file, line);
    va_list args;
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
    exit(70);
}

size_t memory_of_machine(void)
{
    const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    return pages > 0 && page > 0 ? (size_t)pages * (size_t)page : 0;
}

void no_memory(const char *format, ...)
{
    fputs("error: no memory for ", stderr);
    va_list args;
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
    exit(69);
}

Arena *arena_new(void)
{
    Arena *a = calloc(1, sizeof *a);
    if (!a) no_memory("%zu bytes", sizeof *a);
    return a;
}

void arena_free(Arena *a)
{
    if (!a) return;
    for (Block *b = a->newest; b;) {
        Block *next = b->next;
        free(b);
        b = next;
    }
    free(a);
}

static Block *block_new(size_t room)
{
    if (room > SIZE_MAX - sizeof(Block)) no_memory("%zu bytes", room);
    Block *b = calloc(1, sizeof(Block) + room);
    if (!b) no_memory("%zu bytes", room);
    b->room = room;
    return b;
}

/* The block of a large allocation is linked after the newest block, so that the free space of the
 * newest block is still used. */
static Block *block_for(Arena *a, size_t bytes)
{
    if (a->newest && a->newest->room - a->newest->used >= bytes) return a->newest;
    Block *b = block_new(bytes > BLOCK_BYTES / 4 ? bytes : BLOCK_BYTES);
    if (a->newest && bytes > BLOCK_BYTES / 4) {
        b->next = a->newest->next;
        a->newest->next = b;
    } else {
        b->next = a->newest;
        a->newest = b;
    }
    return b;
}

/* With the address sanitizer, every allocation is a block of exactly its size, so that overruns are
 * found. */
#if defined __SANITIZE_ADDRESS__
enum { ALONE = 1 };
#elif defined __has_feature
enum { ALONE = __has_feature(address_sanitizer) };
#else
enum { ALONE = 0 };
#endif

static void *alloc_alone(Arena *a, size_t bytes)
{
    Block *b = block_new(bytes);
    b->next = a->newest;
    a->newest = b;
    b->used = bytes;
    return b->data;
}

void *arena_alloc(Arena *a, size_t bytes)
{
    if (bytes > SIZE_MAX - ALIGNMENT) no_memory("%zu bytes", bytes);
    if (ALONE) return alloc_alone(a, bytes);
    size_t rounded = (bytes + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
    Block *b = block_for(a, rounded);
    void *p = b->data + b->used;
    b->used += rounded;
    return p;
}

void *arena_array(Arena *a, size_t count, size_t bytes)
{
    size_t total;
    if (__builtin_mul_overflow(count, bytes, &total)) die("array of %zu times %zu bytes", count, bytes);
    return arena_alloc(a, total);
}

void *arena_grow(Arena *a, void *old, size_t old_bytes, size_t new_bytes)
{
    void *p = arena_alloc(a, new_bytes);
    size_t kept = old_bytes < new_bytes ? old_bytes : new_bytes;
    if (kept) memcpy(p, old, kept);
    return p;
}

char *arena_copy(Arena *a, const char *text, size_t n)
{
    if (n == SIZE_MAX) no_memory("a text of %zu bytes", n);
    char *p = arena_alloc(a, n + 1);
    if (n) memcpy(p, text, n);
    return p;
}

char *arena_text(Arena *a, const char *text)
{
    return arena_copy(a, text, strlen(text));
}

char *arena_vformat(Arena *a, const char *format, va_list args)
{
    char most[256];                         /* enough for nearly all texts, which are then formatted
                                             * only once */
    va_list again;
    va_copy(again, args);
    int n = vsnprintf(most, sizeof most, format, again);
    va_end(again);
    if (n < 0) die("cannot format: %s", format);
    char *p = arena_alloc(a, (size_t)n + 1);
    if ((size_t)n < sizeof most) memcpy(p, most, (size_t)n + 1);
    else vsnprintf(p, (size_t)n + 1, format, args);
    return p;
}

char *arena_format(Arena *a, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *p = arena_vformat(a, format, args);
    va_end(args);
    return p;
}
