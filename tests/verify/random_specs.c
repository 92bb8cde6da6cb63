/* random_specs.c: `random_specs FIRST COUNT` prints random specs, each on a line, its number before
 * a colon: to look for those that `xformc verify` does not understand. */
#include "random_spec.h"

#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    if (argc != 3) {
        fprintf(stderr, "usage: random_specs FIRST COUNT\n");
        return 2;
    }
    const uint64_t first = strtoull(argv[1], NULL, 10), count = strtoull(argv[2], NULL, 10);
    for (uint64_t n = first; n < first + count; n++)
        printf("%llu:%s\n", (unsigned long long)n, random_spec(n));
    return 0;
}
