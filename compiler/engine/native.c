/* native.c: emit a Plan as C, compile it in a temporary folder and load the library; or load the
 * library from the cache; or switch a jit engine to a library. */
#include <dlfcn.h>
#include <dirent.h>
#include <errno.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cleanup.h"
#include "clock.h"
#include "emitted.h"
#include "folder.h"
#include "jit.h"
#include "library_cache.h"
#include "native.h"

/* data: the shared packed weights; NULL if the weights are those of `before`, the jit engine that
 * was replaced. */
typedef struct Native { Emitted emitted; void *library; const unsigned char *data; Engine *before; } Native;

static void native_close(Engine *e)
{
    Native *k = e->own;
    emitted_release(&k->emitted);
    if (k->library) dlclose(k->library);
    if (k->data) pack_release(k->data);
    if (k->before) engine_close(k->before);
    free(k);
    free(e->state);
    e->own = NULL;
    e->state = NULL;
}

static const EngineOps native_ops = { EMITTED_CALLS, .close = native_close };

/* ---- stopping between calls -------------------------------------------------------------------------------------- */

static rt_status unless_stopped(rt_status status) { return jit_stop_wanted() ? RT_INTERRUPTED : status; }
static rt_status native_encode(Engine *e, int slot, const int *ids, int n)
{
    return unless_stopped(emitted_encode(e, slot, ids, n));
}
static rt_status native_batch(Engine *e, const int *ids, const int *lengths, const int *firsts, int count, float *vectors)
{
    return unless_stopped(emitted_encode_batch(e, ids, lengths, firsts, count, vectors));
}

static rt_status native_step(Engine *e, int id) { return unless_stopped(emitted_step(e, id)); }
static rt_status native_next(Engine *e, int id, int *next) { return unless_stopped(emitted_next(e, id, next)); }
static rt_status native_decode(Engine *e, const rt_token *rows, int n) { return unless_stopped(emitted_decode(e, rows, n)); }
static rt_status native_prefill(Engine *e, const rt_token *rows, int n) { return unless_stopped(emitted_prefill(e, rows, n)); }
static rt_status native_decode_greedy(Engine *e, const rt_token *rows, int n, int *next)
{
    return unless_stopped(emitted_decode_greedy(e, rows, n, next));
}
static rt_status native_run(Engine *e) { return unless_stopped(emitted_run(e)); }

static const EngineOps polled_ops = {
    .encode = native_encode, .encode_batch = native_batch,
    .step = native_step, .next = native_next, .decode = native_decode, .prefill = native_prefill, .decode_greedy = native_decode_greedy,
    .fork = emitted_fork, .logits = emitted_logits, .clear = emitted_clear,
    .run = native_run, .threads = emitted_threads, .team = emitted_team, .close = native_close,
};

/* ---- loading ----------------------------------------------------------------------------------------------------- */

static void *in_library(void *library, const char *name) { return dlsym(library, name); }

static bool load_library(Arena *a, Diag *d, Native *k, const Model *m, const char *library)
{
    k->library = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    if (k->library) return emitted_find(a, d, &k->emitted, m, in_library, k->library);
    diag_error(d, EXIT_NO_FEATURE, (Loc){ 0 }, "cannot load the compiled model: %s", dlerror());
    return false;
}

/* The emitted files, and the library's path in the cache, or NULL: do not cache it. */
typedef struct Cached { FolderText text; const char *path; } Cached;

typedef struct LoadedCode { ElfW(Addr) address; int64_t bytes; } LoadedCode;

/* dl_iterate_phdr: add up the segments of instructions of the library at code->address. */
static int add_code(struct dl_phdr_info *library, size_t size, void *own)
{
    LoadedCode *code = own;
    (void)size;
    if (library->dlpi_addr != code->address) return 0;
    for (int i = 0; i < library->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &library->dlpi_phdr[i];
        if (segment->p_type == PT_LOAD && segment->p_flags & PF_X) code->bytes += (int64_t)segment->p_memsz;
    }
    return 1;
}

static int64_t loaded_code_bytes(void *library)
{
    struct link_map *map = NULL;
    if (dlinfo(library, RTLD_DI_LINKMAP, &map) != 0) return 0;
    LoadedCode code = { .address = map->l_addr };
    dl_iterate_phdr(add_code, &code);
    return code.bytes;
}

/* Write the files to `folder`, compile them, add the library to the cache if o.cached, and load it.
 * Stops after a signal. */
