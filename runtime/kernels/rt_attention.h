/* rt_attention.h: softmax(scale q k^T) v, a tile of rows at a time; see rt_heads.h.
 * Keys and values are stored as panels, so both products use the tiles of rt_tile.h. Each element
 * sums exactly visible[r] positions, in order, whichever tile holds row r: the bits of a row depend
 * neither on other rows nor on the rest of the cache. Softcap, bias, mask and added scores take
 * effect between the two products. Without them the cost is one test per tile, or nothing if the
 * compiler knows that there are none. */
#ifndef RT_ATTENTION_H
#define RT_ATTENTION_H

#include "rt_heads.h"
#include "rt_scales.h"

/* Turn the scores of one row into weights: softmax(scale * score[j]) over visible > 0 positions. */
static inline void rt_attention_softmax(float *score, int visible, float scale)
{
    const rt_v16 lowest = rt_set1(-INFINITY), factor = rt_set1(scale);
    rt_v16 max = lowest, sum = rt_set1(0), inverse;
    for (int j = 0; j < visible; j += 16) {
        rt_v16 s = rt_first_n(rt_mul(factor, rt_load(score + j)), rt_lanes_at(visible, j), lowest);
        rt_store(score + j, s);
        max = rt_max(max, s);
    }
    max = rt_set1(rt_max_of(max));
    for (int j = 0; j < visible; j += 16) {
        rt_v16 e = rt_exp(rt_sub(rt_load(score + j), max));
        rt_store(score + j, e);
        sum = rt_add(sum, e);
    }
    inverse = rt_set1(1 / rt_sum(sum));
    for (int j = 0; j < visible; j += 16)
        rt_store(score + j, rt_mul(inverse, rt_load(score + j)));
}

/* The bias, mask and added scores of one row of one head; NULL: none. */
typedef struct RtAttentionRow { const float *bias, *mask, *added; } RtAttentionRow;

/* row.bias points to the bias of key position 0. All heads share the mask. */
static inline RtAttentionRow rt_attention_row(const RtAttentionExtra *extra, int h, int r)
{
    RtAttentionRow row = { NULL, NULL, NULL };
    if (extra && extra->bias)
        row.bias = extra->bias + (ptrdiff_t)h * (2 * extra->reach - 1) + (extra->reach - 1 - extra->positions[r]);
    if (extra && extra->mask) row.mask = extra->mask + (ptrdiff_t)r * extra->mask_stride;
    if (extra && extra->added)
        row.added = extra->added + h * extra->added_head + (ptrdiff_t)r * extra->added_stride;
    return row;
}

/* score[j] = scale * score[j], softcapped, plus bias and added; -inf if the mask or an added -inf
 * hides position j. Returns `visible`, or 0 if all positions are hidden. */
static inline int rt_attention_adjust(const RtAttention *shape, RtAttentionRow row, float *score, int visible)
{
    const rt_v16 zero = rt_set1(0), lowest = rt_set1(-INFINITY), cap = rt_set1(shape->softcap);
    const rt_v16 factor = rt_set1(shape->softcap > 0 ? shape->scale / shape->softcap : shape->scale);
    rt_v16 seen = zero;
    for (int j = 0; j < visible; j += 16) {
        const int n = rt_lanes_at(visible, j);
        rt_v16 s = rt_mul(factor, rt_load(score + j));
        if (shape->softcap > 0) s = rt_mul(cap, rt_tanh(s));
        if (row.bias) s = rt_add(s, rt_load_n(row.bias + j, n));
        if (row.mask || row.added) {
            const rt_v16 all = rt_first_n(rt_set1(1), n, zero);
            const rt_v16 mask = row.mask ? rt_load_n(row.mask + j, n) : all;
            rt_v16 shown = rt_max(mask, rt_minus(mask));
            if (row.added) {
                const rt_v16 added = rt_load_n(row.added + j, n);
                shown = rt_if_less(lowest, added, shown, zero);
                s = rt_add(s, added);
            }
            s = rt_if_less(zero, shown, s, lowest);
            seen = rt_max(seen, shown);
        }
        rt_store(score + j, s);
    }
    return !(row.mask || row.added) || rt_max_of(seen) > 0 ? visible : 0;
}

