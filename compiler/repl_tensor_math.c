/* repl_tensor_math.c: what is computed of tensors at the prompt: sums and extremes, distances, arithmetic number by number. */
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
        if (!isfinite(x)) r.strange++;
        r.least = fmin(r.least, x);
        r.most = fmax(r.most, x);
        r.sum += x;
    }
    r.mean = n ? r.sum / (double)n : 0;
    return r;
}

static int least(lua_State *L) { return lua_pushnumber(L, repl_range(repl_check_tensor(L, 1)).least), 1; }
static int most(lua_State *L) { return lua_pushnumber(L, repl_range(repl_check_tensor(L, 1)).most), 1; }
static int mean(lua_State *L) { return lua_pushnumber(L, repl_range(repl_check_tensor(L, 1)).mean), 1; }
static int sum(lua_State *L) { return lua_pushnumber(L, repl_range(repl_check_tensor(L, 1)).sum), 1; }

/* The place of the first largest number, by one index for each dimension. */
static int argmax(lua_State *L)
{
    const ReplTensor *t = repl_check_tensor(L, 1);
    const int64_t n = repl_tensor_elements(t);
    int64_t best = 0;
    if (!n) return luaL_error(L, "argmax: the tensor is empty");
    for (int64_t i = 1; i < n; i++)
        if (t->values[i] > t->values[best]) best = i;
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
    luaL_error(L, "%s: the shapes differ: %s and %s", what, repl_shape_text(L, a->rank, a->shape), repl_shape_text(L, b->rank, b->shape));
}

/* max |a - b| / max |b|: the distance that `verify` has. */
static int distance(lua_State *L)
{
    const ReplTensor *a = repl_check_tensor(L, 1), *b = repl_check_tensor(L, 2);
    need_one_shape(L, "t:distance(u)", a, b);
    const int64_t n = repl_tensor_elements(a);
    const TraceTensor x = { a->name, 1, { n }, a->values }, y = { b->name, 1, { n }, b->values };
    lua_pushnumber(L, trace_distance(&x, &y));
    return 1;
}

/* ---- arithmetic -------------------------------------------------------------------------------------------------- */

static float add(float a, float b) { return a + b; }
static float subtract(float a, float b) { return a - b; }
static float multiply(float a, float b) { return a * b; }
static float divide(float a, float b) { return a / b; }

/* Number by number, of two tensors of one shape, or of a tensor and a number on either side. */
static int combine(lua_State *L, const char *what, float (*with)(float a, float b))
{
    const ReplTensor *a = repl_tensor_at(L, 1), *b = repl_tensor_at(L, 2), *like = a ? a : b;
    for (int i = 1; i <= 2; i++)
        if (!repl_tensor_at(L, i) && lua_type(L, i) != LUA_TNUMBER)
            return luaL_error(L, "%s: a tensor and a %s; tensors and numbers go together", what, luaL_typename(L, i));
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
    static const luaL_Reg named[] = { { "min", least }, { "max", most }, { "mean", mean }, { "sum", sum }, { "argmax", argmax },
                                      { "distance", distance }, { NULL, NULL } };
    static const luaL_Reg signs[] = { { "__add", plus }, { "__sub", minus }, { "__mul", times }, { "__div", over }, { "__unm", negative },
                                      { NULL, NULL } };
    lua_pushvalue(L, meta);
    luaL_setfuncs(L, signs, 0);
    lua_pop(L, 1);
    lua_pushvalue(L, methods);
    luaL_setfuncs(L, named, 0);
    lua_pop(L, 1);
}
