/* gguf.c: see gguf.h. Nothing that the file says is believed before it is held against the file's size. */
#include "gguf.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_KEYS = 1 << 16, MOST_TENSORS = 1 << 20, USUAL_ALIGNMENT = 32, MOST_ALIGNMENT = 1 << 20 };

uint64_t gguf_take_word(GgufBytes *b, size_t bytes)
{
    uint64_t x = 0;
    if (bytes > b->n) b->bad = true;
    if (b->bad) return 0;
    for (size_t i = 0; i < bytes; i++) x |= (uint64_t)b->s[i] << 8 * i;
    b->s += bytes;
    b->n -= bytes;
    return x;
}

GgufText gguf_take_text(GgufBytes *b)
{
    const uint64_t n = gguf_take_word(b, 8);
    if (n > b->n) b->bad = true;
    if (b->bad) return (GgufText){ "", 0 };
    const GgufText text = { (const char *)b->s, (size_t)n };
    b->s += n;
    b->n -= (size_t)n;
    return text;
}

int gguf_shown(GgufText text)
{
    enum { SHOWN_MOST = 100 };
    return text.n < SHOWN_MOST ? (int)text.n : SHOWN_MOST;
}

size_t gguf_item_bytes(uint32_t type)
{
    static const unsigned char of[] = { 1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8 };
    return type < sizeof of ? of[type] : 0;
}

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

static const char *take_tensors(GgufBytes *b, Gguf *g)
{
    for (uint64_t i = 0; i < g->tensor_count && !b->bad; i++) {
        GgufTensor *t = &g->tensors[i];
        t->name = gguf_take_text(b);
        t->rank = (int)(gguf_take_word(b, 4) & INT32_MAX);
        if (!b->bad && (t->rank < 1 || t->rank > MAX_RANK)) return "has a tensor whose number of dimensions is not 1 to 4";
        for (int k = 0; k < t->rank && !b->bad; k++) t->dims[k] = gguf_take_word(b, 8);
        t->type = (uint32_t)gguf_take_word(b, 4);
        t->offset = gguf_take_word(b, 8);
    }
    return NULL;
}

/* Offsets count from the first multiple of the alignment behind the head. */
static const char *place_tensors(const GgufBytes *b, const unsigned char *data, size_t size, Gguf *g)
{
    const GgufValue *v = gguf_find(g, "general.alignment");
    const uint64_t alignment = v ? v->bits : USUAL_ALIGNMENT;
    if (!alignment || alignment > MOST_ALIGNMENT || (alignment & (alignment - 1))) return "has a general.alignment that is no power of two";
    const uint64_t head = ((uint64_t)(b->s - data) + alignment - 1) / alignment * alignment;
    for (uint64_t i = 0; i < g->tensor_count; i++) {
        GgufTensor *t = &g->tensors[i];
        if (t->offset % alignment) return "has a tensor that begins beside the alignment";
        if (t->offset > size || head > size - t->offset) return "ends before one of its tensors begins";
        t->offset += head;
    }
    return NULL;
}

bool is_gguf(const unsigned char *data, size_t size) { return size >= 4 && !memcmp(data, "GGUF", 4); }

const char *gguf_read(Arena *a, const unsigned char *data, size_t size, Gguf *out)
{
    static const char damaged[] = "has a damaged head";
    GgufBytes b = { data, size, false };
    *out = (Gguf){ .keys = NULL };
    gguf_take_word(&b, 4);
    const uint64_t version = gguf_take_word(&b, 4);
    if (!is_gguf(data, size) || b.bad) return "is no GGUF file";
    if (version != 2 && version != 3) return arena_format(a, "is GGUF of version %llu; 2 and 3 are supported", (unsigned long long)version);
    out->tensor_count = gguf_take_word(&b, 8);
    out->key_count = gguf_take_word(&b, 8);
    if (b.bad || out->key_count > MOST_KEYS || out->tensor_count > MOST_TENSORS || out->key_count * 12 > b.n || out->tensor_count * 24 > b.n)
        return damaged;
    out->keys = arena_array(a, (size_t)out->key_count, sizeof *out->keys);
    out->tensors = arena_array(a, (size_t)out->tensor_count, sizeof *out->tensors);
    for (uint64_t i = 0; i < out->key_count && !b.bad; i++) {
        out->keys[i].name = gguf_take_text(&b);
        out->keys[i].value = take_value(&b);
    }
    const char *fault = b.bad ? damaged : take_tensors(&b, out);
    if (!fault && b.bad) fault = damaged;
    return fault ? fault : place_tensors(&b, data, size, out);
}

bool gguf_is(GgufText text, const char *word) { return text.n == strlen(word) && !memcmp(text.s, word, text.n); }

const GgufValue *gguf_find(const Gguf *g, const char *key)
{
    for (uint64_t i = 0; i < g->key_count; i++)
        if (gguf_is(g->keys[i].name, key)) return &g->keys[i].value;
    return NULL;
}

bool gguf_number(const GgufValue *v, double *number)
{
    const uint32_t low = (uint32_t)v->bits;
    float f;
    double d;
    char text[32];
    switch (v->type) {
    case GGUF_U8: case GGUF_U16: case GGUF_U32: case GGUF_U64: case GGUF_BOOL: *number = (double)v->bits; return true;
    case GGUF_I8:  *number = (int8_t)low; return true;
    case GGUF_I16: *number = (int16_t)low; return true;
    case GGUF_I32: *number = (int32_t)low; return true;
    case GGUF_I64: *number = (double)(int64_t)v->bits; return true;
    case GGUF_F32:
        memcpy(&f, &low, sizeof f);
        *number = (double)f;
        for (int digits = 1; digits < 10 && isfinite(f); digits++) {            /* 1e-5, not 9.999999747378752e-06 */
            snprintf(text, sizeof text, "%.*g", digits, (double)f);
            if (memcmp(&(float){ strtof(text, NULL) }, &f, sizeof f) == 0) {
                *number = strtod(text, NULL);
                break;
            }
        }
        return true;
    case GGUF_F64: memcpy(&d, &v->bits, sizeof d); *number = d; return true;
    default: return false;
    }
}
