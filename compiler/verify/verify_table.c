/* verify_table.c: collect, sort and print rows of distances. */
#include "verify_table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "json_text.h"

/* ---- keeping -------------------------------------------------------------------------------------------- */

static bool same_names(const VerifyRow *a, const VerifyRow *b)
{
    return strcmp(a->name, b->name) == 0 && strcmp(a->engine, b->engine) == 0 && strcmp(a->against, b->against) == 0;
}

/* All inputs give the same rows in the same order, so the search begins after the last row
 * found. */
static VerifyRow *find(VerifyTable *t, const VerifyRow *row)
{
    for (int i = 0; i < t->count; i++) {
        int at = (t->expected + i) % t->count;
        if (!same_names(&t->rows[at], row)) continue;
        t->expected = at + 1;
        return &t->rows[at];
    }
    return NULL;
}

void table_add(VerifyTable *t, VerifyRow row)
{
    VerifyRow *known = find(t, &row);
    if (known) {
        if (row.distance > known->distance) known->distance = row.distance;
        if (row.end_to_end > known->end_to_end) known->end_to_end = row.end_to_end;
        known->alone |= row.alone;
        return;
    }
    if (t->count == t->room) {
        int room = t->room ? 2 * t->room : 64;
        t->rows = arena_grow(t->arena, t->rows, (size_t)t->room * sizeof row, (size_t)room * sizeof row);
        t->room = room;
    }
    row.made = t->count;
    t->rows[t->count++] = row;
}

static int by_order(const void *a, const void *b)
{
    const VerifyRow *x = a, *y = b;
    if (x->order != y->order) return x->order < y->order ? -1 : 1;
    return (x->made > y->made) - (x->made < y->made);
}

void table_sort(VerifyTable *t)
{
    if (t->count) qsort(t->rows, (size_t)t->count, sizeof *t->rows, by_order);
}

bool row_differs(const VerifyRow *row) { return !(row->distance <= row->tolerance); }

int table_differing(const VerifyTable *t)
{
    int n = 0;
    for (int i = 0; i < t->count; i++) n += row_differs(&t->rows[i]);
    return n;
}

const VerifyRow *table_first_differing(const VerifyTable *t)
{
    for (int i = 0; i < t->count; i++)
        if (row_differs(&t->rows[i])) return &t->rows[i];
    return NULL;
}

/* ---- as text -------------------------------------------------------------------------------------------- */

/* "0", "inf", or two significant digits. */
static const char *number(char text[16], double x)
{
    snprintf(text, 16, x && isfinite(x) ? "%.1e" : "%g", x);
    return text;
}

/* A tolerance with one digit: 1e-05. */
static const char *limit(char text[16], double x)
{
    snprintf(text, 16, x ? "%.0e" : "%g", x);
    return text;
}

static int wider(int width, const char *text)
{
    int n = (int)strlen(text);
    return n > width ? n : width;
}

static void print_summary(const VerifyTable *t, FILE *to)
{
    const VerifyRow *largest = NULL;
    for (int i = 0; i < t->count; i++)
        if (!largest || t->rows[i].distance > largest->distance) largest = &t->rows[i];
    if (!largest) return;
    char distance[16];
    int differing = table_differing(t), alone = 0;
    for (int i = 0; i < t->count; i++) alone += t->rows[i].alone && !row_differs(&t->rows[i]);
    if (differing) fprintf(to, "verify: %d of %d comparison%s differ%s", differing, t->count, t->count == 1 ? "" : "s",
                           differing == 1 ? "s" : "");
    else if (t->unknown) fprintf(to, "verify: the model lacks %d tensor%s of the reference; %d comparison%s within tolerance", t->unknown,
                                 t->unknown == 1 ? "" : "s", t->count, t->count == 1 ? "" : "s");
    else fprintf(to, "verify: %d comparison%s, all within tolerance", t->count, t->count == 1 ? "" : "s");
    const char *those = !differing ? "of them" : alone == 1 ? "agrees only" : "agree only";
    if (alone) fprintf(to, "%s %d %s operation by operation because %s sums cancel", differing ? ";" : ",", alone, those,
                       alone == 1 ? "its" : "their");
    fprintf(to, "; largest distance %s", number(distance, largest->distance));
    if (largest->distance > 0) fprintf(to, ": %s (%s against %s)", largest->name, largest->engine, largest->against);
    fputc('\n', to);
}

