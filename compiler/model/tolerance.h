/* tolerance.h: how much two computations of a tensor may differ. */
#ifndef TOLERANCE_H
#define TOLERANCE_H

#include "model.h"

/* The largest distance, max |a - b| / max |b|, at which two tensors of that name still agree: 1e-5,
 * or 1e-4 for logits and log_probs of models with more than 12 layers in a stack; in an xf.graph,
 * always 1e-5. */
double model_tolerance(const Model *m, const char *name);
/* The tolerance if the other engine computed all numbers itself, starting from the inputs. If
 * activations are rounded to 8 bits, it is 5e-2: a number halfway between two steps may be rounded
 * up or down. The two results differ by 1/127 of the largest number of the group, which affects all
 * later numbers. The same holds for int8 keys and values. If they are f16, 2^-9 is added for each
 * attention over them (in an xf.graph, once): a value has a relative error of at most 2^-11, and
 * so has a mean of values. Keys have the same error: if the absolute values of a score's products
 * sum to at most s, the score changes by s 2^-11, and each weight changes by twice that, relative
 * to itself. The total is 2^-11 (1 + 2 s), which is 2^-9 for s = 1.5. In the residual stream, the
 * errors of all attentions add up. */
double model_tolerance_apart(const Model *m, const char *name);
/* The tolerance if the other numbers were computed with the original weights: also 5e-2 if the
 * model's weights are rounded. */
double model_tolerance_exact(const Model *m, const char *name);

#endif
