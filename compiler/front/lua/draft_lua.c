/* draft_lua.c: print a Draft, read from any format, as a Lua spec that has the same meaning. */
#include "draft_lua.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void print_text(const char *s, FILE *to)
{
    fputc('"', to);
    for (; *s; s++)
        if (*s == '"' || *s == '\\') fprintf(to, "\\%c", *s);
        else if ((unsigned char)*s < 0x20 || *s == 0x7F) fprintf(to, "\\%03d", *s);
        else fputc(*s, to);
    fputc('"', to);
}

static void print_path(const char *path, FILE *to)
{
    char *whole = strcmp(path, "random") ? realpath(path, NULL) : NULL;
    print_text(whole ? whole : path, to);
    free(whole);
}

/* Print a whole number below 1e15 in full, and any other number with the fewest digits that read
 * back as the same number. */
static void print_real(double x, FILE *to)
{
    const bool whole = !(floor(x) < x) && fabs(x) < 1e15;
    char text[32];
    snprintf(text, sizeof text, "%.0f", whole ? x : 0);
    for (int digits = 1; digits <= 17 && !whole; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, x);
        const double back = strtod(text, NULL);
        if (!(back < x || back > x)) break;
    }
    fputs(text, to);
}

static void print_numbers(const Numbers *list, FILE *to)
{
    fputs("{ ", to);
    for (int i = 0; i < list->count; i++) {
        if (i) fputs(", ", to);
        print_real(list->value[i], to);
    }
    fputs(" }", to);
}

static void print_sequences(const Numbers *list, FILE *to)
{
    fputs("{ ", to);
    for (int i = 0; i < list->count; i += 1 + (int)list->value[i]) {
        const Numbers one = { (int)list->value[i], list->value + i + 1 };
        if (i) fputs(", ", to);
        print_numbers(&one, to);
    }
    fputs(" }", to);
}

static void print_value(const Field *f, const FieldValue *v, FILE *to)
{
    switch (f->type) {
    case TYPE_INT:  fprintf(to, "%" PRId64, v->integer); break;
    case TYPE_REAL: print_real(v->real, to); break;
    case TYPE_BOOL: fputs(v->integer ? "true" : "false", to); break;
    case TYPE_WORD: print_text(f->words[v->integer], to); break;
    case TYPE_TEXT: print_text(v->text, to); break;
    case TYPE_PATH: print_path(v->text, to); break;
    case TYPE_NUMBERS: case TYPE_IDS: print_numbers(v->list, to); break;
    case TYPE_SEQUENCES: print_sequences(v->list, to); break;
    }
}

static bool same_value(const Field *f, const FieldValue *a, const FieldValue *b)
{
    if (f->type == TYPE_TEXT || f->type == TYPE_PATH) return a->text == b->text;
    if (f->type == TYPE_NUMBERS || f->type == TYPE_IDS || f->type == TYPE_SEQUENCES) return a->list == b->list;
    return f->type == TYPE_REAL ? !(a->real < b->real || a->real > b->real) : a->integer == b->integer;
}

/* True if all values of the list are equal. */
static bool is_one_value(const Field *f, const Choice *c)
{
    for (int i = 1; i < c->count; i++)
        if (!same_value(f, &c->values[0], &c->values[i])) return false;
    return true;
}

/* True if a choice need not be printed: there is none, the model does not read it, or it is the
 * default and hides no other choice. */
static bool is_idle(const Draft *d, const Model *m, Side side, const Field *f, const Choice *c)
{
    if (!c->count || field_unread(d, m, side, (FieldId)(f - fields))) return true;
    const FieldValue preset = field_preset(f);
    const bool covers = side != SIDE_BOTH && d->choices[SIDE_BOTH][f - fields].count;
    return f->has_default && !covers && is_one_value(f, c) && same_value(f, &c->values[0], &preset);
}

static void print_choice(const Field *f, const Choice *c, const char *indent, FILE *to)
{
    const int n = is_one_value(f, c) ? 1 : c->count;
    fprintf(to, "%s%s = %s", indent, f->name, n > 1 ? "{ " : "");
    for (int i = 0; i < n; i++) {
        if (i) fputs(", ", to);
        print_value(f, &c->values[i], to);
    }
    fprintf(to, "%s,\n", n > 1 ? " }" : "");
}

static void print_dtypes(const Draft *d, FILE *to)
{
    const Field *f = &fields[FIELD_ID_dtype];
    fputs("  dtype = { default = ", to);
    print_text(f->words[d->choices[SIDE_BOTH][FIELD_ID_dtype].values->integer], to);
    for (int i = 0; i < d->dtype_rule_count; i++) {
        fputs(", [", to);
        print_text(d->dtype_rules[i].pattern, to);
        fputs("] = ", to);
        print_text(f->words[d->dtype_rules[i].word], to);
    }
    fputs(" },\n", to);
}

static bool says_anything(const Draft *d, const Model *m, Side side)
{
    for (int i = 0; i < FIELD_COUNT; i++)
        if (!is_idle(d, m, side, &fields[i], &d->choices[side][i])) return true;
    return false;
}

void draft_print_lua(const Draft *d, const Model *m, FILE *to)
{
    static const char *const names[SIDES] = { [SIDE_ENCODER] = "encoder", [SIDE_DECODER] = "decoder" };
    fputs("return xf.model {\n", to);
    for (int side = 0; side < SIDES; side++) {
        if (side != SIDE_BOTH && !says_anything(d, m, (Side)side)) continue;
        if (side != SIDE_BOTH) fprintf(to, "  %s = {\n", names[side]);
        for (int i = 0; i < FIELD_COUNT; i++) {
            const Choice *c = &d->choices[side][i];
            if (i == FIELD_ID_dtype && side == SIDE_BOTH && d->dtype_rule_count) print_dtypes(d, to);
            else if (!is_idle(d, m, (Side)side, &fields[i], c)) print_choice(&fields[i], c, side == SIDE_BOTH ? "  " : "    ", to);
        }
        if (side != SIDE_BOTH) fputs("  },\n", to);
    }
    fputs("}\n", to);
}
