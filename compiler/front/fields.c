/* fields.c: the tables of fields.def. */
#include "fields.h"

#include <string.h>

/* ---- words ---------------------------------------------------------------------------------------------- */

#define WORDS(list, ...) static const char *const words_##list[] = { __VA_ARGS__ };
#include "fields.def"

static const char *const words_activations[] = {
#define RT_ACTIVATION(id, name, formula) name,
#include "activations.def"
#undef RT_ACTIVATION
};

static const char *const words_none[] = { "" };     /* of fields that are no words */

enum {
#define WORDS(list, ...) count_##list = (int)(sizeof words_##list / sizeof *words_##list),
#include "fields.def"
    count_activations = (int)(sizeof words_activations / sizeof *words_activations),
    count_none = 0
};

const char *const *field_words(const char *list, int *n)
{
#define WORDS(name, ...) if (!strcmp(list, #name)) { *n = count_##name; return words_##name; }
#include "fields.def"
    if (strcmp(list, "activations")) die("no list of words %s", list);
    *n = count_activations;
    return words_activations;
}

/* ---- the table ------------------------------------------------------------------------------------------ */

/* No limit is a negative number of this size, so it can stand for "none" among the defaults. */
#define UNSET (-1e300)
#define OFFSET_MODEL(name) offsetof(Model, name)
#define OFFSET_STACK(name) offsetof(Stack, name)
#define OFFSET_LAYER(name) offsetof(LayerFields, name)

const Field fields[FIELD_COUNT] = {
#define FIELD(scope, type, name, default, least, most, words, doc) \
    { #name, doc, SCOPE_##scope, TYPE_##type, OFFSET_##scope(name), (default) != UNSET, default, least, most, \
      words_##words, count_##words },
#include "fields.def"
};

const Field *field_find(const char *name)
{
    for (int i = 0; i < FIELD_COUNT; i++)
        if (!strcmp(fields[i].name, name)) return &fields[i];
    return NULL;
}

const char *field_nearest(const char *name, bool in_stack)
{
    const char *names[FIELD_COUNT + 3];
    int n = 0;
    for (int i = 0; i < FIELD_COUNT; i++)
        if (!in_stack || fields[i].scope != SCOPE_MODEL) names[n++] = fields[i].name;
    if (!in_stack) {
        names[n++] = "encoder";
        names[n++] = "decoder";
        names[n++] = "unroll";
    }
    return diag_nearest(name, names, n);
}

void field_store(const Field *f, void *where, FieldValue value)
{
    char *p = (char *)where + f->offset;
    switch (f->type) {
    case TYPE_INT:  *(int64_t *)p = value.integer; break;
    case TYPE_REAL: *(double *)p = value.real; break;
    case TYPE_BOOL: *(bool *)p = value.integer != 0; break;
    case TYPE_WORD: *(int *)p = (int)value.integer; break;
    case TYPE_TEXT: case TYPE_PATH: *(const char **)p = value.text; break;
    case TYPE_NUMBERS: *(const Numbers **)p = value.list; break;
    }
}

FieldValue field_preset(const Field *f)
{
    FieldValue v = { 0, 0, NULL, NULL };
    if (!f->has_default) return v;
    v.integer = (int64_t)f->preset;
    v.real = f->preset;
    return v;
}

const Choice *draft_choice(const Draft *d, Side side, FieldId id)
{
    if (d->choices[side][id].count) return &d->choices[side][id];
    return d->choices[SIDE_BOTH][id].count ? &d->choices[SIDE_BOTH][id] : NULL;
}

Loc draft_place(const Draft *d, Side side, FieldId id)
{
    const Choice *c = draft_choice(d, side, id);
    return c ? c->at : d->at;
}

/* ---- help ----------------------------------------------------------------------------------------------- */

static void print_preset(const Field *f, FILE *to)
{
    char text[32] = "-";
    if (f->has_default && f->type == TYPE_BOOL) strcpy(text, f->preset != 0 ? "true" : "false");
    else if (f->has_default && f->type != TYPE_WORD) snprintf(text, sizeof text, "%.9g", f->preset);
    fprintf(to, "%-12s", f->has_default && f->type == TYPE_WORD ? f->words[(int)f->preset] : text);
}

void fields_print(FILE *to)
{
    static const char *const scopes[] = { "model", "stack", "layer" };
    static const char *const types[] = { "integer", "number", "boolean", "text", "path", "word", "numbers" };
    fprintf(to, "%-23s%-9s%-7s%-16s %s\n", "field", "type", "scope", "default", "meaning");
    for (const Field *f = fields; f < fields + FIELD_COUNT; f++) {
        fprintf(to, "%-23s%-9s%-7s", f->name, types[f->type], scopes[f->scope]);
        print_preset(f, to);
        fprintf(to, "     %s", f->doc);
        for (int i = 0; i < f->word_count; i++) fprintf(to, "%s\"%s\"", i ? " | " : ": ", f->words[i]);
        fputc('\n', to);
    }
}
