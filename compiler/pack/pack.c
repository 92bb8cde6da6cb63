/* pack.c: write packed weights to a file or as C; see pack.h for the format of the file and
 * formats.def for the layouts. */
#include "pack_parts.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "progress.h"
#include "reserved_names.h"
#include "rt_packed.h"
#include "text.h"
#include "weights.h"

/* ---- the header ------------------------------------------------------------------------------------------------ */

static const char zeros[] = "0000000000000000";
_Static_assert(PACK_IDENTITY_AT == (int)RT_PACKED_IDENTITY_AT, "where the identity stands");
_Static_assert(!RT_BIG_ENDIAN, "xformc itself is for little-endian machines: packed files are little-endian");

static int by_offset(const void *a, const void *b)
{
    size_t x = ((const PackEntry *)a)->offset, y = ((const PackEntry *)b)->offset;
    return (x > y) - (x < y);
}

PackEntry *pack_entries(Arena *a, const Plan *p, int *n)
{
    *n = 0;
    for (int i = 0; i < p->packed_count; i++) *n += p->packed[i]->layers ? p->packed[i]->layers : 1;
    PackEntry *e = arena_array(a, (size_t)*n, sizeof *e);
    int k = 0;
    for (int i = 0; i < p->packed_count; i++) {
        const Packed *packed = p->packed[i];
        for (int l = 0; l < (packed->layers ? packed->layers : 1); l++)
            e[k++] = (PackEntry){ packed, l, packed->offset + (size_t)l * packed->stride };
    }
    qsort(e, (size_t)*n, sizeof *e, by_offset);
    return e;
}

static const char *entry_name(Arena *a, const PackEntry *e)
{
    const Packed *k = e->packed;
    const Tensor named = { .name = k->name };
    return k->layers ? tensor_layer_name(a, &named, k->block->block->layer[e->layer_index]) : k->name;
}

static void add_entry(Arena *a, Text *t, const PackEntry *e)
{
    const Packed *k = e->packed;
    text_printf(t, ",\"%s\":{\"dtype\":\"%s\",\"shape\":[", entry_name(a, e), format_rows[k->format].dtype);
    for (int r = 0; r < k->rank; r++) text_printf(t, "%s%lld", r ? "," : "", (long long)k->shape[r]);
    text_printf(t, "],\"data_offsets\":[%zu,%zu]}", e->offset, e->offset + k->bytes);
}

/* The JSON of the header, padded, with zeros for the hash and the values. */
static Text head_text(Arena *a, const Plan *p, const char *kind, const char *identity)
{
    int n;
    PackEntry *e = pack_entries(a, p, &n);
    Text t = text_new(a);
    text_printf(&t, "{\"__metadata__\":{\"xformc\":\"%s\",\"%s\":\"%s\"", identity, kind, zeros);
    if (pack_has_values(p)) text_printf(&t, ",\"selftest\":\"%0*d\"", RT_SELFTEST_DIGITS, 0);
    text_add(&t, "}");
    for (int i = 0; i < n; i++) add_entry(a, &t, &e[i]);
    text_add(&t, "}");
    while ((t.size + 8) % 64) text_add(&t, " ");
    return t;
}

Pack pack_layout(Arena *a, const Plan *p)
{
    char *text = NULL;
    size_t size = 0;
    FILE *f = open_memstream(&text, &size);
    if (!f) no_memory("the text of a graph");
    graph_dump(p->graph, f);
    if (fclose(f) != 0) no_memory("the text of a graph");
    Text head = head_text(a, p, "content", zeros);      /* the identity is the same for both kinds
                                                         * of hash */
    uint64_t h = rt_hash(rt_hash(rt_hash_start, text, size), head.data, head.size);
    free(text);
    if (p->graph->model->kv_dtype != KV_DTYPES_F32)     /* the self-test's values depend on it */
        h = rt_hash(h, model_kv_dtype(p->graph->model), strlen(model_kv_dtype(p->graph->model)));
    return (Pack){ .plan = p, .identity = arena_format(a, "%016" PRIx64, h), .head_bytes = head.size + 8 };
}

/* ---- the data -------------------------------------------------------------------------------------------------- */

