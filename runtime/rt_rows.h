/* rt_rows.h: which rows a decoder takes next, and what a state keeps of them: the same for emitted models and for the generic
 * engine of the compiler. Freestanding C11, and C++. */
#ifndef RT_ROWS_H
#define RT_ROWS_H

#include "rt.h"

typedef struct RtRows {
    int slots, vocab;
    int *source_length, *next_position;             /* [slots] */
    int *furthest;                  /* [slots], with `back`: one past the furthest position since 0 */
    int positions_most, rows_most;  /* of a sequence; of a call */
    int back;                       /* rings hold what is needed from so far before furthest on; 0: there are none */
    int *ids, *positions, *visible; /* [rows_most]: inputs of the decoder; positions may be NULL */
    int *memory;                    /* [rows_most]: rows of the source; NULL where there is none */
} RtRows;

/* Whether a row may come next in its slot, after `before` rows of the same call, the first of which has position `first`. */
static inline rt_status rt_rows_check_one(const RtRows *r, const rt_token *row, int first, int before)
{
    if (row->slot < 0 || row->slot >= r->slots || row->id < 0 || row->id >= r->vocab) return RT_BAD_ID;
    if (row->pos >= r->positions_most) return RT_TOO_LONG;
    if (r->memory && r->source_length[row->slot] == 0) return RT_ORDER;
    if (before) return row->pos == first + before ? RT_OK : RT_ORDER;
    if (r->back && row->pos > 0 && row->pos + r->back < r->furthest[row->slot]) return RT_ORDER;
    return row->pos < 0 || row->pos > r->next_position[row->slot] ? RT_ORDER : RT_OK;
}

/* Rows of one slot form a group; a slot may have one group in a call. */
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

/* Before the decoder runs: its inputs are set. Of rows that may not come next a status, and nothing is changed. */
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

/* The groups of rows that were checked: groups[n]; returns their end. */
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

/* After the decoder ran. */
static inline void rt_rows_end(const RtRows *r, const rt_token *rows, int n)
{
    for (int i = 0; i < n; i++) {
        const int next = rows[i].pos + 1, slot = rows[i].slot;
        r->next_position[slot] = next;
        if (r->back && (next == 1 || r->furthest[slot] < next)) r->furthest[slot] = next;
    }
}

/* Copy the lengths of a slot. */
static inline void rt_rows_fork(const RtRows *r, int from, int to)
{
    r->source_length[to] = r->source_length[from];
    r->next_position[to] = r->next_position[from];
    if (r->back) r->furthest[to] = r->furthest[from];
}

#endif
