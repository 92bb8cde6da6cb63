/* draft_gguf.c: read the keys and some tensors of a GGUF file as a Draft. Each supported
 * architecture is a row of `architectures`. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "dtypes.h"
#include "family.h"
#include "gguf.h"
#include "hf.h"
#include "integer.h"
#include "weights.h"

/* turns: the rows of a head that RoPE rotates together; llama.cpp's converter permutes those of
 * Llama. */
typedef struct Architecture { const char *name; int turns; bool qk_norm; } Architecture;
static const Architecture architectures[] = {
    { "llama", ROTATIONS_INTERLEAVED, false }, { "qwen2", ROTATIONS_HALVES, false }, { "qwen3", ROTATIONS_HALVES, true },
};
enum { ARCHITECTURES = sizeof architectures / sizeof *architectures };

/* needed: an error if absent. */
typedef struct Row { GgufKeyId key; FieldId field; bool needed; } Row;
static const Row rows[] = {
    { GGUF_KEY_WIDTH, FIELD_ID_d_model, true },
    { GGUF_KEY_LAYERS, FIELD_ID_layers, true },
    { GGUF_KEY_FFN, FIELD_ID_d_ff, true },
    { GGUF_KEY_HEADS, FIELD_ID_heads, true },
    { GGUF_KEY_KV_HEADS, FIELD_ID_kv_heads, false },
    { GGUF_KEY_KEY_LENGTH, FIELD_ID_head_dim, false },
    { GGUF_KEY_VALUE_LENGTH, FIELD_ID_value_dim, false },
    { GGUF_KEY_RMS_EPS, FIELD_ID_norm_eps, true },
    { GGUF_KEY_ROPE_BASE, FIELD_ID_rope_theta, false },
    { GGUF_KEY_ROPE_DIMS, FIELD_ID_rope_dims, false },
    { GGUF_KEY_ROPE_FACTOR, FIELD_ID_rope_factor, false },
};

/* Keys that change the computation, each with the only supported value; 1 and 0 for bools. */
static const struct { GgufKeyId key; double number; } musts[] = {
    { GGUF_KEY_EXPERTS, 0 }, { GGUF_KEY_EXPERTS_USED, 0 }, { GGUF_KEY_CAUSAL, 1 },
    { GGUF_KEY_CLAMP_KQV, 0 }, { GGUF_KEY_ALIBI_BIAS, 0 }, { GGUF_KEY_LOGIT_SCALE, 1 },
    { GGUF_KEY_RESIDUAL_SCALE, 1 }, { GGUF_KEY_EMBEDDING_SCALE, 1 },
    { GGUF_KEY_ATTENTION_SCALE, 0 }, { GGUF_KEY_PARALLEL_RESIDUAL, 0 },
    { GGUF_KEY_ATTENTION_CAP, 0 }, { GGUF_KEY_FINAL_CAP, 0 }, { GGUF_KEY_ROPE_ATTENTION, 1 },
    { GGUF_KEY_NORM_EPS, 0 },
};

/* head: the header of the first part, which has the keys. */
typedef struct Reader { Arena *arena; Diag *diag; Draft *draft; GgufParts parts; Gguf head; const Architecture *architecture; } Reader;

#define fault(r, ...) diag_error((r)->diag, EXIT_BAD_DATA, (r)->draft->at, __VA_ARGS__)

static const char *name_of(const Reader *r, GgufKeyId key)
{
    return gguf_key_name(r->arena, &r->head, key);
}

static const GgufValue *find(const Reader *r, GgufKeyId key) { return gguf_find(&r->head, key); }

static void set(Reader *r, FieldId id, double number) { draft_set_number(r->arena, r->draft, SIDE_BOTH, id, r->draft->at, number); }

