/* test_tokenizers.c: On its corpus, every tokenizer of this folder gives the ids of Hugging Face's
 * tokenizers (.json) or SentencePiece (.model), and the characters that each token covers
 * (NAME.gold, by make.py). Also invalid UTF-8, damaged blobs, too little room, split words, 100,000
 * added tokens, long texts, every entry of character maps, texts that are cut. */
/* tags: slow */
#include <dirent.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include "file.h"
#include "rt_tokenizer_parts.h"
#include "tokenizer.h"

enum { MOST = 1 << 16 };

static const char folder[] = "tests/tokenizer";
static int ids[MOST], again[MOST];
static unsigned char types[MOST];
static RtTokenSpan spans[MOST], characters[MOST], others[MOST];
static char text[MOST], stream[MOST];

typedef struct Case { Arena *arena; Diag *diag; TokenizerBlob blob; RtTokenizer t; } Case;

static void open_case(Case *c, const char *path)
{
    c->arena = arena_new();
    c->diag = diag_new(c->arena);
    const bool good = tokenizer_import(c->arena, c->diag, (Loc){ 0 }, path, &c->blob);
    diag_print(c->diag, stderr, false);
    if (!good) fail_msg("%s: not imported", path);
    assert_int_equal(rt_tokenizer_open(&c->t, c->blob.data, c->blob.size), RT_OK);
}

/* Encode with exactly the documented scratch; the sanitizer watches its end. */
static rt_status encode(const RtTokenizer *t, const RtTokenText *x, const RtTokens *out, int *n)
{
    const size_t longest = x->bytes > x->other_bytes ? x->bytes : x->other_bytes;
    const size_t bytes = rt_tokenizer_scratch_bytes(t, longest, out->spans != NULL);
    void *scratch = malloc(bytes);
    assert_non_null(scratch);
    const rt_status status = rt_tokenizer_encode(t, x, out, n, scratch, bytes);
    free(scratch);
    return status;
}

static RtTokenText text_of(const json_t *row)
{
    const json_t *a = json_object_get(row, "text"), *b = json_object_get(row, "pair");
    return (RtTokenText){ json_string_value(a), json_string_length(a), b ? json_string_value(b) : NULL, b ? json_string_length(b) : 0, 0 };
}

static int same_numbers(const json_t *list, const int *found, int n)
{
    int i = 0;
    while (i < n && (size_t)i < json_array_size(list) && json_integer_value(json_array_get(list, (size_t)i)) == found[i]) i++;
    return i == n && (size_t)n == json_array_size(list);
}

static void check_text(const RtTokenizer *t, const json_t *wanted, int n, int plain, const char *where)
{
    RtTokenStream k = { 0 };
    size_t used = 0, streamed = 0;
    if (!wanted) return;
    assert_int_equal(rt_tokenizer_decode(t, ids, n, plain, text, MOST, &used), RT_OK);
    if (used != json_string_length(wanted) || memcmp(text, json_string_value(wanted), used) != 0)
        fail_msg("%s: decoded \"%s\", expected \"%s\"", where, text, json_string_value(wanted));
    for (int i = 1; i <= n; i++) assert_int_equal(rt_tokenizer_stream(t, &k, ids, i, plain, stream, MOST, &streamed), RT_OK);
    assert_int_equal(rt_tokenizer_stream_end(t, &k, ids, n, plain, stream, MOST, &streamed), RT_OK);
    if (streamed != used || memcmp(stream, text, used) != 0) fail_msg("%s: the stream gives \"%s\", not \"%s\"", where, stream, text);
}

/* Words are cut where no merge joins the two sides. Without the cuts the ids are the same. */
static void check_whole_words(const RtTokenizer *t, const RtTokenText *x, int n, const char *where)
{
    RtTokenizer whole = *t;
    int m = 0;
    whole.bytes[TOK_JOINS] = 0;
    assert_int_equal(encode(&whole, x, &(RtTokens){ again, NULL, NULL, MOST, NULL }, &m), RT_OK);
    if (m != n || memcmp(again, ids, (size_t)n * sizeof *ids) != 0) fail_msg("%s: different ids without cuts", where);
}

