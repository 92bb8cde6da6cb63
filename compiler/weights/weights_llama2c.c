/* weights_llama2c.c: llama2.c checkpoints. Version 0 starts with seven numbers, 1 and 2 with a
 * magic number; 2 stores matrices as 8-bit numbers in groups, each with a factor. The size of the
 * file must match its header exactly. */
#include "weights.h"

#include <inttypes.h>
#include <string.h>

enum { MAGIC = 0x616B3432, HEADER_0 = 28, HEADER_1 = 256 };

static int64_t signed_at(const unsigned char *p, int i) { return (int32_t)bytes_u32(p + 4 * i); }

/* Read a header; false if it is truncated or its sizes are out of range. The limits reject text and
 * other formats. */
static bool read_header(const unsigned char *b, size_t n, Checkpoint *c)
{
    enum { MOST_WIDTH = 65536, MOST_LAYERS = 1024, MOST_IDS = 1 << 24 };
    const bool old = n < 4 || bytes_u32(b) != MAGIC;
    const unsigned char *p = old ? b : b + 8;
    if (n < (old ? (size_t)HEADER_0 : 41)) return false;
    *c = (Checkpoint){ old ? 0 : (int)signed_at(b, 1), signed_at(p, 0), signed_at(p, 1), signed_at(p, 2), signed_at(p, 3), signed_at(p, 4),
                       signed_at(p, 5), signed_at(p, 6), false, 0, old ? HEADER_0 : HEADER_1 };
    c->tied = old ? c->vocab > 0 : b[36] != 0;
    if (c->vocab < 0) c->vocab = -c->vocab;
    if (c->version == 2) c->group = (int)bytes_u32(b + 37);
    return c->d > 0 && c->d <= MOST_WIDTH && c->hidden > 0 && c->hidden <= 16 * MOST_WIDTH && c->layers > 0 && c->layers <= MOST_LAYERS
        && c->heads > 0 && c->heads <= c->d && c->kv_heads > 0 && c->kv_heads <= c->heads && c->vocab > 0 && c->vocab <= MOST_IDS && c->length > 0
        && c->length <= MOST_IDS;
}

bool is_checkpoint(const unsigned char *data, size_t size)
{
    Checkpoint c;
    return (size >= 8 && bytes_u32(data) == MAGIC) || read_header(data, size, &c);
}

/* ---- tensors -------------------------------------------------------------------------------------------- */

/* A dimension of a tensor: d_model, width of keys, width of the feed-forward, vocabulary size;
 * NO_SIZE: the columns of a vector. */
typedef enum Size { NO_SIZE, D, KEYS, HIDDEN, IDS } Size;

typedef struct Part { char letter; const char *name; Size rows, columns; } Part;

static const Part parts[] = {
    { 'e', "tok_embeddings.weight", IDS, D },
    { 'a', "layers.{}.attention_norm.weight", D, NO_SIZE },
    { 'q', "layers.{}.attention.wq.weight", D, D },
    { 'k', "layers.{}.attention.wk.weight", KEYS, D },
    { 'v', "layers.{}.attention.wv.weight", KEYS, D },
    { 'o', "layers.{}.attention.wo.weight", D, D },
    { 'f', "layers.{}.ffn_norm.weight", D, NO_SIZE },
    { '1', "layers.{}.feed_forward.w1.weight", HIDDEN, D },
    { '2', "layers.{}.feed_forward.w2.weight", D, HIDDEN },
    { '3', "layers.{}.feed_forward.w3.weight", HIDDEN, D },
    { 'n', "norm.weight", D, NO_SIZE },
    { 'c', "output.weight", IDS, D },
};

/* The order in the file, by version. R: tables of sines and cosines, which are skipped. */
static const char *const orders[] = { "eaqkvof123nRc", "afneqkvo123c", "afneqkvo123c" };

typedef struct Walk { Arena *arena; TensorFile *file; Checkpoint c; int64_t at; int room; } Walk;

static int64_t size_of(const Checkpoint *c, Size s)
{
    const int64_t sizes[] = { [NO_SIZE] = 1, [D] = c->d, [KEYS] = c->d / c->heads * c->kv_heads, [HIDDEN] = c->hidden, [IDS] = c->vocab };
    return sizes[s];
}

