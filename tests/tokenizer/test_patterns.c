/* test_patterns.c: Patterns that split texts into words (those of this folder's tokenizers, and
 * others) give the same parts as with PCRE2, on the corpus of gpt2.gold and on random texts.
 * Skipped if built without PCRE2. */
#include <stdlib.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#ifdef HAVE_PCRE2
#include <dirent.h>
#include <jansson.h>
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include "file.h"
#include "rt_tokenizer_parts.h"
#include "tokenizer_build.h"

enum { MOST = 1 << 15, PATTERNS_MOST = 64, TEXTS_MOST = 4096, CHANCES = 3000 };

static const char folder[] = "tests/tokenizer";

/* ours: in Oniguruma's syntax; theirs: in PCRE2's, or NULL if the pattern is the same there. */
typedef struct Pattern { const char *ours, *theirs; } Pattern;

static const Pattern usual[] = {
    { "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+", NULL },
    { "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?+\\p{L}+|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]++[\\r\\n]*|\\s*[\\r\\n]|\\s+(?!\\S)|\\s+", NULL },
    { "\\p{N}", NULL }, { "\\p{N}{1,3}", NULL }, { "[0-9][0-9][0-9]", NULL }, { "[\\r\\n]", NULL }, { "\\s?\\p{L}+", NULL }, { "\\s?\\p{P}+", NULL },
    { " {2,}", NULL }, { "\\s", NULL }, { "\\s+\\z", NULL }, { "\\d+|\\D+?(?=\\d)", NULL },
    { "[\u4e00-\u9fa5\u3040-\u309f\u30a0-\u30ff]+", NULL },
    { " ?[^(\\s|[.,!?\u2026\u3002\uff0c\u3001\u0964\u06d4\u060c])]+", " ?[^(\\s|.,!?\u2026\u3002\uff0c\u3001\u0964\u06d4\u060c)]+" },
    { "[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|[^\\r\\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+| ?[\\p{P}\\p{S}]+[\\r\\n]*|\\s*[\\r\\n]+|"
      "\\s+(?!\\S)|\\s+", NULL },
    { "a*a*b|a+?(?=a)", NULL }, { "[ab]*?[a-y]*?x|[a-z]+[a-z]*[a-z]{2,}?y|[0-9]*[0-9]+\\.|[a-z]", NULL },
    { "\\s*\\s*\\n|[a-z]*+[a-z]|\\s*?\\s", NULL },
    { "(?:a|aa|[a-z])(?:a|ab|[a-z][a-z])(?:[a-z]*|x)(?:[a-z]|\\s)!|[a-z]*(?=[a-z]*')[a-z]*e|(?![a-z]*[a-z]*t)[a-z]+", NULL },
    { "a{2,4}?b|a{2,4}|(?:xy|x)z?", NULL }, { "(?i)the|HOUSE(?! by)|[^abc]", NULL }, { "\\p{Lu}\\p{Ll}+(?=\\s)|\\P{L}+", NULL },
};

static const struct { int32_t first, last; } scripts[] = {
    { 0x20, 0x7E }, { 0xA0, 0x17F }, { 0x370, 0x377 }, { 0x391, 0x3A1 }, { 0x3B1, 0x3FF }, { 0x400, 0x4FF }, { 0x5D0, 0x5EA }, { 0x620, 0x66F },
    { 0x905, 0x939 }, { 0x966, 0x96F }, { 0xE01, 0xE3A }, { 0x1100, 0x115F }, { 0x1E00, 0x1EFF }, { 0x2000, 0x200A }, { 0x2010, 0x2027 },
    { 0x2030, 0x205E }, { 0x2160, 0x2188 }, { 0x2190, 0x22FF }, { 0x2460, 0x24FF }, { 0x3000, 0x303F }, { 0x3041, 0x3096 }, { 0x4E00, 0x9FA5 },
    { 0xAC00, 0xD7A3 }, { 0xFB00, 0xFB06 }, { 0xFF01, 0xFF5E }, { 0x1D400, 0x1D454 }, { 0x1F300, 0x1F64F }, { 0x20000, 0x200FF }, { 0x300, 0x36F },
};
static const char *const words[] = {
    "the", "The", "'s", "'LL", "'\u017f", " don't", "  ", "   ", "\n", "\r\n", "\n\n", "\t", "\v", " \n ", "\u00a0", "\u3000", "123", "1234567",
    "3.14", "a", "aaa", "aaaab", "xyz", "x",
    "HOUSE by", "house", "e\u0301", "\u0130", "\u01c5", "\u00bd", "\u2167", "...", "!?",
    "\"(", "--", "\u3002", "\u4e2d\u6587",
    "\u06d4", "\u0964", "_", "\u212a", "\u1e9e", "\u0663\u0664", " ", " ",
};

