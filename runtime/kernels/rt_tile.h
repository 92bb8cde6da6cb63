/* rt_tile.h: the register tile of matrix products in floats; rt_simd_int8.h has the one for bytes.
 *
 * y[r][16p + l] = activation(start + sum over i of x[r][i] * w[p][i][l])
 * Each element is one sum over ascending i, in any tile: its bits depend neither on the rows nor on
 * the panels nor on how the range of i is divided. w: panels of [in][16] weights, `w_panel` floats
 * apart, in bf16 [in / 2][16][2], where widening takes one operation: with [in][16] it took two, and
 * one row read the L3 cache of a Zen 4 at 58 instead of 80 GB/s. Weights in a `format` other than
 * f32 are widened when they are loaded. `start` is 0, the [16] floats before each panel's weights,
 * or y. `last` columns of the last panel are stored. y overlaps neither x nor w. */
#ifndef RT_TILE_H
#define RT_TILE_H

#include "rt_simd.h"
#include "rt_simd_f16.h"

/* The format of weights; callers pass a literal. bf16 is the upper half of an f32. int8: keys and
 * values without their scales; see rt_scales.h. */
typedef enum RtFormat { RT_F32, RT_BF16, RT_F16, RT_INT8 } RtFormat;
/* Load sixteen weights as floats. */
RT_INLINE rt_v16 rt_load_as(const float *w, const RtFormat format)
{
    if (format == RT_INT8) return rt_load_int8(w);
    if (format == RT_F16) return rt_load_f16(w);
    return rt_load(w);
}

/* The size of sixteen weights, in floats. */
RT_INLINE int rt_row_floats(const RtFormat format) { return format == RT_F32 ? 16 : format == RT_INT8 ? 4 : 8; }

/* The weights of input k of a panel at w; bf16: k is a literal, and w that of an even input. */
RT_INLINE rt_v16 rt_load_weights(const float *w, const int k, const RtFormat format)
{
    if (format == RT_BF16) return k % 2 ? rt_load_bf16_odd(w + 16 * (k / 2)) : rt_load_bf16_even(w + 16 * (k / 2));
    return rt_load_as(w + k * rt_row_floats(format), format);
}

/* Store sixteen floats as f32 or f16. */
RT_INLINE void rt_store_as(float *to, rt_v16 x, const RtFormat format)
{
    if (format == RT_F16) rt_store_f16(to, x);
    else rt_store(to, x);
}

typedef enum RtStart { RT_FROM_ZERO, RT_FROM_BIAS, RT_FROM_Y } RtStart;
typedef struct RtTile {
    float *y;
    const float *x, *w;
    size_t y_stride, x_stride, w_panel;
    int in, last, one_stream, wide;
    RtStart start;
    RtActivation activation;
    const float *add;               /* NULL, or the row that is added to the sums of one row; */
    int add_last;                   /*   the columns of its last panel */
    /* A literal from the caller; 1: a cache holds the weights, so tiles neither prefetch nor take
     * two inputs per iteration. */
    int cached;
    int whole;                      /* 1: the last 3, 5, 6 or 7 rows form one tile, if its sums fit
                                     * into registers; else 0 */
    int tile, tiles;                /* tile `tile` of `tiles` full tiles that read the same weights;
                                     * tiles below 2: panels after theirs are not prefetched */
} RtTile;

RT_INLINE rt_v16 rt_tile_start(const RtTile *t, int r, int p, int lanes)
{
    switch (t->start) {
    case RT_FROM_BIAS: return rt_load(t->w + (size_t)p * t->w_panel - 16);
    case RT_FROM_Y: return rt_load_n(t->y + (size_t)r * t->y_stride + 16 * p, lanes);
    case RT_FROM_ZERO: break;
    }
    return rt_set1(0);
}

/* Store the sums of a tile: y = activation(sum), or add + activation(sum). In the last panel `last`
 * columns of y are stored and `add_last` columns of add are read. add: NULL or, only with identity
 * or ReLU, one row. */
RT_INLINE void rt_tile_end(const rt_v16 *sum, float *y, size_t y_stride, const int rows, const int panels, int last,
                           RtActivation activation, const float *add, int add_last)
{
    RT_UNROLL for (int r = 0; r < rows; r++)
        RT_UNROLL for (int p = 0; p < panels; p++) {
            float *to = y + (size_t)r * y_stride + 16 * p;
            rt_v16 v = sum[r * panels + p];
            if (activation == RT_RELU) v = rt_activate(RT_RELU, v);
            if (add) v = rt_add(rt_load_n(add + 16 * p, p == panels - 1 ? add_last : 16), v);
            if (p < panels - 1 || last == 16) rt_store(to, v);
            else rt_store_n(to, v, last);
        }
    if (activation != RT_IDENTITY && activation != RT_RELU) rt_activate_rows(activation, y, y_stride, rows, 16 * (panels - 1) + last);
}

