/* narrow_cache.h: attention over f16 or int8 caches, compared with attention over the same numbers
 * as f32. */
#ifndef NARROW_CACHE_H
#define NARROW_CACHE_H

#include "kernel_test.h"

/* The keys or values of a sequence, as f32 and in a narrow format. */
typedef struct Pair { Buffer single, narrow; } Pair;

typedef struct NarrowCache {
    /* Random keys, or values, that are exact in both formats. */
    Pair (*random)(int heads, int capacity, int width, int values);
    /* Give the form in which a query is multiplied by the narrow keys; NULL: it is unchanged. */
    void (*query)(float *to, const float *q, int width);
    /* Set the numbers of position j to NaN. */
    void (*hide)(Pair p, int heads, int capacity, int width, int values, int j);
    void (*attention)(const RtAttention *shape, float *out, const float *q, const void *k, const void *v, float *scratch,
                      const RtAttentionExtra *extra, const int *visible, int rows, int begin, int end);
    void (*window)(const RtWindow *shape, float *out, const float *q, const void *k, const void *v, float *scratch,
                   const RtAttentionExtra *extra, const int *visible, int rows, int begin, int end);
} NarrowCache;

/* The index of number i of a key or value at position j: of keys [heads][capacity / 16][width][16],
 * or of values [heads][padded width / 16][capacity][16]. */
static inline size_t place_of(int h, int capacity, int width, int values, int j, int i)
{
    return values ? (size_t)((h * (padded16(width) / 16) + i / 16) * capacity + j) * 16 + (size_t)(i % 16)
                  : (size_t)((h * (capacity / 16) + j / 16) * width + i) * 16 + (size_t)(j % 16);
}

typedef struct Shape { int heads, kv_heads, d_k, d_v, capacity, rows; } Shape;
static const Shape shapes[] = { { 1, 1, 1, 1, 16, 1 }, { 4, 2, 17, 20, 48, 1 }, { 6, 1, 64, 48, 112, 1 }, { 2, 2, 48, 48, 208, 1 },
    { 4, 4, 5, 7, 48, 2 }, { 1, 1, 3, 130, 32, 13 }, { 4, 2, 16, 16, 48, 14 }, { 2, 1, 17, 33, 64, 15 }, { 2, 2, 64, 64, 112, 31 },
    { 6, 2, 64, 48, 400, 1 } };

static inline void check_attention_of(const NarrowCache *c, const Shape *t, int extras, int window)
{
    const RtAttention a = { t->heads, t->kv_heads, t->d_k, t->d_v, t->capacity, padded16(t->heads * t->d_k), padded16(t->heads * t->d_v) + 16,
                            t->rows, t->capacity + 3, 0.3f, extras ? 2.0f : 0 };
    const RtWindow w = { a.heads, a.kv_heads, a.d_k, a.d_v, a.capacity, a.q_stride, a.out_stride, a.tap_rows, a.tap_columns, a.scale, a.softcap,
                         t->capacity - t->rows, 0 };
    const int reach = t->capacity;
    Pair k = c->random(t->kv_heads, t->capacity, t->d_k, 0), v = c->random(t->kv_heads, t->capacity, t->d_v, 1);
    Buffer q = random_rows(t->rows, t->heads * t->d_k, a.q_stride), bias = random_rows(t->heads, 2 * reach - 1, 2 * reach - 1);
    Buffer scratch = buffer((size_t)(RT_ATTENTION_ROWS * (t->capacity + 16 + padded16(t->d_k)))), same = buffer(q.n), out[2], scores[2], weights[2];
    int visible[32], positions[32];
    for (int r = 0; r < t->rows; r++)
        for (int h = 0; h < t->heads; h++) {
            const int at = r * a.q_stride + h * t->d_k;
            if (c->query) c->query(same.data + at, q.data + at, t->d_k);
            else memcpy(same.data + at, q.data + at, (size_t)t->d_k * sizeof *q.data);
        }
    for (int r = 0; r < t->rows; r++) {
        positions[r] = t->capacity - 1 - t->rows + r;
        visible[r] = positions[r] + 1 + (window ? t->capacity / 2 : 0);   /* the ring has wrapped */
    }
    if (!window) {
        c->hide(k, t->kv_heads, t->capacity, t->d_k, 0, t->capacity - 1);
        c->hide(v, t->kv_heads, t->capacity, t->d_v, 1, t->capacity - 1);
    }
    for (int f = 0; f < 2; f++) {
        out[f] = buffer((size_t)(t->rows * a.out_stride));
        scores[f] = buffer((size_t)(t->heads * a.tap_rows * a.tap_columns)), weights[f] = buffer(scores[f].n);
        const RtAttentionExtra extra = { .bias = window ? NULL : bias.data, .reach = reach, .positions = positions, .scores = scores[f].data,
                                         .weights = weights[f].data };
        const RtAttentionExtra *more = extras ? &extra : NULL;
        float *const y = out[f].data, *const s = scratch.data;
        if (window && f) c->window(&w, y, q.data, k.narrow.data, v.narrow.data, s, more, visible, t->rows, 0, t->heads);
        else if (window) rt_window_attention_f32(&w, y, same.data, k.single.data, v.single.data, s, more, visible, t->rows, 0, t->heads);
        else if (f) c->attention(&a, y, q.data, k.narrow.data, v.narrow.data, s, more, visible, t->rows, 0, t->heads);
        else rt_attention_f32(&a, y, same.data, k.single.data, v.single.data, s, more, visible, t->rows, 0, t->heads);
    }
    check_same_bits(out[1].data, out[0].data, out[0].n);
    for (int i = 0; i < t->heads * t->d_v; i++) assert_true(visible[0] == 0 || isfinite(out[1].data[i]));
    check_same_bits(scores[1].data, scores[0].data, scores[0].n);
    check_same_bits(weights[1].data, weights[0].data, weights[0].n);
    for (int f = 0; f < 2; f++) release(out[f]), release(scores[f]), release(weights[f]);
    release(q), release(same), release(bias), release(scratch);
    release(k.single), release(k.narrow), release(v.single), release(v.narrow);
}

/* Attention over the narrow cache is bit-identical to attention over the same numbers as f32. */
static inline void check_attention(const NarrowCache *c)
{
    for (size_t i = 0; i < COUNT(shapes); i++)
        for (int extras = 0; extras < 2; extras++)
            for (int window = 0; window < 2; window++) check_attention_of(c, &shapes[i], extras, window);
}

#endif
