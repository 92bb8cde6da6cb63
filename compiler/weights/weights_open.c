/* weights_open.c: open a file or folder of tensors, of any format, as one TensorFile. */
#include "weights.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dtypes.h"
#include "gguf.h"

const char *weights_file_of(Arena *a, const char *folder)
{
    static const char *const names[] = {
        "model.safetensors", "model.safetensors.index.json", "pytorch_model.bin", "pytorch_model.bin.index.json",
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *path = file_join(a, folder, names[i]);
        if (access(path, F_OK) == 0) return path;
    }
    return file_join(a, folder, names[0]);
}

static TensorFile *refuse(Diag *d, Loc at, const char *path, const char *why)
{
    diag_error(d, EXIT_BAD_DATA, at, "%s %s", path, why);
    return NULL;
}

/* Find the first, by name, of the files model.WORD.safetensors, which transformers writes for
 * variants; NULL if there is none. */
static const char *find_variant(Arena *a, const char *folder)
{
    static const char begin[] = "model.", end[] = ".safetensors";
    const char *found = NULL;
    DIR *all = opendir(folder);
    for (struct dirent *one; all && (one = readdir(all));) {
        const size_t n = strlen(one->d_name);
        if (n <= strlen(begin) + strlen(end) || memcmp(one->d_name, begin, strlen(begin))) continue;
        if (strcmp(one->d_name + n - strlen(end), end) == 0 && (!found || strcmp(one->d_name, found) < 0)) found = arena_text(a, one->d_name);
    }
    if (all) closedir(all);
    return found;
}

/* Report a folder without weights that can be read: it has none, or only a variant, or only those
 * of another program or format. */
static TensorFile *refuse_folder(Arena *a, Diag *d, Loc at, const char *folder)
{
    static const struct { const char *name, *of; } foreign[] = {
        { "tf_model.h5", "TensorFlow" }, { "flax_model.msgpack", "Flax" }, { "rust_model.ot", "Rust" }, { "model.onnx", "ONNX" },
    };
    const char *variant = find_variant(a, folder);
    size_t i = 0;
    if (variant) {
        diag_error(d, EXIT_NO_INPUT, at, "%s has %s but no model.safetensors: rename the file",
                   folder, variant);
        return NULL;
    }
    while (i < sizeof foreign / sizeof *foreign && !file_is_regular(file_join(a, folder, foreign[i].name))) i++;
    diag_error(d, EXIT_NO_INPUT, at, "the folder %s has no model.safetensors, pytorch_model.bin or index of shards%s", folder,
               i == sizeof foreign / sizeof *foreign ? ""
               : arena_format(a, "; %s (%s) is not supported: save the model again with transformers", foreign[i].name, foreign[i].of));
    return NULL;
}

/* True for an index of shards, which is JSON. A safetensors file may start with the same byte, but
 * bytes 6 and 7 of its length are 0. */
static bool is_index(const unsigned char *b, size_t n)
{
    return n > 1 && b[0] == '{' && (n < 8 || b[6] || b[7]);
}

/* Open a file that contains tensors; its first bytes decide the format. */
static TensorFile *open_file(Arena *a, Diag *d, Loc at, const char *path, const unsigned char *b, size_t n)
{
    if (n > 4 && !memcmp(b, "PK\3\4", 4)) return torch_open(a, d, at, path);
    /* the magic number of torch.save before PyTorch 1.6 */
    if (n > 4 && b[0] == 0x80 && b[2] == 0x8A && b[3] == 10) return torch_open(a, d, at, path);
    if (is_gguf(b, n)) return gguf_open(a, d, at, path);
    if (is_checkpoint(b, n)) return checkpoint_open(a, d, at, path);
    return safetensors_open(a, d, at, path);
}

/* ---- shards --------------------------------------------------------------------------------------------- */

/* Check that every tensor of the index is in the file that the index gives for it. */
static bool check_index(Diag *d, Loc at, const TensorFile *f, const WeightIndex *index)
{
    for (int i = 0; i < index->count; i++) {
        const TensorSource *t = tensor_file_find(f, index->tensor[i]);
        if (t && !strcmp(t->file->path, index->file_of[i])) continue;
        diag_error(d, EXIT_BAD_DATA, at, "%s: tensor \"%.100s\" is not in %s", f->path, index->tensor[i], index->file_of[i]);
        return false;
    }
    return true;
}

static TensorFile *open_shards(Arena *a, Diag *d, Loc at, const char *path)
{
    TensorFile *f = arena_alloc(a, sizeof *f);
    WeightIndex index;
    f->path = arena_text(a, path);
    if (!weight_index_read(a, d, path, &index)) return NULL;
    f->parts = arena_array(a, (size_t)index.files, sizeof *f->parts);
    for (int i = 0; i < index.files; i++) {
        unsigned char b[64];
        const size_t n = file_first_bytes(index.file[i], b, sizeof b);
        TensorFile *part = is_index(b, n)
                               ? refuse(d, at, index.file[i], "is an index listed in another index")
                               : open_file(a, d, at, index.file[i], b, n);
        if (part) f->parts[f->part_count++] = part;
    }
    if (f->part_count == index.files && tensor_file_join(a, d, at, f) && check_index(d, at, f, &index)) return f;
    tensor_file_close(f);
    return NULL;
}

/* ---- by content ----------------------------------------------------------------------------------------- */

TensorFile *weights_open(Arena *a, Diag *d, Loc at, const char *path)
{
    unsigned char b[64];
    if (file_is_folder(path)) {
        const char *file = weights_file_of(a, path);
        if (access(file, F_OK) != 0) return refuse_folder(a, d, at, path);
        path = file;
    }
    const char *folder = file_folder(a, path);
    if (access(path, F_OK) != 0 && strcmp(path, weights_file_of(a, folder)) == 0 && file_is_regular(file_join(a, folder, "config.json")))
        return refuse_folder(a, d, at, folder);
    const size_t n = file_first_bytes(path, b, sizeof b);
    return is_index(b, n) ? open_shards(a, d, at, path) : open_file(a, d, at, path, b, n);
}
