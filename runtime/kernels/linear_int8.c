/* linear_int8.c: the functions of linear_f32.c for int8 and int4 weights, and embeddings from such
 * a matrix. Rows of x are rounded to 8 bits first, as many at a time as fit; see rt_simd_int8.h. */
#include "rt_simd_int8.h"
#include "kernels.h"

/* How many rows are rounded at once: all, or as many as fit, if possible a multiple of a tile's
 * rows. */
RT_INLINE int rt_byte_block(const RtLinear *shape, int rows)
{
    const int room = rt_rounded_rows(shape->in, rows);
    return rows == room || room <= RT_BYTES_ROWS ? room : room / RT_BYTES_ROWS * RT_BYTES_ROWS;
}

/* Weights up to this size may be in the L1 or L2 cache, where prefetching would be a tenth of the
 * work. */
enum { RT_ASK_BYTES = 1 << 16 };

/* True if weights are to be prefetched: for one row and a large matrix, or for long panels and
 * fewer rows than two full tiles have. */
RT_INLINE int rt_asks(const RtLinear *shape, int rows, size_t panel)
{
    return rows == 1 ? (size_t)shape->out / 16 * panel > RT_ASK_BYTES : rows < 2 * RT_BYTES_ROWS && panel > RT_ASK_BYTES / 4;
}

/* Round `rows` rows of x, and return a tile that multiplies them by the panels at w. The caller
 * sets y and whatever else differs from the defaults. */
RT_INLINE RtByteTile rt_byte_tile_of(const RtLinear *shape, void *rounded, const float *x, int rows,
                                     const uint8_t *w, const int bits)
{
    RtByteTile t;
    t.groups = (shape->in + RT_GROUP - 1) / RT_GROUP;
    const RtByteRows bytes = rt_byte_rows(rounded, rows, t.groups);
    for (int r = 0; r < rows; r++)
        rt_bytes_of_row(x + (size_t)r * (size_t)shape->x_stride, shape->in, bytes.q + (size_t)r * (size_t)t.groups * RT_GROUP,
                        bytes.scale + r * t.groups, bytes.start + r * t.groups, bits == 8 ? RT_BYTE_OFFSET : RT_NIBBLE_OFFSET);
    t.q = bytes.q, t.scale = bytes.scale, t.start = bytes.start;
    t.w = w, t.w_panel = rt_panel_bytes(shape->in, shape->has_bias, bits);
    t.ahead = rt_asks(shape, rows, t.w_panel) ? rt_ahead(shape->one_stream) : (RtAhead){ 0, 0 };
    t.y = NULL, t.y_stride = 0;
    t.has_bias = shape->has_bias, t.last = 16;
    t.activation = RT_IDENTITY;
    t.add = NULL, t.add_last = 16;
    t.tile = 0, t.tiles = shape->no_prefetch ? 0 : rows / RT_BYTES_ROWS;
    return t;
}

/* A tile r rows further on. */
RT_INLINE RtByteTile rt_byte_tile_at(RtByteTile t, int r)
{
    t.q += (size_t)r * (size_t)t.groups * RT_GROUP, t.scale += r * t.groups, t.start += r * t.groups;
    t.tile = r / RT_BYTES_ROWS;
    return t;
}

RT_INLINE void rt_linear_bits(const RtLinear *shape, float *y, const float *x, const void *w, void *rounded,
                              int rows, int begin, int end, const int bits)
{
    for (int r = 0, n, block = rt_byte_block(shape, rows); r < rows; r += n) {
        n = rows - r < block ? rows - r : block;
        RtByteTile t = rt_byte_tile_of(shape, rounded, x + (size_t)r * (size_t)shape->x_stride, n, (const uint8_t *)w, bits);
        t.w += (size_t)begin * t.w_panel;
        t.y = y + (size_t)r * (size_t)shape->y_stride + 16 * (size_t)begin, t.y_stride = (size_t)shape->y_stride;
        t.activation = shape->activation;
        rt_byte_tile_all(t, n, end - begin, bits);
    }
}

/* If results are combined with other numbers before they go to y, they are buffered in a piece: in
 * a gated linear of one row a run of panels, otherwise at most one tile. Runs are long because two
 * matrices alternate, and each switch restarts a memory stream: when they alternated at every panel
 * of 1.1 billion int4 weights, these restarts took as long as the reading itself. */
