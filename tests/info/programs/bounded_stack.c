/* bounded_stack.c: what a model answers on a stack of so many bytes and a page is what it answers on the program's own.
 * Behind that stack lie pages that nobody may touch. Of each call: encoding as long a source as there may be, many rows,
 * one row, a text. usage: bounded_stack BYTES FILE.safetensors [TEXT]
 *
 * Compiled with -DMODEL=name -DMODEL_HEADER='"name.h"' -DKIND_…: GRAPH, ENCODER, DECODER or BOTH; TEXT, TOKENIZER. */
#define _DEFAULT_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include MODEL_HEADER
#include "rt_weights.h"

#define JOIN_(a, b) a##_##b
#define JOIN(a, b) JOIN_(a, b)
#define M(name) JOIN(MODEL, name)

static MODEL model;
static M(state) state;
static ucontext_t caller, callee;
static rt_status status;
static const char *prompt;
static char answer[1 << 16];
#ifdef KIND_TOKENIZER
static char text_scratch[1 << 20];
#endif
static int ids[1 << 16];

static void calls(void)
{
    status = RT_OK;
#ifdef KIND_GRAPH
    status = M(run)(&model, &state);
#endif
#ifdef KIND_ENCODER
    const int all = MAX_SOURCE;
    status = M(encode_batch)(&model, &state, ids, &all, NULL, 1, NULL);
#endif
#ifdef KIND_BOTH
    status = M(encode)(&model, &state, 0, ids, MAX_SOURCE);
#endif
#if defined(KIND_BOTH) || defined(KIND_DECODER)
    static rt_row rows[ROWS];
    int next = 0;
    const int n = ROWS < MAX_TARGET ? ROWS : MAX_TARGET - 1;
    for (int i = 0; i < n; i++) rows[i] = (rt_row){ 0, i, ids[i] };
    if (status == RT_OK) status = M(read)(&model, &state, rows, n);
    if (status == RT_OK) status = M(rows)(&model, &state, rows, n);
    if (status == RT_OK) status = M(next)(&model, &state, ids[0], &next);
#endif
#ifdef KIND_TOKENIZER
    if (status == RT_OK && prompt)
        status = M(text)(&model, &state, prompt, answer, sizeof answer, text_scratch, sizeof text_scratch);
#elif defined(KIND_TEXT)
    if (status == RT_OK && prompt) status = M(text)(&model, &state, prompt, answer, sizeof answer);
#endif
}

static uint64_t hash(void)
{
    uint64_t h = 14695981039346656037u;
    const unsigned char *s = (const unsigned char *)&state;
    for (size_t i = 0; i < sizeof state; i++) h = (h ^ s[i]) * 1099511628211u;
    for (const char *c = answer; *c; c++) h = (h ^ (unsigned char)*c) * 1099511628211u;
    return h;
}

static void clear(void)
{
    memset(&state, 0, sizeof state);
    memset(answer, 0, sizeof answer);
}

int main(int argc, char **argv)
{
    RtWeights weights;
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), shut = 16 * page;     /* frames of less than that cannot step over it */
    if (argc < 3) return 2;
    prompt = argc > 3 ? argv[3] : NULL;
    const size_t room = (strtoul(argv[1], NULL, 10) + page + 63) / 64 * 64, whole = (room + page - 1) / page * page + shut;
    if (rt_weights_open(&weights, argv[2]) || M(bind)(&model, weights.data, weights.bytes) != RT_OK) return 3;
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) ids[i] = (int)(i % 7);
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
    /* What lies below the given bytes and above the page that is shut shows too that it was touched. */
    memset(memory + shut, 0xA5, whole - shut - room);
    if (swapcontext(&caller, &callee)) return 4;
    for (size_t i = shut; i < whole - room; i++)
        if (memory[i] != 0xA5) {
            fprintf(stderr, "bounded_stack: %zu bytes below the stack were written\n", whole - room - i);
            return 1;
        }
    if (status != on_own || hash() != want) {
        fprintf(stderr, "bounded_stack: another answer: status %d, not %d\n", status, on_own);
        return 1;
    }
    printf("%d %016llx\n", on_own, (unsigned long long)want);
    return on_own == RT_OK ? 0 : 1;
}
