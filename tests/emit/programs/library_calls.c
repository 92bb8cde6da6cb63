/* library_calls.c: valid and invalid calls to the C emitted for dates. tests/emit/run.sh builds it
 * with a folder compiled with three slots.
 * usage: library_calls WEIGHTS FOREIGN OTHER_SIZE
 * FOREIGN: the packed weights with another identity; OTHER_SIZE: those of another model. bind
 * rejects both. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef MODEL_H
#define MODEL_H "../../../generated/dates/dates.h"
#endif
#include MODEL_H
#include "rt_weights.h"

enum { GUARD = 4096, VOCAB = DATES_VOCAB, STEPS = 11, SLOTS = 3 };

/* A state between guard bytes. */
typedef struct Guarded { XF_ALIGN(64) unsigned char before[GUARD]; dates_state state; unsigned char after[GUARD]; } Guarded;
static Guarded guarded, other, third;

static dates model;
static RtWeights weights;
static int failed_line, failures;

#define CHECK(condition) do { if (!(condition) && !failed_line) failed_line = __LINE__; } while (0)
#define IS(call, status) CHECK((call) == (status))

static const char *const text = "Monday, 3rd of September 2018";
static const int answer[STEPS] = { 1, 5, 3, 4, 11, 13, 3, 12, 13, 3, 6 };      /* any ids will do */

static void guard(Guarded *g)
{
    memset(g->before, 0xA5, GUARD);
    memset(g->after, 0xA5, GUARD);
}

static int untouched(const Guarded *g)
{
    for (int i = 0; i < GUARD; i++)
        if (g->before[i] != 0xA5 || g->after[i] != 0xA5) return 0;
    return 1;
}

/* Start a case with states that were filled with NaNs and then reset: nothing may rely on zeros. */
static void begin(void)
{
    Guarded *all[] = { &guarded, &other, &third };
    for (int i = 0; i < 3; i++) {
        memset(&all[i]->state, 0xFF, sizeof all[i]->state);
        dates_reset(&all[i]->state);
    }
    failed_line = 0;
}

static void end(const char *name)
{
    CHECK(untouched(&guarded) && untouched(&other) && untouched(&third));
    if (failed_line) printf("not ok %s\nlibrary_calls.c:%d does not hold\n", name, failed_line);
    else printf("ok %s\n", name);
    failures += failed_line != 0;
}

static int read_source(const char *s, int *ids)
{
    int n = 0;
    IS(dates_tokenize(&model, &guarded.state, s, ids, DATES_MAX_SOURCE, &n, NULL), RT_OK);
    return n;
}

static void encode(dates_state *s, int slot, const char *what)
{
    int ids[DATES_MAX_SOURCE], n = read_source(what, ids);
    IS(dates_encode(&model, s, slot, ids, n), RT_OK);
}

static void row(dates_state *s, int slot, int position, int id)
{
    const rt_token r = { slot, position, id };
    IS(dates_decode(&model, s, &r, 1), RT_OK);
}

static int same(const dates_state *s, const float *logits) { return memcmp(dates_scores(s), logits, VOCAB * sizeof *logits) == 0; }
static void keep(float *to, const dates_state *s) { memcpy(to, dates_scores(s), VOCAB * sizeof *to); }

/* Encode a text, feed the answer, and keep the log-probabilities of every step. */
static void run(dates_state *s, const char *what, float out[STEPS][VOCAB])
{
    encode(s, 0, what);
    for (int i = 0; i < STEPS; i++) {
        IS(dates_step(&model, s, answer[i]), RT_OK);
        keep(out[i], s);
    }
}

/* ---- rejected calls -------------------------------------------------------------------------- */

static void bind_refuses(const char *foreign, const char *other_size)
{
    dates m = { 0 };
    RtWeights f;
    begin();
    unsigned char *moved = aligned_alloc(64, weights.bytes + 64);
    CHECK(moved != NULL);
    for (int by = 4; by < 64 && moved; by *= 2) {
        memcpy(moved + by, weights.data, weights.bytes);
        IS(dates_bind(&m, moved + by, weights.bytes), RT_BAD_WEIGHTS);
    }
    memcpy(moved, weights.data, weights.bytes);
    IS(dates_bind(&m, moved, weights.bytes), RT_OK);
    for (int i = 0; i < 8; i++) {                           /* the length of the header */
        moved[i] ^= 0x40;
        IS(dates_bind(&m, moved, weights.bytes), RT_BAD_WEIGHTS);
        moved[i] ^= 0x40;
    }
    free(moved);
    IS(dates_bind(&m, weights.data, weights.bytes - 1), RT_BAD_WEIGHTS);
    IS(dates_bind(&m, weights.data, 0), RT_BAD_WEIGHTS);
    CHECK(rt_weights_open(&f, foreign) == 0);
    IS(dates_bind(&m, f.data, f.bytes), RT_BAD_WEIGHTS);
    rt_weights_close(&f);
    CHECK(rt_weights_open(&f, other_size) == 0);
    IS(dates_bind(&m, f.data, f.bytes), RT_BAD_WEIGHTS);
    rt_weights_close(&f);
    IS(dates_bind(&m, weights.data, weights.bytes), RT_OK);
    end("bind refuses foreign, cut and misaligned weights");
}

