/* test_beam_engines.c: Beam search in every engine finds the same sequences as PyTorch (NAME.beams,
 * by make_beams.py). In generic and jit it also finds those of a search that recomputes each
 * sequence on an engine with one slot, one beam gives the greedy answer, and each slot has its own
 * source. Rows, forks and errors of slots are tested in generic. */
/* tags: slow */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "decode.h"
#include "rt_numbers.h"
#include "plain_search.h"
#include "engine_open.h"
#include "session.h"

#define TOLERANCE 1e-5              /* |a - b| / |b|, of scores */

enum { BEAMS = 4 };
static const char *const engines[] = { "generic", "jit", "native" };
enum { ENGINES = sizeof engines / sizeof *engines };

/* ---- a model in an engine -------------------------------------------------------------------- */

typedef struct Opened { CompileOptions options; Session *session; Engine *engine; } Opened;

static char quick_cc[64] = "/tmp/test_beam_engines_XXXXXX";     /* cc with -O1: nothing is timed */

static void open_model(Opened *o, const char *spec, const char *engine, int slots)
{
    o->options = (CompileOptions){ .spec = spec, .slots = slots, .cc = quick_cc };
    o->session = session_new(&o->options);
    o->engine = session_read(o->session) ? session_engine(o->session, engine_of_name(engine), false) : NULL;
    if (!o->engine) session_end(o->session);
    assert_non_null(o->engine);
}

static void close_model(Opened *o)
{
    engine_close(o->engine);
    assert_int_equal(session_end(o->session), EXIT_DONE);
}

static Decoder *decoder_of(Opened *o, int beams, double penalty, RtBeamStop stop)
{
    RtGeneration g = generation_of(o->session->model);
    g.beams = beams, g.length_penalty = penalty, g.early_stopping = stop;
    return decoder_new(o->session->arena, o->engine, &g);
}

static void check_score(double found, double expected)
{
    if (!(fabs(found - expected) <= TOLERANCE * fabs(expected))) fail_msg("score %.9g, expected %.9g", found, expected);
}

/* The ids of a result as text. */
static const char *ids_text(const int *ids, int n, char *text, size_t room)
{
    size_t used = 0;
    text[0] = '\0';
    for (int i = 0; i < n; i++) assert_int_equal(rt_numbers_add(text, room, &used, ids[i]), RT_OK);
    return text;
}

/* ---- against PyTorch ------------------------------------------------------------------------- */

static RtBeamStop stop_named(const char *word)
{
    return strcmp(word, "true") == 0 ? RT_BEAM_STOP_TRUE : strcmp(word, "never") == 0 ? RT_BEAM_STOP_NEVER : RT_BEAM_STOP_FALSE;
}

/* Check every line of a golden. A line is a comment, begins a search, or is the next result of the
 * current one. Returns the number of results. */
static int check_lines(Opened *o, FILE *f, const char *where)
{
    char line[1024], stop[16], text[1024];
    Decoder *d = NULL;
    int at = 0, results = 0, beams, n;
    double penalty, score;
    while (fgets(line, sizeof line, f)) {
        char *ids = strchr(line, ':');
        int list[PLAIN_LONGEST];
        line[strcspn(line, "\n")] = '\0';
        if (line[0] == '#') continue;
        assert_non_null(ids);
        if (sscanf(line, "  %lf:", &score) == 1 && line[0] == ' ') {
            assert_true(d && at < d->cli.count);
            const RtBeamResult *r = &d->cli.results[at++];
            if (strcmp(ids_text(r->ids, r->length, text, sizeof text), ids + 2)) fail_msg("%s: %s, expected %s", where, text, ids + 2);
            check_score(r->score, score);
            results++;
        } else {
            assert_int_equal(sscanf(line, "%d %lf %15[a-z]:", &beams, &penalty, stop), 3);
            assert_true(!d || at == d->cli.count);
            assert_int_equal(rt_numbers_read(ids + 1, list, PLAIN_LONGEST, &n, NULL), RT_OK);
            d = decoder_of(o, beams, penalty, stop_named(stop));
            d->answering.scored = true;
            assert_int_equal(decoder_answer(d, list, n), RT_OK);
            at = 0;
        }
    }
    assert_true(d && at == d->cli.count);
    return results;
}

static const char *const goldens[] = { "other_marks", "like_llama_tied", "like_marian", "like_t5", "like_llama", "kind_decoder_post" };
enum { GOLDENS = sizeof goldens / sizeof *goldens, QUICK_GOLDENS = 2 };

static void searches_agree_with_pytorch(void **state)
{
    const int count = getenv("XFORMC_QUICK") ? QUICK_GOLDENS : GOLDENS;
    (void)state;
    for (int i = 0; i < ENGINES * count; i++) {
        char spec[100], golden[100];
        Opened o;
        snprintf(spec, sizeof spec, "tests/goldens/%s.lua", goldens[i / ENGINES]);
        snprintf(golden, sizeof golden, "tests/beam/%s.beams", goldens[i / ENGINES]);
        open_model(&o, spec, engines[i % ENGINES], BEAMS);
        FILE *f = fopen(golden, "r");
        assert_non_null(f);
        const int results = check_lines(&o, f, golden);
        fclose(f);
        if (results < 90) fail_msg("%s has %d results", golden, results);
        close_model(&o);
    }
}

