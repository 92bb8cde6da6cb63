/* tolerance.h: how much two computations of a tensor may differ. */
#ifndef TOLERANCE_H
#define TOLERANCE_H

#include "model.h"

/* The largest distance, max |a - b| / max |b|, of a tensor of that name that counts as agreement:
 * 1e-5; 1e-4 for logits and log_probs of models over 12 layers. */
double model_tolerance(const Model *m, const char *name);
/* The tolerance against numbers that another engine computed from the inputs on. If activations are
 * rounded to 8 bits, it is 5e-2: a number near the middle of two steps may be rounded either way, a
 * difference of 1/127 of the largest number of its group, and all later numbers follow. If keys and
 * values are f16, add 2^-9 for each attention over them: a value has an error of at most 2^-11 of
 * itself, and so has their mean. Numbers of keys have it too: if the sizes of a score's products
 * sum to at most s, the score changes by s 2^-11, and each weight by twice that part of itself.
 * That is 2^-11 (1 + 2 s), which is 2^-9 for s = 1.5. Residuals add up the errors of all
 * attentions. */
double model_tolerance_apart(const Model *m, const char *name);
/* The tolerance against numbers computed with the weights as trained: 5e-2 also if weights are
 * rounded. */
double model_tolerance_exact(const Model *m, const char *name);

#endif
