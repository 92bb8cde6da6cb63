/* unicode_dump.c: for each code point its general category, combining class, whether it decomposes canonically and compatibly,
 * and its lower case, as utf8proc has them: what probe.py compares with. */
#include <stdio.h>

#include "unicode_tables.h"

int main(void)
{
    for (int32_t c = 0; c < UNICODE_END; c++) {
        int32_t parts[UNICODE_LONGEST], lower[2] = { c, 0 };
        const int canonical = unicode_decompose(c, false, parts), compatible = unicode_decompose(c, true, parts);
        if (unicode_lower(c, lower) != 1) lower[0] = c;
        printf("%u %u %d %d %d\n", unicode_property(c) & 31, unicode_combining_class(c), canonical != 0, compatible != 0, lower[0]);
    }
    return 0;
}
