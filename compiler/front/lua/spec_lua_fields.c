/* spec_lua_fields.c: read a Lua table of fields into the Choices of a Draft. Errors point at the
 * field. */
#include "spec_lua.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "text.h"

enum { MAX_KEYS = 256, MAX_LIST = 1024, LONGEST_KEY = 64 };

/* The table being read: that of a whole spec, of one stack, or of a group of fields. */
typedef struct Fields {
    lua_State *L;
    SpecReader *reader;
    Draft *draft;
    Side side;
    const char *group;              /* such as "unroll", where `layers` means unroll_layers; or
                                     * NULL */
    Loc call;
    const char *method;
} Fields;

/* again: the place of a duplicate; line 0: none */
typedef struct Key { const char *name; Loc at, again; } Key;

static const char *const side_names[] = { NULL, "encoder", "decoder" };
static const char *const groups[] = { "unroll", "head", "generation" };

#define wrong(f, at, ...) diag_error((f)->reader->diag, EXIT_BAD_DATA, at, __VA_ARGS__)

/* ---- values --------------------------------------------------------------------------------------------- */

const char *spec_text(lua_State *L, int index, Loc at, const char *what)
{
    SpecReader *r = spec_reader(L);
    size_t size, done = 0;
    int length = 1;
    enum { LONGEST = 4096 };
    if (lua_type(L, index) != LUA_TSTRING) {
        diag_error(r->diag, EXIT_BAD_DATA, at, "%s must be a string, found %s", what, spec_describe(L, index));
        return NULL;
    }
    const char *s = lua_tolstring(L, index, &size);
    if (size > LONGEST) {
        diag_error(r->diag, EXIT_BAD_DATA, at, "%s is longer than %d bytes", what, LONGEST);
        return NULL;
    }
    for (int32_t c; done < size && length; done += (size_t)length) {
        length = utf8_next(s + done, size - done, &c);
        if (length && !c) length = 0;
    }
    if (size && length) return arena_copy(r->arena, s, size);
    diag_error(r->diag, EXIT_BAD_DATA, at, size ? "%s must be UTF-8 text without zero bytes" : "%s is empty", what);
    return NULL;
}

int64_t spec_list(lua_State *L, int index)
{
    int64_t n = 0, last = 0;
    int table = lua_absindex(L, index), whole;
    for (lua_pushnil(L); lua_next(L, table); lua_pop(L, 1), n++) {
        lua_Integer key = lua_type(L, -2) == LUA_TNUMBER ? lua_tointegerx(L, -2, &whole) : 0;
        if (key < 1) {
            lua_pop(L, 2);
            return -1;
        }
        if (key > last) last = key;
    }
    return last == n ? n : -1;
}

static bool read_number(const Fields *f, const Field *field, const char *what, Loc at, FieldValue *v)
{
    bool whole = field->type == TYPE_INT;
    int exact = 0;
    if (lua_type(f->L, -1) == LUA_TNUMBER) {
        v->real = lua_tonumber(f->L, -1);
        v->integer = lua_tointegerx(f->L, -1, &exact);
        if (!whole) exact = isfinite(v->real);
    }
    if (!exact) {
        wrong(f, at, "%s must be a %s, found %s", what, whole ? "whole number" : "finite number", spec_describe(f->L, -1));
        return false;
    }
    return field_check(f->reader->diag, at, field, what, spec_describe(f->L, -1), v);
}

static bool read_word(const Fields *f, const Field *field, const char *what, Loc at, FieldValue *v)
{
    const char *choices = text_list(f->reader->arena, field->words, field->word_count);
    if (lua_isboolean(f->L, -1)) {              /* the words may include true and false */
        const int word = field_word(field, lua_toboolean(f->L, -1) ? "true" : "false");
        v->integer = word;
        if (word >= 0) return true;
    }
    if (lua_type(f->L, -1) != LUA_TSTRING) {
        wrong(f, at, "%s must be one of %s; found %s", what, choices, spec_describe(f->L, -1));
        return false;
    }
    size_t size;
    const char *word = lua_tolstring(f->L, -1, &size);
    for (int i = 0; i < field->word_count; i++) {
        if (strlen(field->words[i]) != size || strcmp(field->words[i], word)) continue;
        v->integer = i;
        return true;
    }
    if (strlen(word) != size) {
        wrong(f, at, "%s contains a zero byte; the choices are %s", what, choices);
        return false;
    }
    const char *near = diag_nearest(word, field->words, field->word_count);
    wrong(f, at, "%s cannot be %s; the choices are %s", what, spec_describe(f->L, -1), choices);
    if (near) diag_note(f->reader->diag, at, "did you mean \"%s\"?", near);
    return false;
}