static void ids_outside_are_refused(void)
{
    dates_state *s = &guarded.state;
    int ids[] = { 5, DATES_SOURCE_VOCAB }, next = -7;
    rt_token r = { 0, 0, 1 };
    begin();
    IS(dates_encode(&model, s, 0, ids, 2), RT_BAD_ID);
    ids[1] = -1;
    IS(dates_encode(&model, s, 0, ids, 2), RT_BAD_ID);
    IS(dates_step(&model, s, 1), RT_ORDER);                 /* neither call set a source */
    IS(dates_encode(&model, s, -1, ids, 1), RT_BAD_ID);
    IS(dates_encode(&model, s, SLOTS, ids, 1), RT_BAD_ID);
    encode(s, 0, text);
    IS(dates_step(&model, s, VOCAB), RT_BAD_ID);
    IS(dates_step(&model, s, -1), RT_BAD_ID);
    IS(dates_next(&model, s, VOCAB, &next), RT_BAD_ID);
    CHECK(next == -7);
    r.slot = SLOTS;
    IS(dates_decode(&model, s, &r, 1), RT_BAD_ID);
    r.slot = -1;
    IS(dates_decode(&model, s, &r, 1), RT_BAD_ID);
    IS(dates_fork(s, 0, SLOTS), RT_BAD_ID);
    IS(dates_fork(s, -1, 0), RT_BAD_ID);
    IS(dates_fork(s, 1, 1), RT_OK);
    end("ids and slots outside are refused");
}

static void too_long_is_refused(void)
{
    static int ids[DATES_MAX_SOURCE + 1];
    dates_state *s = &guarded.state;
    int next = -7;
    rt_token rows[DATES_ROWS + 1] = { { 0, 0, 1 } };
    begin();
    for (int i = 0; i <= DATES_MAX_SOURCE; i++) ids[i] = 5;
    IS(dates_encode(&model, s, 0, ids, DATES_MAX_SOURCE + 1), RT_TOO_LONG);
    IS(dates_encode(&model, s, 0, ids, DATES_MAX_SOURCE), RT_OK);
    IS(dates_decode(&model, s, rows, DATES_ROWS + 1), RT_TOO_LONG);
    for (int i = 0; i < DATES_MAX_TARGET; i++) IS(dates_step(&model, s, 3), RT_OK);
    IS(dates_step(&model, s, 3), RT_TOO_LONG);
    IS(dates_next(&model, s, 3, &next), RT_TOO_LONG);
    CHECK(next == -7);
    rows[0].pos = DATES_MAX_TARGET;
    IS(dates_decode(&model, s, rows, 1), RT_TOO_LONG);
    rows[0].pos = 2147483647;
    IS(dates_decode(&model, s, rows, 1), RT_TOO_LONG);
    IS(dates_threads(&model, DATES_MAX_THREADS + 1), RT_TOO_LONG);
    IS(dates_threads(&model, 0), RT_TOO_LONG);
    end("what is too long is refused");
}

static void out_of_order_is_refused(void)
{
    dates_state *s = &guarded.state;
    int ids[] = { 5, 6 }, next;
    rt_token r = { 0, 1, 1 };
    begin();
    IS(dates_step(&model, s, 1), RT_ORDER);
    IS(dates_next(&model, s, 1, &next), RT_ORDER);
    IS(dates_encode(&model, s, 0, ids, 0), RT_ORDER);
    IS(dates_encode(&model, s, 0, ids, -1), RT_ORDER);
    IS(dates_encode(&model, s, 0, ids, 2), RT_OK);
    IS(dates_decode(&model, s, &r, 1), RT_ORDER);             /* a gap */
    r.pos = -1;
    IS(dates_decode(&model, s, &r, 1), RT_ORDER);
    r.pos = 0;
    IS(dates_decode(&model, s, &r, 0), RT_ORDER);
    r.slot = 1;
    IS(dates_decode(&model, s, &r, 1), RT_ORDER);             /* a slot without a source */
    dates_reset(s);
    IS(dates_step(&model, s, 1), RT_ORDER);
    end("calls out of order are refused");
}

