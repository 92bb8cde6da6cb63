/* selftest.h: what a program should compute with given weights. */
#ifndef SELFTEST_H
#define SELFTEST_H

#include "pack.h"

/* As RT_SELFTEST_DIGITS digits, by the generic engine with plain products: a PackSelftest. */
void engine_selftest(const PackedData *data, char *digits);

#endif
