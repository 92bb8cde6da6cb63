/* test_generation.c: Rules that change scores, and sampling, against Hugging Face (rules.txt, by
 * make_rules.py). The loop that uses them (reading a prompt once and without logits, stopping,
 * random streams, cached prompts), on a model whose logits are a function of its sequence. Settings
 * by name. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "rt_generation.h"

enum { VOCABULARY = 24, MOST_IDS = 64 };
static const int ends[] = { 3, 9 };

/* ---- against Hugging Face -------------------------------------------------------------------- */

typedef struct Case {
    RtProcessors rules;
    RtSampling sampling;
    int bad[MOST_IDS], suppress[MOST_IDS], begin[MOST_IDS], ids[MOST_IDS];
    int count, prompt, longest;
    float logits[VOCABULARY], scores[VOCABULARY];
} Case;

static int read_ids(const char *text, int *out)
{
    char *end;
    int n = 0;
    for (long id; id = strtol(text, &end, 10), end != text && n < MOST_IDS; text = end) out[n++] = (int)id;
    return n;
}

static void read_scores(const char *text, float *out)
{
    char *end;
    for (int i = 0; i < VOCABULARY; i++, text = end) {
        out[i] = strtof(text, &end);
        assert_ptr_not_equal(end, text);
    }
}

/* Read one line of a case; true after its last. */
static bool read_line(Case *c, const char *word, const char *rest)
{
    const float x = strtof(rest, NULL);
    const int n = isfinite(x) ? (int)x : 0;             /* scores may be infinite */
    if (!strcmp(word, "repetition_penalty")) c->rules.repetition_penalty = x;
    else if (!strcmp(word, "no_repeat_ngram")) c->rules.no_repeat_ngram = n;
    else if (!strcmp(word, "bad_words")) c->rules.bad_words_room = read_ids(rest, c->bad);
    else if (!strcmp(word, "min_length")) c->rules.min_length = n;
    else if (!strcmp(word, "min_new")) c->rules.min_new = n;
    else if (!strcmp(word, "first")) c->rules.force_first = 1, c->rules.first = n;
    else if (!strcmp(word, "last")) c->rules.force_last = 1, c->rules.last = n;
    else if (!strcmp(word, "suppress")) c->rules.suppress_count = read_ids(rest, c->suppress);
    else if (!strcmp(word, "begin_suppress")) c->rules.begin_suppress_count = read_ids(rest, c->begin);
    else if (!strcmp(word, "temperature")) c->sampling.temperature = x;
    else if (!strcmp(word, "top_k")) c->sampling.top_k = n;
    else if (!strcmp(word, "top_p")) c->sampling.top_p = x;
    else if (!strcmp(word, "min_p")) c->sampling.min_p = x;
    else if (!strcmp(word, "typical_p")) c->sampling.typical_p = x;
    else if (!strcmp(word, "prompt")) c->prompt = n;
    else if (!strcmp(word, "ids")) c->count = read_ids(rest, c->ids);
    else if (!strcmp(word, "longest")) c->longest = n;
    else if (!strcmp(word, "logits")) read_scores(rest, c->logits);
    else if (!strcmp(word, "scores")) read_scores(rest, c->scores);
    else fail_msg("unknown word %s", word);
    return !strcmp(word, "scores");
}

static bool near(float a, float b) { return a == b || fabsf(a - b) <= 1e-6f * (1 + fabsf(b)); }

/* Check the scores that the rules alone give. */
static void check_rules(const Case *c, int number)
{
    const RtHistory h = { c->ids, c->count, c->prompt, c->longest, ends, 2 };
    float found[VOCABULARY];
    rt_logits_process(&c->rules, &h, c->logits, found, VOCABULARY);
    for (int i = 0; i < VOCABULARY; i++)
        if (!near(found[i], c->scores[i])) fail_msg("case %d: id %d has %g, expected %g", number, i, (double)found[i], (double)c->scores[i]);
}

