/* edit.c: a tool of the shell suite: copy a GGUF file with changed keys and tokens.
 * usage: edit FROM TO CHANGE...
 *   KEY=7       a number, of the type that the key has, else U32; any other value is a text
 *   KEY=        the key is left out
 *   KEY:T=V     a value of the type with the number T: 0 u8, 4 u32, 6 f32, 7 bool, 8 a text, ...
 *   KEY:9T=V,V  an array of such values; 99 is an array of arrays, without values
 *   +KEY...     the key is added, even if the file has it already; 7 in +KEY=7 is a U32
 *               A '^' in a KEY or a text is a NUL; KEY may be empty.
 *   5:4:TEXT    token 5 is TEXT, of type 4; types need tokenizer.ggml.token_type in the file */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gguf.h"
#include "text.h"

typedef struct Edit { Text out; uint64_t keys; char **change; int changes; } Edit;

static void put(Text *to, uint64_t x, int bytes)
{
    for (int i = 0; i < bytes; i++) text_add_bytes(to, &(char){ (char)(x >> 8 * i) }, 1);
}

static void put_text(Text *to, const char *s, size_t n)
{
    put(to, n, 8);
    text_add_bytes(to, s, n);
}

static bool is_token(const char *change) { return isdigit((unsigned char)*change); }

/* The number of bytes in a change's key. */
static size_t key_bytes(const char *change) { return strcspn(change, ":="); }

static bool is_key(const char *change, GgufText key)
{
    return key_bytes(change) == key.n && !memcmp(change, key.s, key.n);
}

static bool is_changed(const Edit *e, GgufText key)
{
    for (int i = 0; i < e->changes; i++)
        if (!is_token(e->change[i]) && is_key(e->change[i], key)) return true;
    return false;
}

/* The text after "ID:" in the change of that token, or NULL. */
static const char *token_change(const Edit *e, uint64_t id)
{
    for (int i = 0; i < e->changes; i++) {
        char *end;
        if (!is_token(e->change[i])) continue;
        if (strtoull(e->change[i], &end, 10) == id && *end == ':') return end + 1;
    }
    return NULL;
}

static void put_marked(Text *to, const char *s, size_t n)
{
    const size_t begin = to->size + 8;
    put_text(to, s, n);
    for (size_t i = begin; i < to->size; i++)
        if (to->data[i] == '^') to->data[i] = 0;
}

static void put_value(Text *to, unsigned type, const char *s, size_t n)
{
    const float f = strtof(s, NULL);
    const double d = (double)f;
    uint64_t bits = (uint64_t)strtoll(s, NULL, 10);
    if (type == GGUF_F32) memcpy(&bits, &f, sizeof f);
    if (type == GGUF_F64) memcpy(&bits, &d, sizeof d);
    if (type == GGUF_STRING) put_marked(to, s, n);
    else if (type != GGUF_ARRAY) put(to, bits, (int)gguf_item_bytes(type));
}

static void put_values(Text *to, unsigned type, const char *s)
{
    uint64_t count = *s ? 1 : 0;
    for (const char *c = s; *c; c++) count += *c == ',';
    put(to, type, 4);
    put(to, count, 8);
    for (; count--; s += strcspn(s, ",") + 1) put_value(to, type, s, strcspn(s, ","));
}

/* as: the type of a number if the change names none. */
static void put_key(Edit *e, const char *change, unsigned as)
{
    const size_t n = key_bytes(change);
    const char *equals = strchr(change, '='), *value = equals + 1;
    const bool typed = change[n] == ':';
    const bool array = typed && change[n + 1] == '9' && change[n + 2] != '=';
    unsigned type = isdigit((unsigned char)*value) ? as : GGUF_STRING;
    if (typed) type = (unsigned)strtoul(change + n + 1 + array, NULL, 10);
    if (!typed && !*value) return;
    put_marked(&e->out, change, n);
    put(&e->out, array ? GGUF_ARRAY : type, 4);
    if (array) put_values(&e->out, type, value);
    else put_value(&e->out, type, value, strlen(value));
    e->keys++;
}

