/* test_answer_text.c: The text of a growing answer. Stop strings are those that a search of the
 * whole text finds, final text stays as it is, and the time is proportional to the length. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "rt_answer_text.h"

static unsigned random_below(unsigned *seed, unsigned n)
{
    *seed = *seed * 1664525 + 1013904223;
    return (*seed >> 16) % n;
}

/* ---- stops ----------------------------------------------------------------------------------- */

enum { STOPS = 3, LONGEST_STOP = 6, TEXT = 200 };

static int ends_with(const char *s, size_t n, const char *end, size_t bytes) { return n >= bytes && !memcmp(s + n - bytes, end, bytes); }

/* Fill with only two letters, so that prefixes recur within a stop and across stops. */
static void fill(char *s, size_t n, unsigned *seed)
{
    for (size_t i = 0; i < n; i++) s[i] = (char)('a' + random_below(seed, 2));
    s[n] = '\0';
}

static void stops_are_those_of_a_search(void **state)
{
    unsigned seed = 1;
    int found = 0;
    (void)state;
    for (int trial = 0; trial < 300; trial++) {
        char text[TEXT + 1], stop[STOPS][LONGEST_STOP + 1];
        const char *texts[STOPS];
        const int n = 1 + (int)random_below(&seed, STOPS);
        for (int i = 0; i < n; i++) fill(stop[i], 1 + random_below(&seed, LONGEST_STOP), &seed), texts[i] = stop[i];
        fill(text, TEXT, &seed);
        void *scratch = malloc(rt_stops_scratch_bytes(texts, n));
        RtStops s = rt_stops_new(texts, n, scratch);
        rt_stops_begin(&s);
        for (size_t seen = 1; seen <= TEXT; seen++) {
            size_t longest = 0, held = 0;
            for (int i = 0; i < n; i++)
                for (size_t bytes = 1; bytes <= strlen(stop[i]); bytes++) {
                    if (!ends_with(text, seen, stop[i], bytes)) continue;
                    if (bytes > held) held = bytes;
                    if (!stop[i][bytes] && bytes > longest) longest = bytes;
                }
            assert_int_equal(rt_stops_see(&s, text[seen - 1]), longest);
            assert_int_equal(rt_stops_held(&s), held);
            found += longest > 0;
        }
        free(scratch);
    }
    assert_true(found > 1000);
}

/* ---- texts ----------------------------------------------------------------------------------- */

/* Each id is a word; `calls` counts the words decoded. */
static const char *const words[] = { "a", "ab", "b", "\xc3\xa9", "cab", "", " of ", "abacab" };
enum { WORDS = sizeof words / sizeof *words };
typedef struct Voice { int calls; } Voice;

static rt_status say_words(void *self, const int *ids, int from, int n, int last, char *out, size_t cap, size_t *used)
{
    Voice *voice = self;
    for (int i = from; i < n; i++) {
        const size_t bytes = strlen(words[ids[i]]);
        voice->calls++;
        if (*used + bytes + 2 > cap) return RT_NO_ROOM;
        memcpy(out + *used, words[ids[i]], bytes + 1);
        *used += bytes;
    }
    if (last) memcpy(out + (*used)++, ".", 2);
    return RT_OK;
}

/* The length of the text before the first stop that completes after `from`; without one, of the
 * whole text. */
static size_t cut_of(const char *text, size_t from, const char *const *stops, int n)
{
    for (size_t end = from + 1; text[end - 1]; end++) {
        size_t longest = 0;
        for (int i = 0; i < n; i++)
            if (ends_with(text + from, end - from, stops[i], strlen(stops[i])) && strlen(stops[i]) > longest) longest = strlen(stops[i]);
        if (longest) return end - longest;
    }
    return strlen(text);
}

static void answers_are_cut_and_never_say_too_much(void **state)
{
    static const char *const stops[] = { "abac", "bb", "\xc3\xa9 of", ".." };
    unsigned seed = 7;
    int stopped = 0, held = 0;
    Voice voice = { 0 };
    RtAnswerText t;
    (void)state;
    assert_int_equal(rt_answer_text_open(&t, say_words, &voice, stops, 4), RT_OK);
    for (int trial = 0; trial < 500; trial++) {
        char whole[4096] = "", said[4096];
        int prompt[4] = { 0 };
        const int n = (int)random_below(&seed, 4);
        size_t shown = 0, begin = 0;
        for (int i = 0; i < n; i++) strcat(whole, words[prompt[i] = (int)random_below(&seed, WORDS)]);
        assert_int_equal(rt_answer_text_begin(&t, prompt, n), RT_OK);
        assert_string_equal(t.text, whole);
        begin = strlen(whole);
        assert_int_equal(t.begin, n ? begin + 1 : 0);       /* a finished prompt ends in a dot */
        for (int i = 0; i < 12; i++) {
            const int id = (int)random_below(&seed, WORDS);
            strcat(whole, words[id]);
            assert_int_equal(rt_answer_text_add(&t, id), RT_OK);
            assert_true(t.certain >= shown && t.certain <= t.bytes);
            memcpy(said + shown, t.text + shown, t.certain - shown);
            shown = t.certain;
            held += t.certain < t.bytes;
        }
        assert_int_equal(rt_answer_text_end(&t), RT_OK);
        if (n && !whole[begin]) begin++;                    /* that dot stays if nothing follows */
        assert_int_equal(t.begin, begin);
        strcat(whole, ".");
        memcpy(said + shown, t.text + shown, t.certain - shown);
        said[t.certain] = '\0';
        whole[strlen(whole) > begin ? cut_of(whole, begin, stops, 4) : strlen(whole)] = '\0';
        assert_string_equal(t.text, whole);
        assert_string_equal(said, whole);                   /* final text stayed final */
        assert_int_equal(t.bytes, strlen(whole));
        stopped += t.stopped;
    }
    assert_true(stopped > 100 && stopped < 490 && held > 100);
    rt_answer_text_close(&t);
}

