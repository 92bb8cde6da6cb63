/* generation.h: the settings of generation that a model comes with, for the engines and as C. */
#ifndef GENERATION_H
#define GENERATION_H

#include "model.h"
#include "rt_generation.h"
#include "rt_scores.h"
#include "text.h"

/* As Hugging Face's `generate` takes the settings of that name: max_new_tokens goes before max_length, min_new_tokens before min_length, and
 * without do_sample no id is drawn. The lists are the model's. */
RtGeneration generation_of(const Model *m);
/* The same as C: the constant MODEL_generation, and its lists. */
void generation_emit(Arena *a, Text *out, const char *model, const RtGeneration *g);

#endif
