/* model_check.c: make a Model of a Draft: set defaults, derive fields from others, and reject
 * impossible combinations. Errors point at the field at fault, or at draft->at if the spec does not
 * set it or if no single field is at fault. */
#include "model_check.h"
#include "reserved_names.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

static const double MOST_BYTES = 70368744177664.0;      /* 2^46 */

#define wrong(c, at, ...) diag_error((c)->diag, EXIT_BAD_DATA, at, __VA_ARGS__)

bool model_check_is_good(const ModelCheck *c)
{
    return diag_errors(c->diag) == c->errors;
}

static bool is_set(const ModelCheck *c, Side side, FieldId id)
{
    return draft_choice(c->draft, side, id) != NULL;
}

static Loc place(const ModelCheck *c, Side side, FieldId id)
{
    return draft_place(c->draft, side, id);
}

static const char *side_name(Side side)
{
    return side == SIDE_ENCODER ? "encoder" : "decoder";
}

/* ---- filling -------------------------------------------------------------------------------------------- */

/* The value of a field for a layer. A list repeats: layer n gets element n modulo its length. */
static FieldValue value_for(const ModelCheck *c, Side side, FieldId id, int64_t layer)
{
    const Choice *choice = draft_choice(c->draft, side, id);
    return choice ? choice->values[layer % choice->count] : field_preset(&fields[id]);
}

static void fill_scope(const ModelCheck *c, Side side, FieldScope scope, void *where, int64_t layer)
{
    for (int i = 0; i < FIELD_COUNT; i++)
        if (fields[i].scope == scope) field_store(&fields[i], where, value_for(c, side, (FieldId)i, layer));
}

static void check_list_lengths(const ModelCheck *c, Side side, int64_t layers)
{
    for (int i = 0; i < FIELD_COUNT; i++) {
        const Choice *choice = draft_choice(c->draft, side, (FieldId)i);
        if (choice && fields[i].scope == SCOPE_LAYER && choice->count > layers)
            wrong(c, choice->at, "%s lists %d value%s; the %s has %" PRId64 " layer%s", fields[i].name, choice->count,
                  choice->count == 1 ? "" : "s", side_name(side), layers, layers == 1 ? "" : "s");
    }
}

static void fill_stack(const ModelCheck *c, Side side, Stack *s)
{
    fill_scope(c, side, SCOPE_STACK, s, 0);
    check_list_lengths(c, side, s->layers);
    s->layer = arena_array(c->arena, (size_t)s->layers, sizeof *s->layer);
    for (int64_t n = 0; n < s->layers; n++) fill_scope(c, side, SCOPE_LAYER, &s->layer[n], n);
}

/* ---- the name ------------------------------------------------------------------------------------------- */

static void check_name(const ModelCheck *c)
{
    const char *name = c->model->name, *fault = name ? name_fault(c->arena, name) : NULL;
    Loc at = place(c, SIDE_BOTH, FIELD_ID_name);
    if (!name) wrong(c, at, "name is missing: expected the model's name, a C identifier");
    else if (fault) wrong(c, at, "name %s", fault);
}

/* ---- sizes ---------------------------------------------------------------------------------------------- */

static void fill_lengths(const ModelCheck *c)
{
    Model *m = c->model;
    if (!is_set(c, SIDE_BOTH, FIELD_ID_max_source)) m->max_source = m->max_len;
    if (!is_set(c, SIDE_BOTH, FIELD_ID_max_target)) m->max_target = m->max_len;
}

/* unroll_layers is true by default if no stack has more than MOST_CALLS layers. */
static void fill_unroll(const ModelCheck *c)
{
    enum { MOST_CALLS = 16 };
    Model *m = c->model;
    if (is_set(c, SIDE_BOTH, FIELD_ID_unroll_layers)) return;
    m->unroll_layers = (!m->has_encoder || m->encoder.layers <= MOST_CALLS) && (!m->has_decoder || m->decoder.layers <= MOST_CALLS);
}