static void a_refusal_changes_nothing(void)
{
    float plain[STEPS][VOCAB];
    dates_state *s = &guarded.state;
    rt_token gap = { 0, 9, 1 };
    static const int bad[] = { 5, -1 };
    int next;
    begin();
    run(&other.state, text, plain);
    encode(s, 0, text);
    for (int i = 0; i < STEPS; i++) {
        IS(dates_step(&model, s, -1), RT_BAD_ID);
        IS(dates_next(&model, s, VOCAB, &next), RT_BAD_ID);
        IS(dates_encode(&model, s, 0, bad, 2), RT_BAD_ID);
        IS(dates_encode(&model, s, 0, bad, 0), RT_ORDER);
        if (i < 8) IS(dates_decode(&model, s, &gap, 1), RT_ORDER);
        IS(dates_step(&model, s, answer[i]), RT_OK);
        CHECK(same(s, plain[i]));
    }
    end("a refused call changes nothing");
}

/* ---- texts ----------------------------------------------------------------------------------- */

static char said[64];
static size_t said_bytes;
static int pieces, most_pieces;

static bool note(void *user, const char *piece, size_t n)
{
    CHECK(user == &said_bytes && n && n < sizeof said - said_bytes && piece[n] == 0);
    memcpy(said + said_bytes, piece, n + 1);
    said_bytes += n;
    return ++pieces != most_pieces;
}

static rt_status generate(const char *question, const rt_generate_options *o)
{
    said[0] = 0, said_bytes = 0, pieces = 0;
    return dates_generate(&model, &guarded.state, question, o, note, &said_bytes);
}

static void texts_are_answered(void)
{
    begin();
    for (int round = 0; round < 2; round++) {
        IS(generate("3rd of May 2019", NULL), RT_OK);
        CHECK(strcmp(said, "2019-05-03") == 0 && pieces == 10);
        IS(generate("2093-10-06", NULL), RT_OK);
        CHECK(strcmp(said, "2093-10-06") == 0);
    }
    IS(dates_generate(&model, &guarded.state, text, NULL, NULL, NULL), RT_OK);
    end("texts are answered");
}

static void options_change_answers(void)
{
    static const char *const stops[] = { "none", "-0" };
    rt_generate_options o = { .max_new_tokens = 4 };
    begin();
    IS(generate("3rd of May 2019", &o), RT_OK);
    CHECK(strcmp(said, "2019") == 0);
    o = (rt_generate_options){ .stops = stops, .stop_count = 2 };
    IS(generate("3rd of May 2019", &o), RT_OK);
    CHECK(strcmp(said, "2019") == 0);
    most_pieces = 7;
    IS(generate("3rd of May 2019", NULL), RT_OK);
    CHECK(strcmp(said, "2019-05") == 0);
    most_pieces = 0;
    o = (rt_generate_options){ .temperature = 50, .seed = 3 };
    IS(generate("3rd of May 2019", &o), RT_OK);
    CHECK(strcmp(said, "2019-05-03") != 0);
    o = (rt_generate_options){ .top_p = 2 };
    IS(generate("3rd of May 2019", &o), RT_BAD_OPTION);
    CHECK(pieces == 0);
    end("options change an answer");
}

static void room_is_respected(void)
{
    static const int ids[] = { 7, 5, 6, 14, 2, 4 };          /* the </s> among them has no text */
    char out[32];
    size_t bytes;
    begin();
    for (size_t cap = 0; cap < 16; cap++) {
        memset(out, '#', sizeof out);
        const rt_status status = dates_detokenize(&model, ids, 6, out, cap, &bytes);
        CHECK(status == (cap > 5 ? RT_OK : RT_NO_ROOM));
        CHECK(cap == 0 ? bytes == 0 : strlen(out) == bytes && bytes == (cap > 5 ? 5 : cap - 1));
        for (size_t i = cap; i < sizeof out; i++) CHECK(out[i] == '#');
    }
    end("a text stays in its room");
}

/* The log-probability of an answer to one fixed date; the model's own answer has the highest. */
static double score(const char *target)
{
    int ids[DATES_MAX_TARGET], n = 0, id = DATES_START;
    double sum = 0;
    IS(dates_tokenize_target(&model, &guarded.state, target, ids, DATES_MAX_TARGET, &n, NULL), RT_OK);
    encode(&guarded.state, 0, "3rd of May 2019");
    for (int i = 0; i < n; i++) {
        IS(dates_step(&model, &guarded.state, id), RT_OK);
        id = ids[i];
        sum += (double)dates_scores(&guarded.state)[id];
    }
    return sum;
}

