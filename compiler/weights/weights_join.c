/* weights_join.c: join the tensors of several files. */
#include "weights.h"

#include <string.h>

bool tensor_file_join(Arena *a, Diag *d, Loc at, TensorFile *f)
{
    size_t n = 0;
    for (int i = 0; i < f->part_count; i++) n += (size_t)f->parts[i]->count;
    f->tensors = arena_array(a, n, sizeof *f->tensors);
    for (int i = 0; i < f->part_count; i++) {
        memcpy(f->tensors + f->count, f->parts[i]->tensors, (size_t)f->parts[i]->count * sizeof *f->tensors);
        f->count += f->parts[i]->count;
    }
    tensor_file_sort(f);
    for (int i = 1; i < f->count; i++)
        if (!strcmp(f->tensors[i - 1].name, f->tensors[i].name)) {
            diag_error(d, EXIT_BAD_DATA, at, "%s: tensor \"%.100s\" is in two files", f->path, f->tensors[i].name);
            return false;
        }
    return true;
}
