/* rt_isa.c: find the instruction sets that this processor has and whose registers the operating
 * system saves. Compile it for the baseline. Only x86, and 32-bit ARM under Linux, are probed;
 * other processors have what the compiler's baseline has. */
#include "rt.h"

#if (defined(__x86_64__) || defined(__i386__)) && defined(__GNUC__)
#include <cpuid.h>

/* The state components that the operating system saves (XCR0): bits 1-2 SSE and AVX, 5-7
 * AVX-512. */
static unsigned isa_saved(void)
{
    unsigned low, high;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return low;
}

static int isa_all(unsigned value, unsigned bits) { return (value & bits) == bits; }

/* Registers of cpuid: ecx of leaf 1; ebx and ecx of leaf 7, and eax of its subleaf 1. */
typedef struct IsaX86 { unsigned c1, b7, c7, a71; int saves_256, saves_512; } IsaX86;
enum { ISA_V3 = 1 << 3 | 1 << 5 | 1 << 8 };
static const unsigned ISA_V4 = 1u << 16 | 1u << 17 | 1u << 28 | 1u << 30 | 1u << 31;

static unsigned isa_of(const IsaX86 *x)
{
    unsigned found = 0;
#define ISA_OF_X86(has) (has)
#define ISA_OF_ARM(has) 0
#define ISA_BIT(id, name, bit, macro, machine, has) if (ISA_OF_##machine(has)) found |= bit;
#include "instruction_sets.def"
    return found;
}

static unsigned isa_present(void)
{
    enum { OSXSAVE = 1 << 27, AVX = 1 << 28 };
    IsaX86 x = { 0 };
    unsigned a, b, c, d;
    if (!__get_cpuid(1, &a, &b, &x.c1, &d) || !isa_all(x.c1, OSXSAVE | AVX) || !isa_all(isa_saved(), 0x06)) return 0;
    x.saves_256 = 1, x.saves_512 = isa_all(isa_saved(), 0xe6);
    if (__get_cpuid_count(7, 0, &a, &x.b7, &x.c7, &d) && a) __get_cpuid_count(7, 1, &x.a71, &b, &c, &d);
    return isa_of(&x);
}
#else
#if defined(__ARM_NEON)
static int isa_neon(void) { return 1; }
#elif defined(__arm__) && defined(__linux__) && __STDC_HOSTED__
#include <sys/auxv.h>

/* NEON is optional in ARMv7 and not in the usual baseline, so the operating system is asked. */
static int isa_neon(void)
{
    enum { HAS_NEON = 1 << 12 };                /* HWCAP_NEON of <asm/hwcap.h> */
    return (getauxval(AT_HWCAP) & HAS_NEON) != 0;
}
#else
static int isa_neon(void) { return 0; }
#endif

static unsigned isa_present(void)
{
    unsigned found = 0;
#define ISA_OF_X86(has) 0
#define ISA_OF_ARM(has) (has)
#define ISA_BIT(id, name, bit, macro, machine, has) if (ISA_OF_##machine(has)) found |= bit;
#include "instruction_sets.def"
    return found;
}
#endif

unsigned rt_isa_missing(unsigned wanted) { return wanted & ~isa_present(); }

/* If there are several sets, the most demanding one is named. */
const char *rt_isa_text(unsigned isa)
{
#define ISA_BIT(id, name, bit, macro, machine, has) if (isa & bit) return name;
#include "instruction_sets.def"
    return "portable";
}
