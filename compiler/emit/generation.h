/* generation.h: a model's generation settings, for the engines and as C. */
#ifndef GENERATION_H
#define GENERATION_H

#include "model.h"
#include "rt_generation.h"
#include "rt_scores.h"
#include "text.h"

/* The settings, with the rules of Hugging Face's `generate`: max_new_tokens overrides max_length,
 * min_new_tokens overrides min_length, and without do_sample the temperature is 0. The lists belong
 * to the model. */
RtGeneration generation_of(const Model *m);
/* Emit the settings as C: the constant MODEL_generation, and its lists. */
void generation_emit(Arena *a, Text *out, const char *model, const RtGeneration *g);

#endif
