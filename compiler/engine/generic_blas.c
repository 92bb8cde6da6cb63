/* generic_blas.c: the only file of xformc that uses OpenBLAS. One row uses sgemv on one thread,
 * since threads cost more than they save; more rows use sgemm on all threads.
 *
 * The library is loaded when the first engine needs it. By default it then starts a thread per
 * processor; if the address space is limited, such a thread retries its allocation forever, and the
 * process never ends. */
#include "generic_blas.h"

#include <cblas.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cleanup.h"
#include "rt.h"

/* The libdir of pkg-config, for a library outside of the system's search path. */
#ifndef BLAS_FOLDER
#define BLAS_FOLDER "/usr/local/lib"
#endif

extern char **environ;

/* The functions that are used. */
static struct {
    __typeof__(openblas_set_num_threads) *threads;
    __typeof__(cblas_sgemv) *sgemv;
    __typeof__(cblas_sgemm) *sgemm;
} blas;

static bool says(const char *const *variables, int n)
{
    for (int i = 0; i < n; i++)
        if (getenv(variables[i])) return true;
    return false;
}

/* Load the library with one thread, unless the user's environment sets a number, and with the
 * kernels for `core`; NULL: those that it selects itself. setenv is not used, since another thread
 * may be reading the environment to start a process. */
static void *load(const char *name, const char *core)
{
    static const char *const threads[] = { "OPENBLAS_NUM_THREADS", "GOTO_NUM_THREADS", "OMP_NUM_THREADS" };
    static char one[] = "OPENBLAS_NUM_THREADS=1", of_core[64];
    static char **kept;                 /* the last block; its first element: the one before */
    char **const before = environ;
    size_t n = 0;
    while (before && before[n]) n++;
    char **block = malloc((n + 4) * sizeof *block), **with = block + 1;
    if (!block) return NULL;
    memcpy(block, &kept, sizeof kept);
    kept = block;                       /* not freed: another thread may still be reading it */
    if (n) memcpy(with, before, n * sizeof *with);
    if (!says(threads, sizeof threads / sizeof *threads)) with[n++] = one;
    if (core) {
        snprintf(of_core, sizeof of_core, "OPENBLAS_CORETYPE=%s", core);
        with[n++] = of_core;
    }
    with[n] = NULL;
    environ = with;
    void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    environ = before;
    return library;
}

/* Better kernels for a processor that the library is too old to know: it falls back to those for
 * SSE3, which are a fifth as fast. NULL: keep those it selected. */
static const char *better_core(void *library)
{
    static const char *const variable[] = { "OPENBLAS_CORETYPE" };
    __typeof__(openblas_get_corename) *name;
    void *const address = dlsym(library, "openblas_get_corename");
    memcpy(&name, &address, sizeof name);
    if (!address || says(variable, 1) || strcmp(name(), "Prescott")) return NULL;
    return !rt_isa_missing(RT_ISA_AVX512) ? "SkylakeX" : !rt_isa_missing(RT_ISA_AVX2 | RT_ISA_FMA) ? "Haswell" : NULL;
}

static void *load_best(const char *name)
{
    void *library = load(name, NULL);
    const char *core = library ? better_core(library) : NULL;
    if (!core) return library;
    dlclose(library);
    return load(name, core);
}

/* True if there is memory for the buffers of that many threads; without it the library retries
 * forever. */
static bool has_room(int threads)
{
    enum { BUFFER_BYTES = 128 << 20 };                  /* the largest of any target */
    const size_t bytes = (size_t)threads * BUFFER_BYTES;
    void *room = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (room == MAP_FAILED) return false;
    munmap(room, bytes);
    return true;
}

/* The library, or the Fortran runtime that it loads, ends the program if it gets no memory. This
 * says what it is doing, for the message; NULL except while it is loaded or runs sgemm. */
static const char *inside;

