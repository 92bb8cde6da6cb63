/* test_beam_search.c: rt_beam finds the same sequences as a search that keeps whole sequences and
 * sorts all continuations; with one beam the greedy one, and with enough beams all possible
 * sequences. The logits of the model are a hash of the sequence in a slot. The model's calls, the
 * scratch and errors are tested too. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "plain_search.h"

enum { LONGEST = 24, SLOTS = RT_BEAM_MOST, VOCABULARY = 12, STRIDE = 16 };

/* ---- a model --------------------------------------------------------------------------------- */

/* levels: number of different logits; 0: no limit. If it is small, many sums are equal. */
typedef struct Toy {
    uint32_t seed;
    int vocab, levels, spoiled;     /* spoiled: how many logits at the end are NaN */
    int length[SLOTS], ids[SLOTS][LONGEST];
    float logits[SLOTS][STRIDE];
    int calls, most_rows, forks, fail_at;      /* fail_at: the call of `rows` that fails; 0: none */
} Toy;

static float logit(const Toy *t, const int *ids, int n, int id)
{
    uint32_t h = t->seed;
    for (int i = 0; i < n; i++) h = (h ^ (uint32_t)ids[i]) * 2654435761u, h ^= h >> 15;
    h = (h ^ (uint32_t)(id + 100)) * 2246822519u, h ^= h >> 13, h *= 3266489917u, h ^= h >> 16;
    if (t->levels) return (float)(h % (uint32_t)t->levels);
    return (float)(h >> 8) / 2097152.0f - 4;
}

static rt_status rows(void *self, const rt_token *r, int n)
{
    Toy *t = self;
    bool seen[SLOTS] = { 0 };
    if (++t->calls == t->fail_at) return RT_INTERRUPTED;
    if (n > t->most_rows) t->most_rows = n;
    for (int i = 0; i < n; i++) {
        const int slot = r[i].slot, at = r[i].pos;
        if (slot < 0 || slot >= SLOTS || r[i].id < 0 || r[i].id >= VOCABULARY) return RT_BAD_ID;
        if (at > t->length[slot] || (seen[slot] && (r[i - 1].slot != slot || r[i - 1].pos != at - 1))) return RT_ORDER;
        if (at >= LONGEST) return RT_TOO_LONG;
        seen[slot] = true;
        t->ids[slot][at] = r[i].id;
        t->length[slot] = at + 1;
        for (int id = 0; id < STRIDE; id++)
            t->logits[i][id] = id >= t->vocab - t->spoiled ? NAN : logit(t, t->ids[slot], at + 1, id);
    }
    return RT_OK;
}

static const float *logits(void *self) { return ((Toy *)self)->logits[0]; }

static rt_status fork_slot(void *self, int from, int to)
{
    Toy *t = self;
    t->forks++;
    t->length[to] = t->length[from];
    memcpy(t->ids[to], t->ids[from], sizeof t->ids[to]);
    return RT_OK;
}

static rt_status clear(void *self, int slot)
{
    ((Toy *)self)->length[slot] = 0;
    return RT_OK;
}

/* Logits for the plain search. */
static const float *toy_logits(void *self, const int *ids, int n)
{
    static float x[VOCABULARY];
    const Toy *t = self;
    for (int id = 0; id < t->vocab; id++) x[id] = logit(t, ids, n, id);
    return x;
}

static RtDecoder model_of(Toy *t)
{
    return (RtDecoder){ .self = t, .slots = SLOTS, .rows_most = SLOTS, .vocab = t->vocab, .stride = STRIDE, .decode = rows, .logits = logits,
                          .fork = fork_slot, .clear = clear };
}

/* ---- both searches --------------------------------------------------------------------------- */

typedef struct Found { RtBeamResult results[RT_BEAM_MOST]; int count; void *scratch; } Found;

static Found search(Toy *t, const RtBeamOptions *o, const int *prompt, int n)
{
    const RtDecoder m = model_of(t);
    const size_t bytes = rt_beam_scratch_bytes(o, t->vocab);
    unsigned char *scratch = malloc(bytes + 64);
    Found f = { .scratch = scratch };
    memset(scratch, 0xa5, bytes + 64);
    memset(t->length, 0, sizeof t->length);
    t->calls = t->most_rows = t->forks = 0;
    assert_int_equal(rt_beam_search(&m, o, prompt, n, scratch, bytes, f.results, &f.count), RT_OK);
    for (int i = 0; i < 64; i++) assert_int_equal(scratch[bytes + (size_t)i], 0xa5);
    return f;
}

static void compare(Toy *t, const RtBeamOptions *o, const int *prompt, int n)
{
    Sequence expected[PLAIN_BEAMS];
    int count;
    const int steps = plain_search(toy_logits, t, t->vocab, o, prompt, n, expected, &count);
    Found f = search(t, o, prompt, n);
    assert_int_equal(f.count, count);
    for (int i = 0; i < count; i++) {
        const RtBeamResult *r = &f.results[i];
        assert_int_equal(r->length, expected[i].n - n);
        assert_memory_equal(r->ids, expected[i].ids + n, (size_t)r->length * sizeof *r->ids);
        assert_true(r->sum == expected[i].sum && r->score == expected[i].score);
    }
    assert_int_equal(t->calls, steps);              /* the prompt, then one per step but the last */
    assert_true(t->most_rows <= (n > o->beams ? n : o->beams));
    free(f.scratch);
}

