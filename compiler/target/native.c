/* native.c: the engine that emits a Plan, compiles it into a temporary folder and loads it. */
#include <dlfcn.h>
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cleanup.h"
#include "engine.h"
#include "folder.h"

/* Room for the emitted `NAME` struct, whose type this file cannot know: two pointers. */
typedef struct EmittedModel { const unsigned char *weights; struct rt_team *team; } EmittedModel;

typedef struct Native {
    void *library;
    FileMap weights;
    EmittedModel model;
    rt_status (*bind)(void *, const void *, size_t);
    rt_status (*threads)(void *, int);
    rt_status (*encode)(const void *, void *, int, const int *, int);
    rt_status (*encode_only)(const void *, void *, const int *, int);       /* without a decoder there are no slots */
    rt_status (*clear)(void *, int);
    rt_status (*step)(const void *, void *, int);
    rt_status (*next)(const void *, void *, int, int *);
    rt_status (*rows)(const void *, void *, const rt_row *, int);
    const float *(*logits)(const void *);
    rt_status (*run)(const void *, void *);
} Native;

static rt_status native_encode(Engine *e, const int *ids, int n)
{
    Native *k = e->own;
    if (!e->plan->graph->model->has_encoder) return RT_ORDER;
    return k->encode ? k->encode(&k->model, e->state, 0, ids, n) : k->encode_only(&k->model, e->state, ids, n);
}

static rt_status native_step(Engine *e, int id)
{
    Native *k = e->own;
    return k->step(&k->model, e->state, id);
}

static rt_status native_next(Engine *e, int id, int *next)
{
    Native *k = e->own;
    return k->next(&k->model, e->state, id, next);
}

static rt_status native_rows(Engine *e, const rt_row *rows, int n)
{
    Native *k = e->own;
    return k->rows ? k->rows(&k->model, e->state, rows, n) : RT_ORDER;
}

static const float *native_logits(const Engine *e) { return ((const Native *)e->own)->logits(e->state); }

static rt_status native_clear(Engine *e)
{
    const Native *k = e->own;
    return k->clear ? k->clear(e->state, 0) : RT_ORDER;
}

static rt_status native_run(Engine *e)
{
    Native *k = e->own;
    return k->run(&k->model, e->state);
}

static rt_status native_threads(Engine *e, int lanes)
{
    Native *k = e->own;
    return k->threads(&k->model, lanes);
}

static void native_close(Engine *e)
{
    Native *k = e->own;
    if (k->threads && k->model.team) k->threads(&k->model, 1);
    if (k->library) dlclose(k->library);
    if (k->weights.data) file_unmap(&k->weights);
    free(k);
    free(e->state);
    e->own = NULL;
    e->state = NULL;
}

static const EngineOps native_ops = {
    .encode = native_encode, .step = native_step, .next = native_next, .rows = native_rows, .logits = native_logits,
    .clear = native_clear, .run = native_run, .threads = native_threads, .close = native_close,
};

/* ---- loading --------------------------------------------------------------------------------------------------- */

static bool bind_symbol(Diag *d, Native *k, Arena *a, const char *name, const char *suffix, void *out, bool needed)
{
    void *symbol = dlsym(k->library, arena_format(a, "%s_%s", name, suffix));
    if (!symbol && needed) diag_error(d, EXIT_OUR_BUG, (Loc){ 0 }, "the emitted library lacks %s_%s", name, suffix);
    memcpy(out, &symbol, sizeof symbol);    /* POSIX: a function's address in a void pointer */
    return symbol || !needed;
}

