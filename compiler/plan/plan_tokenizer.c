/* plan_tokenizer.c: tokenizers as tables of integers in the packed weights. */
#include "plan_lower.h"

#include <stdlib.h>

static int by_code_point(const void *a, const void *b)
{
    const int32_t *x = a, *y = b;
    return (x[0] > y[0]) - (x[0] < y[0]);
}

static Packed *integers(Lower *w, const char *name, const int32_t *values, int64_t n)
{
    Packed *k = lower_packed(w, FORMAT_TABLE_I32, NULL, NULL);
    k->name = name;
    k->integers = values;
    k->integer_count = n;
    return k;
}

/* Pairs {code point, id}, sorted by code point for rt_characters_encode. */
static Packed *characters(Lower *w, const char *name, const Vocabulary *v)
{
    int32_t *pairs = arena_array(w->arena, (size_t)v->size * 2, sizeof *pairs);
    int n = 0;
    for (int i = 0; i < v->size; i++) {
        if (v->code_point[i] < 0) continue;
        pairs[2 * n] = v->code_point[i];
        pairs[2 * n++ + 1] = i;
    }
    qsort(pairs, (size_t)n, 2 * sizeof *pairs, by_code_point);
    return integers(w, name, pairs, 2 * (int64_t)n);
}

/* The code point of each id; -1 for special tokens and for ids past the vocabulary. */
static Packed *texts(Lower *w, const char *name, const Vocabulary *v, int64_t ids)
{
    int32_t *all = arena_array(w->arena, (size_t)ids, sizeof *all);
    for (int64_t i = 0; i < ids; i++) all[i] = i < v->size ? v->code_point[i] : -1;
    return integers(w, name, all, ids);
}

/* The bytes of a tokenizer as little-endian integers. */
static Packed *blob(Lower *w, const Model *m)
{
    const size_t n = m->tokenizer_size / 4;
    int32_t *words = arena_array(w->arena, n, sizeof *words);
    for (size_t i = 0; i < n; i++) {
        const unsigned char *p = m->tokenizer_data + 4 * i;
        words[i] = (int32_t)((uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24);
    }
    return integers(w, "tokenizer", words, (int64_t)n);
}

void lower_tokenizer(Lower *w)
{
    Plan *p = w->plan;
    const Model *m = p->graph->model;
    if (m->tokenizer_data) p->tokenizer = blob(w, m);
    if (m->source) {
        p->source_characters = characters(w, "source.characters", m->source);
        p->source_texts = texts(w, "source.texts", m->source, m->source_vocab);
    }
    if (m->target) {
        p->target_characters = characters(w, "target.characters", m->target);
        p->target_texts = texts(w, "target.texts", m->target, m->target_vocab);
    }
}
