/* weights_head.c: join the tensors of an encoder with those of the linears after it, which are in
 * separate files. */
#include "weights.h"

#include <string.h>

#include "dtypes.h"

/* Rename the tensors of file i: linear.NAME becomes head.<i>.NAME, and any other NAME becomes
 * head.<i>/NAME. If there is no linear.weight, report an error and return false. */
static bool rename_linear(Arena *a, Diag *d, Loc at, TensorFile *f, int i)
{
    static const char linear[] = "linear.";
    const size_t n = sizeof linear - 1;
    bool found = false;
    for (int k = 0; k < f->count; k++) {
        const char *name = f->tensors[k].name;
        const bool ours = !strncmp(name, linear, n);
        found |= !strcmp(name, "linear.weight");
        f->tensors[k].name = arena_format(a, ours ? "head.%d.%s" : "head.%d/%s", i, ours ? name + n : name);
    }
    if (!found) diag_error(d, EXIT_BAD_DATA, at, "%s has no tensor \"linear.weight\"", f->path);
    return found;
}

TensorFile *weights_with_linears(Arena *a, Diag *d, Loc at, TensorFile *encoder, const FieldList *files)
{
    TensorFile *f = arena_alloc(a, sizeof *f);
    f->path = encoder->path;
    f->parts = arena_array(a, (size_t)files->count + 1, sizeof *f->parts);
    f->parts[f->part_count++] = encoder;
    f->count = encoder->count;
    bool good = true;
    for (int i = 0; i < files->count && good; i++) {
        TensorFile *part = weights_open(a, d, at, files->text[i]);
        if (part) f->parts[f->part_count++] = part;
        good = part && rename_linear(a, d, at, part, i);
        if (part) f->count += part->count;
    }
    f->tensors = arena_array(a, (size_t)f->count + 1, sizeof *f->tensors);
    for (int i = 0, at_tensor = 0; i < f->part_count && good; at_tensor += f->parts[i++]->count)
        memcpy(f->tensors + at_tensor, f->parts[i]->tensors, (size_t)f->parts[i]->count * sizeof *f->tensors);
    if (!good) {
        tensor_file_close(f);
        return NULL;
    }
    tensor_file_sort(f);
    return f;
}
