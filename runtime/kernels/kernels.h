/* kernels.h: prototypes of the library's kernels, for callers of the compiled copies. */
#ifndef RT_KERNELS_H
#define RT_KERNELS_H

#include "rt.h"

#define RT_KERNEL_ROW(operation, format, file, function, parameters) void function parameters;
#define RT_KERNEL_FORMAT RT_KERNEL_ROW
#define RT_KERNEL_CACHE RT_KERNEL_ROW
#include "kernels.def"
#undef RT_KERNEL_ROW

#endif
