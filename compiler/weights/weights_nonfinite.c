/* weights_nonfinite.c: find infinities and NaN among stored weights. In such a number, all bits of
 * the exponent are 1. */
#include "weights.h"

#include <string.h>

#include "dtypes.h"

/* Count the infinities and NaN among n f32 numbers. */
static int64_t strange_of_4(const unsigned char *p, int64_t n)
{
    int64_t found = 0;
    for (int64_t i = 0; i < n; i++) {
        uint32_t x;
        memcpy(&x, p + 4 * i, 4);
        found += (x & 0x7F800000) == 0x7F800000;
    }
    return found;
}

static int64_t strange_of_2(const unsigned char *p, int64_t n, unsigned exponent)
{
    int64_t found = 0;
    for (int64_t i = 0; i < n; i++) {
        uint16_t x;
        memcpy(&x, p + 2 * i, 2);
        found += (x & exponent) == exponent;
    }
    return found;
}

static int64_t strange_in(const TensorSource *t)
{
    const unsigned char *p = t->file->map.data + t->offset;
    const int64_t n = tensor_elements(t);
    switch (t->dtype) {
    case DTYPE_F32:  return strange_of_4(p, n);
    case DTYPE_F16:  return strange_of_2(p, n, 0x7C00);
    case DTYPE_BF16: return strange_of_2(p, n, 0x7F80);
    case DTYPE_I8:   return t->group ? strange_of_4(t->file->map.data + t->scales, n / t->group) * t->group : 0;
    default:         return 0;
    }
}

/* True if elements are stored row by row, without gaps; other layouts are not checked. */
static bool is_dense(const TensorSource *t)
{
    int64_t stride = 1;
    for (int i = t->rank - 1; i >= 0; i--) {
        if (t->stride[i] != stride && t->shape[i] > 1) return false;
        stride *= t->shape[i];
    }
    return true;
}

bool weights_tell_strange(Diag *d, Loc at, const TensorFile *f, const bool *used)
{
    enum { MOST_TOLD = 3 };
    int told = 0;
    for (int i = 0; i < f->count; i++) {
        const TensorSource *t = &f->tensors[i];
        const int64_t n = used[i] && is_dense(t) ? strange_in(t) : 0;
        if (n && told++ < MOST_TOLD)
            diag_remark(d, at, "tensor \"%.100s\" of %s is infinite or NaN in %lld of %lld "
                        "element%s", t->file_name, t->file->path, (long long)n,
                        (long long)tensor_elements(t), tensor_elements(t) == 1 ? "" : "s");
    }
    if (told > MOST_TOLD) diag_remark(d, at, "and %d more such tensor%s", told - MOST_TOLD, told - MOST_TOLD == 1 ? "" : "s");
    return told;
}
