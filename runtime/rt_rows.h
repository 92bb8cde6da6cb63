/* rt_rows.h: check the rows of a decoder and keep the position of each slot, for emitted models and
 * the compiler's generic engine. Freestanding C11 and C++. */
#ifndef RT_ROWS_H
#define RT_ROWS_H

#include "rt.h"

typedef struct RtRows {
    int slots, vocab;
    int *source_length, *next_position;             /* [slots] */
    /* [slots], with `back`: one past the furthest position since position 0 was last decoded. */
    int *furthest;
    int positions_most, rows_most;  /* maximum length of a sequence; maximum rows in a call */
    int back;                       /* rows begin at 0 or at most this far before `furthest`; 0: no rings */
    int *ids, *positions, *visible; /* [rows_most]: inputs of the decoder; positions may be NULL */
    int *memory;                    /* [rows_most]: source length of the row's slot; NULL: none */
} RtRows;

/* Check whether a row may come next in its slot, after `before` rows of its group, the first of
 * which has position `first`. */
static inline rt_status rt_rows_check_one(const RtRows *r, const rt_token *row, int first, int before)
{
    if (row->slot < 0 || row->slot >= r->slots || row->id < 0 || row->id >= r->vocab) return RT_BAD_ID;
    if (row->pos >= r->positions_most) return RT_TOO_LONG;
    if (r->memory && r->source_length[row->slot] == 0) return RT_ORDER;
    if (before) return row->pos == first + before ? RT_OK : RT_ORDER;
    if (r->back && row->pos > 0 && row->pos + r->back < r->furthest[row->slot]) return RT_ORDER;
    return row->pos < 0 || row->pos > r->next_position[row->slot] ? RT_ORDER : RT_OK;
}

/* Check all rows of a call. Adjacent rows of one slot form a group; a slot may have only one
 * group. */
static inline rt_status rt_rows_check(const RtRows *r, const rt_token *rows, int n)
{
    if (n < 1) return RT_ORDER;
    if (n > r->rows_most) return RT_TOO_LONG;
    for (int i = 0, first = 0; i < n; i++) {
        if (rows[i].slot != rows[first].slot) first = i;
        const rt_status status = rt_rows_check_one(r, &rows[i], rows[first].pos, i - first);
        if (status != RT_OK) return status;
        for (int k = 0; i == first && k < i; k++)
            if (rows[k].slot == rows[i].slot) return RT_ORDER;
    }
    return RT_OK;
}

/* Before the decoder runs: check the rows and set its inputs. On an error nothing is changed. */
static inline rt_status rt_rows_begin(const RtRows *r, const rt_token *rows, int n)
{
    const rt_status status = rt_rows_check(r, rows, n);
    for (int i = 0; status == RT_OK && i < n; i++) {
        r->ids[i] = rows[i].id;
        if (r->positions) r->positions[i] = rows[i].pos;
        r->visible[i] = rows[i].pos + 1;
        if (r->memory) r->memory[i] = r->source_length[rows[i].slot];
    }
    return status;
}

/* Write the groups of checked rows to groups[n]. Returns the end of the groups. */
static inline rt_group *rt_rows_group(const rt_token *rows, int n, rt_group *groups)
{
    for (int i = 0; i < n; i++) {
        if (!i || rows[i].slot != rows[i - 1].slot) {
            groups->slot = rows[i].slot;
            groups++->rows.begin = i;
        }
        groups[-1].rows.end = i + 1;
    }
    return groups;
}

/* After the decoder has run: move each slot to its next position. */
static inline void rt_rows_end(const RtRows *r, const rt_token *rows, int n)
{
    for (int i = 0; i < n; i++) {
        const int next = rows[i].pos + 1, slot = rows[i].slot;
        r->next_position[slot] = next;
        if (r->back && (next == 1 || r->furthest[slot] < next)) r->furthest[slot] = next;
    }
}

/* Copy the lengths and positions of a slot. */
static inline void rt_rows_fork(const RtRows *r, int from, int to)
{
    r->source_length[to] = r->source_length[from];
    r->next_position[to] = r->next_position[from];
    if (r->back) r->furthest[to] = r->furthest[from];
}

#endif
