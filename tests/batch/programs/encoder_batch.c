/* encoder_batch.c: encoding several sources in one call gives the same bits as separate calls, on
 * one thread and on several; bad calls are rejected. Compiled with an emitted encoder of 60
 * positions; macros give its name and header, and tell whether it pools and takes pairs, and how
 * wide its results are. argv[1]: its packed weights. Prints TAP-like lines. */
#include <stdio.h>
#include <string.h>

#include "rt_weights.h"
#include MODEL_HEADER

#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
#define CALL(name) JOIN(MODEL, name)

enum { LONGEST = 60, TEXTS = 4 };

static CALL(_state) state, before;
static MODEL model;
static int failures;

static void check(int good, const char *name)
{
    printf("%s %s\n", good ? "ok" : "not ok", name);
    failures += !good;
}

/* The results of the last call: its vector, or its rows. */
static const float *left(void)
{
#if POOLED
    return CALL(_vector)(&state);
#else
    return CALL(_hidden)(&state);
#endif
}

/* Encode one text alone. */
static rt_status alone(const int *ids, int n, int first)
{
#if PAIRS
    return CALL(_encode_pair)(&model, &state, 0, ids, n, first);
#else
    (void)first;
    return CALL(_encode)(&model, &state, 0, ids, n);
#endif
}

static rt_status batch(const int *ids, const int *lengths, const int *firsts, int count, float *vectors)
{
    return CALL(_encode_batch)(&model, &state, ids, lengths, PAIRS ? firsts : NULL, count, vectors);
}

static int refused(const int *ids, const int *lengths, const int *firsts, int count, rt_status want)
{
    memcpy(&before, &state, sizeof state);
    return batch(ids, lengths, firsts, count, NULL) == want && memcmp(&before, &state, sizeof state) == 0;
}

/* Encode each text alone, then all in one call. True if the results have the same bits; if not,
 * *why says what went wrong. Neighbouring ids differ, and so do the texts. */
static int equal(const int *lengths, int count, const char **why)
{
    static float each[LONGEST * STRIDE], pooled[TEXTS * STRIDE];
    int ids[LONGEST], firsts[TEXTS], rows = 0;
    for (int i = 0; i < LONGEST; i++) ids[i] = (7 * i + 3) % 29;
    for (int t = 0; t < count; rows += lengths[t++]) {
        firsts[t] = lengths[t] / 2 + (t == 1);
        if (firsts[t] > lengths[t]) firsts[t] = lengths[t];
        if (*why = "alone", alone(ids + rows, lengths[t], firsts[t]) != RT_OK) return 0;
        if (POOLED) memcpy(each + t * STRIDE, left(), WIDTH * sizeof *each);
        else memcpy(each + rows * STRIDE, left(), (size_t)(lengths[t] * STRIDE) * sizeof *each);
    }
    if (*why = "status", batch(ids, lengths, firsts, count, POOLED ? pooled : NULL) != RT_OK) return 0;
    *why = "numbers";
    if (POOLED) {
        for (int t = 0; t < count; t++)
            if (memcmp(each + t * STRIDE, pooled + t * WIDTH, WIDTH * sizeof *each)) return 0;
        return !memcmp(left(), pooled + (count - 1) * WIDTH, WIDTH * sizeof *each);
    }
    for (int r = 0; r < rows; r++)
        if (memcmp(each + r * STRIDE, left() + r * STRIDE, WIDTH * sizeof *each)) return 0;
    return 1;
}

int main(int argc, char **argv)
{
    static const struct { int lengths[TEXTS], count; } cases[] = {
        { { 60 }, 1 }, { { 1, 1, 1, 1 }, 4 }, { { 16, 16, 16, 12 }, 4 }, { { 3, 17, 12 }, 3 }, { { 31, 28 }, 2 }, { { 17, 1, 9 }, 3 },
    };
    const int ids[LONGEST + 1] = { 5 }, one[] = { 1 }, none[] = { 3, 0 }, many[] = { 1, 1, 1, 1, 1 };
    const int wide[] = { 17, 29 }, long_one[] = { LONGEST + 1 }, wrong[] = { 5, 6, 29, 5 }, two[] = { 2, 2 }, far[] = { 1, 3 }, below[] = { -1, 0 };
    RtWeights weights;
    if (argc < 2 || rt_weights_open(&weights, argv[1]) || CALL(_bind)(&model, weights.data, weights.bytes) != RT_OK) return 1;
    for (int threads = 1; threads <= 3; threads += 2) {
        int good = CALL(_threads)(&model, threads) == RT_OK;
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
            const char *why = "";
            if (equal(cases[i].lengths, cases[i].count, &why)) continue;
            printf("case %zu: %s\n", i, why);
            good = 0;
        }
        check(good, threads == 1 ? "a batch has the bits of its texts alone" : "on three threads too");
    }
    CALL(_threads)(&model, 1);
    check(refused(ids, one, one, 0, RT_ORDER) && refused(ids, none, none, 2, RT_ORDER), "no texts, a text without ids");
    check(refused(ids, many, many, 5, RT_TOO_LONG) && refused(ids, wide, wide, 2, RT_TOO_LONG) && refused(ids, long_one, one, 1, RT_TOO_LONG),
          "more than fit");
#if !POOLED
    float unread[WIDTH];
    check(CALL(_encode_batch)(&model, &state, ids, two, NULL, 2, unread) == RT_BAD_OPTION, "vectors of a model that has none");
#endif
#if !PAIRS
    check(CALL(_encode_batch)(&model, &state, ids, two, two, 2, NULL) == RT_BAD_OPTION, "first texts of a model without pairs");
#endif
    check(refused(wrong, two, two, 2, RT_BAD_ID), "an id outside the vocabulary");
#if PAIRS
    check(refused(ids, two, far, 2, RT_ORDER) && refused(ids, two, below, 2, RT_ORDER), "a second text outside the ids");
#else
    (void)far, (void)below;
#endif
    rt_weights_close(&weights);
    return failures != 0;
}