static void answers_are_scored(void)
{
    int ids[2], n;
    RtTextFault fault = { 99, 99 };
    begin();
    CHECK(score("2019-05-03") > -0.01 && score("2019-05-04") < -1 && score("2018-05-03") < -1);
    IS(dates_tokenize_target(&model, &guarded.state, "2019-", ids, 2, &n, NULL), RT_TOO_LONG);
    CHECK(n == 5);
    IS(dates_tokenize_target(&model, &guarded.state, "20May", ids, 2, &n, &fault), RT_BAD_ID);
    CHECK(fault.at == 2 && fault.code_point == 'M');
    end("answers are scored");
}

static void texts_are_refused(void)
{
    char longest[2 * DATES_MAX_SOURCE];
    int ids[DATES_MAX_SOURCE], n = 0;
    RtTextFault fault = { 99, 99 };
    begin();
    IS(dates_tokenize(&model, &guarded.state, "3rd \xe2\x82\xac 2019", ids, DATES_MAX_SOURCE, &n, &fault), RT_BAD_ID);
    CHECK(fault.at == 4 && fault.code_point == 0x20ac);
    IS(dates_tokenize(&model, &guarded.state, "3rd \xe2\x82", ids, DATES_MAX_SOURCE, &n, &fault), RT_BAD_ID);
    CHECK(fault.at == 4 && fault.code_point == -1);
    IS(dates_tokenize(&model, &guarded.state, "3rd of May", ids, 4, &n, &fault), RT_TOO_LONG);
    CHECK(n == 10);
    IS(generate("3rd \xe2\x82\xac 2019", NULL), RT_BAD_ID);
    CHECK(pieces == 0);
    IS(generate("", NULL), RT_ORDER);
    memset(longest, '1', sizeof longest);
    longest[DATES_MAX_SOURCE + 1] = 0;
    IS(generate(longest, NULL), RT_TOO_LONG);
    longest[DATES_MAX_SOURCE] = 0;
    IS(generate(longest, NULL), RT_OK);
    end("texts that do not fit are refused");
}

/* ---- sequences ------------------------------------------------------------------------------- */

static void steps_are_a_distribution(void)
{
    float plain[STEPS][VOCAB];
    int next;
    begin();
    run(&other.state, text, plain);
    encode(&guarded.state, 0, text);
    for (int i = 0; i < STEPS; i++) {
        double sum = 0;
        int best = 0;
        for (int v = 0; v < VOCAB; v++) {
            sum += exp(plain[i][v]);
            if (plain[i][v] > plain[i][best]) best = v;
        }
        CHECK(fabs(sum - 1) < 1e-5);
        IS(dates_next(&model, &guarded.state, answer[i], &next), RT_OK);
        CHECK(next == best);
    }
    end("a step gives a distribution, next its maximum");
}

static void a_step_equals_a_replay(void)
{
    float plain[STEPS][VOCAB];
    begin();
    run(&guarded.state, text, plain);
    for (int i = 0; i < STEPS; i++) {
        memset(&other.state, 0xFF, sizeof other.state);
        dates_reset(&other.state);
        encode(&other.state, 0, text);
        for (int j = 0; j <= i; j++) IS(dates_step(&model, &other.state, answer[j]), RT_OK);
        CHECK(same(&other.state, plain[i]));
    }
    end("a step with the cache equals a replay from the start");
}

static void a_used_state_is_as_a_new_one(void)
{
    float plain[STEPS][VOCAB], again[STEPS][VOCAB];
    begin();
    run(&guarded.state, "1/2/34", plain);
    run(&other.state, "the longest date that there is, I believe, is Wednesday, the 30th of September 1", again);
    run(&other.state, "1/2/34", again);
    CHECK(memcmp(plain, again, sizeof plain) == 0);
    end("a used state is as a new one");
}

static void a_forked_sequence_goes_on(void)
{
    float plain[STEPS][VOCAB];
    dates_state *s = &guarded.state;
    begin();
    run(&other.state, text, plain);
    encode(s, 0, text);
    for (int i = 0; i < 4; i++) row(s, 0, i, answer[i]);
    IS(dates_fork(s, 0, 2), RT_OK);
    row(s, 0, 4, 9);                                        /* the first sequence diverges */
    row(s, 0, 5, 9);
    for (int i = 4; i < STEPS; i++) {
        row(s, 2, i, answer[i]);
        CHECK(same(s, plain[i]));
    }
    IS(dates_fork(s, 2, 0), RT_OK);
    row(s, 0, STEPS - 1, answer[STEPS - 1]);
    CHECK(same(s, plain[STEPS - 1]));
    end("a forked sequence equals a plain one");
}

