/* vocabulary_f32.c: log-softmax and argmax of rows of logits [size]. Padding columns are neither
 * read nor written; y may be x, with the same stride. */
#include "rt_simd.h"
#include "kernels.h"

/* NaN counts as INFINITY. */
static inline rt_v16 rt_vocabulary_larger(rt_v16 max, rt_v16 x)
{
    const rt_v16 most = rt_set1(INFINITY);
    return rt_max(max, rt_if_less(x, most, x, most));
}

static inline float rt_vocabulary_max(const float *x, int size)
{
    const rt_v16 lowest = rt_set1(-INFINITY);
    rt_v16 max = lowest;
    int i = 0;
    for (; i <= size - 16; i += 16)
        max = rt_vocabulary_larger(max, rt_load(x + i));
    if (i < size) max = rt_vocabulary_larger(max, rt_first_n(rt_load_n(x + i, size - i), size - i, lowest));
    return rt_max_of(max);
}

/* y = (x - max) - log(sum of exp(x - max)): the sum is at least 1 and cannot overflow. */
RT_KERNEL void rt_log_softmax_f32(const RtVocabulary *shape, float *y, const float *x, int rows)
{
    const int size = shape->size;
    for (int r = 0; r < rows; r++, x += shape->x_stride, y += shape->y_stride) {
        const rt_v16 max = rt_set1(rt_vocabulary_max(x, size));
        rt_v16 sum = rt_set1(0), log_sum;
        for (int i = 0; i < size; i += 16) {
            const int n = rt_lanes_at(size, i);
            sum = rt_add(sum, rt_keep_n(rt_exp(rt_sub(rt_load_n(x + i, n), max)), n));
        }
        log_sum = rt_set1(rt_log(rt_sum(sum)));
        for (int i = 0; i < size; i += 16) {
            const int n = rt_lanes_at(size, i);
            rt_store_n(y + i, rt_sub(rt_sub(rt_load_n(x + i, n), max), log_sum), n);
        }
    }
}

/* y[r]: the index of the first maximum of row r; -1 if the row contains NaN or INFINITY. Only the
 * first block of columns that holds the maximum is searched element by element. */
RT_KERNEL void rt_argmax_f32(const RtVocabulary *shape, int *y, const float *x, int rows)
{
    enum { BLOCK = 256 };
    const int size = shape->size;
    for (int r = 0; r < rows; r++, x += shape->x_stride) {
        float best = -INFINITY;
        int first = 0;
        for (int i = 0; i < size; i += BLOCK) {
            const float max = rt_vocabulary_max(x + i, size - i < BLOCK ? size - i : BLOCK);
            if (max > best) best = max, first = i;
        }
        while (first < size - 1 && x[first] != best)
            first++;
        y[r] = x[first] == best && best < INFINITY ? first : -1;
    }
}