/* Multiply input k of all rows, counted from `x` and `w`. These point to every third row and every
 * third panel, so that one stride in a register, times one and two, reaches the two in between.
 * With a single pointer, gcc keeps the multiples of a variable stride in memory: the gate of one
 * row took a fifth longer. */
RT_INLINE void rt_tile_step(rt_v16 *sum, const RtTile *t, const float *const *x, const float *const *w, const int k, const int rows,
                            const int panels, const RtFormat format)
{
    rt_v16 weights[RT_ROW_PANELS];
    RT_UNROLL for (int p = 0; p < panels; p++)
        weights[p] = rt_load_weights(w[p / 3] + (size_t)(p % 3) * t->w_panel, k, format);
    RT_UNROLL for (int r = 0; r < rows; r++) {
        const rt_v16 input = rt_set1(x[r / 3][(size_t)(r % 3) * t->x_stride + (size_t)k]);
        RT_UNROLL for (int p = 0; p < panels; p++)
            sum[r * panels + p] = rt_fma(input, weights[p], sum[r * panels + p]);
    }
}

#define RT_MORE(a, b) ((a) > (b) ? (a) : (b))
enum { RT_MOST_SUMS = RT_MORE(RT_MORE(RT_TILE_ROWS * RT_TILE_PANELS, RT_WIDE_ROWS * RT_WIDE_PANELS), RT_ROW_PANELS) };

/* Full tiles of many rows prefetch the panels after theirs, each tile a part of them, so that these
 * are in the second-level cache when they are needed. 128 rows times weights that no cache holds
 * reach 102 instead of 95 GFLOP/s; with weights in a cache, prefetching gains nothing (512 x 1536
 * to 2048 x 512 on a Zen 4). Prefetching in parts, and two inputs per iteration, gain a tenth on a
 * Sapphire Rapids (136 instead of 123): there memory cannot keep up if every tile prefetches all
 * panels, and the other thread of a core takes half of the bandwidth for decoding instructions.
 *
 * The caller passes literals for rows, panels, format and full. partial: the tile's last panel is
 * the last one of the product. */
RT_INLINE void rt_tile(RtTile t, const int rows, const int panels, const RtFormat format, int partial, const int full)
{
    enum { INPUTS = 2, ROW_POINTERS = (RT_TILE_ROWS + 2) / 3, PANEL_POINTERS = (RT_ROW_PANELS + 2) / 3 };
    rt_v16 sum[RT_MOST_SUMS];
    const float *x[ROW_POINTERS], *w[PANEL_POINTERS];
    const int last = partial ? t.last : 16, row = rt_row_floats(format);

    RT_UNROLL for (int r = 0; r < rows; r++)
        RT_UNROLL for (int p = 0; p < panels; p++)
            sum[r * panels + p] = rt_tile_start(&t, r, p, p == panels - 1 ? last : 16);
    RT_UNROLL for (int k = 0; 3 * k < rows; k++) x[k] = t.x + 3 * (size_t)k * t.x_stride;
    RT_UNROLL for (int k = 0; 3 * k < panels; k++) w[k] = t.w + 3 * (size_t)k * t.w_panel;
#define RT_INPUTS(n) do { \
        RT_UNROLL for (int k = 0; k < (n); k++) rt_tile_step(sum, &t, x, w, k, rows, panels, format); \
        RT_UNROLL for (int k = 0; 3 * k < rows; k++) x[k] += (n); \
        RT_UNROLL for (int k = 0; 3 * k < panels; k++) w[k] += (n) * row; } while (0)
    const int inputs = full || format == RT_BF16 ? INPUTS : 1;
    const size_t step = full && t.tiles > 1 ? sizeof(float) * (size_t)row / (size_t)t.tiles : 0;
    const char *ahead = (const char *)(t.w + (size_t)panels * t.w_panel) + (size_t)(t.tile * t.in) * step;
    int left = t.in;
    for (; left >= inputs; left -= inputs, ahead += INPUTS * step) {
        if (full)
            RT_UNROLL for (int p = 0; p < panels; p++) rt_prefetch_later(ahead + (size_t)p * t.w_panel * sizeof(float));
        RT_INPUTS(inputs);
    }
    if (inputs > 1 && left > 0) RT_INPUTS(1);