static bool bind_symbols(Arena *a, Diag *d, Native *k, const Model *m)
{
    bool graph = m->graph != NULL, both = m->has_encoder && m->has_decoder, only = m->has_encoder && !m->has_decoder;
    return bind_symbol(d, k, a, m->name, "bind", &k->bind, true) && bind_symbol(d, k, a, m->name, "threads", &k->threads, true) &&
           (both ? bind_symbol(d, k, a, m->name, "encode", &k->encode, true) : true) &&
           (only ? bind_symbol(d, k, a, m->name, "encode", &k->encode_only, true) : true) &&
           bind_symbol(d, k, a, m->name, "clear", &k->clear, m->has_decoder) && bind_symbol(d, k, a, m->name, "step", &k->step, m->has_decoder) &&
           bind_symbol(d, k, a, m->name, "next", &k->next, m->has_decoder) &&
           bind_symbol(d, k, a, m->name, "rows", &k->rows, m->has_decoder) && bind_symbol(d, k, a, m->name, "logits", &k->logits, m->has_decoder) &&
           bind_symbol(d, k, a, m->name, "run", &k->run, graph);
}

/* Load the library and its weights; the files may go afterwards. */
static bool load(Arena *a, Diag *d, Native *k, const Model *m, const char *folder)
{
    const char *library = file_join(a, folder, arena_format(a, "lib%s.so", m->name));
    k->library = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    if (!k->library) {
        diag_error(d, EXIT_NO_FEATURE, (Loc){ 0 }, "cannot load the compiled model: %s", dlerror());
        return false;
    }
    if (!file_map(d, (Loc){ 0 }, file_join(a, folder, arena_format(a, "%s.safetensors", m->name)), &k->weights)) return false;
    if (!bind_symbols(a, d, k, m)) return false;
    rt_status s = k->bind(&k->model, k->weights.data, k->weights.size);
    if (s == RT_OK) return true;
    diag_error(d, s == RT_NO_ISA ? EXIT_NO_FEATURE : EXIT_OUR_BUG, (Loc){ 0 }, "the compiled model cannot be used: %s", rt_status_text(s));
    return false;
}

/* Compile and load in `folder`. Nothing more is begun once a signal came. */
static bool compile(Arena *a, Diag *d, Native *k, const Plan *p, NativeOptions options, const char *folder)
{
    const char *name = p->graph->model->name;
    const MakeOrder order = { folder, arena_format(a, "lib%s.so", name), arena_format(a, "%s.c", name), options.cc, options.isa };
    return folder_write(a, d, p, (EmitForm){ WEIGHTS_FILE, options.kernels }, folder) && folder_make(a, d, &order) && !cleanup_caught() &&
           load(a, d, k, p->graph->model, folder);
}

/* The same in a temporary folder, which is gone before the engine is used. */
static bool compile_aside(Arena *a, Diag *d, Native *k, const Plan *p, NativeOptions options)
{
    const char *tmp = getenv("TMPDIR");
    char *folder = arena_format(a, "%s/xformc-XXXXXX", tmp && *tmp ? tmp : "/tmp");
    cleanup_hold();
    bool ok = false;
    if (!mkdtemp(folder)) diag_error(d, EXIT_IO, (Loc){ 0 }, "cannot make a temporary folder %s: %s", folder, strerror(errno));
    else {
        ok = compile(a, d, k, p, options, folder);
        folder_remove(a, folder);
    }
    cleanup_release();
    return ok;
}

Engine *native_open(Arena *a, Diag *d, const Plan *p, NativeOptions options)
{
    Engine *e = arena_alloc(a, sizeof *e);
    Native *k = calloc(1, sizeof *k);
    if (!k) die("no memory");
    *e = (Engine){ .name = arena_format(a, "native (%s)", options.cc ? options.cc : "cc"), .ops = &native_ops, .plan = p, .own = k };
    bool ok = compile_aside(a, d, k, p, options);
    e->state = ok ? aligned_alloc(64, p->state_bytes) : NULL;
    if (!e->state) {
        if (ok) diag_error(d, EXIT_NO_FEATURE, (Loc){ 0 }, "no memory for a state of %zu bytes", p->state_bytes);
        native_close(e);
        return NULL;
    }
    engine_reset(e);
    return e;
}
