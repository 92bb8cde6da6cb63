/* rotary.c: rotary positions of each layer: check the fields, set those that the spec leaves open,
 * and compute the rates of a head's pairs.
 *
 * The formulas are those of Hugging Face's modeling_rope_utils. The steps have the same order as in
 * that file, and each is rounded to f32 unless it is in double there: at position 4000, an error of
 * one bit in a rate is an error of 2e-4 in the angle. Powers are correctly rounded here; there,
 * they are within one bit. */
#include "fields.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* ---- rates ---------------------------------------------------------------------------------------------- */

/* rope_theta^(2i / rope_dims) */
static float wave(const LayerFields *l, int64_t i)
{
    const float exponent = (float)(2 * i) / (float)l->rope_dims;
    return (float)pow((double)(float)l->rope_theta, (double)exponent);
}

/* Divide the rate of long waves by the factor, keep that of short ones, and interpolate in
 * between. */
static float llama3_rate(const LayerFields *l, float rate)
{
    const float factor = (float)l->rope_factor, low = (float)l->rope_low_freq_factor;
    const float length = 1 / rate * (float)(2 * acos(-1));
    if (length > (float)((double)l->rope_original_len / l->rope_low_freq_factor)) return rate / factor;
    if (length < (float)((double)l->rope_original_len / l->rope_high_freq_factor)) return rate;
    const float smooth = (1 / length * (float)l->rope_original_len - low) / (float)(l->rope_high_freq_factor - l->rope_low_freq_factor);
    return (1 - smooth) * rate / factor + smooth * rate;
}

/* The index of the pair that makes `turns` turns over rope_original_len. */
static double yarn_pair(const LayerFields *l, double turns)
{
    return (double)l->rope_dims * log((double)l->rope_original_len / (turns * 2 * acos(-1))) / (2 * log(l->rope_theta));
}

/* Interpolate from the plain rate, for pairs before one bound, to the rate divided by the factor,
 * for pairs after the other. */
static float yarn_rate(const LayerFields *l, float wave, int64_t i)
{
    double low = yarn_pair(l, l->rope_beta_fast), high = yarn_pair(l, l->rope_beta_slow);
    if (l->rope_truncate) {
        low = floor(low);
        high = ceil(high);
    }
    low = fmax(low, 0);
    high = fmin(high, (double)l->rope_dims - 1);
    if (low >= high && low <= high) high += 0.001;
    const float ramp = ((float)i - (float)low) / (float)(high - low), share = ramp < 0 ? 0 : ramp > 1 ? 1 : ramp, kept = 1 - share;
    return 1 / ((float)l->rope_factor * wave) * (1 - kept) + 1 / wave * kept;
}

void rotary_rates(const LayerFields *l, float *rates)
{
    for (int64_t i = 0; i < l->rope_dims / 2; i++) {
        const float w = wave(l, i), rate = 1 / w;
        switch (l->rope_scaling) {
        case SCALINGS_LINEAR:   rates[i] = rate / (float)l->rope_factor; break;
        case SCALINGS_LLAMA3:   rates[i] = llama3_rate(l, rate); break;
        case SCALINGS_YARN:     rates[i] = yarn_rate(l, w, i); break;
        case SCALINGS_LONGROPE: rates[i] = 1 / ((float)l->rope_short_factor->value[i] * w); break;
        default:                rates[i] = rate; break; /* dynamic: plain up to rope_original_len */
        }
    }
}

const char *rotary_table_name(Arena *a, const char *stack, int number)
{
    return number == 1 ? arena_format(a, "%s.rotary.table", stack) : arena_format(a, "%s.rotary_%d.table", stack, number);
}

/* ---- the factor of cosines and sines ---------------------------------------------------------------------- */

static double yarn_scale(double factor, double by) { return factor <= 1 ? 1 : 0.1 * by * log(factor) + 1; }

double rotary_factor(const LayerFields *l)
{
    const double factor = l->rope_factor;
    if (l->rope_scaling != SCALINGS_YARN && l->rope_scaling != SCALINGS_LONGROPE) return 1;
    if (l->rope_attention_factor > 0) return l->rope_attention_factor;
    if (l->rope_scaling == SCALINGS_LONGROPE) return factor <= 1 ? 1 : sqrt(1 + log(factor) / log((double)l->rope_original_len));
    if (l->rope_mscale > 0 && l->rope_mscale_all_dim > 0) return yarn_scale(factor, l->rope_mscale) / yarn_scale(factor, l->rope_mscale_all_dim);
    return yarn_scale(factor, 1);
}

