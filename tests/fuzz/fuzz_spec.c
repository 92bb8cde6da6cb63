/* fuzz_spec.c: any text as a spec, up to a Model, a Graph and the Plans of both targets. The spec's
 * weights file need not exist. */
#include <string.h>

#include "session.h"
#include "support_fuzz.h"

/* Plans of models with very many layers are valid, but slow: skip them. */
static bool is_small(const Graph *g)
{
    enum { MOST_TENSORS = 2000 };
    return g->tensor_count <= MOST_TENSORS;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const CompileOptions options = { .spec = fuzz_file(data, size), .sizes_only = true };
    Session *s = session_new(&options);
    const bool good = session_read(s);
    fuzz_told(s->diag, good);
    if (good) {
        fuzz_expect(s->model && s->graph);
        for (int taps = 0; taps < 2 && is_small(s->graph); taps++) {
            fuzz_expect(session_plan(s, TARGET_PANELS, taps));
            fuzz_expect(session_plan(s, TARGET_ROW_MAJOR, taps));
        }
    }
    session_free(s);
    return 0;
}
