/* fuzz_checkpoint.c: any bytes as a file of weights: a zip of torch.save, a llama2.c checkpoint, an index of shards; and as a spec where
 * they begin as a checkpoint does. */
#include "fields.h"
#include "hf.h"
#include "support_fuzz.h"
#include "weights.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *path = fuzz_file(data, size);
    fuzz_weights(path);
    if (is_checkpoint(data, size)) fuzz_draft(path, draft_from_checkpoint);
    return 0;
}
