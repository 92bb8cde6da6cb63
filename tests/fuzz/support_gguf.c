/* support_gguf.c: a mutator for the metadata of GGUF files. Three calls in four make up to three
 * changes to keys (they change a type, a number, a text, an array item or an item count, or repeat
 * or remove a key), so that the file stays a GGUF file. */
#include <stdlib.h>
#include <string.h>

#include "gguf.h"
#include "support_fuzz.h"

enum { HEAD_BYTES = 24, MOST_KEYS = 64, LENGTH_BYTES = 8, TYPE_BYTES = 4 };

/* The offsets of a key: of its length, its type and its value, which ends at `end`. */
typedef struct Key { size_t begin, type, value, end; } Key;

typedef struct Input { uint8_t *data; size_t size, room; uint64_t random; } Input;

static uint32_t below(Input *x, uint32_t n) { return fuzz_below(&x->random, n); }

/* ---- bytes ----------------------------------------------------------------------------------- */

static uint64_t word_at(const Input *x, size_t at, size_t bytes)
{
    uint64_t n = 0;
    for (size_t i = 0; i < bytes && at + i < x->size; i++) n |= (uint64_t)x->data[at + i] << 8 * i;
    return n;
}

static void put_word(Input *x, size_t at, uint64_t n, size_t bytes)
{
    for (size_t i = 0; i < bytes && at + i < x->size; i++) x->data[at + i] = (uint8_t)(n >> 8 * i);
}

/* Replace `gone` bytes with `n` others. False if the input ends before those or has no room. */
static bool replace(Input *x, size_t at, size_t gone, const void *with, size_t n)
{
    if (at > x->size || gone > x->size - at || x->size - gone + n > x->room) return false;
    memmove(x->data + at + n, x->data + at + gone, x->size - at - gone);
    memcpy(x->data + at, with, n);
    x->size = x->size - gone + n;
    return true;
}

/* ---- offsets --------------------------------------------------------------------------------- */

/* The offset after a text; far beyond the input if the text does not fit in it. */
static size_t behind_text(const Input *x, size_t at)
{
    const uint64_t n = word_at(x, at, LENGTH_BYTES);
    return at + LENGTH_BYTES > x->size || n > x->size ? SIZE_MAX / 2 : at + LENGTH_BYTES + (size_t)n;
}

static size_t behind_value(const Input *x, size_t at, uint32_t type)
{
    if (type == GGUF_STRING) return behind_text(x, at);
    if (type != GGUF_ARRAY) return at + gguf_item_bytes(type);
    const uint32_t items = (uint32_t)word_at(x, at, TYPE_BYTES);
    const uint64_t count = word_at(x, at + TYPE_BYTES, LENGTH_BYTES);
    at += TYPE_BYTES + LENGTH_BYTES;
    if (count > x->size) return SIZE_MAX / 2;
    if (items != GGUF_STRING) return at + (size_t)count * gguf_item_bytes(items);
    for (uint64_t i = 0; i < count && at <= x->size; i++) at = behind_text(x, at);
    return at;
}

/* Choose one of the keys that can be parsed from the front; false if there is none. */
static bool any_key(Input *x, Key *chosen)
{
    size_t at = HEAD_BYTES;
    uint32_t n = 0;
    for (uint64_t count = word_at(x, 16, LENGTH_BYTES); n < count && n < MOST_KEYS; n++) {
        Key k = { at, behind_text(x, at), 0, 0 };
        k.value = k.type + TYPE_BYTES;
        if (k.value > x->size) break;
        k.end = behind_value(x, k.value, (uint32_t)word_at(x, k.type, TYPE_BYTES));
        if (k.end > x->size) break;
        at = k.end;
        if (below(x, n + 1) == 0) *chosen = k;      /* all are equally likely */
    }
    return n > 0;
}

/* ---- changes --------------------------------------------------------------------------------- */

static uint64_t odd_number(Input *x)
{
    static const uint64_t odd[] = { 0, 1, 2, 3, 6, 7, 31, 32, 127, 128, 255, 256, 2048, 65535, 65536, INT32_MAX, UINT32_C(1) << 31,
                                    UINT32_MAX, UINT64_C(1) << 32, UINT64_C(1) << 62, UINT64_C(1) << 63, UINT64_MAX };
    return below(x, 3) ? odd[below(x, sizeof odd / sizeof *odd)] : below(x, 300);
}

/* Write a text after its length: a word of a vocabulary, or a few bytes. Returns the size of
 * both. */
