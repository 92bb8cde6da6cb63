/* plan_dump.c: the names of kernels, and the operations, memory and weights of a Plan as text, which
 * golden files hold. */
#include "plan.h"

static const char *const kernel_names[KERNELS] = {
#define RT_KERNEL_ROW(id, format, file, function, parameters) [KERNEL_##id] = #function,
#include "kernels.def"
#undef RT_KERNEL_ROW
};
static const char *const names_by_format[KERNELS][FORMATS] = {
#define RT_KERNEL_ROW(id, format, file, function, parameters)
#define RT_KERNEL_FORMAT(id, format, file, function, parameters) [KERNEL_##id][FORMAT_PANELS_##format] = #function,
#include "kernels.def"
#undef RT_KERNEL_ROW
};
static const char *const names_by_cache[KERNELS][KV_DTYPES] = {
#define RT_KERNEL_ROW(id, format, file, function, parameters)
#define RT_KERNEL_CACHE(id, format, file, function, parameters) [KERNEL_##id][KV_DTYPES_##format] = #function,
#include "kernels.def"
#undef RT_KERNEL_ROW
};
static const char *const split_names[] = { [SPLIT_ROWS] = "rows", [SPLIT_COLUMNS] = "columns", [SPLIT_HEADS] = "heads",
                                           [SPLIT_FIRST_THREAD] = "thread 0", [SPLIT_EACH_THREAD] = "each thread" };
static const char *const layout_names[] = { [LAYOUT_ROWS] = "rows", [LAYOUT_KEYS] = "keys", [LAYOUT_VALUES] = "values",
                                            [LAYOUT_INTS] = "ints", [LAYOUT_THREADS] = "threads", [LAYOUT_COPIES] = "copies" };

const Buffer *plan_op_cache(const PlanOp *op)
{
    return kernel_is_store(op->kernel) ? op->out[0] : kernel_is_attention(op->kernel) ? op->in[1] : NULL;
}

int plan_op_kv_dtype(const PlanOp *op)
{
    const Buffer *b = plan_op_cache(op);
    return b ? b->kv_dtype : KV_DTYPES_F32;
}

const char *plan_kernel_name(const PlanOp *op)
{
    if (op->kernel == KERNEL_CUSTOM) return op->node->custom->name;
    if (plan_op_kv_dtype(op) != KV_DTYPES_F32) return names_by_cache[op->kernel][plan_op_kv_dtype(op)];
    const char *name = op->weights ? names_by_format[op->kernel][op->weights->format] : NULL;
    return name ? name : kernel_names[op->kernel];
}

static void dump_op(const PlanOp *op, FILE *to)
{
    if (op->barrier) fputs("    -- threads meet\n", to);
    fprintf(to, "    %-18s %-28s", plan_kernel_name(op), op->result->name);
    for (int i = 0; i < 3; i++)
        if (op->out[i]) fprintf(to, " %s", op->out[i]->name);
    fputs(" <-", to);
    for (int i = 0; i < NODE_INPUTS; i++)
        if (op->in[i]) fprintf(to, " %s", op->in[i]->name);
    if (op->weights) fprintf(to, " %s", op->weights->name);
    for (int i = 1; i < op->joined_count; i++) fprintf(to, " %s", op->joined[i]->name);
    for (int i = 0; i < NODE_INPUTS; i++)
        if (op->params[i]) fprintf(to, " %s", op->params[i]->name);
    if (op->activation != RT_IDENTITY) {
        int n;
        fprintf(to, " %s", field_words("activations", &n)[op->activation]);
    }
    fprintf(to, "  by %s/%d\n", split_names[op->split], op->parts);
}

static void dump_buffer(const Buffer *b, FILE *to)
{
    static const char *const of[KV_DTYPES] = { "", " of f16", " of int8" };
    fprintf(to, "    %-32s at %8zu, %8zu bytes, %s%s [", b->name, b->offset, b->bytes, layout_names[b->layout], of[b->kv_dtype]);
    if (b->heads > 1) fprintf(to, "%lld, ", (long long)b->heads);
    fprintf(to, "%lld, %lld] stride %lld", (long long)b->rows, (long long)b->width, (long long)b->stride);
    if (b->layers) fprintf(to, ", %d layers of %zu", b->layers, b->layer_stride);
    if (b->block) fprintf(to, ", phases %d..%d", b->first_phase, b->last_phase);
    fputs("\n", to);
}

static void dump_view(const Buffer *b, FILE *to)
{
    fprintf(to, "    %-32s at %8zu, %lld columns from column %lld of %s\n", b->name, b->offset, (long long)b->width, (long long)b->column,
            b->parent->name);
}

static void dump_packed(const Packed *k, FILE *to)
{
    fprintf(to, "    %-40s at %8zu, %8zu bytes, %s [", k->name, k->offset, k->bytes, format_rows[k->format].name);
    for (int r = 0; r < k->rank; r++) fprintf(to, "%s%lld", r ? ", " : "", (long long)k->shape[r]);
    fputs("]", to);
    if (k->layers) fprintf(to, " x %d, %zu apart", k->layers, k->stride);
    fputs("\n", to);
}

static void dump_memory(const Plan *p, FILE *to)
{
    fprintf(to, "state of %zu bytes: header %zu, %d slots of %zu, scratch %zu, taps %zu\n", p->state_bytes, p->header_bytes,
            p->options.slots, p->slot_bytes, p->scratch_bytes, p->tap_bytes);
    for (int i = 0; i < p->buffer_count; i++) dump_buffer(p->buffers[i], to);
    for (int i = 0; i < p->list_count; i++)
        fprintf(to, "    %-32s at %8zu, %8zu bytes, list of %lld %s\n", p->lists[i].name, p->lists[i].offset,
                plan_list_bytes(&p->lists[i]), (long long)p->lists[i].count, p->lists[i].words);
    fprintf(to, "weights of %zu bytes%s\n", p->weights_bytes, p->one_stream ? ", read in one stream by a call of one row" : "");
    for (int i = 0; i < p->packed_count; i++) dump_packed(p->packed[i], to);
}

void plan_dump(const Plan *p, unsigned parts, FILE *to)
{
    for (int i = 0; i < p->block_count; i++) {
        const PlanBlock *b = p->blocks[i];
        fprintf(to, "block %s, %d phases\n", b->block->name, b->phases);
        for (int j = 0; parts & PLAN_KERNELS && j < b->op_count; j++) dump_op(&b->ops[j], to);
        for (int j = 0; parts & PLAN_MEMORY && j < b->buffer_count; j++) dump_buffer(b->buffers[j], to);
        for (int j = 0; parts & PLAN_MEMORY && j < b->view_count; j++) dump_view(b->views[j], to);
    }
    if (parts & PLAN_MEMORY) dump_memory(p, to);
}
