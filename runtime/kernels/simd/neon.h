/* neon.h: 64-bit ARM. */

#if RT_SIMD_PART == RT_PART_FLOATS
#if !defined(RT_HAS_FMA) && defined(__aarch64__) && defined(__ARM_NEON) && !defined(RT_PORTABLE) && !defined(RT_PLAIN_C)
#define RT_HAS_FMA
/* ---- NEON: the portable section with a fused multiply-add ------------------------------------------------ */

enum { RT_TILE_ROWS = 6, RT_TILE_PANELS = 1, RT_ROW_PANELS = 4 };       /* 24 sums, 4 weights, 1 input; 32 registers */
enum { RT_WIDE_ROWS = 2, RT_WIDE_PANELS = 2 };                          /* 16, 8, 1 */
#define RT_FMA_PART(a, b, c) (rt_part)vfmaq_f32((float32x4_t)(c), (float32x4_t)(a), (float32x4_t)(b))
#endif
#endif /* RT_PART_FLOATS */

#if RT_SIMD_PART == RT_PART_F16
#if !defined(RT_HAS_F16) && defined(__aarch64__) && defined(__ARM_NEON) && !defined(RT_PORTABLE) && !defined(RT_PLAIN_C)
#define RT_HAS_F16
RT_INLINE rt_v16 rt_load_f16(const void *p)
{
    rt_v16 r;
    for (int i = 0; i < 4; i++) {
        uint16x4_t half;
        memcpy(&half, (const uint8_t *)p + 8 * i, sizeof half);
        r.v[i] = (rt_part)vcvt_f32_f16(vreinterpret_f16_u16(half));
    }
    return r;
}

RT_INLINE void rt_store_f16(void *p, rt_v16 a)
{
    const rt_v16 b = rt_saturate_f16(a);
    for (int i = 0; i < 4; i++) {
        const uint16x4_t half = vreinterpret_u16_f16(vcvt_f16_f32((float32x4_t)b.v[i]));
        memcpy((uint8_t *)p + 8 * i, &half, sizeof half);
    }
}
#endif
#endif /* RT_PART_F16 */
