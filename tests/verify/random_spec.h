/* random_spec.h: tiny specs of random fields. Sizes are small, often 1, 2 or a prime: there sums
 * cancel, which `verify` must not take for an error. */
#ifndef RANDOM_SPEC_H
#define RANDOM_SPEC_H

#include <stdint.h>

/* One line of Lua, the same for the same number, in a buffer of its own until the next call. */
const char *random_spec(uint64_t number);

#endif
