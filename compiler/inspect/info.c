/* info.c: compute the sizes, costs and largest pieces of a Plan, and whether it fits a target. */
#include "info.h"
#include "info_stack.h"

#include <stdlib.h>
#include <string.h>

#include "pack.h"
#include "arena.h"

/* ---- cost ------------------------------------------------------------------------------------------------- */

/* The blocks of an xf.graph have no row count: each operation has the rows of its result. */
static Cost op_cost(const PlanOp *op, const PlanBlock *b, const InfoProgram *p)
{
    if (b->count != COUNT_CONSTANT) return plan_op_cost(op, p->tokens, p->keys, p->memory_keys);
    const Node *n = op->node;
    int64_t keys = n->op == OP_ATTENTION ? n->in[1]->dim[0].bound : 0;
    return plan_op_cost(op, op->result->dim[0].bound, keys, keys);
}

static Cost block_cost(const PlanBlock *b, const InfoProgram *p)
{
    Cost sum = { 0, 0 };
    for (int i = 0; i < b->op_count; i++) {
        const Cost c = op_cost(&b->ops[i], b, p);
        sum.flops += c.flops;
        sum.weight_bytes += c.weight_bytes;
    }
    return sum;
}

static void count_program(Arena *a, const PlanProgram *from, InfoProgram *p)
{
    p->blocks = arena_array(a, (size_t)from->count, sizeof *p->blocks);
    p->count = from->count;
    for (int i = 0; i < from->count; i++) {
        const PlanRun *r = &from->runs[i];
        const Block *b = r->block->block;
        const Cost each = block_cost(r->block, p);
        p->blocks[i] = (InfoBlock){ r->block, b->layers ? b->layer[r->first] : 0, b->layers ? r->count : 0, each };
        p->sum.flops += each.flops * r->count;
        p->sum.weight_bytes += each.weight_bytes * r->count;
    }
}

/* Count encode and step; for an xf.graph, run. A row of `decode` costs as much as a step at its
 * position. */
static void count_programs(Arena *a, Info *info, bool given)
{
    static const ProgramKind kinds[] = { PROGRAM_ENCODE, PROGRAM_STEP, PROGRAM_RUN };
    const Model *m = info->plan->graph->model;
    const int64_t source = given && !m->has_decoder ? info->position + 1 : m->max_source;
    info->programs = arena_array(a, 3, sizeof *info->programs);
    for (int i = 0; i < 3; i++) {
        const PlanProgram *from = plan_program(info->plan, kinds[i]);
        if (!from) continue;
        InfoProgram *p = &info->programs[info->program_count++];
        bool encode = from->program->rows == COUNT_SOURCE;
        *p = (InfoProgram){ .kind = kinds[i], .tokens = encode ? source : 1,
                            .keys = encode ? source : info->position + 1,
                            .memory_keys = m->has_encoder ? source : 0 };
        count_program(a, from, p);
    }
}

/* ---- the largest pieces ----------------------------------------------------------------------------------- */

static int larger(const void *a, const void *b)
{
    const InfoPiece *x = a, *y = b;
    if (x->bytes != y->bytes) return x->bytes < y->bytes ? 1 : -1;
    return strcmp(x->name, y->name);
}

static const char *times(Arena *a, const char *what, int layers, int slots)
{
    if (layers > 1) what = arena_format(a, "%s, %d layers", what, layers);
    return slots > 1 ? arena_format(a, "%s, %d slots", what, slots) : what;
}

static InfoPiece buffer_piece(Arena *a, const Plan *p, const Buffer *b)
{
    static const char *const places[] = { [PLACE_SCRATCH] = "scratch", [PLACE_SLOT] = "slot", [PLACE_TAP] = "tap" };
    const int slots = b->place == PLACE_SLOT ? p->options.slots : 1;
    const size_t each = b->layers ? (size_t)b->layers * b->layer_stride : b->bytes;
    const char *name = b->block ? arena_format(a, "%s.%s", b->block->block->name, b->name) : b->name;
    const char *place = buffer_is_per_thread(b) ? arena_format(a, "scratch, %lld threads", (long long)b->heads) : places[b->place];
    return (InfoPiece){ name, times(a, place, b->layers, slots), each * (size_t)slots };
}

static void collect_buffers(Arena *a, Info *info)
{
    const Plan *p = info->plan;
    size_t n = (size_t)(p->buffer_count + p->list_count);
    for (int i = 0; i < p->block_count; i++) n += (size_t)p->blocks[i]->buffer_count;
    info->buffers = arena_array(a, n, sizeof *info->buffers);
    for (int i = 0; i < p->buffer_count; i++) info->buffers[info->buffer_count++] = buffer_piece(a, p, p->buffers[i]);
    for (int i = 0; i < p->block_count; i++)
        for (int j = 0; j < p->blocks[i]->buffer_count; j++)
            info->buffers[info->buffer_count++] = buffer_piece(a, p, p->blocks[i]->buffers[j]);
    for (int i = 0; i < p->list_count; i++)
        info->buffers[info->buffer_count++] = (InfoPiece){ p->lists[i].name, "scratch, list for a call", plan_list_bytes(&p->lists[i]) };
    qsort(info->buffers, (size_t)info->buffer_count, sizeof *info->buffers, larger);
}