static void put_array(Edit *e, const GgufKey *key, bool tokens, bool types)
{
    GgufBytes items = key->value.items;
    const size_t bytes = gguf_item_bytes(key->value.items_type);
    put(&e->out, key->value.items_type, 4);
    put(&e->out, key->value.count, 8);
    for (uint64_t i = 0; i < key->value.count; i++) {
        const char *change = tokens || types ? token_change(e, i) : NULL;
        const GgufText text = bytes ? (GgufText){ "", 0 } : gguf_take_text(&items);
        const uint64_t number = bytes ? gguf_take_word(&items, bytes) : 0;
        if (types) put(&e->out, change ? strtoull(change, NULL, 10) : number, 4);
        else if (bytes) put(&e->out, number, (int)bytes);
        else if (change) put_text(&e->out, strchr(change, ':') + 1, strlen(strchr(change, ':') + 1));
        else put_text(&e->out, text.s, text.n);
    }
}

static void copy_key(Edit *e, const GgufKey *key)
{
    const GgufValue *v = &key->value;
    put_text(&e->out, key->name.s, key->name.n);
    put(&e->out, v->type, 4);
    if (v->type == GGUF_STRING) put_text(&e->out, v->text.s, v->text.n);
    else if (v->type == GGUF_ARRAY) put_array(e, key, gguf_is(key->name, "tokenizer.ggml.tokens"), gguf_is(key->name, "tokenizer.ggml.token_type"));
    else put(&e->out, v->bits, (int)gguf_item_bytes(v->type));
    e->keys++;
}

/* The type of the number that the file has for the key of a change, else U32. */
static unsigned type_in(const Gguf *g, const char *change)
{
    for (uint64_t i = 0; i < g->key_count; i++) {
        const GgufKey *k = &g->keys[i];
        if (is_key(change, k->name) && gguf_item_bytes(k->value.type)) return k->value.type;
    }
    return GGUF_U32;
}

static void put_keys(Edit *e, const Gguf *g)
{
    for (uint64_t i = 0; i < g->key_count; i++)
        if (!is_changed(e, g->keys[i].name)) copy_key(e, &g->keys[i]);
    for (int i = 0; i < e->changes; i++) {
        const char *change = e->change[i];
        if (is_token(change) || !strchr(change, '=')) continue;
        put_key(e, change + (*change == '+'), type_in(g, change));
    }
}

/* The tensor data follows the new header unchanged, so offsets from its beginning stay the same. */
static void put_tensors(Edit *e, const Gguf *g, const FileMap *map)
{
    uint64_t begin = map->size;
    for (uint64_t i = 0; i < g->tensor_count; i++)
        if (g->tensors[i].offset < begin) begin = g->tensors[i].offset;
    for (uint64_t i = 0; i < g->tensor_count; i++) {
        const GgufTensor *t = &g->tensors[i];
        put_text(&e->out, t->name.s, t->name.n);
        put(&e->out, (uint64_t)t->rank, 4);
        for (int k = 0; k < t->rank; k++) put(&e->out, t->dims[k], 8);
        put(&e->out, t->type, 4);
        put(&e->out, t->offset - begin, 8);
    }
    while (e->out.size % 32) put(&e->out, 0, 1);
    text_add_bytes(&e->out, (const char *)map->data + begin, map->size - begin);
}

int main(int argc, char **argv)
{
    Arena *a = arena_new();
    Diag *d = diag_new(a);
    FileMap map;
    Gguf g;
    if (argc < 3) return EXIT_USAGE;
    if (!file_map(d, (Loc){ 0 }, argv[1], &map) || gguf_read(a, map.data, map.size, &g)) return EXIT_BAD_DATA;
    Edit e = { text_new(a), 0, argv + 3, argc - 3 };
    put(&e.out, 0x46554747, 4);         /* GGUF */
    put(&e.out, 3, 4);
    put(&e.out, g.tensor_count, 8);
    put(&e.out, 0, 8);
    put_keys(&e, &g);
    for (int i = 0; i < 8; i++) e.out.data[16 + i] = (char)(e.keys >> 8 * i);
    put_tensors(&e, &g, &map);
    const bool written = file_write(a, d, argv[2], e.out.data, e.out.size);
    file_unmap(&map);
    arena_free(a);
    return written ? EXIT_DONE : EXIT_IO;
}
