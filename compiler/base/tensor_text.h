/* tensor_text.h: numbers of tensors for a person to read, in columns. */
#ifndef TENSOR_TEXT_H
#define TENSOR_TEXT_H

#include <stddef.h>
#include <stdint.h>

enum { TENSOR_CELL = 32 };          /* bytes that a number takes at most, its NUL included */

/* 2.75619, or 1.0000e-08 where five decimals would not show it, or it is 100,000 and more. */
void tensor_cell(char cell[TENSOR_CELL], float x);
/* The columns that the widest of values[n] takes, at least 10. */
int tensor_cell_width(const float *values, int64_t n);

#endif