/* ---- checks --------------------------------------------------------------------------------------------- */

typedef struct Rotary { Diag *diag; const Draft *draft; Side side; Stack *stack; } Rotary;

#define wrong(r, field, ...) diag_error((r)->diag, EXIT_BAD_DATA, draft_place((r)->draft, (r)->side, FIELD_ID_##field), __VA_ARGS__)

static const char *word(const LayerFields *l)
{
    int n;
    return field_words("scalings", &n)[l->rope_scaling];
}

/* The scalings that read a field, and those that need it. */
#define OF(scaling) (1u << SCALINGS_##scaling)
typedef struct Reading { FieldId id; unsigned read, needed; } Reading;
static const Reading readings[] = {
    { FIELD_ID_rope_factor, OF(LINEAR) | OF(DYNAMIC) | OF(LLAMA3) | OF(YARN) | OF(LONGROPE), OF(LINEAR) | OF(LLAMA3) | OF(YARN) },
    { FIELD_ID_rope_original_len, OF(DYNAMIC) | OF(LLAMA3) | OF(YARN) | OF(LONGROPE), OF(DYNAMIC) | OF(LLAMA3) | OF(YARN) | OF(LONGROPE) },
    { FIELD_ID_rope_low_freq_factor, OF(LLAMA3), OF(LLAMA3) },
    { FIELD_ID_rope_high_freq_factor, OF(LLAMA3), OF(LLAMA3) },
    { FIELD_ID_rope_beta_fast, OF(YARN), 0 },
    { FIELD_ID_rope_beta_slow, OF(YARN), 0 },
    { FIELD_ID_rope_truncate, OF(YARN), 0 },
    { FIELD_ID_rope_mscale, OF(YARN), 0 },
    { FIELD_ID_rope_mscale_all_dim, OF(YARN), 0 },
    { FIELD_ID_rope_attention_factor, OF(YARN) | OF(LONGROPE), 0 },
    { FIELD_ID_rope_short_factor, OF(LONGROPE), OF(LONGROPE) },
    { FIELD_ID_rope_long_factor, OF(LONGROPE), 0 },
};

/* Check that the fields that the layer's scaling needs are given. */
static bool has_needed(const Rotary *r, const LayerFields *l)
{
    for (size_t i = 0; i < sizeof readings / sizeof *readings; i++) {
        if (!(readings[i].needed & 1u << l->rope_scaling) || draft_choice(r->draft, r->side, readings[i].id)) continue;
        wrong(r, rope_scaling, "rope_scaling \"%s\" needs %s", word(l), fields[readings[i].id].name);
        return false;
    }
    const bool factor = draft_choice(r->draft, r->side, FIELD_ID_rope_factor) || draft_choice(r->draft, r->side, FIELD_ID_rope_attention_factor);
    if (l->rope_scaling != SCALINGS_LONGROPE || factor) return true;
    wrong(r, rope_scaling, "rope_scaling \"longrope\" needs rope_factor or rope_attention_factor");
    return false;
}

static bool check_dims(const Rotary *r, const LayerFields *l)
{
    const bool given = draft_choice(r->draft, r->side, FIELD_ID_rope_dims);
    const Loc at = draft_place(r->draft, r->side, given ? FIELD_ID_rope_dims : FIELD_ID_position);
    if (l->rope_dims % 2)
        diag_error(r->diag, EXIT_BAD_DATA, at, "rope_dims (%" PRId64 ") is odd; rotary positions rotate pairs of dimensions", l->rope_dims);
    else if (l->rope_dims > l->head_dim)
        diag_error(r->diag, EXIT_BAD_DATA, at, "rope_dims (%" PRId64 ") is more than head_dim (%" PRId64 ")", l->rope_dims, l->head_dim);
    else return true;
    return false;
}

/* Past the trained length, the rates of dynamic and longrope depend on the length of the whole
 * sequence. */
