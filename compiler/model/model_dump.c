/* model_dump.c: print a Model as text that is the same on every machine: base names of files,
 * numbers with %.9g. */
#include "fields.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "dtypes.h"

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* ---- fields --------------------------------------------------------------------------------------------- */

static void dump_list(const Numbers *list, FILE *to)
{
    for (int i = 0; list && i < list->count; i++) fprintf(to, "%s%.9g", i ? ", " : "{ ", list->value[i]);
    fputs(list ? " }" : "-", to);
}

static void dump_sequences(const Numbers *list, FILE *to)
{
    for (int i = 0; list && i < list->count; i += 1 + (int)list->value[i]) {
        const Numbers one = { (int)list->value[i], list->value + i + 1 };
        fputs(i ? ", " : "{ ", to);
        dump_list(&one, to);
    }
    fputs(list ? " }" : "-", to);
}

static void dump_value(const Field *f, const void *where, FILE *to)
{
    const char *p = (const char *)where + f->offset, *text;
    switch (f->type) {
    case TYPE_INT:  fprintf(to, "%" PRId64, *(const int64_t *)p); break;
    case TYPE_REAL: fprintf(to, "%.9g", *(const double *)p); break;
    case TYPE_BOOL: fputs(*(const bool *)p ? "true" : "false", to); break;
    case TYPE_WORD: fprintf(to, "\"%s\"", f->words[*(const int *)p]); break;
    case TYPE_NUMBERS: case TYPE_IDS: dump_list(*(const Numbers *const *)p, to); break;
    case TYPE_SEQUENCES: dump_sequences(*(const Numbers *const *)p, to); break;
    case TYPE_TEXT: case TYPE_PATH:
        text = *(const char *const *)p;
        if (text) fprintf(to, "\"%s\"", base_name(text));
        else fputc('-', to);
        break;
    }
}

static bool is_of_generation(const Field *f) { return !strncmp(f->name, "generation_", strlen("generation_")); }

static bool is_of_training(const Field *f) { return strstr(f->name, "dropout") != NULL; }

/* True if a field differs from its default. */
static bool differs(const Field *f, const void *where)
{
    const char *p = (const char *)where + f->offset;
    const FieldValue preset = field_preset(f);
    switch (f->type) {
    case TYPE_INT:  return *(const int64_t *)p != preset.integer;
    case TYPE_REAL: return *(const double *)p != preset.real;
    case TYPE_BOOL: return *(const bool *)p != (preset.integer != 0);
    case TYPE_WORD: return *(const int *)p != preset.integer;
    case TYPE_NUMBERS: case TYPE_IDS: case TYPE_SEQUENCES: return *(const Numbers *const *)p != NULL;
    case TYPE_TEXT: case TYPE_PATH: return *(const char *const *)p != NULL;
    }
    return true;
}

static void dump_rules(const Model *m, FILE *to)
{
    for (int i = 0; i < m->dtype_rule_count; i++)
        fprintf(to, "; %s \"%s\"", m->dtype_rules[i].pattern, fields[FIELD_ID_dtype].words[m->dtype_rules[i].word]);
}

static void dump_fields(FieldScope scope, const void *where, FILE *to)
{
    for (const Field *f = fields; f < fields + FIELD_COUNT; f++) {
        const bool rare = is_of_generation(f) || is_of_training(f);
        if (f->scope != scope || (rare && !differs(f, where))) continue;
        fprintf(to, "  %-17s ", f->name);
        dump_value(f, where, to);
        if (f == &fields[FIELD_ID_dtype]) dump_rules(where, to);
        fputc('\n', to);
    }
}

static bool same_numbers(const Numbers *a, const Numbers *b)
{
    if (!a || !b || a->count != b->count) return a == b;
    return !memcmp(a->value, b->value, (size_t)a->count * sizeof *a->value);
}

#define SAME_INT(a, b)  ((a) == (b))
#define SAME_REAL(a, b) ((a) == (b))
#define SAME_BOOL(a, b) ((a) == (b))
#define SAME_WORD(a, b) ((a) == (b))
#define SAME_NUMBERS(a, b) same_numbers(a, b)

bool layer_same(const LayerFields *a, const LayerFields *b)
{
    bool same = true;
#define FIELD_MODEL(type, name)
#define FIELD_LIST(type, name)
#define FIELD_STACK(type, name)
#define FIELD_LAYER(type, name) same &= SAME_##type(a->name, b->name);
#define FIELD(scope, type, name, default, least, most, words, needs, doc) FIELD_##scope(type, name)
#include "fields.def"
    return same;
}