static void check_row(const RtTokenizer *t, const json_t *row, const char *where)
{
    const RtTokenText x = text_of(row);
    const json_t *wanted = json_object_get(row, "ids"), *kinds = json_object_get(row, "types");
    int n = 0, m = 0;
    assert_int_equal(encode(t, &x, &(RtTokens){ ids, types, spans, MOST, characters }, &n), RT_OK);
    if (!same_numbers(wanted, ids, n)) {
        for (int i = 0; i < n; i++) fprintf(stderr, " %d", ids[i]);
        char *expected = json_dumps(wanted, JSON_COMPACT);
        fprintf(stderr, "\n");
        fail_msg("%s: different ids for \"%s\"; expected %s", where, x.text, expected);
    }
    for (int i = 0; i < n; i++) assert_true(spans[i].begin <= spans[i].end && spans[i].end <= (x.other_bytes > x.bytes ? x.other_bytes : x.bytes));
    for (int i = 0; kinds && i < n; i++) assert_int_equal(types[i], json_integer_value(json_array_get(kinds, (size_t)i)));
    assert_int_equal(encode(t, &x, &(RtTokens){ again, NULL, NULL, MOST, NULL }, &m), RT_OK); /* same without spans */
    assert_int_equal(m, n);
    assert_memory_equal(again, ids, (size_t)n * sizeof *ids);
    check_whole_words(t, &x, n, where);
    for (int i = 0; i < n && json_object_get(row, "offsets"); i++) {
        const json_t *offsets = json_object_get(row, "offsets");
        const int begin = (int)json_integer_value(json_array_get(offsets, (size_t)(2 * i)));
        const int end = (int)json_integer_value(json_array_get(offsets, (size_t)(2 * i + 1)));
        if ((int)characters[i].begin != begin || (int)characters[i].end != end)
            fail_msg("%s: token %d of \"%s\" is at %u-%u, expected %d-%d", where, i, x.text, characters[i].begin, characters[i].end, begin, end);
    }
    if (n > 1) {
        assert_int_equal(encode(t, &x, &(RtTokens){ again, NULL, NULL, n - 1, NULL }, &m), RT_TOO_LONG);
        assert_int_equal(m, n);
    }
    check_text(t, json_object_get(row, "decoded"), n, 0, where);
    check_text(t, json_object_get(row, "plain"), n, 1, where);
}

static json_t *parse(const char *line)
{
    json_error_t error;
    json_t *row = json_loads(line, JSON_ALLOW_NUL, &error);
    if (!row) fail_msg("not JSON: %s", error.text);
    return row;
}

/* Check the rows of a .gold file; the first row names the tokenizer. */
static int check_gold(const char *name)
{
    Case c;
    Arena *a = arena_new();
    Diag *d = diag_new(a);
    size_t size;
    int rows = 0;
    char *data = file_read(a, d, (Loc){ 0 }, file_join(a, folder, name), 1 << 24, &size);
    assert_non_null(data);
    for (char *line = data, *end; *line && (end = strchr(line, '\n')); line = end + 1, rows++) {
        *end = '\0';
        json_t *row = parse(line);
        if (!rows) open_case(&c, file_join(a, folder, json_string_value(json_object_get(row, "path"))));
        else check_row(&c.t, row, arena_format(a, "%s:%d", name, rows + 1));
        json_decref(row);
    }
    assert_true(rows > 1);
    arena_free(c.arena);
    arena_free(a);
    return rows - 1;
}

static void goldens(void **state)
{
    (void)state;
    DIR *d = opendir(folder);
    int files = 0, rows = 0;
    assert_non_null(d);
    for (struct dirent *e; (e = readdir(d));) {
        const char *dot = strrchr(e->d_name, '.');
        if (!dot || strcmp(dot, ".gold") != 0) continue;
        rows += check_gold(e->d_name);
        files++;
    }
    closedir(d);
    print_message("# %d tokenizers, %d texts\n", files, rows);
    assert_true(files >= 20 && rows >= 1500);
}

