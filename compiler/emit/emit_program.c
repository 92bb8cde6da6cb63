/* emit_program.c: each program as a function that every thread runs and that calls the blocks,
 * layer after layer. */
#include "emit.h"

#include <math.h>
#include <string.h>

bool emit_loops(const Plan *p, EmitForm form)
{
    return form.layers == LAYERS_BY_SPEC ? !p->graph->model->unroll_layers : form.layers == LAYERS_LOOP;
}

/* True if a run has one layer, and the run before or after it has other layers of the same stack.
 * Such a layer has its own function and is in no loop. */
static bool stands_alone(const PlanProgram *p, int i)
{
    const PlanRun *r = &p->runs[i];
    if (!r->block->block->layers || r->count > 1) return false;
    for (int k = i > 0 ? i - 1 : 0; k <= i + 1 && k < p->count; k++) {
        const Block *other = p->runs[k].block->block;
        if (k != i && other->layers && strcmp(other->stem, r->block->block->stem) == 0) return true;
    }
    return false;
}

static bool any_stands_alone(const PlanProgram *p)
{
    for (int i = 0; i < p->count; i++)
        if (stands_alone(p, i)) return true;
    return false;
}

bool emit_leaves_layers(const Plan *p)
{
    for (int i = 0; i < p->program_count; i++)
        if (any_stands_alone(&p->programs[i])) return true;
    return false;
}

/* Each block ends with a barrier, so rt_poll can give all threads the same answer: that of the
 * previous turn. */
static void emit_poll(Emit *e, Text *out)
{
    const char *thread = emit_has_threads(e) ? "thread" : "0";
    if (e->hooks & EMIT_POLLS) text_printf(out, "    if (rt_poll(%s, %d)) return;\n", thread, e->polled++ % 2);
}

static void emit_run(Emit *e, Text *out, const PlanRun *r)
{
    const Block *b = r->block->block;
    const char *threads = emit_has_threads(e) ? ", thread, threads" : "";
    if (!b->layers) {
        text_printf(out, "    %s(j%s);\n", b->name, threads);
        emit_poll(e, out);
    } else if (r->count > 1 && emit_loops(e->plan, e->form) && !(e->hooks & EMIT_POLLS))
        text_printf(out, "    for (int layer = %d; layer < %d; layer++) %s(j, layer%s);\n", r->first,
                    r->first + r->count, b->name, threads);
    else
        for (int i = 0; i < r->count; i++) {
            text_printf(out, "    %s(j, %d%s);\n", b->name, r->first + i, threads);
            emit_poll(e, out);
        }
}

/* FLOPs with three digits, in a unit that suits the size. */
static const char *flops_text(Arena *a, double flops)
{
    if (flops >= 1e9) return arena_format(a, "%.3g GFLOP", flops / 1e9);
    if (flops >= 1e6) return arena_format(a, "%.3g MFLOP", flops / 1e6);
    return arena_format(a, "%.3g kFLOP", flops / 1e3);
}

static const char *bytes_text(Arena *a, double bytes)
{
    if (bytes >= 1e9) return arena_format(a, "%.3g GB", bytes / 1e9);
    if (bytes >= 1e6) return arena_format(a, "%.3g MB", bytes / 1e6);
    return arena_format(a, "%.3g kB", bytes / 1e3);
}

static const char *cost_text(Emit *e, const Program *p)
{
    const Model *m = e->model;
    Cost c;
    switch (p->rows) {
    case COUNT_SOURCE:
        c = plan_cost(e->plan, p->kind, m->max_source, m->max_source, m->max_source);
        return arena_format(e->arena, "%s for a source of %lld", flops_text(e->arena, c.flops), (long long)m->max_source);
    case COUNT_ROWS:
        c = plan_cost(e->plan, p->kind, 1, m->max_target, m->max_source);
        return arena_format(e->arena, "%s per row, at the last position; it reads %s of weights", flops_text(e->arena, c.flops),
                            bytes_text(e->arena, c.weight_bytes));
    default:
        c = plan_cost(e->plan, p->kind, 1, 1, 1);
        return arena_format(e->arena, "%s per run%s", flops_text(e->arena, c.flops),
                            graph_has_custom(e->plan->graph) ? ", not counting xf.ops" : "");
    }
}