static bool read_path(const Fields *f, const char *what, Loc at, FieldValue *v)
{
    v->text = spec_text(f->L, -1, at, what);
    if (!v->text) return false;
    if (strcmp(what, "weights") || strcmp(v->text, "random"))
        v->text = file_join(f->reader->arena, f->reader->folder, v->text);
    return true;
}

static bool read_numbers(const Fields *f, const Field *field, const char *what, Loc at, FieldValue *v)
{
    int64_t n = lua_istable(f->L, -1) ? spec_list(f->L, -1) : -1;
    if (n < 1 || n > MAX_LIST) {
        if (!lua_istable(f->L, -1)) wrong(f, at, "%s must be a list of numbers, found %s", what, spec_describe(f->L, -1));
        else wrong(f, at, "%s must be a plain list of 1 to %d numbers", what, MAX_LIST);
        return false;
    }
    double *values = arena_array(f->reader->arena, (size_t)n, sizeof *values);
    Numbers *list = arena_alloc(f->reader->arena, sizeof *list);
    bool good = true;
    for (int i = 0; i < (int)n; i++) {
        FieldValue one = { 0, 0, NULL, NULL };
        lua_rawgeti(f->L, -1, i + 1);
        good &= read_number(f, field, arena_format(f->reader->arena, "%s[%d]", what, i + 1), at, &one);
        lua_pop(f->L, 1);
        values[i] = one.real;
    }
    *list = (Numbers){ (int)n, values };
    v->list = list;
    return good;
}

/* Read the ids of the plain list on top of the stack into values[count]; false after errors. */
static bool read_id_list(const Fields *f, const Field *field, const char *what, Loc at, double *values, int count)
{
    Field one = *field;
    bool good = true;
    one.type = TYPE_INT;
    for (int i = 0; i < count; i++) {
        FieldValue id = { 0, 0, NULL, NULL };
        lua_rawgeti(f->L, -1, i + 1);
        good &= read_number(f, &one, arena_format(f->reader->arena, "%s[%d]", what, i + 1), at, &id);
        lua_pop(f->L, 1);
        values[i] = (double)id.integer;
    }
    return good;
}

static const Numbers *numbers_of(const Fields *f, double *values, int n)
{
    Numbers *list = arena_alloc(f->reader->arena, sizeof *list);
    *list = (Numbers){ n, values };
    return list;
}

/* The length of the plain list on top of the stack; 0 after an error. */
static int count_list(const Fields *f, const char *what, const char *of, Loc at)
{
    const int64_t n = lua_istable(f->L, -1) ? spec_list(f->L, -1) : -1;
    if (n >= 1 && n <= MAX_LIST) return (int)n;
    if (!lua_istable(f->L, -1)) wrong(f, at, "%s must be a list of %s, found %s", what, of, spec_describe(f->L, -1));
    else wrong(f, at, "%s must be a plain list of 1 to %d %s", what, MAX_LIST, of);
    return 0;
}

/* A single id is a list of one. */
static bool read_ids(const Fields *f, const Field *field, const char *what, Loc at, FieldValue *v)
{
    const bool alone = lua_type(f->L, -1) == LUA_TNUMBER;
    if (!alone && !lua_istable(f->L, -1)) {
        wrong(f, at, "%s must be an id or a list of ids, found %s", what, spec_describe(f->L, -1));
        return false;
    }
    const int n = alone ? 1 : count_list(f, what, "ids", at);
    double *values = arena_array(f->reader->arena, (size_t)n, sizeof *values);
    Field one = *field;
    one.type = TYPE_INT;
    if (!n || !(alone ? read_number(f, &one, what, at, v) : read_id_list(f, field, what, at, values, n))) return false;
    if (alone) values[0] = (double)v->integer;
    v->list = numbers_of(f, values, n);
    return true;
}

