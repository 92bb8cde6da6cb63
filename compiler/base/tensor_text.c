/* tensor_text.c: format a number, with an exponent unless it is of ordinary size. */
#include "tensor_text.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

void tensor_cell(char cell[TENSOR_CELL], float x)
{
    const double size = fabs((double)x);
    const bool plain = !isfinite(size) || size == 0 || (size >= 0.5e-5 && size < 1e5);
    if (isnan(x)) strcpy(cell, "nan");
    else snprintf(cell, TENSOR_CELL, plain ? "%.5f" : "%.4e", (double)x);
}

int tensor_cell_width(const float *values, int64_t n)
{
    int width = 10;
    char cell[TENSOR_CELL];
    for (int64_t i = 0; i < n; i++) {
        tensor_cell(cell, values[i]);
        if ((int)strlen(cell) > width) width = (int)strlen(cell);
    }
    return width;
}
