/* jit.c: the engine that compiles the emitted C in memory with libtcc. Every operation is a kernel of the library, bound by
 * name, for tcc's own code is as slow as unoptimised C; it only says what is called in which order. */
#include <libtcc.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "emitted.h"
#include "isa.h"
#include "jit.h"
#include "kernel_set.h"
#include "pack.h"

typedef struct Jit { Emitted emitted; TCCState *code; const unsigned char *weights; } Jit;

static void jit_close(Engine *e)
{
    Jit *k = e->own;
    emitted_release(&k->emitted);
    if (k->code) tcc_delete(k->code);
    if (k->weights) pack_release(k->weights);
    free(k);
    free(e->state);
    e->own = NULL;
    e->state = NULL;
}

/* ---- stopping --------------------------------------------------------------------------------------------------- */

static volatile sig_atomic_t stop_wanted;
static int answers[2], stopped;

void jit_stop(void) { stop_wanted = 1; }

void jit_go_on(void) { stop_wanted = stopped = answers[0] = answers[1] = 0; }

/* Lane 0 writes the answer of the next turn; what it wrote a turn ago all lanes read, for they have met since. */
static int rt_poll(int lane, int turn)
{
    if (lane == 0) {
        answers[!turn] = stop_wanted;
        stopped |= answers[turn];
    }
    return answers[turn];
}

static rt_status unless_stopped(rt_status status) { return stopped ? RT_INTERRUPTED : status; }
static rt_status jit_encode(Engine *e, const int *ids, int n) { return unless_stopped(emitted_encode(e, ids, n)); }
static rt_status jit_step(Engine *e, int id) { return unless_stopped(emitted_step(e, id)); }
static rt_status jit_next(Engine *e, int id, int *next) { return unless_stopped(emitted_next(e, id, next)); }
static rt_status jit_rows(Engine *e, const rt_row *rows, int n) { return unless_stopped(emitted_rows(e, rows, n)); }
static rt_status jit_run(Engine *e) { return unless_stopped(emitted_run(e)); }

static const EngineOps jit_ops = {
    .encode = jit_encode, .step = jit_step, .next = jit_next, .rows = jit_rows, .fork = emitted_fork, .logits = emitted_logits,
    .clear = emitted_clear,
    .run = jit_run, .threads = emitted_threads, .close = jit_close,
};

/* ---- compiling -------------------------------------------------------------------------------------------------- */

static void *in_memory(void *code, const char *name) { return tcc_get_symbol(code, name); }

/* tcc's messages, one a line. */
static void keep_message(void *text, const char *message)
{
    text_add(text, message);
    text_add(text, "\n");
}

static void add_function(TCCState *code, const char *name, KernelFunction *function)
{
    void *address;
    memcpy(&address, &function, sizeof address);    /* POSIX: a function's address in a void pointer */
    tcc_add_symbol(code, name, address);
}

/* What the emitted code calls besides the kernels. */
static void add_runtime(TCCState *code)
{
#define ADD(function) add_function(code, #function, (KernelFunction *)function)
    ADD(rt_isa_missing);
    ADD(rt_team_resize);
    ADD(rt_team_run);
    ADD(rt_team_barrier);
    ADD(rt_characters_encode);
    ADD(rt_characters_decode);
    ADD(rt_poll);
    ADD(memset);                                    /* tcc calls these for initialisers and copies of structs */
    ADD(memcpy);
    ADD(memmove);
#undef ADD
}

/* Compile and link; every message is an error, for a call of what is not declared is only a warning to tcc. */
static TCCState *compile(Diag *d, Text *messages, const char *text, const KernelSet *set)
{
    TCCState *code = tcc_new();
    if (!code) die("no memory for libtcc");
    tcc_set_error_func(code, messages, keep_message);
    tcc_set_options(code, "-nostdlib -nostdinc -std=c11 -Wall");
    tcc_set_output_type(code, TCC_OUTPUT_MEMORY);
    bool good = tcc_compile_string(code, text) == 0;
    if (good) {
        add_runtime(code);
        for (int i = 0; set->kernels[i].name; i++) add_function(code, set->kernels[i].name, set->kernels[i].function);
        good = tcc_relocate(code, TCC_RELOCATE_AUTO) == 0;
    }
    if (good && !messages->size) return code;
    diag_error(d, EXIT_OUR_BUG, (Loc){ 0 }, "libtcc refuses the C text: %.*s", (int)strcspn(messages->data, "\n"), messages->data);
    tcc_delete(code);
    return NULL;
}

/* A clock for the phases. */
static int64_t since(int64_t *last)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    const int64_t ns = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec, passed = ns - *last;
    *last = ns;
    return passed;
}

/* The first of a list that there is and this processor runs, or NULL. */
static const KernelSet *first_set(Arena *a, const char *list)
{
    int n;
    const char *const *isas = isa_list(a, list, &n);
    const KernelSet *set = NULL;
    for (int i = 0; i < n && !set; i++) set = kernel_set(isas[i]);
    return set;
}

Engine *jit_open(Arena *a, Diag *d, const Plan *p, EmitForm form, bool polls)
{
    const KernelSet *set = first_set(a, form.isa);
    if (!set) {
        diag_error(d, EXIT_NO_FEATURE, (Loc){ 0 }, "there are no kernels for %s, or this processor cannot run them", form.isa ? form.isa : "native");
        return NULL;
    }
    Engine *e = arena_alloc(a, sizeof *e);
    Jit *k = calloc(1, sizeof *k);
    if (!k) die("no memory");
    *e = (Engine){ .name = "jit", .ops = &jit_ops, .plan = p, .own = k };
    int64_t clock = 0;
    since(&clock);
    const Pack pack = pack_layout(a, p);
    const Text text = emit_one_text(a, p, pack.identity, pack.head_bytes, form.layers, set->isa, polls);
    Text messages = text_new(a);
    e->phases.emit_ns = since(&clock);
    k->code = compile(d, &messages, text.data, set);
    e->phases.compile_ns = since(&clock);
    if (k->code && emitted_find(a, d, &k->emitted, p->graph->model, in_memory, k->code)) {
        k->emitted.model.weights = k->weights = pack_acquire(a, &pack, &e->phases.packed_before);
        e->phases.pack_ns = since(&clock);
        if (emitted_state(d, e)) return e;
    }
    jit_close(e);
    return NULL;
}
