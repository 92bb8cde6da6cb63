/* test_generate_text.c: Text generation: the pieces together are the text of all ids, with and
 * without stops. Options in and out of range, every amount of memory. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "rt_generate_text.h"

enum { END, PIECES = 8, LONGEST = 24, SOURCE = 9, START = 7, SLOTS = 2, MOST_WORK = 1 << 16 };

/* A '_' is held back until the next id is known, so the '_' at the end of a prompt may be output
 * with the answer. At the end of all ids it becomes a '.'. */
static const char *const piece[PIECES] = { "", "a", "b", "ab_", "_", "\xe2\x82\xac", "ba", "<s>" };

/* A model that answers with the ids of `script`, the first after the row at `position`, and END. */
typedef struct Fake {
    int script[LONGEST], length, position, calls, encoded;
    float logits[SLOTS][PIECES];
    rt_status says;                 /* status of `detokenize` */
    int held;
} Fake;

static void point(Fake *f, int slot, int position)
{
    const int at = position - f->position;
    for (int i = 0; i < PIECES; i++) f->logits[slot][i] = 0;
    f->logits[slot][at >= 0 && at < f->length ? f->script[at] : END] = 8;
}

static rt_status decode(void *self, const rt_token *rows, int n)
{
    Fake *f = self;
    f->calls++;
    for (int i = 0; i < n; i++) point(f, i % SLOTS, rows[i].pos);
    return RT_OK;
}

static const float *logits(void *self) { return ((Fake *)self)->logits[0]; }
static rt_status copy(void *self, int from, int to) { return (void)self, (void)from, (void)to, RT_OK; }
static rt_status clear(void *self, int slot) { return (void)self, (void)slot, RT_OK; }

/* Each digit is an id. */
static rt_status tokenize(void *self, const RtTextInput *in, int *ids, int room, int *n)
{
    (void)self;
    for (*n = 0; (size_t)*n < in->bytes; ++*n)
        if (*n < room) ids[*n] = in->text[*n] - '0';
    return *n > room ? RT_TOO_LONG : RT_OK;
}

static rt_status encode(void *self, int slot, const int *ids, int n)
{
    Fake *f = self;
    assert_int_equal(slot, 0);
    f->encoded = ids[n - 1];
    return RT_OK;
}

static rt_status add(char *out, size_t cap, size_t *used, const char *text, size_t n)
{
    if (cap - *used <= n) return RT_NO_ROOM;
    memcpy(out + *used, text, n);
    out[*used += n] = '\0';
    return RT_OK;
}

static rt_status detokenize(void *self, const int *ids, int from, int n, int last, char *out, size_t cap,
                            size_t *used)
{
    Fake *f = self;
    rt_status status = f->says;
    if (!from) f->held = 0;
    for (int i = from; i < n && status == RT_OK; i++) {
        const char *text = piece[ids[i]];
        const size_t bytes = strlen(text), holds = bytes && text[bytes - 1] == '_';
        if (f->held) status = add(out, cap, used, "_", 1);
        if (status == RT_OK) status = add(out, cap, used, text, bytes - holds);
        f->held = (int)holds;
    }
    if (last && f->held && status == RT_OK) status = add(out, cap, used, ".", 1);
    return status;
}

static const int ends[] = { END };
static const RtGeneration settings = { .ends = ends, .end_count = 1, .length_penalty = 1, .seed = 1 };

static RtTextModel model_of(Fake *f, int source)
{
    static int ids[LONGEST];
    static XF_ALIGN(16) unsigned char work[MOST_WORK];
    f->position = source ? 0 : -1;                     /* the caller sets where the answer begins */
    return (RtTextModel){
        .decoder = { .self = f, .slots = SLOTS, .rows_most = 4, .vocab = PIECES, .stride = PIECES,
                     .decode = decode, .logits = logits, .fork = copy, .clear = clear },
        .settings = &settings, .tokenize = tokenize, .encode = source ? encode : NULL, .detokenize = detokenize,
        .joined = !source, .start = START, .source = source ? SOURCE : 0, .longest = LONGEST, .token = 8, .ids = ids,
        .work = work, .bytes = rt_generate_text_bytes(SLOTS, LONGEST, PIECES, 8),
    };
}

