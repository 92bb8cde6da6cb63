/* rt_linear.h: linears over panels of sixteen outputs, with weights in f32 or in a 16-bit format
 * that is widened to f32. linear_f32.c and linear_bf16.c call these functions with their format.
 * One row and many rows sum every element in the same order (see rt_tile.h), so neither the number
 * of rows nor the way rows and panels are split over threads changes a bit. */
#ifndef RT_LINEAR_H
#define RT_LINEAR_H

#include "rt_tile.h"

/* The number of inputs that are processed at once for many rows: two panels of this depth are 64 KB
 * and stay in the second-level cache; a tile of fourteen rows is 28 KB and stays in the first. One
 * row reads each weight once, so its inputs are not divided. */
enum { RT_LINEAR_DEPTH = 512 };

/* Floats from panel to panel. Panels of f32 are a multiple of 64 bytes as they are. */
RT_INLINE size_t rt_panel_floats(const RtLinear *shape, const RtFormat format)
{
    return format == RT_F32 ? 16 * (size_t)(shape->in + (shape->has_bias ? 1 : 0)) : rt_panel_bytes(shape->in, shape->has_bias, 16) / sizeof(float);
}

/* The rows and panels of a full tile, in a call of many rows. */
RT_INLINE int rt_linear_rows(const RtLinear *shape) { return shape->wide_tile ? RT_WIDE_ROWS : RT_TILE_ROWS; }
RT_INLINE int rt_linear_abreast(const RtLinear *shape) { return shape->wide_tile ? RT_WIDE_PANELS : RT_TILE_PANELS; }

/* rows: the rows of all tiles together. */
RT_INLINE RtTile rt_linear_tile(const RtLinear *shape, float *y, size_t y_stride, int rows, const RtFormat format)
{
    RtTile t;
    t.y = y, t.y_stride = y_stride;
    t.x_stride = (size_t)shape->x_stride;
    t.w_panel = rt_panel_floats(shape, format);
    t.last = 16, t.one_stream = shape->one_stream;
    t.add = NULL, t.add_last = 16;
    t.wide = shape->wide_tile;
    t.cached = t.whole = 0;
    t.tile = 0, t.tiles = shape->no_prefetch ? 0 : rows / rt_linear_rows(shape);
    return t;
}

/* Multiply x by `panels` panels, the first at w. */
RT_INLINE void rt_linear_panels(const RtLinear *shape, RtTile t, RtActivation activation, const float *x, const float *w, int rows,
                                int panels, const RtFormat format)
{
    const int bias = shape->has_bias ? 16 : 0, depth = rows == 1 ? shape->in : RT_LINEAR_DEPTH;
    for (int i = 0; i < shape->in; i += t.in) {
        t.in = shape->in - i < depth ? shape->in - i : depth;
        t.x = x + i;
        t.w = w + bias + (size_t)rt_row_floats(format) * (size_t)i;
        t.start = i ? RT_FROM_Y : bias ? RT_FROM_BIAS : RT_FROM_ZERO;
        t.activation = i + t.in == shape->in ? activation : RT_IDENTITY;
        rt_tile_all_of(t, rows, panels, format);
    }
}

RT_INLINE void rt_linear_as(const RtLinear *shape, float *y, const float *x, const void *w, int rows, int begin, int end,
                            const RtFormat format)
{
    const RtTile t = rt_linear_tile(shape, y + 16 * (size_t)begin, (size_t)shape->y_stride, rows, format);
    rt_linear_panels(shape, t, shape->activation, x, (const float *)w + (size_t)begin * t.w_panel, rows, end - begin, format);
}

/* The floats of a buffer for sums that are combined with other numbers before they go to y: for one
 * row as many panels as it reads side by side, for many rows one tile. */
enum {
    RT_PIECE = 16 * RT_MOST_SUMS
};

RT_INLINE void rt_linear_gate_as(const RtLinear *shape, float *y, const float *x, const void *w, int rows, int begin, int end,
                                 const RtFormat format)
{
    XF_ALIGN(64) float factor[RT_PIECE];
    const size_t y_stride = (size_t)shape->y_stride;
    const int abreast = rows == 1 ? RT_ROW_PANELS : rt_linear_abreast(shape), most = rt_linear_rows(shape);
    for (int p = begin; p < end; p += abreast) {
        const int panels = end - p < abreast ? end - p : abreast;
        const size_t width = 16 * (size_t)panels;
        for (int r = 0, n; r < rows; r += n) {
            n = rows - r < most ? rows - r : most;
            float *to = y + (size_t)r * y_stride + 16 * (size_t)p;
            RtTile g = rt_linear_tile(shape, to, y_stride, rows, format), u = rt_linear_tile(shape, factor, width, rows, format);
            g.tile = u.tile = r / most;
            const float *from = x + (size_t)r * g.x_stride, *weights = (const float *)w + (size_t)p * g.w_panel;
            for (int second = 0; second < 2; second++, weights += (size_t)((shape->out + 15) / 16) * g.w_panel)
                rt_linear_panels(shape, second ? u : g, RT_IDENTITY, from, weights, n, panels, format);
            for (int k = 0; k < n; k++)
                for (size_t i = 0; i < width; i += 16) {
                    float *at = to + (size_t)k * y_stride + i;
                    rt_store(at, rt_mul(rt_activate(shape->activation, rt_load(at)), rt_load(factor + (size_t)k * width + i)));
                }
        }
    }
}

/* One row with identity or ReLU: a is added to the sums in their registers. Otherwise the sums are
 * put in a buffer, not in y, which may be a. */
RT_INLINE void rt_linear_add_as(const RtLinear *shape, float *y, const float *x, const void *w, const float *a, int rows, int begin,
                                int end, const RtFormat format)
{
    XF_ALIGN(64) float sums[RT_PIECE];
    const size_t y_stride = (size_t)shape->y_stride;
    if (rows == 1 && (shape->activation == RT_IDENTITY || shape->activation == RT_RELU)) {
        RtTile t = rt_linear_tile(shape, y + 16 * (size_t)begin, y_stride, 1, format);
        t.add = a + 16 * (size_t)begin, t.add_last = rt_lanes_at(shape->out, 16 * (end - 1));
        rt_linear_panels(shape, t, shape->activation, x, (const float *)w + (size_t)begin * t.w_panel, 1, end - begin, format);
        return;
    }
    const int abreast = rt_linear_abreast(shape), most = rt_linear_rows(shape);
    for (int p = begin; p < end; p += abreast) {
        const int panels = end - p < abreast ? end - p : abreast;
        const size_t width = 16 * (size_t)panels;
        RtTile t = rt_linear_tile(shape, sums, width, rows, format);
        for (int r = 0, n; r < rows; r += n) {
            n = rows - r < most ? rows - r : most;
            const size_t at = (size_t)r * y_stride + 16 * (size_t)p;
            t.tile = r / most;
            rt_linear_panels(shape, t, shape->activation, x + (size_t)r * t.x_stride, (const float *)w + (size_t)p * t.w_panel, n, panels,
                             format);
            for (int k = 0; k < n; k++)
                for (size_t i = 0; i < width; i += 16) {
                    const size_t to = at + (size_t)k * y_stride + i;
                    const int lanes = rt_lanes_at(shape->out, 16 * p + (int)i);
                    rt_store(y + to, rt_add(rt_load_n(a + to, lanes), rt_load(sums + (size_t)k * width + i)));
                }
        }
    }
}

#endif
