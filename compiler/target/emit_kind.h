/* emit_kind.h: the calls that a kind of model offers, as text: one row per kind. */
#ifndef EMIT_KIND_H
#define EMIT_KIND_H

#include "emit.h"

#define XFORMC_VERSION "0.1.0"

typedef struct EmitKind {
    void (*header)(Emit *e, Text *out, const char *types);  /* declarations, around the types */
    void (*calls)(Emit *e, Text *out);                      /* their bodies, at the end of NAME.c */
    void (*main)(Emit *e, Text *out);                       /* NAME_main.c */
    void (*example)(Emit *e, Text *out);                    /* example.c */
} EmitKind;

extern const EmitKind emit_sequence;        /* models of stacks */
extern const EmitKind emit_graph;           /* xf.graph */

#endif
