/* c_memory.c: see c_memory.h. */
#include "c_memory.h"

#include <libtcc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "diag.h"

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
    if (!code) die("no memory for libtcc");
    tcc_set_error_func(code, user, say);
    tcc_set_options(code, "-nostdlib -nostdinc -std=c11 -Wall");
    tcc_set_output_type(code, TCC_OUTPUT_MEMORY);
    return code;
}

static void add_symbols(TCCState *code, const CSymbol *symbols, int n)
{
    for (int i = 0; i < n; i++) {
        void *address;
        memcpy(&address, &symbols[i].function, sizeof address);     /* POSIX: a function's address in a void pointer */
        tcc_add_symbol(code, symbols[i].name, address);
    }
}

CMemory *c_memory_compile(const char *text, const CSymbol *symbols, int n, void *user, CSay *say)
{
    static const CSymbol copying[] = { C_SYMBOL(memset), C_SYMBOL(memcpy), C_SYMBOL(memmove) };     /* of initialisers and structs */
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

void c_memory_free(CMemory *code) { tcc_delete((TCCState *)code); }

static void hush(void *user, const char *message) { (void)user, (void)message; }

/* In the child: a signal, or the end. */
static void try_text(const char *text)
{
    const struct rlimit time = { 2, 2 }, core = { 0, 0 }, memory = { (rlim_t)4 << 30, (rlim_t)4 << 30 };
    setrlimit(RLIMIT_CPU, &time);
    setrlimit(RLIMIT_CORE, &core);
    setrlimit(RLIMIT_DATA, &memory);
    tcc_compile_string(new_state(NULL, hush), text);
    _exit(0);
}

bool c_memory_survives(const char *text)
{
    const pid_t child = fork();
    if (child == 0) try_text(text);
    if (child < 0) return true;             /* no process to be had: then as without this test */
    int status = 0;
    pid_t got;
    do got = waitpid(child, &status, 0);
    while (got < 0);
    return WIFEXITED(status);
}