/* Invalid UTF-8 counts as one U+FFFD per maximal subpart, as in Python. */
static void broken_utf8(void **state)
{
    static const struct { const char *bytes, *as; } cases[] = {
        { "a\xFFz", "a\uFFFDz" }, { "\xE4\xBD", "\uFFFD" }, { "\xE4\xBD" "a", "\uFFFDa" }, { "\xC0\xAF", "\uFFFD\uFFFD" },
        { "\xED\xA0\x80", "\uFFFD\uFFFD\uFFFD" }, { "\xF0\x9F\x98", "\uFFFD" }, { "\xF4\x90\x80\x80", "\uFFFD\uFFFD\uFFFD\uFFFD" },
        { "x\x80\xE2\x82\xACy", "x\uFFFD\u20ACy" }, { "\xF0\x80\x80", "\uFFFD\uFFFD\uFFFD" },
    };
    static const char *const paths[] = { "gpt2", "bert_cased", "llama2", "t5", "qwen2" };
    (void)state;
    for (size_t p = 0; p < sizeof paths / sizeof *paths; p++) {
        Case c;
        char path[64];
        snprintf(path, sizeof path, "%s/%s", folder, paths[p]);
        open_case(&c, path);
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
            const RtTokenText broken = { .text = cases[i].bytes, .bytes = strlen(cases[i].bytes) };
            const RtTokenText whole = { .text = cases[i].as, .bytes = strlen(cases[i].as) };
            int n, m;
            assert_int_equal(encode(&c.t, &broken, &(RtTokens){ ids, NULL, spans, MOST, characters }, &n), RT_OK);
            for (int k = 0; k < n; k++) assert_true(spans[k].end <= broken.bytes);
            assert_int_equal(encode(&c.t, &whole, &(RtTokens){ again, NULL, spans, MOST, others }, &m), RT_OK);
            assert_int_equal(n, m);
            assert_memory_equal(characters, others, (size_t)n * sizeof *others);
            assert_memory_equal(ids, again, (size_t)n * sizeof *ids);
        }
        arena_free(c.arena);
    }
}

/* A damaged blob is rejected or harmless: whatever it contains, nothing outside is read. */
static void damaged_blobs(void **state)
{
    static const char *const paths[] = { "gpt2", "bert_uncased", "llama2", "t5", "spm_bpe" };
    static const char sample[] = "Hello, \u00e9lan e\u0301 \uac01 <s> 42 \U0001F600\xff  end";
    unsigned seed = 1;
    int taken = 0, refused = 0;
    (void)state;
    for (size_t p = 0; p < sizeof paths / sizeof *paths; p++) {
        Case c;
        char path[64];
        snprintf(path, sizeof path, "%s/%s", folder, paths[p]);
        open_case(&c, path);
        for (int round = 0; round < 400; round++) {
            unsigned char *bad = malloc(c.blob.size);
            assert_non_null(bad);
            memcpy(bad, c.blob.data, c.blob.size);
            for (int k = 0; k <= round % 3; k++) {
                seed = seed * 1664525 + 1013904223;
                const size_t within = round % 4 ? c.blob.size : 700 < c.blob.size ? 700 : c.blob.size;      /* often in the header */
                bad[(seed >> 8) % within] = (unsigned char)(seed >> 3);
            }
            const size_t size = round % 7 ? c.blob.size : (seed >> 4) % c.blob.size;
            RtTokenizer t;
            if (rt_tokenizer_open(&t, bad, size) == RT_OK) {
                static unsigned char scratch[1 << 20];
                const RtTokenText x = { .text = sample, .bytes = sizeof sample - 1 };
                int n = 0;
                size_t used = 0;
                rt_tokenizer_encode(&t, &x, &(RtTokens){ ids, types, spans, MOST, NULL }, &n, scratch, sizeof scratch);
                for (int i = 0; i < 64; i++) ids[i] = i * 7;
                rt_tokenizer_decode(&t, ids, 64, 0, text, MOST, &used);
                taken++;
            } else refused++;
            free(bad);
        }
        arena_free(c.arena);
    }
    print_message("# %d accepted, %d rejected\n", taken, refused);
    assert_true(taken > 100 && refused > 100);
}