/* True if `row` is worse than `other`: only `row` differs, or both or neither do and its distance
 * is larger. */
static bool says_more(const VerifyRow *row, const VerifyRow *other)
{
    if (row_differs(row) != row_differs(other)) return row_differs(row);
    return row->distance > other->distance;
}

/* Keep only the worst row of each tensor. In a sorted table the rows of a tensor are together. */
static VerifyTable worst_rows(const VerifyTable *t)
{
    VerifyTable worst = { .arena = t->arena, .rows = arena_array(t->arena, (size_t)t->count + 1, sizeof *t->rows) };
    for (int i = 0; i < t->count; i++) {
        VerifyRow *last = worst.count ? &worst.rows[worst.count - 1] : NULL;
        if (!last || strcmp(last->name, t->rows[i].name)) worst.rows[worst.count++] = t->rows[i];
        else if (says_more(&t->rows[i], last)) *last = t->rows[i];
    }
    return worst;
}

static void print_rows(const VerifyTable *t, FILE *to)
{
    int name = 4, engine = 6, against = 7;
    for (int i = 0; i < t->count; i++) {
        name = wider(name, t->rows[i].name);
        engine = wider(engine, t->rows[i].engine);
        against = wider(against, t->rows[i].against);
    }
    fprintf(to, "%-*s  %-*s  %-*s  %8s  %9s\n", name, "name", engine, "engine", against, "against", "distance", "tolerance");
    for (int i = 0; i < t->count; i++) {
        const VerifyRow *r = &t->rows[i];
        char distance[16], tolerance[16], whole[16];
        fprintf(to, "%-*s  %-*s  %-*s  %8s  %9s  %s", name, r->name, engine, r->engine, against,
                r->against, number(distance, r->distance), limit(tolerance, r->tolerance),
                row_differs(r) ? "DIFFERS" : "ok");
        if (r->alone) fprintf(to, " (%s end to end)", number(whole, r->end_to_end));
        fputc('\n', to);
    }
}

void table_print(const VerifyTable *t, bool all, FILE *to)
{
    const VerifyTable worst = worst_rows(t);
    print_rows(all ? t : &worst, to);
    print_summary(t, to);
}

const char *row_text(Arena *a, const VerifyRow *row)
{
    char distance[16], tolerance[16];
    return arena_format(a, "%s (%s against %s): %s > %s", row->name, row->engine, row->against, number(distance, row->distance),
                        limit(tolerance, row->tolerance));
}

/* ---- as JSON -------------------------------------------------------------------------------------------- */

static void put_member(Text *to, const char *key, const char *value)
{
    text_printf(to, "\"%s\": ", key);
    json_add_string(to, value);
    text_add(to, ", ");
}

static void put_row(Text *to, const VerifyRow *r)
{
    text_add(to, "{");
    put_member(to, "name", r->name);
    put_member(to, "engine", r->engine);
    put_member(to, "against", r->against);
    text_add(to, "\"distance\": ");
    json_add_number(to, r->distance);
    text_add(to, ", \"end_to_end\": ");
    json_add_number(to, r->end_to_end);
    text_add(to, "}");
}

void table_print_json(const VerifyTable *t, const char *const *engines, int n, const char *more, FILE *to)
{
    Text json = text_new(t->arena);
    text_add(&json, "{\"engines\": [");
    for (int i = 0; i < n; i++) {
        text_add(&json, i ? ", " : "");
        json_add_string(&json, engines[i]);
    }
    text_add(&json, "],\n \"rows\": [");
    for (int i = 0; i < t->count; i++) {
        text_add(&json, i ? ",\n  " : "\n  ");
        put_row(&json, &t->rows[i]);
    }
    text_printf(&json, "]%s}\n", more);
    fwrite(json.data, 1, json.size, to);
}
