/* engine_test.h: shared by the tests of engines: specs opened in the generic engine. */
#ifndef ENGINE_TEST_H
#define ENGINE_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "trace.h"

/* A spec and two generic engines for it, one with taps and one without. */
typedef struct Opened { Arena *arena; Diag *diag; Model *model; Graph *graph; Engine *tapped, *plain; } Opened;

Opened open_spec(const char *path);             /* fails the test if the spec is bad */
void   close_spec(Opened *o);

/* Some goldens of tests/goldens, ended by NULL. */
extern const char *const golden_names[];
Opened open_golden(const char *name);
const char *golden_reference(Arena *a, const char *name);       /* path of its reference */

/* An I32 tensor of a safetensors file. */
typedef struct Ids { int *id; int n; } Ids;
Ids read_ids(Arena *a, const TensorFile *f, const char *name);

#endif
