/* rt_simd_f16.h: convert sixteen floats to and from f16, the IEEE half with 11 bits of precision.
 *
 * rt_load_f16   sixteen f16 as floats (exact)
 * rt_store_f16  sixteen floats as the nearest f16, ties to even. Numbers beyond +-65504, including
 *               infinities, saturate; NaN stays NaN
 * Instructions and plain code give the same bits. Loads and stores take any pointer. */
#ifndef RT_SIMD_F16_H
#define RT_SIMD_F16_H

#include "rt_plain.h"
#include "rt_simd.h"

RT_INLINE rt_v16 rt_saturate_f16(rt_v16 a) { return rt_max(rt_set1(-65504), rt_min(rt_set1(65504), a)); }

#define RT_SIMD_PART RT_PART_F16
#include "instruction_sets.def"
#undef RT_SIMD_PART

#endif
