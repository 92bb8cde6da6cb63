/* weights_pickle.c: a stack machine for the pickles that torch.save writes, protocols 2 to 4. It
 * reads bytes and makes named tensors. */
#include "weights_pickle.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "weights.h"

typedef enum Kind { NOTHING, NUMBER, TEXT, GLOBAL, TUPLE, LIST, DICT, STORAGE, TENSOR, MARK } Kind;
static const char *const kind_names[] = { "nothing", "a number", "text", "a name", "a tuple", "a list", "a dictionary", "a storage",
                                          "a tensor", "a mark" };

typedef struct Value {
    Kind kind;
    int64_t number;                         /* NUMBER; STORAGE: how many elements */
    const char *text;                       /* TEXT; GLOBAL: module.name; STORAGE: its key */
    DType dtype;                            /* STORAGE; GLOBAL: if it is a storage type */
    struct Value **items;  int count, room; /* TUPLE, LIST; DICT: key, value, key, ... */
    PickleTensor *tensor;
} Value;

typedef struct Machine {
    Arena *arena;
    const unsigned char *data;  size_t size, at;
    Value **stack;  int depth, room;
    Value **memo;  size_t memo_room;
    size_t memo_next;
    PickleStorage *storages;  int storage_count, storage_room;
    const char *fault;
} Machine;

#define stop(m, ...) stop_with(m, arena_format((m)->arena, __VA_ARGS__))

/* Keep the first fault. Returns false. */
static bool stop_with(Machine *m, const char *fault)
{
    if (!m->fault) m->fault = fault;
    return false;
}

/* ---- allowed names -------------------------------------------------------------------------------------- */

static const struct { const char *name; DType dtype; } storages[] = {
    { "torch.FloatStorage", DTYPE_F32 }, { "torch.HalfStorage", DTYPE_F16 }, { "torch.BFloat16Storage", DTYPE_BF16 },
    { "torch.DoubleStorage", DTYPE_F64 }, { "torch.LongStorage", DTYPE_I64 }, { "torch.IntStorage", DTYPE_I32 },
    { "torch.ShortStorage", DTYPE_I16 }, { "torch.CharStorage", DTYPE_I8 }, { "torch.ByteStorage", DTYPE_U8 }, { "torch.BoolStorage", DTYPE_BOOL },
};
static const char ordered_dict[] = "collections.OrderedDict", rebuild_tensor[] = "torch._utils._rebuild_tensor_v2",
                  rebuild_parameter[] = "torch._utils._rebuild_parameter";

static bool is_known(const char *name, DType *dtype)
{
    *dtype = DTYPE_OTHER;
    for (size_t i = 0; i < sizeof storages / sizeof *storages; i++)
        if (!strcmp(storages[i].name, name)) return *dtype = storages[i].dtype, true;
    return !strcmp(name, ordered_dict) || !strcmp(name, rebuild_tensor) || !strcmp(name, rebuild_parameter);
}

/* ---- values --------------------------------------------------------------------------------------------- */

static Value *value_new(Machine *m, Kind kind)
{
    Value *v = arena_alloc(m->arena, sizeof *v);
    v->kind = kind;
    return v;
}

static bool push(Machine *m, Value *v)
{
    if (m->depth == m->room) {
        const size_t bytes = sizeof *m->stack * (size_t)m->room, more = bytes ? bytes * 2 : 64 * sizeof *m->stack;
        m->stack = arena_grow(m->arena, m->stack, bytes, more);
        m->room = (int)(more / sizeof *m->stack);
    }
    m->stack[m->depth++] = v;
    return true;
}

static bool push_number(Machine *m, int64_t number)
{
    Value *v = value_new(m, NUMBER);
    v->number = number;
    return push(m, v);
}

/* Pop the top of the stack; NULL after a fault: there is nothing above the last mark. */
static Value *pop(Machine *m)
{
    if (m->depth && m->stack[m->depth - 1]->kind != MARK) return m->stack[--m->depth];
    stop(m, "it pops a value where there is none");
    return NULL;
}