static bool read_sequences(const Fields *f, const Field *field, const char *what, Loc at, FieldValue *v)
{
    const int n = count_list(f, what, "lists of ids", at);
    double *values = arena_array(f->reader->arena, (size_t)n * (MAX_LIST + 1), sizeof *values);
    int used = 0;
    bool good = n > 0;
    for (int i = 0; i < n && good; i++) {
        const char *which = arena_format(f->reader->arena, "%s[%d]", what, i + 1);
        lua_rawgeti(f->L, -1, i + 1);
        const int count = count_list(f, which, "ids", at);
        values[used++] = count;
        good = count && read_id_list(f, field, which, at, values + used, count);
        used += count;
        lua_pop(f->L, 1);
    }
    if (good) v->list = numbers_of(f, values, used);
    return good;
}

static bool read_bool(const Fields *f, const char *what, Loc at, FieldValue *v)
{
    v->integer = lua_toboolean(f->L, -1);
    if (lua_isboolean(f->L, -1)) return true;
    wrong(f, at, "%s must be true or false, found %s", what, spec_describe(f->L, -1));
    return false;
}

/* Read the value on top of the stack, which messages call `what`; false after errors. */
static bool read_value(const Fields *f, const Field *field, const char *what, Loc at, FieldValue *v)
{
    switch (field->type) {
    case TYPE_INT: case TYPE_REAL: return read_number(f, field, what, at, v);
    case TYPE_BOOL: return read_bool(f, what, at, v);
    case TYPE_WORD: return read_word(f, field, what, at, v);
    case TYPE_PATH: return read_path(f, what, at, v);
    case TYPE_NUMBERS: return read_numbers(f, field, what, at, v);
    case TYPE_IDS: return read_ids(f, field, what, at, v);
    case TYPE_SEQUENCES: return read_sequences(f, field, what, at, v);
    case TYPE_TEXT: return (v->text = spec_text(f->L, -1, at, what)) != NULL;
    }
    return false;
}

/* ---- fields --------------------------------------------------------------------------------------------- */

static void read_list(const Fields *f, const Field *field, Choice *c)
{
    int64_t n = spec_list(f->L, -1);
    if (n < 0) wrong(f, c->at, "%s must be a plain list, { 1, 2, … }, without holes or names", field->name);
    if (n == 0) wrong(f, c->at, "%s is an empty list", field->name);
    if (n > MAX_LIST) wrong(f, c->at, "%s lists %" PRId64 " values; at most %d are allowed", field->name, n, MAX_LIST);
    if (n < 1 || n > MAX_LIST) return;
    FieldValue *values = arena_array(f->reader->arena, (size_t)n, sizeof *values);
    bool good = true;
    for (int i = 0; i < (int)n; i++) {
        const char *what = arena_format(f->reader->arena, "%s[%d]", field->name, i + 1);
        lua_rawgeti(f->L, -1, i + 1);
        good &= read_value(f, field, what, c->at, &values[i]);
        lua_pop(f->L, 1);
    }
    if (!good) return;
    c->values = values;
    c->count = (int)n;
}

/* True if the list is one value of type NUMBERS, not a list of such values. */
static bool is_one_list(const Fields *f, const Field *field)
{
    if (field->type != TYPE_NUMBERS) return false;
    bool tables = lua_rawgeti(f->L, -1, 1) == LUA_TTABLE;
    lua_pop(f->L, 1);
    return !tables;
}

static void read_choice(const Fields *f, const Field *field, Loc at)
{
    Choice c = { .at = at };
    if (lua_istable(f->L, -1) && (field->scope == SCOPE_LAYER || field->scope == SCOPE_LIST) && !is_one_list(f, field)) {
        read_list(f, field, &c);
    } else {
        c.values = arena_alloc(f->reader->arena, sizeof *c.values);
        c.count = read_value(f, field, field->name, at, c.values);
    }
    if (c.count) f->draft->choices[f->side][field - fields] = c;
}

static void read_table(const Fields *f);

static void read_side(const Fields *f, Side side, Loc at)
{
    if (!lua_istable(f->L, -1)) {
        wrong(f, at, "%s must be a table of fields, found %s", side_names[side], spec_describe(f->L, -1));
        return;
    }
    Fields nested = *f;
    nested.side = side;
    read_table(&nested);
}