/* Ids are bytes. A run of non-ASCII bytes is decoded when it ends: repeated "\xc3\xa9" as itself,
 * else each byte as U+FFFD. */
static rt_status say_bytes(void *self, const int *ids, int from, int n, int last, char *out, size_t cap, size_t *used)
{
    int end = n;
    (void)self;
    for (*used = 0; end && !last && ids[end - 1] >= 0x80;) end--;
    for (int i = 0, run = 0; i < end; i += run) {
        int good = 1;
        for (run = 0; i + run < end && ids[i + run] >= 0x80; run++) good &= ids[i + run] == (run % 2 ? 0xa9 : 0xc3);
        good &= run % 2 == 0;
        if (*used + 3 * (size_t)run + 2 > cap) return RT_NO_ROOM;
        for (int k = 0; k < run && good; k++) out[(*used)++] = (char)ids[i + k];
        for (int k = 0; k < run && !good; k++, *used += 3) memcpy(out + *used, "\xef\xbf\xbd", 3);
        if (!run) out[(*used)++] = (char)ids[i], run = 1;
    }
    out[*used] = '\0';
    return (void)from, RT_OK;
}

#define FFFD "\xef\xbf\xbd"

/* Stops are searched for only in the answer, even if its ids change the end of the prompt's
 * text. */
static void a_prompt_may_end_inside_a_character(void **state)
{
    static const struct { const char *prompt, *answer, *stop, *text; int stopped; } rows[] = {
        { "\xc3\xa9", "ab", "a", "\xc3\xa9", 1 },           { "\xc3\xa9", "ab", "\xc3\xa9", "\xc3\xa9" "ab", 0 },
        { "\xc3\xa9", "\xc3", FFFD, FFFD FFFD, 1 },                { "\xc3\xa9", "\xc3x", "x", FFFD FFFD FFFD, 1 },
        { "-\xc3\xa9", "\xc3x", FFFD, "-" FFFD FFFD, 1 },             { "\xc3", "\xa9x", "\xc3\xa9", "", 1 },
        { "\xc3", "x", FFFD, FFFD "x", 0 },                  { "\xc3", "\xa9", "y", "\xc3\xa9", 0 },
        { "\xc3\xa9", "\xc3\xa9" "a", "\xc3\xa9", "\xc3\xa9", 1 }, { "\xc3\xa9", "", "\xc3\xa9", "\xc3\xa9", 0 },
        { "\xc3\xa9" "b", "\xc3\xa9", "b", "\xc3\xa9" "b\xc3\xa9", 0 },
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        RtAnswerText t;
        int prompt[8], n = 0;
        for (const char *c = rows[i].prompt; *c; c++) prompt[n++] = (unsigned char)*c;
        assert_int_equal(rt_answer_text_open(&t, say_bytes, NULL, &rows[i].stop, 1), RT_OK);
        for (int again = 0; again < 2; again++) {
            assert_int_equal(rt_answer_text_begin(&t, prompt, n), RT_OK);
            for (const char *c = rows[i].answer; *c; c++) assert_int_equal(rt_answer_text_add(&t, (unsigned char)*c), RT_OK);
            assert_int_equal(rt_answer_text_end(&t), RT_OK);
            assert_string_equal(t.text, rows[i].text);
            assert_int_equal(t.stopped, rows[i].stopped);
        }
        rt_answer_text_close(&t);
    }
}

/* Each id is decoded once, and again each time the buffer doubles. */
static void long_answers_take_time_by_their_length(void **state)
{
    enum { MOST = 20000 };
    static const char *const stops[] = { "zz" };
    Voice voice = { 0 };
    RtAnswerText t;
    (void)state;
    assert_int_equal(rt_answer_text_open(&t, say_words, &voice, stops, 1), RT_OK);
    assert_int_equal(rt_answer_text_begin(&t, NULL, 0), RT_OK);
    for (int i = 0; i < MOST; i++) assert_int_equal(rt_answer_text_add(&t, 7), RT_OK);
    assert_int_equal(rt_answer_text_end(&t), RT_OK);
    assert_int_equal(t.bytes, 6 * MOST + 1);
    assert_in_range(voice.calls, MOST, 3 * MOST);
    rt_answer_text_close(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stops_are_those_of_a_search),
        cmocka_unit_test(answers_are_cut_and_never_say_too_much),
        cmocka_unit_test(a_prompt_may_end_inside_a_character),
        cmocka_unit_test(long_answers_take_time_by_their_length),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