/* Check the candidates for sampling: the expected ids and scores, in descending order. */
static void check_sampling(const Case *c, int number)
{
    const RtHistory h = { c->ids, c->count, c->prompt, c->longest, ends, 2 };
    float scores[VOCABULARY];
    RtCandidate list[VOCABULARY];
    bool kept[VOCABULARY] = { false };
    int expected = 0;
    rt_logits_process(&c->rules, &h, c->logits, scores, VOCABULARY);
    const int n = rt_sample_candidates(&c->sampling, scores, VOCABULARY, list);
    for (int i = 0; i < n; i++) {
        kept[list[i].id] = true;
        if (!near(list[i].score, c->scores[list[i].id]))
            fail_msg("case %d: id %d has %g, expected %g", number, list[i].id, (double)list[i].score, (double)c->scores[list[i].id]);
        assert_true(!i || list[i - 1].score >= list[i].score);
    }
    for (int i = 0; i < VOCABULARY; i++) {
        expected += c->scores[i] > -INFINITY;
        if (kept[i] != (c->scores[i] > -INFINITY)) fail_msg("case %d: id %d is %s", number, i, kept[i] ? "kept" : "dropped");
    }
    assert_int_equal(n, expected);
}

static void agrees_with_hugging_face(void **state)
{
    static char line[4096], word[64];
    static Case c;
    FILE *f = fopen("tests/generation/rules.txt", "r");
    int number = 0, sampled = 0;
    (void)state;
    assert_non_null(f);
    memset(&c, 0, sizeof c);
    while (fgets(line, sizeof line, f)) {
        const size_t length = strcspn(line, " ");
        snprintf(word, sizeof word, "%.*s", (int)length, line);
        if (!read_line(&c, word, line + length)) continue;
        c.rules.bad_words = c.bad, c.rules.suppress = c.suppress, c.rules.begin_suppress = c.begin;
        if (c.sampling.temperature > 0) check_sampling(&c, number), sampled++;
        else check_rules(&c, number);
        memset(&c, 0, sizeof c);
        number++;
    }
    fclose(f);
    assert_int_equal(number, 280);
    assert_int_equal(sampled, 120);
}

/* ---- sampling -------------------------------------------------------------------------------- */

/* In 200,000 draws each id is as frequent as it is probable, within five standard deviations. A
 * seed always gives the same sequence. */
static void draws_have_their_probabilities(void **state)
{
    enum { DRAWS = 200000, N = 6 };
    static const float scores[N] = { 0, 1, -1, 2, -INFINITY, 0.5f };
    const RtSampling s = { .temperature = 1.5f };
    RtCandidate list[N];
    RtRandom random = { 7 }, again = { 7 }, other = { 8 };
    int counts[N] = { 0 }, equal = 0;
    double sum = 0;
    (void)state;
    for (int i = 0; i < N; i++) sum += exp((double)scores[i] / 1.5);
    for (int i = 0; i < DRAWS; i++) {
        const int id = rt_sample(&s, scores, N, list, &random);
        assert_in_range(id, 0, N - 1);
        assert_int_equal(id, rt_sample(&s, scores, N, list, &again));
        equal += id == rt_sample(&s, scores, N, list, &other);
        counts[id]++;
    }
    assert_true(equal < DRAWS / 2);
    for (int i = 0; i < N; i++) {
        const double p = exp((double)scores[i] / 1.5) / sum, wide = 5 * sqrt(DRAWS * p * (1 - p));
        if (fabs(counts[i] - DRAWS * p) > wide) fail_msg("id %d was drawn %d times, expected %g", i, counts[i], DRAWS * p);
    }
}

static void no_number_is_no_id(void **state)
{
    static const float none[3] = { NAN, -INFINITY, NAN };
    const RtSampling s = { .temperature = 1, .top_k = 2, .top_p = 0.5f, .min_p = 0.1f, .typical_p = 0.5f };
    RtCandidate list[3];
    RtRandom random = { 1 };
    (void)state;
    assert_int_equal(rt_sample(&s, none, 3, list, &random), -1);
}

