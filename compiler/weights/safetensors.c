/* safetensors.c: map a safetensors file and check its header by every rule of the format. Layout: N
 * as u64le, N bytes of JSON, data. Values of the header are checked against the file before they
 * are used. The functions at the end are for TensorFiles of all formats. */
#include "weights.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "json_read.h"
#include "text.h"

enum { MAX_HEADER = 100000000, LENGTH_BYTES = 8 };

typedef struct Reader {
    Arena *arena;
    Diag *diag;
    Loc at;
    TensorFile *file;
    uint64_t data_bytes;
} Reader;

/* One tensor's bytes, relative to the start of the data. */
typedef struct Extent { const char *name; uint64_t begin, end; } Extent;

#define fault(r, ...) fault_at(r, arena_format((r)->arena, __VA_ARGS__))

static bool fault_at(Reader *r, const char *message)
{
    diag_error(r->diag, EXIT_BAD_DATA, r->at, "%s: %s", r->file->path, message);
    return false;
}

/* ---- one entry ------------------------------------------------------------------------------------------ */

static bool read_dtype(Reader *r, TensorSource *t, const json_t *entry, int *bits)
{
    const json_t *dtype = json_object_get(entry, "dtype");
    if (!json_is_string(dtype)) return fault(r, "tensor \"%.100s\" has no string \"dtype\"", t->name);
    const char *word = json_string_value(dtype);
    *bits = strlen(word) == json_string_length(dtype) ? dtype_bits(word, &t->dtype) : 0;
    if (*bits) return true;
    return fault(r, "tensor \"%.100s\" has the unknown dtype \"%.40s\"", t->name, word);
}

/* Read the shape; set its row-major strides and the number of elements. */
static bool read_shape(Reader *r, TensorSource *t, const json_t *entry, uint64_t *elements)
{
    const json_t *shape = json_object_get(entry, "shape");
    if (!json_is_array(shape)) return fault(r, "tensor \"%.100s\" has no list \"shape\"", t->name);
    size_t rank = json_array_size(shape);
    if (rank > MAX_RANK) return fault(r, "tensor \"%.100s\" has %zu dimensions; at most %d are supported", t->name, rank, MAX_RANK);
    t->rank = (int)rank;
    *elements = 1;
    for (size_t i = 0; i < rank; i++) {
        const json_t *size = json_array_get(shape, i);
        if (json_is_real(size) && json_real_value(size) >= 0x1p63) return fault(r, "the header holds a number that is too large");
        if (!json_is_integer(size) || json_integer_value(size) < 0)
            return fault(r, "tensor \"%.100s\": its shape must contain only non-negative integers", t->name);
        t->shape[i] = json_integer_value(size);
        if (__builtin_mul_overflow(*elements, (uint64_t)t->shape[i], elements) || *elements > INT64_MAX)
            return fault(r, "tensor \"%.100s\": the product of its shape is too large", t->name);
    }
    int64_t stride = 1;
    for (int i = t->rank - 1; i >= 0; i--) {
        t->stride[i] = stride;
        /* An empty tensor is never read, and the product of its other sizes could overflow. */
        stride = *elements ? stride * t->shape[i] : 0;
    }
    return true;
}

static bool read_offsets(Reader *r, const json_t *entry, Extent *extent)
{
    const json_t *offsets = json_object_get(entry, "data_offsets");
    const json_t *begin = json_array_get(offsets, 0), *end = json_array_get(offsets, 1);
    if (!json_is_array(offsets) || json_array_size(offsets) != 2 || !json_is_integer(begin) || !json_is_integer(end)
        || json_integer_value(begin) < 0 || json_integer_value(end) < 0)
        return fault(r, "tensor \"%.100s\": data_offsets must be two non-negative integers", extent->name);
    extent->begin = (uint64_t)json_integer_value(begin);
    extent->end = (uint64_t)json_integer_value(end);
    if (extent->begin > extent->end) return fault(r, "tensor \"%.100s\": its data ends before it begins", extent->name);
    if (extent->end > r->data_bytes)
        return fault(r, "tensor \"%.100s\": its data ends at %" PRIu64 ", past the %" PRIu64 " byte%s of the file's data",
                     extent->name, extent->end, r->data_bytes, r->data_bytes == 1 ? "" : "s");
    return true;
}