/* Too little scratch, or too little room for text, is reported. */
static void too_little_room(void **state)
{
    static const char sample[] = "The house by the river \u00e9\u0301";
    const RtTokenText x = { .text = sample, .bytes = sizeof sample - 1 };
    Case c;
    int n = 0, rooms = 0;
    (void)state;
    open_case(&c, "tests/tokenizer/bert_uncased");
    const size_t enough = rt_tokenizer_scratch_bytes(&c.t, x.bytes, 0);
    for (size_t bytes = 0; bytes < enough; bytes += 97) {
        void *scratch = malloc(bytes + 1);
        const rt_status status = rt_tokenizer_encode(&c.t, &x, &(RtTokens){ ids, NULL, NULL, MOST, NULL }, &n, scratch, bytes);
        assert_true(status == RT_OK || status == RT_NO_ROOM);
        rooms += status == RT_NO_ROOM;
        free(scratch);
    }
    assert_true(rooms > 2);
    assert_int_equal(encode(&c.t, &x, &(RtTokens){ ids, NULL, NULL, MOST, NULL }, &n), RT_OK);
    for (size_t cap = 0; cap < 64; cap++) {
        size_t used = 0;
        memset(text, '#', 80);
        const rt_status status = rt_tokenizer_decode(&c.t, ids, n, 1, text, cap, &used);
        assert_true(status == RT_OK || (status == RT_NO_ROOM && used <= cap));
        assert_int_equal(text[cap], '#');
    }
    arena_free(c.arena);
}

/* A walk over the keys of a character map: the current key, of at most MOST_KEY bytes, the largest
 * growth so far, and the number of keys. */
enum { MOST_KEY = 32, TIMES = 40 };
typedef struct Keys { const RtTokenizer *t; unsigned char key[MOST_KEY]; double growth; int count; } Keys;

static uint32_t unit(const Keys *k, uint32_t at) { return rt_tok_at(k->t, TOK_CHARSMAP, at); }

static uint32_t below(const Keys *k, uint32_t at) { return at ^ (unit(k, at) >> 10) << ((unit(k, at) & 0x200) >> 6); }

/* A text that repeats one key fits into the documented scratch. */
static void check_key(Keys *k, size_t n, uint32_t value)
{
    const char *becomes = (const char *)k->t->section[TOK_CHARSMAP_TEXT] + value;
    RtTokenText x = { .text = text, .bytes = TIMES * n };
    int count;
    for (size_t i = 0; i < TIMES; i++) memcpy(text + i * n, k->key, n);
    k->growth = fmax(k->growth, (double)strlen(becomes) / (double)n);
    k->count++;
    if (encode(k->t, &x, &(RtTokens){ ids, NULL, NULL, MOST, NULL }, &count) != RT_OK) fail_msg("\"%.*s\" is rejected", (int)(8 * n), text);
}

static void check_keys(Keys *k, uint32_t at, size_t n)
{
    for (uint32_t c = 1; c < 256; c++) {
        const uint32_t to = at ^ c;
        if (to >= k->t->bytes[TOK_CHARSMAP] / 4 || (unit(k, to) & 0x800000FF) != c) continue;
        assert_true(n < MOST_KEY);
        k->key[n] = (unsigned char)c;
        if (unit(k, to) >> 8 & 1) check_key(k, n + 1, unit(k, below(k, to)) & 0x7FFFFFFF);
        check_keys(k, below(k, to), n + 1);
    }
}

