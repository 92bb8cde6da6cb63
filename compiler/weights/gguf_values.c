/* gguf_values.c: decode numbers and strings of a GGUF file, and format strings for messages. */
#include "gguf.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "text.h"

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

const char *gguf_shown(Arena *a, GgufText text)
{
    enum { SHOWN_MOST = 100 };
    Text out = text_new(a);
    size_t n = text.n < SHOWN_MOST ? text.n : SHOWN_MOST;
    while (n < text.n && n && (text.s[n] & 0xC0) == 0x80) n--;          /* do not cut a character */
    for (size_t i = 0; i < n; i++) {
        const unsigned char c = (unsigned char)text.s[i];
        if (c >= ' ' && c != 0x7F) text_add_bytes(&out, &text.s[i], 1);
        else text_add(&out, c ? arena_format(a, "\\x%02x", c) : "\\0");
    }
    text_add(&out, n < text.n ? "..." : "");
    return out.data;
}

size_t gguf_item_bytes(uint32_t type)
{
    static const unsigned char of[] = { 1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8 };
    return type < sizeof of ? of[type] : 0;
}

bool gguf_is(GgufText text, const char *word)
{
    return text.n == strlen(word) && !memcmp(text.s, word, text.n);
}

bool gguf_exact_number(const GgufValue *v, double *number)
{
    const uint32_t low = (uint32_t)v->bits;
    GgufBytes items = v->items;
    GgufValue item = { .type = v->items_type };
    float f;
    switch (v->type) {
    case GGUF_U8: case GGUF_U16: case GGUF_U32: case GGUF_U64: case GGUF_BOOL:
        *number = (double)v->bits;
        return true;
    case GGUF_I8:  *number = (int8_t)low; return true;
    case GGUF_I16: *number = (int16_t)low; return true;
    case GGUF_I32: *number = (int32_t)low; return true;
    case GGUF_I64: *number = (double)(int64_t)v->bits; return true;
    case GGUF_F32: memcpy(&f, &low, sizeof f); *number = (double)f; return true;
    case GGUF_F64: memcpy(number, &v->bits, sizeof *number); return true;
    case GGUF_ARRAY:
        if (!v->count || !gguf_item_bytes(v->items_type)) return false;
        item.bits = gguf_take_word(&items, gguf_item_bytes(v->items_type));
        return gguf_exact_number(&item, number);
    default: return false;
    }
}

bool gguf_number(const GgufValue *v, double *number)
{
    char text[32];
    if (!gguf_exact_number(v, number)) return false;
    const float f = (float)*number;
    if (v->type != GGUF_F32 || !isfinite(f)) return true;
    for (int digits = 1; digits < 10; digits++) {           /* 1e-5, not 9.999999747378752e-06 */
        snprintf(text, sizeof text, "%.*g", digits, (double)f);
        if (memcmp(&(float){ strtof(text, NULL) }, &f, sizeof f) != 0) continue;
        *number = strtod(text, NULL);
        break;
    }
    return true;
}
