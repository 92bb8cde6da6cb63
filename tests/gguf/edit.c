/* edit.c: a tool of the shell suite: a copy of a GGUF file with other keys and tokens.
 * usage: edit FROM TO CHANGE...
 *   KEY=7       a number, as U32; other values are a text
 *   KEY=        the key is left out
 *   5:4:TEXT    token 5 is TEXT, of type 4; for types the file needs tokenizer.ggml.token_type */
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

/* What follows KEY= where the key is changed, else NULL. */
static const char *change_of(const Edit *e, GgufText key)
{
    for (int i = 0; i < e->changes; i++) {
        const char *equals = strchr(e->change[i], '=');
        if (equals && !isdigit((unsigned char)e->change[i][0]) && (size_t)(equals - e->change[i]) == key.n &&
            !memcmp(e->change[i], key.s, key.n)) return equals + 1;
    }
    return NULL;
}

/* Behind "ID:", where that token is changed. */
static const char *token_change(const Edit *e, uint64_t id)
{
    for (int i = 0; i < e->changes; i++) {
        char *end;
        if (isdigit((unsigned char)e->change[i][0]) && strtoull(e->change[i], &end, 10) == id && *end == ':') return end + 1;
    }
    return NULL;
}

static void put_key(Edit *e, const char *key, size_t n, const char *value)
{
    if (!*value) return;
    put_text(&e->out, key, n);
    const bool number = isdigit((unsigned char)*value);
    put(&e->out, number ? GGUF_U32 : GGUF_STRING, 4);
    if (number) put(&e->out, strtoull(value, NULL, 10), 4);
    else put_text(&e->out, value, strlen(value));
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

static void put_keys(Edit *e, const Gguf *g)
{
    for (uint64_t i = 0; i < g->key_count; i++)
        if (!change_of(e, g->keys[i].name)) copy_key(e, &g->keys[i]);
    for (int i = 0; i < e->changes; i++) {
        const char *equals = strchr(e->change[i], '=');
        if (equals && !isdigit((unsigned char)e->change[i][0])) put_key(e, e->change[i], (size_t)(equals - e->change[i]), equals + 1);
    }
}

/* Offsets are as before: the tensors lie as before, behind another head. */
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