/* ---- against full runs of one sequence ------------------------------------------------------- */

typedef struct Alone { Engine *engine; const int *source; int n; } Alone;

/* Logits of a fresh state after the source and every id of the sequence. */
static const float *alone(void *self, const int *ids, int n)
{
    const Alone *a = self;
    engine_reset(a->engine);
    if (a->engine->plan->graph->model->has_encoder) assert_int_equal(a->engine->ops->encode(a->engine, 0, a->source, a->n), RT_OK);
    for (int i = 0; i < n; i++) assert_int_equal(a->engine->ops->step(a->engine, ids[i]), RT_OK);
    return a->engine->ops->logits(a->engine);
}

static void compare(Opened *wide, Opened *narrow, const int *ids, int n, int beams, double penalty)
{
    const Model *m = wide->session->model;
    const int start = (int)m->start_id, end = (int)m->end_id, length = m->has_encoder ? 1 : n;
    const RtBeamOptions o = { .beams = beams, .most = (int)m->max_target - length + !m->has_encoder, .ends = &end, .end_count = 1,
                              .length_penalty = penalty };
    Alone one = { narrow->engine, ids, n };
    Sequence expected[PLAIN_BEAMS];
    int count;
    Decoder *d = decoder_of(wide, beams, penalty, RT_BEAM_STOP_FALSE);
    plain_search(alone, &one, (int)m->target_vocab, &o, m->has_encoder ? &start : ids, length, expected, &count);
    assert_int_equal(decoder_answer(d, ids, n), RT_OK);
    assert_int_equal(d->cli.count, count);
    for (int i = 0; i < count; i++) {
        assert_int_equal(d->cli.results[i].length, expected[i].n - length);
        assert_memory_equal(d->cli.results[i].ids, expected[i].ids + length, (size_t)d->cli.results[i].length * sizeof(int));
        check_score(d->cli.results[i].score, expected[i].score);
    }
}

static const char *const specs[] = { "tests/specs/modern_decoder.lua", "tests/specs/t5_like.lua", "tests/goldens/other_marks.lua" };
enum { SPECS = sizeof specs / sizeof *specs };
static const int input[] = { 4, 9, 3, 7, 5 };

static void searches_agree_with_full_runs(void **state)
{
    static const double penalties[] = { 1, 0, 2 };
    (void)state;
    for (int i = 0; i < SPECS * 2; i++) {
        Opened wide, narrow;
        open_model(&wide, specs[i / 2], engines[i % 2], BEAMS);
        open_model(&narrow, specs[i / 2], engines[i % 2], 1);
        for (int beams = 2; beams <= BEAMS; beams++) compare(&wide, &narrow, input, 6 - beams, beams, penalties[beams - 2]);
        close_model(&wide);
        close_model(&narrow);
    }
}

/* ---- slots ----------------------------------------------------------------------------------- */

static const char *const translators[] = { "tests/specs/t5_like.lua", "tests/goldens/other_marks.lua" };

static const float *decoded(Engine *e, int slot, int pos, int id)
{
    assert_int_equal(e->ops->decode(e, &(rt_token){ slot, pos, id }, 1), RT_OK);
    return e->ops->logits(e);
}

/* Slots with their own sources, decoded in turn, give results bit-identical to those of a single
 * slot. A rejected call leaves them unchanged. */
static void each_slot_has_a_source_of_its_own(void **state)
{
    enum { LENGTH = 3 };
    static const int sources[BEAMS][2] = { { 0, 5 }, { 1, 2 }, { 2, 3 }, { 0, 1 } };        /* first id, count */
    static const int bad[] = { 4, -1 };
    (void)state;
    for (int i = 0; i < 2 * 2; i++) {
        Opened wide, narrow;
        open_model(&wide, translators[i / 2], engines[i % 2], BEAMS);
        open_model(&narrow, translators[i / 2], engines[i % 2], 1);
        Engine *e = wide.engine;
        for (int slot = BEAMS - 1; slot >= 0; slot--)
            assert_int_equal(e->ops->encode(e, slot, input + sources[slot][0], sources[slot][1]), RT_OK);
        assert_int_equal(e->ops->encode(e, BEAMS, input, 2), RT_BAD_ID);
        assert_int_equal(e->ops->encode(e, -1, input, 2), RT_BAD_ID);
        assert_int_equal(e->ops->encode(e, 1, bad, 2), RT_BAD_ID);
        for (int pos = 0; pos < LENGTH; pos++)
            for (int slot = 0; slot < BEAMS; slot++) {
                Alone one = { narrow.engine, input + sources[slot][0], sources[slot][1] };
                const float *expected = alone(&one, input, pos + 1);
                assert_memory_equal(decoded(e, slot, pos, input[pos]), expected,
                                    (size_t)wide.session->model->target_vocab * sizeof(float));
            }
        close_model(&wide);
        close_model(&narrow);
    }
}

