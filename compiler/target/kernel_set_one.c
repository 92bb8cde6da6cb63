/* kernel_set_one.c: the kernels in one piece, compiled with the flags of one instruction set, KERNEL_SET_NAME. Nothing of
 * it is called before rt_isa_missing has answered. */
#define RT_KERNELS_H                    /* their prototypes have external linkage; here they are static */
#define RT_KERNEL static
#include "../../runtime/rt_simd.h"
#include "../../runtime/kernels/linear_f32.c"
#include "../../runtime/kernels/norm_f32.c"
#include "../../runtime/kernels/embed_f32.c"
#include "../../runtime/kernels/element_f32.c"
#include "../../runtime/kernels/rotary_f32.c"
#include "../../runtime/kernels/cache_f32.c"
#include "../../runtime/kernels/attention_f32.c"
#include "../../runtime/kernels/vocabulary_f32.c"

#include "kernel_set.h"

#ifndef KERNEL_SET_NAME
#define KERNEL_SET_NAME portable
#endif
#define SYMBOL_OF(name) kernel_set_##name
#define SYMBOL(name) SYMBOL_OF(name)
#define STRING_OF(name) #name
#define STRING(name) STRING_OF(name)

extern const KernelSet SYMBOL(KERNEL_SET_NAME);
const KernelSet SYMBOL(KERNEL_SET_NAME) = {
    STRING(KERNEL_SET_NAME), RT_ISA_BUILT,
    {
#define RT_KERNEL_ROW(operation, format, file, function, parameters) { #function, (KernelFunction *)function },
#include "../../runtime/kernels.def"
#undef RT_KERNEL_ROW
    },
};
