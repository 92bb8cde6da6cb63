/* draft_gguf.c: what the keys of a GGUF file say, as a Draft. An architecture is a row of `architectures`. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "dtypes.h"
#include "family.h"
#include "gguf.h"
#include "hf.h"
#include "integer.h"
#include "weights.h"

/* turns: of each head which rows turn together; the converter of ggml permutes those of Llama. */
typedef struct Architecture { const char *name; int turns; bool qk_norm; } Architecture;
static const Architecture architectures[] = {
    { "llama", ROTATIONS_INTERLEAVED, false }, { "qwen2", ROTATIONS_HALVES, false }, { "qwen3", ROTATIONS_HALVES, true },
};
enum { ARCHITECTURES = sizeof architectures / sizeof *architectures };

/* A key behind the architecture's name and a point. needed: its absence is an error. */
typedef struct Row { const char *key; FieldId field; bool needed; } Row;
static const Row rows[] = {
    { "embedding_length", FIELD_ID_d_model, true },          { "block_count", FIELD_ID_layers, true },
    { "feed_forward_length", FIELD_ID_d_ff, true },          { "attention.head_count", FIELD_ID_heads, true },
    { "attention.head_count_kv", FIELD_ID_kv_heads, false }, { "attention.key_length", FIELD_ID_head_dim, false },
    { "attention.value_length", FIELD_ID_value_dim, false }, { "attention.layer_norm_rms_epsilon", FIELD_ID_norm_eps, true },
    { "rope.freq_base", FIELD_ID_rope_theta, false },        { "rope.dimension_count", FIELD_ID_rope_dims, false },
    { "rope.scaling.factor", FIELD_ID_rope_factor, false },
};

/* Keys that would change what is computed, and the one value that does not: also as a truth. */
static const struct { const char *key; double number; } musts[] = {
    { "expert_count", 0 }, { "expert_used_count", 0 }, { "attention.causal", 1 }, { "attention.clamp_kqv", 0 }, { "attention.max_alibi_bias", 0 },
    { "logit_scale", 1 }, { "residual_scale", 1 }, { "embedding_scale", 1 }, { "attention.scale", 0 }, { "use_parallel_residual", 0 },
    { "attn_logit_softcapping", 0 }, { "final_logit_softcapping", 0 }, { "rope.scaling.attn_factor", 1 }, { "attention.layer_norm_epsilon", 0 },
};

/* head: of the first part, which has the keys. */
typedef struct Reader { Arena *arena; Diag *diag; Draft *draft; GgufParts parts; Gguf head; const Architecture *architecture; } Reader;

#define fault(r, ...) diag_error((r)->diag, EXIT_BAD_DATA, (r)->draft->at, __VA_ARGS__)

static const char *key_of(const Reader *r, const char *key) { return arena_format(r->arena, "%s.%s", r->architecture->name, key); }
static const GgufValue *find(const Reader *r, const char *key) { return gguf_find(&r->head, key_of(r, key)); }

static void set(Reader *r, FieldId id, double number) { draft_set_number(r->arena, r->draft, SIDE_BOTH, id, r->draft->at, number); }

/* A number that the field takes; false where it is absent, or after an error. */
static bool take_number(Reader *r, const char *key, FieldId id, bool needed)
{
    const Field *f = &fields[id];
    const GgufValue *v = gguf_find(&r->head, key);
    double number;
    if (!v) {
        if (needed) fault(r, "the key %s is missing", key);
        return false;
    }
    if (!gguf_number(v, &number) || (f->type != TYPE_REAL && !(number >= -9e15 && number <= 9e15 && number == (double)(int64_t)number))) {
        fault(r, "%s must be %s number", key, f->type == TYPE_REAL ? "a" : "one whole");
        return false;
    }
    const FieldValue value = { .integer = f->type == TYPE_REAL ? 0 : (int64_t)number, .real = number };
    if (!field_check(r->diag, r->draft->at, f, key, arena_format(r->arena, "%.9g", number), &value)) return false;
    draft_set(r->arena, r->draft, SIDE_BOTH, id, r->draft->at, &value, 1);
    return true;
}

static bool find_architecture(Reader *r)
{
    const GgufValue *v = gguf_find(&r->head, "general.architecture");
    const GgufText name = v ? v->text : (GgufText){ "", 0 };
    for (int i = 0; i < ARCHITECTURES; i++)
        if (gguf_is(name, architectures[i].name)) r->architecture = &architectures[i];
    if (r->architecture) return true;
    fault(r, "general.architecture '%.*s' is not supported; llama, qwen2 and qwen3 are", gguf_shown(name), name.s);
    return false;
}

/* ---- tensors that say something ------------------------------------------------------------------------- */

/* *map: of the part that it lies in; NULL where nobody asks. */
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

/* Matrices of Q8_0 and Q4_0 stay as they are. */
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