/* ---- the loop -------------------------------------------------------------------------------- */

/* Logits depend on the sequence so far. nexts: calls of `next`. */
/* back: how far before its furthest position a sequence may be rewound, as with a ring buffer,
 * besides to position 0; 0: not at all. */
/* softmaxed: decode leaves log-probabilities, like a model that ends in a log-softmax. */
typedef struct Toy { int ids[MOST_IDS], count, calls, nexts, back, furthest, fed, read, clears, softmaxed; float logits[VOCABULARY]; } Toy;

static void compute(Toy *t)
{
    uint32_t h = 17;
    for (int i = 0; i < t->count; i++) h = (h ^ (uint32_t)t->ids[i]) * 2654435761u, h ^= h >> 15;
    for (int i = 0; i < VOCABULARY; i++) {
        uint32_t x = (h ^ (uint32_t)i) * 2246822519u;
        x ^= x >> 13, x *= 3266489917u, x ^= x >> 16;
        t->logits[i] = (float)(x >> 8) / 2097152.0f - 4;
    }
}

static void take_log_softmax(Toy *t)
{
    double sum = 0;
    for (int i = 0; i < VOCABULARY; i++) sum += exp((double)t->logits[i]);
    for (int i = 0; i < VOCABULARY; i++) t->logits[i] -= (float)log(sum);
}

static rt_status feed_rows(Toy *t, const rt_token *rows, int n)
{
    t->calls++;
    t->fed += n;
    if (t->back && rows[0].pos < t->count) {
        if (rows[0].pos && rows[0].pos + t->back < t->furthest) return RT_ORDER;
        t->count = rows[0].pos;
    }
    for (int i = 0; i < n; i++) {
        assert_int_equal(rows[i].pos, t->count);
        if (t->count == MOST_IDS) return RT_TOO_LONG;
        t->ids[t->count++] = rows[i].id;
        if (t->count == 1 || t->furthest < t->count) t->furthest = t->count;
    }
    compute(t);
    return RT_OK;
}

static rt_status toy_decode(void *self, const rt_token *rows, int n)
{
    Toy *t = self;
    const rt_status status = feed_rows(t, rows, n);
    if (t->softmaxed) take_log_softmax(t);
    return status;
}

static rt_status toy_prefill(void *self, const rt_token *rows, int n)
{
    Toy *t = self;
    const rt_status status = toy_decode(self, rows, n);
    t->read += n;
    for (int i = 0; i < VOCABULARY; i++) t->logits[i] = NAN;
    return status;
}

static const float *toy_logits(void *self) { return ((Toy *)self)->logits; }

static rt_status toy_clear(void *self, int slot)
{
    Toy *t = self;
    (void)slot;
    t->count = 0;
    t->clears++;
    return RT_OK;
}

static rt_status toy_next(void *self, int id, int *next)
{
    Toy *t = self;
    const rt_token row = { 0, t->count, id };
    const rt_status status = feed_rows(t, &row, 1);
    t->nexts++;
    *next = 0;
    for (int i = 1; i < VOCABULARY; i++)
        if (t->logits[i] > t->logits[*next]) *next = i;
    return status;
}

typedef struct Made { int ids[MOST_IDS], count; double sum; int nexts; rt_status status; } Made;

static bool without_next;

static Made make_by(Toy *t, const RtGeneration *g, const RtAnswering *a, const int *prompt, int n, int longest)
{
    const RtDecoder d = { .self = t, .slots = g->beams > 1 ? g->beams : 1, .rows_most = 4, .vocab = VOCABULARY, .stride = VOCABULARY,
                          .decode = toy_decode, .logits = toy_logits, .clear = toy_clear, .next = without_next ? NULL : toy_next };
    const size_t bytes = rt_answer_scratch_bytes(g, longest, VOCABULARY);
    unsigned char *scratch = malloc(bytes + 32);
    RtBeamResult r = { 0 };
    Made m = { .count = 0 };
    int count;
    memset(scratch + bytes, 0xa5, 32);
    m.status = rt_answer(&d, g, a, prompt, n, longest, scratch, bytes, &r, &count);
    assert_int_equal(count, m.status == RT_OK);
    for (int i = 0; i < 32; i++) assert_int_equal(scratch[bytes + (size_t)i], 0xa5);
    m.count = r.length, m.sum = r.sum, m.nexts = t->nexts;
    if (r.length) memcpy(m.ids, r.ids, (size_t)r.length * sizeof *m.ids);
    free(scratch);
    return m;
}