/* The header of the file, [pack->head_bytes], with zeros for the hash and the values. */
static unsigned char *head_of(Arena *a, const Pack *pack)
{
    const Text head = head_text(a, pack->plan, "digests", pack->identity);
    unsigned char *bytes = arena_alloc(a, pack->head_bytes);
    if (head.size + 8 != pack->head_bytes) die("the size of the header differs from that of pack_layout");
    for (int i = 0; i < 8; i++) bytes[i] = (unsigned char)((uint64_t)head.size >> (8 * i));
    memcpy(bytes + 8, head.data, head.size);
    return bytes;
}

/* The whole file in memory. *size receives its length; the caller frees it. */
static unsigned char *pack_bytes(Arena *a, const Pack *pack, size_t *size)
{
    int n;
    const PackEntry *e = pack_entries(a, pack->plan, &n);
    *size = pack->head_bytes + pack->plan->weights_bytes;
    unsigned char *bytes = calloc(*size, 1);
    if (!bytes) no_memory("%zu bytes of weights", *size);
    memcpy(bytes, head_of(a, pack), pack->head_bytes);
    pack_tensors(bytes + pack->head_bytes, e, n);
    pack_values(pack, bytes + pack->head_bytes, (char *)bytes + RT_PACKED_SELFTEST_AT);
    memcpy(bytes + RT_PACKED_CONTENT_AT, arena_format(a, "%016" PRIx64, rt_packed_content(bytes, *size)), RT_PACKED_DIGITS);
    return bytes;
}

bool pack_write(Arena *a, Diag *d, const Pack *pack, const char *path)
{
    if (!plan_fits_machine(d, pack->plan, WORK_PACK)) return false;
    PackedFile file = { .plan = pack->plan, .head = head_of(a, pack), .head_bytes = pack->head_bytes, .values = pack };
    file.entries = pack_entries(a, pack->plan, &file.count);
    FileWriter *w = file_create(a, d, path);
    if (!w) return false;
    pack_to_file(a, w, &file);
    if (weights_stay(d, pack->plan->graph->model)) return file_commit(w);
    file_abandon(w);
    return false;
}

/* ---- as C text ----------------------------------------------------------------------------------------------------- */

/* A unique member of the struct for a tensor: its name with underscores for punctuation, prefixed
 * with t_ if C or the struct cannot use it. If another member has this name already, as for a.b and
 * a_b, a number is added. */
static const char *member(Arena *a, NameMap *taken, const PackEntry *e)
{
    char *base = arena_format(a, "t_%s", entry_name(a, e));
    for (char *s = base; *s; s++)
        if (!isalnum((unsigned char)*s)) *s = '_';
    const char *name = base + (name_is_of_c(base + 2) || strcmp(base + 2, "head") == 0 || isdigit((unsigned char)base[2]) ? 0 : 2);
    return name_map_add_free(taken, name);
}

static void byte_lines(Text *t, const unsigned char *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++) text_printf(t, "%s%d,", i % 18 ? " " : "\n        ", bytes[i]);
}

/* True if a tensor is written as bytes in C: narrow weights and the tokenizer. Others are written
 * as numbers, which have the byte order of the target. */
static bool is_bytes(const Plan *p, const PackEntry *e)
{
    return format_is_narrow(e->packed->format) || e->packed == p->tokenizer;
}

/* A float, or an int32_t if `integer`, as a C constant of exactly this value. */
static const char *number_text(char text[32], const unsigned char *at, bool integer)
{
    float f;
    int32_t k;
    memcpy(&f, at, sizeof f);
    memcpy(&k, at, sizeof k);
    if (integer) snprintf(text, 32, "%" PRId32, k);
    else if (f == 0 && k) snprintf(text, 32, "-0.0f");
    else {
        const int n = snprintf(text, 30, "%.9g", (double)f);
        if (strpbrk(text, ".e")) memcpy(text + n, "f", 2);      /* others are integers that fit an int */
    }
    return text;
}

