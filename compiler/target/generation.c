/* generation.c: a model's settings of generation as rt_generation.h has them, and as C text. */
#include "generation.h"

RtGeneration generation_of(const Model *m)
{
    return (RtGeneration){ .sampling = { .top_k = 50 }, .seed = 1, .ends = m->ends, .end_count = m->end_count, .length_penalty = 1 };
}

static void emit_ids(Text *out, const char *name, const int *ids, int n)
{
    text_printf(out, "static const int %s[] = {", name);
    for (int i = 0; i < n; i++) text_printf(out, i ? ", %d" : " %d", ids[i]);
    text_add(out, " };\n");
}

void generation_emit(Text *out, const RtGeneration *g)
{
    emit_ids(out, "ends", g->ends, g->end_count);
    text_add(out, "static const RtGeneration generation = {\n    .ends = ends, .end_count = sizeof ends / sizeof *ends,");
    text_printf(out, " .sampling = { .top_k = %d }, .seed = %llu, .length_penalty = %.9g,\n};\n", g->sampling.top_k,
                (unsigned long long)g->seed, g->length_penalty);
}
