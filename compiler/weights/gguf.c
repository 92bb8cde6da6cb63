/* gguf.c: read the header of a GGUF file. Counts and sizes are checked against the file's size
 * before they are used. */
#include "gguf.h"

#include <string.h>

enum { MOST_KEYS = 1 << 16, MOST_TENSORS = 1 << 20, USUAL_ALIGNMENT = 32 };

static void skip_items(GgufBytes *b, uint32_t type, uint64_t count)
{
    const size_t bytes = gguf_item_bytes(type);
    if (count > GGUF_ITEMS_MOST || (type != GGUF_STRING && (!bytes || count * bytes > b->n))) b->bad = true;
    if (b->bad) return;
    if (bytes) {
        b->s += count * bytes;
        b->n -= (size_t)count * bytes;
    }
    for (uint64_t i = 0; !bytes && i < count && !b->bad; i++) gguf_take_text(b);
}

static GgufValue take_value(GgufBytes *b)
{
    GgufValue v = { .type = (uint32_t)gguf_take_word(b, 4), .text = { "", 0 } };
    if (v.type == GGUF_STRING) v.text = gguf_take_text(b);
    else if (v.type != GGUF_ARRAY) {
        if (!gguf_item_bytes(v.type)) b->bad = true;
        v.bits = gguf_take_word(b, gguf_item_bytes(v.type));
    } else {
        v.items_type = (uint32_t)gguf_take_word(b, 4);
        v.count = gguf_take_word(b, 8);
        v.items = *b;
        skip_items(b, v.items_type, v.count);
    }
    return v;
}

static const char *take_tensors(Arena *a, GgufBytes *b, Gguf *g)
{
    for (uint64_t i = 0; i < g->tensor_count && !b->bad; i++) {
        GgufTensor *t = &g->tensors[i];
        t->name = gguf_take_text(b);
        const uint64_t rank = gguf_take_word(b, 4);
        if (b->bad) break;
        if (memchr(t->name.s, 0, t->name.n))
            return arena_format(a, "has a tensor \"%s\" with a NUL in its name",
                                gguf_shown(a, t->name));
        if (rank < 1 || rank > MAX_RANK)
            return arena_format(a, "has a tensor \"%s\" of %llu dimensions; expected 1 to %d",
                                gguf_shown(a, t->name), (unsigned long long)rank, MAX_RANK);
        t->rank = (int)rank;
        for (int k = 0; k < t->rank && !b->bad; k++) t->dims[k] = gguf_take_word(b, 8);
        t->type = (uint32_t)gguf_take_word(b, 4);
        t->offset = gguf_take_word(b, 8);
    }
    return NULL;
}

/* Make offsets relative to the file: they are stored relative to the first aligned byte after the
 * header. */
static const char *place_tensors(const GgufBytes *b, const unsigned char *data, size_t size, Gguf *g)
{
    const GgufValue *v = gguf_find(g, GGUF_KEY_ALIGNMENT);
    const uint64_t alignment = v ? v->bits : USUAL_ALIGNMENT;
    const uint64_t head = ((uint64_t)(b->s - data) + alignment - 1) / alignment * alignment;
    for (uint64_t i = 0; i < g->tensor_count; i++) {
        GgufTensor *t = &g->tensors[i];
        if (t->offset % alignment) return "has a tensor that is not aligned";
        if (t->offset > size || head > size - t->offset) return "ends before one of its tensors begins";
        t->offset += head;
    }
    return NULL;
}

/* An unknown or nested type is reported with its key, since nothing after it can be read. */
static const char *take_keys(Arena *a, GgufBytes *b, Gguf *g)
{
    for (uint64_t i = 0; i < g->key_count && !b->bad; i++) {
        g->keys[i].name = gguf_take_text(b);
        const bool named = !b->bad;
        g->keys[i].value = take_value(b);
        const char *fault = named && b->bad ? gguf_type_fault(a, &g->keys[i]) : NULL;
        if (fault) return fault;
    }
    return b->bad ? NULL : gguf_keys_fault(a, g);
}

static const char *version_fault(Arena *a, uint64_t version)
{
    if (version == 2 || version == 3) return NULL;
    if (version && !(version & 0xFFFFFF)) return "is big-endian GGUF; only little-endian files are supported";
    return arena_format(a, "is GGUF version %llu; 2 and 3 are supported",
                        (unsigned long long)version);
}

bool is_gguf(const unsigned char *data, size_t size) { return size >= 4 && !memcmp(data, "GGUF", 4); }

const char *gguf_read(Arena *a, const unsigned char *data, size_t size, Gguf *out)
{
    static const char damaged[] = "has a header that is damaged or too large";
    GgufBytes b = { data, size, false };
    *out = (Gguf){ .architecture = { "", 0 } };
    gguf_take_word(&b, 4);
    const uint64_t version = gguf_take_word(&b, 4);
    if (!is_gguf(data, size) || b.bad) return "is not a GGUF file";
    const char *fault = version_fault(a, version);
    if (fault) return fault;
    out->tensor_count = gguf_take_word(&b, 8);
    out->key_count = gguf_take_word(&b, 8);
    if (b.bad || out->key_count > MOST_KEYS || out->tensor_count > MOST_TENSORS || out->key_count * 12 > b.n || out->tensor_count * 24 > b.n)
        return damaged;
    out->keys = arena_array(a, (size_t)out->key_count, sizeof *out->keys);
    out->tensors = arena_array(a, (size_t)out->tensor_count, sizeof *out->tensors);
    fault = take_keys(a, &b, out);
    if (!fault) fault = take_tensors(a, &b, out);
    if (!fault && b.bad) fault = damaged;
    return fault ? fault : place_tensors(&b, data, size, out);
}
