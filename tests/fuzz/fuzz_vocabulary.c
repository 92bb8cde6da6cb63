/* fuzz_vocabulary.c: any bytes as a vocabulary file, alone and for the tokenizer of a model. */
#include <stdlib.h>
#include <string.h>

#include "fields.h"
#include "session.h"
#include "support_fuzz.h"
#include "tokenizer.h"

/* Read a spec that has the file as both vocabularies, up to a Plan. */
static void as_tokenizer(const char *path)
{
    static const char text[] = "return xf.model { name = \"m\", layers = 1, heads = 1, d_model = 2, d_ff = 2, max_len = 2, weights = \"random\",\n"
                               "  tokenizer = \"characters\", source_vocabulary = \"%s\", target_vocabulary = \"%s\" }\n";
    static char spec[] = "/tmp/fuzz_vocabulary.XXXXXX";
    static bool made;
    if (!made) {
        const int fd = mkstemp(spec);
        FILE *to = fd < 0 ? NULL : fdopen(fd, "w");
        fuzz_expect(to && fprintf(to, text, path, path) > 0 && fclose(to) == 0);
        made = true;
    }
    const CompileOptions options = { .spec = spec };
    Session *s = session_new(&options);
    const bool good = session_read(s);
    fuzz_told(s->diag, good);
    if (good) fuzz_expect(session_plan(s, TARGET_PANELS, false));
    session_free(s);
}

static void check(const Vocabulary *v, size_t size)
{
    fuzz_expect(v->size > 0 && (size_t)v->size <= size);
    for (int i = 0; i < v->size; i++) {
        fuzz_expect(v->code_point[i] >= -1 && v->code_point[i] <= 0x10ffff);
        fuzz_expect(strlen(v->text[i]) > 0);
    }
    fuzz_expect(v->blank < v->size && v->start < v->size && v->end < v->size && v->unknown < v->size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Arena *a = arena_new();
    Diag *d = diag_new(a);
    const char *path = fuzz_file(data, size);
    const Vocabulary *v = vocabulary_read(a, d, (Loc){ 0 }, path);
    fuzz_told(d, v != NULL);
    if (v) check(v, size);
    arena_free(a);
    as_tokenizer(path);
    return 0;
}
