/* fuzz_tokens.c: any bytes as a text, encoded by a tokenizer of this tree, whole or damaged.
 *
 * The first byte chooses the tokenizer, the second the number of changes to its blob, 0 to 7. Each
 * change takes 8 bytes. The rest is the text. A changed blob is rejected, or else nothing outside
 * it is read. An unchanged one encodes the text, or reports it as too long or not encodable;
 * streaming the ids gives the same text as decoding them at once. */
#include <stdlib.h>
#include <string.h>

#include "rt_tokenizer.h"
#include "support_fuzz.h"
#include "tokenizer.h"

enum { MOST_IDS = 1 << 13, MOST_TEXT = 1 << 18, MOST_SCRATCH = 1 << 24, CHANGES = 8 };

static const char *const paths[] = {
    "tests/tokenizer/gpt2", "tests/tokenizer/bert_uncased", "tests/tokenizer/llama2",
    "tests/tokenizer/t5", "tests/tokenizer/spm_bpe", "tests/tokenizer/spm_spaces",
    "tests/tokenizer/o200k", "tests/tokenizer/qwen2",
};
enum { TOKENIZERS = sizeof paths / sizeof *paths };

typedef struct Input { const uint8_t *data; size_t size; } Input;

/* Read the next bytes as a little-endian number; beyond the end they are 0. */
static uint32_t take(Input *in, int bytes)
{
    uint32_t n = 0;
    for (int i = 0; i < bytes && in->size; i++, in->data++, in->size--)
        n |= (uint32_t)*in->data << 8 * i;
    return n;
}

/* Import a tokenizer once. Blobs live as long as the process. */
static const TokenizerBlob *blob_of(unsigned which)
{
    static TokenizerBlob blobs[TOKENIZERS];
    TokenizerBlob *blob = &blobs[which % TOKENIZERS];
    if (!blob->data) {
        static Arena *a;
        if (!a) a = arena_new();
        fuzz_expect(tokenizer_import(a, diag_new(a), (Loc){ 0 }, paths[which % TOKENIZERS], blob));
    }
    return blob;
}

/* Replace a word of a section or of the section table, add to it, or truncate the blob. Returns the
 * remaining size. */
static size_t change(unsigned char *blob, size_t size, const RtTokenizer *whole, Input *in)
{
    enum { SECTION_BITS = 5, ADD = 1, CUT = 2 };
    const uint32_t where = take(in, 1), word = take(in, 3), value = take(in, 4);
    const uint32_t section = where & ((1 << SECTION_BITS) - 1), how = where >> SECTION_BITS;
    const bool table = section >= TOK_SECTIONS;
    unsigned char *at = table ? blob : blob + (whole->section[section] - blob);
    const uint32_t words = table ? 4 + 2 * TOK_SECTIONS : whole->bytes[section] / 4;
    if (how == CUT) return value % (size + 1);
    if (!words) return size;
    at += 4 * (size_t)(word % words);
    uint32_t n = value;
    for (int i = 0; how == ADD && i < 4; i++) n += (uint32_t)at[i] << 8 * i;
    for (int i = 0; i < 4; i++) at[i] = (unsigned char)(n >> 8 * i);
    return size;
}

/* Stream the ids one by one and compare with the text of all of them. */
static void check_stream(const RtTokenizer *t, const int *ids, int n, const char *all, size_t bytes)
{
    static char text[MOST_TEXT];
    RtTokenStream s = { 0 };
    size_t used = 0;
    for (int i = 1; i <= n; i++)
        fuzz_expect(rt_tokenizer_stream(t, &s, ids, i, 0, text, MOST_TEXT, &used) == RT_OK);
    fuzz_expect(rt_tokenizer_stream_end(t, &s, ids, n, 0, text, MOST_TEXT, &used) == RT_OK);
    fuzz_expect(used == bytes && memcmp(text, all, used) == 0);
}

static void use(const RtTokenizer *t, const RtTokenText *x, bool whole)
{
    static int ids[MOST_IDS];
    static unsigned char types[MOST_IDS];
    static RtTokenSpan spans[MOST_IDS], characters[MOST_IDS];
    static char text[MOST_TEXT];
    const RtTokens out = { ids, types, spans, MOST_IDS, characters };
    const size_t longer = x->bytes > x->other_bytes ? x->bytes : x->other_bytes;
    const size_t bytes = rt_tokenizer_scratch_bytes(t, longer, 1);
    int n = 0;
    size_t used = 0;
    fuzz_expect(!whole || bytes <= MOST_SCRATCH);
    if (bytes > MOST_SCRATCH) return;
    void *scratch = malloc(bytes);      /* exactly this size, so that the sanitizer sees overruns */
    fuzz_expect(scratch);
    const rt_status status = rt_tokenizer_encode(t, x, &out, &n, scratch, bytes);
    free(scratch);
    fuzz_expect(!whole || status == RT_OK || status == RT_TOO_LONG || status == RT_BAD_ID);
    if (status != RT_OK) return;
    for (int i = 0; i < n; i++) {
        fuzz_expect(ids[i] >= 0 && ids[i] < rt_tokenizer_size(t));
        fuzz_expect(spans[i].begin <= spans[i].end && spans[i].end <= longer);
        fuzz_expect(characters[i].begin <= characters[i].end && characters[i].end <= longer);
    }
    const rt_status decoded = rt_tokenizer_decode(t, ids, n, 0, text, MOST_TEXT, &used);
    fuzz_expect(!whole || decoded == RT_OK);
    if (decoded == RT_OK && whole) check_stream(t, ids, n, text, used);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Input in = { data, size };
    const TokenizerBlob *blob = blob_of(take(&in, 1));
    const uint32_t changes = take(&in, 1) % CHANGES;
    size_t bytes = blob->size;
    RtTokenizer t;
    if (!changes) {
        fuzz_expect(rt_tokenizer_view(&t, blob->data, bytes) == RT_OK);
        use(&t, &(RtTokenText){ .text = (const char *)in.data, .bytes = in.size }, true);
        return 0;
    }
    unsigned char *damaged = malloc(bytes);
    fuzz_expect(damaged);
    memcpy(damaged, blob->data, bytes);
    fuzz_expect(rt_tokenizer_view(&t, damaged, bytes) == RT_OK);
    for (uint32_t i = 0; i < changes; i++) {
        const size_t left = change(damaged, blob->size, &t, &in);
        if (left < bytes) bytes = left;
    }
    unsigned char *copy = malloc(bytes + 1);    /* one byte more, since `bytes` may be 0 */
    fuzz_expect(copy);
    memcpy(copy, damaged, bytes);
    free(damaged);
    const RtTokenText pair = { (const char *)in.data, in.size, "a second", 8, 0 };
    if (rt_tokenizer_open(&t, copy, bytes) == RT_OK) use(&t, &pair, false);
    free(copy);
    return 0;
}
