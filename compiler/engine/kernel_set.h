/* kernel_set.h: the runtime's kernels, compiled into this program once for each instruction set. */
#ifndef KERNEL_SET_H
#define KERNEL_SET_H

typedef void KernelFunction(void);      /* kernels.def has the real type of each */

typedef struct KernelSet {
    const char *name;                   /* avx512 */
    unsigned isa;                       /* RT_ISA_* bits that the processor must have */
    struct { const char *name; KernelFunction *function; } kernels[64];     /* a NULL name ends it */
} KernelSet;

/* The set of that name, or for "native" the best that this processor runs; NULL if there is none or
 * the processor cannot run it. */
const KernelSet *kernel_set(const char *name);

#endif