static Value *top(Machine *m, Kind kind, const char *what)
{
    Value *v = m->depth ? m->stack[m->depth - 1] : NULL;
    if (v && v->kind == kind) return v;
    stop(m, "%s: expected %s, found %s", what, kind_names[kind], v ? kind_names[v->kind] : "nothing");
    return NULL;
}

/* The index of the first value above the last mark; -1 after a fault. */
static int behind_mark(Machine *m)
{
    for (int i = m->depth; i > 0; i--)
        if (m->stack[i - 1]->kind == MARK) return i;
    stop(m, "it pops to a mark, but the stack has none");
    return -1;
}

static void add_item(Machine *m, Value *to, Value *item)
{
    if (to->count == to->room) {
        const size_t bytes = sizeof *to->items * (size_t)to->room, more = bytes ? bytes * 2 : 8 * sizeof *to->items;
        to->items = arena_grow(m->arena, to->items, bytes, more);
        to->room = (int)(more / sizeof *to->items);
    }
    to->items[to->count++] = item;
}

static bool make_tuple(Machine *m, int begin)
{
    if (begin < 0 || begin > m->depth) return stop(m, "it pops a value where there is none");
    Value *v = value_new(m, TUPLE);
    for (int i = begin; i < m->depth; i++) {
        if (m->stack[i]->kind == MARK) return stop(m, "a tuple contains a mark");
        add_item(m, v, m->stack[i]);
    }
    m->depth = begin;
    return push(m, v);
}

static bool make_tuple_of_marked(Machine *m)
{
    const int begin = behind_mark(m);
    if (begin < 0 || !make_tuple(m, begin)) return false;
    Value *tuple = m->stack[--m->depth];
    m->depth--;                             /* the mark */
    return push(m, tuple);
}

/* Append the last n values, or if n is 0 those above the last mark, to the LIST or DICT below. */
static bool collect(Machine *m, Kind kind, int n)
{
    const int begin = n ? m->depth - n : behind_mark(m), below = n ? begin : begin - 1;
    if (begin < 0 || below < 1) return stop(m, "it pops a value where there is none");
    Value *to = m->stack[below - 1];
    if (to->kind != kind) return stop(m, "it adds to %s as if to %s", kind_names[to->kind], kind_names[kind]);
    if (kind == DICT && (m->depth - begin) % 2) return stop(m, "a key has no value");
    for (int i = begin; i < m->depth; i++) {
        if (m->stack[i]->kind == MARK) return stop(m, "values contain a mark");
        add_item(m, to, m->stack[i]);
    }
    m->depth = below;
    return true;
}

/* ---- calls ---------------------------------------------------------------------------------------------- */

static bool sizes(Machine *m, const Value *from, int *rank, int64_t out[MAX_RANK])
{
    if (from->kind != TUPLE || from->count > MAX_RANK)
        return stop(m, "a tensor has more than %d dimensions, or its dimensions are not a tuple", MAX_RANK);
    *rank = from->count;
    for (int i = 0; i < from->count; i++) {
        if (from->items[i]->kind != NUMBER || from->items[i]->number < 0) return stop(m, "a tensor's size or stride is not a non-negative number");
        out[i] = from->items[i]->number;
    }
    return true;
}

/* _rebuild_tensor_v2(storage, offset, size, stride, …) */
static bool make_tensor(Machine *m, const Value *args)
{
    PickleTensor *t = arena_alloc(m->arena, sizeof *t);
    int rank;
    if (args->count < 4 || args->items[0]->kind != STORAGE || args->items[1]->kind != NUMBER || args->items[1]->number < 0)
        return stop(m, "a tensor is not made of a storage, an offset, sizes and strides");
    t->key = args->items[0]->text;
    t->dtype = args->items[0]->dtype;
    t->offset = args->items[1]->number;
    if (!sizes(m, args->items[2], &t->rank, t->shape) || !sizes(m, args->items[3], &rank, t->stride)) return false;
    if (rank != t->rank) return stop(m, "a tensor has %d size%s and %d stride%s", t->rank, t->rank == 1 ? "" : "s", rank, rank == 1 ? "" : "s");
    Value *v = value_new(m, TENSOR);
    v->tensor = t;
    return push(m, v);
}