/* Set a field from a number; false if the key is absent, or after an error. */
static bool take_number(Reader *r, GgufKeyId key, FieldId id, bool needed)
{
    const Field *f = &fields[id];
    const GgufValue *v = find(r, key);
    double number;
    if (!v || !gguf_number(v, &number)) {
        if (needed) fault(r, "the key %s is missing", name_of(r, key));
        return false;
    }
    const FieldValue value = { .integer = f->type == TYPE_REAL ? 0 : (int64_t)number, .real = number };
    const char *shown = arena_format(r->arena, "%.9g", number);
    if (!field_check(r->diag, r->draft->at, f, name_of(r, key), shown, &value)) return false;
    draft_set(r->arena, r->draft, SIDE_BOTH, id, r->draft->at, &value, 1);
    return true;
}

static bool find_architecture(Reader *r)
{
    const GgufText name = r->head.architecture;
    for (int i = 0; i < ARCHITECTURES; i++)
        if (gguf_is(name, architectures[i].name)) r->architecture = &architectures[i];
    if (r->architecture) return true;
    fault(r, "general.architecture '%s' is not supported; llama, qwen2 and qwen3 are",
          gguf_shown(r->arena, name));
    return false;
}

/* ---- fields that follow from tensors -------------------------------------------------------------------- */

/* Find a tensor in any part. *map receives the map of that part; map may be NULL. */
static const GgufTensor *tensor_in(const Reader *r, const char *name, const FileMap **map)
{
    for (int k = 0; k < r->parts.count; k++) {
        const GgufPart *part = &r->parts.part[k];
        for (uint64_t i = 0; i < part->head.tensor_count; i++) {
            if (!gguf_is(part->head.tensors[i].name, name)) continue;
            if (map) *map = &part->map;
            return &part->head.tensors[i];
        }
    }
    return NULL;
}

static const GgufTensor *tensor(const Reader *r, const char *name) { return tensor_in(r, name, NULL); }

/* True if there are Q8_0 or Q4_0 tensors: they are kept as stored (dtype = "file"). */
static bool has_groups(const Reader *r)
{
    for (int k = 0; k < r->parts.count; k++) {
        const Gguf *g = &r->parts.part[k].head;
        for (uint64_t i = 0; i < g->tensor_count; i++) {
            const BlockFormat *f = block_format_of_ggml(g->tensors[i].type);
            if (f && (f->dtype == DTYPE_Q8_0 || f->dtype == DTYPE_Q4_0)) return true;
        }
    }
    return false;
}

static bool ends_in(GgufText name, const char *end)
{
    const size_t n = strlen(end);
    return name.n >= n && memcmp(name.s + name.n - n, end, n) == 0;
}

/* Report the first tensor that scales the matrix it is named after. */
static void check_scales(Reader *r)
{
    for (int k = 0; k < r->parts.count; k++) {
        const Gguf *g = &r->parts.part[k].head;
        for (uint64_t i = 0; i < g->tensor_count; i++) {
            const GgufText name = g->tensors[i].name;
            if (!ends_in(name, ".scale") && !ends_in(name, ".input_scale")) continue;
            fault(r, "%s is not supported: it scales a matrix", gguf_shown(r->arena, name));
            return;
        }
    }
}

/* The N of a name blk.N.REST; -1 for other names. */
static int64_t layer_of(GgufText name)
{
    static const char begin[] = "blk.";
    const size_t start = sizeof begin - 1;
    int64_t layer = 0;
    size_t i = start;
    if (name.n <= start || memcmp(name.s, begin, start) != 0) return -1;
    for (; i < name.n && name.s[i] >= '0' && name.s[i] <= '9' && layer < INT32_MAX; i++) layer = 10 * layer + (name.s[i] - '0');
    return i > start && i < name.n && name.s[i] == '.' ? layer : -1;
}

/* Report the first tensor of a layer beyond the number of layers that the key gives. */
static void check_layers(Reader *r)
{
    const GgufValue *v = find(r, GGUF_KEY_LAYERS);
    for (int k = 0; v && k < r->parts.count; k++) {
        const Gguf *g = &r->parts.part[k].head;
        for (uint64_t i = 0; i < g->tensor_count; i++) {
            const GgufText name = g->tensors[i].name;
            if (layer_of(name) < (int64_t)v->bits) continue;
            fault(r, "%s is %" PRIu64 ", but there is a tensor %s", name_of(r, GGUF_KEY_LAYERS), v->bits, gguf_shown(r->arena, name));
            return;
        }
    }
}