static bool compile(Arena *a, Diag *d, Engine *e, const Plan *p, NativeOrder o, const Cached *c, const char *folder)
{
    Native *k = e->own;
    const char *name = p->graph->model->name, *library = arena_format(a, "lib%s.so", name);
    const MakeOrder order = { folder, library, arena_format(a, "%s.c", name), o.cc, o.form, false, false, graph_has_custom(p->graph) };
    if (!folder_write_text(a, d, p, &c->text, folder) || !folder_make(a, d, &order) || cleanup_caught()) return false;
    const char *path = file_join(a, folder, library);
    if (o.cached) library_cache_add(a, c->path, path);
    return load_library(a, d, k, p->graph->model, path);    /* the file may be removed afterwards */
}

/* Like compile, in a temporary folder that is removed before this returns. */
static bool compile_aside(Arena *a, Diag *d, Engine *e, const Plan *p, NativeOrder o, const Cached *c)
{
    const int64_t begin = clock_now_ns();
    cleanup_hold();
    const char *folder = folder_temporary(a, d);
    bool ok = false;
    if (folder) {
        ok = compile(a, d, e, p, o, c, folder);
        folder_remove(a, folder);
    }
    cleanup_release();
    e->phases.compile_ns = clock_now_ns() - begin;
    return ok;
}

/* Load from the cache. False, without an error, if there is no entry or it does not load. */
static bool load_cached(Arena *a, Diag *d, Engine *e, const Plan *p, const Cached *c)
{
    Native *k = e->own;
    if (!library_cache_has(a, d, c->path)) return false;
    if (!load_library(a, diag_new(a), k, p->graph->model, c->path)) {
        if (k->library) dlclose(k->library);
        *k = (Native){ .library = NULL };
        return false;
    }
    e->phases.compiled_before = true;
    return true;
}

/* Acquire the packed weights, shared with other engines, and bind them. */
static bool take_weights(Arena *a, Diag *d, Engine *e, const Pack *pack)
{
    Native *k = e->own;
    const int64_t begin = clock_now_ns();
    k->data = pack_acquire(a, d, pack, &e->phases.packed_before);
    e->phases.pack_ns = clock_now_ns() - begin;
    return k->data && emitted_bind(d, &k->emitted, k->data);
}

/* "native (gcc)"; "native (gcc, unrolled)". */
static const char *name_with_compiler(Arena *a, const char *cc, KernelsForm kernels)
{
    return arena_format(a, "%s (%s%s)", engine_name(ENGINE_NATIVE), cc ? cc : "cc",
                        kernels == KERNELS_UNROLLED ? ", unrolled" : "");
}

static Native *new_native(void)
{
    Native *k = calloc(1, sizeof *k);
    if (!k) no_memory("an engine");
    return k;
}

Engine *native_open(Arena *a, Diag *d, const Plan *p, NativeOrder o)
{
    Engine *e = arena_alloc(a, sizeof *e);
    Native *k = new_native();
    o.form.weights = WEIGHTS_FILE;
    o.cached = o.cached && !o.cc;
    *e = (Engine){ .name = name_with_compiler(a, o.cc, o.form.kernels),
                   .ops = o.polls ? &polled_ops : &native_ops, .plan = p, .own = k };
    Cached c = { .text = folder_text(a, p, o.form) };
    if (o.cached) c.path = library_cache_path(a, p, o.form, &c.text);
    const bool loaded = (o.cached && load_cached(a, d, e, p, &c)) || compile_aside(a, d, e, p, o, &c);
    if (loaded) e->phases.code_bytes = loaded_code_bytes(k->library);
    if (loaded && take_weights(a, d, e, &c.text.pack) && emitted_state(d, e)) return e;
    native_close(e);
    return NULL;
}

/* ---- replacing a jit engine -------------------------------------------------------------------------------------- */

bool native_replace(Arena *a, Diag *d, Engine *e, const char *library, int threads)
{
    Native *k = new_native();
    Engine *before = arena_alloc(a, sizeof *before);
    *before = *e;
    e->ops = &polled_ops;
    e->own = k;
    if (load_library(a, d, k, e->plan->graph->model, library)) {
        k->emitted.model.weights = ((const Emitted *)before->own)->model.weights;
        if (threads <= 1 || engine_start_threads(d, e, threads)) {
            emitted_release(before->own);
            before->state = NULL;                   /* e keeps the state */
            k->before = before;
            e->name = name_with_compiler(a, NULL, KERNELS_LIBRARY);
            return true;
        }
    }
    e->state = NULL;
    native_close(e);
    *e = *before;
    return false;
}

const Engine *native_beneath(const Engine *e) { return ((const Native *)e->own)->before; }

void native_undo(Engine *e, int threads)
{
    Native *k = e->own;
    Engine before = *k->before;
    before.state = e->state;
    k->before = NULL;
    e->state = NULL;
    native_close(e);
    *e = before;
    if (threads > 1) e->ops->threads(e, threads);
}
