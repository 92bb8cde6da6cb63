/* fuzz_config.c: any bytes as the config.json of a Hugging Face folder without weights, up to a
 * Model, a Graph and a Plan. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fields.h"
#include "session.h"
#include "support_fuzz.h"

/* A folder whose config.json links to the input. */
static const char *folder_of(const char *path)
{
    static char folder[] = "/tmp/fuzz_config.XXXXXX", config[64];
    if (*config) return folder;
    fuzz_expect(mkdtemp(folder));
    snprintf(config, sizeof config, "%s/config.json", folder);
    fuzz_expect(symlink(path, config) == 0);
    return folder;
}

static bool is_small(const Session *s)
{
    enum { MOST_TENSORS = 2000 };
    return s->graph->tensor_count <= MOST_TENSORS;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t room, unsigned seed)
{
    return fuzz_mutate_json(data, size, room, seed);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const CompileOptions options = { .spec = folder_of(fuzz_file(data, size)), .sizes_only = true };
    Session *s = session_new(&options);
    const bool good = session_read(s);
    fuzz_told(s->diag, good);
    if (good && is_small(s)) fuzz_expect(session_plan(s, TARGET_PANELS, false));
    session_free(s);
    return 0;
}