/* ---- one beam -------------------------------------------------------------------------------- */

/* One beam gives the greedy answer in generic and jit, with several length penalties, even after
 * another search. */
static void one_beam_is_greedy(void **state)
{
    (void)state;
    for (int i = 0; i < SPECS * 2; i++) {
        Opened o;
        open_model(&o, specs[i / 2], engines[i % 2], BEAMS);
        for (int n = 1; n <= 5; n++) {
            Decoder *greedy = decoder_of(&o, 0, 1, RT_BEAM_STOP_FALSE), *beam = decoder_of(&o, 1, (double)n / 2, RT_BEAM_STOP_FALSE);
            Decoder *other = decoder_of(&o, 4, 1, RT_BEAM_STOP_FALSE);
            assert_int_equal(decoder_answer(greedy, input, n), RT_OK);
            assert_int_equal(decoder_answer(other, input, 6 - n), RT_OK);
            assert_int_equal(decoder_answer(beam, input, n), RT_OK);
            assert_true(greedy->cli.count == 1 && beam->cli.count == 1 && greedy->cli.results[0].length == beam->cli.results[0].length);
            assert_memory_equal(greedy->cli.results[0].ids, beam->cli.results[0].ids, (size_t)beam->cli.results[0].length * sizeof(int));
        }
        close_model(&o);
    }
}

/* ---- the calls ------------------------------------------------------------------------------- */

static float logits_of(const Engine *e, int row, int id) { return e->ops->logits(e)[row * engine_logits_stride(e) + id]; }

/* Slots of the generic engine: several rows, forks, errors. tests/rows tests those of emitted
 * code. */
static void slots_of_the_generic_engine(void **state)
{
    const rt_token first[] = { { 0, 0, 3 }, { 2, 0, 4 }, { 2, 1, 5 } }, twice[] = { { 0, 1, 3 }, { 1, 0, 3 }, { 0, 2, 3 } };
    const rt_token both[] = { { 1, 2, 6 }, { 2, 2, 7 } }, gap[] = { { 0, 2, 3 } }, far[] = { { 4, 0, 3 } }, wrong[] = { { 0, 1, 99 } };
    Opened o, alone_one;
    (void)state;
    open_model(&o, specs[0], "generic", BEAMS);
    open_model(&alone_one, specs[0], "generic", 1);
    const EngineOps *ops = o.engine->ops;
    assert_int_equal(ops->decode(o.engine, first, 3), RT_OK);
    assert_int_equal(ops->fork(o.engine, 2, 1), RT_OK);
    assert_int_equal(ops->decode(o.engine, both, 2), RT_OK);
    for (int row = 0; row < 2; row++) {
        const int ids[] = { 4, 5, both[row].id };
        engine_reset(alone_one.engine);
        for (int i = 0; i < 3; i++) assert_int_equal(alone_one.engine->ops->step(alone_one.engine, ids[i]), RT_OK);
        for (int id = 0; id < 37; id++) assert_true(fabsf(logits_of(o.engine, row, id) - logits_of(alone_one.engine, 0, id)) < 1e-5f);
    }
    assert_int_equal(ops->decode(o.engine, twice, 3), RT_ORDER);
    assert_int_equal(ops->decode(o.engine, gap, 1), RT_ORDER);
    assert_int_equal(ops->decode(o.engine, far, 1), RT_BAD_ID);
    assert_int_equal(ops->decode(o.engine, wrong, 1), RT_BAD_ID);
    assert_int_equal(ops->fork(o.engine, 0, BEAMS), RT_BAD_ID);
    assert_int_equal(ops->fork(o.engine, -1, 0), RT_BAD_ID);
    close_model(&o);
    close_model(&alone_one);
}

static int make_quick_cc(void **state)
{
    static const char script[] = "#!/bin/sh\nexec cc \"$@\" -O1\n";
    const int fd = mkstemp(quick_cc);
    (void)state;
    if (fd < 0 || write(fd, script, sizeof script - 1) != (ssize_t)sizeof script - 1 || fchmod(fd, 0700)) return -1;
    return close(fd);
}

static int remove_quick_cc(void **state)
{
    (void)state;
    return unlink(quick_cc);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(searches_agree_with_pytorch), cmocka_unit_test(searches_agree_with_full_runs),
        cmocka_unit_test(each_slot_has_a_source_of_its_own), cmocka_unit_test(one_beam_is_greedy),
        cmocka_unit_test(slots_of_the_generic_engine),
    };
    return cmocka_run_group_tests(tests, make_quick_cc, remove_quick_cc);
}
