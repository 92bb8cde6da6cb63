/* rt_isa.c: what this processor can run and the operating system keeps across a task switch.
 * Compile for the baseline. Elsewhere than on x86, and on 32-bit ARM under Linux, a processor has what its baseline has. */
#include "rt.h"

#if (defined(__x86_64__) || defined(__i386__)) && defined(__GNUC__)
#include <cpuid.h>

/* The state components that the operating system saves (XCR0): bits 1-2 SSE and AVX, 5-7 AVX-512. */
static unsigned isa_saved(void)
{
    unsigned low, high;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return low;
}

static int isa_all(unsigned value, unsigned bits) { return (value & bits) == bits; }

/* AVX2 and AVX512 stand for the levels x86-64-v3 (with BMI) and x86-64-v4 (F, BW, CD, DQ, VL): compilers use the
 * whole level. */
static unsigned isa_present(void)
{
    enum { OSXSAVE = 1 << 27, AVX = 1 << 28, FMA = 1 << 12, F16C = 1 << 29, VNNI = 1 << 11 };
    const unsigned avx2 = 1u << 3 | 1u << 5 | 1u << 8, avx512 = 1u << 16 | 1u << 17 | 1u << 28 | 1u << 30 | 1u << 31;
    unsigned a, b, c, d, a7, b7 = 0, c7, d7, found = 0;
    if (!__get_cpuid(1, &a, &b, &c, &d) || !isa_all(c, OSXSAVE | AVX) || !isa_all(isa_saved(), 0x06)) return 0;
    if (c & FMA) found |= RT_ISA_FMA;
    if (c & F16C) found |= RT_ISA_F16C;
    if (!__get_cpuid_count(7, 0, &a7, &b7, &c7, &d7)) return found;
    if (isa_all(b7, avx2)) found |= RT_ISA_AVX2;
    if (!isa_all(b7, avx512) || !isa_all(isa_saved(), 0xe6)) return found;
    found |= RT_ISA_AVX512;
    if (c7 & VNNI) found |= RT_ISA_AVX512VNNI;
    return found;
}
#elif defined(__ARM_NEON)
static unsigned isa_present(void) { return RT_ISA_NEON; }
#elif defined(__arm__) && defined(__linux__) && __STDC_HOSTED__
#include <sys/auxv.h>

/* NEON is an option of ARMv7, and no part of the usual baseline: the kernel says whether it is there. */
static unsigned isa_present(void)
{
    enum { HAS_NEON = 1 << 12 };                /* HWCAP_NEON of <asm/hwcap.h> */
    return getauxval(AT_HWCAP) & HAS_NEON ? RT_ISA_NEON : 0;
}
#else
static unsigned isa_present(void) { return 0; }
#endif

unsigned rt_isa_missing(unsigned wanted) { return wanted & ~isa_present(); }

/* The most demanding of several. */
const char *rt_isa_text(unsigned isa)
{
    if (isa & RT_ISA_AVX512VNNI) return "avx512vnni";
    if (isa & RT_ISA_AVX512) return "avx512";
    if (isa & RT_ISA_AVX2) return "avx2";
    if (isa & RT_ISA_FMA) return "fma";
    if (isa & RT_ISA_F16C) return "f16c";
    if (isa & RT_ISA_NEON) return "neon";
    return "portable";
}
