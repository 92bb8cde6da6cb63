/* fail.c: a library for LD_PRELOAD with glibc: in the program $FAIL_NAME, allocation number
 * $FAIL_AT, counted from 0, fails. $FAIL_COUNT: a file that receives the number of allocations.
 * $FAIL_THREADS: if it is set, no thread starts. */
#define _GNU_SOURCE
#include <errno.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern void *__libc_malloc(size_t bytes);
extern void *__libc_calloc(size_t count, size_t bytes);
extern void *__libc_realloc(void *old, size_t bytes);
extern void *__libc_memalign(size_t alignment, size_t bytes);

static atomic_long calls;
static long fail_at = -2;           /* -2: not read yet; -1: none */

static bool is_ours(void)
{
    const char *name = getenv("FAIL_NAME");
    return name && strcmp(program_invocation_short_name, name) == 0;
}

static bool fails(void)
{
    if (fail_at == -2) {
        const char *at = getenv("FAIL_AT");
        fail_at = at && is_ours() ? atol(at) : -1;
    }
    if (atomic_fetch_add(&calls, 1) != fail_at) return false;
    errno = ENOMEM;
    return true;
}

void *malloc(size_t bytes) { return fails() ? NULL : __libc_malloc(bytes); }

void *calloc(size_t count, size_t bytes) { return fails() ? NULL : __libc_calloc(count, bytes); }

void *realloc(void *old, size_t bytes) { return bytes && fails() ? NULL : __libc_realloc(old, bytes); }

void *aligned_alloc(size_t alignment, size_t bytes) { return fails() ? NULL : __libc_memalign(alignment, bytes); }

int posix_memalign(void **p, size_t alignment, size_t bytes)
{
    if (fails()) return ENOMEM;
    *p = __libc_memalign(alignment, bytes);
    return *p ? 0 : ENOMEM;
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *), void *argument)
{
    int (*create)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    void *const found = dlsym(RTLD_NEXT, "pthread_create");
    if (getenv("FAIL_THREADS") && is_ours()) return EAGAIN;
    memcpy(&create, &found, sizeof create);
    return create(thread, attributes, start, argument);
}

__attribute__((destructor)) static void tell(void)
{
    const char *path = getenv("FAIL_COUNT");
    if (!path || !is_ours()) return;
    char text[32];
    const int n = snprintf(text, sizeof text, "%ld\n", atomic_load(&calls)), fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    if (fd < 0) return;
    if (write(fd, text, (size_t)n) < n) unlink(path);
    close(fd);
}