static void take_tensors(Reader *r)
{
    const GgufTensor *embed = tensor(r, "token_embd.weight");
    if (!embed || embed->rank != 2 || !embed->dims[1] || embed->dims[1] > INT32_MAX) {
        fault(r, "token_embd.weight is missing or not a matrix");
        return;
    }
    check_scales(r);
    check_layers(r);
    set(r, FIELD_ID_vocab, (double)embed->dims[1]);
    set(r, FIELD_ID_tied, !tensor(r, "output.weight"));
    set(r, FIELD_ID_qkv_bias, tensor(r, "blk.0.attn_q.bias") != NULL);
    set(r, FIELD_ID_out_bias, tensor(r, "blk.0.attn_output.bias") != NULL);
    set(r, FIELD_ID_ffn_bias, tensor(r, "blk.0.ffn_up.bias") != NULL);
    if (has_groups(r)) draft_set_word(r->arena, r->draft, FIELD_ID_dtype, r->draft->at, "file");
}

/* ---- rotary positions ----------------------------------------------------------------------------------- */

/* Read the divisors of the RoPE rates, an F32 vector, as factors of LongRoPE scaling: the same for
 * short and long contexts. Linear scaling divides the rates too, as in llama.cpp. */
static void take_rates(Reader *r, const GgufTensor *t, const FileMap *map, double length, double linear)
{
    const uint64_t n = t->dims[0];
    if (t->rank != 1 || t->type != 0 || !n || n > 65536 || n * 4 > map->size || t->offset > map->size - n * 4) {
        fault(r, "rope_freqs.weight must be an F32 vector");
        return;
    }
    double *factors = arena_array(r->arena, (size_t)n, sizeof *factors);
    for (uint64_t i = 0; i < n; i++) {
        float f;
        memcpy(&f, map->data + t->offset + 4 * i, sizeof f);
        factors[i] = (double)f * linear;
        if (!(f >= 0.001f && f <= 65536)) fault(r, "rope_freqs.weight[%" PRIu64 "] (%.9g) must be from 0.001 to 65536", i, (double)f);
    }
    draft_set_numbers(r->arena, r->draft, SIDE_BOTH, FIELD_ID_rope_short_factor, r->draft->at, factors, (int)n);
    draft_set_numbers(r->arena, r->draft, SIDE_BOTH, FIELD_ID_rope_long_factor, r->draft->at, factors, (int)n);
    set(r, FIELD_ID_rope_scaling, SCALINGS_LONGROPE);
    set(r, FIELD_ID_rope_attention_factor, 1);
    set(r, FIELD_ID_rope_original_len, length);
}

static void take_rope(Reader *r, double length)
{
    const GgufValue *v = find(r, GGUF_KEY_ROPE_TYPE);
    /* a factor without a type means linear */
    const bool factor = draft_choice(r->draft, SIDE_BOTH, FIELD_ID_rope_factor) != NULL;
    const GgufText type = v ? v->text : factor ? (GgufText){ "linear", 6 } : (GgufText){ "none", 4 };
    const FileMap *map = NULL;
    const GgufTensor *rates = tensor_in(r, "rope_freqs.weight", &map);
    set(r, FIELD_ID_rope_layout, r->architecture->turns);
    if (gguf_is(type, "linear")) set(r, FIELD_ID_rope_scaling, SCALINGS_LINEAR);
    else if (!gguf_is(type, "none"))
        fault(r, "%s '%s' is not supported, only none and linear, with or without rope_freqs.weight",
              name_of(r, GGUF_KEY_ROPE_TYPE), gguf_shown(r->arena, type));
    const Choice *scale = gguf_is(type, "linear") ? draft_choice(r->draft, SIDE_BOTH, FIELD_ID_rope_factor) : NULL;
    if (rates) take_rates(r, rates, map, length, scale ? scale->values->real : 1);
}