enum {
    RT_BYTES_RUN = 32,
    RT_BYTES_TILE = RT_BYTES_ROWS * RT_BYTES_PANELS,
    RT_BYTES_PIECE = 16 * (RT_BYTES_TILE > RT_BYTES_RUN ? RT_BYTES_TILE : RT_BYTES_RUN)
};

/* A piece of a gated linear, written to `to`. The panels of U follow those of G. */
RT_INLINE void rt_gate_piece(const RtLinear *shape, RtByteTile t, float *to, int rows, int panels, const int bits)
{
    XF_ALIGN(64) float factor[RT_BYTES_PIECE];
    const size_t y_stride = (size_t)shape->y_stride, width = 16 * (size_t)panels;
    t.y = to, t.y_stride = y_stride;
    rt_byte_tile_all(t, rows, panels, bits);
    t.w += (size_t)((shape->out + 15) / 16) * t.w_panel;
    t.y = factor, t.y_stride = width;
    rt_byte_tile_all(t, rows, panels, bits);
    for (int k = 0; k < rows; k++)
        for (size_t i = 0; i < width; i += 16) {
            float *at = to + (size_t)k * y_stride + i;
            rt_store(at, rt_mul(rt_activate(shape->activation, rt_load(at)), rt_load(factor + (size_t)k * width + i)));
        }
}

RT_INLINE void rt_linear_gate_bits(const RtLinear *shape, float *y, const float *x, const void *w, void *rounded,
                                   int rows, int begin, int end, const int bits)
{
    const int abreast = rows == 1 ? RT_BYTES_RUN : RT_BYTES_PANELS;
    for (int r = 0, n, block = rt_byte_block(shape, rows); r < rows; r += n) {
        n = rows - r < block ? rows - r : block;
        RtByteTile t = rt_byte_tile_of(shape, rounded, x + (size_t)r * (size_t)shape->x_stride, n, (const uint8_t *)w, bits);
        t.w += (size_t)begin * t.w_panel;
        for (int p = begin; p < end; p += abreast, t.w += (size_t)abreast * t.w_panel)
            for (int k = 0; k < n; k += RT_BYTES_ROWS)
                rt_gate_piece(shape, rt_byte_tile_at(t, k), y + (size_t)(r + k) * (size_t)shape->y_stride + 16 * (size_t)p,
                              n - k < RT_BYTES_ROWS ? n - k : RT_BYTES_ROWS, end - p < abreast ? end - p : abreast, bits);
    }
}

/* A piece of a linear that is added to a; y may be a. */
RT_INLINE void rt_add_piece(const RtLinear *shape, RtByteTile t, float *y, const float *a, int rows, int p, int panels, const int bits)
{
    XF_ALIGN(64) float sums[RT_BYTES_PIECE];
    const size_t width = 16 * (size_t)panels;
    t.y = sums, t.y_stride = width;
    t.activation = shape->activation;
    rt_byte_tile_all(t, rows, panels, bits);
    for (int k = 0; k < rows; k++)
        for (size_t i = 0; i < width; i += 16) {
            const size_t at = (size_t)k * (size_t)shape->y_stride + 16 * (size_t)p + i;
            const int lanes = rt_lanes_at(shape->out, 16 * p + (int)i);
            rt_store(y + at, rt_add(rt_load_n(a + at, lanes), rt_load(sums + (size_t)k * width + i)));
        }
}

/* With one row, and identity or ReLU, a is added while the sums are in registers. */
RT_INLINE void rt_linear_add_bits(const RtLinear *shape, float *y, const float *x, const void *w, const float *a,
                                  void *rounded, int rows, int begin, int end, const int bits)
{
    const size_t y_stride = (size_t)shape->y_stride;
    for (int r = 0, n, block = rt_byte_block(shape, rows); r < rows; r += n) {
        n = rows - r < block ? rows - r : block;
        RtByteTile t = rt_byte_tile_of(shape, rounded, x + (size_t)r * (size_t)shape->x_stride, n, (const uint8_t *)w, bits);
        t.w += (size_t)begin * t.w_panel;
        if (rows == 1 && (shape->activation == RT_IDENTITY || shape->activation == RT_RELU)) {
            t.y = y + 16 * (size_t)begin, t.activation = shape->activation;
            t.add = a + 16 * (size_t)begin, t.add_last = rt_lanes_at(shape->out, 16 * (end - 1));
            rt_byte_tile_all(t, 1, end - begin, bits);
            return;
        }
        for (int p = begin; p < end; p += RT_BYTES_PANELS, t.w += RT_BYTES_PANELS * t.w_panel)
            for (int k = 0; k < n; k += RT_BYTES_ROWS) {
                const size_t at = (size_t)(r + k) * y_stride;
                rt_add_piece(shape, rt_byte_tile_at(t, k), y + at, a + at, n - k < RT_BYTES_ROWS ? n - k : RT_BYTES_ROWS, p,
                             end - p < RT_BYTES_PANELS ? end - p : RT_BYTES_PANELS, bits);
            }
    }
}

