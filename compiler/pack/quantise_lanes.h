/* quantise_lanes.h: quantise groups of LANES rows at a time, one row per SIMD lane. It is included
 * once for each width, with NAME(word), a unique name, and TARGET, the instruction set. All widths
 * give the same bits: those of quantise.h for one row after another. */

typedef float NAME(Floats) __attribute__((vector_size(4 * LANES)));
typedef int32_t NAME(Integers) __attribute__((vector_size(4 * LANES)));
#define Floats NAME(Floats)
#define Integers NAME(Integers)
/* A comparison gives -1 in the lanes where it holds. */
#define WHERE(holds, a, b) (((a) & (holds)) | ((b) & ~(holds)))
#define WHERE_FLOATS(holds, a, b) ((Floats)WHERE(holds, (Integers)(a), (Integers)(b)))
#define ALL_LANES(x) ((x) + (Integers){ 0 })

/* half_of_float. Below 2^-14 the sum with 0.5 rounds to the multiples of 2^-24 that f16 has. */
TARGET static inline void NAME(halves_of)(Integers *halves, const Floats *x)
{
    const Integers bits = (Integers)*x, size = bits & 0x7FFFFFFF;
    const Integers tiny = (Integers)((Floats)size + 0.5f) - 0x3F000000;
    const Integers usual = (size - (112 << 23) + 0xFFF + ((size >> 13) & 1)) >> 13;
    Integers h = WHERE(size < 0x38800000, tiny, usual);         /* 2^-14 */
    h = WHERE(size >= 0x477FF000, ALL_LANES(0x7C00), h);        /* F16_BEYOND */
    h = WHERE(size > 0x7F800000, ALL_LANES(0x7E00), h);         /* NaN */
    *halves = h | ((bits >> 16) & 0x8000);
}

/* float_of_half, for numbers that are not NaN. */
TARGET static inline void NAME(floats_of)(Floats *x, const Integers *halves)
{
    const Integers size = (*halves & 0x7FFF) << 13, sign = (*halves & 0x8000) << 16;
    const Integers finite = (Integers)((Floats)size * 0x1p112f);
    *x = (Floats)(sign | WHERE(size < 0x7C00 << 13, finite, ALL_LANES(0x7F800000)));
}

/* The number of largest magnitude in each row, the first of equal ones; NaN if the row has one. */
TARGET static inline void NAME(extremes)(Floats *m, const Floats x[QUANTISE_GROUP])
{
    Integers most = { 0 };
    Floats number = { 0 };
    for (int i = 0; i < QUANTISE_GROUP; i++) {
        Integers size = (Integers)x[i] & 0x7FFFFFFF;
        size = WHERE(size > 0x7F800000, ALL_LANES(0x7F800001), size);
        const Integers larger = size > most;
        number = WHERE_FLOATS(larger, x[i], number);
        most = WHERE(larger, size, most);
    }
    *m = number;
}

/* int8: q = x / d to the nearest, halves away from zero, for d before it is rounded to f16; all 0
 * unless this d and 1 / d are finite and above 0. */
TARGET static inline void NAME(bytes_of)(Integers *d, Integers q[QUANTISE_GROUP],
                                         const Floats x[QUANTISE_GROUP])
{
    Floats m;
    NAME(extremes)(&m, x);
    const Floats factor = (Floats)((Integers)m & 0x7FFFFFFF) / 127, inverse = 1 / factor;
    const Integers whole = (factor > 0) & (inverse < INFINITY) & (inverse > 0);
    NAME(halves_of)(d, &factor);
    for (int i = 0; i < QUANTISE_GROUP; i++) {
        /* at most 254 */
        const Floats twice = WHERE_FLOATS(whole, x[i] * inverse * 2, (Floats){ 0 });
        const Integers halves = __builtin_convertvector(twice, Integers);
        q[i] = (halves + (halves >> 31 | 1)) / 2;
    }
}

TARGET static inline void NAME(nearest_nibbles)(Integers *q, const Floats *x, const Floats *inverse)
{
    const Integers near = __builtin_convertvector(*x * *inverse + 8.5f, Integers);
    const Integers above = near & (near > 0);
    *q = WHERE(above < 15, above, ALL_LANES(15)) - 8;
}

/* Quantise x with the factor 1 / *inverse to q, then compute the best factor for these q by least
 * squares, sum(x q) / sum(q q): *d is that factor as f16, and *gain is how much it reduces the sum
 * of squares of x. The sum of x q has eight parts, by i % 8, which are added in order. */
