/* kernel_set.h: the library's kernels, compiled into this program once for each instruction set. */
#ifndef KERNEL_SET_H
#define KERNEL_SET_H

typedef void KernelFunction(void);      /* to be called as kernels.def says */

typedef struct KernelSet {
    const char *name;                   /* avx512 */
    unsigned isa;                       /* what a processor must have: RT_ISA_* */
    struct { const char *name; KernelFunction *function; } kernels[64];     /* as kernels.def; the end is a NULL name */
} KernelSet;

/* The set called `name`, or for "native" the best that this processor runs; NULL where there is none or it cannot. */
const KernelSet *kernel_set(const char *name);

#endif