/* The growth of a character map is that of its worst entry, rounded up. */
static void tables_have_room(void **state)
{
    static const char *const paths[] = { "t5", "xlmr", "spm_bpe", "spm_unigram", "spm_fallback" };
    (void)state;
    for (size_t p = 0; p < sizeof paths / sizeof *paths; p++) {
        Case c;
        char path[64];
        uint32_t growth = 0;
        snprintf(path, sizeof path, "%s/%s", folder, paths[p]);
        open_case(&c, path);
        Keys k = { .t = &c.t };
        check_keys(&k, below(&k, 0), 0);
        for (uint32_t i = 0; i < c.t.head[TOK_HEAD_NORMALISERS]; i++) {
            const RtTokOp op = rt_tok_op(&c.t, i);
            if (op.kind == TOK_MAP_GRAPHEMES || op.kind == TOK_MAP_LONGEST) growth = op.a;
        }
        print_message("# %s: %d entries, at most %g times as long\n", paths[p], k.count, k.growth);
        assert_true(k.count > 1000 && growth >= k.growth && growth < k.growth + 1);
        arena_free(c.arena);
    }
}

/* A text that counts as one word is cut before its spaces, since no merge joins a letter and the
 * mark of a space. This holds for at least nine letters in ten. */
static void words_are_cut(void **state)
{
    static const char *const paths[] = { "llama2", "mistral", "spm_bpe" };
    (void)state;
    for (size_t p = 0; p < sizeof paths / sizeof *paths; p++) {
        Case c;
        char path[64];
        int letters = 0, cuts = 0;
        snprintf(path, sizeof path, "%s/%s", folder, paths[p]);
        open_case(&c, path);
        const uint32_t words = c.t.bytes[TOK_JOINS] / 4, mark = rt_tok_find(&c.t, TOK_TRIE, (const unsigned char *)"\xE2\x96\x81", 3);
        assert_true(words > 0 && mark != RT_TOK_NONE);
        for (unsigned char letter = 'a'; letter <= 'z'; letter++) {
            const uint32_t id = rt_tok_find(&c.t, TOK_TRIE, &letter, 1), bit = rt_tok_merge_hash(id, mark);
            letters += id != RT_TOK_NONE;
            cuts += id != RT_TOK_NONE && !(rt_tok_at(&c.t, TOK_JOINS, bit / 32 & (words - 1)) >> bit % 32 & 1);
        }
        if (letters < 20 || cuts * 10 < letters * 9) fail_msg("%s: cut after %d of %d letters", paths[p], cuts, letters);
        arena_free(c.arena);
    }
}

/* Write a tokenizer.json with `count` added tokens, "<a0>", "<a1>", …; those with odd numbers are
 * matched in normalised text, the others are special. */
static void write_added(const char *from, const char *to, int count)
{
    json_error_t error;
    json_t *root = json_load_file(from, 0, &error);
    assert_non_null(root);
    json_t *list = json_object_get(root, "added_tokens");
    for (int i = 0; i < count; i++) {
        snprintf(text, sizeof text, "<a%d>", i);
        json_array_append_new(list, json_pack("{s:i, s:s, s:b, s:b, s:b, s:b, s:b}", "id", 100000 + i, "content", text, "single_word", 0, "lstrip", 0,
                                              "rstrip", 0, "normalized", i % 2, "special", !(i % 2)));
    }
    assert_int_equal(json_dump_file(root, to, JSON_COMPACT), 0);
    json_decref(root);
}

/* Returns the processor seconds that `n` added tokens, or `n` bytes of repeated units, take. */
typedef double Work(const char *path, const char *unit, int n);

/* Four times as many take at most ten times as long; with quadratic time they would take
 * sixteen times as long. Other programs can slow the processor down for a moment, so only the
 * fastest of several tries counts. */
static void assert_linear(Work *work, const char *path, const char *unit, int n)
{
    enum { TRIES = 5 };
    double few = work(path, unit, n / 4), many = work(path, unit, n);
    for (int i = 1; i < TRIES && many > 10 * few; i++) {
        few = fmin(few, work(path, unit, n / 4));
        many = fmin(many, work(path, unit, n));
    }
    if (many > 10 * few) fail_msg("%s: %d of \"%s\": %g s, four times as many: %g s", path, n / 4, unit, few, many);
}