/* 1 if neither the mask nor an added -inf hides position j from the row. */
static inline int rt_attention_shows(RtAttentionRow row, int j)
{
    const int masked = row.mask && !(row.mask[j] < 0 || row.mask[j] > 0);
    return !masked && !(row.added && row.added[j] <= -INFINITY);
}

/* Copy the `visible` scores or weights of a row to tap[columns]; zeros after them and at hidden
 * positions. */
static inline void rt_attention_tap(float *tap, const float *score, RtAttentionRow row, int visible,
                                    int columns)
{
    for (int j = 0; j < columns; j++)
        tap[j] = j < visible && rt_attention_shows(row, j) ? score[j] : 0;
}

/* One row of heads that share keys and values in int8: arithmetic takes longer than reading. Its
 * tiles prefetch the values of the positions whose scores they compute, and, while they sum values,
 * the next keys. At 3,900 positions on a Zen 4, 32 heads that share 8 take 13 % less time, and 14
 * that share 2 take 2 % less. Prefetching f32 gains nothing, since reading it is the limit. */
RT_INLINE void rt_attention_prefetch(const float *from, size_t floats)
{
    for (size_t i = 0; i < floats; i += 16) rt_prefetch_later(from + i);
}

/* The scores of `panels` panels of keys. v: the values of their positions. */
RT_INLINE void rt_attention_scores(RtTile t, int rows, int panels, const float *v, size_t v_panel, int value_panels, const RtFormat format)
{
    const size_t sixteen = 16 * (size_t)rt_row_floats(format);
    for (int p = 0, n; p < panels; p += n, v += (size_t)n * sixteen, t.w += (size_t)n * t.w_panel, t.y += 16 * n) {
        n = panels - p < RT_TILE_PANELS ? panels - p : RT_TILE_PANELS;
        for (int i = 0; i < value_panels; i++) rt_attention_prefetch(v + (size_t)i * v_panel, (size_t)n * sixteen);
        rt_tile_all_of(t, rows, n, format);
    }
}

/* out[r] = sum over j of weights[r][j] * v[j]. First sum all rows together over the positions that
 * every row sees; then sum each row separately over the rest. k: NULL, or the next head's keys, in
 * panels of k_panel floats. */
RT_INLINE void rt_attention_values(RtTile t, const int *visible, int rows, int panels, const float *k, size_t k_panel, const RtFormat format)
{
    enum { BLOCK = 128 };
    const size_t row = (size_t)rt_row_floats(format);
    int common = visible[0], left;
    for (int r = 1; r < rows; r++)
        common = visible[r] < common ? visible[r] : common;
    t.start = RT_FROM_ZERO;
    for (left = common; k && left > BLOCK; left -= BLOCK) {
        rt_attention_prefetch(k, BLOCK / 16 * k_panel);
        t.in = BLOCK;
        rt_tile_all_of(t, rows, panels, format);
        t.start = RT_FROM_Y, t.x += BLOCK, t.w += row * BLOCK, k += BLOCK / 16 * k_panel;
    }
    t.in = left;
    rt_tile_all_of(t, rows, panels, format);
    t.start = RT_FROM_Y, t.x += left, t.w += row * (size_t)left;
    for (int r = 0; r < rows; r++, t.x += t.x_stride, t.y += t.y_stride) {
        RtTile rest = t;
        rest.in = visible[r] - common;
        if (rest.in) rt_tile_one_row_of(rest, panels, format);
    }
}

/* Turn the scores of row r of head h, q k^T so far, into weights, and copy both to the taps. *seen
 * is the number of visible positions; it becomes 0 if all of them are hidden. */
static inline void rt_attention_weights_extra(const RtAttention *shape, const RtAttentionExtra *extra, float *scratch,
                                              int *seen, int h, int r)
{
    const RtAttentionRow all = { NULL, NULL, NULL }, row = rt_attention_row(extra, h, r);
    const int columns = shape->tap_columns, adjusted = shape->softcap > 0 || row.bias || row.mask || row.added;
    const size_t tap = ((size_t)h * (size_t)shape->tap_rows + (size_t)r) * (size_t)columns;
    if (extra && extra->scores)
        rt_attention_tap(extra->scores + tap, scratch, row, *seen, columns);
    if (adjusted) *seen = rt_attention_adjust(shape, row, scratch, *seen);
    if (*seen) rt_attention_softmax(scratch, *seen, adjusted ? 1 : shape->scale);
    if (extra && extra->weights)
        rt_attention_tap(extra->weights + tap, scratch, all, *seen, columns);
}

