/* spec_lua_sandbox.c: a Lua state in which a spec can do no harm, stays within limits and is
 * deterministic. Functions that read files or may run forever inside C are left out, and so is
 * everything that differs between runs, such as addresses and the order of hash tables. */
#include "spec_lua.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

/* One instruction may compare two strings of MAX_STRING bytes, which takes milliseconds, so the
 * hook runs often. */
enum { COUNT_STEP = 10, BYTES_OF_INSTRUCTION = 64, LOOK_NS = 20000000 };

/* ---- memory --------------------------------------------------------------------------------------------- */

/* For a new block, Lua passes the type of the object in old_size. */
static void *limited_alloc(void *user, void *old, size_t old_size, size_t size)
{
    Sandbox *s = user;
    size_t before = old ? old_size : 0;
    if (!size) {
        free(old);
        s->used -= before;
        return NULL;
    }
    if (size > before) {
        if (!old && old_size == LUA_TSTRING && size > MAX_STRING) return NULL;
        if (s->used - before + size > MAX_MEMORY) return NULL;
        s->allocated += size - before;
        if (s->allocated > (uint64_t)MAX_ALLOCATED_MB << 20) {
            s->stop = STOP_MEMORY;
            return NULL;
        }
    }
    void *p = realloc(old, size);
    if (!p && size > before) no_memory("%zu bytes of Lua", size);
    s->used += size - before;
    return p ? p : old;
}

/* ---- instructions and time ------------------------------------------------------------------------------ */

int sandbox_seconds = 5;

/* Once stopped, every further instruction raises an error, so pcall cannot continue the spec. */
static void stop(lua_State *L, Stop why);

static int64_t clock_ns(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

/* Reading the processor time needs a system call, and reading the monotonic clock does not, so read
 * the monotonic clock first. At the prompt there is no time limit. */
static void look_at_clock(lua_State *L)
{
    Sandbox *s = &spec_reader(L)->sandbox;
    const int64_t now = s->started_ns ? clock_ns(CLOCK_MONOTONIC) : 0;
    if (!now || now - s->looked_ns < LOOK_NS) return;
    s->looked_ns = now;
    const int64_t used = clock_ns(CLOCK_THREAD_CPUTIME_ID) - s->started_ns;
    if (used > sandbox_seconds * INT64_C(1000000000)) stop(L, STOP_TIME);
}

static void count(lua_State *L, lua_Debug *debug)
{
    (void)debug;
    Sandbox *s = &spec_reader(L)->sandbox;
    if (s->stop) stop(L, s->stop);
    sandbox_charge(L, COUNT_STEP);
}

static void stop(lua_State *L, Stop why)
{
    SpecReader *r = spec_reader(L);
    if (!r->sandbox.at.line) r->sandbox.at = spec_call(L, "");
    r->sandbox.stop = why;
    lua_sethook(L, count, LUA_MASKCOUNT, 1);
    lua_pushliteral(L, "stopped");
    lua_error(L);
}

void sandbox_charge(lua_State *L, int64_t n)
{
    Sandbox *s = &spec_reader(L)->sandbox;
    s->instructions += n;
    if (s->instructions > MAX_INSTRUCTIONS) stop(L, STOP_INSTRUCTIONS);
    look_at_clock(L);
}

void sandbox_charge_bytes(lua_State *L, size_t n)
{
    Sandbox *s = &spec_reader(L)->sandbox;
    s->bytes += (int64_t)n;
    const int64_t whole = s->bytes / BYTES_OF_INSTRUCTION;
    s->bytes -= whole * BYTES_OF_INSTRUCTION;
    if (whole) sandbox_charge(L, whole);
}

/* ---- the library ---------------------------------------------------------------------------------------- */

/* tostring without addresses. */
static int plain_tostring(lua_State *L)
{
    luaL_checkany(L, 1);
    int type = lua_type(L, 1);
    if (type == LUA_TNUMBER || type == LUA_TSTRING || type == LUA_TBOOLEAN || type == LUA_TNIL) luaL_tolstring(L, 1, NULL);
    else lua_pushstring(L, luaL_typename(L, 1));
    return 1;
}

/* Call the wrapped function, upvalue 1, with all arguments; return its first result. */
static int call_wrapped(lua_State *L)
{
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_insert(L, 1);
    lua_call(L, lua_gettop(L) - 1, 1);
    return 1;
}

/* True if a format has %p, with any flags, width or precision. A format may contain zero bytes. */
static bool asks_for_address(const char *format, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (format[i] != '%') continue;
        do i++; while (i < n && format[i] && strchr("-+ #0123456789.", format[i]));
        if (i < n && format[i] == 'p') return true;
    }
    return false;
}

/* string.format: values other than numbers, strings, booleans and nil become the name of their
 * type, and %p is an error. */