/* True if the decoder shares its choices of two fields with the encoder, for which the same fault
 * was reported already. */
static bool told_already(const ModelCheck *c, Side side, FieldId a, FieldId b)
{
    const Choice *both = draft_choice(c->draft, SIDE_ENCODER, a), *mine = draft_choice(c->draft, side, a);
    return side == SIDE_DECODER && c->model->has_encoder && both == mine
        && draft_choice(c->draft, SIDE_ENCODER, b) == draft_choice(c->draft, side, b);
}

/* Check embed_norm if a linear after it maps the embedding to d_model. */
static void check_embed_norm(const ModelCheck *c, Side side, const Stack *s)
{
    const bool narrow = s->embed_width == 1 && s->embed_project == PROJECTIONS_LAST;
    if (!narrow || !s->embed_norm || s->norm != NORMS_ANNOTATED) return;
    if (told_already(c, side, FIELD_ID_embed_width, FIELD_ID_norm)) return;
    const Loc at = place(c, side, FIELD_ID_embed_width);
    wrong(c, at, "embed_width (1) is too small for the annotated norm of embed_norm: "
                 "its std divides by embed_width - 1");
    diag_note(c->diag, at, "use a wider embedding or norm = \"layer\"");
}

static bool fill_head_dim(const ModelCheck *c, Side side, LayerFields *l)
{
    int64_t d_model = c->model->d_model;
    if (!is_set(c, side, FIELD_ID_head_dim)) {
        if (d_model % l->heads) {
            bool own = c->draft->choices[side][FIELD_ID_heads].count || !is_set(c, SIDE_BOTH, FIELD_ID_d_model);
            Loc at = place(c, side, own ? FIELD_ID_heads : FIELD_ID_d_model);
            if (told_already(c, side, FIELD_ID_heads, FIELD_ID_head_dim)) return false;
            wrong(c, at, "d_model (%" PRId64 ") is not divisible by heads (%" PRId64 ")", d_model, l->heads);
            diag_note(c->diag, at, "set head_dim to give the heads a width of their own");
            return false;
        }
        l->head_dim = d_model / l->heads;
    }
    if (!is_set(c, side, FIELD_ID_value_dim)) l->value_dim = l->head_dim;
    if (!is_set(c, side, FIELD_ID_attention_scale)) l->attention_scale = 1 / sqrt((double)l->head_dim);
    return true;
}

static bool fill_kv_heads(const ModelCheck *c, Side side, LayerFields *l)
{
    if (!is_set(c, side, FIELD_ID_kv_heads)) l->kv_heads = l->heads;
    if (l->heads % l->kv_heads == 0) return true;
    if (!told_already(c, side, FIELD_ID_heads, FIELD_ID_kv_heads))
        wrong(c, place(c, side, FIELD_ID_kv_heads), "heads (%" PRId64 ") is not a multiple of kv_heads (%" PRId64 ")", l->heads, l->kv_heads);
    return false;
}

/* All layers share one bias table, which has a column per head. */
static void check_relative(const ModelCheck *c, Side side, const Stack *s)
{
    for (int64_t n = 1; n < s->layers; n++)
        if (s->layer[n].heads != s->layer[0].heads && !told_already(c, side, FIELD_ID_heads, FIELD_ID_position)) {
            wrong(c, place(c, side, FIELD_ID_heads), "relative positions need the same number of heads in every layer");
            return;
        }
    int64_t least = side == SIDE_ENCODER && !s->layer[0].causal ? 4 : 2;
    Loc at = place(c, side, FIELD_ID_rel_buckets);
    if (s->rel_buckets < least) wrong(c, at, "rel_buckets (%" PRId64 ") must be at least %" PRId64, s->rel_buckets, least);
    else if (s->rel_distance <= s->rel_buckets / least)
        wrong(c, place(c, side, FIELD_ID_rel_distance), "rel_distance (%" PRId64 ") must be more than %" PRId64, s->rel_distance,
              s->rel_buckets / least);
}

