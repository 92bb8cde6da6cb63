/* unicode_dump.c: print each code point's general category and combining class, whether it has a
 * canonical and a compatibility decomposition (1 or 0), and its lower case, or itself if that is
 * not one code point; as in utf8proc, for probe.py. */
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
