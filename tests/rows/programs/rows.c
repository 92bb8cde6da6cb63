/* rows.c: many rows in one call give the same bits as one row at a time: prefill in pieces of many
 * sizes, batches of slots, forks, on one thread and on two. Also the most likely ids, a state saved
 * to a file and read back, and rejected calls. Prints TAP-like lines. Compiled against an emitted
 * decoder-only model with three slots; run.sh defines MODEL, HEADER, VOCAB, STRIDE and SCORES. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include HEADER
#include "rt_weights.h"

#define JOIN(a, b) a##_##b
#define NAMED(a, b) JOIN(a, b)
#define CALL(what) NAMED(MODEL, what)

typedef CALL(state) State;
static State plain, other, third;
static MODEL model;
static int failures;

static void check(int good, const char *name)
{
    printf("%s %s\n", good ? "ok" : "not ok", name);
    failures += !good;
}

enum { LENGTH = 12 };
static const int ids[LENGTH] = { 3, 5, 8, 13, 4, 6, 10, 16, 26, 7, 11, 18 };

static size_t row_bytes(void) { return VOCAB * sizeof(float); }

/* Logits of ids[0 .. n-1], one step after another, in slot 0 of `plain`. */
static void steps(float *logits, int n)
{
    CALL(reset)(&plain);
    for (int i = 0; i < n; i++) {
        if (CALL(step)(&model, &plain, ids[i]) != RT_OK) exit(1);
        memcpy(logits + (size_t)i * VOCAB, CALL(SCORES)(&plain), row_bytes());
    }
}

static int same(const float *want, const State *s, int row)
{
    return memcmp(want, CALL(SCORES)(s) + (size_t)row * STRIDE, row_bytes()) == 0;
}

/* Decode `n` ids of a slot, `piece` at a time, and compare the logits of all rows. */
static int prefill(State *s, int slot, const float *want, int n, int piece)
{
    int good = 1;
    for (int from = 0; from < n; from += piece) {
        rt_token rows[LENGTH];
        int count = n - from < piece ? n - from : piece;
        for (int i = 0; i < count; i++) rows[i] = (rt_token){ slot, from + i, ids[from + i] };
        if (CALL(decode)(&model, s, rows, count) != RT_OK) return 0;
        for (int i = 0; i < count; i++) good &= same(want + (size_t)(from + i) * VOCAB, s, i);
    }
    return good;
}

/* Read all ids but the last without logits, then decode the last and compare its logits. A prefill
 * that leaves a gap is rejected. */
static int read_then(State *s, int slot, const float *want, int n, int piece)
{
    CALL(reset)(s);
    for (int from = 0; from < n - 1; from += piece) {
        rt_token rows[LENGTH];
        int count = n - 1 - from < piece ? n - 1 - from : piece;
        for (int i = 0; i < count; i++) rows[i] = (rt_token){ slot, from + i, ids[from + i] };
        if (CALL(prefill)(&model, s, rows, count) != RT_OK) return 0;
    }
    const rt_token last = { slot, n - 1, ids[n - 1] }, gap = { slot, n + 1, ids[0] };
    return CALL(prefill)(&model, s, &gap, 1) == RT_ORDER && CALL(decode)(&model, s, &last, 1) == RT_OK && same(want + (size_t)(n - 1) * VOCAB, s, 0);
}

/* Three sequences of different lengths at once: each row as if it were alone. */
static int batch(const float *want)
{
    const int lengths[3] = { 5, 9, 2 };
    int good = 1;
    CALL(reset)(&other);
    for (int slot = 0; slot < 3; slot++) good &= prefill(&other, slot, want, lengths[slot], LENGTH);
    for (int step = 0; step < 3; step++) {
        rt_token rows[3];
        for (int slot = 0; slot < 3; slot++) rows[slot] = (rt_token){ slot, lengths[slot] + step, ids[lengths[slot] + step] };
        if (CALL(decode)(&model, &other, rows, 3) != RT_OK) return 0;
        for (int slot = 0; slot < 3; slot++) good &= same(want + (size_t)(lengths[slot] + step) * VOCAB, &other, slot);
    }
    return good;
}