static bool call(Machine *m)
{
    Value *args = pop(m), *name = args ? pop(m) : NULL;
    if (!name) return false;
    if (name->kind != GLOBAL || args->kind != TUPLE) return stop(m, "it calls %s with %s", kind_names[name->kind], kind_names[args->kind]);
    if (!strcmp(name->text, ordered_dict) && !args->count) return push(m, value_new(m, DICT));
    if (!strcmp(name->text, rebuild_tensor)) return make_tensor(m, args);
    if (!strcmp(name->text, rebuild_parameter) && args->count && args->items[0]->kind == TENSOR) return push(m, args->items[0]);
    return stop(m, "it calls %.100s with arguments that are not supported", name->text);
}

static void note_storage(Machine *m, const Value *v)
{
    if (m->storage_count == m->storage_room) {
        const size_t bytes = sizeof *m->storages * (size_t)m->storage_room, more = bytes ? bytes * 2 : 64 * sizeof *m->storages;
        m->storages = arena_grow(m->arena, m->storages, bytes, more);
        m->storage_room = (int)(more / sizeof *m->storages);
    }
    m->storages[m->storage_count++] = (PickleStorage){ v->text, v->dtype, v->number };
}

/* ('storage', type, key, device, elements), in old files followed by None */
static bool make_storage(Machine *m)
{
    const Value *id = pop(m);
    if (!id) return false;
    const bool good = id->kind == TUPLE && id->count >= 5 && id->items[0]->kind == TEXT && !strcmp(id->items[0]->text, "storage")
        && id->items[1]->kind == GLOBAL && id->items[1]->dtype != DTYPE_OTHER && id->items[2]->kind == TEXT && id->items[4]->kind == NUMBER;
    if (!good) return stop(m, "a persistent id does not describe a storage");
    if (id->count > 5 && id->items[5]->kind != NOTHING) return stop(m, "a storage that is a view of another is not supported");
    Value *v = value_new(m, STORAGE);
    v->text = id->items[2]->text;
    v->dtype = id->items[1]->dtype;
    v->number = id->items[4]->number;
    note_storage(m, v);
    return push(m, v);
}

static bool push_global(Machine *m, const char *module, const char *name)
{
    Value *v = value_new(m, GLOBAL);
    v->text = arena_format(m->arena, "%s.%s", module, name);
    if (!is_known(v->text, &v->dtype)) return stop(m, "it names %.100s, which is not allowed: only tensors and dictionaries are read", v->text);
    return push(m, v);
}

/* Ignore the attributes of a dictionary, such as _metadata of a state_dict. */
static bool set_state(Machine *m)
{
    if (!pop(m)) return false;
    return top(m, DICT, "attributes") != NULL;
}

/* ---- bytes ---------------------------------------------------------------------------------------------- */

/* The next n bytes; NULL after a fault. */
static const unsigned char *take(Machine *m, size_t n)
{
    if (n > m->size - m->at) {
        stop(m, "it is truncated");
        return NULL;
    }
    m->at += n;
    return m->data + m->at - n;
}

static uint64_t take_number(Machine *m, int bytes)
{
    const unsigned char *p = take(m, (size_t)bytes);
    uint64_t n = 0;
    for (int i = 0; p && i < bytes; i++) n |= (uint64_t)p[i] << 8 * i;
    return n;
}

static bool push_text(Machine *m, int length_bytes)
{
    const uint64_t n = take_number(m, length_bytes);
    const unsigned char *p = m->fault ? NULL : take(m, n);
    if (!p) return false;
    if (memchr(p, 0, n)) return stop(m, "a string contains a zero byte");
    Value *v = value_new(m, TEXT);
    v->text = arena_copy(m->arena, (const char *)p, n);
    return push(m, v);
}