/* Write n numbers in braces, in lines of at most 100 columns; returns the end of their bytes. */
static const unsigned char *number_row(Text *t, const unsigned char *at, int64_t n, int indent, bool integers)
{
    enum { WIDE = 98 };
    char text[32];
    text_printf(t, "%*s{", indent, "");
    for (int64_t i = 0, column = indent + 1; i < n; i++, at += 4) {
        const int length = (int)strlen(number_text(text, at, integers)) + 2;
        if (column + length > WIDE) text_printf(t, "\n%*s", indent + 1, ""), column = indent + 1;
        text_printf(t, " %s%s", text, i + 1 < n ? "," : "");
        column += length;
    }
    text_add(t, " },\n");
    return at;
}

static const unsigned char *number_rows(Text *t, const unsigned char *at, int64_t rows, int64_t n, int indent)
{
    text_printf(t, "%*s{\n", indent, "");
    for (int64_t r = 0; r < rows; r++) at = number_row(t, at, n, indent + 2, false);
    text_printf(t, "%*s},\n", indent, "");
    return at;
}

/* True if each panel is a struct of biases and weights in C. */
static bool has_biases(const Packed *k) { return k->format == FORMAT_PANELS_F32 && k->tensor[1]; }

static void literal_numbers(Text *t, const Plan *p, const PackEntry *e, const unsigned char *data)
{
    const Packed *k = e->packed;
    const unsigned char *at = data + e->offset;
    if (is_bytes(p, e)) {
        text_add(t, "    {");
        byte_lines(t, at, k->bytes);
        text_add(t, "\n    },\n");
        return;
    }
    if (k->rank == 1) at = number_row(t, at, k->shape[0], 4, k->format == FORMAT_TABLE_I32);
    else if (k->rank == 2) at = number_rows(t, at, k->shape[0], k->shape[1], 4);
    else {
        text_add(t, "    {\n");
        for (int64_t i = 0; i < k->shape[0]; i++) {
            if (has_biases(k)) text_add(t, "      {\n"), at = number_row(t, at, 16, 8, false);
            at = number_rows(t, at, k->shape[1] - has_biases(k), k->shape[2], has_biases(k) ? 8 : 6);
            if (has_biases(k)) text_add(t, "      },\n");
        }
        text_add(t, "    },\n");
    }
    if (at != data + e->offset + k->bytes) die("%s: the number of values does not match its shape", k->name);
}

static void declare_member(Text *t, const Plan *p, const PackEntry *e, const char *name)
{
    const Packed *k = e->packed;
    if (is_bytes(p, e)) {
        text_printf(t, "    unsigned char %s[%zu];\n", name, k->bytes);
        return;
    }
    if (has_biases(k)) {
        text_printf(t, "    struct { float bias[16], weight[%lld][16]; } %s[%lld];\n", (long long)k->shape[1] - 1, name, (long long)k->shape[0]);
        return;
    }
    text_printf(t, "    %s %s", k->format == FORMAT_TABLE_I32 ? "int32_t" : "float", name);
    for (int r = 0; r < k->rank; r++) text_printf(t, "[%lld]", (long long)k->shape[r]);
    text_add(t, ";\n");
}

static void reverse(unsigned char *bytes, int n)
{
    for (int i = 0; i < n / 2; i++) {
        const unsigned char kept = bytes[i];
        bytes[i] = bytes[n - 1 - i];
        bytes[n - 1 - i] = kept;
    }
}

/* The packed bytes as a big-endian machine holds them; the caller frees them. NULL if any weights
 * are narrow: these stay little-endian in C, so no header may claim that they are big-endian. */
static unsigned char *big_endian(const Pack *pack, const PackEntry *e, int n, const unsigned char *bytes, size_t size)
{
    for (int i = 0; i < n; i++)
        if (format_is_narrow(e[i].packed->format)) return NULL;
    unsigned char *big = malloc(size);
    if (!big) no_memory("%zu bytes of weights", size);
    memcpy(big, bytes, size);
    reverse(big, 8);
    for (int i = 0; i < n; i++)
        for (size_t at = 0; at < e[i].packed->bytes && !is_bytes(pack->plan, &e[i]); at += 4)
            reverse(big + pack->head_bytes + e[i].offset + at, 4);
    char content[RT_PACKED_DIGITS + 1];
    snprintf(content, sizeof content, "%016" PRIx64, rt_packed_content(big, size));
    memcpy(big + RT_PACKED_CONTENT_AT, content, RT_PACKED_DIGITS);
    return big;
}