/* Prefill one slot and continue two others in one call. */
static int mixture(const float *want)
{
    CALL(reset)(&other);
    if (!prefill(&other, 0, want, 4, 4) || !prefill(&other, 2, want, 7, 3)) return 0;
    rt_token rows[6] = { { 2, 7, ids[7] }, { 1, 0, ids[0] }, { 1, 1, ids[1] }, { 1, 2, ids[2] }, { 0, 4, ids[4] }, { 0, 5, ids[5] } };
    if (CALL(decode)(&model, &other, rows, 6) != RT_OK) return 0;
    const int at[6] = { 7, 0, 1, 2, 4, 5 };
    int good = 1;
    for (int i = 0; i < 6; i++) good &= same(want + (size_t)at[i] * VOCAB, &other, i);
    return good;
}

static int first_maximum(const float *logits)
{
    int best = 0;
    for (int i = 1; i < VOCAB; i++)
        if (logits[i] > logits[best]) best = i;
    return best;
}

/* True if the row holds logits: those of the expected row plus the constant that a log-softmax
 * subtracts. */
static int plain_logits(const float *want, const State *s, int row)
{
    const float *found = CALL(SCORES)(s) + (size_t)row * STRIDE;
    double sum = 0;
    float off = 0;
    for (int i = 0; i < VOCAB; i++) off = fmaxf(off, fabsf(found[i] - found[0] - (want[i] - want[0])));
    for (int i = 0; i < VOCAB; i++) sum += exp((double)found[i]);
    return off < 1e-4f && fabs(log(sum)) > 1e-3;
}

/* The most likely ids after a prefill, after rows of three slots, and after one row, by
 * decode_greedy; after one row also by `next`. The rows then hold logits, not log-probabilities. */
static int argmax(const float *want)
{
    int next[LENGTH + 1] = { 0 }, one = -1, good;
    rt_token rows[LENGTH];
    next[LENGTH] = -7;
    CALL(reset)(&other);
    CALL(reset)(&third);
    for (int i = 0; i < LENGTH; i++) rows[i] = (rt_token){ 1, i, ids[i] };
    good = CALL(decode_greedy)(&model, &other, rows, LENGTH, next) == RT_OK && next[LENGTH] == -7;
    for (int i = 0; i < LENGTH; i++) good &= next[i] == first_maximum(want + i * VOCAB) && plain_logits(want + i * VOCAB, &other, i);
    if (!prefill(&other, 0, want, 4, 4) || !prefill(&other, 2, want, 7, 3)) return 0;
    const rt_token mixed[3] = { { 2, 7, ids[7] }, { 1, 3, ids[3] }, { 0, 4, ids[4] } };
    const int at[3] = { 7, 3, 4 };
    good &= CALL(decode_greedy)(&model, &other, mixed, 3, next) == RT_OK;
    for (int i = 0; i < 3; i++) good &= next[i] == first_maximum(want + at[i] * VOCAB);
    for (int i = 0; i < 3; i++) {
        good &= CALL(decode_greedy)(&model, &other, &(rt_token){ 1, 4 + i, ids[4 + i] }, 1, next) == RT_OK;
        good &= CALL(next)(&model, &third, ids[i], &one) == RT_OK;
        good &= next[0] == first_maximum(want + (4 + i) * VOCAB) && one == first_maximum(want + i * VOCAB);
        good &= plain_logits(want + (4 + i) * VOCAB, &other, 0) && plain_logits(want + i * VOCAB, &third, 0);
    }
    return good;
}

static int forked(const float *want)
{
    CALL(reset)(&other);
    if (!prefill(&other, 1, want, 6, 6) || CALL(fork)(&other, 1, 0) != RT_OK) return 0;
    int good = CALL(step)(&model, &other, ids[6]) == RT_OK && same(want + (size_t)6 * VOCAB, &other, 0);
    rt_token again = { 1, 6, ids[6] };
    good &= CALL(decode)(&model, &other, &again, 1) == RT_OK && same(want + (size_t)6 * VOCAB, &other, 0);
    rt_token back = { 1, 3, ids[3] };             /* rewind to an earlier position */
    return good && CALL(decode)(&model, &other, &back, 1) == RT_OK && same(want + (size_t)3 * VOCAB, &other, 0);
}