static const int prompts[] = { 1, 5, 3, 7, 2 };

/* Beams, lengths, ends, penalties and stop rules, with all sums different and with many equal. */
static void agrees_with_the_plain_search(void **state)
{
    static const int ends[] = { 2, 0, 3 };
    static const double penalties[] = { 1, 0, 0.6, 2, -1 };
    (void)state;
    for (uint32_t seed = 1; seed <= 600; seed++) {
        Toy t = { .seed = seed * 7919, .vocab = 3 + (int)(seed % 10), .levels = seed % 3 ? 0 : 2 + (int)(seed % 2) };
        const RtBeamOptions o = { .longest = LONGEST, .beams = 1 + (int)(seed % 7), .most = 1 + (int)(seed / 7 % 12),
                                  .ends = ends, .end_count = (int)(seed / 3 % 4),
                                  .length_penalty = penalties[seed % 5], .early_stopping = (RtBeamStop)(seed / 5 % 3) };
        compare(&t, &o, prompts, 1 + (int)(seed % 5));
    }
}

/* The same with rules that change the scores. */
static void agrees_where_rules_change_the_scores(void **state)
{
    static const int ends[] = { 4, 9 }, banned[] = { 1, 3, 2, 5, 6, 3, 7, 2, 1 }, never[] = { 8 }, first[] = { 0, 11 };
    (void)state;
    for (uint32_t seed = 0; seed < 400; seed++) {
        Toy t = { .seed = seed, .vocab = VOCABULARY, .levels = seed % 5 == 4 ? 3 : 0 };
        const int rule = (int)(seed % 9), n = 1 + (int)(seed % 5);
        RtBeamOptions o = { .longest = LONGEST, .beams = 1 + (int)(seed / 9 % 5), .most = 2 + (int)(seed / 7 % 8), .ends = ends, .end_count = 2,
                            .length_penalty = (double)(seed % 3), .early_stopping = (RtBeamStop)(seed % 3) };
        RtProcessors *p = &o.processors;
        if (rule == 0 || rule == 8) p->repetition_penalty = 1.7f;
        if (rule == 1 || rule == 8) p->no_repeat_ngram = 1 + (int)(seed % 3);
        if (rule == 2) p->bad_words = banned, p->bad_words_room = 9;
        if (rule == 3) p->min_length = 6;
        if (rule == 4 || rule == 8) p->min_new = 3;
        if (rule == 5) p->force_first = 1, p->first = 7;
        if (rule == 6) p->force_last = 1, p->last = 4;
        if (rule == 7) p->suppress = never, p->suppress_count = 1, p->begin_suppress = first, p->begin_suppress_count = 2;
        compare(&t, &o, prompts, n);
    }
}

/* Without RT_BEAM_STOP_NEVER, a search with one beam is greedy: it takes the first maximum at every
 * step. */
static void one_beam_is_greedy(void **state)
{
    static const int end = 2;
    (void)state;
    for (uint32_t seed = 1; seed <= 100; seed++) {
        Toy t = { .seed = seed, .vocab = VOCABULARY, .levels = seed % 2 ? 0 : 3 };
        const RtBeamOptions o = { .longest = LONGEST, .beams = 1, .most = 20, .ends = &end, .end_count = 1,
                                  .length_penalty = (double)(seed % 4) / 2 };
        Found f = search(&t, &o, prompts, 2);
        int ids[LONGEST] = { prompts[0], prompts[1] }, n = 2;
        while (n < 22 && (n == 2 || ids[n - 1] != end)) {
            int best = 0;
            for (int id = 1; id < t.vocab; id++)
                if (logit(&t, ids, n, id) > logit(&t, ids, n, best)) best = id;
            ids[n++] = best;
        }
        assert_int_equal(f.count, 1);
        assert_int_equal(f.results[0].length, n - 2);
        assert_memory_equal(f.results[0].ids, ids + 2, (size_t)(n - 2) * sizeof *ids);
        assert_int_equal(t.forks, 0);
        free(f.scratch);
    }
}

/* With more beams than possible sequences, each sequence is found exactly once: those that end
 * after 1, 2 or 3 ids, and those of 4 ids. */
