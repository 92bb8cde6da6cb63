/* test_tune.c: tune_choose finds the winner from given times. A choices file is written and read
 * back. Times are written in words. Linears divided in every way give the same bits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "file.h"
#include "jit.h"
#include "tune.h"
#include "tune_file.h"

#define COUNT(x) (sizeof (x) / sizeof *(x))

/* ---- the winner ------------------------------------------------------------------------------ */

enum { ROUNDS = 7, WAYS = 3 };
typedef struct Contest { const char *what; int winner, ways, rounds; double ns[WAYS][ROUNDS]; } Contest;

static const Contest contests[] = {
    { "a tenth faster, evenly", 1, 2, 7, { { 100, 101, 99, 100, 100, 102, 98 }, { 90, 91, 89, 90, 90, 92, 88 } } },
    { "slower", 0, 2, 7, { { 100, 100, 100, 100, 100, 100, 100 }, { 110, 110, 110, 110, 110, 110, 110 } } },
    { "faster by less than a fiftieth", 0, 2, 7, { { 100, 100, 100, 100, 100, 100, 100 }, { 98.5, 98.5, 98.5, 98.5, 98.5, 98.5, 98.5 } } },
    { "faster by less than the spread", 0, 2, 7, { { 100, 100, 100, 100, 100, 100, 100 }, { 70, 80, 85, 90, 99, 102, 120 } } },
    { "a machine that gets slower does so for both", 1, 2, 7, { { 100, 120, 140, 160, 180, 200, 220 }, { 90, 108, 126, 144, 162, 180, 198 } } },
    { "one round in which another program ran", 1, 2, 7, { { 100, 100, 100, 100, 100, 100, 100 }, { 90, 90, 90, 900, 90, 90, 90 } } },
    { "the faster of two", 2, 3, 7, { { 100, 100, 100, 100, 100, 100, 100 }, { 90, 90, 90, 90, 90, 90, 90 }, { 85, 85, 85, 85, 85, 85, 85 } } },
    { "the faster of two, which comes first", 1, 3, 7,
      { { 100, 100, 100, 100, 100, 100, 100 }, { 85, 85, 85, 85, 85, 85, 85 }, { 90, 90, 90, 90, 90, 90, 90 } } },
    { "the surer of two", 1, 3, 7, { { 100, 100, 100, 100, 100, 100, 100 }, { 90, 90, 90, 90, 90, 90, 90 }, { 50, 60, 70, 80, 101, 102, 103 } } },
    { "two rounds show no spread", 0, 2, 2, { { 100, 100 }, { 50, 50 } } },
    { "alone", 0, 1, 7, { { 100, 100, 100, 100, 100, 100, 100 } } },
};

static void the_winner(void **state)
{
    Arena *a = arena_new();
    (void)state;
    for (size_t i = 0; i < COUNT(contests); i++) {
        const Contest *c = &contests[i];
        const double *ns[WAYS];
        for (int k = 0; k < WAYS; k++) ns[k] = c->ns[k];
        const int found = tune_choose(a, ns, c->ways, c->rounds);
        if (found != c->winner) fail_msg("%s: way %d, not %d", c->what, found, c->winner);
    }
    arena_free(a);
}

/* ---- the file -------------------------------------------------------------------------------- */

static Tuning *written_and_read(Arena *a, const Tuning *t)
{
    char path[] = "/tmp/xf-tune-XXXXXX";
    const int fd = mkstemp(path);
    const Text text = tuning_text(a, t);
    Diag *d = diag_new(a);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text.data, text.size), text.size);
    close(fd);
    Tuning *back = tuning_from_lua(a, d, path);
    diag_print(d, stderr, false);
    unlink(path);
    return back;
}

static void same_call(const TunedCall *found, const TunedCall *expected)
{
    assert_string_equal(found->name, expected->name);
    assert_int_equal(found->take, expected->take);
    for (int k = 0; k < CUTS; k++) assert_true(!(found->us[k] < expected->us[k] || found->us[k] > expected->us[k]));
}