static double add_and_find(const char *from, const char *name, int count)
{
    Case c;
    size_t used = 0;
    int n = 0, at = 0;
    const int step = 25;            /* one in 25 tokens is searched for */
    write_added(from, name, count);
    const clock_t begin = clock();
    open_case(&c, name);
    for (int i = 0; i < count / step; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, " <a%d>", i * step + i % 7);
    const RtTokenText x = { .text = text, .bytes = used, .plain = 1 };
    assert_int_equal(encode(&c.t, &x, &(RtTokens){ ids, NULL, NULL, MOST, NULL }, &n), RT_OK);
    const double seconds = (double)(clock() - begin) / CLOCKS_PER_SEC;
    const int first = rt_tokenizer_size(&c.t) - count;      /* after all others, whatever ids the file gives */
    for (int i = 0; i < count / step; i++) {
        while (at < n && ids[at] < first) at++;                     /* spaces, and what a normaliser adds */
        if (at >= n || ids[at++] != first + i * step + i % 7) fail_msg("%s: token %d is not found", from, i);
    }
    arena_free(c.arena);
    return seconds;
}

/* Neither reading nor finding a hundred thousand added tokens takes quadratic time. */
static void many_added_tokens(void **state)
{
    static const char *const paths[] = { "gpt2", "bert_uncased", "llama2" };
    enum { COUNT = 100000 };
    char name[] = "/tmp/added-XXXXXX";
    const int fd = mkstemp(name);
    (void)state;
    assert_true(fd >= 0);
    close(fd);
    for (size_t p = 0; p < sizeof paths / sizeof *paths; p++) {
        char path[64];
        snprintf(path, sizeof path, "%s/%s/tokenizer.json", folder, paths[p]);
        assert_linear(add_and_find, path, name, COUNT);
    }
    unlink(name);
}

static double encode_repeated(const char *path, const char *unit, int most)
{
    Case c;
    const size_t size = strlen(unit), bytes = (size_t)most / size * size;
    char *all = malloc(bytes);
    int *many = malloc(((size_t)most + 16) * sizeof *many);
    int n = 0;
    assert_true(all && many);
    open_case(&c, path);
    for (size_t k = 0; k < bytes; k += size) memcpy(all + k, unit, size);
    const clock_t begin = clock();
    const RtTokenText x = { .text = all, .bytes = bytes };
    assert_int_equal(encode(&c.t, &x, &(RtTokens){ many, NULL, NULL, most + 16, NULL }, &n), RT_OK);
    const double seconds = (double)(clock() - begin) / CLOCKS_PER_SEC;
    arena_free(c.arena);
    free(many);
    free(all);
    return seconds;
}

/* Long texts that repeat letters, a word, white space, digits or combining marks do not take
 * quadratic time. */
static void long_texts(void **state)
{
    static const struct { const char *path, *unit; } cases[] = {
        { "gpt2", "a" }, { "gpt2", " " }, { "gpt2", "ab" }, { "llama2", "x" }, { "llama2", " " }, { "llama2", "\xE6\xBC\xA2" }, { "t5", "e" },
        { "xlmr", " " }, { "bert_uncased", "a" }, { "bert_uncased", "\xCC\x81" }, { "qwen2", "\xCC\xA3\xCC\x81" }, { "spm_unigram", "the" },
        { "llama3", "1" }, { "o200k", "\xE3\x81\x82" }, { "smollm", "\n" },
    };
    enum { BYTES = 1 << 20 };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char path[64];
        snprintf(path, sizeof path, "%s/%s", folder, cases[i].path);
        assert_linear(encode_repeated, path, cases[i].unit, BYTES);
    }
}

static void put(FILE *f, unsigned tag, const void *data, size_t n)
{
    fprintf(f, "%c%c%c", (int)tag, (int)(n & 127) | 128, (int)(n >> 7));
    fwrite(data, 1, n, f);
}

/* Write a SentencePiece model whose character map is a trie with a cycle: every key that consists
 * only of 'a's can be continued, and none ends. */