static void slots_keep_apart(void)
{
    static const char *const texts[SLOTS] = { "3rd of May 2019", "1/2/34", "Monday, 3rd of September 2018" };
    float plain[SLOTS][STEPS][VOCAB];
    begin();
    for (int k = 0; k < SLOTS; k++) run(&other.state, texts[k], plain[k]);
    for (int k = 0; k < SLOTS; k++) encode(&guarded.state, k, texts[k]);
    for (int i = 0; i < STEPS; i++)
        for (int k = 0; k < SLOTS; k++) {
            row(&guarded.state, k, i, answer[i]);
            CHECK(same(&guarded.state, plain[k][i]));
        }
    end("sequences in three slots keep apart");
}

static void a_position_is_taken_back(void)
{
    float plain[STEPS][VOCAB];
    dates_state *s = &guarded.state;
    begin();
    run(&other.state, text, plain);
    encode(s, 0, text);
    for (int i = 0; i < STEPS; i++) row(s, 0, i, i < 2 ? answer[i] : 7);
    for (int i = 2; i < STEPS; i++) {
        row(s, 0, i, answer[i]);
        CHECK(same(s, plain[i]));
    }
    row(s, 0, 3, 4);
    row(s, 0, 3, answer[3]);
    CHECK(same(s, plain[3]));
    const rt_token gap = { 0, 5, 1 };
    IS(dates_decode(&model, s, &gap, 1), RT_ORDER);           /* later positions are gone */
    end("a position can be taken back");
}

static void a_copied_state_goes_on(void)
{
    float plain[STEPS][VOCAB];
    begin();
    run(&other.state, text, plain);
    encode(&guarded.state, 0, text);
    for (int i = 0; i < 5; i++) IS(dates_step(&model, &guarded.state, answer[i]), RT_OK);
    memcpy(&third.state, &guarded.state, sizeof third.state);
    memset(&guarded.state, 0xFF, sizeof guarded.state);
    CHECK(same(&third.state, plain[4]));
    for (int i = 5; i < STEPS; i++) {
        IS(dates_step(&model, &third.state, answer[i]), RT_OK);
        CHECK(same(&third.state, plain[i]));
    }
    end("a state copied elsewhere goes on");
}

static void threads_change_no_bit(void)
{
    static const int threads[] = { 2, 3, DATES_MAX_THREADS, 1 };
    static const char *const texts[] = { text, "1/2/34", "the longest date that there is, I believe, is Wednesday, the 30th of September 1" };
    float plain[STEPS][VOCAB], shared[STEPS][VOCAB];
    begin();
    for (int t = 0; t < 3; t++) {
        run(&guarded.state, texts[t], plain);
        for (int i = 0; i < 4; i++) {
            IS(dates_threads(&model, threads[i]), RT_OK);
            run(&other.state, texts[t], shared);
            CHECK(memcmp(plain, shared, sizeof plain) == 0);
        }
    }
    end("1, 2, 3 and 16 threads give equal bits");
}

static void two_states_share_a_model(void)
{
    float plain[STEPS][VOCAB];
    begin();
    run(&third.state, text, plain);
    encode(&guarded.state, 0, text);
    encode(&other.state, 0, "1/2/34");
    for (int i = 0; i < STEPS; i++) {
        IS(dates_step(&model, &other.state, 5), RT_OK);
        IS(dates_step(&model, &guarded.state, answer[i]), RT_OK);
        CHECK(same(&guarded.state, plain[i]));
    }
    end("two states share a model");
}

int main(int argc, char **argv)
{
    if (argc != 4 || rt_weights_open(&weights, argv[1])) return 2;
    if (dates_bind(&model, weights.data, weights.bytes) != RT_OK) return 2;
    guard(&guarded), guard(&other), guard(&third);
    bind_refuses(argv[2], argv[3]);
    ids_outside_are_refused();
    too_long_is_refused();
    out_of_order_is_refused();
    a_refusal_changes_nothing();
    texts_are_answered();
    options_change_answers();
    answers_are_scored();
    room_is_respected();
    texts_are_refused();
    steps_are_a_distribution();
    a_step_equals_a_replay();
    a_used_state_is_as_a_new_one();
    a_forked_sequence_goes_on();
    slots_keep_apart();
    a_position_is_taken_back();
    a_copied_state_goes_on();
    threads_change_no_bit();
    two_states_share_a_model();
    rt_weights_close(&weights);
    return failures != 0;
}
