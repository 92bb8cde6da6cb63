/* fuzz_weights.c: any bytes as the weights of a model, under every naming scheme, and as the
 * reference of `verify --against` for the generic engine. */
#include "session.h"
#include "support_fuzz.h"
#include "fields.h"
#include "graph_build.h"
#include "verify.h"
#include "weights.h"

static const char spec[] = "tests/goldens/gated.lua";

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t room, unsigned seed)
{
    return fuzz_mutate_safetensors(data, size, room, seed);
}

static void as_weights(const char *path)
{
    const CompileOptions options = { .spec = spec, .from = path };
    Session *s = session_new(&options);
    const bool good = session_read(s);
    fuzz_told(s->diag, good);
    for (int i = 0; good && i < s->model->tensor_count; i++) {
        const TensorSource *t = &s->model->tensors[i];
        fuzz_inside(t);
        tensor_read(t, arena_array(s->arena, (size_t)tensor_elements(t), sizeof(float)));
    }
    session_free(s);
}

/* Open the spec's model with its own weights, once. */
static Session *subject(VerifyEngine *engine)
{
    static const CompileOptions options = { .spec = spec };
    static Session *s;
    static VerifyEngine opened;
    if (!s) {
        s = session_new(&options);
        fuzz_expect(session_read(s));
        opened.tapped = session_engine(s, ENGINE_GENERIC, true);
        opened.plain = session_engine(s, ENGINE_GENERIC, false);
        fuzz_expect(opened.tapped && opened.plain);
    }
    *engine = opened;
    return s;
}

static void as_reference(const char *path)
{
    static FILE *nowhere;
    VerifyEngine engine;
    Session *s = subject(&engine);
    Arena *a = arena_new();
    Diag *d = diag_new(a);
    if (!nowhere) nowhere = fopen("/dev/null", "w");
    fuzz_expect(nowhere != NULL);
    if (verify_reference_fits(a, d, s->model, path)) {
        const VerifyOptions options = { .against = path, .seed = 1, .threads = 1, .json = true };
        const Exit found = verify_run(a, d, s->model, &engine, 1, &options, nowhere);
        fuzz_expect(found == EXIT_DONE || found == EXIT_DIFFERS || diag_errors(d) > 0);
        fuzz_told(d, diag_errors(d) == 0);
    } else fuzz_told(d, false);
    arena_free(a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *path = fuzz_file(data, size);
    as_weights(path);
    as_reference(path);
    return 0;
}
