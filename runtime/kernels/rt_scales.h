/* rt_scales.h: where the scales of int8 keys and values are stored, and how attention applies them.
 * See RtCache for the layout. Keys are rotated before they are rounded, so queries are rotated too.
 *
 * A score is the sum of query times bytes, times the scale of the key; a weight is multiplied by
 * the scale of its value before the sum over the values. So an element has the same roundings in
 * the same order in any tile, and the products themselves need no scale. */
#ifndef RT_SCALES_H
#define RT_SCALES_H

#include "rt_plain.h"
#include "rt_tile.h"

/* The floats from one panel of sixteen keys of `width` numbers to the next. */
RT_INLINE size_t rt_key_floats(int width, const RtFormat format)
{
    return (size_t)rt_row_floats(format) * (size_t)width + (format == RT_INT8 ? 16 : 0);
}

/* The floats from the values of one head to those of the next. */
RT_INLINE size_t rt_value_floats(int width, int capacity, const RtFormat format)
{
    return ((size_t)rt_row_floats(format) * (size_t)((width + 15) / 16) + (format == RT_INT8 ? 1 : 0)) * (size_t)capacity;
}

/* The floats from one row of the scratch of attention to the next: scores, and for int8 the rotated
 * query. */
RT_INLINE size_t rt_score_floats(int capacity, int d_k, const RtFormat format)
{
    return (size_t)capacity + 16 + (format == RT_INT8 ? (size_t)((d_k + 15) / 16 * 16) : 0);
}

/* Copy the queries of a tile to `to`, `stride` floats apart, each by rt_plain_rotated_query, and
 * make the tile read them from there. */
RT_INLINE void rt_rotate_queries(RtTile *t, float *to, size_t stride, int rows, int d_k)
{
    for (int r = 0; r < rows; r++) rt_plain_rotated_query(to + (size_t)r * stride, t->x + (size_t)r * t->x_stride, d_k);
    t->x = to, t->x_stride = stride;
}

/* Multiply the scores of `rows` rows for the keys of `panels` panels, the first at w, by the scales
 * of these keys. The rows of scores begin at y, `stride` floats apart. */
RT_INLINE void rt_scale_scores(float *y, size_t stride, int rows, const float *w, int width, int panels)
{
    const size_t panel = rt_key_floats(width, RT_INT8);
    const float *scale = w + panel - 16;
    for (int p = 0; p < panels; p++, y += 16, scale += panel) {
        const rt_v16 factor = rt_load(scale);
        for (int r = 0; r < rows; r++)
            rt_store(y + (size_t)r * stride, rt_mul(factor, rt_load(y + (size_t)r * stride)));
    }
}

/* Multiply n weights by the scales of their values; both are padded to a multiple of sixteen. */
RT_INLINE void rt_scale_weights(float *weight, const float *scale, int n)
{
    for (int j = 0; j < n; j += 16)
        rt_store(weight + j, rt_mul(rt_load(scale + j), rt_load(weight + j)));
}

#endif