static Made make(const RtGeneration *g, const RtAnswering *a, const int *prompt, int n, int longest)
{
    Toy t = { .count = 0 };
    return make_by(&t, g, a, prompt, n, longest);
}

static const RtAnswering quiet;

/* Greedy answers by the model's own `next` have the same ids with a score as without one. */
static void greedy_by_both_ways(void **state)
{
    static const int prompt[] = { 1, 5, 2, 7, 11, 4 };
    const RtAnswering scored = { .scored = 1 };
    RtGeneration g = { .max_new = 12 };
    (void)state;
    for (int n = 1; n <= 6; n++) {
        const Made a = make(&g, &quiet, prompt, n, MOST_IDS), b = make(&g, &scored, prompt, n, MOST_IDS);
        assert_int_equal(a.status, RT_OK);
        assert_int_equal(a.count, 12);
        assert_int_equal(a.nexts, 12);
        assert_int_equal(b.nexts, 12);
        assert_int_equal(b.count, 12);
        assert_memory_equal(a.ids, b.ids, 12 * sizeof(int));
        assert_true(a.sum == 0 && b.sum < 0);
    }
}

/* Only the last id of a prompt needs logits. The prompt is fed once, in calls of at most four
 * ids. */
static void reads_a_prompt_without_logits(void **state)
{
    static const int prompt[] = { 1, 5, 2, 7, 11, 4, 9, 3, 8, 2, 6 };
    const RtGeneration g = { .max_new = 3 };
    (void)state;
    for (int scored = 0; scored < 2; scored++)
        for (int n = 1; n <= 11; n++) {
            Toy t = { .count = 0 };
            const RtDecoder d = { .self = &t, .slots = 1, .rows_most = 4, .vocab = VOCABULARY, .stride = VOCABULARY, .decode = toy_decode,
                                  .prefill = toy_prefill, .logits = toy_logits, .clear = toy_clear, .next = toy_next };
            const RtAnswering how = { .scored = scored };
            const Made want = make(&g, &how, prompt, n, MOST_IDS);
            const size_t bytes = rt_answer_scratch_bytes(&g, MOST_IDS, VOCABULARY);
            void *scratch = malloc(bytes);
            RtBeamResult r = { 0 };
            int count;
            assert_int_equal(rt_answer(&d, &g, &how, prompt, n, MOST_IDS, scratch, bytes, &r, &count), RT_OK);
            assert_int_equal(r.length, want.count);
            assert_memory_equal(r.ids, want.ids, (size_t)want.count * sizeof(int));
            assert_int_equal(t.read, n - 1);
            assert_int_equal(t.fed, n + 2);
            assert_int_equal(t.calls, (n - 1 + 3) / 4 + 3);
            free(scratch);
        }
}

/* Rules and sampling see logits even if `decode` leaves log-probabilities, as long as the model has
 * a `next`: the ids are the same as without a log-softmax. */