static void end_without_memory(void)
{
    if (!inside) return;
    fprintf(stderr, "error: no memory for %s\n", inside);
    cleanup_files();
    _exit(EXIT_NO_FEATURE);
}

bool blas_load(Diag *d)
{
    static const char *const names[] = { "libopenblas.so.0", "libopenblas.so", BLAS_FOLDER "/libopenblas.so", "libopenblas.dylib",
                                         BLAS_FOLDER "/libopenblas.dylib" };
    void *library = NULL;
    if (!has_room(1)) {
        diag_error(d, EXIT_NO_FEATURE, (Loc){ 0 }, "no memory for OpenBLAS, which the generic engine needs");
        return false;
    }
    if (blas.sgemm) return true;
    atexit(end_without_memory);
    inside = "OpenBLAS, which the generic engine needs";
    for (size_t i = 0; i < sizeof names / sizeof *names && !library; i++) library = load_best(names[i]);
    inside = NULL;
    void *const calls[] = { library ? dlsym(library, "openblas_set_num_threads") : NULL, library ? dlsym(library, "cblas_sgemv") : NULL,
                            library ? dlsym(library, "cblas_sgemm") : NULL };
    if (!calls[0] || !calls[1] || !calls[2]) {
        diag_error(d, EXIT_NO_FEATURE, (Loc){ 0 }, "OpenBLAS, which the generic engine needs, cannot be loaded");
        return false;
    }
    /* POSIX: a void pointer can hold a function pointer. */
    memcpy(&blas, calls, sizeof blas);
    return true;
}

/* ---- threads ------------------------------------------------------------------------------ */

static void *pass_through(void *gate)
{
    pthread_mutex_lock(gate);
    pthread_mutex_unlock(gate);
    return NULL;
}

/* True if the system can start that many threads at once. The C library keeps their stacks for the
 * threads started next. */
static bool can_start(int threads)
{
    pthread_t *const started = malloc((size_t)threads * sizeof *started);
    pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
    int n = 0;
    if (!started) return false;
    pthread_mutex_lock(&gate);
    while (n < threads && pthread_create(&started[n], NULL, pass_through, &gate) == 0) n++;
    pthread_mutex_unlock(&gate);
    for (int i = 0; i < n; i++) pthread_join(started[i], NULL);
    free(started);
    return n == threads;
}

/* The whole process has one number of threads, which is set only when it changes. */
static void use_threads(int n)
{
    static int used;
    if (n == used) return;
    used = n;
    blas.threads(n);
}

/* If the library cannot start a thread, it reports nothing, and its next product waits for that
 * thread forever. */
bool blas_start_threads(int n)
{
    static int most = 1;
    if (n <= most) return true;
    if (!has_room(n) || !can_start(n - 1)) return false;
    use_threads(most = n);
    return true;
}

/* sgemv with beta 0 may keep a NaN that the result held, so zeros are written first. */
static void product_of_vector(const BlasProduct *p, float *c, const float *a, const float *b)
{
    use_threads(1);
    if (!p->add) memset(c, 0, (size_t)p->n * sizeof *c);
    if (p->transposed) blas.sgemv(CblasRowMajor, CblasNoTrans, p->n, p->k, 1, b, p->b_stride, a, 1, 1, c, 1);
    else blas.sgemv(CblasRowMajor, CblasTrans, p->k, p->n, 1, b, p->b_stride, a, 1, 1, c, 1);
}

void blas_product(const BlasProduct *p, float *c, const float *a, const float *b)
{
    if (p->m == 1) {
        product_of_vector(p, c, a, b);
        return;
    }
    use_threads(p->threads);
    inside = "a matrix product in OpenBLAS";
    blas.sgemm(CblasRowMajor, CblasNoTrans, p->transposed ? CblasTrans : CblasNoTrans, p->m, p->n, p->k, 1, a, p->a_stride,
                b, p->b_stride, p->add ? 1 : 0, c, p->c_stride);
    inside = NULL;
}
