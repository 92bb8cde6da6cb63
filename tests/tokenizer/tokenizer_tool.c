/* tokenizer_tool.c: run texts through a tokenizer, for comparison with other implementations.
 * usage: tokenizer_tool FILE|FOLDER < records > results
 * A record is the length of a text in bytes (u32), then the text. Its result is the number of ids
 * (u32), the ids, including those that the template adds, and the decoded text twice, with and
 * without special tokens, each time after its length in bytes (u32); or only 0xFFFFFFFF (u32) if
 * the text cannot be encoded. Numbers are in the machine's byte order. If the stream decoder's text
 * differs, the tool exits with an error.
 * With --time the whole input is one text, and the speed of encoding it is printed. */
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "rt_tokenizer.h"
#include "tokenizer.h"

enum { MOST_IDS = 1 << 20, MOST_TEXT = 1 << 23 };

static int ids[MOST_IDS];
static char text[MOST_TEXT], stream[MOST_TEXT];

static void write_u32(uint32_t n) { if (fwrite(&n, 4, 1, stdout) != 1) exit(EXIT_IO); }

static void write_decoded(const RtTokenizer *t, int n, int plain)
{
    RtTokenStream k = { 0 };
    size_t used = 0, streamed = 0;
    if (rt_tokenizer_decode(t, ids, n, plain, text, MOST_TEXT, &used) != RT_OK) die("decode");
    for (int i = 1; i <= n; i++)
        if (rt_tokenizer_stream(t, &k, ids, i, plain, stream, MOST_TEXT, &streamed) != RT_OK) die("stream");
    if (rt_tokenizer_stream_end(t, &k, ids, n, plain, stream, MOST_TEXT, &streamed) != RT_OK) die("stream");
    if (streamed != used || memcmp(stream, text, used) != 0) die("the stream decoder gives a different text");
    write_u32((uint32_t)used);
    if (used && fwrite(text, used, 1, stdout) != 1) exit(EXIT_IO);
}

static void measure(const RtTokenizer *t)
{
    size_t n = 0, cap = 0;
    char *all = NULL;
    for (size_t got = 1; got; n += got) {
        if (n == cap) all = realloc(all, cap = 2 * cap + (1 << 20));
        if (!all) die("no memory");
        got = fread(all + n, 1, cap - n, stdin);
    }
    const RtTokenText x = { .text = all, .bytes = n };
    const RtTokens out = { .ids = malloc(n * sizeof(int) + 64), .room = (int)n + 16 };
    size_t bytes = rt_tokenizer_scratch_bytes(t, n, false);
    int count;
    for (int i = 0; i < 3; i++) {
        struct timespec a, b;
        void *scratch = malloc(bytes);
        if (!scratch || !out.ids) die("no memory: %zu", bytes);
        clock_gettime(CLOCK_MONOTONIC, &a);
        const rt_status status = rt_tokenizer_encode(t, &x, &out, &count, scratch, bytes);
        clock_gettime(CLOCK_MONOTONIC, &b);
        const double s = (double)(b.tv_sec - a.tv_sec) + 1e-9 * (double)(b.tv_nsec - a.tv_nsec);
        printf("%s: %zu bytes, %d ids, %.3f s, %.2f MB/s\n", rt_status_text(status), n, count, s, (double)n / s / 1e6);
        free(scratch);
    }
    free(out.ids);
    free(all);
}

int main(int argc, char **argv)
{
    Arena *a = arena_new();
    Diag *d = diag_new(a);
    TokenizerBlob blob;
    RtTokenizer t;
    const bool good = argc > 1 && tokenizer_import(a, d, (Loc){ 0 }, argv[argc - 1], &blob);
    diag_print(d, stderr, isatty(2));
    if (!good) return (int)diag_exit(d);
    if (rt_tokenizer_open(&t, blob.data, blob.size) != RT_OK) die("open");
    if (argc > 2) {
        measure(&t);
        return 0;
    }
    void *scratch = NULL;
    char *record = NULL;
    for (uint32_t n; fread(&n, 4, 1, stdin) == 1;) {
        int count = 0;
        record = realloc(record, n + 1);
        if (!record || (n && fread(record, n, 1, stdin) != 1)) die("cannot read a record");
        const size_t bytes = rt_tokenizer_scratch_bytes(&t, n, true);    /* exactly as documented */
        const RtTokenText x = { .text = record, .bytes = n };
        static RtTokenSpan spans[MOST_IDS];
        const RtTokens out = { .ids = ids, .spans = spans, .room = MOST_IDS };
        scratch = malloc(bytes);
        const rt_status status = rt_tokenizer_encode(&t, &x, &out, &count, scratch, bytes);
        if (status != RT_OK && status != RT_BAD_ID) die("%s", rt_status_text(status));
        for (int i = 0; i < count && status == RT_OK; i++)
            if (spans[i].begin > spans[i].end || spans[i].end > n) die("token %d covers %u to %u of %u", i, spans[i].begin, spans[i].end, n);
        free(scratch);
        write_u32(status == RT_OK ? (uint32_t)count : UINT32_MAX);
        if (status != RT_OK) continue;
        if (count && fwrite(ids, sizeof *ids, (size_t)count, stdout) != (size_t)count) exit(EXIT_IO);
        write_decoded(&t, count, false);
        write_decoded(&t, count, true);
    }
    free(record);
    arena_free(a);
    return 0;
}
