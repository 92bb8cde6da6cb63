/* fuzz_pickle.c: any bytes as the pickle of a pytorch_model.bin. None of its code runs, and no
 * tensor that it lists has a negative size or stride. */
#include <string.h>

#include "support_fuzz.h"
#include "weights_pickle.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Arena *a = arena_new();
    PickleTensors found;
    const bool good = pickle_tensors(a, data, size, &found);
    fuzz_expect(good == (found.count > 0));
    fuzz_expect(good || (found.fault && *found.fault));
    for (int i = 0; i < found.count; i++) {
        const PickleTensor *t = &found.tensors[i];
        fuzz_expect(strlen(t->name) <= size && strlen(t->key) <= size);
        fuzz_expect(t->rank >= 0 && t->rank <= MAX_RANK && t->offset >= 0);
        for (int k = 0; k < t->rank; k++) fuzz_expect(t->shape[k] >= 0 && t->stride[k] >= 0);
    }
    arena_free(a);
    return 0;
}
