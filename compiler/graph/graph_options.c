/* graph_options.c: names, types and limits of the options of an xf.graph's operations; read and
 * check the options of a call. */
#include "graph_build.h"

#include <float.h>
#include <math.h>
#include <string.h>

typedef enum OptionType { OPTION_WHOLE, OPTION_REAL, OPTION_SWITCH, OPTION_CHOICE } OptionType;

typedef struct OptionRow {
    const char *op, *name;
    OptionType type;
    double least, most;             /* inclusive, of a number */
    const char *words;              /* of a choice: a list of fields.def */
} OptionRow;

static const OptionRow rows[] = {
    { "attention",  "heads",    OPTION_WHOLE,  1, 4096, NULL },
    { "attention",  "kv_heads", OPTION_WHOLE,  1, 4096, NULL },
    { "attention",  "scale",    OPTION_REAL,   -(double)FLT_MAX, (double)FLT_MAX, NULL },
    { "attention",  "softcap",  OPTION_REAL,   0, (double)FLT_MAX, NULL },
    { "attention",  "causal",   OPTION_SWITCH, 0, 0, NULL },
    { "attention",  "keys",     OPTION_WHOLE,  0, INT32_MAX, NULL },
    { "norm",       "kind",     OPTION_CHOICE, 0, 0, "norms" },
    { "norm",       "eps",      OPTION_REAL,   0, 1, NULL },
    { "norm",       "heads",    OPTION_WHOLE,  1, 4096, NULL },
    { "activation", "kind",     OPTION_CHOICE, 0, 0, "activations" },
    { "gate",       "kind",     OPTION_CHOICE, 0, 0, "activations" },
    { "rotary",     "heads",    OPTION_WHOLE,  1, 4096, NULL },
    { "rotary",     "dims",     OPTION_WHOLE,  2, 65536, NULL },
    { "rotary",     "theta",    OPTION_REAL,   1, 1e12, NULL },
    { "rotary",     "layout",   OPTION_CHOICE, 0, 0, "rotations" },
};
enum { ROW_COUNT = sizeof rows / sizeof *rows };

/* ---- reading ---------------------------------------------------------------------------------------------- */

static const struct GraphOption *given(const GraphCall *c, const char *name)
{
    for (int i = 0; i < c->option_count; i++)
        if (strcmp(c->options[i].name, name) == 0) return &c->options[i];
    return NULL;
}

double option_number(const GraphCall *c, const char *name, double otherwise)
{
    const struct GraphOption *o = given(c, name);
    return o ? o->number : otherwise;
}

int option_choice(const GraphCall *c, const char *name, const char *list, int otherwise)
{
    const struct GraphOption *o = given(c, name);
    int n;
    const char *const *words = field_words(list, &n);
    for (int i = 0; o && o->word && i < n; i++)
        if (strcmp(words[i], o->word) == 0) return i;
    return otherwise;
}

/* ---- checking --------------------------------------------------------------------------------------------- */

const char *option_words(Arena *a, const char *list)
{
    int n;
    const char *const *words = field_words(list, &n), *all = "";
    for (int i = 0; i < n; i++) all = arena_format(a, "%s%s\"%s\"", all, i ? ", " : "", words[i]);
    return all;
}

static const char *found(Arena *a, const struct GraphOption *o)
{
    if (o->word) return arena_format(a, "\"%s\"", o->word);
    if (o->boolean) return o->number != 0 ? "true" : "false";
    return arena_format(a, "%.9g", o->number);
}

static bool refuse_unknown(Maker *k, const GraphCall *c, const char *name)
{
    const char *names[ROW_COUNT], *all = "";
    int n = 0;
    for (int i = 0; i < ROW_COUNT; i++) {
        if (strcmp(rows[i].op, c->op) != 0) continue;
        all = arena_format(k->arena, "%s%s%s", all, n ? ", " : "", rows[i].name);
        names[n++] = rows[i].name;
    }
    const char *near = diag_nearest(name, names, n);
    diag_error(k->diag, EXIT_BAD_DATA, c->at, "%s has no option \"%s\"; %s%s", c->op, name,
               !n ? "it takes none" : n == 1 ? "its only option is " : "its options are ", all);
    if (near) diag_note(k->diag, c->at, "did you mean \"%s\"?", near);
    return false;
}

static bool check_choice(Maker *k, const GraphCall *c, const OptionRow *row, const struct GraphOption *o)
{
    int n;
    const char *const *words = field_words(row->words, &n);
    for (int i = 0; o->word && i < n; i++)
        if (strcmp(words[i], o->word) == 0) return true;
    diag_error(k->diag, EXIT_BAD_DATA, c->at, "%s has no %s %s; the choices are %s", c->op, row->name, found(k->arena, o),
               option_words(k->arena, row->words));
    const char *near = o->word ? diag_nearest(o->word, words, n) : NULL;
    if (near) diag_note(k->diag, c->at, "did you mean \"%s\"?", near);
    return false;
}

static bool check_number(Maker *k, const GraphCall *c, const OptionRow *row, const struct GraphOption *o)
{
    bool whole = row->type == OPTION_WHOLE;
    if (o->word || o->boolean || (whole && o->number != floor(o->number)))
        diag_error(k->diag, EXIT_BAD_DATA, c->at, "%s of %s must be a %s, found %s", row->name, c->op, whole ? "whole number" : "number",
                   found(k->arena, o));
    else if (o->number < row->least || o->number > row->most)
        diag_error(k->diag, EXIT_BAD_DATA, c->at, "%s of %s (%.9g) must be from %.9g to %.9g", row->name, c->op, o->number, row->least, row->most);
    else if (o->number != 0 && fabs(o->number) < (double)FLT_MIN)
        diag_error(k->diag, EXIT_BAD_DATA, c->at, "%s of %s (%.9g) is too small for a 32-bit float", row->name, c->op, o->number);
    else
        return true;
    return false;
}

static bool check_option(Maker *k, const GraphCall *c, const struct GraphOption *o)
{
    const OptionRow *row = NULL;
    for (int i = 0; i < ROW_COUNT; i++)
        if (strcmp(rows[i].op, c->op) == 0 && strcmp(rows[i].name, o->name) == 0) row = &rows[i];
    if (!row) return refuse_unknown(k, c, o->name);
    if (row->type == OPTION_CHOICE) return check_choice(k, c, row, o);
    if (row->type != OPTION_SWITCH) return check_number(k, c, row, o);
    if (!o->boolean) diag_error(k->diag, EXIT_BAD_DATA, c->at, "%s of %s must be true or false, found %s", o->name, c->op, found(k->arena, o));
    return o->boolean;
}

bool options_check(Maker *k, const GraphCall *c)
{
    bool good = true;
    for (int i = 0; i < c->option_count; i++) good &= check_option(k, c, &c->options[i]);
    return good;
}
