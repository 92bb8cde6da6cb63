/* bounded_stack.c: a model gives the same answer on a stack of BYTES plus a page as on the
 * program's own stack. The bytes below the former stay unchanged; further down are guard pages.
 * usage: bounded_stack BYTES FILE.safetensors [TEXT], compiled as model_calls.h says. If BYTES is
 * negative, the stack is smaller than a page. */
#define _DEFAULT_SOURCE
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include "model_calls.h"

static ucontext_t caller, callee;

int main(int argc, char **argv)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), shut = 16 * page;     /* frames smaller than that cannot skip it */
    if (argc < 3) return 2;
    const size_t room = (size_t)(strtol(argv[1], NULL, 10) + (long)page + 63) / 64 * 64,
                 whole = (room + page - 1) / page * page + shut;
    if (prepare(argv[2], argc > 3 ? argv[3] : NULL)) return 3;
    clear();
    calls();
    const rt_status on_own = status;
    const uint64_t want = hash();

    unsigned char *memory = mmap(NULL, whole, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED || mprotect(memory, shut, PROT_NONE)) return 4;
    clear();
    if (getcontext(&callee)) return 4;
    callee.uc_stack.ss_sp = memory + whole - room;
    callee.uc_stack.ss_size = room;
    callee.uc_link = &caller;
    makecontext(&callee, calls, 0);
    /* Fill the bytes between the guard pages and the stack, to show whether they are written. */
    memset(memory + shut, 0xA5, whole - shut - room);
    if (swapcontext(&caller, &callee)) return 4;
    for (size_t i = shut; i < whole - room; i++)
        if (memory[i] != 0xA5) {
            fprintf(stderr, "bounded_stack: a byte %zu bytes below the stack was written\n", whole - room - i);
            return 1;
        }
    if (status != on_own || hash() != want) {
        fprintf(stderr, "bounded_stack: the answer differs; status %d, expected %d\n", status, on_own);
        return 1;
    }
    printf("%d %016llx\n", on_own, (unsigned long long)want);
    return on_own == RT_OK ? 0 : 1;
}
