/* plan_test.h: what the tests of the plan share: models from text, a death that is expected, random specs. */
#ifndef PLAN_TEST_H
#define PLAN_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "plan.h"
#include "text.h"

/* A spec, its graph and the arena that holds all of it. */
typedef struct Planned { Arena *arena; Diag *diag; Model *model; Graph *graph; } Planned;

/* The graph of a spec given as text, or as a path that ends in .lua; fails the test where the spec is bad. */
Planned planned_open(const char *spec);
void    planned_close(Planned *o);
Plan   *planned_make(const Planned *o, PlanTarget target, bool taps, int slots);

/* Run `body(arg)` in another process, which must end by die() and say `words`. */
typedef void Body(void *arg);
void dies(Body *body, void *arg, const char *words);

typedef struct Random { uint64_t state; } Random;
int draw(Random *r, int least, int most);       /* inclusive */
/* A valid encoder-decoder with odd sizes and weights = "random". */
const char *random_spec(Arena *a, Random *r, int number);

#endif