static void check_sinusoids(const ModelCheck *c, Side side, const Stack *s)
{
    int64_t d = stack_position_width(s, c->model->d_model);
    const bool own = d != c->model->d_model;
    const char *name = own ? "embed_width" : "d_model";
    Loc at = own ? place(c, side, FIELD_ID_embed_width) : place(c, SIDE_BOTH, FIELD_ID_d_model);
    if (told_already(c, side, FIELD_ID_position, FIELD_ID_position_divisor)) return;
    if (d % 2) {
        wrong(c, at, "%s (%" PRId64 ") is odd; sinusoidal positions come in pairs", name, d);
        diag_note(c->diag, is_set(c, side, FIELD_ID_position) ? place(c, side, FIELD_ID_position) : at,
                  "use an even %s or position = \"none\"", name);
    } else if (s->position_divisor == DIVISORS_HALF_LESS_1 && d < 4) {
        wrong(c, at, "%s (%" PRId64 ") is too small for position_divisor \"d/2-1\"; it must be at least 4", name, d);
    }
}

static void check_rotary(const ModelCheck *c, Side side, Stack *s)
{
    model_check_rotary(c->arena, c->diag, c->draft, side, s, side == SIDE_ENCODER ? c->model->max_source : c->model->max_target);
}

static void check_positions(const ModelCheck *c, Side side, Stack *s)
{
    if (position_is_relative(s->position)) check_relative(c, side, s);
    else if (s->position == POSITIONS_SINUSOIDAL) check_sinusoids(c, side, s);
    else if (s->position == POSITIONS_ROTARY) check_rotary(c, side, s);
}

/* Attention and feed-forward both read the same x; a cross-attention between them would change
 * it. */
static void check_parallel(const ModelCheck *c, Side side, const Stack *s)
{
    bool parallel = false;
    for (int64_t n = 0; n < s->layers; n++) parallel |= s->layer[n].parallel;
    if (!parallel) return;
    Loc at = place(c, side, FIELD_ID_parallel);
    if (s->norm_at != NORM_PLACES_PRE && !told_already(c, side, FIELD_ID_parallel, FIELD_ID_norm_at))
        wrong(c, at, "parallel layers need norm_at = \"pre\"");
    else if (side == SIDE_DECODER && c->model->has_encoder)
        wrong(c, at, "parallel layers have no cross-attention, so the decoder of an \"encoder-decoder\" cannot have them");
}

/* All layers share one bias table, with or without buckets for later keys. */
static void check_causal(const ModelCheck *c, Side side, const Stack *s)
{
    const bool relative = position_is_relative(s->position);
    for (int64_t n = 1; n < s->layers && side == SIDE_ENCODER && relative; n++)
        if (s->layer[n].causal != s->layer[0].causal) {
            wrong(c, place(c, side, FIELD_ID_causal),
                  "relative positions need causal to be the same in every layer");
            return;
        }
}

/* A window at the top of a spec is for both stacks, but the encoder of an encoder-decoder cannot
 * have one. */
static void check_window(const ModelCheck *c, Side side, const Stack *s)
{
    bool window = false;
    for (int64_t n = 0; n < s->layers; n++) window |= s->layer[n].window > 0;
    if (!window) return;
    Loc at = place(c, side, FIELD_ID_window);
    if (side == SIDE_ENCODER && c->model->has_decoder)
        wrong(c, at,
              "the encoder of an encoder-decoder cannot have a window; set it in decoder = { … }");
    else if (position_is_relative(s->position)) wrong(c, at, "relative positions cannot be combined with a window");
}