/* The text received. most: stop after this many pieces; 0: never. */
typedef struct Said { char text[256]; size_t bytes; int pieces, most; } Said;

static bool note(void *user, const char *text, size_t n)
{
    Said *s = user;
    assert_true(n > 0 && n < sizeof s->text - s->bytes);
    assert_int_equal(text[n], '\0');
    assert_int_equal(strlen(text), n);
    assert_true(((unsigned char)text[0] & 0xC0) != 0x80);    /* whole characters */
    memcpy(s->text + s->bytes, text, n + 1);
    s->bytes += n;
    return ++s->pieces != s->most;
}

static rt_status generate(RtTextModel *m, const char *text, const rt_generate_options *o, Said *s)
{
    const int most = s->most;
    *s = (Said){ .most = most };
    Fake *f = m->decoder.self;
    f->position = m->encode ? 0 : (int)strlen(text) - 1;
    return rt_generate_text(m, text, o, note, s);
}

static unsigned below(unsigned *seed, unsigned n)
{
    *seed = *seed * 1664525 + 1013904223;
    return (*seed >> 16) % n;
}

static void pieces_are_the_text_of_all_ids(void **state)
{
    static const char *const stop[] = { "ab", "ba", "\xe2\x82\xac", "a_", "bb_a", "\x82" };
    unsigned seed = 7;
    int stopped = 0, pieces = 0;
    (void)state;
    for (int trial = 0; trial < 3000; trial++) {
        Fake f = { 0 }, reference = { 0 };
        Said said = { .most = 0 };
        RtTextModel m = model_of(&f, trial % 2);
        const char *stops[2] = { stop[below(&seed, 6)], stop[below(&seed, 6)] };
        const rt_generate_options o = { .stops = stops, .stop_count = (int)below(&seed, 3) };
        char prompt[6] = "";
        int ids[5];
        const int n = 1 + (int)below(&seed, 5);
        for (int i = 0; i < n; i++) prompt[i] = (char)('0' + (ids[i] = 1 + (int)below(&seed, 6)));
        f.length = (int)below(&seed, LONGEST - 6);
        for (int i = 0; i < f.length; i++) f.script[i] = 1 + (int)below(&seed, 6);
        assert_int_equal(generate(&m, prompt, &o, &said), RT_OK);

        RtAnswerText t;
        assert_int_equal(rt_answer_text_open(&t, detokenize, &reference, stops, o.stop_count), RT_OK);
        assert_int_equal(rt_answer_text_begin(&t, ids, m.encode ? 0 : n), RT_OK);
        for (int i = 0; i < f.length; i++) assert_int_equal(rt_answer_text_add(&t, f.script[i]), RT_OK);
        assert_int_equal(rt_answer_text_end(&t), RT_OK);
        assert_string_equal(said.text, t.text + (t.begin < t.bytes ? t.begin : t.bytes));
        if (m.encode) assert_int_equal(f.encoded, ids[n - 1]);
        stopped += t.stopped, pieces += said.pieces;
        rt_answer_text_close(&t);
    }
    assert_true(stopped > 500 && pieces > 9000);
}

static void nothing_is_computed_behind_an_end(void **state)
{
    Fake f = { .script = { 1, 2, 1, 1, 1, 1, 1, 1 }, .length = 8 };
    Said said = { .most = 2 };
    RtTextModel m = model_of(&f, 1);
    (void)state;
    assert_int_equal(generate(&m, "1", NULL, &said), RT_OK);
    assert_string_equal(said.text, "ab");
    assert_int_equal(f.calls, 2);
    const char *const stop[] = { "ba" };
    f.calls = said.most = 0;
    assert_int_equal(generate(&m, "1", &(rt_generate_options){ .stops = stop, .stop_count = 1 }, &said), RT_OK);
    assert_string_equal(said.text, "a");
    assert_int_equal(f.calls, 3);
    f.calls = 0;
    assert_int_equal(generate(&m, "1", &(rt_generate_options){ .max_new_tokens = 4 }, &said), RT_OK);
    assert_string_equal(said.text, "abaa");
    assert_int_equal(f.calls, 4);
    assert_int_equal(rt_generate_text(&m, "1", NULL, NULL, NULL), RT_OK);        /* no callback */
}