static void a_file(void **state)
{
    TunedCall calls[] = {
        { .name = "linear_288x32000", .take = LINEAR_CUT_ONE_STREAM, .us = { [LINEAR_CUT_USUAL] = 1695, [LINEAR_CUT_ONE_STREAM] = 1458 } },
        { .name = "linear_64x15", .us = { [LINEAR_CUT_USUAL] = 0.11 } },
        { .name = "linear_64x192_rows", .take = LINEAR_CUT_ROWS_84, .us = { [LINEAR_CUT_USUAL] = 18.77, [LINEAR_CUT_ROWS_84] = 18.34 } },
    };
    const Tuning t = { .machine = "A \"machine\" \\ with\ta tab", .model = "gpt", .dtype = "f32", .identity = "0123456789abcdef", .isa = "avx2",
                       .threads = 3, .layers = TUNED_LAYERS_LOOP, .calls = calls, .call_count = 3, .threads_note = "e2e: 1 thread 3, 3 threads 1" };
    Arena *a = arena_new();
    const Tuning *back = written_and_read(a, &t), nothing = { .path = NULL };
    (void)state;
    assert_non_null(back);
    assert_string_equal(back->machine, t.machine);
    assert_string_equal(back->model, t.model);
    assert_string_equal(back->dtype, t.dtype);
    assert_string_equal(back->identity, t.identity);
    assert_string_equal(back->isa, t.isa);
    assert_int_equal(back->threads, 3);
    assert_int_equal(back->layers, TUNED_LAYERS_LOOP);
    assert_int_equal(back->call_count, 3);
    for (int i = 0; i < 3; i++) {
        same_call(&back->calls[i], &calls[i]);
        assert_int_equal(back->calls[i].at.line, 13 + i);
        assert_int_equal(back->calls[i].at.column, 5);
    }
    assert_ptr_equal(tuning_call(back, "linear_64x15"), &back->calls[1]);
    assert_null(tuning_call(back, "linear_64x1"));
    assert_null(tuning_call(NULL, "linear_64x15"));
    back = written_and_read(a, &nothing);
    assert_non_null(back);
    assert_true(!back->machine && !back->isa && !back->threads && !back->layers && !back->call_count);
    arena_free(a);
}

static void times_in_words(void **state)
{
    const TunedCall won = { .take = LINEAR_CUT_ONE_STREAM,
                            .us = { [LINEAR_CUT_USUAL] = 1695.4, [LINEAR_CUT_ONE_STREAM] = 1458, [LINEAR_CUT_PANELS_4] = 0.5 } };
    const TunedCall usual = { .us = { [LINEAR_CUT_USUAL] = 12.345 } }, untimed = { .take = LINEAR_CUT_ROWS_42 };
    Arena *a = arena_new();
    (void)state;
    assert_string_equal(tuning_times(a, &won), "panel by panel 1458 us; default 1695, 4 panels at a time 0.5");
    assert_string_equal(tuning_times(a, &usual), "default 12.35 us");
    assert_string_equal(tuning_times(a, &untimed), "42 rows at a time");
    arena_free(a);
}

/* ---- bits ------------------------------------------------------------------------------------ */

static Engine *open_cut(Session *s, LinearCut cut, int threads, bool streams)
{
    const Tuning all = { .every = cut };
    EmitForm form = s->options.form;
    form.tuning = &all;
    Plan *p = session_plan(s, TARGET_PANELS, false);
    p->one_stream = streams;
    Engine *e = jit_open(s->arena, s->diag, p, form, 0);
    assert_non_null(e);
    assert_int_equal(e->ops->threads(e, threads), RT_OK);
    return e;
}

