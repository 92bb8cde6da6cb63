/* random_spec.h: tiny specs with random fields. Sizes are small, often 1, 2 or a prime, so sums
 * cancel; `verify` must not take that for an error. */
#ifndef RANDOM_SPEC_H
#define RANDOM_SPEC_H

#include <stdint.h>

/* One line of Lua, determined by the number, in a static buffer until the next call. */
const char *random_spec(uint64_t number);

#endif
