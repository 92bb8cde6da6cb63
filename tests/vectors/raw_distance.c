/* raw_distance.c: a tool of the shell suite: print the distance of the 32-bit floats on standard
 * input from a tensor of a safetensors file (the largest difference divided by the tensor's
 * largest magnitude).
 * usage: raw_distance FILE TENSOR       fails above 1e-5, or if the counts differ */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "model.h"
#include "weights.h"

int main(int argc, char **argv)
{
    Arena *a = arena_new();
    Diag *d = diag_new(a);
    TensorFile *f = argc == 3 ? safetensors_open(a, d, (Loc){ 0 }, argv[1]) : NULL;
    const TensorSource *t = f ? tensor_file_find(f, argv[2]) : NULL;
    if (!t) return 2;
    const size_t n = (size_t)tensor_elements(t);
    float *expected = arena_array(a, n, sizeof *expected), *found = arena_array(a, n + 1, sizeof *found);
    double most = 0, largest = 0;
    tensor_read(t, expected);
    const size_t read = fread(found, sizeof *found, n + 1, stdin);
    for (size_t i = 0; i < n && i < read; i++) {
        const double apart = fabs((double)found[i] - (double)expected[i]);
        if (!(apart <= most)) most = apart;
        if (fabs((double)expected[i]) > largest) largest = fabs((double)expected[i]);
    }
    printf("%zu numbers of %zu, distance %.2e\n", read, n, most / largest);
    const int good = read == n && most <= 1e-5 * largest;
    tensor_file_close(f);
    arena_free(a);
    return !good;
}
