/* integer.h: convert a double to an integer, truncating. */
#ifndef INTEGER_H
#define INTEGER_H

#include <math.h>
#include <stdint.h>

/* NaN gives 0; numbers outside the range of int64 saturate, since in C their conversion is
 * undefined. */
static inline int64_t integer_of(double number)
{
    const double past = 0x1p63;
    if (isnan(number)) return 0;
    return number >= past ? INT64_MAX : number < -past ? INT64_MIN : (int64_t)number;
}

#endif
