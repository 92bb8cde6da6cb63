/* emit_kind.h: the calls that each kind of model offers, as text: one EmitKind per kind. */
#ifndef EMIT_KIND_H
#define EMIT_KIND_H

#include "emit.h"

#define XFORMC_VERSION "0.9.0"

/* An external name of NAME.c, without "NAME_". Functions that compute exist in every variant of the
 * model and are called through NAME_variants.c; `parameters` and `arguments` are those after the
 * model. The other names are common to all variants: parameters NULL. */
typedef struct EmitName { const char *name, *parameters, *arguments; } EmitName;

typedef struct EmitKind {
    void (*header)(Emit *e, Text *out, const char *types);  /* declarations, around the types */
    void (*calls)(Emit *e, Text *out);                      /* their bodies, at the end of NAME.c */
    void (*main)(Emit *e, Text *out);                       /* NAME_main.c */
    void (*example)(Emit *e, Text *out);                    /* example.c */
    const EmitName *(*names)(Emit *e, int *n);              /* besides isa, bind, threads, reset and taps */
} EmitKind;

extern const EmitKind emit_sequence;        /* models of stacks */
extern const EmitKind emit_graph;           /* xf.graph */

const EmitName *emit_sequence_names(Emit *e, int *n);
void emit_sequence_header(Emit *e, Text *out, const char *types);
void emit_sequence_main(Emit *e, Text *out);
void emit_sequence_example(Emit *e, Text *out);
/* True if the model has a character tokenizer (has_text) or a subword tokenizer (has_pieces). */
static inline bool has_text(const Emit *e) { return e->model->source && e->model->target; }
static inline bool has_pieces(const Emit *e) { return e->model->tokenizer_data; }
/* True if the model has NAME_generate. */
static inline bool emit_answers_text(const Emit *e) { return e->model->has_decoder && (has_text(e) || has_pieces(e)); }

#endif
