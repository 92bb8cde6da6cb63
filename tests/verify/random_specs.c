/* random_specs.c: `random_specs FIRST COUNT` prints random specs, one per line, each after its
 * number and a colon, to find specs that `xformc verify` misjudges. */
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