static void rules_act_on_logits(void **state)
{
    static const int prompt[] = { 1, 5, 2 };
    int differ = 0;
    (void)state;
    for (int penalty = 1; penalty <= 8; penalty++)
        for (int drawn = 0; drawn < 2; drawn++) {
            const RtGeneration g = { .max_new = 30, .seed = 5, .sampling = { .temperature = drawn, .min_p = 0.05f },
                                     .processors = { .repetition_penalty = 0.4f * (float)penalty } };
            Toy logits = { .count = 0 }, log_probabilities = { .softmaxed = 1 }, neither = { .softmaxed = 1 };
            const Made a = make_by(&logits, &g, &quiet, prompt, 3, MOST_IDS), b = make_by(&log_probabilities, &g, &quiet, prompt, 3, MOST_IDS);
            assert_int_equal(a.count, 30);
            assert_memory_equal(a.ids, b.ids, sizeof a.ids);
            without_next = true;
            const Made c = make_by(&neither, &g, &quiet, prompt, 3, MOST_IDS);
            without_next = false;
            differ += memcmp(a.ids, c.ids, sizeof a.ids) != 0;
        }
    assert_true(differ > 8);                                    /* without `next`, other ids */
}

/* Draws for a text depend on the seed and the text's number. Text 0 uses the seed itself. */
static void texts_have_streams_of_their_own(void **state)
{
    enum { TEXTS = 200 };
    static const int prompt[] = { 1, 5, 2 };
    static Made made[TEXTS];
    const RtGeneration g = { .max_new = 12, .sampling = { .temperature = 1 }, .seed = 9 };
    RtRandom first = rt_random_of(9, 0);
    (void)state;
    assert_true(first.state == 9);
    for (int i = 0; i < TEXTS; i++) {
        const RtAnswering how = { .text = (uint64_t)i };
        made[i] = make(&g, &how, prompt, 3, MOST_IDS);
        const Made again = make(&g, &how, prompt, 3, MOST_IDS);
        assert_memory_equal(made[i].ids, again.ids, sizeof again.ids);
        for (int k = 0; k < i; k++) assert_memory_not_equal(made[k].ids, made[i].ids, sizeof again.ids);
    }
}

static int count_down(void *user, int id) { (void)id; return --*(int *)user == 0; }

/* Generation stops at max_new, at max_length, at the end of the context, at an end id, or when the
 * callback says so. */
static void knows_when_to_stop(void **state)
{
    static const int prompt[] = { 1, 5, 2 };
    int left = 4;
    const RtAnswering listening = { .on_id = count_down, .user = &left };
    RtGeneration g = { .max_new = 5 };
    (void)state;
    assert_int_equal(make(&g, &quiet, prompt, 3, MOST_IDS).count, 5);
    assert_int_equal(make(&g, &quiet, prompt, 3, 6).count, 3);
    g.max_length = 7;               /* ignored if max_new is set, as in Hugging Face */
    assert_int_equal(make(&g, &quiet, prompt, 3, MOST_IDS).count, 5);
    g.max_new = 0;
    assert_int_equal(make(&g, &quiet, prompt, 3, MOST_IDS).count, 4);
    g.max_length = 3;
    const Made none = make(&g, &quiet, prompt, 3, MOST_IDS);
    assert_int_equal(none.status, RT_OK);
    assert_int_equal(none.count, 0);
    g.max_length = 0, g.max_new = 0;
    const Made whole = make(&g, &quiet, prompt, 3, 20);
    assert_int_equal(whole.count, 17);
    g.ends = &whole.ids[6], g.end_count = 1;
    int first = 0;
    while (whole.ids[first] != whole.ids[6]) first++;
    assert_int_equal(make(&g, &quiet, prompt, 3, 20).count, first + 1);
    g.end_count = 0;
    assert_int_equal(make(&g, &listening, prompt, 3, 20).count, 4);
    assert_int_equal(make(&g, &quiet, prompt, 0, 20).status, RT_ORDER);
    assert_int_equal(make(&g, &quiet, prompt, 3, 2).status, RT_TOO_LONG);
}

/* Whatever prefix a prompt shares with the cached ids, the answer is that of an empty slot. No row
 * is fed unnecessarily, unless the slot cannot be rewound to the end of the prefix: then it is
 * cleared and all rows are fed. */
