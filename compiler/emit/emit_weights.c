/* emit_weights.c: the packed weights as C: a struct for each block, whose members have the offsets
 * that the plan gave the tensors.
 *
 * A block of more than INT32_MAX bytes is too large for a type in some C compilers. The members of
 * its struct are pointers instead; the text that uses them is the same. */
#include "emit.h"
#include "reserved_names.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

/* One tensor of a block: self_q. Joined linears are members of a struct, their group: q is number 0
 * of the 3 in self_qkv. */
typedef struct Member { const char *words, *name, *group; int number, count; } Member;

/* ---- names of members ---------------------------------------------------------------------------- */

const char *emit_weight_words(Emit *e, const Packed *k)
{
    const char *block = k->block ? k->block->block->name : "", *name = k->identifier;
    const size_t n = strlen(block);
    if (n && strncasecmp(name, block, n) == 0 && name[n] == '_' && name[n + 1]) name += n + 1;
    char *c = arena_text(e->arena, name);
    for (char *s = c; *s; s++) *s = (char)tolower((unsigned char)*s);
    static const char packed[] = "_packed_";        /* the same matrix with another bias or format */
    char *again = strstr(c, packed);
    if (again && strspn(again + strlen(packed), "0123456789") == strlen(again + strlen(packed))) *again = 0;
    return c;
}

static bool is_identifier(const char *name) { return *name && !isdigit((unsigned char)*name) && !name_is_of_c(name); }

static const Member *member_of(const Emit *e, const Packed *k) { return name_map_find(e->tensors, k->identifier); }

static size_t same_beginning(const char *a, const char *b)
{
    size_t n = 0;
    while (a[n] && a[n] == b[n]) n++;
    while (n && a[n - 1] != '_') n--;
    return n;
}

/* self_q, self_k and self_v are q, k and v of self_qkv; ffn_gate and ffn_up are gate and up of
 * ffn_gate_up. */
static void name_group(Emit *e, NameMap *taken, Packed *const *joined, int count)
{
    const char *first = member_of(e, joined[0])->name;
    size_t same = strlen(first);
    bool letters = true;
    for (int i = 1; i < count; i++) {
        const size_t n = same_beginning(first, member_of(e, joined[i])->name);
        same = n < same ? n : same;
    }
    for (int i = 0; i < count; i++) letters &= strlen(member_of(e, joined[i])->name + same) == 1;
    Text t = text_new(e->arena);
    text_printf(&t, "%.*s", (int)same, first);
    for (int i = 0; i < count; i++)
        text_printf(&t, "%s%s", i && !letters ? "_" : "", member_of(e, joined[i])->name + same);
    const char *group = name_map_add_free(taken, t.data);
    for (int i = 0; i < count; i++) {
        Member *m = name_map_find(e->tensors, joined[i]->identifier);
        *m = (Member){ m->words, is_identifier(m->name + same) ? m->name + same : m->name, group, i, count };
    }
}

/* True if a block is too large for a struct of its arrays. */
static bool is_large(const PlanBlock *b) { return b->weights_stride > INT32_MAX; }

static void name_block(Emit *e, const PlanBlock *b)
{
    const Plan *p = e->plan;
    NameMap *taken = name_map_new(e->arena);
    for (int i = 0; i < p->packed_count; i++) {
        const Packed *k = p->packed[i];
        if (k->block != b) continue;
        Member *m = arena_alloc(e->arena, sizeof *m);
        const char *words = emit_weight_words(e, k);
        const char *name = is_identifier(words) ? words : arena_format(e->arena, "w_%s", words);
        *m = (Member){ words, name_map_add_free(taken, name), NULL, 0, 1 };
        name_map_add(e->tensors, k->identifier, m);
    }
    for (int i = 0; i < p->block_count && !is_large(b); i++)
        for (int j = 0; j < p->blocks[i]->op_count; j++) {
            const PlanOp *op = &p->blocks[i]->ops[j];
            if (op->joined_count > 1 && op->weights->block == b && !member_of(e, op->weights)->group)
                name_group(e, taken, op->joined, op->joined_count);
        }
}