/* True if a layer's line has the field: sizes unless they are 0, other fields if they differ from
 * their default. */
static bool is_told(const Field *f, const LayerFields *l)
{
    if (f->type == TYPE_INT) return *(const int64_t *)(const void *)((const char *)l + f->offset) != 0;
    return differs(f, l);
}

/* Consecutive equal layers share a line. */
static void dump_stack(const char *name, const Stack *s, FILE *to)
{
    fprintf(to, "%s\n", name);
    dump_fields(SCOPE_STACK, s, to);
    for (int64_t n = 0, next; n < s->layers; n = next) {
        for (next = n + 1; next < s->layers && layer_same(&s->layer[n], &s->layer[next]);) next++;
        if (next == n + 1) fprintf(to, "  layer %" PRId64 ":", n);
        else fprintf(to, "  layers %" PRId64 "..%" PRId64 ":", n, next - 1);
        for (const Field *f = fields; f < fields + FIELD_COUNT; f++) {
            if (f->scope != SCOPE_LAYER || !is_told(f, &s->layer[n])) continue;
            fprintf(to, " %s=", f->name);
            dump_value(f, &s->layer[n], to);
        }
        fputc('\n', to);
    }
}

/* Print the lists of a head if there is one, and those of generation; empty lists of strings are
 * left out. */
static void dump_lists(const Model *m, FILE *to)
{
    for (const Field *f = fields; f < fields + FIELD_COUNT; f++) {
        const bool told = f->scope == SCOPE_LIST && (model_has_head(m) || is_of_generation(f));
        const FieldList *list = told ? (const FieldList *)((const char *)m + f->offset) : NULL;
        if (!list || (f->type == TYPE_TEXT && !list->count)) continue;
        fprintf(to, "  %-17s ", f->name);
        for (int i = 0; i < list->count; i++) {
            if (f->type == TYPE_TEXT) fprintf(to, "%s\"%s\"", i ? ", " : "", list->text[i]);
            else if (f->type == TYPE_PATH) fprintf(to, "%s\"%s\"", i ? ", " : "", base_name(list->text[i]));
            else if (f->type == TYPE_WORD) fprintf(to, "%s\"%s\"", i ? ", " : "", f->words[list->value[i]]);
            else if (f->type == TYPE_BOOL) fprintf(to, "%s%s", i ? ", " : "", list->value[i] ? "true" : "false");
            else fprintf(to, "%s%" PRId64, i ? ", " : "", list->value[i]);
        }
        fputs(list->count ? "\n" : "-\n", to);
    }
}

static void dump_vocabulary(const char *name, const Vocabulary *v, FILE *to)
{
    if (!v) return;
    fprintf(to, "%s vocabulary: %d symbols, blank=%d start=%d end=%d unknown=%d\n ", name, v->size, v->blank, v->start, v->end, v->unknown);
    for (int i = 0; i < v->size; i++) fprintf(to, " %s", v->code_point[i] == ' ' ? "' '" : v->text[i]);
    fputc('\n', to);
}

/* ---- tensors -------------------------------------------------------------------------------------------- */

static void dump_numbers(const char *open, const int64_t *numbers, int n, const char *close, FILE *to)
{
    fputs(open, to);
    for (int i = 0; i < n; i++) fprintf(to, "%s%" PRId64, i ? ", " : "", numbers[i]);
    fputs(close, to);
}

static bool is_contiguous(const TensorSource *t)
{
    int64_t stride = 1;
    for (int i = t->rank - 1; i >= 0; i--) {
        if (t->stride[i] != stride) return false;
        stride *= t->shape[i];
    }
    return true;
}

static void dump_sinusoid(const TensorSource *t, FILE *to)
{
    int n;
    fprintf(to, "sinusoid %s", field_words("layouts", &n)[t->layout]);
    fprintf(to, " %s first=%d", field_words("divisors", &n)[t->divisor], t->first);
}

static void dump_view(const TensorSource *t, FILE *to)
{
    dump_numbers(" as [", t->view_shape, t->view_rank, "]", to);
    dump_numbers(" stride [", t->view_stride, t->view_rank, "]", to);
}