#undef RT_INPUTS
    rt_tile_end(sum, t.y, t.y_stride, rows, panels, last, t.activation, t.add, partial ? t.add_last : 16);
}

/* Any number of rows, `panels` panels side by side: tiles of `most` rows, then of 8, 4, 2 and 1, or
 * one for the rest; see RtTile.whole. full: passed to rt_tile for the tiles of `most` rows. */
RT_INLINE void rt_tile_rows(RtTile t, int rows, const int most, const int panels, const RtFormat format, int partial, const int full)
{
/* gcc warns of tiles above `most` rows, although none runs. */
#define RT_ROWS(n, full) { \
        rt_tile(t, (n) < most ? (n) : most, panels, format, partial, full); \
        t.x += (size_t)(n) * t.x_stride, t.y += (size_t)(n) * t.y_stride, t.tile++, rows -= n; }
    while (rows >= most) RT_ROWS(most, full)
    if (most > 7 && t.whole && rows == 7) RT_ROWS(7, 0)
    if (most > 6 && t.whole && rows == 6) RT_ROWS(6, 0)
    if (most > 5 && t.whole && rows == 5) RT_ROWS(5, 0)
    if (most > 3 && t.whole && rows == 3) RT_ROWS(3, 0)
    if (most > 8 && rows >= 8) RT_ROWS(8, 0)
    if (most > 4 && rows >= 4) RT_ROWS(4, 0)
    if (most > 2 && rows >= 2) RT_ROWS(2, 0)
    if (most > 1 && rows >= 1) RT_ROWS(1, 0)
#undef RT_ROWS
}

/* One row: as many panels side by side as hide the latency of the multiply-add. But each panel is
 * then a stream through memory, and a processor prefetches one stream better than eight: weights
 * that no cache holds take a fifth less time panel by panel (61 MB in pages of 2 MB on a Zen 4 with
 * 32 MB of cache: 27 instead of 22 GB/s). From pages of 4 KB, where a stream ends with each page,
 * panel by panel is a quarter slower (13 instead of 18), so rt_weights.c reads files into large
 * pages; from a cache it is slower too (60 instead of 74). */
RT_INLINE void rt_tile_one_row_of(RtTile t, int panels, const RtFormat format)
{
#define RT_PANELS(n) { \
        panels -= n; \
        rt_tile(t, 1, n, format, panels == 0, 0); \
        t.w += n * t.w_panel, t.y += 16 * n; \
        if (t.add) t.add += 16 * n; }
    while (t.one_stream && panels >= 1) RT_PANELS(1)
    while (panels >= RT_ROW_PANELS) RT_PANELS(RT_ROW_PANELS)
    if (RT_ROW_PANELS > 4 && panels >= 4) RT_PANELS(4)
    if (RT_ROW_PANELS > 2 && panels >= 2) RT_PANELS(2)
    if (RT_ROW_PANELS > 1 && panels >= 1) RT_PANELS(1)
#undef RT_PANELS
}

/* Many rows and panels, in tiles of `most` x `abreast`. Panels that are left over go one by one:
 * eight sums hide the latency, and another tile would only be more code. */
enum { RT_SINGLE_ROWS = RT_TILE_ROWS < 8 ? RT_TILE_ROWS : 8 };
RT_INLINE void rt_tile_many(RtTile t, int rows, int panels, const int most, const int abreast, const RtFormat format)
{
    for (; panels >= abreast; t.w += (size_t)abreast * t.w_panel, t.y += 16 * abreast) {
        panels -= abreast;
        rt_tile_rows(t, rows, most, abreast, format, panels == 0, !t.cached);
    }
    if (abreast == 1) return;
    for (; panels > 0; t.w += t.w_panel, t.y += 16) rt_tile_rows(t, rows, RT_SINGLE_ROWS, 1, format, --panels == 0, 0);
}

/* The product of any number of rows and panels. */
RT_INLINE void rt_tile_all_of(RtTile t, int rows, int panels, const RtFormat format)
{
    if (rows == 1) rt_tile_one_row_of(t, panels, format);
    else if (t.wide) rt_tile_many(t, rows, panels, RT_WIDE_ROWS, RT_WIDE_PANELS, format);
    else rt_tile_many(t, rows, panels, RT_TILE_ROWS, RT_TILE_PANELS, format);
}

RT_INLINE void rt_tile_one_row(RtTile t, int panels) { rt_tile_one_row_of(t, panels, RT_F32); }
RT_INLINE void rt_tile_all(RtTile t, int rows, int panels) { rt_tile_all_of(t, rows, panels, RT_F32); }

#endif
