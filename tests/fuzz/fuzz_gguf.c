/* fuzz_gguf.c: any bytes as a GGUF file, read as weights and as a spec. */
#include "fields.h"
#include "gguf.h"
#include "hf.h"
#include "support_fuzz.h"

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t room, unsigned seed)
{
    return fuzz_mutate_gguf(data, size, room, seed);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *path = fuzz_file(data, size);
    if (!is_gguf(data, size)) return -1;        /* not for the corpus: fuzz_checkpoint takes other files */
    fuzz_weights(path);
    fuzz_draft(path, draft_from_gguf);
    return 0;
}