static void take_tensors(Reader *r)
{
    const GgufTensor *embed = tensor(r, "token_embd.weight");
    if (!embed || embed->rank != 2 || !embed->dims[1] || embed->dims[1] > INT32_MAX) {
        fault(r, "there is no matrix token_embd.weight");
        return;
    }
    set(r, FIELD_ID_vocab, (double)embed->dims[1]);
    set(r, FIELD_ID_tied, !tensor(r, "output.weight"));
    set(r, FIELD_ID_qkv_bias, tensor(r, "blk.0.attn_q.bias") != NULL);
    set(r, FIELD_ID_out_bias, tensor(r, "blk.0.attn_output.bias") != NULL);
    set(r, FIELD_ID_ffn_bias, tensor(r, "blk.0.ffn_up.bias") != NULL);
    if (has_groups(r)) draft_set_word(r->arena, r->draft, FIELD_ID_dtype, r->draft->at, "file");
}

/* ---- rotary positions ----------------------------------------------------------------------------------- */

/* What each rate is divided by: f32 in the file, as factors of any other scaling are. */
static void take_rates(Reader *r, const GgufTensor *t, const FileMap *map, double length)
{
    const uint64_t n = t->dims[0];
    if (t->rank != 1 || t->type != 0 || !n || n > 65536 || n * 4 > map->size || t->offset > map->size - n * 4) {
        fault(r, "rope_freqs.weight must be a vector of F32");
        return;
    }
    double *factors = arena_array(r->arena, (size_t)n, sizeof *factors);
    for (uint64_t i = 0; i < n; i++) {
        float f;
        memcpy(&f, map->data + t->offset + 4 * i, sizeof f);
        factors[i] = (double)f;
        if (!(f >= 0.001f && f <= 65536)) fault(r, "rope_freqs.weight[%" PRIu64 "] (%.9g) must be in 0.001 .. 65536", i, (double)f);
    }
    draft_set_numbers(r->arena, r->draft, SIDE_BOTH, FIELD_ID_rope_short_factor, r->draft->at, factors, (int)n);
    draft_set_numbers(r->arena, r->draft, SIDE_BOTH, FIELD_ID_rope_long_factor, r->draft->at, factors, (int)n);
    set(r, FIELD_ID_rope_scaling, SCALINGS_LONGROPE);
    set(r, FIELD_ID_rope_attention_factor, 1);
    set(r, FIELD_ID_rope_original_len, length);
}

static void take_rope(Reader *r, double length)
{
    const GgufValue *v = find(r, "rope.scaling.type");
    const bool factor = draft_choice(r->draft, SIDE_BOTH, FIELD_ID_rope_factor) != NULL;    /* which alone means linear */
    const GgufText type = v ? v->text : factor ? (GgufText){ "linear", 6 } : (GgufText){ "none", 4 };
    const FileMap *map = NULL;
    const GgufTensor *rates = tensor_in(r, "rope_freqs.weight", &map);
    set(r, FIELD_ID_rope_layout, r->architecture->turns);
    if (gguf_is(type, "linear")) set(r, FIELD_ID_rope_scaling, SCALINGS_LINEAR);
    else if (!gguf_is(type, "none"))
        fault(r, "%s '%.*s' is not supported; none, linear and the factors of rope_freqs.weight are", key_of(r, "rope.scaling.type"),
              gguf_shown(type), type.s);
    if (rates) take_rates(r, rates, map, length);
}

/* ---- the file ------------------------------------------------------------------------------------------- */

static void take_window(Reader *r)
{
    const GgufValue *v = find(r, "attention.sliding_window");
    double window;
    if (v && gguf_number(v, &window) && window > 0) take_number(r, key_of(r, "attention.sliding_window"), FIELD_ID_window, false);
}

/* The first token of an answer follows bos, if any. */
static void take_marks(Reader *r, const char *path)
{
    enum { NOTHING_ENDS = -1 };
    const Numbers ends = gguf_ends(r->arena, r->diag, r->draft->at, &r->head);
    if (gguf_find(&r->head, "tokenizer.ggml.tokens"))
        draft_set_text(r->arena, r->draft, FIELD_ID_tokenizer_file, r->draft->at, path);
    take_number(r, "tokenizer.ggml.bos_token_id", FIELD_ID_start_id, false);
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
        fault(r, "%s is not supported: it must be %g", key_of(r, musts[i].key), musts[i].number);
    }
}

static void take_file(Reader *r, const char *path)
{
    double length = 0;
    if (!find_architecture(r)) return;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) take_number(r, key_of(r, rows[i].key), rows[i].field, rows[i].needed);
    if (!take_number(r, key_of(r, "context_length"), FIELD_ID_max_len, true)) return;
    gguf_number(find(r, "context_length"), &length);
    set(r, FIELD_ID_qk_norm, r->architecture->qk_norm);
    check_musts(r);
    if (!find(r, "rope.scaling.factor")) take_number(r, key_of(r, "rope.scale_linear"), FIELD_ID_rope_factor, false);   /* its old name */
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
