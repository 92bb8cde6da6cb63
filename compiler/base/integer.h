/* integer.h: a number without its fraction. */
#ifndef INTEGER_H
#define INTEGER_H

#include <math.h>
#include <stdint.h>

/* 0 of NaN, the nearest of int64 where it lies outside, for a conversion of that is undefined. */
static inline int64_t integer_of(double number)
{
    const double past = 0x1p63;
    if (isnan(number)) return 0;
    return number >= past ? INT64_MAX : number < -past ? INT64_MIN : (int64_t)number;
}

#endif