static void fill_and_check_stack(const ModelCheck *c, Side side, Stack *s)
{
    int64_t d = c->model->d_model;
    if (!is_set(c, side, FIELD_ID_norm_eps)) s->norm_eps = s->norm == NORMS_ANNOTATED ? 1e-6 : 1e-5;
    if (!is_set(c, side, FIELD_ID_final_norm)) s->final_norm = s->norm_at != NORM_PLACES_POST;
    if (!is_set(c, side, FIELD_ID_embed_width)) s->embed_width = d;
    if (!is_set(c, side, FIELD_ID_embed_scale)) s->embed_scale = sqrt((double)d);
    for (int64_t n = 0; n < s->layers; n++)
        if (!fill_head_dim(c, side, &s->layer[n]) || !fill_kv_heads(c, side, &s->layer[n])) break;
    if (model_check_is_good(c)) check_positions(c, side, s);
    check_parallel(c, side, s);
    check_window(c, side, s);
    check_causal(c, side, s);
    if (s->norm == NORMS_ANNOTATED && d == 1 && !told_already(c, side, FIELD_ID_norm, FIELD_ID_norm)) {
        Loc at = place(c, SIDE_BOTH, FIELD_ID_d_model);
        wrong(c, at, "d_model (1) is too small for the annotated norm: its std divides by d_model - 1");
        diag_note(c->diag, is_set(c, side, FIELD_ID_norm) ? place(c, side, FIELD_ID_norm) : at, "use a wider model or norm = \"layer\"");
    } else check_embed_norm(c, side, s);
}

/* The bytes of a slot in f32: the decoder's keys and values, for its own positions and for the
 * encoder's output. */
static double slot_bytes(const Model *m)
{
    double elements = 0;
    for (int64_t n = 0; m->has_decoder && n < m->decoder.layers; n++) {
        const LayerFields *l = &m->decoder.layer[n];
        double each = (double)l->kv_heads * ((double)l->head_dim + (double)l->value_dim);
        elements += each * ((double)m->max_target + (m->has_encoder ? (double)m->max_source : 0));
    }
    return 4 * elements;
}

/* An estimate of the bytes of a stack's matrices and position tables in f32; a double, since the
 * product of sizes may exceed 2^63. */
static double stack_bytes(const Model *m, const Stack *s, bool cross, double length)
{
    double d = (double)m->d_model, elements = s->position == POSITIONS_NONE ? 0 : length * (d + 2 * (double)(s->layers ? s->layer[0].heads : 0));
    for (int64_t n = 0; n < s->layers; n++) {
        const LayerFields *l = &s->layer[n];
        double heads = (double)l->heads, attention = 2 * d * heads * ((double)l->head_dim + (double)l->value_dim);
        elements += attention * (cross ? 2 : 1) + 3 * d * (double)l->d_ff;
    }
    return 4 * elements;
}

static void check_total(const ModelCheck *c)
{
    const Model *m = c->model;
    double tables = 4 * (double)m->d_model * ((double)m->source_vocab + (double)m->token_types + 2 * (double)m->target_vocab);
    double bytes = tables + stack_bytes(m, &m->encoder, false, (double)m->max_source)
        + stack_bytes(m, &m->decoder, true, (double)m->max_target);
    if (bytes > MOST_BYTES)
        wrong(c, m->at, "the parameters would take %.3g bytes; the limit is %.3g", bytes, MOST_BYTES);
    else if (slot_bytes(m) > MOST_BYTES)
        wrong(c, m->at, "the state would take %.3g bytes; the limit is %.3g", slot_bytes(m), MOST_BYTES);
}

static void check_types(const ModelCheck *c)
{
    if (c->model->token_types && !c->model->has_encoder)
        wrong(c, place(c, SIDE_BOTH, FIELD_ID_token_types), "token_types needs a source, which a "
              "decoder does not have");
}

/* ---- the passes ----------------------------------------------------------------------------------------- */

/* Every target of an encoder-decoder begins with start_id. */
static void check_start(const ModelCheck *c)
{
    const Model *m = c->model;
    if (!m->has_encoder || !m->has_decoder || !m->target_vocab || m->start_id < m->target_vocab) return;
    wrong(c, place(c, SIDE_BOTH, FIELD_ID_start_id), "start_id (%" PRId64 ") is outside the target vocabulary of %" PRId64 " ids", m->start_id,
          m->target_vocab);
}

