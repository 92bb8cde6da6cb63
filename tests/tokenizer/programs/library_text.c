/* library_text.c: answer texts with talk_generate, from a library that has a tokenizer. Only
 * talk_bind checks the tokenizer's tables. */
#include <stdio.h>
#include <string.h>

#include "rt_tokenizer_format.h"
#include "talk.h"

extern const unsigned char talk_weights[];
static talk_state state;
static XF_ALIGN(64) unsigned char copy[TALK_WEIGHTS_BYTES];

/* Damage a cell of the vocabulary's trie that no text reaches, with a number that no valid trie
 * contains. False if there is no such cell. */
static int damage(const talk *model)
{
    size_t bytes;
    const unsigned char *blob = talk_tokenizer(model, &bytes);
    uint32_t section[2], cell[2];
    memcpy(section, blob + 16 + 8 * TOK_TRIE, sizeof section);
    for (uint32_t i = 8; i + 8 <= section[1]; i += 8) {
        unsigned char *p = copy + (blob - copy) + section[0] + i;
        memcpy(cell, p, sizeof cell);
        if (cell[1]) continue;
        memset(p + 4, 0xFF, 4);
        return 1;
    }
    return 0;
}

static bool print(void *user, const char *text, size_t n)
{
    (void)user;
    return fwrite(text, 1, n, stdout) == n && text[n] == '\0';
}

/* If a text has too many ids, *n receives their number, or 0 if the text is far too long. The ids
 * of a text decode to a text that contains it. As a target, the text has no <s>. */
static int lengths_are_told(const talk *model)
{
    static char text[1 << 20], out[64];
    static int ids[16], plain[16];
    const int marks = 1;                                     /* <s> */
    int n = -1, m = -1;
    size_t bytes = 99;
    if (talk_tokenize(model, &state, "ab ab ab", ids, 1, &n, NULL) != RT_TOO_LONG || n < 2) return 0;
    const int whole = n;
    if (talk_tokenize(model, &state, "ab ab ab", ids, 16, &n, NULL) != RT_OK || n != whole) return 0;
    if (talk_detokenize(model, ids, n, out, sizeof out, &bytes) != RT_OK || bytes != strlen(out)) return 0;
    if (talk_tokenize_target(model, &state, "ab ab ab", plain, 16, &m, NULL) != RT_OK || m != n - marks) return 0;
    if (memcmp(plain, ids + 1, (size_t)m * sizeof *ids) != 0) return 0;
    if (!strstr(out, "ab ab ab") || talk_detokenize(model, ids, n, out, 3, NULL) != RT_NO_ROOM) return 0;
    memset(text, 'a', sizeof text - 1);
    return talk_tokenize(model, &state, text, ids, 16, &n, NULL) == RT_TOO_LONG && n == 0;
}

/* Each piece consists of whole UTF-8 characters, even if ids of the prompt or the answer stand for
 * single bytes of a character. */
static bool is_whole(void *user, const char *text, size_t n)
{
    const unsigned char *s = (const unsigned char *)text;
    int *good = user;
    for (size_t i = 0; i < n;) {
        const size_t bytes = s[i] < 0x80 ? 1 : s[i] < 0xC2 ? 0 : s[i] < 0xE0 ? 2 : s[i] < 0xF0 ? 3 : 4;
        for (size_t k = 1; k < bytes; k++) *good &= i + k < n && (s[i + k] & 0xC0) == 0x80;
        *good &= bytes > 0;
        i += bytes ? bytes : 1;
    }
    return *good;
}

static int pieces_are_whole(const talk *model)
{
    static const char *const prompts[] = { "1", "\xc3\xa9", "\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e", "x", "Hi!", "abc1", "a~" };
    int good = 1;
    for (size_t i = 0; i < sizeof prompts / sizeof *prompts && good; i++)
        for (uint64_t seed = 1; seed <= 60 && good; seed++) {
            const rt_generate_options o = { .temperature = 4, .top_k = 400, .max_new_tokens = 4, .seed = seed };
            if (talk_generate(model, &state, prompts[i], &o, is_whole, &good) != RT_OK) return 0;
        }
    return good;
}

int main(int argc, char **argv)
{
    talk model = { 0 };
    memcpy(copy, talk_weights, sizeof copy);
    if (talk_bind(&model, copy, sizeof copy) != RT_OK) return 1;
    for (int i = 1; i < argc; i++) {
        if (talk_generate(&model, &state, argv[i], NULL, print, NULL) != RT_OK) return 4;
        putchar('\n');
    }
    if (!lengths_are_told(&model)) return 3;
    if (!pieces_are_whole(&model)) return 8;
    if (!damage(&model)) return 5;
    if (argc > 1 && talk_generate(&model, &state, argv[1], NULL, NULL, NULL) != RT_OK) return 6; /* not checked again */
    return talk_bind(&model, copy, sizeof copy) == RT_BAD_WEIGHTS ? 0 : 7;
}
