/* answer_vectors.c: the numbers that an encoder alone leaves in an engine, printed as its generated program prints them. */
#include "answer_vectors.h"

#include <string.h>

#include "json_text.h"
#include "generation.h"

Vectors *vectors_new(Arena *a, Engine *e)
{
    const Model *m = e->plan->graph->model;
    const bool head = model_has_head(m);
    Vectors *v = arena_alloc(a, sizeof *v);
    v->engine = e;
    v->buffer = head ? plan_vector(e->plan) : plan_hidden(e->plan);
    v->one = model_pools(m);
    v->width = (int)(head ? model_vector_width(m) : m->d_model);
    v->places = arena_array(a, (size_t)v->width, sizeof *v->places);
    v->values = v->all = arena_array(a, (size_t)(v->one ? vectors_most(v) : m->max_source) * (size_t)v->width, sizeof *v->values);
    return v;
}

static const Model *model_of(const Vectors *v) { return v->engine->plan->graph->model; }

int vectors_most(const Vectors *v) { return (int)(model_of(v)->max_source + 15) / 16; }
int vectors_rows(const Vectors *v) { return (int)model_of(v)->max_source; }
bool vectors_fit(const Vectors *v, int place, int n) { return n <= model_of(v)->max_source - place; }

void vectors_take(Vectors *v, int text, int from, int n)
{
    v->rows = v->one ? 1 : n;
    v->values = v->all + (size_t)(v->one ? text : from) * (size_t)v->width;
}

/* By an engine that cannot read several at once. */
static rt_status encode_in_turn(Vectors *v, const int *ids, const int *lengths, const int *firsts, int count)
{
    rt_status status = RT_OK;
    for (int t = 0, from = 0; t < count && status == RT_OK; from += lengths[t++]) {
        vectors_take(v, t, from, lengths[t]);
        status = vectors_encode(v, ids + from, lengths[t], firsts[t]);
    }
    return status;
}

rt_status vectors_encode_batch(Vectors *v, const int *ids, const int *lengths, const int *firsts, int count)
{
    const EngineOps *ops = v->engine->ops;
    int rows = 0;
    if (!ops->encode_batch) return encode_in_turn(v, ids, lengths, firsts, count);
    for (int t = 0; t < count; t++) rows += lengths[t];
    const rt_status status = ops->encode_batch(v->engine, ids, lengths, model_of(v)->token_types > 1 ? firsts : NULL, count, v->all);
    if (status == RT_OK && !v->one) engine_read(v->engine, v->buffer, 0, rows, v->width, v->all);
    return status;
}

rt_status vectors_encode(Vectors *v, const int *ids, int n, int first)
{
    engine_pair(v->engine, first, n);
    const rt_status status = v->engine->ops->encode(v->engine, ids, n);
    engine_pair(v->engine, 0, n);
    v->rows = v->one ? 1 : n;
    if (status == RT_OK) engine_read(v->engine, v->buffer, 0, v->rows, v->width, v->values);
    return status;
}

static RtScoring scoring_of(const Vectors *v)
{
    static const RtScoring kinds[] = { [SCORINGS_SOFTMAX] = RT_SCORING_SOFTMAX, [SCORINGS_SIGMOID] = RT_SCORING_SIGMOID,
                                       [SCORINGS_NONE] = RT_SCORING_NONE };
    return kinds[model_of(v)->label_scores];
}

/* What a line cannot hold, or a terminal would obey, is escaped as in JSON. */
static void print_label(Text *to, const char *s)
{
    Text quoted = text_new(to->arena);
    json_add_string(&quoted, s);
    for (size_t i = 1; i + 1 < quoted.size; i++) {          /* between the quotes; quotes and backslashes stay as they are */
        const char *at = quoted.data + i;
        if (at[0] == '\\' && (at[1] == '"' || at[1] == '\\')) i++, at++;
        text_add_bytes(to, at, 1);
    }
}

void vectors_print(const Vectors *v, Text *to)
{
    const Whole *labels = &model_of(v)->labels;
    if (labels->count) {
        const RtScoring kind = scoring_of(v);
        const int n = rt_answered(kind, v->values, v->width, v->places);
        for (int i = 0; i < n; i++) {
            if (i) text_add(to, "\t");
            print_label(to, labels->text[v->places[i]]);
            text_printf(to, " %.4f", rt_score(kind, v->values, v->width, v->places[i]));
        }
        return;
    }
    for (size_t i = 0; i < (size_t)v->rows * (size_t)v->width; i++) text_printf(to, "%s%.9g", i ? " " : "", (double)v->values[i]);
}

static void print_labels(const Vectors *v, Text *to)
{
    const Whole *labels = &model_of(v)->labels;
    const RtScoring kind = scoring_of(v);
    const int n = rt_answered(kind, v->values, v->width, v->places);
    const bool several = kind == RT_SCORING_SIGMOID && v->width > 1;
    text_add(to, several ? ",\"answer\":[" : ",\"answer\":");
    for (int i = 0; i < n; i++) {
        if (i) text_add(to, ",");
        json_add_string(to, labels->text[v->places[i]]);
    }
    if (several) text_add(to, "]");
    else if (!n) text_add(to, "null");
    text_add(to, ",\"scores\":[");
    for (int i = 0; i < labels->count; i++) {
        text_add(to, i ? ",{\"label\":" : "{\"label\":");
        json_add_string(to, labels->text[i]);
        text_add(to, ",\"score\":");
        json_add_number(to, rt_score(kind, v->values, v->width, i));
        text_add(to, "}");
    }
    text_add(to, "]");
}

static void print_row(const Vectors *v, int row, Text *to)
{
    text_add(to, "[");
    for (int i = 0; i < v->width; i++) {
        if (i) text_add(to, ",");
        json_add_number(to, (double)v->values[(size_t)row * (size_t)v->width + (size_t)i]);
    }
    text_add(to, "]");
}

void vectors_print_json(const Vectors *v, Text *to)
{
    if (model_of(v)->labels.count) print_labels(v, to);
    text_add(to, !model_has_head(model_of(v)) ? ",\"hidden\":" : v->one ? ",\"vector\":" : ",\"vectors\":");
    if (v->one) {
        print_row(v, 0, to);
        return;
    }
    for (int r = 0; r < v->rows; r++) {
        text_add(to, r ? "," : "[");
        print_row(v, r, to);
    }
    text_add(to, "]");
}

void vectors_print_raw(const Vectors *v, Text *to)
{
    for (size_t i = 0; i < (size_t)v->rows * (size_t)v->width; i++) {
        uint32_t bits;
        memcpy(&bits, &v->values[i], sizeof bits);
        const char bytes[] = { (char)(bits & 0xff), (char)(bits >> 8 & 0xff), (char)(bits >> 16 & 0xff), (char)(bits >> 24) };
        text_add_bytes(to, bytes, sizeof bytes);
    }
}