void emit_weights_begin(Emit *e)
{
    e->tensors = name_map_new(e->arena);
    for (int i = 0; i < e->plan->block_count; i++) name_block(e, e->plan->blocks[i]);
}

/* The macro for the offset of a tensor that layers or blocks share, or of a tokenizer's table. */
static const char *macro_of(Emit *e, const Packed *k)
{
    return arena_format(e->arena, "W_%s", k->identifier ? k->identifier : emit_upper(e->arena, k->name));
}

const char *emit_weight(Emit *e, const PlanOp *op)
{
    const Packed *k = op->weights;
    if (!k->block) return arena_format(e->arena, "j->weights + %s", macro_of(e, k));
    const Member *m = member_of(e, k);
    if (!m->group) return arena_format(e->arena, "w->%s", m->name);
    if (op->joined_count == m->count) return arena_format(e->arena, "&w->%s", m->group);
    return arena_format(e->arena, "w->%s.%s", m->group, m->name);
}

/* True for a one-dimensional array. A gain without a bias counts as one, not as a matrix with one
 * row. */
static bool is_list(const Packed *k) { return k->rank == 1 || (k->format == FORMAT_VECTORS_F32 && k->shape[0] == 1); }

const char *emit_weight_floats(Emit *e, const Packed *k)
{
    return arena_format(e->arena, is_list(k) ? "w->%s" : "w->%s[0]", member_of(e, k)->name);
}

/* ---- types --------------------------------------------------------------------------------------- */

/* The element type and the dimensions of a member: "struct panel_64" and "[4]". */
typedef struct Type { const char *element, *dims; } Type;

static bool has_panel_struct(const Packed *k)
{
    return format_is_quantised(k->format) || (format_bits(k->format) && k->tensor[1]);
}

/* struct panel_64, struct panel_int8_64, struct panel_int8_64_nobias. */
static const char *panel_name(Emit *e, const Packed *k)
{
    const char *word = k->format == FORMAT_PANELS_F32 ? "" : arena_format(e->arena, "%s_", format_rows[k->format].word);
    return arena_format(e->arena, "panel_%s%lld%s", word, (long long)k->tensor[0]->dim[1].bound, k->tensor[1] ? "" : "_nobias");
}

static Type type_of(Emit *e, const Packed *k)
{
    const long long a = k->shape[0], b = k->shape[1], c = k->shape[2];
    if (has_panel_struct(k)) return (Type){ arena_format(e->arena, "struct %s", panel_name(e, k)), arena_format(e->arena, "[%lld]", a) };
    const char *element = k->format == FORMAT_TABLE_I32 ? "int32_t" : format_bits(k->format) == 16 ? "uint16_t" : "float";
    if (is_list(k)) return (Type){ element, arena_format(e->arena, "[%lld]", k->rank == 1 ? a : b) };
    return (Type){ element, arena_format(e->arena, k->rank == 2 ? "[%lld][%lld]" : "[%lld][%lld][%lld]", a, b, c) };
}

/* The declaration of a pointer to the first element; with the name "", its type. */
static const char *pointer_to(Emit *e, const Packed *k, const char *name)
{
    const Type t = type_of(e, k);
    return arena_format(e->arena, "const %s (*%s)%s", t.element, name, strchr(t.dims, ']') + 1);
}

/* The struct of one panel: sixteen outputs of a linear. */
static void panel_struct(Emit *e, Text *out, const Packed *k)
{
    const long long in = k->tensor[0]->dim[1].bound, groups = (in + 31) / 32, bits = format_bits(k->format);
    const char *bias = k->tensor[1] ? "float bias[16]; " : "";
    text_printf(out, "struct %s { ", panel_name(e, k));
    if (bits == 32) text_printf(out, "float bias[16], weight[%lld][16]; };\n", in);
    else if (bits == 16) text_printf(out, "%suint16_t weight[%lld][16][2]; };\n", bias, (in + 1) / 2);
    else
        text_printf(out, "%srt_f16 scale[%lld][16]%s; uint8_t weight[%lld][%lld][16][4]; };\n", bias, groups,
                    groups % 2 ? ", padding[16]" : "", groups, bits);
}

