/* repl_tensor_math.c: arithmetic on tensors at the prompt: reductions, distances, elementwise
 * operations. */
#include "repl.h"

#include <math.h>
#include <string.h>

/* ---- one number of a tensor -------------------------------------------------------------------------------------- */

ReplRange repl_range(const ReplTensor *t)
{
    const int64_t n = repl_tensor_elements(t);
    ReplRange r = { INFINITY, -INFINITY, 0, 0, 0 };
    for (int64_t i = 0; i < n; i++) {
        const double x = (double)t->values[i];
        if (!isfinite(x)) r.non_finite++;
        r.least = fmin(r.least, x);
        r.most = fmax(r.most, x);
        r.sum += x;
    }
    r.mean = n ? r.sum / (double)n : 0;
    return r;
}

/* ---- along an axis --------------------------------------------------------------------------- */

/* Reduce n numbers, `step` apart, to one. Sums accumulate in double; min and max ignore NaN. */
typedef double Reduce(const float *x, int64_t n, int64_t step);

static double sum_of(const float *x, int64_t n, int64_t step)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++) sum += (double)x[i * step];
    return sum;
}

static double mean_of(const float *x, int64_t n, int64_t step)
{
    return n ? sum_of(x, n, step) / (double)n : 0;
}

static double least_of(const float *x, int64_t n, int64_t step)
{
    double least = INFINITY;
    for (int64_t i = 0; i < n; i++) least = fmin(least, (double)x[i * step]);
    return least;
}

static double most_of(const float *x, int64_t n, int64_t step)
{
    double most = -INFINITY;
    for (int64_t i = 0; i < n; i++) most = fmax(most, (double)x[i * step]);
    return most;
}

/* The position of the first maximum, counted from 1. A NaN wins only if all numbers are NaN. */
static double place_of_most(const float *x, int64_t n, int64_t step)
{
    int64_t best = 0;
    for (int64_t i = 1; i < n; i++)
        if (x[i * step] > x[best * step] || (isnan(x[best * step]) && !isnan(x[i * step])))
            best = i;
    return (double)(best + 1);
}

/* Read the axis at stack place 2: counted from 1, or back from -1, the last. Returns it counted
 * from 0. */
static int take_axis(lua_State *L, const char *what, const ReplTensor *t)
{
    const lua_Integer axis = lua_tointeger(L, 2);
    if (axis < -t->rank || axis > t->rank || !axis)
        luaL_error(L, "t:%s: a tensor of %s has no axis %I; axes are 1 to %d, or -1 (the last) "
                   "to -%d", what, repl_shape_text(L, t->rank, t->shape), (LUAI_UACINT)axis,
                   t->rank, t->rank);
    return (int)(axis > 0 ? axis - 1 : axis + t->rank);
}

/* Reduce along the axis at stack place 2. Pushes a tensor of one rank less, or a number if t
 * has rank 1. */
static int reduce_axis(lua_State *L, const char *what, const ReplTensor *t, Reduce *reduce)
{
    const int axis = take_axis(L, what, t);
    ReplTensor shape = { .rank = t->rank - 1 };
    int64_t step = 1;
    for (int i = axis + 1; i < t->rank; i++) step *= t->shape[i];
    for (int i = 0; i < shape.rank; i++) shape.shape[i] = t->shape[i + (i >= axis)];
    const int64_t n = repl_tensor_elements(&shape), length = t->shape[axis];
    if (!length && reduce == place_of_most) return luaL_error(L, "t:argmax: the tensor is empty");
    if (!shape.rank) return lua_pushnumber(L, reduce(t->values, length, 1)), 1;
    float *values = arena_array(repl_scratch(L), (size_t)n + 1, sizeof *values);
    for (int64_t i = 0; i < n; i++) {
        const float *first = t->values + i / step * step * length + i % step;
        values[i] = (float)reduce(first, length, step);
    }
    repl_push_tensor(L, t->name, shape.rank, shape.shape, values);
    return 1;
}

/* Reduce all numbers, or along an axis if one is given. */
static int reduce(lua_State *L, const char *what, Reduce *of)
{
    const ReplTensor *t = repl_check_tensor(L, 1);
    if (!lua_isnoneornil(L, 2)) return reduce_axis(L, what, t, of);
    return lua_pushnumber(L, of(t->values, repl_tensor_elements(t), 1)), 1;
}

static int least(lua_State *L) { return reduce(L, "min", least_of); }
static int most(lua_State *L) { return reduce(L, "max", most_of); }
static int mean(lua_State *L) { return reduce(L, "mean", mean_of); }
static int sum(lua_State *L) { return reduce(L, "sum", sum_of); }