/* Read up to a newline: a word of a GLOBAL. */
static const char *take_line(Machine *m)
{
    const unsigned char *p = m->data + m->at, *end = memchr(p, '\n', m->size - m->at);
    if (!end) {
        stop(m, "it is truncated");
        return NULL;
    }
    m->at += (size_t)(end - p) + 1;
    return arena_copy(m->arena, (const char *)p, (size_t)(end - p));
}

static bool push_long(Machine *m)
{
    const uint64_t n = take_number(m, 1);
    if (n > 8) return stop(m, "a number has %" PRIu64 " bytes; at most 8 are supported", n);
    uint64_t x = take_number(m, (int)n);
    if (n && n < 8 && x >> (8 * n - 1)) x |= ~UINT64_C(0) << 8 * n;
    return push_number(m, (int64_t)x);
}

/* ---- memo ----------------------------------------------------------------------------------------------- */

static bool put(Machine *m, uint64_t i)
{
    if (!m->depth || m->stack[m->depth - 1]->kind == MARK) return stop(m, "it has nothing to store in its memo");
    if (i > m->size) return stop(m, "the memo index %" PRIu64 " is too large", i);
    if (i >= m->memo_room) {
        const size_t room = (size_t)i * 2 + 64;
        m->memo = arena_grow(m->arena, m->memo, m->memo_room * sizeof *m->memo, room * sizeof *m->memo);
        m->memo_room = room;
    }
    m->memo[i] = m->stack[m->depth - 1];
    return true;
}

static bool get(Machine *m, uint64_t i)
{
    if (i < m->memo_room && m->memo[i]) return push(m, m->memo[i]);
    return stop(m, "the memo entry %" PRIu64 " is empty", i);
}

/* ---- the machine ---------------------------------------------------------------------------------------- */

static bool stack_global(Machine *m)
{
    const Value *name = pop(m), *module = name ? pop(m) : NULL;
    if (!module) return false;
    const Value *wrong = name->kind != TEXT ? name : module;
    if (wrong->kind != TEXT) return stop(m, "a name must be a string, found %s", kind_names[wrong->kind]);
    return push_global(m, module->text, name->text);
}

static bool global(Machine *m)
{
    const char *module = take_line(m), *name = module ? take_line(m) : NULL;
    return name && push_global(m, module, name);
}

static bool discard(Machine *m)
{
    return pop(m) != NULL;
}

/* Execute one instruction; opcodes as in Python's pickle. */
static bool step(Machine *m, int op)
{
    switch (op) {
    case 0x80: return take(m, 1) != NULL;                       /* PROTO */
    case 0x95: return take(m, 8) != NULL;                       /* FRAME */
    case '(': return push(m, value_new(m, MARK));
    case '}': return push(m, value_new(m, DICT));
    case ']': return push(m, value_new(m, LIST));
    case ')': return push(m, value_new(m, TUPLE));
    case 'N': return push(m, value_new(m, NOTHING));
    case 0x88: return push_number(m, 1);                        /* NEWTRUE */
    case 0x89: return push_number(m, 0);
    case 'J': return push_number(m, (int32_t)take_number(m, 4));
    case 'K': return push_number(m, (int64_t)take_number(m, 1));
    case 'M': return push_number(m, (int64_t)take_number(m, 2));
    case 0x8A: return push_long(m);
    case 'G': return take(m, 8) && push(m, value_new(m, NOTHING)); /* BINFLOAT: no tensor needs its value */
    case 'X': return push_text(m, 4);
    case 0x8C: return push_text(m, 1);
    case 'c': return global(m);
    case 0x93: return stack_global(m);
    case 'q': return put(m, take_number(m, 1));
    case 'r': return put(m, take_number(m, 4));
    case 0x94: return put(m, m->memo_next++);
    case 'h': return get(m, take_number(m, 1));
    case 'j': return get(m, take_number(m, 4));
    case 't': return make_tuple_of_marked(m);
    case 0x85: case 0x86: case 0x87: return make_tuple(m, m->depth - (op - 0x84));
    case 's': return collect(m, DICT, 2);
    case 'u': return collect(m, DICT, 0);
    case 'a': return collect(m, LIST, 1);
    case 'e': return collect(m, LIST, 0);
    case '0': return discard(m);
    case 'Q': return make_storage(m);
    case 'R': return call(m);
    case 'b': return set_state(m);
    }
    return stop(m, "the instruction 0x%02X at byte %zu is not allowed", (unsigned)op, m->at - 1);
}

