/* plan_lists.c: the lists that a call of a sequence model makes. Their lengths grow with the model, so they stand in the
 * state and not on the caller's stack. */
#include "plan.h"

static void add(Plan *p, const char *name, const char *words, int64_t count, size_t size)
{
    p->lists[p->list_count++] = (CallList){ .name = name, .words = words, .count = count, .size = size };
}

size_t plan_lists_offset(const Plan *p) { return p->list_count ? p->lists[0].offset : p->scratch_bytes; }

void plan_lists(Plan *p)
{
    const Model *m = p->graph->model;
    p->list_count = 0;
    if (p->options.target != TARGET_PANELS || m->graph) return;
    const bool batches = m->has_encoder && !m->has_decoder, text = m->has_decoder && p->tokenizer;
    const int rows = plan_rows(p);
    if (batches) add(p, "groups", "rt_group", (m->max_source + 15) / 16, sizeof(rt_group));
    else if (rows > 1) add(p, "groups", "rt_group", rows, sizeof(rt_group));
    if (text) add(p, "answer_ids", "int", m->max_target + !m->has_encoder, sizeof(int));
    if (text && !m->has_encoder) add(p, "prompt_rows", "rt_token", rows, sizeof(rt_token));
}
