/* info_stack.c: a bound of the stack that one call takes.
 *
 * Frames, in bytes, rounded up from what -fstack-usage says of gcc and clang at -O2 and -O3, from portable C to AVX-512;
 * tests/info/slow.sh follows the calls of every form and dtype and compares. What grows with a model stands in its state,
 * so the bound depends on the kernels that are called, and on how many buffers a block names. */
#include "info.h"

#include "info_stack.h"

enum {
    FRAME_TEXT = 3072,              /* NAME_generate, and what calls the model for it */
    FRAME_CALL = 384,               /* NAME_next, NAME_decode_greedy, and what shares the work */
    FRAME_PROGRAM = 768,            /* where the compiler puts a block into it */
    FRAME_BLOCK = 640, FRAME_BUFFER = 24,
    FRAME_TOKENIZER = 10240,        /* of which 8 KiB are the text of one token between decoders */
};

/* A kernel with what it calls. Vectors of AVX-512 that are spilled take 64 bytes each, and tiles of int8 hold many. */
enum { KERNEL_PLAIN = 1536, KERNEL_VECTORS = 6144, ROUNDS_PLAIN = 4096, ROUNDS_VECTORS = 20480 };

enum { OP_BUFFERS = NODE_INPUTS + 4 };

static const Buffer *buffer_of(const PlanOp *op, int k)
{
    return k < NODE_INPUTS ? op->in[k] : k < NODE_INPUTS + 3 ? op->out[k - NODE_INPUTS] : op->scratch;
}

/* Different buffers that a block's function names: a pointer each. */
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
