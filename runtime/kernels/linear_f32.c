/* linear_f32.c: y = activation(W x + b) over panels of sixteen outputs.
 * One row and many rows sum every element in the same order (see the tile in rt_simd.h), so the number of rows, their
 * split over lanes and the split of the panels change no bit. */
#include "../rt_simd.h"
#include "../kernels.h"

/* Inputs taken at once by many rows: two panels of that depth are 64 KB and stay in the second-level cache, a tile
 * of fourteen rows is 28 KB and stays in the first. One row reads each weight once, so it streams undivided. */
enum { RT_LINEAR_DEPTH = 512 };

RT_KERNEL void rt_linear_f32(const RtLinear *shape, float *y, const float *x, const void *w, int rows, int begin,
                             int end)
{
    const int bias = shape->has_bias ? 16 : 0, depth = rows == 1 ? shape->in : RT_LINEAR_DEPTH;
    RtTile t;
    t.y = y + 16 * (size_t)begin, t.y_stride = (size_t)shape->y_stride;
    t.x_stride = (size_t)shape->x_stride;
    t.w_panel = 16 * (size_t)shape->in + (size_t)bias;
    t.last = 16;
    for (int i = 0; i < shape->in; i += t.in) {
        t.in = shape->in - i < depth ? shape->in - i : depth;
        t.x = x + i;
        t.w = (const float *)w + (size_t)begin * t.w_panel + bias + 16 * (size_t)i;
        t.start = i ? RT_FROM_Y : bias ? RT_FROM_BIAS : RT_FROM_ZERO;
        t.activation = i + t.in == shape->in ? shape->activation : RT_IDENTITY;
        rt_tile_all(t, rows, end - begin);
    }
}
