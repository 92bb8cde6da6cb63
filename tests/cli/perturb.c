/* perturb.c: a tool of the shell suites: copy a safetensors file, and multiply the value with
 * the largest magnitude in one F32 tensor by FACTOR.   usage: perturb FROM TO TENSOR FACTOR */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model.h"
#include "weights.h"

int main(int argc, char **argv)
{
    if (argc != 5) return EXIT_USAGE;
    Arena *a = arena_new();
    Diag *d = diag_new(a);
    TensorFile *f = safetensors_open(a, d, (Loc){ 0 }, argv[1]);
    const TensorSource *t = f ? tensor_file_find(f, argv[3]) : NULL;
    diag_print(d, stderr, false);
    if (!t || t->dtype != DTYPE_F32) {
        fprintf(stderr, "perturb: no F32 tensor %s in %s\n", argv[3], argv[1]);
        return EXIT_BAD_DATA;
    }
    unsigned char *data = arena_alloc(a, f->map.size);
    memcpy(data, f->map.data, f->map.size);
    size_t largest = t->offset;
    float x, most = 0;
    for (int64_t i = 0; i < tensor_elements(t); i++) {
        memcpy(&x, data + t->offset + 4 * (size_t)i, sizeof x);
        if (fabsf(x) <= fabsf(most)) continue;
        most = x;
        largest = t->offset + 4 * (size_t)i;
    }
    most *= (float)atof(argv[4]);
    memcpy(data + largest, &most, sizeof most);
    bool written = file_write(a, d, argv[2], data, f->map.size);
    diag_print(d, stderr, false);
    tensor_file_close(f);
    arena_free(a);
    return written ? EXIT_DONE : EXIT_IO;
}
