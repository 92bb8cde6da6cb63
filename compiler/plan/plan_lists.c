/* plan_lists.c: the lists that calls of a sequence model use. Their lengths grow with the model, so
 * they are in the state and not on the caller's stack. */
#include "plan.h"

#include <string.h>

static void add(Plan *p, const char *name, const char *words, int64_t count, size_t size)
{
    p->lists[p->list_count++] = (CallList){ .name = name, .words = words, .count = count, .size = size };
}

/* Bytes of work space to tokenize a text. With the vocabularies of Llama, GPT-2, T5 and BERT,
 * tokenizing takes at most 60 bytes per byte of text, and an average token has 3 to 5 bytes. */
static int64_t tokenizer_work(const Model *m)
{
    enum { LEAST = 16384, EACH_ID = 512 };
    return LEAST + EACH_ID * (m->max_source > m->max_target ? m->max_source : m->max_target);
}

/* Work space to tokenize a text, and after that to generate an answer. */
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