static void require_vocab(const ModelCheck *c, FieldId id, int64_t size)
{
    const Model *m = c->model;
    /* the tokenizer's error was reported */
    if (size || (m->tokenizer_file && !m->tokenizer_data)) return;
    wrong(c, c->draft->at, "%s is missing", fields[id].name);
    diag_note(c->diag, c->draft->at, "set it, set tokenizer_file, or use tokenizer = \"characters\"");
}

void model_check_sizes(const ModelCheck *c)
{
    Model *m = c->model;
    m->has_encoder = m->model_kind != KIND_DECODER;
    m->has_decoder = m->model_kind != KIND_ENCODER;
    if (!model_has_cache(m)) m->kv_dtype = KV_DTYPES_F32;
    fill_lengths(c);
    if (m->has_encoder) fill_stack(c, SIDE_ENCODER, &m->encoder);
    if (m->has_decoder) fill_stack(c, SIDE_DECODER, &m->decoder);
    fill_unroll(c);
    if (m->has_encoder) fill_and_check_stack(c, SIDE_ENCODER, &m->encoder);
    if (m->has_decoder) fill_and_check_stack(c, SIDE_DECODER, &m->decoder);
    if (!is_set(c, SIDE_BOTH, FIELD_ID_source_vocab)) m->source_vocab = m->vocab;
    if (!is_set(c, SIDE_BOTH, FIELD_ID_target_vocab)) m->target_vocab = m->vocab;
    model_fill_lists(c->arena, c->draft, m);
}

void model_check_tokenizer(const ModelCheck *c)
{
    if (c->model->tokenizer == TOKENIZERS_CHARACTERS && c->model->tokenizer_file)
        wrong(c, place(c, SIDE_BOTH, FIELD_ID_tokenizer_file),
              "tokenizer_file and tokenizer = \"characters\" cannot be combined");
}

void model_check_rest(const ModelCheck *c)
{
    Model *m = c->model;
    if (m->tokenizer != TOKENIZERS_CHARACTERS) {
        if (m->has_encoder) require_vocab(c, FIELD_ID_source_vocab, m->source_vocab);
        if (m->has_decoder) require_vocab(c, FIELD_ID_target_vocab, m->target_vocab);
    }
    if (model_check_is_good(c) && m->has_decoder && m->tied && stack_output_width(&m->decoder, m->d_model) != m->decoder.embed_width)
        wrong(c, place(c, SIDE_DECODER, FIELD_ID_embed_width),
              "a tied output layer needs vectors of width embed_width; set embed_project = \"first\"");
    model_check_head(c->diag, c->draft, m);
    check_types(c);
    if (model_check_is_good(c)) check_start(c);
    model_check_generation(c->arena, c->diag, c->draft, m);
    if (model_check_is_good(c)) check_total(c);
}

ModelCheck model_check_begin(Arena *a, Diag *d, const Draft *draft)
{
    Model *m = arena_alloc(a, sizeof *m);
    const ModelCheck c = { a, d, draft, m, diag_errors(d) };
    m->spec_path = draft->path;
    m->at = draft->at;
    m->graph = draft->graph;
    m->dtype_rules = draft->dtype_rules, m->dtype_rule_count = draft->dtype_rule_count;
    fill_scope(&c, SIDE_BOTH, SCOPE_MODEL, m, 0);
    m->model_kind = draft->graph ? KIND_GRAPH : (ModelKind)m->kind;
    if (m->graph && !model_has_cache(m)) m->kv_dtype = KV_DTYPES_F32;
    check_name(&c);
    m->weights_path = draft->weights ? draft->weights : m->weights && strcmp(m->weights, "random") ? m->weights : NULL;
    return c;
}
