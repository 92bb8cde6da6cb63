/* info.h: the memory and cost of a model, from its Plan: no weights are read and no model runs.
 *
 * Everything lives in the arena of info_new. A multiply and an add count as two FLOPs. */
#ifndef INFO_H
#define INFO_H

#include "emit.h"

/* Layers `first` to `first + layers - 1` of a stack, all equal; layers 0: a block that is not a
 * layer. */
typedef struct InfoBlock { const PlanBlock *block; int first, layers; Cost each; } InfoBlock;

/* One call of a program: `tokens` rows that see `keys` keys each, and `memory_keys` of a source. */
typedef struct InfoProgram {
    ProgramKind kind;
    int64_t tokens, keys, memory_keys;
    InfoBlock *blocks;  int count;
    Cost sum;
} InfoProgram;

/* Something that takes memory: all its layers, in all slots. */
typedef struct InfoPiece { const char *name, *where; size_t bytes; } InfoPiece;

/* The size of machine code and constants, of the model and of the runtime. */
typedef struct InfoCode { const char *compiler, *isa; size_t model_bytes, runtime_bytes; } InfoCode;

/* The memory of a device; 0: no limit. */
typedef struct InfoTarget { const char *name; size_t ram, flash; } InfoTarget;

typedef struct Info {
    const Plan *plan;
    int64_t parameters, position;
    size_t packed_bytes;            /* of the packed weights file, with its header */
    size_t stack_bytes;             /* upper bound for one call on one thread: info_stack */
    const InfoCode *code;           /* NULL: not measured */
    InfoProgram *programs;  int program_count;      /* encode, step; run of an xf.graph */
    InfoPiece *buffers;  int buffer_count;          /* of a state, the largest first */
    InfoPiece *weights;  int weight_count;          /* packed, the largest first */
} Info;

/* position: of the decoder's token, or of the last token of an encoder-only model; -1: the last
 * possible. vectors: kernels use SIMD, not portable C. */
Info *info_new(Arena *a, const Plan *p, int64_t position, bool vectors);

/* RAM in bytes: a state, the stack, and the bound model. Flash: the packed weights, and the code if
 * it was measured. */
size_t info_ram(const Info *i);
size_t info_flash(const Info *i);

/* Compile the emitted C in a temporary folder and add up the instructions, constants and initial
 * values in its objects. NULL after an error. */
InfoCode *info_code(Arena *a, Diag *d, const Plan *p, const char *cc, EmitForm form);

/* The target of that name; false after an error that lists the names. */
bool info_target(Diag *d, const char *name, InfoTarget *out);
/* Report what does not fit, with the largest pieces, as errors with exit code EXIT_DIFFERS. */
void info_tell_misfits(Arena *a, Diag *d, const Info *i, InfoTarget target);

/* Print a table, or one JSON object with the keys:
 *   name kind parameters position
 *   tokenizer {ids origin rules settings chat chat_fault}   only if it comes from a file; a member
 *                                         that does not apply is left out
 *   weights  {bytes data_bytes missing}   the packed file; its data without the header; true if the
 *                                         spec's weights file does not exist
 *   state    {bytes header_bytes slots slot_bytes scratch_bytes tap_bytes}
 *   stack_bytes                           upper bound for one call on one thread
 *   verify   {weight_bytes anew inputs}   bytes of f32 weights that the generic engine holds at a
 *                                         time; true if each of the `inputs` reads all again
 *   code     null, or {model_bytes runtime_bytes compiler isa}
 *   programs [{name tokens keys memory_keys flops weight_bytes flops_per_token
 *              weight_bytes_per_token blocks [{name first_layer layers flops weight_bytes}]
 *              flops_not_counted_of}]
 *                                         flops and weight_bytes of a block are those of one layer;
 *                                         flops_not_counted_of: names of the spec's own operations
 *   buffers  [{name where bytes}]         the largest first
 *   packed   [{name where bytes}]         weights, the largest first; where: format and layers
 *   target   null, or {name ram flash ram_needed flash_needed fits}   no limit: null */
void info_print(const Info *i, const InfoTarget *target, FILE *to);
void info_json(Arena *a, const Info *i, const InfoTarget *target, FILE *to);

/* Pictures, as SVG. */
Text info_memory_picture(Arena *a, const Plan *p);
Text info_graph_picture(Arena *a, const Graph *g);

/* "44,157,451". */
const char *info_number(Arena *a, double n);

#endif