static int plain_format(lua_State *L)
{
    size_t size;
    const char *format = luaL_checklstring(L, 1, &size);
    const int n = lua_gettop(L);
    if (asks_for_address(format, size)) return luaL_error(L, "string.format: %%p is not available");
    for (int i = 2; i <= n; i++) {
        if (lua_isstring(L, i)) size += lua_rawlen(L, i);
        if (lua_isnumber(L, i) || lua_isboolean(L, i) || lua_isnil(L, i) || lua_isstring(L, i)) continue;
        lua_pushstring(L, luaL_typename(L, i));
        lua_replace(L, i);
    }
    sandbox_charge_bytes(L, size);
    return call_wrapped(L);
}

/* Wrap a function whose work is proportional to the length of its first argument, a string. */
static int charged_text(lua_State *L)
{
    if (lua_type(L, 1) == LUA_TSTRING) sandbox_charge_bytes(L, lua_rawlen(L, 1));
    return call_wrapped(L);
}

static int bounded_rep(lua_State *L)
{
    size_t size, between;
    luaL_checklstring(L, 1, &size);
    lua_Integer n = luaL_checkinteger(L, 2);
    luaL_optlstring(L, 3, "", &between);
    if (size + between == 0) {      /* string.rep would loop n times for nothing */
        lua_pushliteral(L, "");
        return 1;
    }
    if (n > 0 && (size_t)n > (MAX_STRING + between) / (size + between))
        return luaL_error(L, "string.rep: the result would be longer than %d bytes", MAX_STRING);
    if (n > 0) sandbox_charge_bytes(L, (size_t)n * (size + between) - between);
    return call_wrapped(L);
}

/* The total bytes of the strings in the list at 1, for table.concat. Counting ends above
 * MAX_MEMORY. */
static size_t bytes_of_list(lua_State *L)
{
    size_t bytes = 0;
    const lua_Integer n = (lua_Integer)lua_rawlen(L, 1);
    for (lua_Integer i = 1; i <= n && bytes <= MAX_MEMORY; i++) {
        lua_rawgeti(L, 1, i);
        bytes += lua_rawlen(L, -1);
        lua_pop(L, 1);
    }
    return bytes;
}

static int charged_concat(lua_State *L)
{
    if (lua_istable(L, 1)) {
        sandbox_charge(L, (int64_t)lua_rawlen(L, 1) / 4);
        sandbox_charge_bytes(L, bytes_of_list(L));
    }
    return call_wrapped(L);
}

/* Charge for table.insert, which moves elements inside C. */
static int charged(lua_State *L)
{
    if (lua_istable(L, 1)) sandbox_charge(L, (int64_t)lua_rawlen(L, 1) / 16);
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_insert(L, 1);
    lua_call(L, lua_gettop(L) - 1, LUA_MULTRET);
    return lua_gettop(L);
}

/* Appending moves no elements and is not charged. */
static int charged_insert(lua_State *L)
{
    if (lua_gettop(L) == 2 && lua_istable(L, 1)) {
        lua_rawseti(L, 1, (lua_Integer)lua_rawlen(L, 1) + 1);
        return 0;
    }
    return charged(L);
}

/* The order of keys: numbers before strings, each ascending. */
static bool key_before(lua_State *L, int a, int b)
{
    int x = lua_type(L, a), y = lua_type(L, b);
    if (x == LUA_TSTRING && y == LUA_TSTRING)
        sandbox_charge_bytes(L, lua_rawlen(L, a) + lua_rawlen(L, b));
    return x != y ? x == LUA_TNUMBER : lua_compare(L, a, b, LUA_OPLT);
}

/* Merge sort of elements `from` to `to`, exclusive, of the list at stack index 3; the table at 4 is
 * scratch. */
static void sort_keys(lua_State *L, lua_Integer from, lua_Integer to)
{
    if (to - from < 2) return;
    lua_Integer middle = from + (to - from) / 2, i = from, j = middle;
    luaL_checkstack(L, 8, "pairs");
    sort_keys(L, from, middle);
    sort_keys(L, middle, to);
    for (lua_Integer k = from; k < to; k++) {
        lua_rawgeti(L, 3, i);
        lua_rawgeti(L, 3, j);
        bool left = j == to || (i < middle && !key_before(L, -1, -2));
        lua_pop(L, left ? 1 : 0);
        if (!left) lua_remove(L, -2);
        lua_rawseti(L, 4, k);
        if (left) i++;
        else j++;
    }
    for (lua_Integer k = from; k < to; k++) {
        lua_rawgeti(L, 4, k);
        lua_rawseti(L, 3, k);
    }
}

/* The iterator of pairs. Upvalues: the sorted keys, and the index of the next. Keys that were
 * removed during the iteration are skipped. */
