/* rt_heads.h: what the rows of an attention tile are: a few query rows of one head, or one row of a
 * few heads that share keys and values. In a call of one row the heads fill the tile, so keys and
 * values are read and widened once for all of them. */
#ifndef RT_HEADS_H
#define RT_HEADS_H

#include "rt_simd.h"

/* `rows` rows of a tile: rows row .. row + rows - 1 of one head, or, if `share` is set, row `row`
 * of heads head .. head + rows - 1. */
typedef struct RtHeads { int head, row, rows, share; } RtHeads;

/* How many heads from h on, before `end`, the next tiles compute: 1, or in a call of one row those
 * that share keys and values with head h, at most as many as fit into a tile. share: how many heads
 * share keys and values in the model. */
RT_INLINE int rt_heads_at_once(int share, int h, int end, int rows)
{
    int n = rows == 1 ? share - h % share : 1;
    n = n < end - h ? n : end - h;
    return n < RT_ATTENTION_ROWS ? n : RT_ATTENTION_ROWS;
}

/* The tile of `heads` heads from h on, and of the rows from `row` on if there is only one head. */
RT_INLINE RtHeads rt_heads_tile(int h, int heads, int row, int rows)
{
    const int rest = rows - row < RT_ATTENTION_ROWS ? rows - row : RT_ATTENTION_ROWS;
    return (RtHeads){ h, row, heads > 1 ? heads : rest, heads > 1 };
}

/* The head and the query row of row r of the tile. */
RT_INLINE int rt_heads_head(RtHeads t, int r) { return t.share ? t.head + r : t.head; }
RT_INLINE int rt_heads_row(RtHeads t, int r) { return t.share ? t.row : t.row + r; }

/* The index of the tile's first number in an array with rows `stride` apart and heads of `width`
 * numbers; and the distance from one row of the tile to the next. */
RT_INLINE size_t rt_heads_begin(RtHeads t, size_t stride, int width)
{
    return (size_t)t.row * stride + (size_t)t.head * (size_t)width;
}
RT_INLINE size_t rt_heads_stride(RtHeads t, size_t stride, int width)
{
    return t.share ? (size_t)width : stride;
}

#endif