const char *emit_costs(Emit *e)
{
    Text t = text_new(e->arena);
    for (int i = 0; i < e->plan->program_count; i++) {
        const Program *p = e->plan->programs[i].program;
        if (p->kind != PROGRAM_DECODE && p->kind != PROGRAM_DECODE_GREEDY && p->kind != PROGRAM_NEXT)
            text_printf(&t, " * %s: at most %s.\n", program_name(p->kind), cost_text(e, p));
    }
    return t.data;
}

/* Begin the function of a program: one that a team runs on every thread, or an ordinary one. */
static void begin_body(const Emit *e, Text *out, const char *name)
{
    text_printf(out, emit_has_threads(e)
                     ? "static void %s_body(void *work, int thread, int threads)\n{\n    const job *j = work;\n"
                     : "static void %s_body(const job *j)\n{\n", name);
}

const char *emit_job(Emit *e)
{
    return arena_format(e->arena, "job j = { .weights = m->weights,%s .state = s", emit_has_threads(e) ? " .team = m->team," : "");
}

/* Rounded to two digits. */
static double two_digits(double x)
{
    double unit = 1;
    while (x / unit >= 99.5) unit *= 10;
    return unit * floor(x / unit + 0.5);
}

const char *emit_body_call(Emit *e, const char *body, ProgramKind kind, int from)
{
    const TeamWork w = plan_team_work(e->plan, kind, from);
    Text more = text_new(e->arena);
    if (!emit_has_threads(e)) return arena_format(e->arena, "%s(&j)", body);
    if (e->plan->options.always_share) return arena_format(e->arena, "rt_team_share(m->team, %s, &j)", body);
    if (w.each_ns > 0 && kind != PROGRAM_RUN) text_printf(&more, " + %.0fLL * (j.rows - 1)", two_digits(w.each_ns));
    const char *barriers = arena_format(e->arena, w.one_barriers == w.barriers ? "%d" : "body == many ? %d : %d", w.barriers, w.one_barriers);
    return arena_format(e->arena, "rt_team_weigh(m->team, %s, &j, /* barriers */ %s, /* ns */ %.0f%s)", body, barriers,
                        two_digits(w.first_ns), more.data);
}

/* The last block of an encoder that pools, for the texts of a batch after the first. */
static void emit_head(Emit *e, Text *out)
{
    const PlanProgram *p = plan_program(e->plan, PROGRAM_ENCODE);
    text_add(out, "/* Only the last block of encode, for each further text of a batch. */\n");
    begin_body(e, out, "head");
    e->polled = 0;
    emit_run(e, out, &p->runs[p->count - 1]);
    text_add(out, "}\n\n");
}

/* The program for rows whose logits are not needed: it ends in the last layer. */
static void emit_prefill(Emit *e, Text *out)
{
    const PlanPart part = plan_part(e->plan, PROGRAM_PREFILL);
    text_add(out, "/* prefill: turn decoder rows into keys and values, without computing logits. */\n");
    begin_body(e, out, "prefill");
    e->polled = 0;
    for (int r = 0; r < part.runs; r++) emit_run(e, out, &part.program->runs[r]);
    text_add(out, "}\n\n");
}

void emit_programs(Emit *e, Text *out)
{
    for (int i = 0; i < e->plan->program_count; i++) {
        const PlanProgram *p = &e->plan->programs[i];
        const char *name = program_name(p->program->kind);
        const char *cost = cost_text(e, p->program);
        text_printf(out, "/* %s: %s. At most %s. */\n", name, p->program->doc, cost);
        begin_body(e, out, name);
        e->polled = 0;
        if (emit_loops(e->plan, e->form) && any_stands_alone(p))
            text_add(out, "    /* A layer that differs from its neighbours is a separate call. */\n");
        for (int r = 0; r < p->count; r++) emit_run(e, out, &p->runs[r]);
        text_add(out, "}\n\n");
        if (p->program->kind == PROGRAM_DECODE) emit_prefill(e, out);
    }
    if (emit_pools(e)) emit_head(e, out);
}