static void goes_on_from_what_is_held(void **state)
{
    static const int backs[] = { 1000, 20, 9, 1 };
    int ids[MOST_IDS], kept_in_all = 0, anew = 0;
    uint32_t x = 5;
    (void)state;
    for (size_t b = 0; b < sizeof backs / sizeof *backs; b++) {
        Toy t = { .back = backs[b] };
        RtPromptCache held = { .ids = ids };
        int prompt[MOST_IDS];
        for (int round = 0; round < 300; round++) {
            const RtGeneration g = { .max_new = 1 + round % 7, .sampling = { .temperature = round % 5 == 4 }, .seed = 3 };
            const RtAnswering going = { .scored = round % 2, .prompt_cache = &held }, empty = { .scored = round % 2 };
            int n = 1 + (int)(x % 30), same = 0;
            for (int i = 0; i < n; i++) {
                x = x * 1664525u + 1013904223u;
                prompt[i] = i < held.count && x >> 28 ? ids[i] : (int)(x >> 16) % VOCABULARY;
            }
            while (same < held.count && same < n - 2 && ids[same] == prompt[same]) same++;
            const int clears = t.clears, reaches = !same || same + t.back >= t.furthest;
            t.fed = 0;
            assert_int_equal(rt_prompt_cache_kept(&held, prompt, n), same > 0 ? same : 0);
            const Made a = make_by(&t, &g, &going, prompt, n, MOST_IDS), f = make(&g, &empty, prompt, n, MOST_IDS);
            assert_int_equal(a.status, RT_OK);
            assert_int_equal(a.count, f.count);
            assert_memory_equal(a.ids, f.ids, (size_t)f.count * sizeof(int));
            assert_true(a.sum == f.sum);
            assert_int_equal(t.clears - clears, same == 0 || !reaches);
            if (reaches) assert_int_equal(t.fed, n - same + a.count - 1);
            assert_int_equal(held.count, n + a.count - 1);
            assert_memory_equal(ids, t.ids, (size_t)held.count * sizeof(int));
            kept_in_all += reaches ? same : 0, anew += !reaches;
        }
    }
    assert_true(kept_in_all > 2000 && anew > 100);
}

/* A call that fails while the model runs empties the cache. A prompt that is too long leaves it
 * unchanged. */
static void holds_nothing_after_a_fault(void **state)
{
    static const int prompt[] = { 1, 5, 2, 7, 11, 4 };
    int ids[MOST_IDS];
    Toy t = { .back = 1000 };
    RtPromptCache held = { .ids = ids };
    const RtAnswering going = { .prompt_cache = &held };
    const RtGeneration g = { .max_new = 3 };
    (void)state;
    assert_int_equal(make_by(&t, &g, &going, prompt, 6, MOST_IDS).status, RT_OK);
    assert_int_equal(held.count, 8);
    assert_int_equal(make_by(&t, &g, &going, prompt, 6, 5).status, RT_TOO_LONG);
    assert_int_equal(held.count, 8);
    assert_int_equal(make_by(&t, &g, &going, prompt, 6, 6).count, 0);       /* full: no id is fed */
    assert_int_equal(held.count, 8);
    const RtGeneration more = { .max_new = MOST_IDS };
    assert_int_equal(make_by(&t, &more, &going, prompt, 6, MOST_IDS + 10).status, RT_TOO_LONG);
    assert_int_equal(held.count, 0);
}

/* The seed decides what is drawn. no_repeat_ngram 1 allows each id once, until none is left. */
static void draws_by_a_seed(void **state)
{
    static const int prompt[] = { 1, 5, 2 };
    RtGeneration g = { .max_new = 30, .sampling = { .temperature = 1 }, .seed = 1 };
    (void)state;
    const Made a = make(&g, &quiet, prompt, 3, MOST_IDS), b = make(&g, &quiet, prompt, 3, MOST_IDS);
    g.seed = 2;
    const Made c = make(&g, &quiet, prompt, 3, MOST_IDS);
    assert_memory_equal(a.ids, b.ids, sizeof a.ids);
    assert_memory_not_equal(a.ids, c.ids, sizeof a.ids);
    g.sampling.temperature = 0;
    g.processors.no_repeat_ngram = 1;
    g.max_new = VOCABULARY - 3;
    const Made all = make(&g, &quiet, prompt, 3, MOST_IDS);     /* each id once */
    assert_int_equal(all.status, RT_OK);
    bool seen[VOCABULARY] = { [1] = true, [5] = true, [2] = true };
    for (int i = 0; i < all.count; i++) {
        assert_false(seen[all.ids[i]]);
        seen[all.ids[i]] = true;
    }
    g.max_new++;
    assert_int_equal(make(&g, &quiet, prompt, 3, MOST_IDS).status, RT_NO_TOKEN);
}

