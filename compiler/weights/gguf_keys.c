/* gguf_keys.c: find and check the metadata keys of a GGUF file, with the table gguf_keys.def. */
#include "gguf.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "text.h"

/* WORD: a string without NUL. TOKEN: an id of the vocabulary. FOR_ALL_TOKENS: at least one item for
 * each token. FOR_EACH_TOKEN: exactly one. FOR_EACH_LAYER: an array has one item for each layer,
 * and all are equal. */
typedef enum Rule {
    FREE, WORD, POWER_OF_TWO, TOKEN, FOR_ALL_TOKENS, FOR_EACH_TOKEN, FOR_EACH_LAYER
} Rule;

/* types, items: bit t allows type t. */
typedef struct Row { const char *name; uint32_t types, items; double least, most; Rule rule; } Row;

enum {
    NONE = 0, U8 = 1 << GGUF_U8, I8 = 1 << GGUF_I8, U16 = 1 << GGUF_U16, U32 = 1 << GGUF_U32,
    I32 = 1 << GGUF_I32, F32 = 1 << GGUF_F32, BOOL = 1 << GGUF_BOOL, STRING = 1 << GGUF_STRING,
    ARRAY = 1 << GGUF_ARRAY
};

static const Row rows[] = {
#define GGUF_KEY(id, ...) [GGUF_KEY_##id] = { __VA_ARGS__ },
#include "gguf_keys.def"
#undef GGUF_KEY
};

static const char *const type_names[] = {
    "u8", "i8", "u16", "i16", "u32", "i32", "f32", "bool", "string", "array", "u64", "i64", "f64"
};
enum { TYPES = sizeof type_names / sizeof *type_names };

/* ---- finding ------------------------------------------------------------------------------ */

static bool of_architecture(GgufKeyId id) { return rows[id].name[0] == '.'; }

static bool is_key(const Gguf *g, GgufText name, GgufKeyId id)
{
    const GgufText before = of_architecture(id) ? g->architecture : (GgufText){ "", 0 };
    if (name.n < before.n || memcmp(name.s, before.s, before.n) != 0) return false;
    return gguf_is((GgufText){ name.s + before.n, name.n - before.n }, rows[id].name);
}

const GgufValue *gguf_find(const Gguf *g, GgufKeyId id)
{
    for (uint64_t i = 0; i < g->key_count; i++)
        if (is_key(g, g->keys[i].name, id)) return &g->keys[i].value;
    return NULL;
}

const char *gguf_key_name(Arena *a, const Gguf *g, GgufKeyId id)
{
    if (!of_architecture(id)) return rows[id].name;
    return arena_format(a, "%s%s", gguf_shown(a, g->architecture), rows[id].name);
}

/* ---- types -------------------------------------------------------------------------------- */

static const char *type_name(Arena *a, uint32_t type)
{
    return type < TYPES ? type_names[type] : arena_format(a, "%" PRIu32, type);
}

static const char *type_of(Arena *a, const GgufValue *v)
{
    if (v->type != GGUF_ARRAY) return type_name(a, v->type);
    return arena_format(a, "array of %s", type_name(a, v->items_type));
}

static void add_types(Text *text, uint32_t types, const char *before)
{
    for (uint32_t t = 0; t < TYPES; t++) {
        if (!(types >> t & 1)) continue;
        text_printf(text, "%s%s%s", text->size ? " or " : "", before, type_names[t]);
    }
}

static const char *expected_types(Arena *a, const Row *row)
{
    Text text = text_new(a);
    add_types(&text, row->types & ~(uint32_t)ARRAY, "");
    if (row->types & ARRAY) add_types(&text, row->items, "array of ");
    return text.data;
}

/* Unknown types, which have no bit, were reported by gguf_type_fault. */
static bool has_types(const Row *row, const GgufValue *v)
{
    return row->types >> v->type & 1 && (v->type != GGUF_ARRAY || row->items >> v->items_type & 1);
}

const char *gguf_type_fault(Arena *a, const GgufKey *key)
{
    const GgufValue *v = &key->value;
    const char *name = gguf_shown(a, key->name);
    if (v->type == GGUF_ARRAY && v->items_type == GGUF_ARRAY)
        return arena_format(a, "has key %s of type array of array; nested arrays are not supported", name);
    if (v->type >= TYPES || (v->type == GGUF_ARRAY && v->items_type >= TYPES))
        return arena_format(a, "has key %s of type %s; expected a type from 0 to %d", name,
                            type_of(a, v), TYPES - 1);
    return NULL;
}

/* ---- values ------------------------------------------------------------------------------- */

/* A key in a message: its name and type. */
static const char *shown(Arena *a, const Gguf *g, GgufKeyId id, const GgufValue *v)
{
    return arena_format(a, "key %s (%s)", gguf_key_name(a, g, id), type_of(a, v));
}

/* Describe the allowed numbers. most: the row's limit, or the last id of the vocabulary. */
static const char *expected_number(Arena *a, const Row *row, double most)
{
    if (row->least < -FLT_MAX) return "a number";
    if (row->least <= -FLT_MAX) return "a finite number";
    if (most < row->least) return "none: there are no tokens";
    if (row->rule == POWER_OF_TWO) return arena_format(a, "a power of two, at most %.15g", most);
    if (row->types & F32) return arena_format(a, "a number from %.9g to %.9g", row->least, most);
    return arena_format(a, "a number from %.15g to %.15g", row->least, most);
}

static bool fits(const Row *row, double most, double number)
{
    if (!(number >= row->least && number <= most)) return false;
    return row->rule != POWER_OF_TWO || fabs(exp2(round(log2(number))) - number) <= 0;
}

