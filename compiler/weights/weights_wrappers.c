/* weights_wrappers.c: remove the prefixes that training wrappers add to tensor names. */
#include "weights.h"

#include <string.h>

/* Prefixes of torch.compile, FullyShardedDataParallel and checkpoint_wrapper, which may wrap any
 * part of a model. */
static const char *const wrappers[] = { "_orig_mod.", "_fsdp_wrapped_module.", "_checkpoint_wrapped_module." };
enum { WRAPPERS = sizeof wrappers / sizeof *wrappers };

/* DistributedDataParallel puts this before every name. */
static const char all_of[] = "module.";

/* Find the first wrapper that starts a part of a name, and its length; NULL if there is none. */
static const char *find_wrapper(const char *name, size_t *bytes)
{
    for (const char *part = name; part; part = strchr(part, '.') ? strchr(part, '.') + 1 : NULL)
        for (int i = 0; i < WRAPPERS; i++) {
            *bytes = strlen(wrappers[i]);
            if (strncmp(part, wrappers[i], *bytes) == 0) return part;
        }
    return NULL;
}

static bool drop_wrappers(Arena *a, TensorFile *f)
{
    bool dropped = false;
    for (int i = 0; i < f->count; i++) {
        TensorSource *t = &f->tensors[i];
        size_t bytes;
        for (const char *at; (at = find_wrapper(t->name, &bytes)) != NULL; dropped = true)
            t->name = arena_format(a, "%.*s%s", (int)(at - t->name), t->name, at + bytes);
    }
    return dropped;
}

static bool drop_common(TensorFile *f)
{
    const size_t bytes = sizeof all_of - 1;
    for (int i = 0; i < f->count; i++)
        if (strncmp(f->tensors[i].name, all_of, bytes) != 0) return false;
    for (int i = 0; i < f->count; i++) f->tensors[i].name += bytes;
    return f->count;
}

bool tensor_file_unwrap(Arena *a, Diag *d, Loc at, TensorFile *f)
{
    bool changed = false;
    for (bool more = true; more; changed = changed || more) {
        const bool wrapped = drop_wrappers(a, f), common = drop_common(f);
        more = wrapped || common;
    }
    if (changed) tensor_file_sort(f);
    for (int i = 1; changed && i < f->count; i++)
        if (!strcmp(f->tensors[i - 1].name, f->tensors[i].name)) {
            diag_error(d, EXIT_BAD_DATA, at, "%s: tensors \"%.100s\" and \"%.100s\" have the same name without their prefixes", f->path,
                       f->tensors[i - 1].file_name, f->tensors[i].file_name);
            return false;
        }
    return true;
}
