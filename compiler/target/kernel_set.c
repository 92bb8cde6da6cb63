/* kernel_set.c: choosing one of the kernel sets. */
#include "kernel_set.h"

#include <stddef.h>
#include <string.h>

#include "rt.h"

#define KERNEL_SET(name) extern const KernelSet kernel_set_##name;
#include "kernel_sets.def"
#undef KERNEL_SET

static const KernelSet *const sets[] = {
#define KERNEL_SET(name) &kernel_set_##name,
#include "kernel_sets.def"
#undef KERNEL_SET
};

const KernelSet *kernel_set(const char *name)
{
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++)
        if (!rt_isa_missing(sets[i]->isa) && (strcmp(name, "native") == 0 || strcmp(name, sets[i]->name) == 0)) return sets[i];
    return NULL;
}
