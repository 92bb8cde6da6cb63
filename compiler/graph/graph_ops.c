/* graph_ops.c: ops.def as a table. */
#include "graph.h"

const OpRow op_rows[OP_KINDS] = {
#define OP(id, name, inputs, results, in_place, signature, doc) \
    [OP_##id] = { name, inputs, results, in_place, signature, doc, false },
#define ELEMENT_OP(id, name, inputs, value, signature) [OP_##id] = { name, inputs, 1, 0, signature, #value, true },
#include "ops.def"
#undef OP
};
