/* native.c: the engine that emits a Plan, compiles it into a temporary folder and loads it. */
#include <dlfcn.h>
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cleanup.h"
#include "emitted.h"
#include "folder.h"

typedef struct Native { Emitted emitted; void *library; FileMap weights; } Native;

static void native_close(Engine *e)
{
    Native *k = e->own;
    emitted_release(&k->emitted);
    if (k->library) dlclose(k->library);
    if (k->weights.data) file_unmap(&k->weights);
    free(k);
    free(e->state);
    e->own = NULL;
    e->state = NULL;
}

static const EngineOps native_ops = { EMITTED_CALLS, .close = native_close };

static void *in_library(void *library, const char *name) { return dlsym(library, name); }

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
    return emitted_find(a, d, &k->emitted, m, in_library, k->library) && emitted_bind(d, &k->emitted, k->weights.data, k->weights.size);
}

/* Compile and load in `folder`. Nothing more is begun once a signal came. */
static bool compile(Arena *a, Diag *d, Native *k, const Plan *p, const char *cc, EmitForm form, const char *folder)
{
    const char *name = p->graph->model->name;
    const MakeOrder order = { folder, arena_format(a, "lib%s.so", name), arena_format(a, "%s.c", name), cc, form };
    form.weights = WEIGHTS_FILE;
    return folder_write_bare(a, d, p, form, folder) && folder_make(a, d, &order) && !cleanup_caught() &&
           load(a, d, k, p->graph->model, folder);
}

/* The same in a temporary folder, which is gone before the engine is used. */
static bool compile_aside(Arena *a, Diag *d, Native *k, const Plan *p, const char *cc, EmitForm form)
{
    const char *tmp = getenv("TMPDIR");
    char *folder = arena_format(a, "%s/xformc-XXXXXX", tmp && *tmp ? tmp : "/tmp");
    cleanup_hold();
    bool ok = false;
    if (!mkdtemp(folder)) diag_error(d, EXIT_IO, (Loc){ 0 }, "cannot make a temporary folder %s: %s", folder, strerror(errno));
    else {
        ok = compile(a, d, k, p, cc, form, folder);
        folder_remove(a, folder);
    }
    cleanup_release();
    return ok;
}

Engine *native_open(Arena *a, Diag *d, const Plan *p, const char *cc, EmitForm form)
{
    Engine *e = arena_alloc(a, sizeof *e);
    Native *k = calloc(1, sizeof *k);
    if (!k) die("no memory");
    *e = (Engine){ .name = arena_format(a, "native (%s%s)", cc ? cc : "cc", form.kernels == KERNELS_UNROLLED ? ", unrolled" : ""),
                   .ops = &native_ops, .plan = p, .own = k };
    if (compile_aside(a, d, k, p, cc, form) && emitted_state(d, e)) return e;
    native_close(e);
    return NULL;
}
