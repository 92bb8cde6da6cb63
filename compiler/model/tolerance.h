/* tolerance.h: how far apart two computations of a tensor may lie. */
#ifndef TOLERANCE_H
#define TOLERANCE_H

#include "model.h"

/* The largest distance, max |a - b| / max |b|, of a tensor of that name that is still agreement: 1e-5, and 1e-4 for logits
 * of models over 12 layers. */
double model_tolerance(const Model *m, const char *name);
/* The same against numbers that were computed apart from it, from the inputs on. Where activations are rounded to 8 bits that is
 * 5e-2: what lies between two of these may fall to either side, by 1/127 of its group's largest number, and all that follows too.
 * Where keys and values are of f16, 2^-9 more for each attention over them. A value errs by at most 2^-11 of itself, and so does
 * their mean. A key's numbers do too: of a sum of products of sizes up to s it moves the score by s 2^-11, and that each weight by
 * twice as much of itself: 2^-11 (1 + 2 s), which is 2^-9 for s = 1.5; what residuals add up are the errors of all attentions. */
double model_tolerance_apart(const Model *m, const char *name);
/* The same against numbers that were computed with the weights as they were trained: 5e-2 wherever weights are rounded too. */
double model_tolerance_exact(const Model *m, const char *name);

#endif