/* With no_repeat_ngram 1 and a prompt of all ids, nothing can follow. */
static void a_search_may_find_nothing(void **state)
{
    int prompt[VOCABULARY];
    const RtGeneration g = { .max_new = 3, .beams = 2, .processors = { .no_repeat_ngram = 1 } };
    (void)state;
    for (int i = 0; i < VOCABULARY; i++) prompt[i] = i;
    assert_int_equal(make(&g, &quiet, prompt, VOCABULARY, MOST_IDS).status, RT_NO_TOKEN);
}

/* ---- by name --------------------------------------------------------------------------------- */

static void options_by_name(void **state)
{
    static const struct { const char *name, *value; int good; } tries[] = {
        { "temperature", "0.6", 1 }, { "max-new-tokens", "0", 0 }, { "max-new-tokens", "7", 1 }, { "temp", "0.7", 1 },
        { "temp", "-1", 0 }, { "temp", "nan", 0 }, { "temp", "1e9", 0 }, { "temp", "", 0 }, { "temp", "1x", 0 },
        { "top-k", "5", 1 }, { "top-k", "1.5", 0 }, { "top-k", "-1", 0 }, { "top-k", "99999999999999999999", 0 }, { "top-p", "1.01", 0 },
        { "top-p", ".5", 1 }, { "repeat-penalty", "0", 0 }, { "repeat-penalty", "1.1", 1 }, { "seed", "18446744073709551615", 1 },
        { "seed", "-3", 0 }, { "seed", "18446744073709551616", 0 }, { "early-stopping", "never", 1 }, { "early-stopping", "yes", 0 },
        { "length-penalty", "-0.5", 1 }, { "predict", "0", 0 }, { "beam", "129", 0 },
    };
    RtGeneration g = { 0 };
    const char *expected = NULL;
    (void)state;
    for (size_t i = 0; i < sizeof tries / sizeof *tries; i++)
        if (rt_generation_set(&g, tries[i].name, tries[i].value, &expected) != !tries[i].good) fail_msg("%s %s", tries[i].name, tries[i].value);
    assert_int_equal(rt_generation_set(&g, "temperatures", "1", &expected), -1);
    assert_true(g.sampling.temperature == 0.7f && g.sampling.top_k == 5 && g.sampling.top_p == 0.5f && g.seed == UINT64_MAX);
    assert_true(g.length_penalty == -0.5 && g.early_stopping == RT_BEAM_STOP_NEVER && g.processors.repetition_penalty == 1.1f);
    g.beams = 2;
    assert_non_null(rt_generation_fault(&g));
    g.sampling.temperature = 0;
    assert_null(rt_generation_fault(&g));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agrees_with_hugging_face), cmocka_unit_test(draws_have_their_probabilities), cmocka_unit_test(no_number_is_no_id),
        cmocka_unit_test(greedy_by_both_ways), cmocka_unit_test(reads_a_prompt_without_logits), cmocka_unit_test(knows_when_to_stop),
        cmocka_unit_test(draws_by_a_seed),
        cmocka_unit_test(a_search_may_find_nothing), cmocka_unit_test(rules_act_on_logits), cmocka_unit_test(texts_have_streams_of_their_own),
        cmocka_unit_test(goes_on_from_what_is_held), cmocka_unit_test(holds_nothing_after_a_fault),
        cmocka_unit_test(options_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
