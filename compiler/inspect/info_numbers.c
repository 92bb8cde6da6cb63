/* info_numbers.c: format numbers for people. */
#include <stdio.h>
#include <string.h>

#include "info.h"

const char *info_number(Arena *a, double n)
{
    char digits[64], out[96], *to = out;
    snprintf(digits, sizeof digits, "%.0f", n);
    size_t left = strlen(digits);
    for (const char *d = digits; *d; d++) {
        *to++ = *d;
        if (--left && left % 3 == 0 && *d != '-') *to++ = ',';
    }
    *to = 0;
    return arena_text(a, out);
}
