/* debug.c: the output of XFORMC_DEBUG; see debug.h. */
#include "debug.h"

#include <stdio.h>
#include <stdlib.h>

#include "jit.h"
#include "machine.h"

enum { DEBUG_MOST = 4 };

int debug_level(void)
{
    static bool told;
    const char *text = getenv("XFORMC_DEBUG");
    const bool known = !text || !*text || (*text >= '0' && *text <= '0' + DEBUG_MOST && !text[1]);
    if (!known && !told) fprintf(stderr, "note: XFORMC_DEBUG=%s: the levels are 0 (off) to %d\n", text, DEBUG_MOST);
    told |= !known;
    return text && known && *text ? *text - '0' : 0;
}

/* The machine's limits, probed once; NULL if that fails, and the next call tries again. */
static const Limits *limits(void)
{
    static Limits known;
    static const int one = 1;
    if (!known.peak[1] && !limits_probe(&known, &one, 1)) return NULL;
    return &known;
}

static void tell_name(const JitAt *at)
{
    const Tensor *t = at->op->result;
    char shape[64], *s = shape;
    Arena *a = arena_new();
    const char *name = !t->name ? "-" : at->block->block->layers ? tensor_layer_name(a, t, at->block->block->layer[at->layer]) : t->name;
    for (int r = 0; r < t->rank; r++) s += snprintf(s, 20, r ? "×%lld" : "%lld", (long long)jit_length(at, t->dim[r]));
    fprintf(stderr, "%-18s %-30s [%s]%*s", plan_kernel_name(at->op), name, shape, 14 - (int)(s - shape) > 0 ? 14 - (int)(s - shape) : 1, "");
    arena_free(a);
}

/* The least number of bytes that an operation moves: weights, inputs stored in rows, and the
 * result, each counted once. */
static double bytes_of(const JitAt *at)
{
    const PlanOp *op = at->op;
    double bytes = plan_op_cost(op, at->rows, 1, 1).weight_bytes;
    for (int i = 0; i < NODE_INPUTS; i++)
        if (op->in[i] && buffer_has_rows(op->in[i])) bytes += 4.0 * at->rows * (double)op->in[i]->width;
    return bytes + 4.0 * at->rows * (double)op->out[0]->width;
}

static double flops_of(const JitAt *at)
{
    double flops = at->op->flops * at->rows;
    if (kernel_is_attention(at->op->kernel)) flops *= (double)jit_length(at, at->op->node->in[1]->dim[0]);
    return flops;
}

static void tell(void *user, Engine *e, const JitAt *at)
{
    (void)user;
    (void)e;
    const double seconds = (double)(at->ns > 0 ? at->ns : 1) / 1e9, flops = flops_of(at), bytes = bytes_of(at);
    const Limits *l = limits();
    tell_name(at);
    fprintf(stderr, "%9.2f µs %8.2f GFLOP/s %8.2f GB/s", seconds * 1e6, flops / seconds / 1e9, bytes / seconds / 1e9);
    if (l) fprintf(stderr, " %5.1f %%", 100 * limits_seconds(l, flops, bytes, limits_level(l, (double)e->plan->weights_bytes, 1), 1) / seconds);
    fputs("\n", stderr);
}

void debug_engine(Engine *e, int64_t plan_ns)
{
    const int level = debug_level();
    const EnginePhases *p = &e->phases;
    if (level >= 1)
        fprintf(stderr, "%s: plan %.3f ms, emit %.3f ms, compile %.3f ms, %s %.3f ms\n", e->plan->graph->model->name, (double)plan_ns / 1e6,
                (double)p->emit_ns / 1e6, (double)p->compile_ns / 1e6, p->packed_before ? "pack (reused)" : "pack", (double)p->pack_ns / 1e6);
    if (level >= 3) plan_dump(e->plan, PLAN_KERNELS | PLAN_MEMORY, stderr);
    if (level >= 4) fputs(jit_text(e), stderr);
    if (level >= 2) {
        limits();
        jit_watch(e, (JitWatch){ .call = tell });
    }
}
