/* graph_build.h: the builders that graph_build chooses from, one per kind of model. */
#ifndef GRAPH_BUILD_H
#define GRAPH_BUILD_H

#include "graph_make.h"

bool graph_encoder_decoder(Maker *k, const Model *m);
bool graph_from_spec(Maker *k, const GraphSpec *spec);

#endif
