/* plan_lists.c: the lists that a call of a sequence model makes. Their lengths grow with the model, so they stand in the
 * state and not on the caller's stack. */
#include "plan.h"

#include <string.h>

static void add(Plan *p, const char *name, const char *words, int64_t count, size_t size)
{
    p->lists[p->list_count++] = (CallList){ .name = name, .words = words, .count = count, .size = size };
}

/* Bytes in which a text becomes ids: 60 or less for each of its bytes with the vocabularies of Llama,
 * GPT-2, T5 and BERT, where a token has 3 to 5 bytes. */
static int64_t tokenizer_work(const Model *m)
{
    enum { LEAST = 16384, EACH_ID = 512 };
    return LEAST + EACH_ID * (m->max_source > m->max_target ? m->max_source : m->max_target);
}

/* What a text becomes ids in, and then an answer is generated in. */
static void text_lists(Plan *p, const Model *m)
{
    const int longest = (int)m->max_target + !m->has_encoder;
    const int64_t ids = p->tokenizer ? tokenizer_work(m) : 0;
    const int64_t answer = !m->has_decoder ? 0 :
        (int64_t)rt_generate_text_bytes(p->options.slots, longest, (int)m->target_vocab, p->tokenizer ? PLAN_TOKEN_BYTES : PLAN_CHARACTER_BYTES);
    if (m->has_decoder) add(p, "text_ids", "int", m->max_source > longest ? m->max_source : longest, sizeof(int));
    add(p, "text_work", "unsigned char", ids > answer ? ids : answer, 1);
}

const CallList *plan_list(const Plan *p, const char *name)
{
    for (int i = 0; i < p->list_count; i++)
        if (!strcmp(p->lists[i].name, name)) return &p->lists[i];
    return NULL;
}

size_t plan_lists_offset(const Plan *p) { return p->list_count ? p->lists[0].offset : p->scratch_bytes; }

void plan_lists(Plan *p)
{
    const Model *m = p->graph->model;
    p->list_count = 0;
    if (p->options.target != TARGET_PANELS || m->graph) return;
    const bool batches = m->has_encoder && !m->has_decoder;
    const int rows = plan_rows(p);
    if (batches) add(p, "groups", "rt_group", (m->max_source + 15) / 16, sizeof(rt_group));
    else if (rows > 1) add(p, "groups", "rt_group", rows, sizeof(rt_group));
    if (p->tokenizer || (p->source_texts && p->target_texts)) text_lists(p, m);
}