/* Explain the arrays of panels without biases, which need no struct. f32, bf16: there are some. */
static void panel_lists(Text *out, bool f32, bool bf16)
{
    const char *both = "in f32, W[out][in] is [out / 16][in][out % 16], "
                       "in bf16 [out / 16][in / 2][out % 16][in % 2]";
    const char *one = f32 ? "W[out][in] is [out / 16][in][out % 16]" : "in bf16, W[out][in] is [out / 16][in / 2][out % 16][in % 2]";
    if (f32 || bf16) text_printf(out, "/* Linears are panels of sixteen outputs: %s. */\n", f32 && bf16 ? both : one);
}

static void panel_structs(Emit *e, Text *out)
{
    NameMap *made = name_map_new(e->arena);
    bool any = false, f32 = false, narrow = false;
    for (int i = 0; i < e->plan->packed_count; i++) {
        const Format f = e->plan->packed[i]->format;
        narrow |= format_is_narrow(f);
        f32 |= format_bits(f) == 32;
    }
    for (int i = 0; i < e->plan->packed_count; i++) {
        const Packed *k = e->plan->packed[i];
        if (!has_panel_struct(k)) continue;
        const char *name = panel_name(e, k);
        if (name_map_find(made, name)) continue;
        if (!any)
            text_add(out, narrow ? "/* A panel: sixteen outputs of a linear side by side. In f32, W[out][in] is\n"
                                   " * panel[out / 16].weight[in][out % 16]; for other formats, see rt_panel_bytes in rt.h. The last\n"
                                   " * panel is padded. */\n"
                                 : "/* A panel: sixteen outputs of a linear side by side, a row for each input: W[out][in] is\n"
                                   " * panel[out / 16].weight[in][out % 16]. The last panel is padded. */\n");
        any = true;
        name_map_add(made, name, made);
        panel_struct(e, out, k);
    }
    if (!any) panel_lists(out, f32, narrow);
    if (any || f32 || narrow) text_add(out, "\n");
}

/* ---- the structs --------------------------------------------------------------------------------- */

/* The kernel of the first operation that has a tensor as its `weights`; KERNEL_CUSTOM if none
 * has. */
static Kernel reader_of(const Emit *e, const Packed *k)
{
    for (int i = 0; i < e->plan->block_count; i++)
        for (int j = 0; j < e->plan->blocks[i]->op_count; j++)
            if (e->plan->blocks[i]->ops[j].weights == k) return e->plan->blocks[i]->ops[j].kernel;
    return KERNEL_CUSTOM;
}

static const char *table_words(const Emit *e, const Packed *k)
{
    const Kernel reader = reader_of(e, k);
    const bool computed = k->tensor[0]->source && k->tensor[0]->source[0]->kind == SOURCE_SINUSOID;
    if (reader == KERNEL_EMBED) return "a row for each id";
    if (strstr(k->name, ".types.table")) return "a row for each token type";
    if (reader == KERNEL_ROTARY) return "a row for each position";
    return reader == KERNEL_POSITION ? computed ? "sinusoids, a row for each position" : "a row for each position" : "";
}

static const char *words_of(Emit *e, const Packed *k)
{
    const Tensor *t = k->tensor[0];
    if (format_bits(k->format)) return arena_format(e->arena, "%lld -> %lld", (long long)t->dim[1].bound, (long long)t->dim[0].bound);
    if (k->format == FORMAT_VECTORS_F32) return k->tensor[1] ? "weight, bias" : "weight";
    if (k->format == FORMAT_DISTANCE_F32) return "by head and distance";
    return table_words(e, k);
}

static void member_line(Text *out, const char *code, const char *comment)
{
    text_printf(out, *comment ? "    %-58s  /* %s */\n" : "    %s\n", code, comment);
}