/* ---- the file ------------------------------------------------------------------------------------------- */

static void take_window(Reader *r)
{
    const GgufValue *v = find(r, GGUF_KEY_WINDOW);
    if (!v || !v->bits || !take_number(r, GGUF_KEY_WINDOW, FIELD_ID_window, false)) return;
    diag_remark(r->diag, r->draft->at, "%s limits attention, as in transformers; llama.cpp ignores it for this architecture",
                name_of(r, GGUF_KEY_WINDOW));
}

/* Set the tokenizer, the start id (bos, if the file has one) and the end ids. */
static void take_marks(Reader *r, const char *path)
{
    enum { NOTHING_ENDS = -1 };
    const Numbers ends = gguf_ends(r->arena, r->diag, r->draft->at, &r->head);
    if (find(r, GGUF_KEY_TOKENS))
        draft_set_text(r->arena, r->draft, FIELD_ID_tokenizer_file, r->draft->at, path);
    take_number(r, GGUF_KEY_BOS, FIELD_ID_start_id, false);
    set(r, FIELD_ID_end_id, ends.count ? ends.value[0] : NOTHING_ENDS);
    if (ends.count > 1)
        draft_set_numbers(r->arena, r->draft, SIDE_BOTH, FIELD_ID_end_ids, r->draft->at, ends.value + 1, ends.count - 1);
}

static void check_musts(Reader *r)
{
    for (size_t i = 0; i < sizeof musts / sizeof *musts; i++) {
        const GgufValue *v = find(r, musts[i].key);
        double number;
        if (!v || (gguf_number(v, &number) && fabs(number - musts[i].number) <= 0)) continue;
        fault(r, "%s must be %g; other values are not supported", name_of(r, musts[i].key), musts[i].number);
    }
}

static void take_file(Reader *r, const char *path)
{
    double length = 0;
    if (!find_architecture(r)) return;
    const char *wrong = gguf_architecture_fault(r->arena, &r->head);
    if (wrong) {
        fault(r, "the file %s", wrong);
        return;
    }
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        take_number(r, rows[i].key, rows[i].field, rows[i].needed);
    if (!take_number(r, GGUF_KEY_CONTEXT, FIELD_ID_max_len, true)) return;
    gguf_number(find(r, GGUF_KEY_CONTEXT), &length);
    set(r, FIELD_ID_qk_norm, r->architecture->qk_norm);
    check_musts(r);
    if (!find(r, GGUF_KEY_ROPE_FACTOR))
        take_number(r, GGUF_KEY_ROPE_OLD_FACTOR, FIELD_ID_rope_factor, false);
    take_window(r);
    take_tensors(r);
    take_rope(r, length);
    take_marks(r, path);
    draft_set_trained(r->arena, r->draft, r->draft->at, integer_of(length));
}

Draft *draft_from_gguf(Arena *a, Diag *d, const char *path)
{
    Draft *draft = arena_alloc(a, sizeof *draft);
    Reader r = { .arena = a, .diag = d, .draft = draft };
    const int errors = diag_errors(d);
    path = arena_text(a, path);
    draft->path = path;
    draft->at = (Loc){ path, 0, 0 };
    if (!gguf_open_parts(a, d, (Loc){ 0 }, path, &r.parts)) return NULL;
    r.head = r.parts.part->head;
    const char *name = r.parts.count > 1 ? gguf_name_of_split(a, path) : path, *slash = strrchr(name, '/'), *base = slash ? slash + 1 : name;
    draft_set_text(a, draft, FIELD_ID_name, draft->at, model_name_of_file(a, base));
    draft_set_text(a, draft, FIELD_ID_weights, (Loc){ 0 }, path);
    family_apply(a, draft, field_word(&fields[FIELD_ID_names], "gguf"));
    take_file(&r, path);
    gguf_close_parts(&r.parts);
    return diag_errors(d) > errors ? NULL : draft;
}
