/* tcc.c: compile C into the memory of this process with libtcc; see tcc.h. */
#include "tcc.h"

#include <errno.h>
#include <libtcc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "diag.h"

/* ---- what libtcc asks of the C library (Makefile) ------------------------------------------------------------- */

static bool is_trial;           /* in the child of c_memory_try, which reports nothing */

static void *got(void *memory, size_t bytes)
{
    if (memory || !bytes) return memory;
    if (is_trial) _exit(1);
    no_memory("%zu bytes in libtcc", bytes);
}

void *c_memory_malloc(size_t bytes) { return got(malloc(bytes), bytes); }

void *c_memory_calloc(size_t count, size_t bytes) { return got(calloc(count, bytes), count * bytes); }

void *c_memory_realloc(void *old, size_t bytes) { return got(realloc(old, bytes), bytes); }

void c_memory_exit(int code)
{
    if (is_trial) _exit(1);
    die("libtcc exited with code %d", code);
}

/* ---- a text into memory ----------------------------------------------------------------------------------------- */

typedef struct Listener { void *user; CSay *say; int heard; } Listener;

static void hear(void *listener, const char *message)
{
    Listener *l = listener;
    l->heard++;
    l->say(l->user, message);
}

static TCCState *new_state(void *user, void (*say)(void *, const char *))
{
    TCCState *code = tcc_new();
    if (!code) no_memory("libtcc");
    tcc_set_error_func(code, user, say);
    tcc_set_options(code, "-nostdlib -nostdinc -std=c11 -Wall");
    tcc_set_output_type(code, TCC_OUTPUT_MEMORY);
    return code;
}

static void add_symbols(TCCState *code, const CSymbol *symbols, int n)
{
    for (int i = 0; i < n; i++) {
        void *address;
        /* POSIX: a void pointer can hold a function pointer. */
        memcpy(&address, &symbols[i].function, sizeof address);
        tcc_add_symbol(code, symbols[i].name, address);
    }
}

/* libtcc emits calls of these for initialisers and for copies of structs. */
static const CSymbol copying[] = { C_SYMBOL(memset), C_SYMBOL(memcpy), C_SYMBOL(memmove) };

CMemory *c_memory_compile(const char *text, const CSymbol *symbols, int n, void *user, CSay *say)
{
    Listener listener = { user, say, 0 };
    TCCState *code = new_state(&listener, hear);
    bool good = tcc_compile_string(code, text) == 0 && !listener.heard;
    if (good) {
        add_symbols(code, copying, sizeof copying / sizeof *copying);
        add_symbols(code, symbols, n);
        good = tcc_relocate(code, TCC_RELOCATE_AUTO) == 0 && !listener.heard;
    }
    if (good) return (CMemory *)code;
    tcc_delete(code);
    return NULL;
}

void *c_memory_symbol(CMemory *code, const char *name) { return tcc_get_symbol((TCCState *)code, name); }

typedef struct Visitor { void *user; CEachSymbol *each; } Visitor;

static void pass_on(void *user, const char *name, const void *address)
{
    const Visitor *v = user;
    for (size_t i = 0; i < sizeof copying / sizeof *copying; i++)
        if (strcmp(copying[i].name, name) == 0) return;
    v->each(v->user, name, address);
}

void c_memory_symbols(CMemory *code, void *user, CEachSymbol *each) { tcc_list_symbols((TCCState *)code, &(Visitor){ user, each }, pass_on); }

void c_memory_free(CMemory *code) { tcc_delete((TCCState *)code); }

/* A trial reports nothing: errors in the text are reported by the real compilation. */
static void ignore(void *user, const char *message) { (void)user, (void)message; }

/* The bytes of data of this process, which a child inherits; 0 if the system does not report
 * them. */
static rlim_t data_bytes(void)
{
    unsigned long long pages = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    if (f && fscanf(f, "%*u %*u %*u %*u %*u %llu", &pages) != 1) pages = 0;
    if (f) fclose(f);
    return (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE);
}

enum { MOST_MIB = 256 };

/* Runs in the child, and ends it: with 0, with 1 if the limit on memory or size is exceeded, or by
 * a signal. Memory may grow by four times MOST_MIB, since libtcc grows its buffers by doubling. */
static void try_text(const char *text, const CSymbol *symbols, int n)
{
    const rlim_t data = data_bytes(), room = data ? data + ((rlim_t)4 * MOST_MIB << 20) : (rlim_t)4 << 30;
    const struct rlimit time = { 2, 2 }, core = { 0, 0 }, memory = { room, room };
    bool wanting = false;
    is_trial = true;
    setrlimit(RLIMIT_CPU, &time);
    setrlimit(RLIMIT_CORE, &core);
    setrlimit(RLIMIT_DATA, &memory);
    TCCState *code = new_state(NULL, ignore);
    if (tcc_compile_string(code, text) == 0) {
        add_symbols(code, copying, sizeof copying / sizeof *copying);
        add_symbols(code, symbols, n);
        /* -1: an error, reported later; below -1: int overflow */
        const int bytes = tcc_relocate(code, NULL);
        wanting = bytes < -1 || bytes >= MOST_MIB << 20;
    }
    _exit(wanting);
}

bool c_memory_try(const char *text, const CSymbol *symbols, int n)
{
    const pid_t child = fork();
    if (child == 0) try_text(text, symbols, n);
    if (child < 0) return true;     /* no process: continue without the trial */
    int status = 0;
    pid_t got;
    do got = waitpid(child, &status, 0);
    while (got < 0 && errno == EINTR);
    if (got < 0) return true;       /* SIGCHLD is ignored: the status is lost */
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}