TARGET static inline void NAME(meet)(Integers *d, Floats *gain, const Floats x[QUANTISE_GROUP],
                                     const Floats *inverse)
{
    enum { PARTS = 8 };
    Floats products[PARTS] = { { 0 } }, product = { 0 }, square = { 0 }, factor;
    for (int i = 0; i < QUANTISE_GROUP; i++) {
        Integers nibbles;
        NAME(nearest_nibbles)(&nibbles, &x[i], inverse);
        const Floats q = __builtin_convertvector(nibbles, Floats);
        products[i % PARTS] += x[i] * q;
        square += q * q;
    }
    for (int k = 0; k < PARTS; k++) product += products[k];
    const Floats best = WHERE_FLOATS(square > 0, product / square, (Floats){ 0 });
    NAME(halves_of)(d, &best);
    NAME(floats_of)(&factor, d);
    *gain = factor * (2 * product - factor * square);
}

/* If d is negative and no q is -8, negate both. */
TARGET static inline void NAME(turn_positive)(Integers *d, Integers q[QUANTISE_GROUP])
{
    Integers least = { 0 };
    for (int i = 0; i < QUANTISE_GROUP; i++) least = WHERE(q[i] < least, q[i], least);
    const Integers turns = (least != -8) & ((*d & 0x8000) != 0);
    *d &= ~(turns & 0x8000);
    for (int i = 0; i < QUANTISE_GROUP; i++) q[i] = (q[i] ^ turns) - turns;
}

/* int4: try six factors d, for which the number of largest magnitude, m, is -7 to -9.5 d. Beyond -8
 * it is clipped, and the other numbers are more accurate. Numbers that were rounded this way before
 * do not change, since their m is -7 or -8 d. If the squares do not fit into f32, or there is a
 * NaN, all q are 0, and d, the f16 of m / -8, is 0, infinite or NaN. x is overwritten. */
TARGET static inline void NAME(nibbles_of)(Integers *d, Integers q[QUANTISE_GROUP],
                                           Floats x[QUANTISE_GROUP])
{
    static const float places[] = { -8, -7, -7.5f, -8.5f, -9, -9.5f };
    enum { PLACES = sizeof places / sizeof *places };
    Floats m, most = { 0 }, inverse = { 0 };
    Integers unusual_d, best_d = { 0 };
    NAME(extremes)(&m, x);
    const Floats size = (Floats)((Integers)m & 0x7FFFFFFF), eighth = m / -8;
    const Integers usual = (size > 1e-15f) & (size < 1e15f);
    NAME(halves_of)(&unusual_d, &eighth);
    m = WHERE_FLOATS(usual, m, (Floats){ 0 } + 1);
    for (int i = 0; i < QUANTISE_GROUP; i++) x[i] = WHERE_FLOATS(usual, x[i], (Floats){ 0 });
    for (int i = 0; i < PLACES; i++) {
        Floats gain;
        const Floats tried = places[i] / m;
        NAME(meet)(d, &gain, x, &tried);
        const Integers better = gain > most;
        most = WHERE_FLOATS(better, gain, most);
        inverse = WHERE_FLOATS(better, tried, inverse);
        best_d = WHERE(better, *d, best_d);
    }
    for (int i = 0; i < QUANTISE_GROUP; i++) NAME(nearest_nibbles)(&q[i], &x[i], &inverse);
    NAME(turn_positive)(&best_d, q);
    *d = WHERE(usual, best_d, unusual_d);
}

TARGET static void NAME(quantise)(QuantisedGroups *to, float x[QUANTISE_GROUP][QUANTISE_ROWS],
                                  int bits)
{
    for (int row = 0; row < QUANTISE_ROWS; row += LANES) {
        Floats numbers[QUANTISE_GROUP];
        Integers d, q[QUANTISE_GROUP];
        for (int i = 0; i < QUANTISE_GROUP; i++) memcpy(&numbers[i], &x[i][row], sizeof *numbers);
        if (bits == 8) NAME(bytes_of)(&d, q, numbers);
        else NAME(nibbles_of)(&d, q, numbers);
        for (int k = 0; k < LANES; k++) to->d[row + k] = (uint16_t)d[k];
        for (int i = 0; i < QUANTISE_GROUP; i++) memcpy(&to->q[i][row], &q[i], sizeof *q);
    }
}

#undef Floats
#undef Integers
#undef WHERE
#undef WHERE_FLOATS
#undef ALL_LANES
