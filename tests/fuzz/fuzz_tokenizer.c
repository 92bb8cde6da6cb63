/* fuzz_tokenizer.c: any bytes as a tokenizer file of any format, and as a blob. An accepted
 * tokenizer encodes a text and decodes the ids. */
#include <stdlib.h>
#include <string.h>

#include "gguf.h"
#include "rt_tokenizer.h"
#include "support_fuzz.h"
#include "tokenizer.h"

enum { MOST_IDS = 4096, MOST_TEXT = 1 << 16 };

static void use(const RtTokenizer *t)
{
    static const char sample[] = "Hello, \xC3\xA9lan e\xCC\x81 \xEA\xB0\x81 <s> 42 \xF0\x9F\x98\x80\xFF  don't\n end";
    static int ids[MOST_IDS];
    static unsigned char types[MOST_IDS];
    static RtTokenSpan spans[MOST_IDS];
    static char text[MOST_TEXT];
    static unsigned char scratch[1 << 20];
    const RtTokenText x = { sample, sizeof sample - 1, "a second", 8, 0 };
    const RtTokens out = { ids, types, spans, MOST_IDS, NULL };
    int n = 0;
    size_t used = 0;
    if (rt_tokenizer_encode(t, &x, &out, &n, scratch, sizeof scratch) != RT_OK) n = 0;
    for (int i = 0; i < n; i++) {
        fuzz_expect(ids[i] >= 0 && ids[i] < rt_tokenizer_size(t));
        fuzz_expect(spans[i].end <= x.bytes);
    }
    if (rt_tokenizer_decode(t, ids, n, 1, text, MOST_TEXT, &used) == RT_OK) fuzz_expect(used < MOST_TEXT && text[used] == '\0');
}

/* Keep inputs small, for speed. One in RARE grows large, by repeating a part of it. */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t room, unsigned seed)
{
    enum { SMALL = 24576, RARE = 512 };
    if (seed % RARE && size && data[0] == '{') return fuzz_mutate_json(data, size, room < SMALL ? room : SMALL, seed);
    if (seed % RARE && is_gguf(data, size)) return fuzz_mutate_gguf(data, size, room < SMALL ? room : SMALL, seed);
    const size_t small = size > SMALL || room < SMALL ? room : SMALL;
    const size_t now = LLVMFuzzerMutate(data, size, small);
    if (seed % RARE || !now) return now;
    const size_t from = seed / RARE % now, length = 1 + seed / RARE / now % (now - from);
    const size_t wanted = now + seed / 7 % (room - now + 1);
    const size_t behind = now - from - length, copies = (wanted - now) / length;
    memmove(data + from + length * (copies + 1), data + from + length, behind);
    for (size_t i = 1; i <= copies; i++) memcpy(data + from + i * length, data + from, length);
    return now + copies * length;
}

/* If a file is imported, the runtime accepts its blob. */
static void as_file(const uint8_t *data, size_t size)
{
    Arena *a = arena_new();
    Diag *d = diag_new(a);
    TokenizerBlob blob;
    RtTokenizer t;
    const bool good = tokenizer_import(a, d, (Loc){ 0 }, fuzz_file(data, size), &blob);
    fuzz_told(d, good);
    if (good) {
        fuzz_expect(rt_tokenizer_open(&t, blob.data, blob.size) == RT_OK);
        use(&t);
    }
    arena_free(a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    RtTokenizer t;
    unsigned char *copy = malloc(size ? size : 1);          /* the sanitizer sees reads beyond it */
    fuzz_expect(copy);
    if (size) memcpy(copy, data, size);
    if (rt_tokenizer_open(&t, copy, size) == RT_OK) use(&t);
    free(copy);
    as_file(data, size);
    return 0;
}