/* A graph has its own sizes: only these fields of a model apply to it. */
static bool fits_graph(const Field *field)
{
    FieldId id = (FieldId)(field - fields);
    return id == FIELD_ID_name || id == FIELD_ID_weights || id == FIELD_ID_seed ||
           id == FIELD_ID_dtype || id == FIELD_ID_kv_dtype;
}

/* The group of fields with that name, or NULL. */
static const char *group_of(const char *name)
{
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++)
        if (!strcmp(groups[i], name)) return groups[i];
    return NULL;
}

static const Field *field_of_group(const Fields *f, const char *name)
{
    const Field *field = field_find(arena_format(f->reader->arena, "%s_%s", f->group, name));
    /* head_dim is a field of layers, not of head */
    return field && field->scope <= SCOPE_LIST ? field : NULL;
}

static void unknown_in_group(const Fields *f, Key key)
{
    const char *names[FIELD_COUNT];
    const size_t length = strlen(f->group);
    int n = 0;
    for (int i = 0; i < FIELD_COUNT; i++)
        if (!strncmp(fields[i].name, f->group, length) && fields[i].name[length] == '_' && fields[i].scope <= SCOPE_LIST)
            names[n++] = fields[i].name + length + 1;
    const char *near = diag_nearest(key.name, names, n);
    if (near) wrong(f, key.at, "%s has no field \"%s\"; did you mean \"%s\"?", f->group, key.name, near);
    else wrong(f, key.at, "%s has no field \"%s\"", f->group, key.name);
}

static void read_group(const Fields *f, const char *group, Loc at)
{
    if (!lua_istable(f->L, -1)) {
        wrong(f, at, "%s must be a table of fields, found %s", group, spec_describe(f->L, -1));
        return;
    }
    Fields nested = *f;
    nested.group = group;
    read_table(&nested);
}

/* Read dtype = { default = "int8", ["output"] = "f32" }: the field and its patterns. */
static void read_dtypes(const Fields *f, Loc at);

static Side side_of(const char *name)
{
    return !strcmp(name, "encoder") ? SIDE_ENCODER : !strcmp(name, "decoder") ? SIDE_DECODER : SIDE_BOTH;
}

static void read_field(const Fields *f, Key key)
{
    const Field *field = f->group ? field_of_group(f, key.name) : field_find(key.name);
    Side side = f->side == SIDE_BOTH && !f->group ? side_of(key.name) : SIDE_BOTH;
    if (f->draft->graph && (side || !field || !fits_graph(field))) {
        wrong(f, key.at, "a graph has no field \"%s\", only name, weights, seed, dtype and kv_dtype",
              key.name);
    } else if (side) {
        read_side(f, side, key.at);
    } else if (f->side == SIDE_BOTH && !f->group && group_of(key.name)) {
        read_group(f, group_of(key.name), key.at);
    } else if (!field && f->group) {
        unknown_in_group(f, key);
    } else if (!field && group_of(key.name)) {
        wrong(f, key.at, "%s belongs to the whole model, not to the %s", key.name, side_names[f->side]);
    } else if (!field) {
        const char *near = field_nearest(key.name, f->side != SIDE_BOTH);
        if (near) wrong(f, key.at, "unknown field \"%s\"; did you mean \"%s\"?", key.name, near);
        else wrong(f, key.at, "unknown field \"%s\"", key.name);
    } else if (f->side != SIDE_BOTH && field->scope <= SCOPE_LIST) {
        wrong(f, key.at, "%s belongs to the whole model, not to the %s", key.name, side_names[f->side]);
    } else if (field == &fields[FIELD_ID_dtype] && lua_istable(f->L, -1)) {
        read_dtypes(f, key.at);
    } else {
        if (field == &fields[FIELD_ID_dtype]) f->draft->dtype_rule_count = 0;
        read_choice(f, field, key.at);
    }
}

/* ---- tables --------------------------------------------------------------------------------------------- */

