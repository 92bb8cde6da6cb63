/* emit_state.c: a state as C: struct slot, with the caches of one sequence, and struct state. Their
 * members have the offsets that the plan gave the buffers. */
#include "emit.h"

#include <string.h>

/* ---- names of members ---------------------------------------------------------------------------- */

/* The name of a cache without its suffix: self_k for self_k_cache. */
static const char *cache_name(Emit *e, const Buffer *b)
{
    int same = 0;
    for (int i = 0; i < e->plan->buffer_count; i++) {
        const Buffer *x = e->plan->buffers[i];
        same += x->place == PLACE_SLOT && strcmp(x->variable, b->variable) == 0;
    }
    const char *name = same == 1 ? b->variable : b->name;
    const char *const ends[] = { "_cache", "_memory" };
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (text_ends(name, ends[i]))
            return arena_format(e->arena, "%.*s", (int)(strlen(name) - strlen(ends[i])), name);
    return name;
}

void emit_state_begin(Emit *e)
{
    static const char *const own[] = { "source_length", "next_position", "furthest", "saturated", "slot", "scratch" };
    NameMap *of_slot = name_map_new(e->arena), *of_state = name_map_new(e->arena);
    e->members = name_map_new(e->arena);
    for (size_t i = 0; i < sizeof own / sizeof *own; i++) name_map_add(of_state, own[i], of_state);
    for (int i = 0; i < e->plan->list_count; i++) name_map_add(of_state, e->plan->lists[i].name, of_state);
    for (int i = 0; i < e->plan->buffer_count; i++) {
        const Buffer *b = e->plan->buffers[i];
        const bool slot = b->place == PLACE_SLOT;
        const char *name = name_map_add_free(slot ? of_slot : of_state, slot ? cache_name(e, b) : b->name);
        name_map_add(e->members, b->name, arena_text(e->arena, name));
    }
}

/* ---- shapes -------------------------------------------------------------------------------------- */

typedef struct Shape { int64_t dim[4]; int rank; } Shape;

/* The shape of one layer of a buffer, or of a buffer without layers. If the buffer is padded, the
 * shape is one-dimensional and includes the padding. */
static Shape shape_of(const Buffer *b)
{
    Shape s;
    const int64_t scale = (int64_t)buffer_scale_bytes(b);
    switch (b->layout) {
    case LAYOUT_KEYS:   s = (Shape){ { b->heads, b->rows / 16, b->width + scale, 16 }, 4 }; break;
    case LAYOUT_VALUES: s = scale ? (Shape){ { b->heads, b->rows * (pad16(b->width) + scale) }, 2 }
                                  : (Shape){ { b->heads, pad16(b->width) / 16, b->rows, 16 }, 4 }; break;
    case LAYOUT_INTS:   s = (Shape){ { b->rows }, 1 }; break;
    default:            s = b->heads > 1 ? (Shape){ { b->heads, b->rows, b->stride }, 3 } : (Shape){ { b->rows, b->stride }, 2 };
    }
    size_t bytes = buffer_element_bytes(b);
    for (int i = 0; i < s.rank; i++) bytes *= (size_t)s.dim[i];
    if (bytes != b->bytes) die("%s has %zu bytes, but its shape has %zu", b->name, b->bytes, bytes);
    const size_t padded = b->layers ? b->layer_stride : b->place == PLACE_SLOT ? pad64(bytes) : bytes;
    if (padded != bytes) s = (Shape){ { (int64_t)(padded / buffer_element_bytes(b)) }, 1 };
    return s;
}

const char *emit_buffer_type(const Buffer *b)
{
    static const char *const types[KV_DTYPES] = { [KV_DTYPES_F32] = "float", [KV_DTYPES_F16] = "rt_f16", [KV_DTYPES_INT8] = "int8_t" };
    return b->layout == LAYOUT_INTS ? "int" : types[b->kv_dtype];
}

static const char *member_of(const Emit *e, const Buffer *b) { return name_map_find(e->members, b->name); }

const char *emit_in_state(Emit *e, const Buffer *b, const char *slot)
{
    Text t = text_new(e->arena);
    if (slot) text_printf(&t, "s->slot[%s].%s", slot, member_of(e, b));
    else text_printf(&t, "s->%s", member_of(e, b));
    if (b->layers) text_add(&t, "[layer]");
    for (int i = shape_of(b).rank; i > 1; i--) text_add(&t, "[0]");
    return t.data;
}

/* ---- the structs --------------------------------------------------------------------------------- */

