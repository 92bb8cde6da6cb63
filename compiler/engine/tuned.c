/* tuned.c: apply a file of `xformc tune`, after checks against the model to compile. */
#include "tuned.h"

#include <string.h>

#include "isa.h"
#include "machine.h"
#include "pack.h"
#include "tune_file.h"

/* Check the file's list of instruction sets; false after a reported error. */
static bool isa_is_known(Arena *a, Diag *d, const Tuning *t)
{
    int n, known;
    const char *const *names = isa_names(&known), *const *list = isa_list(a, t->isa, &n);
    const char *fault = t->isa ? isa_list_fault(a, t->isa) : NULL;
    for (int i = 0; i < n && t->isa; i++)
        if (!isa_flags(list[i])) {
            const char *near = diag_nearest(list[i], names, known);
            fault = arena_format(a, "there is no instruction set \"%s\"%s%s%s", list[i], near ? "; did you mean \"" : "", near ? near : "",
                                 near ? "\"?" : "");
        }
    if (fault) diag_error(d, EXIT_BAD_DATA, t->isa_at, "isa = \"%s\": %s", t->isa, fault);
    return !fault;
}

/* True if the file is for this model and dtype. A remark reports any mismatch, including a
 * different machine. */
static bool tuning_fits(Arena *a, Diag *d, const Model *m, const Tuning *t)
{
    const Loc whole = { t->path, 0, 0 };
    const char *machine = machine_processor(a), *dtype = model_dtype(m);
    if (t->model && strcmp(t->model, m->name)) {
        diag_remark(d, whole, "measured for another model, %s: ignored", t->model);
        return false;
    }
    if (t->dtype && strcmp(t->dtype, dtype)) {
        diag_remark(d, whole, "measured for %s weights, but these are %s: ignored", t->dtype, dtype);
        return false;
    }
    if (t->machine && *machine && strcmp(t->machine, machine))
        diag_remark(d, whole, "measured on another machine, %s, not on %s: these choices may be slow here", t->machine, machine);
    return true;
}

/* Count the calls of the file that this build lacks or cannot cut as the file says; *first receives
 * the first of them. */
static int calls_elsewhere(Arena *a, const Plan *p, const Tuning *t, const TunedCall **first)
{
    const Emit *e = emit_named(a, p);
    int n = 0;
    for (int i = 0; i < t->call_count; i++) {
        const TunedCall *c = &t->calls[i];
        bool good = false;
        for (int k = 0; k < e->wrapper_count && !good; k++)
            good = strcmp(e->wrappers[k]->name, c->name) == 0 && (c->take == LINEAR_CUT_USUAL || emit_can_cut(e, e->wrappers[k], c->take));
        if (!good && !n++) *first = c;
    }
    return n;
}

/* Remark if the file was measured for another build of the model, or has calls that this build
 * lacks or cannot cut as the file says. */
static void remark_on_form(Arena *a, Diag *d, const Plan *p, const Tuning *t)
{
    const char *name = p->graph->model->name;
    const TunedCall *first = NULL;
    if (t->identity && strcmp(t->identity, pack_layout(a, p).identity))
        diag_remark(d, (Loc){ t->path, 0, 0 }, "measured for another build of %s: these choices may be slow here", name);
    const int n = calls_elsewhere(a, p, t, &first);
    if (n)
        diag_remark(d, first->at, "this build of %s does not have the call %s, or cannot split it as the file says "
                    "(ignored: %d of %d calls)", name, first->name, n, t->call_count);
}

bool tuned_take(Arena *a, Diag *d, const char *path, const Plan *p, EmitForm *form, int *threads)
{
    Tuning *t = tuning_from_lua(a, d, path);
    if (!t || !isa_is_known(a, d, t)) return false;
    if (!tuning_fits(a, d, p->graph->model, t)) return true;
    remark_on_form(a, d, p, t);
    form->tuning = t;
    if (!form->isa) form->isa = t->isa;
    if (!*threads) *threads = t->threads < p->options.max_threads ? t->threads : p->options.max_threads;
    if (form->layers == LAYERS_BY_SPEC && t->layers) form->layers = t->layers == TUNED_LAYERS_LOOP ? LAYERS_LOOP : LAYERS_CALLS;
    return true;
}