static int next_pair(lua_State *L)
{
    lua_Integer i = lua_tointeger(L, lua_upvalueindex(2));
    for (;; i++) {
        lua_settop(L, 1);
        if (lua_rawgeti(L, lua_upvalueindex(1), i) == LUA_TNIL) return 1;
        lua_pushvalue(L, -1);
        if (lua_rawget(L, 1) != LUA_TNIL) break;
        sandbox_charge(L, 1);
    }
    lua_pushinteger(L, i + 1);
    lua_replace(L, lua_upvalueindex(2));
    return 2;
}

/* pairs in the order of keys, since hash order differs between runs. */
static int sorted_pairs(lua_State *L)
{
    luaL_checktype(L, 1, LUA_TTABLE);
    lua_settop(L, 1);
    lua_pushnil(L);
    lua_newtable(L);
    lua_newtable(L);
    lua_Integer n = 0;
    for (lua_pushnil(L); lua_next(L, 1); lua_pop(L, 1)) {
        int type = lua_type(L, -2);
        sandbox_charge(L, 4);
        if (type != LUA_TSTRING && type != LUA_TNUMBER)
            return luaL_error(L, "pairs: a key is a %s; only numbers and strings are allowed", lua_typename(L, type));
        lua_pushvalue(L, -2);
        lua_rawseti(L, 3, ++n);
    }
    sort_keys(L, 1, n + 1);
    lua_pushvalue(L, 3);
    lua_pushinteger(L, 1);
    lua_pushcclosure(L, next_pair, 2);
    lua_pushvalue(L, 1);
    return 2;
}

/* Copy `names` from the table on top to the table below it. */
static void copy_fields(lua_State *L, const char *const *names)
{
    for (; *names; names++) {
        lua_getfield(L, -1, *names);
        lua_setfield(L, -3, *names);
    }
}

/* Set field `name` of the table below the top to `wrap`, whose upvalue is the function of that name
 * in the table on top. */
static void wrap_field(lua_State *L, const char *name, lua_CFunction wrap)
{
    lua_getfield(L, -1, name);
    lua_pushcclosure(L, wrap, 1);
    lua_setfield(L, -3, name);
}

static void open_base(lua_State *L)
{
    static const char *const names[] = { "ipairs", "type", "select", "error", "assert", "pcall", NULL };
    luaL_requiref(L, LUA_GNAME, luaopen_base, 0);
    copy_fields(L, names);
    wrap_field(L, "tonumber", charged_text);
    lua_pop(L, 1);
    lua_pushcfunction(L, sorted_pairs);
    lua_setfield(L, -2, "pairs");
    lua_pushcfunction(L, plain_tostring);
    lua_setfield(L, -2, "tostring");
}

static void open_math(lua_State *L)
{
    luaL_requiref(L, LUA_MATHLIBNAME, luaopen_math, 0);
    lua_pushnil(L);
    lua_setfield(L, -2, "random");
    lua_pushnil(L);
    lua_setfield(L, -2, "randomseed");
    lua_setfield(L, -2, LUA_MATHLIBNAME);
}

static void open_table(lua_State *L)
{
    lua_newtable(L);
    luaL_requiref(L, LUA_TABLIBNAME, luaopen_table, 0);
    wrap_field(L, "insert", charged_insert);
    wrap_field(L, "concat", charged_concat);
    lua_pop(L, 1);
    lua_setfield(L, -2, LUA_TABLIBNAME);
}

/* Make the table `string`. The methods of strings are limited to its functions. */
static void open_string(lua_State *L)
{
    static const char *const names[] = { "sub", "upper", "lower" };
    lua_newtable(L);
    luaL_requiref(L, LUA_STRLIBNAME, luaopen_string, 0);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) wrap_field(L, names[i], charged_text);
    wrap_field(L, "format", plain_format);
    wrap_field(L, "rep", bounded_rep);
    lua_pop(L, 1);
    lua_pushliteral(L, "");
    lua_getmetatable(L, -1);
    lua_pushvalue(L, -3);
    lua_setfield(L, -2, "__index");
    lua_pop(L, 2);
    lua_setfield(L, -2, LUA_STRLIBNAME);
}

static int open_all(lua_State *L)
{
    lua_newtable(L);
    open_base(L);
    open_math(L);
    open_table(L);
    open_string(L);
    return 1;
}

lua_State *sandbox_new(SpecReader *r)
{
    r->sandbox.started_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    lua_State *L = lua_newstate(limited_alloc, &r->sandbox);
    if (!L) return NULL;
    *(SpecReader **)lua_getextraspace(L) = r;
    lua_pushcfunction(L, open_all);
    if (lua_pcall(L, 0, 1, 0) != LUA_OK) {
        lua_close(L);
        return NULL;
    }
    lua_sethook(L, count, LUA_MASKCOUNT, COUNT_STEP);
    return L;
}