/* The member for a group of linears, from packed[i] on. */
static void group_line(Emit *e, Text *out, int i, const Member *m)
{
    Text names = text_new(e->arena), words = text_new(e->arena);
    Packed *const *k = e->plan->packed + i;
    for (int n = 0; n < m->count; n++) {
        if (member_of(e, k[n])->group != m->group || member_of(e, k[n])->number != n) die("%s is not whole", m->group);
        text_printf(&names, "%s%s%s", n ? ", " : "", member_of(e, k[n])->name, type_of(e, k[n]).dims);
        text_printf(&words, n ? " | %lld" : "%lld", (long long)k[n]->tensor[0]->dim[0].bound);
    }
    member_line(out, arena_format(e->arena, "struct { %s %s; } %s;", type_of(e, *k).element, names.data, m->group),
                arena_format(e->arena, "%lld -> %s", (long long)k[0]->tensor[0]->dim[1].bound, words.data));
}

static void member(Emit *e, Text *out, const PlanBlock *b, int i)
{
    const Packed *k = e->plan->packed[i];
    const Member *m = member_of(e, k);
    const Type t = type_of(e, k);
    if (m->group && !m->number) group_line(e, out, i, m);
    if (m->group) return;
    const char *code = is_large(b) ? pointer_to(e, k, m->name) : arena_format(e->arena, "%s %s%s", t.element, m->name, t.dims);
    member_line(out, arena_format(e->arena, "%s;", code), words_of(e, k));
}

static void block_struct(Emit *e, Text *out, const PlanBlock *b)
{
    const char *name = b->block->name, *upper = emit_upper(e->arena, name);
    if (b->block->layers)
        text_printf(out, "#define W_%s(layer) ((size_t)%zu + (size_t)(layer) * %zu)\n", upper, b->weights_offset, b->weights_stride);
    else text_printf(out, "#define W_%s ((size_t)%zu)\n", upper, b->weights_offset);
    text_printf(out, "struct %s {\n", name);
    for (int i = 0; i < e->plan->packed_count; i++)
        if (e->plan->packed[i]->block == b) member(e, out, b, i);
    text_add(out, "};\n");
    if (!is_large(b)) text_printf(out, "_Static_assert(sizeof(struct %s) == %zu, \"as packed\");\n", name, b->weights_stride);
    text_add(out, "\n");
}

void emit_weights_structs(Emit *e, Text *out)
{
    const Plan *p = e->plan;
    const Packed *last = NULL;
    text_add(out, "/* ---- weights --------------------------------------------------------------------------------- */\n\n");
    if (p->packed_count) text_add(out, "/* W_BLOCK: where the weights of a block begin in the packed data, in bytes. */\n\n");
    panel_structs(e, out);
    for (int i = 0; i < p->block_count; i++)
        if (p->blocks[i]->weights_stride) block_struct(e, out, p->blocks[i]);
    for (int i = 0; i < p->packed_count; i++) {
        const Packed *k = p->packed[i];
        if (k->block) continue;
        const Type t = type_of(e, k);
        const bool table = k->format == FORMAT_TABLE_I32;
        if (!last || table != (last->format == FORMAT_TABLE_I32))
            text_add(out, table ? "/* Tables of the tokenizer. */\n" : "/* Shared by layers or blocks. */\n");
        text_printf(out, "#define %-36s ((size_t)%zu)    /* %s%s */\n", macro_of(e, k), k->offset, t.element, t.dims);
        last = k;
    }
    if (last) text_add(out, "\n");
}

void emit_weights_pointer(Emit *e, Text *out, const PlanBlock *b, bool by_layer)
{
    const char *name = b->block->name, *upper = emit_upper(e->arena, name), *of_layer = by_layer ? "(layer)" : "";
    if (!is_large(b)) {
        text_printf(out, "    const struct %s *const w = (const void *)(j->weights + W_%s%s);\n", name, upper, of_layer);
        return;
    }
    text_printf(out, "    const struct %s *const w = &(const struct %s){\n", name, name);
    for (int i = 0; i < e->plan->packed_count; i++) {
        const Packed *k = e->plan->packed[i];
        if (k->block == b)
            text_printf(out, "        (%s)(const void *)(j->weights + W_%s%s + %zu),\n", pointer_to(e, k, ""), upper,
                        of_layer, k->offset - b->weights_offset);
    }
    text_add(out, "    };\n");
}
