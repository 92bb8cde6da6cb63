/* weights_torch.c: read files written by torch.save, such as pytorch_model.bin. Since PyTorch 1.6
 * they are zip files with uncompressed entries: PREFIX/data.pkl describes the tensors, and
 * PREFIX/data/KEY has the numbers of a storage. Before that, they were five pickles, of which the
 * last is a list of keys, followed by the storages in that order, each as its number of elements
 * and its bytes. Every offset and size is checked against the file before it is used. */
#include "weights.h"

#include <inttypes.h>
#include <string.h>

#include "dtypes.h"
#include "weights_pickle.h"

enum { END = 0x06054B50, END_64 = 0x06064B50, LOCATOR_64 = 0x07064B50, CENTRAL = 0x02014B50, LOCAL = 0x04034B50 };

typedef struct Zip { Arena *arena; Diag *diag; Loc at; TensorFile *file; const unsigned char *data; uint64_t size; NameMap *entries; } Zip;

#define fault(z, ...) fault_at(z, arena_format((z)->arena, __VA_ARGS__))

static bool fault_at(const Zip *z, const char *message)
{
    diag_error(z->diag, EXIT_BAD_DATA, z->at, "%s: %s", z->file->path, message);
    return false;
}

static uint32_t u16(const unsigned char *p) { return p[0] | (uint32_t)p[1] << 8; }
static uint64_t u64(const unsigned char *p) { return bytes_u32(p) | (uint64_t)bytes_u32(p + 4) << 32; }
static bool has(const Zip *z, uint64_t at, uint64_t n) { return at <= z->size && n <= z->size - at; }

/* ---- the zip -------------------------------------------------------------------------------------------- */

/* Find the central directory: its offset and number of entries. */
static bool find_list(const Zip *z, uint64_t *at, uint64_t *count)
{
    enum { END_BYTES = 22, LONGEST_COMMENT = 65535 };
    for (uint64_t back = END_BYTES; back <= END_BYTES + LONGEST_COMMENT && back <= z->size; back++) {
        const unsigned char *p = z->data + z->size - back;
        if (bytes_u32(p) != END) continue;
        *count = u16(p + 10);
        *at = bytes_u32(p + 16);
        const uint64_t end = z->size - back;
        if (end < 20 || bytes_u32(p - 20) != LOCATOR_64) return true;
        const uint64_t large = u64(p - 20 + 8);
        if (!has(z, large, 56) || bytes_u32(z->data + large) != END_64) return fault(z, "the zip64 end record is not where it should be");
        *count = u64(z->data + large + 32);
        *at = u64(z->data + large + 48);
        return true;
    }
    return fault(z, "the zip has no end record; the file may be truncated");
}

/* Read sizes and the offset that do not fit in 32 bits from the zip64 extra field. */
static bool read_wide(const unsigned char *extra, uint32_t n, uint64_t *wide[3])
{
    for (uint32_t i = 0; i + 4 <= n;) {
        const uint32_t id = u16(extra + i), size = u16(extra + i + 2);
        uint32_t used = 0;
        if (size > n - i - 4) return false;
        for (int k = 0; id == 1 && k < 3; k++) {
            if (*wide[k] != UINT32_MAX) continue;
            if (used + 8 > size) return false;
            *wide[k] = u64(extra + i + 4 + used);
            used += 8;
        }
        i += 4 + size;
    }
    return *wide[0] != UINT32_MAX && *wide[1] != UINT32_MAX && *wide[2] != UINT32_MAX;
}