RT_KERNEL void rt_linear_int8(const RtLinear *shape, float *y, const float *x, const void *w, void *rounded,
                              int rows, int begin, int end)
{
    rt_linear_bits(shape, y, x, w, rounded, rows, begin, end, 8);
}

RT_KERNEL void rt_linear_gate_int8(const RtLinear *shape, float *y, const float *x, const void *w, void *rounded,
                              int rows, int begin, int end)
{
    rt_linear_gate_bits(shape, y, x, w, rounded, rows, begin, end, 8);
}

RT_KERNEL void rt_linear_add_int8(const RtLinear *shape, float *y, const float *x, const void *w, const float *a, void *rounded,
                              int rows, int begin, int end)
{
    rt_linear_add_bits(shape, y, x, w, a, rounded, rows, begin, end, 8);
}

/* Rows of a matrix that is stored in panels without biases, as floats. */
RT_INLINE void rt_embed_bits(const RtEmbed *shape, float *y, const void *table, const int *ids, int rows, const int bits)
{
    const int width = shape->width, padded = (width + 15) & ~15;
    const size_t groups = (size_t)((width + RT_GROUP - 1) / RT_GROUP), panel_bytes = rt_panel_bytes(width, 0, bits);
    for (int r = 0; r < rows; r++, y += shape->y_stride) {
        const uint8_t *panel = (const uint8_t *)table + (size_t)(ids[r] / 16) * panel_bytes;
        const size_t lane = (size_t)(ids[r] % 16);
        const uint8_t *bytes = panel + (groups * 32 + 63) / 64 * 64 + 4 * lane;
        for (int i = 0; i < padded; i += RT_GROUP) {
            const int n = padded - i < RT_GROUP ? padded - i : RT_GROUP;
            rt_f16 half;
            memcpy(&half, panel + i + 2 * lane, sizeof half);
            const float factor = rt_plain_of_f16(half);
            for (int k = 0; k < n; k++) {
                const uint8_t byte = bytes[bits == 8 ? (i + k) / 4 * 64 + k % 4 : (i + k) / 8 * 64 + k % 4];
                y[i + k] = shape->scale * (factor * (float)(bits == 8 ? byte - 128 : (byte >> (k / 4 % 2 * 4) & 15) - 8));
            }
        }
    }
}

RT_KERNEL void rt_embed_int8(const RtEmbed *shape, float *y, const void *table, const int *ids, int rows)
{
    rt_embed_bits(shape, y, table, ids, rows, 8);
}

RT_KERNEL void rt_embed_int4(const RtEmbed *shape, float *y, const void *table, const int *ids, int rows)
{
    rt_embed_bits(shape, y, table, ids, rows, 4);
}

RT_KERNEL void rt_linear_int4(const RtLinear *shape, float *y, const float *x, const void *w, void *rounded,
                              int rows, int begin, int end)
{
    rt_linear_bits(shape, y, x, w, rounded, rows, begin, end, 4);
}

RT_KERNEL void rt_linear_gate_int4(const RtLinear *shape, float *y, const float *x, const void *w, void *rounded,
                              int rows, int begin, int end)
{
    rt_linear_gate_bits(shape, y, x, w, rounded, rows, begin, end, 4);
}

RT_KERNEL void rt_linear_add_int4(const RtLinear *shape, float *y, const float *x, const void *w, const float *a, void *rounded,
                              int rows, int begin, int end)
{
    rt_linear_add_bits(shape, y, x, w, a, rounded, rows, begin, end, 4);
}