/* Push the position of the first maximum, one index per dimension; along an axis, a tensor of
 * positions. */
static int argmax(lua_State *L)
{
    const ReplTensor *t = repl_check_tensor(L, 1);
    const int64_t n = repl_tensor_elements(t);
    if (!lua_isnoneornil(L, 2)) return reduce_axis(L, "argmax", t, place_of_most);
    if (!n) return luaL_error(L, "t:argmax: the tensor is empty");
    const int64_t best = (int64_t)place_of_most(t->values, n, 1) - 1;
    for (int d = 0; d < t->rank; d++) {
        int64_t block = 1;
        for (int k = d + 1; k < t->rank; k++) block *= t->shape[k];
        lua_pushinteger(L, best / block % t->shape[d] + 1);
    }
    return t->rank;
}

/* ---- two tensors ------------------------------------------------------------------------------------------------- */

static void need_one_shape(lua_State *L, const char *what, const ReplTensor *a, const ReplTensor *b)
{
    if (a->rank == b->rank && memcmp(a->shape, b->shape, (size_t)a->rank * sizeof *a->shape) == 0) return;
    luaL_error(L, "%s: the shapes %s and %s differ", what, repl_shape_text(L, a->rank, a->shape), repl_shape_text(L, b->rank, b->shape));
}

/* max |a - b| / max |b|, as `verify` computes it. */
static int distance(lua_State *L)
{
    const ReplTensor *a = repl_check_tensor(L, 1), *b = repl_check_tensor(L, 2);
    need_one_shape(L, "t:distance(u)", a, b);
    const int64_t n = repl_tensor_elements(a);
    const TraceTensor x = { a->name, 1, { n }, a->values, false };
    const TraceTensor y = { b->name, 1, { n }, b->values, false };
    lua_pushnumber(L, trace_distance(&x, &y));
    return 1;
}

/* ---- arithmetic -------------------------------------------------------------------------------------------------- */

static float add(float a, float b) { return a + b; }
static float subtract(float a, float b) { return a - b; }
static float multiply(float a, float b) { return a * b; }
static float divide(float a, float b) { return a / b; }

/* Combine two tensors of the same shape, or a tensor and a number, elementwise. */
static int combine(lua_State *L, const char *what, float (*with)(float a, float b))
{
    const ReplTensor *a = repl_tensor_at(L, 1), *b = repl_tensor_at(L, 2), *like = a ? a : b;
    for (int i = 1; i <= 2; i++)
        if (!repl_tensor_at(L, i) && lua_type(L, i) != LUA_TNUMBER)
            return luaL_error(L, "%s: a tensor cannot be combined with a %s, only with a tensor or a number", what, luaL_typename(L, i));
    if (a && b) need_one_shape(L, what, a, b);
    const float left = a ? 0 : (float)lua_tonumber(L, 1), right = b ? 0 : (float)lua_tonumber(L, 2);
    ReplTensor *t = repl_push_tensor(L, like->name, like->rank, like->shape, like->values);
    const int64_t n = repl_tensor_elements(t);
    for (int64_t i = 0; i < n; i++) t->values[i] = with(a ? a->values[i] : left, b ? b->values[i] : right);
    return 1;
}

static int plus(lua_State *L) { return combine(L, "t + u", add); }
static int minus(lua_State *L) { return combine(L, "t - u", subtract); }
static int times(lua_State *L) { return combine(L, "t * u", multiply); }
static int over(lua_State *L) { return combine(L, "t / u", divide); }

static int negative(lua_State *L)
{
    const ReplTensor *from = repl_check_tensor(L, 1);
    ReplTensor *t = repl_push_tensor(L, from->name, from->rank, from->shape, from->values);
    const int64_t n = repl_tensor_elements(t);
    for (int64_t i = 0; i < n; i++) t->values[i] = -t->values[i];
    return 1;
}

void repl_add_math(lua_State *L, int meta, int methods)
{
    static const ReplFunction named[] = {
        { "min", least, "axis whole?" }, { "max", most, "axis whole?" },
        { "mean", mean, "axis whole?" }, { "sum", sum, "axis whole?" },
        { "argmax", argmax, "axis whole?" }, { "distance", distance, "other tensor" },
        { NULL, NULL, NULL }
    };
    static const luaL_Reg signs[] = { { "__add", plus }, { "__sub", minus }, { "__mul", times }, { "__div", over }, { "__unm", negative },
                                      { NULL, NULL } };
    lua_pushvalue(L, meta);
    luaL_setfuncs(L, signs, 0);
    lua_pop(L, 1);
    lua_pushvalue(L, methods);
    repl_set_functions(L, "t:", named);
    lua_pop(L, 1);
}