/* Read the entry at `at` of the central directory; *next receives the offset of the next entry. */
static bool read_entry(Zip *z, uint64_t at, uint64_t *next)
{
    if (!has(z, at, 46) || bytes_u32(z->data + at) != CENTRAL) return fault(z, "the zip's list of entries is damaged");
    const unsigned char *p = z->data + at;
    const uint32_t flags = u16(p + 8), method = u16(p + 10), name_size = u16(p + 28), extra = u16(p + 30), comment = u16(p + 32);
    uint64_t packed = bytes_u32(p + 20), size = bytes_u32(p + 24), local = bytes_u32(p + 42), *wide[3] = { &size, &packed, &local };
    if (!has(z, at + 46, (uint64_t)name_size + extra + comment)) return fault(z, "the zip's list of entries is damaged");
    const char *name = arena_copy(z->arena, (const char *)p + 46, name_size);
    if (strlen(name) < name_size) return fault(z, "an entry's name contains a zero byte");
    *next = at + 46 + name_size + extra + comment;
    if (!read_wide(p + 46 + name_size, extra, wide)) return fault(z, "entry \"%.100s\" has a damaged or incomplete extra field", name);
    if (method || flags & 1 || packed != size)
        return fault(z, "entry \"%.100s\" is compressed or encrypted; only stored entries are supported", name);
    if (!has(z, local, 30) || bytes_u32(z->data + local) != LOCAL) return fault(z, "entry \"%.100s\" is not where it should be", name);
    const uint64_t data = local + 30 + u16(z->data + local + 26) + u16(z->data + local + 28);
    if (!has(z, data, size)) return fault(z, "entry \"%.100s\" ends past the end of the file", name);
    if (name_map_find(z->entries, name)) return fault(z, "entry \"%.100s\" appears twice", name);
    FileMap *entry = arena_alloc(z->arena, sizeof *entry);
    *entry = (FileMap){ .data = z->data + data, .size = (size_t)size };
    name_map_add(z->entries, name, entry);
    return true;
}

/* Read all entries. Returns the prefix, "archive" of archive/data.pkl, or NULL after an error. */
static const char *read_entries(Zip *z)
{
    uint64_t at = 0, count = 0;
    const char *prefix = NULL;
    static const char pickle[] = "/data.pkl";
    if (!find_list(z, &at, &count)) return NULL;
    for (uint64_t i = 0; i < count; i++) {
        const uint64_t begin = at;
        if (!read_entry(z, at, &at)) return NULL;
        const size_t n = u16(z->data + begin + 28), m = sizeof pickle - 1;
        const char *name = (const char *)z->data + begin + 46;
        if (n <= m || memcmp(name + n - m, pickle, m) || memchr(name, '/', n - m)) continue;
        if (prefix) {
            fault(z, "the zip has two data.pkl entries");
            return NULL;
        }
        prefix = arena_copy(z->arena, name, n - m);
    }
    if (!prefix) fault(z, "not a torch.save file: the zip has no data.pkl");
    return prefix;
}

/* ---- files without a zip ---------------------------------------------------------------------------------- */

static const char old_prefix[] = "old";

/* Add the storages of an old file as entries. at: the offset of the first. */
static bool read_storages(Zip *z, const PickleTensors *found, const char *const *keys, int count, uint64_t at)
{
    NameMap *named = name_map_new(z->arena);
    for (int i = 0; i < found->storage_count; i++) {
        PickleStorage *s = &found->storages[i], *known = name_map_find(named, s->key);
        if (known && (known->dtype != s->dtype || known->elements != s->elements)) return fault(z, "storage %.40s has two types or sizes", s->key);
        name_map_add(named, s->key, s);
    }
    for (int i = 0; i < count; i++) {
        const PickleStorage *s = name_map_find(named, keys[i]);
        const char *name = arena_format(z->arena, "%s/data/%s", old_prefix, keys[i]);
        DType unused;
        if (!s || name_map_find(z->entries, name))
            return fault(z, "storage %.40s is not named by the pickle, or appears twice", keys[i]);
        const uint64_t size = (uint64_t)dtype_bits(dtype_name(s->dtype), &unused) / 8;
        const uint64_t elements = has(z, at, 8) ? u64(z->data + at) : UINT64_MAX;
        if (elements != (uint64_t)s->elements || elements > z->size || !has(z, at + 8, elements * size))
            return fault(z, "storage %.40s does not have the size that the pickle gives, or ends past the end of the file", keys[i]);
        FileMap *entry = arena_alloc(z->arena, sizeof *entry);
        *entry = (FileMap){ .data = z->data + at + 8, .size = (size_t)(elements * size) };
        name_map_add(z->entries, name, entry);
        at += 8 + elements * size;
    }
    return true;
}

/* The pickles of the magic number and of the version, 1001, as torch.save wrote them. */
static const unsigned char old_head[] = {
    0x80, 2, 0x8A, 10, 0x6C, 0xFC, 0x9C, 0x46, 0xF9, 0x20, 0x6A, 0xA8, 0x50, 0x19, '.', 0x80, 2, 'M', 0xE9, 3, '.',
};