/* Decode a prompt of `n` rows with the logits of all, then one step. */
static void run(Engine *e, int n, int vocab, float *logits)
{
    rt_token rows[128] = { { 0, 0, 0 } };
    for (int i = 0; i < n; i++) rows[i] = (rt_token){ 0, i, (i * 7 + 3) % vocab };
    assert_int_equal(e->ops->decode(e, rows, n), RT_OK);
    for (int i = 0; i < n; i++) memcpy(logits + i * vocab, e->ops->logits(e) + i * engine_logits_stride(e), (size_t)vocab * sizeof *logits);
    assert_int_equal(e->ops->step(e, 5), RT_OK);
    memcpy(logits + n * vocab, e->ops->logits(e), (size_t)vocab * sizeof *logits);
}

static int occurrences(const char *text, const char *word)
{
    int n = 0;
    for (const char *s = text; (s = strstr(s, word)) != NULL; s++) n++;
    return n;
}

/* True if the text has this cut. usual: the text with the default cuts. */
static bool is_cut(LinearCut cut, const char *text, const char *usual)
{
    const CutRow *row = &cut_rows[cut];
    const int more = occurrences(text, ".one_stream = 1") - occurrences(usual, ".one_stream = 1");
    if (row->rows) return strstr(text, "r += ") != NULL;
    if (row->panels) return strstr(text, "p += ") != NULL;
    if (cut == LINEAR_CUT_WIDE_TILE) return strstr(text, ".wide_tile = 1") != NULL;
    if (cut == LINEAR_CUT_NO_PREFETCH) return strstr(text, ".no_prefetch = 1") != NULL;
    return row->one_stream ? more > 0 : more < 0;
}

/* streams: as for a model whose weights fit in no cache. */
static void every_cut_of(const char *spec, const char *dtype, bool streams)
{
    enum { ROWS = 101 };
    const CompileOptions options = { .spec = spec, .dtype = dtype };
    Session *s = session_new(&options);
    assert_true(session_read(s));
    const int vocab = (int)s->model->target_vocab;
    float *usual = calloc((size_t)vocab * (ROWS + 1), sizeof *usual), *found = calloc((size_t)vocab * (ROWS + 1), sizeof *found);
    Engine *e = open_cut(s, LINEAR_CUT_USUAL, 1, streams);
    const char *text = arena_text(s->arena, jit_text(e));
    const bool f32 = !dtype;
    assert_int_equal(strstr(text, ".one_stream = 1") != NULL, streams);
    run(e, ROWS, vocab, usual);
    engine_close(e);
    for (int cut = 1; cut < CUTS; cut++)
        for (int threads = 1; threads < 3; threads++) {
            e = open_cut(s, (LinearCut)cut, threads, streams);
            const CutRow *row = &cut_rows[cut];
            const bool quantised = !f32 && strcmp(dtype, "int8") == 0, streaming = streams != (row->one_stream == 1);
            const bool can = row->rows || (row->field ? row->any_format || !quantised : f32 && (row->panels || streaming));
            assert_int_equal(is_cut((LinearCut)cut, jit_text(e), text), can);
            run(e, ROWS, vocab, found);
            if (memcmp(found, usual, (size_t)vocab * (ROWS + 1) * sizeof *found))
                fail_msg("%s, %d threads: different bits", cut_rows[cut].name, threads);
            engine_close(e);
        }
    free(usual), free(found);
    session_free(s);
}

static void every_cut_gives_the_same_bits(void **state)
{
    (void)state;
    every_cut_of("tests/tune/gated.lua", NULL, false);
    every_cut_of("tests/tune/gated.lua", NULL, true);
    every_cut_of("specs/gpt.lua", NULL, false);
    every_cut_of("tests/tune/gated.lua", "int8", false);
    every_cut_of("tests/tune/gated.lua", "int8", true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_winner), cmocka_unit_test(a_file), cmocka_unit_test(times_in_words), cmocka_unit_test(every_cut_gives_the_same_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
