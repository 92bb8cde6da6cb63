/* rt_window.h: sliding-window attention over ring buffers: the key and value of position p are at
 * p % capacity. A tile of rows is computed at a time; see rt_heads.h.
 *
 * The scratch holds scores by position, from the multiple of sixteen at or before the first
 * position that the tile sees. Every row sums over its own positions in ascending order, in groups
 * of sixteen that begin at multiples of sixteen: its bits depend neither on the other rows, nor on
 * where the ring begins, nor on the ring outside the row's window. */
#ifndef RT_WINDOW_H
#define RT_WINDOW_H

#include "rt_heads.h"
#include "rt_scales.h"

/* The positions begin .. end that a row sees, counted from the start of its scratch. */
typedef struct RtSeen { int begin, end; } RtSeen;

/* Turn the scores of one row, q k^T so far, into weights. The other positions of the first and last
 * groups of sixteen get 0. */
static inline void rt_window_softmax(const RtWindow *shape, float *score, RtSeen seen)
{
    const int capped = shape->softcap > 0, start = seen.begin / 16 * 16;
    const rt_v16 lowest = rt_set1(-INFINITY), cap = rt_set1(shape->softcap);
    const rt_v16 factor = rt_set1(capped ? shape->scale / shape->softcap : shape->scale);
    rt_v16 max = lowest, sum = rt_set1(0), inverse;
    for (int j = start; j < seen.end; j += 16) {
        rt_v16 s = rt_mul(factor, rt_load(score + j));
        if (capped) s = rt_mul(cap, rt_tanh(s));
        s = rt_first_n(s, rt_lanes_at(seen.end, j), lowest);
        if (j < seen.begin) s = rt_first_n(lowest, seen.begin - j, s);
        rt_store(score + j, s);
        max = rt_max(max, s);
    }
    max = rt_set1(rt_max_of(max));
    for (int j = start; j < seen.end; j += 16) {
        rt_v16 e = rt_exp(rt_sub(rt_load(score + j), max));
        rt_store(score + j, e);
        sum = rt_add(sum, e);
    }
    inverse = rt_set1(1 / rt_sum(sum));
    for (int j = start; j < seen.end; j += 16)
        rt_store(score + j, rt_mul(inverse, rt_load(score + j)));
}

/* Copy the scores or weights of the positions that a row sees to tap[columns], with zeros
 * elsewhere. base: the position of score[0]. */
static inline void rt_window_tap(float *tap, const float *score, RtSeen seen, int base, int columns)
{
    for (int j = 0; j < columns; j++)
        tap[j] = j >= base + seen.begin && j < base + seen.end ? score[j - base] : 0;
}

/* y += weights times values of positions part.begin .. part.end, counted as in RtSeen, for every
 * row of the tile. */
RT_INLINE void rt_window_values(const RtWindow *shape, RtTile t, int base, RtSeen part, int rows, int panels, const RtFormat format)
{
    const float *x = t.x, *v = t.w;
    for (int j = part.begin; j < part.end; j += t.in) {
        const int place = (base + j) % shape->capacity, rest = shape->capacity - place;
        t.in = part.end - j < rest ? part.end - j : rest;
        t.x = x + j, t.w = v + (size_t)rt_row_floats(format) * (size_t)place;
        rt_tile_all_of(t, rows, panels, format);
    }
}

/* out[r] for the rows of a tile: each row separately over the positions before those that all rows
 * see, then all rows at once over these, then each row separately over those after them. */
RT_INLINE void rt_window_out(const RtWindow *shape, RtTile t, const RtSeen *seen, int base, int rows, int panels, const RtFormat format)
{
    RtSeen common = { 0, INT32_MAX };
    for (int r = 0; r < rows; r++) {
        common.begin = seen[r].begin > common.begin ? seen[r].begin : common.begin;
        common.end = seen[r].end < common.end ? seen[r].end : common.end;
        for (int i = 0; i < shape->d_v; i += 16)
            rt_store_n(t.y + (size_t)r * t.y_stride + i, rt_set1(0), rt_lanes_at(shape->d_v, i));
    }
    if (common.end < common.begin) common.end = common.begin;
    for (int r = 0; r < rows; r++) {
        RtTile one = t;
        const RtSeen before = { seen[r].begin, seen[r].end < common.begin ? seen[r].end : common.begin };
        one.x += (size_t)r * t.x_stride, one.y += (size_t)r * t.y_stride;
        rt_window_values(shape, one, base, before, 1, panels, format);
    }
    rt_window_values(shape, t, base, common, rows, panels, format);
    for (int r = 0; r < rows; r++) {
        RtTile one = t;
        const RtSeen behind = { seen[r].begin > common.end ? seen[r].begin : common.end, seen[r].end };
        one.x += (size_t)r * t.x_stride, one.y += (size_t)r * t.y_stride;
        rt_window_values(shape, one, base, behind, 1, panels, format);
    }
}

/* Multiply the weights of a row by the scales of the values that it sees. */
static inline void rt_window_scales(const RtWindow *shape, float *weight, const float *scale, RtSeen seen, int base)
{
    for (int j = seen.begin / 16 * 16; j < seen.end; j += 16)
        rt_scale_weights(weight + j, scale + (base + j) % shape->capacity, 16);
}

