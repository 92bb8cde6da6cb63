/* rt_prefetch.c: how far ahead kernels prefetch weights for few rows. Compile for the baseline. */
#include "rt.h"

#include <stdatomic.h>
#include <string.h>

#if (defined(__x86_64__) || defined(__i386__)) && defined(__GNUC__)
#include <cpuid.h>

/* Intel's fetch a stream page by page and start anew at each: on an Emerald Rapids 1.1 billion weights of 8 bits take a sixth less time when
 * asked for, of 4 bits a quarter; on a Zen 4 a half more. */
static int ahead(void)
{
    unsigned most, b, c, d;
    char vendor[12];
    if (!__get_cpuid(0, &most, &b, &c, &d)) return 0;
    memcpy(vendor, &b, 4), memcpy(vendor + 4, &d, 4), memcpy(vendor + 8, &c, 4);
    return memcmp(vendor, "GenuineIntel", 12) == 0 ? 4096 : 0;
}
#else
static int ahead(void) { return 0; }
#endif

int rt_ahead(void)
{
    static _Atomic int known = -1;              /* asking takes a microsecond in a virtual machine */
    int bytes = atomic_load_explicit(&known, memory_order_relaxed);
    if (bytes < 0) atomic_store_explicit(&known, bytes = ahead(), memory_order_relaxed);
    return bytes;
}
