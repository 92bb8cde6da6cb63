/* tuning.h: choices that change only the speed of a model, as `xformc tune` measured them on one
 * machine. */
#ifndef TUNING_H
#define TUNING_H

#include <stdbool.h>

#include "diag.h"
#include "text.h"

typedef enum LinearCut {
#define LINEAR_CUT(id, name, one_stream, panels, rows, field, any_format, words) LINEAR_CUT_##id,
#include "cuts.def"
#undef LINEAR_CUT
    CUTS
} LinearCut;

typedef struct CutRow { const char *name; int one_stream, panels, rows; const char *field; bool any_format; const char *words; } CutRow;
extern const CutRow cut_rows[CUTS];

/* One function of NAME_kernels.h: the cut to take, and the time in microseconds of a call with each
 * cut; 0: not measured. */
typedef struct TunedCall { const char *name; LinearCut take; double us[CUTS]; Loc at; } TunedCall;

/* How a program runs through its layers. */
typedef enum TunedLayers { TUNED_LAYERS_USUAL, TUNED_LAYERS_CALLS, TUNED_LAYERS_LOOP, TUNED_LAYERS } TunedLayers;
extern const char *const tuned_layers_names[TUNED_LAYERS];      /* NULL, "calls", "loop" */

typedef struct Tuning {
    const char *path;                           /* of the file; NULL while measuring */
    const char *machine, *model, *dtype, *identity;     /* what was measured; NULL: not given */
    const char *isa;  Loc isa_at;               /* as in --isa; NULL: the default */
    int threads;                                /* 0: the default */
    TunedLayers layers;
    TunedCall *calls;  int call_count;
    LinearCut every;                            /* unless LINEAR_CUT_USUAL: cut every call this way
                                                 * if possible, to measure it */
    const char *threads_note, *layers_note, *isa_note;  /* times, for comments; NULL: not measured */
} Tuning;

/* The entry of a function, or NULL. `tuning` may be NULL. */
const TunedCall *tuning_call(const Tuning *tuning, const char *name);

/* Microseconds with four significant digits or, from 1000 on, without decimals. */
const char *tuning_us(Arena *a, double us);

/* "panel by panel 2.4 us; default 3.1, 2 panels at a time 2.6": the chosen cut comes first. */
const char *tuning_times(Arena *a, const TunedCall *call);

/* The text of the file that tuning_from_lua reads. The same measurements give the same text. */
Text tuning_text(Arena *a, const Tuning *tuning);

#endif