static bool read_old(Zip *z, PickleTensors *found)
{
    size_t at = sizeof old_head, used = 0;
    int count = 0;
    if (!has(z, 0, at) || memcmp(z->data, old_head, at)) return fault(z, "its header is that of an unknown torch.save version");
    const int64_t little = pickle_number(z->arena, z->data + at, z->size - at, "little_endian", &used);
    if (little != 1) return fault(z, little < 0 ? "its header is damaged or truncated" : "its numbers are not little-endian");
    at += used;
    if (!pickle_tensors(z->arena, z->data + at, z->size - at, found)) return fault(z, "%s", found->fault);
    at += found->used;
    const char **keys = pickle_texts(z->arena, z->data + at, z->size - at, &count, &used);
    if (!keys) return fault(z, "the list of storages is damaged");
    return read_storages(z, found, keys, count, at + used);
}

/* ---- tensors -------------------------------------------------------------------------------------------- */

/* Add a tensor of the pickle. Its storage must contain every element that its strides reach. */
static bool add_tensor(Zip *z, const char *prefix, const PickleTensor *p)
{
    const FileMap *data = name_map_find(z->entries, arena_format(z->arena, "%s/data/%s", prefix, p->key));
    TensorSource t = { .name = p->name, .file_name = p->name, .kind = SOURCE_FILE, .dtype = p->dtype, .rank = p->rank, .file = z->file };
    int64_t elements = 1, last = p->offset;
    const int bits = dtype_bits(dtype_name(p->dtype), &t.dtype);
    if (!data)
        return fault(z, "tensor \"%.100s\": the %s%.40s", p->name, prefix == old_prefix ? "file has no storage " : "zip has no entry data/", p->key);
    for (int i = 0; i < p->rank; i++) {
        int64_t reach;
        if (__builtin_mul_overflow(elements, p->shape[i], &elements))
            return fault(z, "tensor \"%.100s\": the product of its shape is too large", p->name);
        if (__builtin_mul_overflow(p->shape[i] ? p->shape[i] - 1 : 0, p->stride[i], &reach) || __builtin_add_overflow(last, reach, &last))
            return fault(z, "tensor \"%.100s\": its strides are too large", p->name);
        t.shape[i] = p->shape[i];
        t.stride[i] = p->stride[i];
    }
    if (elements && (uint64_t)last >= (uint64_t)data->size * 8 / (unsigned)bits)
        return fault(z, "tensor \"%.100s\" ends past the %zu byte%s of its data", p->name, data->size, data->size == 1 ? "" : "s");
    t.offset = (size_t)(data->data - z->data);
    if (elements) t.offset += (size_t)p->offset * (size_t)bits / 8;
    z->file->tensors[z->file->count++] = t;
    return true;
}

static bool read_zip(Zip *z, const char **prefix, PickleTensors *found)
{
    *prefix = read_entries(z);
    if (!*prefix) return false;
    const FileMap *pickle = name_map_find(z->entries, arena_format(z->arena, "%s/data.pkl", *prefix));
    const FileMap *order = name_map_find(z->entries, arena_format(z->arena, "%s/byteorder", *prefix));
    if (order && (order->size < 6 || memcmp(order->data, "little", 6))) return fault(z, "its numbers are not little-endian");
    if (!pickle_tensors(z->arena, pickle->data, pickle->size, found)) return fault(z, "data.pkl: %s", found->fault);
    return true;
}

static bool read_tensors(Zip *z)
{
    const char *prefix = old_prefix;
    PickleTensors found;
    const bool zipped = has(z, 0, 4) && bytes_u32(z->data) == LOCAL;
    if (zipped ? !read_zip(z, &prefix, &found) : !read_old(z, &found)) return false;
    z->file->tensors = arena_array(z->arena, (size_t)found.count, sizeof *z->file->tensors);
    for (int i = 0; i < found.count; i++)
        if (!add_tensor(z, prefix, &found.tensors[i])) return false;
    tensor_file_sort(z->file);
    for (int i = 1; i < z->file->count; i++)
        if (!strcmp(z->file->tensors[i - 1].name, z->file->tensors[i].name))
            return fault(z, "tensor \"%.100s\" appears twice", z->file->tensors[i].name);
    return true;
}

TensorFile *torch_open(Arena *a, Diag *d, Loc at, const char *path)
{
    TensorFile *f = arena_alloc(a, sizeof *f);
    f->path = arena_text(a, path);
    if (!file_map(d, at, path, &f->map)) return NULL;
    Zip z = { a, d, at, f, f->map.data, f->map.size, name_map_new(a) };
    if (read_tensors(&z)) return f;
    file_unmap(&f->map);
    return NULL;
}