static void stops_of_the_model_count_too(void **state)
{
    static const char *const own[] = { "ba" }, *const more[] = { "aa" };
    const RtGeneration stopped = { .ends = ends, .end_count = 1, .length_penalty = 1, .stops = own, .stop_count = 1 };
    Fake f = { .script = { 1, 1, 2, 1 }, .length = 4 };
    Said said = { 0 };
    RtTextModel m = model_of(&f, 1);
    (void)state;
    m.settings = &stopped;
    assert_int_equal(generate(&m, "1", NULL, &said), RT_OK);
    assert_string_equal(said.text, "aa");
    assert_int_equal(generate(&m, "1", &(rt_generate_options){ .stops = more, .stop_count = 1 }, &said), RT_OK);
    assert_string_equal(said.text, "");
    assert_int_equal(generate(&m, "1", &(rt_generate_options){ .settings = &settings }, &said), RT_OK);
    assert_string_equal(said.text, "aaba");
}

static void chance_is_asked_for(void **state)
{
    RtGeneration drawn = settings;
    Fake f = { .script = { 1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2 }, .length = 18 };
    Said greedy = { 0 }, said = { 0 }, again = { 0 };
    RtTextModel m = model_of(&f, 1);
    (void)state;
    drawn.sampling.temperature = 20;
    assert_int_equal(generate(&m, "1", NULL, &greedy), RT_OK);
    assert_string_equal(greedy.text, "ababababababababab");
    assert_int_equal(generate(&m, "1", &(rt_generate_options){ .temperature = 20, .seed = 5 }, &said), RT_OK);
    assert_int_equal(generate(&m, "1", &(rt_generate_options){ .temperature = 20, .seed = 5 }, &again), RT_OK);
    assert_string_equal(said.text, again.text);
    assert_string_not_equal(said.text, greedy.text);
    assert_int_equal(generate(&m, "1", &(rt_generate_options){ .temperature = 20, .seed = 6 }, &again), RT_OK);
    assert_string_not_equal(said.text, again.text);
    assert_int_equal(generate(&m, "1", &(rt_generate_options){ .temperature = 20, .top_k = 1 }, &said), RT_OK);
    assert_string_equal(said.text, greedy.text);
    assert_int_equal(generate(&m, "1", &(rt_generate_options){ .top_p = 1e-6f }, &said), RT_OK);
    assert_string_equal(said.text, greedy.text);
    m.settings = &drawn;
    assert_int_equal(generate(&m, "1", NULL, &said), RT_OK);
    assert_string_not_equal(said.text, greedy.text);
    assert_int_equal(generate(&m, "1", &(rt_generate_options){ .greedy = 1 }, &said), RT_OK);
    assert_string_equal(said.text, greedy.text);
}

static void a_search_answers_too(void **state)
{
    RtGeneration search = settings;
    Fake f = { .script = { 1, 2, 5, 4 }, .length = 4 };
    Said said = { 0 };
    RtTextModel m = model_of(&f, 1);
    (void)state;
    search.beams = SLOTS;
    m.settings = &search;
    assert_int_equal(generate(&m, "1", NULL, &said), RT_OK);
    assert_string_equal(said.text, "ab\xe2\x82\xac.");
    search.beams = SLOTS + 1;
    assert_int_equal(generate(&m, "1", NULL, &said), RT_BAD_OPTION);
    assert_int_equal(generate(&m, "1", &(rt_generate_options){ .greedy = 1 }, &said), RT_OK);
    assert_string_equal(said.text, "ab\xe2\x82\xac.");
}