/* The name of packed weights, with the layer's number if they belong to one layer. */
static const char *packed_name(Arena *a, const Packed *k)
{
    const Tensor named = { .name = k->name };
    return k->layers == 1 ? tensor_layer_name(a, &named, k->block->block->layer[0]) : k->name;
}

static void collect_weights(Arena *a, Info *info)
{
    const Plan *p = info->plan;
    info->weights = arena_array(a, (size_t)p->packed_count, sizeof *info->weights);
    for (int i = 0; i < p->packed_count; i++) {
        const Packed *k = p->packed[i];
        const size_t layers = k->layers ? (size_t)k->layers : 1;
        const char *where = times(a, format_rows[k->format].name, k->layers, 1);
        info->weights[info->weight_count++] = (InfoPiece){ packed_name(a, k), where, k->bytes * layers };
    }
    qsort(info->weights, (size_t)info->weight_count, sizeof *info->weights, larger);
}

/* ---- the whole -------------------------------------------------------------------------------------------- */

Info *info_new(Arena *a, const Plan *p, int64_t position, bool vectors)
{
    Info *info = arena_alloc(a, sizeof *info);
    const Model *m = p->graph->model;
    const int64_t last = m->graph ? 0 : (m->has_decoder ? m->max_target : m->max_source) - 1;
    *info = (Info){ .plan = p, .parameters = model_parameters(m), .position = position < 0 ? last : position };
    info->packed_bytes = pack_layout(a, p).head_bytes + p->weights_bytes;
    info->stack_bytes = info_stack(a, p, vectors);
    count_programs(a, info, position >= 0);
    collect_buffers(a, info);
    collect_weights(a, info);
    return info;
}

/* A bound model without variants: two pointers. */
enum { BOUND_BYTES = 16 };

size_t info_ram(const Info *i) { return i->plan->state_bytes + i->stack_bytes + BOUND_BYTES; }

size_t info_flash(const Info *i) { return i->packed_bytes + (i->code ? i->code->model_bytes + i->code->runtime_bytes : 0); }

/* ---- targets ---------------------------------------------------------------------------------------------- */

typedef struct TargetRow { const char *name; unsigned long long ram, flash; const char *doc; } TargetRow;
static const TargetRow target_rows[] = {
#define TARGET(name, ram, flash, doc) { name, ram, flash, doc },
#include "targets.def"
#undef TARGET
};
enum { TARGETS = sizeof target_rows / sizeof *target_rows };

bool info_target(Diag *d, const char *name, InfoTarget *out)
{
    const char *names[TARGETS];
    for (int i = 0; i < TARGETS; i++) {
        const TargetRow *t = &target_rows[i];
        names[i] = t->name;
        if (strcmp(name, t->name) != 0) continue;
        *out = (InfoTarget){ t->name, i == 0 ? memory_of_machine() : (size_t)t->ram, (size_t)t->flash };
        return true;
    }
    const char *near = diag_nearest(name, names, TARGETS);
    diag_error(d, EXIT_USAGE, (Loc){ 0 }, "unknown target '%s'%s%s%s", name, near ? "; did you mean '" : "",
               near ? near : "", near ? "'?" : "");
    for (int i = 0; i < TARGETS; i++) {
        const TargetRow *t = &target_rows[i];
        diag_note(d, (Loc){ 0 }, "%-10s %s", t->name, t->doc);
    }
    return false;
}

/* ---- what does not fit ------------------------------------------------------------------------------------ */

enum { PIECES_TOLD = 8 };

static void tell_pieces(Diag *d, Arena *a, const char *what, const InfoPiece *pieces, int n)
{
    Text t = text_new(a);
    text_printf(&t, "the largest %s:", what);
    for (int i = 0; i < n && i < PIECES_TOLD; i++)
        text_printf(&t, "\n  %15s  %s (%s)", info_number(a, (double)pieces[i].bytes), pieces[i].name, pieces[i].where);
    diag_note(d, (Loc){ 0 }, "%s", t.data);
}

/* Report, and return true, if `needed` is too much. */
static bool misfits(Arena *a, Diag *d, const Info *i, const char *memory, size_t needed, size_t there)
{
    if (!there || needed <= there) return false;
    diag_error(d, EXIT_DIFFERS, (Loc){ 0 }, "%s needs %s bytes of %s, but the target has %s: %s too many", i->plan->graph->model->name,
               info_number(a, (double)needed), memory, info_number(a, (double)there), info_number(a, (double)(needed - there)));
    return true;
}

void info_tell_misfits(Arena *a, Diag *d, const Info *i, InfoTarget target)
{
    const Plan *p = i->plan;
    if (misfits(a, d, i, "RAM", info_ram(i), target.ram)) {
        diag_note(d, (Loc){ 0 }, "slots take %s bytes, scratch %s, taps %s and the stack %s",
                  info_number(a, (double)p->slot_bytes * p->options.slots), info_number(a, (double)p->scratch_bytes),
                  info_number(a, (double)p->tap_bytes), info_number(a, (double)i->stack_bytes));
        tell_pieces(d, a, "buffers (scratch buffers share memory where their lifetimes do not overlap)", i->buffers, i->buffer_count);
    }
    if (misfits(a, d, i, "flash", info_flash(i), target.flash)) {
        if (!i->code) diag_note(d, (Loc){ 0 }, "this counts only the weights; --code adds the code");
        tell_pieces(d, a, "weights", i->weights, i->weight_count);
    }
}
