/* graph_values.c: check the numbers of masks and biases. An additive mask, with 0 for visible and
 * -1e9 or -inf for hidden, would be read the wrong way round. */
#include "graph.h"

#include <math.h>

static bool may_hold(Holds holds, float x)
{
    switch (holds) {
    case HOLDS_MASK: return x == 0 || x == 1;
    case HOLDS_BIAS: return x < INFINITY;           /* not NaN either */
    case HOLDS_ANY:  break;
    }
    return true;
}

int64_t graph_first_fault(Holds holds, const float *values, int64_t n)
{
    int64_t i = 0;
    while (i < n && may_hold(holds, values[i])) i++;
    return i;
}

/* The indices of a place, counted from 1: "2, 3". */
static const char *place_text(Arena *a, const Tensor *t, int64_t place)
{
    const char *text = "";
    for (int r = t->rank; r-- > 0; place /= t->dim[r].bound)
        text = arena_format(a, "%lld%s%s", (long long)(place % t->dim[r].bound) + 1,
                            *text ? ", " : "", text);
    return text;
}

const char *graph_value_fault(Arena *a, const Tensor *t, const float *values)
{
    static const char *const what[] = {
        [HOLDS_MASK] = "a mask must be 1 where a query may attend and 0 where it may not; to add "
                       "numbers such as -inf to scores, use a bias: "
                       "g.attention(q, k, v, mask, bias)",
        [HOLDS_BIAS] = "a bias must be finite, or -inf where a query may not attend",
    };
    int64_t n = 1;
    for (int r = 0; r < t->rank; r++) n *= t->dim[r].bound;
    const int64_t i = graph_first_fault(t->holds, values, n);
    if (i == n) return NULL;
    const double x = isnan(values[i]) ? (double)NAN : (double)values[i];    /* without a sign */
    return arena_format(a, "%s[%s] is %.9g: %s", t->name, place_text(a, t, i), x, what[t->holds]);
}