static const char *number_fault(Arena *a, const Gguf *g, GgufKeyId id, const GgufValue *v,
                                double number)
{
    const Row *row = &rows[id];
    const GgufValue *tokens = row->rule == TOKEN ? gguf_find(g, GGUF_KEY_TOKENS) : NULL;
    const double most = tokens ? (double)tokens->count - 1 : row->most;
    if (fits(row, most, number)) return NULL;
    const char *is = v->type == GGUF_ARRAY ? "with the item" : "=";
    return arena_format(a, "has %s %s %.*g; expected %s", shown(a, g, id, v), is,
                        row->types & F32 ? 9 : 15, number, expected_number(a, row, most));
}

/* Check the number of items of an array against the number of tokens or layers. */
static const char *count_fault(Arena *a, const Gguf *g, GgufKeyId id, const GgufValue *v)
{
    const Rule rule = rows[id].rule;
    const bool by_layer = rule == FOR_EACH_LAYER;
    const GgufValue *other = gguf_find(g, by_layer ? GGUF_KEY_LAYERS : GGUF_KEY_TOKENS);
    if (!other || rule < FOR_ALL_TOKENS) return NULL;
    const uint64_t wanted = by_layer ? other->bits : other->count;
    if (v->count == wanted || (rule == FOR_ALL_TOKENS && v->count > wanted)) return NULL;
    return arena_format(a, "has %s of %" PRIu64 " item%s; expected %s%" PRIu64 ", one for each %s", shown(a, g, id, v), v->count,
                        v->count == 1 ? "" : "s", rule == FOR_ALL_TOKENS ? "at least " : "", wanted, by_layer ? "layer" : "token");
}

static const char *array_fault(Arena *a, const Gguf *g, GgufKeyId id, const GgufValue *v)
{
    GgufBytes items = v->items;
    GgufValue item = { .type = v->items_type };
    double first = 0, number;
    const size_t bytes = gguf_item_bytes(v->items_type);
    const char *fault = count_fault(a, g, id, v);
    for (uint64_t i = 0; !fault && bytes && i < v->count; i++) {
        item.bits = gguf_take_word(&items, bytes);
        gguf_exact_number(&item, &number);
        fault = number_fault(a, g, id, v, number);
        if (i == 0) first = number;
        if (!fault && rows[id].rule == FOR_EACH_LAYER && fabs(number - first) > 0)
            fault = arena_format(a, "has %s with the items %.15g and %.15g; expected one value for "
                                 "all layers", shown(a, g, id, v), first, number);
    }
    return fault;
}

static const char *fault_of(Arena *a, const Gguf *g, GgufKeyId id)
{
    const Row *row = &rows[id];
    const GgufValue *v = gguf_find(g, id);
    double number;
    if (!v) return NULL;
    if (!has_types(row, v))
        return arena_format(a, "has key %s of type %s; expected %s", gguf_key_name(a, g, id),
                            type_of(a, v), expected_types(a, row));
    if (v->type == GGUF_ARRAY) return array_fault(a, g, id, v);
    if (row->rule == WORD && memchr(v->text.s, 0, v->text.n))
        return arena_format(a, "has %s = '%s'; expected a string without NUL", shown(a, g, id, v),
                            gguf_shown(a, v->text));
    return gguf_exact_number(v, &number) ? number_fault(a, g, id, v, number) : NULL;
}

/* ---- all keys ----------------------------------------------------------------------------- */

static int by_name(const void *x, const void *y)
{
    const GgufKey *a = *(const GgufKey *const *)x, *b = *(const GgufKey *const *)y;
    const int order = memcmp(a->name.s, b->name.s, a->name.n < b->name.n ? a->name.n : b->name.n);
    return order ? order : (a->name.n > b->name.n) - (a->name.n < b->name.n);
}

static const char *names_fault(Arena *a, const Gguf *g)
{
    const GgufKey **sorted = arena_array(a, (size_t)g->key_count, sizeof *sorted);
    for (uint64_t i = 0; i < g->key_count; i++) {
        const GgufText name = g->keys[i].name;
        const GgufValue *v = &g->keys[i].value;
        sorted[i] = &g->keys[i];
        if (!name.n)
            return arena_format(a, "has key %" PRIu64 " (%s) with an empty name; expected a name",
                                i + 1, type_of(a, v));
        if (memchr(name.s, 0, name.n))
            return arena_format(a, "has key %s (%s) with a NUL in its name; expected none",
                                gguf_shown(a, name), type_of(a, v));
    }
    if (g->key_count) qsort(sorted, (size_t)g->key_count, sizeof *sorted, by_name);
    for (uint64_t i = 1; i < g->key_count; i++)
        if (!by_name(&sorted[i - 1], &sorted[i]))
            return arena_format(a, "has key %s (%s) twice; expected once",
                                gguf_shown(a, sorted[i]->name), type_of(a, &sorted[i]->value));
    return NULL;
}

static const char *rows_fault(Arena *a, const Gguf *g, bool architecture)
{
    const char *fault = NULL;
    for (int id = 0; id < GGUF_KEYS && !fault; id++)
        if (of_architecture((GgufKeyId)id) == architecture) fault = fault_of(a, g, (GgufKeyId)id);
    return fault;
}

const char *gguf_keys_fault(Arena *a, Gguf *g)
{
    const char *fault = names_fault(a, g);
    if (!fault) fault = rows_fault(a, g, false);
    const GgufValue *v = fault ? NULL : gguf_find(g, GGUF_KEY_ARCHITECTURE);
    if (v) g->architecture = v->text;
    return fault;
}

const char *gguf_architecture_fault(Arena *a, const Gguf *g) { return rows_fault(a, g, true); }
