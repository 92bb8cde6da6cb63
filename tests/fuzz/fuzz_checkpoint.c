/* fuzz_checkpoint.c: any bytes as a weights file: a torch.save zip, a llama2.c checkpoint, an index
 * of shards. Also as a spec, if they begin like a llama2.c checkpoint. */
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
