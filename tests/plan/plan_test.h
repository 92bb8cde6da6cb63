/* plan_test.h: shared by the tests of the plan: models from text, expected deaths, random specs. */
#ifndef PLAN_TEST_H
#define PLAN_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "plan.h"
#include "text.h"

/* A model, its graph and the arena that holds them. */
typedef struct Planned { Arena *arena; Diag *diag; Model *model; Graph *graph; } Planned;

/* Build the graph of a spec: its text, or a path that ends in .lua. A bad spec fails the test. */
Planned planned_open(const char *spec);
void    planned_close(Planned *o);
Plan   *planned_make(const Planned *o, PlanTarget target, bool taps, int slots);

/* Run `body(arg)` in a child process, which must end by die() and print `words`. */
typedef void Body(void *arg);
void dies(Body *body, void *arg, const char *words);

typedef struct Random { uint64_t state; } Random;
int draw(Random *r, int least, int most);       /* inclusive */
/* A valid encoder-decoder of random sizes, with weights = "random". */
const char *random_spec(Arena *a, Random *r, int number);

#endif
