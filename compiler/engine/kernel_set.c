/* kernel_set.c: choose one of the kernel sets. */
#include "kernel_set.h"

#include <stddef.h>
#include <string.h>

#include "rt.h"

/* ON_machine(row): the row if this program is compiled for that machine, else nothing. */
#define ON_any(row) row
#if defined(__x86_64__)
#define ON_x86_64(row) row
#else
#define ON_x86_64(row)
#endif
#if defined(__aarch64__)
#define ON_aarch64(row) row
#else
#define ON_aarch64(row)
#endif

#define KERNEL_SET(name, machine, flags) ON_##machine(extern const KernelSet kernel_set_##name;)
#include "instruction_sets.def"
#undef KERNEL_SET

static const KernelSet *const sets[] = {
#define ONE(name) &kernel_set_##name,
#define KERNEL_SET(name, machine, flags) ON_##machine(ONE(name))
#include "instruction_sets.def"
#undef KERNEL_SET
};

const KernelSet *kernel_set(const char *name)
{
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++)
        if (!rt_isa_missing(sets[i]->isa) && (strcmp(name, "native") == 0 || strcmp(name, sets[i]->name) == 0)) return sets[i];
    return NULL;
}