static void what_does_not_fit_is_refused(void **state)
{
    static const char *const none[] = { NULL }, *const empty[] = { "" };
    const RtGeneration torn = { .beams = 2, .sampling = { .temperature = 1 } };
    const RtGeneration empty_stop = { .stops = empty, .stop_count = 1 }, few_stops = { .stop_count = -1 }, short_ = { .max_length = INT32_MIN },
                       cold = { .sampling.temperature = NAN }, wide = { .sampling.top_p = 5 };
    const rt_generate_options wrong[] = {
        { .max_new_tokens = -1 }, { .temperature = -1 }, { .temperature = NAN }, { .temperature = 101 }, { .top_k = -1 },
        { .top_p = -0.1f }, { .top_p = 1.1f }, { .top_p = NAN }, { .stop_count = -1 }, { .stop_count = 1 },
        { .stop_count = 1, .stops = none }, { .stop_count = 1, .stops = empty }, { .greedy = 1, .temperature = 1 },
        { .greedy = 1, .top_k = 4 }, { .greedy = 1, .top_p = 0.5f }, { .settings = &torn },
        { .settings = &empty_stop }, { .settings = &few_stops }, { .settings = &short_ }, { .settings = &cold }, { .settings = &wide },
        { .chat = 1 }, { .system = "x" }, { .date = "x" }, { .plain_text = 1 },
    };
    Fake f = { .script = { 1 }, .length = 1 };
    Said said = { 0 };
    RtTextModel m = model_of(&f, 1);
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_int_equal(generate(&m, "1", &wrong[i], &said), RT_BAD_OPTION);
    assert_int_equal(generate(&m, "", NULL, &said), RT_ORDER);
    assert_int_equal(generate(&m, "1111111111", NULL, &said), RT_TOO_LONG);
    assert_int_equal(f.calls + f.encoded + said.pieces, 0);
    f.says = RT_BAD_ID;
    assert_int_equal(generate(&m, "1", NULL, &said), RT_BAD_ID);
    RtTextModel alone = model_of(&f, 0);
    char text[LONGEST + 1] = "";
    f.says = RT_OK;
    memset(text, '1', LONGEST - 1);
    assert_int_equal(generate(&alone, text, NULL, &said), RT_OK);
    assert_string_equal(said.text, "a");
    text[LONGEST - 1] = '1';
    assert_int_equal(generate(&alone, text, NULL, &said), RT_TOO_LONG);
    for (int i = 0; i < LONGEST; i++) assert_int_equal(alone.ids[i], 0);
    for (size_t i = 0; i < alone.bytes; i++) assert_int_equal(((unsigned char *)alone.work)[i], 0);
}

/* With any amount of memory rt_generate_text answers or returns RT_NO_ROOM. Nothing past the end is
 * written. */
static void memory_is_enough_or_refused(void **state)
{
    static const char *const stop[] = { "none such", "nor this" };
    const rt_generate_options o = { .stops = stop, .stop_count = 2, .temperature = 0.01f };
    Fake f = { .script = { 1, 5, 3, 2 }, .length = 4 };
    Said said = { 0 };
    RtTextModel m = model_of(&f, 0);
    const size_t enough = m.bytes;
    unsigned char *work = m.work;
    int refused = 0;
    (void)state;
    for (m.bytes = 0; m.bytes <= enough; m.bytes++) {
        memset(work + m.bytes, 0xA5, 64);
        const rt_status status = generate(&m, "12", &o, &said);
        for (int i = 0; i < 64; i++) assert_int_equal(work[m.bytes + (size_t)i], 0xA5);
        for (size_t i = 0; i < m.bytes && status == RT_OK; i++) assert_int_equal(work[i], 0);
        if (status == RT_OK) assert_string_equal(said.text, "a\xe2\x82\xac" "ab_b");
        else assert_int_equal(status, RT_NO_ROOM);
        refused += status != RT_OK;
    }
    assert_int_equal(m.bytes, enough + 1);
    assert_true(refused > 100 && refused < (int)enough);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces_are_the_text_of_all_ids), cmocka_unit_test(nothing_is_computed_behind_an_end),
        cmocka_unit_test(stops_of_the_model_count_too), cmocka_unit_test(chance_is_asked_for),
        cmocka_unit_test(a_search_answers_too), cmocka_unit_test(what_does_not_fit_is_refused),
        cmocka_unit_test(memory_is_enough_or_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