static int saved(const float *want, const char *path)
{
    CALL(reset)(&other);
    if (!prefill(&other, 0, want, 5, 2)) return 0;
    FILE *f = fopen(path, "wb");
    if (!f || fwrite(&other, sizeof other, 1, f) != 1 || fclose(f) != 0) return 0;
    memset(&other, 0x55, sizeof other);
    f = fopen(path, "rb");
    if (!f || fread(&third, sizeof third, 1, f) != 1) return 0;
    fclose(f);
    return CALL(step)(&model, &third, ids[5]) == RT_OK && same(want + (size_t)5 * VOCAB, &third, 0);
}

static int refused(void)
{
    CALL(reset)(&other);
    rt_token gap[2] = { { 0, 0, 3 }, { 0, 2, 3 } }, twice[3] = { { 0, 0, 3 }, { 1, 0, 3 }, { 0, 1, 3 } }, far[2] = { { 0, 0, 3 }, { 3, 0, 3 } };
    rt_token wrong[2] = { { 0, 0, 3 }, { 0, 1, VOCAB } }, later[2] = { { 0, 1, 3 }, { 0, 2, 3 } };
    State before = other;
    int good = CALL(decode)(&model, &other, gap, 2) == RT_ORDER && CALL(decode)(&model, &other, twice, 3) == RT_ORDER;
    good &= CALL(decode)(&model, &other, far, 2) == RT_BAD_ID && CALL(decode)(&model, &other, wrong, 2) == RT_BAD_ID;
    good &= CALL(decode)(&model, &other, later, 2) == RT_ORDER && CALL(decode)(&model, &other, gap, 0) == RT_ORDER;
    good &= CALL(decode)(&model, &other, gap, 100000) == RT_TOO_LONG;
    int next[3] = { -7, -7, -7 };
    good &= CALL(decode_greedy)(&model, &other, gap, 2, next) == RT_ORDER && CALL(decode_greedy)(&model, &other, wrong, 2, next) == RT_BAD_ID;
    good &= CALL(decode_greedy)(&model, &other, gap, 0, next) == RT_ORDER && next[0] == -7 && next[1] == -7;
    return good && memcmp(&before, &other, sizeof other) == 0;
}

int main(int argc, char **argv)
{
    static float want[LENGTH * VOCAB];
    RtWeights weights;
    char name[80];
    if (argc < 3 || rt_weights_open(&weights, argv[1]) || CALL(bind)(&model, weights.data, weights.bytes) != RT_OK) return 1;
    steps(want, LENGTH);
    for (int threads = 1; threads <= 2; threads++) {
        if (CALL(threads)(&model, threads) != RT_OK) return 1;
        for (int piece = 1; piece <= LENGTH; piece += piece < 5 ? 1 : 7) {
            CALL(reset)(&other);
            snprintf(name, sizeof name, "prefill in pieces of %d, %d threads", piece, threads);
            check(prefill(&other, 0, want, LENGTH, piece), name);
            snprintf(name, sizeof name, "reading in pieces of %d without logits, %d threads", piece, threads);
            check(read_then(&other, 1, want, LENGTH, piece), name);
        }
        snprintf(name, sizeof name, "a batch of three lengths, %d threads", threads);
        check(batch(want), name);
        snprintf(name, sizeof name, "prefill and steps in one call, %d threads", threads);
        check(mixture(want), name);
        snprintf(name, sizeof name, "the most likely id after each row, and its logits, %d threads", threads);
        check(argmax(want), name);
        snprintf(name, sizeof name, "a fork, and a position taken back, %d threads", threads);
        check(forked(want), name);
    }
    check(saved(want, argv[2]), "a state saved and read back");
    check(refused(), "rows out of order are refused and change nothing");
    CALL(threads)(&model, 1);
    rt_weights_close(&weights);
    return failures != 0;
}
