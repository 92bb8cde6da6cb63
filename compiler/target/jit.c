/* jit.c: the engine that compiles the emitted C in memory with libtcc. Every operation is a kernel of the library, bound by
 * name, for tcc's own code is as slow as unoptimised C; it only says what is called in which order. */
#include <libtcc.h>
#include <stdlib.h>
#include <string.h>

#include "emitted.h"
#include "isa.h"
#include "jit.h"
#include "kernel_set.h"
#include "pack.h"

typedef struct Jit { Emitted emitted; TCCState *code; unsigned char *weights; } Jit;

static void jit_close(Engine *e)
{
    Jit *k = e->own;
    emitted_release(&k->emitted);
    if (k->code) tcc_delete(k->code);
    free(k->weights);
    free(k);
    free(e->state);
    e->own = NULL;
    e->state = NULL;
}

static const EngineOps jit_ops = { EMITTED_CALLS, .close = jit_close };

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

/* The first of a list that there is and this processor runs, or NULL. */
static const KernelSet *first_set(Arena *a, const char *list)
{
    int n;
    const char *const *isas = isa_list(a, list, &n);
    const KernelSet *set = NULL;
    for (int i = 0; i < n && !set; i++) set = kernel_set(isas[i]);
    return set;
}

Engine *jit_open(Arena *a, Diag *d, const Plan *p, EmitForm form)
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
    const Pack pack = pack_layout(a, p);
    const Text text = emit_one_text(a, p, pack.identity, pack.head_bytes, form.layers, set->isa);
    Text messages = text_new(a);
    size_t bytes;
    k->code = compile(d, &messages, text.data, set);
    if (k->code) {
        k->weights = pack_memory(a, &pack, &bytes);
        if (emitted_bind(a, d, &k->emitted, p->graph->model, in_memory, k->code, k->weights, bytes) && emitted_state(d, e)) return e;
    }
    jit_close(e);
    return NULL;
}