/* Bytes of the header that depend on the byte order. big: NULL if only little-endian is
 * supported. */
static void both_orders(Text *t, const unsigned char *little, const unsigned char *big, size_t at, size_t n)
{
    if (big) {
        text_add(t, "\n#if RT_BIG_ENDIAN");
        byte_lines(t, big + at, n);
        text_add(t, "\n#else");
    }
    byte_lines(t, little + at, n);
    if (big) text_add(t, "\n#endif");
}

/* The header. Its length and its hash depend on the byte order of the target. */
static void literal_head(Text *t, const Pack *pack, const unsigned char *little, const unsigned char *big)
{
    const size_t after = RT_PACKED_DATA_AT;
    text_add(t, "    {");
    both_orders(t, little, big, 0, 8);
    byte_lines(t, little + 8, RT_PACKED_CONTENT_AT - 8);
    both_orders(t, little, big, RT_PACKED_CONTENT_AT, RT_PACKED_DIGITS);
    byte_lines(t, little + after, pack->head_bytes - after);
    text_add(t, "\n    },\n");
}

/* C has no constants for infinities and NaNs that every compiler accepts. */
static bool all_finite(const Plan *p, const PackEntry *e, const unsigned char *data)
{
    const Packed *k = e->packed;
    if (is_bytes(p, e) || k->format == FORMAT_TABLE_I32) return true;
    for (size_t i = 0; i < k->bytes; i += sizeof(float)) {
        float f;
        memcpy(&f, data + e->offset + i, sizeof f);
        if (!isfinite(f)) return false;
    }
    return true;
}

bool pack_literal(Arena *a, Diag *d, const Pack *pack, Text *out)
{
    enum { MOST_VALUES = 1000000 };
    const char *name = pack->plan->graph->model->name;
    size_t size, values = pack->plan->weights_bytes / sizeof(float);
    if (values > MOST_VALUES) {
        diag_error(d, EXIT_BAD_DATA, (Loc){ 0 }, "%zu bytes of packed weights are too many to write as C; the limit is %zu",
                   pack->plan->weights_bytes, MOST_VALUES * sizeof(float));
        diag_note(d, (Loc){ 0 }, "use --weights=embed or --weights=file");
        return false;
    }
    if (!plan_fits_machine(d, pack->plan, WORK_PACK)) return false;
    int n;
    PackEntry *e = pack_entries(a, pack->plan, &n);
    NameMap *taken = name_map_new(a);
    unsigned char *bytes = pack_bytes(a, pack, &size);
    for (int i = 0; i < n; i++) {
        if (all_finite(pack->plan, &e[i], bytes + pack->head_bytes)) continue;
        diag_error(d, EXIT_BAD_DATA, (Loc){ 0 }, "%s has infinities or NaNs, which cannot be written as C", entry_name(a, &e[i]));
        diag_note(d, (Loc){ 0 }, "use --weights=embed or --weights=file");
        free(bytes);
        return false;
    }
    text_printf(out, "/* %s_weights.c: the packed weights as C: the header of their file, then every tensor in\n"
                     " * order of execution. */\n"
                     "#include \"%s.h\"\n\nstatic const struct {\n    XF_ALIGN(64) unsigned char head[%zu];\n", name, name, pack->head_bytes);
    for (int i = 0; i < n; i++) declare_member(out, pack->plan, &e[i], member(a, taken, &e[i]));
    text_add(out, "} weights = {\n");
    unsigned char *big = big_endian(pack, e, n, bytes, size);
    literal_head(out, pack, bytes, big);
    free(big);
    for (int i = 0; i < n; i++) literal_numbers(out, pack->plan, &e[i], bytes + pack->head_bytes);
    text_printf(out, "};\n\nextern const void *const %s_literal;\nconst void *const %s_literal = &weights;\n", name, name);
    free(bytes);
    return weights_stay(d, pack->plan->graph->model);
}