static int by_place(const void *a, const void *b)
{
    const Key *x = a, *y = b;
    if (x->at.line != y->at.line) return x->at.line < y->at.line ? -1 : 1;
    if (x->at.column != y->at.column) return x->at.column < y->at.column ? -1 : 1;
    return strcmp(x->name, y->name);
}

static Key key_named(const Fields *f, const char *name)
{
    Key k = { name, f->call, { f->call.file, 0, 0 } };
    lexer_field(f->reader->lexer, f->call.line, f->method, f->group ? f->group : side_names[f->side], name, &k.at, &k.again);
    return k;
}

static int collect_keys(const Fields *f, Key *keys)
{
    int n = 0;
    for (lua_pushnil(f->L); lua_next(f->L, -2); lua_pop(f->L, 1)) {
        if (lua_type(f->L, -2) != LUA_TSTRING) {
            wrong(f, f->call, "a field needs a name: %s has none", spec_describe(f->L, -1));
            continue;
        }
        if (n == MAX_KEYS) {
            wrong(f, f->call, "more than %d fields", MAX_KEYS);
            lua_pop(f->L, 2);
            break;
        }
        size_t size;
        const char *name = lua_tolstring(f->L, -2, &size);
        if (memchr(name, 0, size)) {
            wrong(f, f->call, "a field name contains a zero byte");
            continue;
        }
        sandbox_charge(f->L, lexer_tokens(f->reader->lexer) / 100);
        /* No field has a longer name, but patterns of dtype may be longer. */
        const bool cut = size > LONGEST_KEY && !(f->group && strcmp(f->group, "dtype") == 0);
        keys[n++] = key_named(f, arena_copy(f->reader->arena, name, cut ? LONGEST_KEY : size));
    }
    return n;
}

/* Read the table on top of the stack, in the source order of its fields. */
static void read_table(const Fields *f)
{
    Key *keys = arena_array(f->reader->arena, MAX_KEYS, sizeof *keys);
    luaL_checkstack(f->L, 16, "fields");
    int n = collect_keys(f, keys);
    qsort(keys, (size_t)n, sizeof *keys, by_place);
    for (int i = 0; i < n; i++) {
        if (keys[i].again.line) wrong(f, keys[i].again, "%s is given twice; first on line %d", keys[i].name, keys[i].at.line);
        lua_pushstring(f->L, keys[i].name);
        lua_rawget(f->L, -2);
        read_field(f, keys[i]);
        lua_pop(f->L, 1);
    }
}

static void read_dtypes(const Fields *f, Loc at)
{
    Arena *a = f->reader->arena;
    const Field *field = &fields[FIELD_ID_dtype];
    Fields nested = *f;
    nested.group = "dtype";
    Key *keys = arena_array(a, MAX_KEYS, sizeof *keys);
    const int n = collect_keys(&nested, keys);
    DtypeRule *rules = arena_array(a, (size_t)n, sizeof *rules);
    f->draft->dtype_rules = rules, f->draft->dtype_rule_count = 0;
    draft_set_word(a, f->draft, FIELD_ID_dtype, at, "f32");
    qsort(keys, (size_t)n, sizeof *keys, by_place);
    for (int i = 0; i < n; i++) {
        const bool preset = !strcmp(keys[i].name, "default");
        FieldValue v = { 0, 0, NULL, NULL };
        if (keys[i].again.line) wrong(f, keys[i].again, "%s is given twice; first on line %d", keys[i].name, keys[i].at.line);
        lua_pushstring(f->L, keys[i].name);
        lua_rawget(f->L, -2);
        const char *what = arena_format(a, preset ? "dtype.%s" : "dtype[\"%s\"]", keys[i].name);
        const bool good = read_word(f, field, what, keys[i].at, &v);
        lua_pop(f->L, 1);
        if (good && preset) draft_set_word(a, f->draft, FIELD_ID_dtype, keys[i].at, field->words[v.integer]);
        else if (good) rules[f->draft->dtype_rule_count++] = (DtypeRule){ keys[i].name, (int)v.integer, keys[i].at };
    }
}

void spec_read_fields(lua_State *L, int index, Draft *draft, Loc call, const char *method)
{
    Fields f = { L, spec_reader(L), draft, SIDE_BOTH, NULL, call, method };
    lua_pushvalue(L, index);
    read_table(&f);
    lua_pop(L, 1);
}