/* q k^T of a tile for positions base .. end: base is a multiple of sixteen; end is one past the
 * last position that any row sees. */
RT_INLINE void rt_window_scores(const RtWindow *shape, RtTile t, int base, int end, int rows, const RtFormat format)
{
    const float *keys = t.w;
    float *scratch = t.y;
    for (int j = base, n; j < end; j += n) {
        const int place = j % shape->capacity, rest = shape->capacity - place, wanted = (end - j + 15) / 16 * 16;
        n = wanted < rest ? wanted : rest;
        t.w = keys + (size_t)place / 16 * t.w_panel, t.y = scratch + (j - base);
        rt_tile_all_of(t, rows, n / 16, format);
        if (format == RT_INT8) rt_scale_scores(t.y, t.y_stride, rows, t.w, shape->d_k, n / 16);
    }
}

/* The positions that row r sees, counted from position 0. */
static inline RtSeen rt_window_seen(const RtWindow *shape, const RtAttentionExtra *extra,
                                    const int *visible, int r)
{
    const int own = shape->both ? extra->positions[r] + 1 : visible[r];
    const int last = own + shape->window - 1, cut = shape->both && last < visible[r];
    return (RtSeen){ own > shape->window ? own - shape->window : 0, cut ? last : visible[r] };
}

/* k, v: keys and values in `format`. */
RT_INLINE void rt_window_of(const RtWindow *shape, float *out, const float *q, const void *k, const void *v, float *scratch,
                            const RtAttentionExtra *extra, const int *visible, int rows, int begin, int end, const RtFormat format)
{
    const size_t sixteen = (size_t)rt_row_floats(format);
    const int panels = (shape->d_v + 15) / 16, columns = shape->tap_columns, share = shape->heads / shape->kv_heads;
    const size_t q_stride = (size_t)shape->q_stride, out_stride = (size_t)shape->out_stride;
    const size_t k_panel = rt_key_floats(shape->d_k, format), k_head = (size_t)shape->capacity / 16 * k_panel;
    const size_t v_panel = sixteen * (size_t)shape->capacity, v_head = rt_value_floats(shape->d_v, shape->capacity, format);
    const size_t row = rt_score_floats(shape->capacity, shape->d_k, format);
    RtTile score = { .y = scratch, .y_stride = row, .w_panel = k_panel,
                     .in = shape->d_k, .last = 16, .start = RT_FROM_ZERO, .activation = RT_IDENTITY, .cached = 1 };
    RtTile value = { .x = scratch, .x_stride = row, .w_panel = v_panel,
                     .last = rt_lanes_at(shape->d_v, 16 * panels - 16), .start = RT_FROM_Y, .activation = RT_IDENTITY, .cached = 1 };

    for (int h = begin, heads; h < end; h += heads) {
        const size_t kv_head = (size_t)(h / share);
        heads = rt_heads_at_once(share, h, end, rows);
        score.w = (const float *)k + kv_head * k_head;
        value.w = (const float *)v + kv_head * v_head;
        for (int first = 0; first < rows; first += RT_ATTENTION_ROWS) {
            const RtHeads tile = rt_heads_tile(h, heads, first, rows);
            const int n = tile.rows;
            RtSeen seen[RT_ATTENTION_ROWS];
            int low = INT32_MAX, high = 0;
            for (int r = 0; r < n; r++) {
                seen[r] = rt_window_seen(shape, extra, visible, rt_heads_row(tile, r));
                low = seen[r].begin < low ? seen[r].begin : low;
                high = seen[r].end > high ? seen[r].end : high;
            }
            const int base = low / 16 * 16;
            score.x = q + rt_heads_begin(tile, q_stride, shape->d_k), score.x_stride = rt_heads_stride(tile, q_stride, shape->d_k);
            if (format == RT_INT8) rt_rotate_queries(&score, scratch + shape->capacity + 16, row, n, shape->d_k);
            rt_window_scores(shape, score, base, high, n, format);
            for (int r = 0; r < n; r++) {
                float *mine = scratch + (size_t)r * row;
                const size_t tap = ((size_t)rt_heads_head(tile, r) * (size_t)shape->tap_rows + (size_t)rt_heads_row(tile, r)) * (size_t)columns;
                seen[r].begin -= base, seen[r].end -= base;
                if (extra && extra->scores) rt_window_tap(extra->scores + tap, mine, seen[r], base, columns);
                if (seen[r].begin < seen[r].end) rt_window_softmax(shape, mine, seen[r]);
                if (extra && extra->weights) rt_window_tap(extra->weights + tap, mine, seen[r], base, columns);
                if (format == RT_INT8) rt_window_scales(shape, mine, value.w + (size_t)panels * v_panel, seen[r], base);
            }
            value.y = out + rt_heads_begin(tile, out_stride, shape->d_v), value.y_stride = rt_heads_stride(tile, out_stride, shape->d_v);
            rt_window_out(shape, value, seen, base, n, panels, format);
        }
    }
}

#endif
