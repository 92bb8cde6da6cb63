/* info_stack.c: a bound on the stack of one call.
 *
 * Frames are in bytes, rounded up from what -fstack-usage reports for gcc and clang at -O2 and -O3,
 * from portable C to AVX-512; tests/info/slow.sh follows the calls in several forms and dtypes and
 * checks the bound. Data that grows with the model is in its state, so the bound depends only on
 * which kernels are called, on how many buffers a block names, and on whether the model reads or
 * writes text. */
#include "info.h"

#include "info_stack.h"

enum {
    FRAME_TEXT = 3072,              /* NAME_generate, and the functions with which it calls the model */
    FRAME_CALL = 384,               /* NAME_next, NAME_decode_greedy, sharing of work */
    FRAME_PROGRAM = 768,            /* if the compiler inlines blocks into it */
    FRAME_BLOCK = 640, FRAME_BUFFER = 24,
    FRAME_TOKENIZER = 10240,        /* 8 KiB of it for a token's text between decoding steps */
};

/* A kernel with its callees. A spilled AVX-512 vector takes 64 bytes, and int8 tiles have many. */
enum { KERNEL_PLAIN = 1536, KERNEL_VECTORS = 6144, ROUNDS_PLAIN = 4096, ROUNDS_VECTORS = 20480 };

enum { OP_BUFFERS = NODE_INPUTS + 4 };

static const Buffer *buffer_of(const PlanOp *op, int k)
{
    return k < NODE_INPUTS ? op->in[k] : k < NODE_INPUTS + 3 ? op->out[k - NODE_INPUTS] : op->scratch;
}

/* The number of different buffers that a block's function names; each takes a pointer. */
static size_t buffers_named(Arena *a, const PlanBlock *b)
{
    const Buffer **seen = arena_array(a, (size_t)b->op_count * OP_BUFFERS + 1, sizeof *seen);
    size_t n = 0;
    for (int i = 0; i < b->op_count; i++)
        for (int k = 0; k < OP_BUFFERS; k++) {
            const Buffer *x = buffer_of(&b->ops[i], k);
            bool known = !x;
            for (size_t s = 0; s < n && !known; s++) known = seen[s] == x;
            if (!known) seen[n++] = x;
        }
    return n;
}

static bool any_rounds(const PlanBlock *b)
{
    bool any = false;
    for (int i = 0; i < b->op_count; i++) any |= plan_op_rounds(&b->ops[i]);
    return any;
}

static size_t block_bytes(Arena *a, const PlanBlock *b, bool vectors)
{
    const size_t kernel = any_rounds(b) ? vectors ? ROUNDS_VECTORS : ROUNDS_PLAIN : vectors ? KERNEL_VECTORS : KERNEL_PLAIN;
    return FRAME_BLOCK + pad64(FRAME_BUFFER * buffers_named(a, b)) + kernel;
}

size_t info_stack(Arena *a, const Plan *p, bool vectors)
{
    const bool tokenizer = p->tokenizer != NULL;
    size_t most = 0;
    for (int i = 0; i < p->block_count; i++) {
        const size_t n = block_bytes(a, p->blocks[i], vectors);
        if (n > most) most = n;
    }
    most += FRAME_CALL + FRAME_PROGRAM;
    if (tokenizer && most < FRAME_TOKENIZER) most = FRAME_TOKENIZER;
    return most + (tokenizer || p->target_texts ? FRAME_TEXT : 0);
}