typedef struct Text1 { const char *s; size_t n; } Text1;
static Text1 texts[TEXTS_MOST];
static int text_count;
static Pattern patterns[PATTERNS_MOST];
static int pattern_count;

static RtTokenSpan spans[MOST], expected[MOST];
static int ids[MOST];

static void add_text(Arena *a, const char *s, size_t n)
{
    assert_true(text_count < TEXTS_MOST && n < MOST / 2);
    texts[text_count++] = (Text1){ arena_copy(a, s, n), n };
}

/* Add every text of a .gold file. */
static void add_corpus(Arena *a, const char *path)
{
    size_t size;
    char *data = file_read(a, diag_new(a), (Loc){ 0 }, path, 1 << 24, &size);
    assert_non_null(data);
    for (char *line = data, *end; *line && (end = strchr(line, '\n')); line = end + 1) {
        *end = '\0';
        json_t *row = json_loads(line, JSON_ALLOW_NUL, NULL), *text = json_object_get(row, "text");
        if (text) add_text(a, json_string_value(text), json_string_length(text));
        json_decref(row);
    }
}

/* Add every value of a key "Regex", at any depth. */
static void add_patterns(Arena *a, const json_t *from)
{
    const char *key;
    json_t *value;
    size_t i;
    json_array_foreach(from, i, value) add_patterns(a, value);
    json_object_foreach((json_t *)(uintptr_t)from, key, value) {
        if (strcmp(key, "Regex") != 0 || !json_is_string(value)) add_patterns(a, value);
        else {
            assert_true(pattern_count < PATTERNS_MOST);
            patterns[pattern_count++] = (Pattern){ arena_text(a, json_string_value(value)), NULL };
        }
    }
}

static void gather(Arena *a)
{
    DIR *d = opendir(folder);
    assert_non_null(d);
    for (size_t i = 0; i < sizeof usual / sizeof *usual; i++) patterns[pattern_count++] = usual[i];
    for (struct dirent *e; (e = readdir(d));) {
        json_t *root = json_load_file(arena_format(a, "%s/%s/tokenizer.json", folder, e->d_name), 0, NULL);
        add_patterns(a, json_object_get(root, "pre_tokenizer"));
        add_patterns(a, json_object_get(root, "normalizer"));
        json_decref(root);
    }
    closedir(d);
    add_corpus(a, "tests/tokenizer/gpt2.gold");
}

static unsigned seed = 1;
static unsigned chance(unsigned n)
{
    seed = seed * 1664525 + 1013904223;
    return (unsigned)((uint64_t)(seed >> 1) * n >> 31);
}

static void add_chances(Arena *a)
{
    for (int i = 0; i < CHANCES; i++) {
        Text t = text_new(a);
        for (unsigned parts = chance(16); parts; parts--) {
            const unsigned kind = chance(10);
            char s[4];
            if (kind < 5) text_add(&t, words[chance(sizeof words / sizeof *words)]);
            else {
                const unsigned k = kind < 7 ? 0 : chance(sizeof scripts / sizeof *scripts);
                const int32_t c = scripts[k].first + (int32_t)chance((unsigned)(scripts[k].last - scripts[k].first + 1));
                text_add_bytes(&t, s, (size_t)rt_tok_put((unsigned char *)s, c));
            }
        }
        add_text(a, t.data, t.size);
    }
}