static void write_circle(const char *name)
{
    enum { UNITS = 512, ROOT = 256, NORMAL = 1, UNKNOWN = 2 };
    static const struct { const char *text; char type; } pieces[] = { { "<unk>", UNKNOWN }, { "a", NORMAL }, { "\xE2\x96\x81", NORMAL } };
    uint32_t map[2 + UNITS] = { UNITS * sizeof *map, ROOT << 10 }; /* after the trie one text, "" */
    map[1 + (ROOT ^ 'a')] = 'a' << 10 | 'a';
    FILE *f = fopen(name, "wb");
    assert_non_null(f);
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
        char piece[32];
        const size_t n = strlen(pieces[i].text);
        piece[0] = 0x0A, piece[1] = (char)n;
        memcpy(piece + 2, pieces[i].text, n);
        memcpy(piece + 2 + n, (const char[]){ 0x18, pieces[i].type }, 2);
        put(f, 0x0A, piece, n + 4);
    }
    put(f, 0x12, "\x18\x01", 2);            /* trainer_spec: a unigram model */
    fputc(0x1A, f);
    fprintf(f, "%c%c%c%c%c", (int)((sizeof map + 3) & 127) | 128, (int)((sizeof map + 3) >> 7), 0x12,
            (int)(sizeof map & 127) | 128, (int)(sizeof map >> 7));
    fwrite(map, 1, sizeof map, f);
    fclose(f);
}

/* The search for a key ends even if the trie has a cycle. */
static void circle(void **state)
{
    char name[] = "/tmp/circle-XXXXXX";
    const int fd = mkstemp(name);
    (void)state;
    assert_true(fd >= 0);
    close(fd);
    write_circle(name);
    assert_linear(encode_repeated, name, "a", 1 << 15);
    unlink(name);
}

/* A text of line feeds, each an added token that takes the white space after it, does not take
 * quadratic time. */
static void taken_white_space(void **state)
{
    static const char tokenizer[] = "{\"added_tokens\":[{\"id\":2,\"content\":\"\\n\",\"single_word\":false,\"lstrip\":false,"
        "\"rstrip\":true,\"normalized\":false,\"special\":false}],\"normalizer\":null,\"pre_tokenizer\":null,"
        "\"post_processor\":null,\"decoder\":null,\"model\":{\"type\":\"BPE\",\"unk_token\":\"<unk>\","
        "\"vocab\":{\"<unk>\":0,\"x\":1},\"merges\":[]}}";
    char name[] = "/tmp/xformc-tokenizer-XXXXXX";
    const int fd = mkstemp(name);
    (void)state;
    assert_true(fd >= 0);
    assert_int_equal(write(fd, tokenizer, strlen(tokenizer)), strlen(tokenizer));
    close(fd);
    assert_linear(encode_repeated, name, "\n", 1 << 17);
    unlink(name);
}

/* If a text is cut, the id of the target language, which precedes those of the text, counts as one
 * of the ids that are kept, with and without the template. */
static void a_cut_text_keeps_its_target(void **state)
{
    enum { TARGET = 5, KEPT = 4 };
    const char words[] = "one two three four five";
    Case c;
    (void)state;
    open_case(&c, "tests/tokenizer/bert_uncased");
    rt_tokenizer_translate(&c.t, -1, TARGET);
    rt_tokenizer_cut(&c.t, KEPT);
    for (int plain = 0; plain < 2; plain++) {
        const RtTokenText x = { .text = words, .bytes = strlen(words), .plain = plain };
        int n = 0;
        assert_int_equal(encode(&c.t, &x, &(RtTokens){ ids, NULL, NULL, MOST, NULL }, &n), RT_OK);
        assert_int_equal(n, KEPT);
        assert_int_equal(ids[plain ? 0 : 1], TARGET);
    }
    arena_free(c.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(goldens), cmocka_unit_test(broken_utf8), cmocka_unit_test(damaged_blobs), cmocka_unit_test(too_little_room),
        cmocka_unit_test(words_are_cut), cmocka_unit_test(tables_have_room), cmocka_unit_test(many_added_tokens),
        cmocka_unit_test(long_texts),
        cmocka_unit_test(circle), cmocka_unit_test(taken_white_space), cmocka_unit_test(a_cut_text_keeps_its_target),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
