/* engine_test.h: what the tests of engines share: a spec opened as the generic engine. */
#ifndef ENGINE_TEST_H
#define ENGINE_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "trace.h"

/* A spec and the generic engine on it, on plans with taps and without. */
typedef struct Opened { Arena *arena; Diag *diag; Model *model; Graph *graph; Engine *tapped, *plain; } Opened;

Opened open_spec(const char *path);             /* fails the test where the spec is bad */
void   close_spec(Opened *o);

/* The goldens of tests/goldens, ended by NULL. */
extern const char *const golden_names[];
Opened open_golden(const char *name);
const char *golden_reference(Arena *a, const char *name);       /* path of its reference */

/* A list of I32 in a safetensors file. */
typedef struct Ids { int *id; int n; } Ids;
Ids read_ids(Arena *a, const TensorFile *f, const char *name);

#endif
