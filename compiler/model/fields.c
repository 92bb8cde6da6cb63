/* fields.c: the tables of fields.def; find, check, store and print fields. */
#include "fields.h"
#include "integer.h"
#include "wrap.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* ---- words ---------------------------------------------------------------------------------------------- */

#define WORDS(list, ...) static const char *const words_##list[] = { __VA_ARGS__ };
#include "fields.def"

static const char *const words_activations[] = {
#define RT_ACTIVATION(id, name, formula, vector, plain, exact) name,
#include "activations.def"
#undef RT_ACTIVATION
};

static const char *const words_dtypes[] = {
    "f32",
#define FORMAT(id, name, word, bits, dtype, size, doc)
#define PANEL_FORMAT(id, name, word, bits, dtype, size, kernels, doc) word,
#include "formats.def"
#undef FORMAT
    "file",
};

static const char *const words_families[] = {
    "xformc",
#define FAMILY(id, model_type, about) model_type,
#include "families.def"
#undef FAMILY
};

static const char *const words_none[] = { "" };     /* for fields of other types */

enum {
#define WORDS(list, ...) count_##list = (int)(sizeof words_##list / sizeof *words_##list),
#include "fields.def"
    count_activations = (int)(sizeof words_activations / sizeof *words_activations),
    count_dtypes = (int)(sizeof words_dtypes / sizeof *words_dtypes),
    count_families = (int)(sizeof words_families / sizeof *words_families),
    count_none = 0
};

const char *const *field_words(const char *list, int *n)
{
#define WORDS(name, ...) if (!strcmp(list, #name)) { *n = count_##name; return words_##name; }
#include "fields.def"
    static const struct { const char *list, *const *words; int count; } tables[] = {
        { "activations", words_activations, count_activations },
        { "dtypes", words_dtypes, count_dtypes },
        { "families", words_families, count_families },
    };
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        if (!strcmp(list, tables[i].list)) {
            *n = tables[i].count;
            return tables[i].words;
        }
    die("no list of words %s", list);
}

/* ---- the table ------------------------------------------------------------------------------------------ */

/* Marks a field without a default: no field's limits allow this number. */
#define UNSET (-1e300)
#define OFFSET_MODEL(name) offsetof(Model, name)
#define OFFSET_LIST(name)  offsetof(Model, name)
#define OFFSET_STACK(name) offsetof(Stack, name)
#define OFFSET_LAYER(name) offsetof(LayerFields, name)

const Field fields[FIELD_COUNT] = {
#define FIELD(scope, type, name, default, least, most, words, needs, doc) \
    { #name, doc, SCOPE_##scope, TYPE_##type, OFFSET_##scope(name), (default) != UNSET, default, least, most, \
      words_##words, count_##words, NEED_##needs },
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
    const char *names[FIELD_COUNT + 5];
    int n = 0;
    for (int i = 0; i < FIELD_COUNT; i++)
        if (!in_stack || fields[i].scope > SCOPE_LIST) names[n++] = fields[i].name;
    if (!in_stack) {
        names[n++] = "encoder";
        names[n++] = "decoder";
        names[n++] = "unroll";
        names[n++] = "head";
        names[n++] = "generation";
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
    case TYPE_NUMBERS: case TYPE_IDS: case TYPE_SEQUENCES: *(const Numbers **)p = value.list; break;
    }
}

bool field_check(Diag *d, Loc at, const Field *f, const char *what, const char *shown, const FieldValue *v)
{
    const double number = f->type == TYPE_INT ? (double)v->integer : v->real;
    const bool checked = f->type == TYPE_INT || f->type == TYPE_REAL || f->type == TYPE_NUMBERS;
    if (!checked) return true;
    if (!(number >= f->least && number <= f->most))
        diag_error(d, EXIT_BAD_DATA, at, f->type == TYPE_INT ? "%s (%s) must be from %.0f to %.0f" : "%s (%s) must be from %.9g to %.9g", what,
                   shown, f->least, f->most);
    else if (f->type != TYPE_INT && number != 0 && fabs(number) < (double)FLT_MIN)
        diag_error(d, EXIT_BAD_DATA, at, "%s (%s) is too small for a 32-bit float", what, shown);
    else
        return true;
    return false;
}

int field_word(const Field *f, const char *word)
{
    for (int i = 0; i < f->word_count; i++)
        if (!strcmp(f->words[i], word)) return i;
    return -1;
}

FieldValue field_preset(const Field *f)
{
    FieldValue v = { 0, 0, NULL, NULL };
    if (!f->has_default) return v;
    v.integer = integer_of(f->preset);
    v.real = f->preset;
    return v;
}

/* ---- help ----------------------------------------------------------------------------------------------- */

static const char *preset_text(const Field *f, char text[32])
{
    if (!f->has_default) return "-";
    if (f->type == TYPE_WORD) return f->words[(int)f->preset];
    if (f->type == TYPE_BOOL) return f->preset != 0 ? "true" : "false";
    snprintf(text, 32, "%.9g", f->preset);
    return text;
}

void fields_print(FILE *to)
{
    static const char *const scopes[] = { "model", "model", "stack", "layer" };
    static const char *const types[] = { "integer", "number", "boolean", "text", "path", "word", "numbers", "ids", "lists" };
    fprintf(to, "%-34s%-10s%-7s%s\n", "field", "type", "scope", "default");
    for (const Field *f = fields; f < fields + FIELD_COUNT; f++) {
        char text[64];
        Wrap line = { to, 4, 0 };
        snprintf(text, sizeof text, "%s%s", types[f->type], f->scope == SCOPE_LIST ? "s" : "");
        fprintf(to, "%-34s%-10s%-7s", f->name, text, scopes[f->scope]);
        fprintf(to, "%s\n", preset_text(f, text));
        wrap_words(&line, f->doc);
        for (int i = 0; i < f->word_count; i++) {
            snprintf(text, sizeof text, "%s\"%s\"", i ? "| " : "— ", f->words[i]);
            wrap_words(&line, text);
        }
        fputc('\n', to);
    }
}

const char *model_kv_dtype(const Model *m) { return fields[FIELD_ID_kv_dtype].words[m->kv_dtype]; }
