/* graph_build.h: the builders that graph_build chooses from, one per kind of model, and what an xf.graph's options say. */
#ifndef GRAPH_BUILD_H
#define GRAPH_BUILD_H

#include "graph_make.h"

/* Stacks of layers; `rows`: most decoder rows of one call. */
bool graph_transformer(Maker *k, const Model *m, int64_t rows);
bool graph_from_spec(Maker *k, const GraphSpec *spec);

/* Every option of a call is known, of its type and within its limits; false after errors. */
bool   options_check(Maker *k, const GraphCall *c);
/* needs: options_check. A choice is an index into a list of words of fields.def. */
double option_number(const GraphCall *c, const char *name, double otherwise);
int    option_choice(const GraphCall *c, const char *name, const char *list, int otherwise);
const char *option_words(Arena *a, const char *list);      /* "a", "b": for a message */

#endif