static void many_beams_find_every_sequence(void **state)
{
    static const int end = 1;
    (void)state;
    Toy t = { .seed = 99, .vocab = 3 };
    const RtBeamOptions o = { .longest = LONGEST, .beams = 100, .most = 4, .ends = &end, .end_count = 1, .length_penalty = 0.5 };
    Found f = search(&t, &o, prompts, 1);
    double total = 0;
    assert_int_equal(f.count, 1 + 2 + 4 + 8 * 3);
    for (int i = 0; i < f.count; i++) {
        total += exp(f.results[i].sum);
        if (i) assert_true(f.results[i].score <= f.results[i - 1].score);
        for (int k = 0; k < i; k++)
            assert_false(f.results[k].length == f.results[i].length &&
                         memcmp(f.results[k].ids, f.results[i].ids, (size_t)f.results[i].length * sizeof(int)) == 0);
    }
    assert_true(fabs(total - 1) < 1e-12);                   /* their probabilities sum to 1 */
    free(f.scratch);
}

static void a_long_prompt_goes_in_pieces(void **state)
{
    (void)state;
    Toy t = { .seed = 5, .vocab = VOCABULARY };
    RtDecoder m = model_of(&t);
    const RtBeamOptions o = { .longest = LONGEST, .beams = 2, .most = 3, .length_penalty = 1 };
    Found whole = search(&t, &o, prompts, 5), f = { .scratch = malloc(rt_beam_scratch_bytes(&o, t.vocab)) };
    m.rows_most = 2;
    t.calls = t.most_rows = 0;
    memset(t.length, 0, sizeof t.length);
    assert_int_equal(rt_beam_search(&m, &o, prompts, 5, f.scratch, rt_beam_scratch_bytes(&o, t.vocab), f.results, &f.count), RT_OK);
    assert_int_equal(t.calls, 3 + 2);
    assert_int_equal(t.most_rows, 2);
    assert_int_equal(f.count, 2);
    for (int i = 0; i < 2; i++) assert_true(f.results[i].sum == whole.results[i].sum);
    free(whole.scratch);
    free(f.scratch);
}

static void wrong_calls_are_refused(void **state)
{
    static const struct { int beams, most, n, slots, rows_most, less; rt_status status; } wrong[] = {
        { 0, 3, 1, 4, 4, 0, RT_ORDER },    { 2, 0, 1, 4, 4, 0, RT_ORDER },    { 2, 3, 0, 4, 4, 0, RT_ORDER },
        { 5, 3, 1, 4, 8, 0, RT_TOO_LONG }, { 5, 3, 1, 8, 4, 0, RT_TOO_LONG }, { RT_BEAM_MOST + 1, 3, 1, 999, 999, 0, RT_TOO_LONG },
        { 2, 3, 1, 4, 4, 1, RT_NO_ROOM },
    };
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        Toy t = { .vocab = VOCABULARY };
        RtDecoder m = model_of(&t);
        const RtBeamOptions o = { .longest = LONGEST, .beams = wrong[i].beams, .most = wrong[i].most };
        static double scratch[4096];
        RtBeamResult results[4];
        int count = 7;
        m.slots = wrong[i].slots, m.rows_most = wrong[i].rows_most;
        const size_t bytes = wrong[i].less ? rt_beam_scratch_bytes(&o, t.vocab) - 1 : sizeof scratch;
        assert_int_equal(rt_beam_search(&m, &o, prompts, wrong[i].n, scratch, bytes, results, &count), wrong[i].status);
        assert_int_equal(count, 0);
        assert_int_equal(t.calls, 0);
    }
}

static void a_failure_of_the_model_is_handed_on(void **state)
{
    (void)state;
    for (int at = 1; at <= 3; at++) {
        Toy t = { .vocab = VOCABULARY, .seed = 3, .fail_at = at };
        const RtDecoder m = model_of(&t);
        const RtBeamOptions o = { .longest = LONGEST, .beams = 3, .most = 5, .length_penalty = 1 };
        static double scratch[4096];
        RtBeamResult results[3];
        int count = 7;
        assert_int_equal(rt_beam_search(&m, &o, prompts, 1, scratch, sizeof scratch, results, &count), RT_INTERRUPTED);
        assert_int_equal(count, 0);
        assert_int_equal(t.calls, at);
    }
}

static void a_logit_that_is_no_number_ends_a_search(void **state)
{
    (void)state;
    const RtBeamOptions o = { .longest = LONGEST, .beams = 3, .most = 5, .length_penalty = 1 };
    RtBeamResult results[3];
    _Alignas(double) unsigned char scratch[1 << 14];
    for (int spoiled = 1; spoiled <= VOCABULARY; spoiled++) {
        Toy t = { .vocab = VOCABULARY, .spoiled = spoiled };
        const RtDecoder m = model_of(&t);
        int count = 3;
        assert_int_equal(rt_beam_search(&m, &o, prompts, 1, scratch, sizeof scratch, results, &count), RT_NOT_FINITE);
        assert_int_equal(count, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agrees_with_the_plain_search), cmocka_unit_test(agrees_where_rules_change_the_scores),
        cmocka_unit_test(one_beam_is_greedy), cmocka_unit_test(many_beams_find_every_sequence),
        cmocka_unit_test(a_long_prompt_goes_in_pieces), cmocka_unit_test(wrong_calls_are_refused),
        cmocka_unit_test(a_failure_of_the_model_is_handed_on), cmocka_unit_test(a_logit_that_is_no_number_ends_a_search),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
