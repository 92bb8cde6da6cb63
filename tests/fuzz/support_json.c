/* support_json.c: a mutator for JSON files. Three calls in four make a change to a value, not to
 * bytes, so that the file stays JSON: a value is replaced with an unusual one or with a copy of
 * another value; a key is added or removed; an array item is added, removed or repeated. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "support_fuzz.h"

/* The values of a file, containers included. */
enum { MOST_VALUES = 4096 };
typedef struct Tree { json_t *value[MOST_VALUES]; int count; uint64_t random; } Tree;

static uint32_t below(Tree *t, uint32_t n) { return fuzz_below(&t->random, n); }

static void gather(Tree *t, json_t *v)
{
    const char *key;
    json_t *inner;
    size_t i;
    if (t->count == MOST_VALUES) return;
    t->value[t->count++] = v;
    json_array_foreach(v, i, inner) gather(t, inner);
    json_object_foreach(v, key, inner) gather(t, inner);
}

static json_t *odd_value(Tree *t)
{
    static const char *const texts[] = {
        "", " ", "a", "BPE", "Unigram", "WordPiece", "WordLevel", "Sequence", "Replace", "Split", "Metaspace", "ByteLevel", "Precompiled",
        "TemplateProcessing", "Left", "AAAA", "\xE2\x96\x81", "<s>", "(a|b)*", "[^a]", "$A",
    };
    static const json_int_t numbers[] = { 0, 1, -1, 2, 31, 255, 65536, 16777215, 2147483647, 2147483648, 4294967295, 4294967297,
                                          9223372036854775807 };
    switch (below(t, 8)) {
    case 0: return json_null();
    case 1: return json_boolean(below(t, 2));
    case 2: return json_integer(numbers[below(t, sizeof numbers / sizeof *numbers)]);
    case 3: return json_real(below(t, 2) ? 1e300 : -0.5);
    case 4: return json_array();
    case 5: return json_object();
    case 6: return json_deep_copy(t->value[below(t, (uint32_t)t->count)]);
    default: return json_string(texts[below(t, sizeof texts / sizeof *texts)]);
    }
}

/* The n-th key of an object. */
static const char *key_at(json_t *object, size_t n)
{
    void *i = json_object_iter(object);
    while (n--) i = json_object_iter_next(object, i);
    return json_object_iter_key(i);
}

static void change_object(Tree *t, json_t *object)
{
    static const char *const names[] = { "type", "id", "content", "vocab", "merges", "pattern", "unk_token", "unk_id", "special", "x" };
    const size_t n = json_object_size(object);
    const char *key = n ? key_at(object, below(t, (uint32_t)n)) : "x";
    switch (below(t, 4)) {
    case 0: json_object_set_new(object, names[below(t, sizeof names / sizeof *names)], odd_value(t)); break;
    case 1: json_object_del(object, key); break;
    default: json_object_set_new(object, key, odd_value(t)); break;
    }
}

static void change_array(Tree *t, json_t *array)
{
    const size_t n = json_array_size(array), at = n ? below(t, (uint32_t)n) : 0;
    switch (below(t, 4)) {
    case 0: json_array_insert_new(array, at, odd_value(t)); break;
    case 1: json_array_remove(array, at); break;
    case 2:
        if (n) json_array_insert(array, below(t, (uint32_t)n), json_array_get(array, at));
        break;
    default: json_array_set_new(array, at, odd_value(t)); break;
    }
}

static void change(Tree *t)
{
    json_t *v = t->value[below(t, (uint32_t)t->count)];
    for (int i = 0; i < t->count && !json_is_object(v) && !json_is_array(v); i++) v = t->value[below(t, (uint32_t)t->count)];
    if (json_is_object(v)) change_object(t, v);
    else if (json_is_array(v)) change_array(t, v);
}

size_t fuzz_mutate_json(uint8_t *data, size_t size, size_t room, unsigned seed)
{
    json_t *root = seed % 4 ? json_loadb((const char *)data, size, JSON_ALLOW_NUL, NULL) : NULL;
    if (!root) return LLVMFuzzerMutate(data, size, room);
    Tree *t = calloc(1, sizeof *t);
    fuzz_expect(t);
    t->random = seed;
    gather(t, root);
    change(t);                      /* only one change: it may free the gathered values */
    char *text = json_dumps(root, JSON_COMPACT);
    const size_t n = text ? strlen(text) : 0;
    if (n && n <= room) memcpy(data, text, n);
    free(text);
    free(t);
    json_decref(root);
    return n && n <= room ? n : LLVMFuzzerMutate(data, size, room);
}