/* A word tokenizer without words: its tokens are the parts that the pattern makes. */
static RtTokenizer cutter(Arena *a, const char *pattern)
{
    Diag *d = diag_new(a);
    TokBuild *b = tok_build_new(a, d, "a pattern");
    TokenizerBlob blob;
    RtTokenizer t;
    uint32_t node = 0;
    assert_non_null(tok_piece(b, 0, tok_string("<unk>"), true));
    tok_index(b);
    b->head[TOK_HEAD_MODEL] = TOK_WORDS;
    b->head[TOK_HEAD_UNKNOWN] = 0;
    const bool good = tok_regex(b, tok_string(pattern), &node);
    if (good) tok_split(b, (RtTokOp){ .kind = TOK_SPLIT, .a = node, .b = TOK_ISOLATED });
    if (!good || !tok_finish(b, &blob)) {
        diag_print(d, stderr, false);
        fail_msg("%s: not read", pattern);
    }
    assert_int_equal(rt_tokenizer_open(&t, blob.data, blob.size), RT_OK);
    return t;
}

static int ours(const RtTokenizer *t, Text1 text)
{
    const RtTokenText x = { .text = text.s, .bytes = text.n, .plain = 1 };
    const size_t bytes = rt_tokenizer_scratch_bytes(t, text.n, true);
    void *scratch = malloc(bytes);
    int n = 0;
    assert_non_null(scratch);
    assert_int_equal(rt_tokenizer_encode(t, &x, &(RtTokens){ ids, NULL, spans, MOST, NULL }, &n, scratch, bytes), RT_OK);
    free(scratch);
    return n;
}

static int theirs(const pcre2_code *code, pcre2_match_data *found, Text1 text)
{
    int n = 0;
    size_t done = 0, at = 0;
    while (at < text.n) {
        const int status = pcre2_match(code, (PCRE2_SPTR)text.s, text.n, at, 0, found, NULL);
        if (status == PCRE2_ERROR_NOMATCH) break;
        if (status < 0) fail_msg("PCRE2: error %d", status);
        const PCRE2_SIZE *ends = pcre2_get_ovector_pointer(found);
        if (ends[1] == ends[0]) {                       /* empty: skip one character */
            for (at = ends[0] + 1; at < text.n && ((unsigned char)text.s[at] & 0xC0) == 0x80;) at++;
            continue;
        }
        if (done < ends[0]) expected[n++] = (RtTokenSpan){ (uint32_t)done, (uint32_t)ends[0] };
        expected[n++] = (RtTokenSpan){ (uint32_t)ends[0], (uint32_t)ends[1] };
        at = done = ends[1];
    }
    if (done < text.n) expected[n++] = (RtTokenSpan){ (uint32_t)done, (uint32_t)text.n };
    return n;
}

static void check_pattern(Arena *a, const Pattern *p)
{
    int error;
    PCRE2_SIZE at;
    const char *pattern = p->theirs ? p->theirs : p->ours;
    pcre2_code *code = pcre2_compile((PCRE2_SPTR)pattern, PCRE2_ZERO_TERMINATED, PCRE2_UTF | PCRE2_UCP, &error, &at, NULL);
    if (!code) fail_msg("PCRE2 rejects %s at %zu", pattern, (size_t)at);
    pcre2_match_data *found = pcre2_match_data_create_from_pattern(code, NULL);
    const RtTokenizer t = cutter(a, p->ours);
    for (int i = 0; i < text_count; i++) {
        const int n = ours(&t, texts[i]), m = theirs(code, found, texts[i]);
        for (int k = 0; k < n || k < m; k++)
            if (k >= n || k >= m || spans[k].begin != expected[k].begin || spans[k].end != expected[k].end)
                fail_msg("%s: part %d of \"%.*s\" is %u-%u of %d, by PCRE2 %u-%u of %d", p->ours, k, (int)texts[i].n, texts[i].s, spans[k].begin,
                         spans[k].end, n, expected[k].begin, expected[k].end, m);
    }
    pcre2_match_data_free(found);
    pcre2_code_free(code);
}

static void as_pcre2(void **state)
{
    Arena *a = arena_new();
    (void)state;
    gather(a);
    add_chances(a);
    for (int i = 0; i < pattern_count; i++) {
        Arena *own = arena_new();
        check_pattern(own, &patterns[i]);
        arena_free(own);
    }
    print_message("# %d patterns, %d texts\n", pattern_count, text_count);
    assert_true(pattern_count >= 22 && text_count >= CHANCES + 90);
    arena_free(a);
}
#else
static void as_pcre2(void **state)
{
    (void)state;
    print_message("# PCRE2 is not installed: run 'make deps'\n");
    skip();
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(as_pcre2) };
    return cmocka_run_group_tests_name("patterns", tests, NULL, NULL);
}
