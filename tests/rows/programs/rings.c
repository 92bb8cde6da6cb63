/* rings.c: sequences longer than the rings of a model with sliding windows: prefill, batches,
 * forks, a saved state, rewound positions. All of them give the same bits as one row at a time, in
 * states that were full of NaN, on one thread and on two. Compiled like rows.c, against a model
 * with three slots and at least 400 positions. */
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

enum { LENGTH = 400, MOST = 128 };      /* MOST: the most rows of a call, and how far sequences can be rewound */
static float want[LENGTH * VOCAB];

static int id_of(int position) { return 3 + position * 7 % 31; }

static void check(int good, const char *name, int threads)
{
    printf("%s %s, %d threads\n", good ? "ok" : "not ok", name, threads);
    failures += !good;
}

static int same(const State *s, int row, int position)
{
    return memcmp(want + (size_t)position * VOCAB, CALL(SCORES)(s) + (size_t)row * STRIDE, VOCAB * sizeof(float)) == 0;
}

/* Set every bit, so that all floats are NaN, then reset the header. */
static void spoil(State *s)
{
    memset(s, 0xff, sizeof *s);
    CALL(reset)(s);
}

static int run(State *s, int slot, int from, int to, int piece)
{
    int good = 1;
    for (int at = from, n; at < to; at += n) {
        rt_token rows[MOST];
        n = to - at < piece ? to - at : piece;
        for (int i = 0; i < n; i++) rows[i] = (rt_token){ slot, at + i, id_of(at + i) };
        if (CALL(decode)(&model, s, rows, n) != RT_OK) return 0;
        for (int i = 0; i < n; i++) good &= same(s, i, at + i);
    }
    return good;
}

static int batch(void)
{
    const int lengths[3] = { 150, 390, 31 };
    int good = 1;
    spoil(&other);
    for (int slot = 0; slot < 3; slot++) good &= run(&other, slot, 0, lengths[slot], MOST);
    for (int step = 0; step < 10; step++) {
        rt_token rows[6];
        for (int slot = 0; slot < 3; slot++) rows[slot] = (rt_token){ slot, lengths[slot] + step, id_of(lengths[slot] + step) };
        if (CALL(decode)(&model, &other, rows, 3) != RT_OK) return 0;
        for (int slot = 0; slot < 3; slot++) good &= same(&other, slot, lengths[slot] + step);
    }
    return good;
}

static int forked(void)
{
    spoil(&other);
    if (!run(&other, 1, 0, 200, 50) || CALL(fork)(&other, 1, 0) != RT_OK) return 0;
    int good = 1;
    for (int i = 200; i < 260; i++) good &= CALL(step)(&model, &other, id_of(i)) == RT_OK && same(&other, 0, i);
    return good && run(&other, 1, 200, 400, 7) && run(&other, 0, 260, 400, 64);
}

static int saved(const char *path)
{
    spoil(&other);
    if (!run(&other, 0, 0, 250, 90)) return 0;
    FILE *f = fopen(path, "wb");
    if (!f || fwrite(&other, sizeof other, 1, f) != 1 || fclose(f) != 0) return 0;
    f = fopen(path, "rb");
    if (!f || fread(&third, sizeof third, 1, f) != 1) return 0;
    fclose(f);
    return run(&third, 0, 250, 400, 3);
}

/* A position that is too far back, or past the end, gives RT_ORDER and changes nothing. */
static int refused(int slot, int position)
{
    const rt_token row = { slot, position, id_of(position) };
    memcpy(&third, &other, sizeof other);
    return CALL(decode)(&model, &other, &row, 1) == RT_ORDER && memcmp(&third, &other, sizeof other) == 0;
}

static int taken_back(void)
{
    int good = 1;
    spoil(&other);
    good &= run(&other, 2, 0, 300, MOST) && refused(2, 300 - MOST - 1);
    good &= run(&other, 2, 300 - MOST, 180, 4) && refused(2, 300 - MOST - 1);
    good &= run(&other, 2, 300 - MOST, 310, MOST) && refused(2, 310 - MOST - 1);
    good &= CALL(fork)(&other, 2, 0) == RT_OK && refused(0, 310 - MOST - 1) && run(&other, 0, 310 - MOST, 340, 1);
    good &= run(&other, 2, 0, 3, 3) && run(&other, 2, 1, 140, 9);
    good &= CALL(clear)(&other, 2) == RT_OK && refused(2, 1) && run(&other, 2, 0, 400, 33);
    return good;
}

int main(int argc, char **argv)
{
    RtWeights weights;
    char name[64];
    if (argc < 3 || rt_weights_open(&weights, argv[1]) || CALL(bind)(&model, weights.data, weights.bytes) != RT_OK) return 1;
    for (int i = 0; i < LENGTH; i++) {
        if (CALL(step)(&model, &plain, id_of(i)) != RT_OK) return 1;
        memcpy(want + (size_t)i * VOCAB, CALL(SCORES)(&plain), VOCAB * sizeof(float));
    }
    for (int threads = 1; threads <= 2; threads++) {
        static const int pieces[] = { 1, 2, 15, 16, 100, 127, MOST };
        if (CALL(threads)(&model, threads) != RT_OK) return 1;
        for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
            snprintf(name, sizeof name, "rings: prefill in pieces of %d", pieces[i]);
            spoil(&other);
            check(run(&other, 0, 0, LENGTH, pieces[i]), name, threads);
        }
        check(batch(), "rings: a batch of three lengths", threads);
        check(forked(), "rings: a fork", threads);
        check(saved(argv[2]), "rings: a state saved and read back", threads);
        check(taken_back(), "rings: positions taken back", threads);
    }
    CALL(threads)(&model, 1);
    rt_weights_close(&weights);
    return failures != 0;
}
