/* huggingface_index.c: read an index of shards, such as model.safetensors.index.json, which maps
 * tensors to files. */
#include "weights.h"

#include <string.h>

#include "config.h"

static void add_file(WeightIndex *x, const char *file)
{
    for (int i = 0; i < x->files; i++)
        if (!strcmp(x->file[i], file)) return;
    x->file[x->files++] = file;
}

/* True for a file name that has no folder and does not begin with a dot: shards are in the folder
 * of the index. */
static bool is_plain(const char *name)
{
    return *name && *name != '.' && !strchr(name, '/');
}

bool weight_index_read(Arena *a, Diag *d, const char *path, WeightIndex *out)
{
    Config c = { .arena = a, .diag = d, .path = path, .foreign = true }, map;
    const int errors = diag_errors(d);
    *out = (WeightIndex){ .count = 0 };
    if (!config_open(&c)) return false;
    if (!config_object(&c, "weight_map", &map)) {
        if (diag_errors(d) == errors) config_fault(&c, NULL, "the key \"weight_map\" is missing");
        config_close(&c);
        return false;
    }
    const char **names = config_keys(&map, &out->count);
    out->tensor = names;
    out->file_of = arena_array(a, (size_t)out->count + 1, sizeof *out->file_of);
    out->file = arena_array(a, (size_t)out->count + 1, sizeof *out->file);
    for (int i = 0; i < out->count && diag_errors(d) == errors; i++) {
        const char *file = config_text(&map, names[i], NULL);
        if (diag_errors(d) == errors && !is_plain(file))
            config_fault(&map, names[i], "\"%.100s\" is not the name of a file beside the index", file);
        out->file_of[i] = file_join(a, file_folder(a, path), file);
        add_file(out, out->file_of[i]);
    }
    if (!out->count && diag_errors(d) == errors) config_fault(&c, "weight_map", "weight_map is empty");
    config_close(&c);
    return diag_errors(d) == errors;
}