static bool check_bytes(Reader *r, const Extent *extent, uint64_t elements, int bits)
{
    uint64_t total, found = extent->end - extent->begin;
    if (__builtin_mul_overflow(elements, (uint64_t)bits, &total))
        return fault(r, "tensor \"%.100s\": the product of its shape is too large", extent->name);
    if (total % 8) return fault(r, "tensor \"%.100s\": its elements do not fill whole bytes", extent->name);
    if (total / 8 == found) return true;
    return fault(r, "tensor \"%.100s\" has %" PRIu64 " byte%s of data; its shape and dtype need %" PRIu64,
                 extent->name, found, found == 1 ? "" : "s", total / 8);
}

static bool read_entry(Reader *r, const char *name, const json_t *entry, TensorSource *t, Extent *extent)
{
    uint64_t elements = 0;
    int bits = 0;
    t->name = t->file_name = extent->name = arena_text(r->arena, name);
    if (!json_is_object(entry)) return fault(r, "tensor \"%.100s\" is not described by an object", name);
    if (!read_dtype(r, t, entry, &bits)) return false;
    if (!read_shape(r, t, entry, &elements)) return false;
    if (!read_offsets(r, entry, extent)) return false;
    if (!check_bytes(r, extent, elements, bits)) return false;
    t->kind = SOURCE_FILE;
    t->file = r->file;
    t->offset = (size_t)(r->file->map.size - r->data_bytes + extent->begin);
    return true;
}

/* ---- the whole ------------------------------------------------------------------------------------------ */

static int by_place(const void *a, const void *b)
{
    const Extent *x = a, *y = b;
    if (x->begin != y->begin) return x->begin < y->begin ? -1 : 1;
    if (x->end != y->end) return x->end < y->end ? -1 : 1;
    return strcmp(x->name, y->name);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const TensorSource *)a)->name, ((const TensorSource *)b)->name);
}

/* "4 bytes", or "byte": what follows "the first" or "the last". */
static const char *bytes_words(Arena *a, uint64_t n) { return n == 1 ? "byte" : arena_format(a, "%" PRIu64 " bytes", n); }

/* Check that the tensors cover the data exactly once, from the first byte to the last. */
static bool check_cover(Reader *r, Extent *extents, int n)
{
    uint64_t at = 0;
    qsort(extents, (size_t)n, sizeof *extents, by_place);
    for (int i = 0; i < n; i++) {
        const Extent *e = &extents[i];
        if (e->begin < at)
            return fault(r, "tensor \"%.100s\" overlaps \"%.100s\"", e->name, extents[i - 1].name);
        if (e->begin > at && !i)
            return fault(r, "the first %s of data %s to no tensor", bytes_words(r->arena, e->begin), e->begin == 1 ? "belongs" : "belong");
        if (e->begin > at)
            return fault(r, "between \"%.100s\" and \"%.100s\", %" PRIu64 " byte%s to no "
                         "tensor", extents[i - 1].name, e->name, e->begin - at,
                         e->begin - at == 1 ? " belongs" : "s belong");
        at = e->end;
    }
    if (at == r->data_bytes) return true;
    return fault(r, "the last %s %s to no tensor", bytes_words(r->arena, r->data_bytes - at),
                 r->data_bytes - at == 1 ? "belongs" : "belong");
}

static bool check_metadata(Reader *r, json_t *metadata)
{
    const char *key;
    json_t *value;
    if (!json_is_object(metadata)) return fault(r, "__metadata__ is not an object");
    json_object_foreach(metadata, key, value)
        if (!json_is_string(value)) return fault(r, "__metadata__: \"%.100s\" is not a string", key);
    return true;
}

static bool read_header(Reader *r, json_t *header)
{
    size_t n = json_object_size(header);
    Extent *extents = arena_array(r->arena, n, sizeof *extents);
    r->file->tensors = arena_array(r->arena, n, sizeof *r->file->tensors);
    const char *name;
    json_t *entry;
    json_object_foreach(header, name, entry) {
        int i = r->file->count;
        if (strcmp(name, "__metadata__") == 0) {
            if (!check_metadata(r, entry)) return false;
            continue;
        }
        if (!read_entry(r, name, entry, &r->file->tensors[i], &extents[i])) return false;
        r->file->count++;
    }
    if (!check_cover(r, extents, r->file->count)) return false;
    tensor_file_sort(r->file);
    return true;
}

