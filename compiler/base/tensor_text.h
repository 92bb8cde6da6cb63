/* tensor_text.h: format numbers of tensors in columns. */
#ifndef TENSOR_TEXT_H
#define TENSOR_TEXT_H

#include <stddef.h>
#include <stdint.h>

enum { TENSOR_CELL = 32 };          /* maximum bytes of a formatted number, with its NUL */

/* "2.75619"; "1.0000e-08" if five decimals would show 0 for another number, or if |x| is 100,000 or
 * more; "nan", "inf" or "-inf". */
void tensor_cell(char cell[TENSOR_CELL], float x);
/* The width of the widest of values[n], at least 10. */
int tensor_cell_width(const float *values, int64_t n);

#endif