static bool check_length(const Rotary *r, const LayerFields *l, int64_t length)
{
    const bool depends = l->rope_scaling == SCALINGS_DYNAMIC || l->rope_scaling == SCALINGS_LONGROPE;
    const char *bound = r->side == SIDE_ENCODER ? "max_source" : "max_target";
    if (!depends || length <= l->rope_original_len) return true;
    wrong(r, rope_scaling, "%s (%" PRId64 ") is more than rope_original_len (%" PRId64 "): beyond it, the frequencies of \"%s\" depend on the length "
          "of the whole sequence", bound, length, l->rope_original_len, word(l));
    diag_note(r->diag, draft_place(r->draft, r->side, FIELD_ID_rope_scaling), "set %s to %" PRId64 " or less", bound, l->rope_original_len);
    return false;
}

static bool check_scaling(const Rotary *r, const LayerFields *l, int64_t length)
{
    if (!has_needed(r, l)) return false;
    if (l->rope_scaling == SCALINGS_LLAMA3 && l->rope_high_freq_factor <= l->rope_low_freq_factor)
        wrong(r, rope_high_freq_factor, "rope_high_freq_factor (%.9g) must be more than rope_low_freq_factor (%.9g)", l->rope_high_freq_factor,
              l->rope_low_freq_factor);
    else if (l->rope_scaling == SCALINGS_YARN && l->rope_theta <= 1)
        wrong(r, rope_theta, "rope_theta (%.9g) must be more than 1 for \"yarn\"", l->rope_theta);
    else if (l->rope_scaling == SCALINGS_LONGROPE && l->rope_original_len < 2)
        wrong(r, rope_original_len, "rope_original_len (1) must be more than 1 for \"longrope\"");
    else if (l->rope_scaling == SCALINGS_LONGROPE && l->rope_short_factor->count != l->rope_dims / 2)
        wrong(r, rope_short_factor, "rope_short_factor lists %d number%s, expected %" PRId64 ", half of rope_dims", l->rope_short_factor->count,
              l->rope_short_factor->count == 1 ? "" : "s", l->rope_dims / 2);
    else return check_length(r, l, length);
    return false;
}

static void note_unread(const Rotary *r)
{
    unsigned used = 0;
    for (int64_t n = 0; n < r->stack->layers; n++)
        if (r->stack->layer[n].rope) used |= 1u << r->stack->layer[n].rope_scaling;
    for (size_t i = 0; i < sizeof readings / sizeof *readings; i++) {
        const Choice *c = draft_choice(r->draft, r->side, readings[i].id);
        if (c && !(readings[i].read & used))
            diag_remark(r->diag, c->at, "%s has no effect: no layer's rope_scaling reads it", fields[readings[i].id].name);
    }
}

/* True if two layers can share a table: they have the same rates, factor and dims. */
static bool same_table(Arena *a, const LayerFields *x, const LayerFields *y)
{
    const size_t n = (size_t)x->rope_dims / 2;
    if (x->rope_dims != y->rope_dims || x->rope_attention_factor < y->rope_attention_factor || x->rope_attention_factor > y->rope_attention_factor)
        return false;
    float *rates = arena_array(a, 2 * n, sizeof *rates);
    rotary_rates(x, rates);
    rotary_rates(y, rates + n);
    return !memcmp(rates, rates + n, n * sizeof *rates);
}

static int table_of(Arena *a, const Stack *s, int64_t layer, int tables)
{
    for (int64_t n = 0; n < layer; n++) {
        if (!s->rotary[n]) continue;
        if (layer_same(&s->layer[n], &s->layer[layer]) || same_table(a, &s->layer[n], &s->layer[layer])) return s->rotary[n];
    }
    return tables + 1;
}

bool model_check_rotary(Arena *a, Diag *d, const Draft *draft, Side side, Stack *s, int64_t length)
{
    const Rotary r = { d, draft, side, s };
    const bool given = draft_choice(draft, side, FIELD_ID_rope_dims);
    int tables = 0;
    s->rotary = arena_array(a, (size_t)s->layers, sizeof *s->rotary);
    for (int64_t n = 0; n < s->layers; n++) {
        LayerFields *l = &s->layer[n];
        if (!given) l->rope_dims = l->head_dim;
        if (!l->rope) continue;
        if (!check_dims(&r, l) || !check_scaling(&r, l, length)) return false;
        l->rope_attention_factor = rotary_factor(l);
        s->rotary[n] = table_of(a, s, n, tables);
        if (s->rotary[n] > tables) tables = s->rotary[n];
    }
    note_unread(&r);
    return true;
}
