/* graph_build.h: the two builders that graph_build chooses from, and the options of calls in an
 * xf.graph. */
#ifndef GRAPH_BUILD_H
#define GRAPH_BUILD_H

#include "graph_make.h"

/* Build stacks of layers, or the calls of an xf.graph. rows: the maximum number of decoder rows per
 * call. False after errors. */
bool graph_transformer(Maker *k, const Model *m, int64_t rows);
bool graph_from_spec(Maker *k, const GraphSpec *spec);

/* Check that every option of a call is known, has the right type and is within its limits; false
 * after errors. */
bool   options_check(Maker *k, const GraphCall *c);
/* The value of an option, else `otherwise`. A choice is an index into a list of words of
 * fields.def. needs: options_check. */
double option_number(const GraphCall *c, const char *name, double otherwise);
int    option_choice(const GraphCall *c, const char *name, const char *list, int otherwise);
const char *option_words(Arena *a, const char *list);      /* "a", "b": for messages */

#endif
