/* fuzz_checkpoint.c: any bytes as a file of weights: a zip of torch.save, a llama2.c checkpoint, an index of shards; and as a spec where
 * they begin as a checkpoint does. */
#include <string.h>

#include "dtypes.h"
#include "fields.h"
#include "session.h"
#include "support_fuzz.h"

static void read_all(Arena *a, const TensorFile *f)
{
    enum { MOST = 1 << 20 };
    for (int i = 0; i < f->count; i++) {
        const TensorSource *t = &f->tensors[i];
        const int64_t n = tensor_elements(t);
        fuzz_expect(n >= 0);
        fuzz_inside(t);
        if (t->group) fuzz_expect(t->scales + (size_t)(n / t->group) * 4 <= t->file->map.size);
        if (n > MOST || !(dtype_is_float(t->dtype) || t->group)) continue;
        tensor_read(t, arena_array(a, (size_t)n, sizeof(float)));
    }
}

static void as_spec(const char *path)
{
    enum { MOST_LAYERS = 64 };
    const Choices choices = { .spec = path };
    Session *s = session_new(&choices);
    Draft *draft = draft_from_checkpoint(s->arena, s->diag, path);
    const Choice *layers = draft ? draft_choice(draft, SIDE_BOTH, FIELD_ID_layers) : NULL;
    if (layers && layers->values[0].integer <= MOST_LAYERS) {
        draft->sizes_only = true;
        const bool good = session_take(s, draft);
        fuzz_told(s->diag, good);
    } else {
        fuzz_told(s->diag, draft != NULL);
    }
    session_free(s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Arena *a = arena_new();
    Diag *d = diag_new(a);
    const char *path = fuzz_file(data, size);
    TensorFile *f = weights_open(a, d, (Loc){ 0 }, path);
    fuzz_told(d, f != NULL);
    if (f) read_all(a, f);
    tensor_file_close(f);
    arena_free(a);
    if (is_checkpoint(data, size)) as_spec(path);
    return 0;
}