static inline void rt_attention_weights(const RtAttention *shape, float *scratch, size_t stride, const int *seen, int rows)
{
    for (int r = 0; r < rows; r++, scratch += stride)
        if (seen[r]) rt_attention_softmax(scratch, seen[r], shape->scale);
}

/* Compute the attention of heads begin to end - 1. k and v are in `format`. */
RT_INLINE void rt_attention_of(const RtAttention *shape, float *out, const float *q, const void *k, const void *v, float *scratch,
                               const RtAttentionExtra *extra, const int *visible, int rows, int begin, int end, const RtFormat format)
{
    const size_t sixteen = (size_t)rt_row_floats(format);
    const int value_panels = (shape->d_v + 15) / 16, share = shape->heads / shape->kv_heads;
    const size_t q_stride = (size_t)shape->q_stride, out_stride = (size_t)shape->out_stride;
    const size_t k_panel = rt_key_floats(shape->d_k, format), k_head = (size_t)shape->capacity / 16 * k_panel;
    const size_t v_panel = sixteen * (size_t)shape->capacity, v_head = rt_value_floats(shape->d_v, shape->capacity, format);
    const size_t row = rt_score_floats(shape->capacity, shape->d_k, format);
    RtTile score = { .y = scratch, .y_stride = row, .w_panel = k_panel,
                     .in = shape->d_k, .last = 16, .start = RT_FROM_ZERO, .activation = RT_IDENTITY, .cached = 1, .whole = share > 2 };
    RtTile value = { .x = scratch, .x_stride = row, .w_panel = v_panel,
                     .last = rt_lanes_at(shape->d_v, 16 * value_panels - 16), .activation = RT_IDENTITY, .cached = 1, .whole = share > 2 };

    for (int h = begin, heads; h < end; h += heads) {
        const size_t kv_head = (size_t)(h / share);
        heads = rt_heads_at_once(share, h, end, rows);
        const int ahead = format == RT_INT8 && heads > 1;
        score.w = (const float *)k + kv_head * k_head;
        value.w = (const float *)v + kv_head * v_head;
        for (int first = 0; first < rows; first += RT_ATTENTION_ROWS) {
            const RtHeads tile = rt_heads_tile(h, heads, first, rows);
            const int n = tile.rows;
            int seen[RT_ATTENTION_ROWS], most = 0;
            for (int r = 0; r < n; r++) {
                seen[r] = visible[rt_heads_row(tile, r)];
                most = seen[r] > most ? seen[r] : most;
            }
            score.x = q + rt_heads_begin(tile, q_stride, shape->d_k), score.x_stride = rt_heads_stride(tile, q_stride, shape->d_k);
            if (format == RT_INT8) rt_rotate_queries(&score, scratch + shape->capacity + 16, row, n, shape->d_k);
            if (ahead) rt_attention_scores(score, n, (most + 15) / 16, value.w, v_panel, value_panels, format);
            else rt_tile_all_of(score, n, (most + 15) / 16, format);
            if (format == RT_INT8) rt_scale_scores(scratch, row, n, score.w, shape->d_k, (most + 15) / 16);
            if (extra || shape->softcap > 0)
                for (int r = 0; r < n; r++)
                    rt_attention_weights_extra(shape, extra, scratch + (size_t)r * row, &seen[r], rt_heads_head(tile, r), rt_heads_row(tile, r));
            else rt_attention_weights(shape, scratch, row, seen, n);
            for (int r = 0; format == RT_INT8 && r < n; r++)
                rt_scale_weights(scratch + (size_t)r * row, value.w + (size_t)value_panels * v_panel, seen[r]);
            value.y = out + rt_heads_begin(tile, out_stride, shape->d_v), value.y_stride = rt_heads_stride(tile, out_stride, shape->d_v);
            rt_attention_values(value, seen, n, value_panels, ahead && h + heads < end ? score.w + k_head : NULL, k_panel, format);
        }
    }
}

#endif
