/* emit_variants.c: a model for several instruction sets in one program. NAME_SET.c is NAME.c with
 * its own names, compiled for SET; in NAME_variants.c each call that computes is passed on to the
 * variant that bind chose. Functions that are the same in all variants are taken from the last
 * variant, normally the least demanding. */
#include "emit_kind.h"

static const EmitName *names_of(Emit *e, int *n) { return (e->model->graph ? &emit_graph : &emit_sequence)->names(e, n); }

/* ---- NAME_SET.c -------------------------------------------------------------------------------------------------- */

static void rename_call(Emit *e, Text *out, const char *isa, const char *call)
{
    text_printf(out, "#define %s_%s %s_%s_%s\n", e->name, call, e->name, isa, call);
}

void emit_variant(Emit *e, Text *out, int isa)
{
    static const char *const shared[] = { "isa", "threads", "reset" };
    const char *set = e->isas[isa];
    const bool last = isa + 1 == e->isa_count;
    int n;
    const EmitName *names = names_of(e, &n);
    text_fill(out, "/* ${name}_${set}.c: ${name}.c compiled for ${set}, with its own names; see ${name}_variants.c${more}. */\n", "name", e->name,
              "set", set, "more", last ? ". All variants use the functions that it does not rename" : "", NULL);
    rename_call(e, out, set, "bind");
    for (int i = 0; i < 3 && !last; i++) rename_call(e, out, set, shared[i]);
    if (e->plan->options.taps && !last) rename_call(e, out, set, "taps");
    for (int i = 0; i < n; i++)
        if (names[i].parameters || !last) rename_call(e, out, set, names[i].name);
    text_printf(out, "#include \"%s.c\"\n", e->name);
}

/* ---- NAME_variants.c --------------------------------------------------------------------------------------------- */

static const char variants_begin[] =
    "/* ${name}_variants.c: the calls of ${name} that compute, each passed on to the variant that bind chose: the first of\n"
    " * ${list} that the processor supports. Weights and states are the same for all variants. Compiled for the baseline instruction set. */\n"
    "#include \"${name}.h\"\n"
    "\n"
    "typedef struct ${name}_variants {\n"
    "    const char *name;\n"
    "    const unsigned *isa;            /* what it needs */\n"
    "    rt_status (*bind)(${name} *m, const void *weights, size_t bytes);\n";

static const char variants_bind[] =
    "rt_status ${name}_bind(${name} *m, const void *weights, size_t bytes)\n"
    "{\n"
    "    static const ${name}_variants variants[] = {\n"
    "        ${rows}\n"
    "    };\n"
    "    for (size_t i = 0; i < sizeof variants / sizeof *variants; i++) {\n"
    "        if (rt_isa_missing(*variants[i].isa)) continue;\n"
    "        m->variant = &variants[i];\n"
    "        return m->variant->bind(m, weights, bytes);\n"
    "    }\n"
    "    return RT_NO_ISA;\n"
    "}\n"
    "\n"
    "const char *${name}_variant(const ${name} *m) { return m->variant->name; }\n";

static const char *parameters(Emit *e, const EmitName *call)
{
    Text t = text_new(e->arena);
    text_fill(&t, call->parameters, "name", e->name, NULL);
    return t.data;
}

static void declare_variant(Emit *e, Text *out, const EmitName *names, int n, int isa)
{
    const char *set = e->isas[isa];
    const bool last = isa + 1 == e->isa_count;
    if (!last) text_printf(out, "extern const unsigned %s_%s_isa;\n", e->name, set);
    text_printf(out, "rt_status %s_%s_bind(%s *m, const void *weights, size_t bytes);\n", e->name, set, e->name);
    for (int i = 0; i < n; i++)
        if (names[i].parameters)
            text_printf(out, "rt_status %s_%s_%s(const %s *m, %s);\n", e->name, set, names[i].name, e->name, parameters(e, &names[i]));
    text_add(out, "\n");
}

static void variant_row(Emit *e, Text *out, const EmitName *names, int n, int isa)
{
    const char *set = e->isas[isa];
    const bool last = isa + 1 == e->isa_count;
    text_printf(out, "{ \"%s\", &%s%s%s_isa, %s_%s_bind", set, e->name, last ? "" : "_", last ? "" : set, e->name, set);
    for (int i = 0; i < n; i++)
        if (names[i].parameters) text_printf(out, ",\n  %s_%s_%s", e->name, set, names[i].name);
    text_add(out, " },\n");
}

void emit_variants(Emit *e, Text *out)
{
    int n;
    if (e->isa_count < 2) return;
    const EmitName *names = names_of(e, &n);
    text_fill(out, variants_begin, "name", e->name, "list", e->form.isa, NULL);
    for (int i = 0; i < n; i++)
        if (names[i].parameters) text_printf(out, "    rt_status (*%s)(const %s *m, %s);\n", names[i].name, e->name, parameters(e, &names[i]));
    text_printf(out, "} %s_variants;\n\n", e->name);
    for (int i = 0; i < e->isa_count; i++) declare_variant(e, out, names, n, i);
    Text rows = text_new(e->arena);
    for (int i = 0; i < e->isa_count; i++) variant_row(e, &rows, names, n, i);
    text_fill(out, variants_bind, "name", e->name, "rows", rows.data, NULL);
    for (int i = 0; i < n; i++)
        if (names[i].parameters)
            text_printf(out, "\nrt_status %s_%s(const %s *m, %s)\n{\n    return m->variant->%s(m, %s);\n}\n", e->name, names[i].name, e->name,
                        parameters(e, &names[i]), names[i].name, names[i].arguments);
}
