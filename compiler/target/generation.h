/* generation.h: the settings of generation that a model comes with, for the engines and as C. */
#ifndef GENERATION_H
#define GENERATION_H

#include "model.h"
#include "rt_generation.h"
#include "text.h"

/* What is drawn where nobody says otherwise is drawn from the 50 likeliest ids, as Hugging Face's `generate` does. The lists are the
 * model's. */
RtGeneration generation_of(const Model *m);
/* The same as two constants, `ends` and `generation`, for a program's main. */
void generation_emit(Text *out, const RtGeneration *g);

#endif
