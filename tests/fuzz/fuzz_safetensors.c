/* fuzz_safetensors.c: any bytes as a safetensors file. Each tensor of an accepted file is found by
 * name, and read if it has floats and is not too large. */
#include "model.h"
#include "dtypes.h"
#include "support_fuzz.h"
#include "weights.h"

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t room, unsigned seed)
{
    return fuzz_mutate_safetensors(data, size, room, seed);
}

static void read_all(Arena *a, const TensorFile *f)
{
    enum { MOST = 1 << 20 };
    for (int i = 0; i < f->count; i++) {
        const TensorSource *t = &f->tensors[i];
        const int64_t n = tensor_elements(t);
        fuzz_expect(tensor_file_find(f, t->name) == t);
        fuzz_expect(n >= 0);
        fuzz_inside(t);
        if (n > MOST || !dtype_is_float(t->dtype)) continue;
        tensor_read(t, arena_array(a, (size_t)n, sizeof(float)));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Arena *a = arena_new();
    Diag *d = diag_new(a);
    TensorFile *f = safetensors_open(a, d, (Loc){ 0 }, fuzz_file(data, size));
    fuzz_told(d, f != NULL);
    if (f) read_all(a, f);
    tensor_file_close(f);
    arena_free(a);
    return 0;
}