/* Comments for members of the state whose names do not say what they hold. */
typedef struct Meaning { const char *name, *words; } Meaning;
static const Meaning meanings[] = {
    { "source_ids",          "tokens of the source" },
    { "source_types",        "which text each token is in" },
    { "source_positions",    "position of each token" },
    { "source_visible",      "how many positions each sees" },
    { "source_seen",         "how many positions up to its own" },
    { "encoder_x",           "rows between encoder layers" },
    { "rows_ids",            "tokens of the rows of a call" },
    { "rows_positions",      "position of each in its slot" },
    { "rows_visible",        "how many positions each sees" },
    { "rows_visible_memory", "how many source positions each sees" },
    { "decoder_x",           "one row, between layers" },
    { "decoder_rows_x",      "several rows" },
    { "next_id",             "argmax of each row" },
    { "scratch",             "work space; each block has its own layout" },
    { "groups",              "rows of one slot, or of one text" },
    { "text_ids",            "a text as ids" },
    { "text_work",           "for the tokenizer and answers" },
};

/* A line of code, with the comment that `meanings` has for a name, if any. */
static void described(Text *out, const char *code, const char *name)
{
    const char *words = NULL;
    for (size_t i = 0; i < sizeof meanings / sizeof *meanings; i++)
        if (strcmp(meanings[i].name, name) == 0) words = meanings[i].words;
    text_printf(out, words ? "    %-58s  /* %s */\n" : "    %s\n", code, words);
}

/* Emit one member. align: to 64 bytes. */
static void member(Emit *e, Text *out, const Buffer *b, bool align)
{
    const Shape s = shape_of(b);
    Text code = text_new(e->arena);
    text_printf(&code, "%s%s %s", align ? "XF_ALIGN(64) " : "", emit_buffer_type(b), member_of(e, b));
    if (b->layers) text_printf(&code, "[%d]", b->layers);
    for (int i = 0; i < s.rank; i++) text_printf(&code, "[%lld]", (long long)s.dim[i]);
    text_add(&code, ";");
    described(out, code.data, b->name);
}

static void members(Emit *e, Text *out, Place place)
{
    for (int i = 0; i < e->plan->buffer_count; i++)
        if (e->plan->buffers[i]->place == place) member(e, out, e->plan->buffers[i], true);
}

static void emit_slot(Emit *e, Text *out)
{
    const Plan *p = e->plan;
    size_t end = 0;
    text_add(out, "/* One sequence. For each layer and head: keys [positions / 16][width][16], values\n"
                  " * [width / 16][positions][16]");
    if (e->model->kv_dtype == KV_DTYPES_INT8)
        text_add(out, ", as bytes. The keys of sixteen positions are followed by their\n"
                      " * scales, and the values of a head by the scales of all positions. Scales are floats");
    text_add(out, ". */\nstruct slot {\n");
    for (int i = 0; i < p->buffer_count; i++) {
        const Buffer *b = p->buffers[i];
        if (b->place != PLACE_SLOT) continue;
        member(e, out, b, end != b->offset);
        end = b->offset + (b->layers ? (size_t)b->layers * b->layer_stride : b->bytes);
    }
    text_printf(out, "};\n_Static_assert(sizeof(struct slot) == %zu, \"as planned\");\n\n", p->slot_bytes);
}

void emit_state(Emit *e, Text *out)
{
    const Plan *p = e->plan;
    const int slots = p->options.slots;
    const size_t own = p->blocks_offset - p->scratch_offset, scratch = plan_lists_offset(p) - own;
    text_add(out, "/* ---- state ----------------------------------------------------------------------------------- */\n\n");
    if (p->slot_bytes) emit_slot(e, out);
    text_fill(out, "/* The bytes of ${name}_state. */\nstruct state {\n", "name", e->name, NULL);
    text_printf(out, "    int source_length[%d], next_position[%d]%s;      /* by slot */\n", slots, slots,
                p->back ? arena_format(e->arena, ", furthest[%d]", slots) : "");
    if (p->saturated_offset)
        text_printf(out, "    int saturated[%d];      /* by thread: whether it found a number beyond the range of f16 */\n", p->options.max_threads);
    if (p->slot_bytes) text_printf(out, "    XF_ALIGN(64) struct slot slot[%d];\n", slots);
    members(e, out, PLACE_SCRATCH);
    if (scratch)
        described(out, arena_format(e->arena, "XF_ALIGN(64) float scratch[%zu];", scratch / sizeof(float)), "scratch");
    for (int i = 0; i < p->list_count; i++)
        described(out, arena_format(e->arena, "XF_ALIGN(64) %s %s[%lld];", p->lists[i].words, p->lists[i].name, (long long)p->lists[i].count),
                  p->lists[i].name);
    members(e, out, PLACE_TAP);
    text_fill(out, "};\n_Static_assert(sizeof(struct state) == ${upper}_STATE_BYTES, \"as planned\");\n\n", "upper", e->upper, NULL);
}
