/* info.h: what a model takes and costs, from its Plan alone: no weights are read, nothing runs.
 *
 * Everything lives in the arena of info_new. Bytes are bytes, FLOPs count a multiply and an add as two. */
#ifndef INFO_H
#define INFO_H

#include "emit.h"

/* Layers `first` to `first + layers - 1` of a stack, all alike; layers 0: a block that is not a layer. */
typedef struct InfoBlock { const PlanBlock *block; int first, layers; Cost each; } InfoBlock;

/* One call of a program: `tokens` rows that see `keys` keys each, and `memory_keys` of a source. */
typedef struct InfoProgram {
    ProgramKind kind;
    int64_t tokens, keys, memory_keys;
    InfoBlock *blocks;  int count;
    Cost sum;
} InfoProgram;

/* Something that takes room: all its layers, in all slots. */
typedef struct InfoPiece { const char *name, *where; size_t bytes; } InfoPiece;

/* Machine code and constants, of the model and of the runtime that stands beside it. */
typedef struct InfoCode { const char *compiler, *isa; size_t model_bytes, runtime_bytes; } InfoCode;

/* What there is room for; 0: no limit. */
typedef struct InfoTarget { const char *name; size_t ram, flash; } InfoTarget;

typedef struct Info {
    const Plan *plan;
    int64_t parameters, position;
    size_t packed_bytes;            /* of the weights' file, its head included */
    size_t stack_bytes;             /* at most, of one call on one thread: info_stack */
    const InfoCode *code;           /* NULL: not measured */
    InfoProgram *programs;  int program_count;      /* encode, step; run of an xf.graph */
    InfoPiece *buffers;  int buffer_count;          /* of a state, the largest first */
    InfoPiece *weights;  int weight_count;          /* packed, the largest first */
} Info;

/* position: of the decoder's token, or of the last of an encoder that has no decoder; -1: the last there is.
 * vectors: kernels use an instruction set, not portable C. */
Info *info_new(Arena *a, const Plan *p, int64_t position, bool vectors);

/* Bytes of RAM: a state, the stack, and what a program binds. Of flash: the packed weights, and the code where it was measured. */
size_t info_ram(const Info *i);
size_t info_flash(const Info *i);

/* Compile the emitted C in a temporary folder and add up what its objects keep in memory. NULL after an error. */
InfoCode *info_code(Arena *a, Diag *d, const Plan *p, const char *cc, EmitForm form);

/* The target by name; false after an error that lists the names. */
bool info_target(Diag *d, const char *name, InfoTarget *out);
/* Tell, with the largest pieces, what does not fit: EXIT_DIFFERS. */
void info_tell_misfits(Arena *a, Diag *d, const Info *i, InfoTarget target);

/* A table to read, or one JSON object. Its keys:
 *   name kind parameters position
 *   weights  {bytes data_bytes missing}            the packed file; without its head; whether the spec's file is not there
 *   state    {bytes header_bytes slots slot_bytes scratch_bytes tap_bytes}
 *   stack_bytes                                    at most, of one call on one thread
 *   verify   {weight_bytes anew inputs}            as f32 in the generic engine, at once; whether each of so many inputs
 *                                                  reads all of them anew
 *   code     null, or {model_bytes runtime_bytes compiler isa}
 *   programs [{name tokens keys memory_keys flops weight_bytes flops_per_token weight_bytes_per_token
 *              blocks [{name first_layer layers flops weight_bytes}]}]      flops and weight_bytes of a block: of each layer
 *   buffers  [{name where bytes}]                  the largest first
 *   packed   [{name where bytes}]                  weights likewise; where: their format, and how many layers
 *   target   null, or {name ram flash ram_needed flash_needed fits}         limits null where there are none */
void info_print(const Info *i, const InfoTarget *target, FILE *to);
void info_json(Arena *a, const Info *i, const InfoTarget *target, FILE *to);

/* Pictures, as SVG. */
Text info_memory_picture(Arena *a, const Plan *p);
Text info_graph_picture(Arena *a, const Graph *g);

/* "44,157,451". */
const char *info_number(Arena *a, double n);

#endif