/* "layers.3.attention.wq.weight" */
static const char *name_of(Arena *a, const char *pattern, int64_t layer)
{
    const char *mark = strstr(pattern, "{}");
    return mark ? arena_format(a, "%.*s%" PRId64 "%s", (int)(mark - pattern), pattern, layer, mark + 2) : pattern;
}

static void add_tensor(Walk *w, const Part *p, int64_t layer)
{
    const int64_t rows = size_of(&w->c, p->rows), columns = size_of(&w->c, p->columns), n = rows * columns;
    const bool grouped = w->c.group && p->columns != NO_SIZE;
    TensorSource t = { .kind = SOURCE_FILE, .dtype = grouped ? DTYPE_I8 : DTYPE_F32, .rank = p->columns == NO_SIZE ? 1 : 2, .file = w->file };
    t.name = t.file_name = name_of(w->arena, p->name, layer);
    t.offset = (size_t)w->at;
    t.shape[0] = rows;
    t.shape[1] = t.rank == 2 ? columns : 0;
    t.stride[0] = t.rank == 2 ? columns : 1;
    t.stride[1] = t.rank == 2 ? 1 : 0;
    t.group = grouped ? w->c.group : 0;
    t.scales = grouped ? t.offset + (size_t)n : 0;
    w->at += grouped ? n + n / w->c.group * 4 : n * 4;
    if (w->file->count < w->room) w->file->tensors[w->file->count++] = t;
}

static void walk(Walk *w)
{
    for (const char *s = orders[w->c.version]; *s; s++) {
        const Part *p = parts;
        if (*s == 'R') {
            w->at += w->c.length * (w->c.d / w->c.heads / 2) * 2 * 4;
            continue;
        }
        if (*s == 'c' && w->c.tied) continue;
        while (p->letter != *s) p++;
        const int64_t layers = strstr(p->name, "{}") ? w->c.layers : 1;
        for (int64_t n = 0; n < layers; n++) add_tensor(w, p, n);
    }
}

/* ---- the file ------------------------------------------------------------------------------------------- */

bool checkpoint_header(Diag *d, Loc at, const char *path, const unsigned char *b, size_t n, Checkpoint *c)
{
    const bool good = read_header(b, n, c);
    if (n >= 8 && bytes_u32(b) == MAGIC && (signed_at(b, 1) < 1 || signed_at(b, 1) > 2))
        diag_error(d, EXIT_BAD_DATA, at, "%s: llama2.c checkpoint version %" PRId64 " is not supported; 0 (without a magic number), 1 and 2 are",
                   path, signed_at(b, 1));
    else if (!good)
        diag_error(d, EXIT_BAD_DATA, at, "%s: the header of this llama2.c checkpoint is truncated or "
                   "has sizes out of range", path);
    else if (c->d % c->heads || c->heads % c->kv_heads || c->d / c->heads % 2)
        diag_error(d, EXIT_BAD_DATA, at, "%s: inconsistent header: width %" PRId64 ", %" PRId64 " head%s, %" PRId64 " key head%s", path,
                   c->d, c->heads, c->heads == 1 ? "" : "s", c->kv_heads, c->kv_heads == 1 ? "" : "s");
    else if (c->version == 2 && (c->group < 1 || c->d % c->group || c->hidden % c->group))
        diag_error(d, EXIT_BAD_DATA, at, "%s: the group size %d does not divide both row sizes, %" PRId64 " and %" PRId64, path,
                   c->group, c->d, c->hidden);
    else return true;
    return false;
}

TensorFile *checkpoint_open(Arena *a, Diag *d, Loc at, const char *path)
{
    TensorFile *f = arena_alloc(a, sizeof *f);
    Walk w = { .arena = a, .file = f };
    f->path = arena_text(a, path);
    if (!file_map(d, at, path, &f->map)) return NULL;
    const bool good = checkpoint_header(d, at, path, f->map.data, f->map.size, &w.c);
    if (good) {
        w.room = (int)(3 + 9 * w.c.layers);
        w.at = w.c.begin;
        f->tensors = arena_array(a, (size_t)w.room, sizeof *f->tensors);
        walk(&w);
        tensor_file_sort(f);
    }
    if (good && (size_t)w.at == f->map.size) return f;
    if (good)
        diag_error(d, EXIT_BAD_DATA, at, "%s: found %zu bytes, but its header calls for %" PRId64, path,
                   f->map.size, w.at);
    file_unmap(&f->map);
    return NULL;
}