static bool tell_json(Reader *r, const json_error_t *error)
{
    if (json_error_code(error) == json_error_duplicate_key)
        return fault(r, "the header names a key twice: %s", error->text);
    return fault(r, "the header is not valid JSON (byte %d): %s", error->position, error->text);
}

/* White space may precede the brace: the reference reader accepts it too. */
static bool starts_object(const unsigned char *header, size_t n)
{
    size_t i = 0;
    while (i < n && header[i] && strchr(" \t\r\n", header[i])) i++;
    return i < n && header[i] == '{';
}

static bool read_length(Reader *r, uint64_t *length)
{
    static const char npy[] = "\x93NUMPY";
    const FileMap *map = &r->file->map;
    if (map->size > sizeof npy && memcmp(map->data, npy, sizeof npy - 1) == 0)
        return fault(r, "a NumPy .npy file, not a safetensors file");
    if (map->size < LENGTH_BYTES) return fault(r, "not a safetensors file: only %zu byte%s", map->size, map->size == 1 ? "" : "s");
    *length = 0;
    for (int i = 0; i < LENGTH_BYTES; i++) *length |= (uint64_t)map->data[i] << 8 * i;
    if (*length > MAX_HEADER)
        return fault(r, "not a safetensors file: its first 8 bytes give a header size of more than %d bytes",
                     MAX_HEADER);
    if (*length > map->size - LENGTH_BYTES)
        return fault(r, "a header of %" PRIu64 " byte%s does not fit in a file of %zu", *length, *length == 1 ? "" : "s", map->size);
    if (!starts_object(map->data + LENGTH_BYTES, (size_t)*length))
        return fault(r, "the header does not start with '{'");
    r->data_bytes = map->size - LENGTH_BYTES - *length;
    return true;
}

static bool read_file(Reader *r)
{
    uint64_t length = 0;
    json_error_t error;
    if (!read_length(r, &length)) return false;
    const char *text = (const char *)r->file->map.data + LENGTH_BYTES;
    json_t *header = json_parse(r->arena, text, (size_t)length, JSON_REJECT_DUPLICATES, &error);
    bool good = header ? read_header(r, header) : tell_json(r, &error);
    json_decref(header);
    return good;
}

TensorFile *safetensors_open(Arena *a, Diag *d, Loc at, const char *path)
{
    TensorFile *f = arena_alloc(a, sizeof *f);
    Reader r = { a, d, at, f, 0 };
    f->path = arena_text(a, path);
    if (!file_map(d, at, path, &f->map)) return NULL;
    if (read_file(&r)) return f;
    file_unmap(&f->map);
    return NULL;
}

const TensorSource *tensor_file_find(const TensorFile *f, const char *name)
{
    TensorSource key = { .name = name };
    if (!f->count) return NULL;
    return bsearch(&key, f->tensors, (size_t)f->count, sizeof *f->tensors, by_name);
}

void tensor_file_close(TensorFile *f)
{
    if (!f) return;
    for (int i = 0; i < f->part_count; i++) tensor_file_close(f->parts[i]);
    if (f->map.data) file_unmap(&f->map);
}

/* The path of a file, of f itself or of a part, that has been written to since it was opened; NULL
 * if there is none. */
static const char *changed_path(const TensorFile *f)
{
    if (f->map.data && file_map_changed(&f->map, f->path)) return f->path;
    for (int i = 0; i < f->part_count; i++) {
        const char *path = changed_path(f->parts[i]);
        if (path) return path;
    }
    return NULL;
}

bool weights_stay(Diag *d, const Model *m)
{
    const char *path = m->weight_file ? changed_path(m->weight_file) : NULL;
    if (!path) return true;
    diag_error(d, EXIT_BAD_DATA, (Loc){ 0 }, "%s changed after %s was read from it: "
               "load the model again", path, m->name);
    return false;
}

void tensor_file_sort(TensorFile *f)
{
    if (f->count) qsort(f->tensors, (size_t)f->count, sizeof *f->tensors, by_name);
}
