/* selftest.h: the expected results of a program's self-test. */
#ifndef SELFTEST_H
#define SELFTEST_H

#include "pack.h"

/* A PackSelftest: computes the values with the generic engine and plain products, and writes them
 * as RT_SELFTEST_DIGITS digits. */
void engine_selftest(const PackedData *data, char *digits);

#endif