static void dump_source(const TensorSource *t, FILE *to)
{
    switch (t->kind) {
    case SOURCE_FILE:
        fprintf(to, "\"%s\" %s at %zu", t->file_name, dtype_name(t->dtype), t->offset);
        if (t->plus > 0) fprintf(to, ", plus %.9g", (double)t->plus);
        break;
    case SOURCE_VALUES:   fputs("values", to); break;
    case SOURCE_XAVIER:   fprintf(to, "xavier seed=%" PRIu64 " fan=%" PRId64 "+%" PRId64, t->seed, t->fan_in, t->fan_out); break;
    case SOURCE_UNIFORM:  fprintf(to, "uniform seed=%" PRIu64 " fan=%" PRId64, t->seed, t->fan_in); break;
    case SOURCE_CONSTANT: fprintf(to, "constant %.9g", (double)t->constant); break;
    case SOURCE_SINUSOID: dump_sinusoid(t, to); break;
    case SOURCE_ROTARY:
        fprintf(to, "rotary, rates %.9g to %.9g", (double)t->rates[0], (double)t->rates[t->shape[1] / 2 - 1]);
        if (t->constant < 1 || t->constant > 1) fprintf(to, ", times %.9g", (double)t->constant);
        break;
    case SOURCE_DISTANCE: fprintf(to, "by distance from %s, %s", t->table->name, t->both_ways ? "both ways" : "one way"); break;
    }
    if (t->start) fprintf(to, " from %" PRId64, t->start);
    if (t->group) fprintf(to, " in groups of %d", t->group);
    if (t->added) fprintf(to, " plus \"%s\"", t->added->file_name);
    if (t->view_rank) dump_view(t, to);
    else if (!is_contiguous(t)) dump_numbers(" stride [", t->stride, t->rank, "]", to);
    fputc('\n', to);
}

static void dump_tensors(const Model *m, FILE *to)
{
    fprintf(to, "tensors: %d, %" PRId64 " parameters\n", m->tensor_count, model_parameters(m));
    for (int i = 0; i < m->tensor_count; i++) {
        const TensorSource *t = &m->tensors[i];
        fprintf(to, "  %-36s", t->name);
        dump_numbers(" [", t->shape, t->rank, "] ", to);
        dump_source(t, to);
    }
}

/* ---- graphs --------------------------------------------------------------------------------------------- */

static void dump_results(const GraphCall *c, FILE *to)
{
    for (int i = 0; i < c->results; i++) fprintf(to, "%s%%%d", i ? ", " : "", c->first_result + i);
    if (c->results) fputs(" = ", to);
}

static void dump_call(const GraphCall *c, FILE *to)
{
    fputs("  ", to);
    dump_results(c, to);
    fprintf(to, "%s(", c->op);
    if (c->name) fprintf(to, "\"%s\"%s", c->name, c->input_count ? ", " : "");
    for (int i = 0; i < c->input_count; i++)
        if (c->inputs[i] < 0) fprintf(to, "%snil", i ? ", " : "");
        else fprintf(to, "%s%%%d", i ? ", " : "", c->inputs[i]);
    if (c->rank) dump_numbers(", [", c->shape, c->rank, "]", to);
    for (int i = 0; i < c->option_count; i++) {
        const struct GraphOption *o = &c->options[i];
        if (o->word) fprintf(to, ", %s=\"%s\"", o->name, o->word);
        else fprintf(to, ", %s=%.9g", o->name, o->number);
    }
    fputc(')', to);
    for (int64_t i = 0; i < c->value_count; i++) fprintf(to, "%s%.9g", i ? " " : " : ", (double)c->values[i]);
    fprintf(to, "   -- line %d\n", c->at.line);
}

void model_dump(const Model *m, FILE *to)
{
    fprintf(to, "model %s from %s\n", m->name, base_name(m->spec_path));
    if (m->model_kind == KIND_GRAPH) {
        fprintf(to, "graph: %d calls, %d values\n", m->graph->count, m->graph->values);
        for (int i = 0; i < m->graph->count; i++) dump_call(&m->graph->calls[i], to);
    } else {
        dump_fields(SCOPE_MODEL, m, to);
        dump_lists(m, to);
        if (m->has_encoder) dump_stack("encoder", &m->encoder, to);
        if (m->has_decoder) dump_stack("decoder", &m->decoder, to);
        dump_vocabulary("source", m->source, to);
        dump_vocabulary("target", m->target, to);
    }
    dump_tensors(m, to);
}
