/* gguf_parts.c: open a GGUF model that is one file, or is split into parts, which are named
 * NAME-00001-of-00003.gguf and so on. The first part has all keys; each part has some of the
 * tensors, and its own number. */
#include "gguf.h"

#include <inttypes.h>
#include <string.h>

enum { ENDING_BYTES = sizeof "-00001-of-00003.gguf" - 1 };

static int64_t number_of(const Gguf *g, GgufKeyId key, int64_t absent)
{
    const GgufValue *v = gguf_find(g, key);
    return v ? (int64_t)v->bits : absent;
}

GgufSplit gguf_split(const Gguf *g)
{
    const int64_t count = number_of(g, GGUF_KEY_SPLIT_COUNT, 1);
    return (GgufSplit){ number_of(g, GGUF_KEY_SPLIT_NO, 0) + 1, count ? count : 1 };
}

const char *gguf_name_of_split(Arena *a, const char *path)
{
    const size_t n = strlen(path);
    int part, count, end = 0;
    if (n <= ENDING_BYTES || sscanf(path + n - ENDING_BYTES, "-%5d-of-%5d.gguf%n", &part, &count, &end) != 2 || end != ENDING_BYTES)
        return NULL;
    return arena_copy(a, path, n - ENDING_BYTES);
}

static const char *path_of(Arena *a, const char *name, int64_t part, int64_t count)
{
    return arena_format(a, "%s-%05" PRId64 "-of-%05" PRId64 ".gguf", name, part, count);
}

static bool open_one(Arena *a, Diag *d, Loc at, const char *path, GgufPart *out)
{
    *out = (GgufPart){ .path = arena_text(a, path) };
    if (!file_map(d, at, path, &out->map)) return false;
    const char *fault = gguf_read(a, out->map.data, out->map.size, &out->head);
    if (!fault) return true;
    diag_error(d, EXIT_BAD_DATA, at, "%s %s", path, fault);
    file_unmap(&out->map);
    return false;
}

/* Check that this is the first part, and that its name tells the names of the others. */
static bool is_first(Arena *a, Diag *d, Loc at, const char *path, GgufSplit split)
{
    const char *name = gguf_name_of_split(a, path);
    const char *first = name ? path_of(a, name, 1, split.count) : "the one whose name contains -00001-of-";
    if (split.part != 1)
        diag_error(d, EXIT_BAD_DATA, at, "%s is part %" PRId64 " of %" PRId64 " of a split file; give the first part, %s", path, split.part,
                   split.count, first);
    else if (!name || strcmp(path, first) != 0)
        diag_error(d, EXIT_BAD_DATA, at, "%s is the first of %" PRId64 " parts of a split file, which are found only by name: "
                   "it must be named NAME-00001-of-%05" PRId64 ".gguf", path, split.count, split.count);
    else return true;
    return false;
}

static bool open_rest(Arena *a, Diag *d, Loc at, GgufSplit split, GgufParts *out)
{
    const char *first = out->part[0].path, *name = gguf_name_of_split(a, first);
    for (int64_t i = 2; i <= split.count; i++) {
        GgufPart *part = &out->part[out->count];
        const char *path = path_of(a, name, i, split.count);
        if (!open_one(a, d, at, path, part)) {
            diag_note(d, at, "it is part %" PRId64 " of the split file %s", i, first);
            return false;
        }
        out->count++;
        const GgufSplit found = gguf_split(&part->head);
        if (found.part == i && found.count == split.count) continue;
        diag_error(d, EXIT_BAD_DATA, at, "%s is not part %" PRId64 " of %" PRId64 " of the split file %s", path, i, split.count, first);
        return false;
    }
    return true;
}

static bool has_all_tensors(Diag *d, Loc at, const GgufParts *parts)
{
    const GgufPart *first = parts->part;
    const int64_t wanted = number_of(&first->head, GGUF_KEY_SPLIT_TENSORS, -1);
    int64_t n = 0;
    for (int i = 0; i < parts->count; i++) n += (int64_t)first[i].head.tensor_count;
    if (wanted < 0 || n == wanted) return true;
    diag_error(d, EXIT_BAD_DATA, at, "the parts of the split file %s have %" PRId64 " tensor%s, not %" PRId64, first->path, n,
               n == 1 ? "" : "s", wanted);
    return false;
}

bool gguf_open_parts(Arena *a, Diag *d, Loc at, const char *path, GgufParts *out)
{
    GgufPart first;
    *out = (GgufParts){ NULL, 0 };
    if (!open_one(a, d, at, path, &first)) return false;
    const GgufSplit split = gguf_split(&first.head);
    const bool several = split.count > 1 || split.part > 1, good = !several || is_first(a, d, at, path, split);
    out->part = arena_array(a, good ? (size_t)split.count : 1, sizeof *out->part);
    out->part[out->count++] = first;
    if (good && (!several || (open_rest(a, d, at, split, out) && has_all_tensors(d, at, out)))) return true;
    gguf_close_parts(out);
    return false;
}

void gguf_close_parts(GgufParts *parts)
{
    for (int i = 0; i < parts->count; i++) file_unmap(&parts->part[i].map);
    parts->count = 0;
}