/* Take the tensors among a dictionary's values; returns their number. */
static int take_tensors(Machine *m, const Value *dict, PickleTensors *out)
{
    out->tensors = arena_array(m->arena, (size_t)dict->count / 2 + 1, sizeof *out->tensors);
    out->count = 0;
    for (int i = 0; i + 1 < dict->count; i += 2) {
        if (dict->items[i]->kind != TEXT || dict->items[i + 1]->kind != TENSOR) continue;
        out->tensors[out->count] = *dict->items[i + 1]->tensor;
        out->tensors[out->count++].name = dict->items[i]->text;
    }
    return out->count;
}

/* True for the keys under which training checkpoints have their tensors. */
static bool is_nest(const char *key)
{
    static const char *const nests[] = { "state_dict", "model", "module", "model_state_dict" };
    for (size_t i = 0; i < sizeof nests / sizeof *nests; i++)
        if (!strcmp(key, nests[i])) return true;
    return false;
}

static bool find_tensors(Machine *m, const Value *dict, PickleTensors *out)
{
    if (take_tensors(m, dict, out)) return true;
    for (int i = 0; i + 1 < dict->count; i += 2) {
        const Value *key = dict->items[i], *inner = dict->items[i + 1];
        if (key->kind == TEXT && inner->kind == DICT && is_nest(key->text) && take_tensors(m, inner, out)) return true;
    }
    return stop(m, "it contains no named tensors");
}

/* Run the pickle to its end; returns the top of the stack, which must be of the given kind, or NULL
 * after a fault. */
static const Value *run(Machine *m, Kind kind)
{
    for (;;) {
        const int op = m->at < m->size ? m->data[m->at++] : -1;
        if (op < 0) stop(m, "it has no STOP instruction");
        if (op < 0 || op == '.' || !step(m, op) || m->fault) break;
    }
    return m->fault ? NULL : top(m, kind, "the result");
}

bool pickle_tensors(Arena *a, const unsigned char *data, size_t size, PickleTensors *out)
{
    Machine m = { .arena = a, .data = data, .size = size };
    *out = (PickleTensors){ .count = 0 };
    const Value *result = run(&m, DICT);
    if (result && find_tensors(&m, result, out)) {
        out->storages = m.storages;
        out->storage_count = m.storage_count;
        out->used = m.at;
        return true;
    }
    out->fault = m.fault;
    return false;
}

const char **pickle_texts(Arena *a, const unsigned char *data, size_t size, int *count, size_t *used)
{
    Machine m = { .arena = a, .data = data, .size = size };
    const Value *list = run(&m, LIST);
    if (!list) return NULL;
    const char **texts = arena_array(a, (size_t)list->count + 1, sizeof *texts);
    for (int i = 0; i < list->count; i++)
        if (!(texts[i] = list->items[i]->kind == TEXT ? list->items[i]->text : NULL)) return NULL;
    *count = list->count;
    *used = m.at;
    return texts;
}

int64_t pickle_number(Arena *a, const unsigned char *data, size_t size, const char *key, size_t *used)
{
    Machine m = { .arena = a, .data = data, .size = size };
    const Value *dict = run(&m, DICT);
    *used = m.at;
    for (int i = 0; dict && i + 1 < dict->count; i += 2) {
        const Value *name = dict->items[i], *value = dict->items[i + 1];
        if (name->kind == TEXT && !strcmp(name->text, key) && value->kind == NUMBER) return value->number;
    }
    return -1;
}