static size_t odd_text(Input *x, uint8_t text[32])
{
    static const char *const words[] = {
        "", " ", "a", "ab", "a b", "ab c", "\n", "##a", "[UNK]", "[CLS]", "[SEP]", "<s>", "</s>", "<unk>", "<pad>", "<0x00>", "<0x41>",
        "<0xFF>", "<0x4>", "<0xGG>", "<0x 1>", "\xE2\x96\x81", "\xE2\x96\x81" "a", "\xC4\xA0" "a", "\xFF", "\xF0\x9F\x98\x80", "llama", "gpt2",
        "bert", "t5", "qwen2", "llama-bpe", "default", "<|im_end|>", "fra_Latn",
    };
    size_t n = 0;
    if (below(x, 4)) {
        const char *word = words[below(x, sizeof words / sizeof *words)];
        memcpy(text + LENGTH_BYTES, word, n = strlen(word));
    } else for (size_t most = below(x, 12); n < most; n++) text[LENGTH_BYTES + n] = (uint8_t)(below(x, 2) ? 'a' + below(x, 4) : below(x, 256));
    for (size_t i = 0; i < LENGTH_BYTES; i++) text[i] = (uint8_t)(n >> 8 * i);
    return LENGTH_BYTES + n;
}

/* Change an item of an array: replace a text or insert one before it; replace a number. */
static void change_item(Input *x, const Key *k)
{
    const uint32_t items = (uint32_t)word_at(x, k->value, TYPE_BYTES);
    const uint64_t count = word_at(x, k->value + TYPE_BYTES, LENGTH_BYTES);
    size_t at = k->value + TYPE_BYTES + LENGTH_BYTES;
    uint8_t text[32];
    if (!count) return;
    const uint32_t chosen = below(x, (uint32_t)count);
    if (items != GGUF_STRING) {
        const size_t bytes = gguf_item_bytes(items);
        put_word(x, at + chosen * bytes, odd_number(x), bytes);
        return;
    }
    for (uint32_t i = 0; i < chosen; i++) at = behind_text(x, at);
    const bool more = below(x, 4) == 0;
    const size_t old = behind_text(x, at) - at, n = odd_text(x, text);
    if (replace(x, at, more ? 0 : old, text, n) && more) put_word(x, k->value + TYPE_BYTES, count + 1, LENGTH_BYTES);
}

static void change_value(Input *x, const Key *k)
{
    const uint32_t type = (uint32_t)word_at(x, k->type, TYPE_BYTES);
    uint8_t text[32];
    if (type == GGUF_ARRAY) change_item(x, k);
    else if (type == GGUF_STRING) {
        const size_t n = odd_text(x, text);
        replace(x, k->value, k->end - k->value, text, n);
    } else put_word(x, k->value, odd_number(x), gguf_item_bytes(type));
}

/* Repeat the key, or remove it. */
static void change_count(Input *x, const Key *k)
{
    const size_t n = k->end - k->begin;
    const uint64_t keys = word_at(x, 16, LENGTH_BYTES);
    if (below(x, 2)) {
        if (replace(x, k->begin, n, "", 0)) put_word(x, 16, keys - 1, LENGTH_BYTES);
        return;
    }
    uint8_t *copy = malloc(n + 1);
    fuzz_expect(copy);
    memcpy(copy, x->data + k->begin, n);
    if (replace(x, k->end, 0, copy, n)) put_word(x, 16, keys + 1, LENGTH_BYTES);
    free(copy);
}

static void change(Input *x)
{
    enum { TYPES = GGUF_F64 + 2 };
    Key k;
    if (!any_key(x, &k)) return;
    const bool array = word_at(x, k.type, TYPE_BYTES) == GGUF_ARRAY;
    switch (below(x, 8)) {
    case 0: put_word(x, k.type, below(x, TYPES), TYPE_BYTES); break;
    case 1: put_word(x, k.value, array ? below(x, TYPES) : odd_number(x), TYPE_BYTES); break;
    case 2: put_word(x, k.value + TYPE_BYTES, array ? odd_number(x) : word_at(x, k.value + TYPE_BYTES, LENGTH_BYTES), LENGTH_BYTES); break;
    case 3: change_count(x, &k); break;
    default: change_value(x, &k); break;
    }
}

size_t fuzz_mutate_gguf(uint8_t *data, size_t size, size_t room, unsigned seed)
{
    Input x = { data, size, room, seed };
    if (seed % 4 == 0 || size < HEAD_BYTES) return LLVMFuzzerMutate(data, size, room);
    for (uint32_t n = 1 + below(&x, 3); n; n--) change(&x);
    return x.size;
}
