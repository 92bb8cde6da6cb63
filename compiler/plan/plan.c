/* plan.c: the passes that make a Plan, in order. */
#include "plan.h"

Plan *plan_make(Arena *a, const Graph *g, PlanOptions options)
{
    Plan *p = arena_alloc(a, sizeof *p);
    p->graph = g;
    p->options = options;
    plan_lower(a, p);
    plan_split(p);
    plan_weights(p);
    plan_lists(p);
    plan_memory(a, p);
    plan_check(p);
    return p;
}
