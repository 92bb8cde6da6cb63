/* huggingface_rope.c: read RoPE settings in both spellings: rope_theta with rope_scaling, and
 * rope_parameters, which may have a part for each kind of layer. Unknown scalings are errors. */
#include "huggingface.h"
#include "integer.h"
#include "text.h"

#include <math.h>
#include <string.h>

static const char part_key[] = "partial_rotary_factor", full_key[] = "full_attention";
static const char original_key[] = "original_max_position_embeddings";
static const char sliding_key[] = "sliding_attention";

/* Names of the scalings, in the order of scaling_of. Phi-3 has only longrope, under three names. */
static const char *const type_names[] = { "default", "linear", "dynamic", "llama3", "yarn",
                                         "longrope" };
static const char *const phi_names[] = { "longrope", "su", "yarn" };
static const int scaling_of[] = { SCALINGS_NONE, SCALINGS_LINEAR, SCALINGS_DYNAMIC,
                                 SCALINGS_LLAMA3, SCALINGS_YARN, SCALINGS_LONGROPE };

static const struct { const char *key; FieldId field; } settings[] = {
    { "factor", FIELD_ID_rope_factor }, { "low_freq_factor", FIELD_ID_rope_low_freq_factor },
    { "high_freq_factor", FIELD_ID_rope_high_freq_factor }, { original_key, FIELD_ID_rope_original_len },
    { "beta_fast", FIELD_ID_rope_beta_fast }, { "beta_slow", FIELD_ID_rope_beta_slow }, { "truncate", FIELD_ID_rope_truncate },
    { "attention_factor", FIELD_ID_rope_attention_factor }, { "mscale", FIELD_ID_rope_mscale },
    { "mscale_all_dim", FIELD_ID_rope_mscale_all_dim }, { "short_factor", FIELD_ID_rope_short_factor },
    { "long_factor", FIELD_ID_rope_long_factor },
};

/* ---- one object ----------------------------------------------------------------------------------------- */

/* The family's default for original_max_position_embeddings; above 0 only for Phi-3. */
static double original_preset(const Config *c)
{
    const ConfigKey *row = family_key(c->family, original_key);
    return row ? row->preset : 0;
}

static int scaling(const Config *rope)
{
    const char *type = config_text(rope, "rope_type|type", "default");
    const bool phi = original_preset(rope) > 0;
    const char *null = config_is_null(rope, "rope_type") ? "rope_type" : "type";
    if (!config_has(rope, "rope_type|type") && config_is_null(rope, null))
        config_fault(rope, null, "\"%s%s\" must be a string, found null", rope->within, null);
    const int phis = sizeof phi_names / sizeof *phi_names, types = sizeof type_names / sizeof *type_names;
    for (int i = 0; phi && i < phis; i++)
        if (!strcmp(phi_names[i], type)) return SCALINGS_LONGROPE;
    for (int i = 0; i < (phi ? 1 : types); i++)
        if (!strcmp(type_names[i], type)) return scaling_of[i];
    config_fault(rope, "rope_type|type", "the rope_type \"%s\" is not supported%s", type,
                 phi ? " in a model of this type" : "");
    diag_note(rope->diag, config_place(rope, "rope_type|type"), "supported: %s%s", phi ? "\"default\", " : "",
              phi ? text_list(rope->arena, phi_names, phis) : text_list(rope->arena, type_names, types));
    return SCALINGS_NONE;
}

static void set_numbers(const Config *c, const char *key, Side side, FieldId id)
{
    const int errors = diag_errors(c->diag), n = config_count(c, key);
    double *values = arena_array(c->arena, (size_t)(n > 0 ? n : 1), sizeof *values);
    for (int i = 0; i < n && diag_errors(c->diag) == errors; i++) {
        const FieldValue v = { .real = values[i] = config_number_at(c, key, i) };
        field_check(c->diag, config_place(c, key), &fields[id], arena_format(c->arena, "\"%s%s\"[%d]", c->within, key, i),
                    arena_format(c->arena, "%.9g", values[i]), &v);
    }
    if (n > 0 && diag_errors(c->diag) == errors) draft_set_numbers(c->arena, c->draft, side, id, config_place(c, key), values, n);
}

static void set_setting(const Config *rope, const char *key, Side side, FieldId id)
{
    if (fields[id].type == TYPE_NUMBERS) set_numbers(rope, key, side, id);
    else if (fields[id].type == TYPE_BOOL) config_set(rope, key, side, id, config_bool(rope, key, true));
    else if (fields[id].type == TYPE_INT) config_set(rope, key, side, id, (double)config_integer(rope, key, 0));
    else config_set(rope, key, side, id, config_number(rope, key, 0));
}

static bool is_setting(const char *key)
{
    static const char *const others[] = { "rope_type", "type", "rope_theta", part_key,
                                         "finetuned" };
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        if (!strcmp(settings[i].key, key)) return true;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (!strcmp(others[i], key)) return true;
    return false;
}

/* The keys of this object affect the computation, so unknown ones are errors. */
static void refuse_others(const Config *rope)
{
    int n;
    const char **keys = config_keys(rope, &n);
    for (int i = 0; i < n; i++)
        if (!is_setting(keys[i]) && config_has(rope, keys[i])) config_fault(rope, keys[i], "\"%s%s\" is not supported", rope->within, keys[i]);
}

/* The config that gives the trained length before scaling: the top level takes precedence over the
 * RoPE object, unless that object is for one kind of layer. */
static const Config *original_place(const Config *c, const Config *rope, bool of_kind)
{
    if (of_kind) return rope;
    return original_preset(c) > 0 || config_has(c, original_key) ? c : rope;
}

/* Set rope_original_len, the trained length before scaling. With longrope, limit the model's length
 * to it, and set rope_factor if no factor is given. */
static void set_original(const Config *c, const Config *rope, Side side, int kind, bool of_kind)
{
    const double trained = (double)c->draft->trained;
    const double phi = original_preset(c), preset = phi > 0 ? phi : trained;
    const Config *from = original_place(c, rope, of_kind);
    const bool there = kind != SCALINGS_DYNAMIC && config_has(from, original_key);
    const double original = there ? (double)config_integer(from, original_key, preset) : preset;
    config_set(there ? from : c, there ? original_key : NULL, side, FIELD_ID_rope_original_len, original);
    if (kind != SCALINGS_LONGROPE) return;
    if (!config_has(rope, "factor")) config_set(c, NULL, side, FIELD_ID_rope_factor, trained / (original > 0 ? original : 1));
    if (trained > original) c->draft->bound = integer_of(original);
    if (config_get(c, SIDE_BOTH, FIELD_ID_max_len) <= original || original < 1) return;
    draft_set_number(c->arena, c->draft, SIDE_BOTH, FIELD_ID_max_len, config_place(from, original_key), original);
    c->draft->shortened = true;
}

static void set_scaling(const Config *c, const Config *rope, Side side, int kind, bool of_kind)
{
    if (kind == SCALINGS_NONE) return;
    if (kind == SCALINGS_DYNAMIC && !config_has(rope, "factor"))
        config_fault(rope, "rope_type|type", "the rope_type \"%s\" needs a \"factor\"", config_text(rope, "rope_type|type", ""));
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        if (config_has(rope, settings[i].key)) set_setting(rope, settings[i].key, side, settings[i].field);
    if (kind != SCALINGS_LINEAR) set_original(c, rope, side, kind, of_kind);
}

/* ---- all of it ------------------------------------------------------------------------------------------ */

/* The key at the top level for the rotated part of a head; NULL in families that rotate whole heads
 * and ignore the key there. */
static const char *part_at_top(const Config *c)
{
    if (family_key(c->family, "rotary_pct")) return "rotary_pct";
    const ConfigKey *row = family_key(c->family, part_key);
    return row && row->use == KEY_READ ? part_key : NULL;
}

/* Families that rotate whole heads ignore partial_rotary_factor. With a scaling it is an error:
 * transformers then computes the rates for the part only, and fails. */
static void note_part(const Config *from, int kind)
{
    const double part = config_number(from, part_key, 1);
    if (!(part < 1)) return;
    if (kind != SCALINGS_NONE)
        config_fault(from, part_key, "\"%s%s\" with RoPE scaling is not supported in a model of this type", from->within,
                     part_key);
    else
        diag_remark(from->diag, config_place(from, part_key),
                     "\"%s%s\" = %.9g has no effect on a model of this type", from->within,
                     part_key, part);
}

/* Set rope_dims, the rotated part of a head: head_dim times partial_rotary_factor or rotary_pct. */
static void set_dims(const Config *c, const Config *rope, Side side, int kind)
{
    const char *top = part_at_top(c), *key = rope && config_has(rope, part_key) ? part_key : top;
    const Config *from = key == part_key && rope && config_has(rope, part_key) ? rope : c;
    if (!top) {
        note_part(from, kind);
        return;
    }
    const ConfigKey *row = family_key(c->family, "rotary_pct");
    const double part = config_number(from, key, row ? row->preset : 1);
    if (!(part < 1)) return;
    const double heads = config_get(c, side, FIELD_ID_heads), d = config_get(c, side, FIELD_ID_d_model);
    const double head_dim = draft_choice(c->draft, side, FIELD_ID_head_dim) ? config_get(c, side, FIELD_ID_head_dim) : d / heads;
    config_set(from, key, side, FIELD_ID_rope_dims, trunc(head_dim * part));
}

/* The key of theta at the top level, for an object without rope_theta. */
static const char *theta_at_top(const Config *c)
{
    return family_key(c->family, "rotary_emb_base") ? "rotary_emb_base" : "rope_theta";
}

static double theta_of(const Config *c, const Config *rope, double preset)
{
    static const char key[] = "rope_theta";
    if (rope && config_is_null(rope, key))
        config_fault(rope, key, "\"%s%s\" must be a number, found null", rope->within, key);
    if (rope && config_has(rope, key)) return config_number(rope, key, preset);
    return config_number(c, theta_at_top(c), preset);
}

/* rope_scaling wins over rope_parameters unless it is empty. */
static const char *rotary_key(const Config *c)
{
    Config old;
    int n = 0;
    if (config_has(c, "rope_scaling") && config_object(c, "rope_scaling", &old))
        config_keys(&old, &n);
    return n ? "rope_scaling" : "rope_parameters";
}

/* Set theta and scaling per layer: sliding-window layers have theta `local` and no scaling. */
static void set_kinds(const Config *c, Side side, const bool *sliding, double theta, double local, int kind)
{
    const int layers = (int)config_get(c, side, FIELD_ID_layers);
    double *thetas = arena_array(c->arena, (size_t)layers, sizeof *thetas), *kinds = arena_array(c->arena, (size_t)layers, sizeof *kinds);
    double *factors = arena_array(c->arena, (size_t)layers, sizeof *factors);
    const Choice *factor = draft_choice(c->draft, side, FIELD_ID_rope_attention_factor);
    for (int i = 0; i < layers; i++) {
        thetas[i] = sliding[i] ? local : theta;
        kinds[i] = sliding[i] ? SCALINGS_NONE : kind;
        factors[i] = sliding[i] || !factor ? 1 : factor->values[0].real;
    }
    if (factor) config_set_list(c, NULL, side, FIELD_ID_rope_attention_factor, factors, layers);
    config_set_list(c, rotary_key(c), side, FIELD_ID_rope_theta, thetas, layers);
    config_set_list(c, rotary_key(c), side, FIELD_ID_rope_scaling, kinds, layers);
}

/* In models whose sliding-window layers have a theta of their own (`sliding` is set), transformers
 * reads rope_parameters only if it has a part for each kind of layer, and rope_scaling, which
 * applies to the other layers, only if it has rope_type. True, after a remark, if the object is
 * ignored for that reason. */
static bool is_without_kind(const Config *c, const char *key, const Config *all,
                            const bool *sliding)
{
    const bool old = !strcmp(key, "rope_scaling");
    const char type = config_type(all, full_key);
    int n;
    if (sliding && !old && type && type != 'o')
        config_fault(all, full_key, "\"%s%s\" must be an object, found %s", all->within, full_key,
                     config_shown(all, full_key));
    config_keys(all, &n);
    if (!sliding || !n || (!old && config_is_object(all, full_key))) return false;
    if (old && config_has(c, "rope_parameters"))
        config_fault(c, key, "\"rope_scaling\" together with \"rope_parameters\" is not supported");
    if (old && config_has(all, "rope_type")) return false;
    diag_remark(c->diag, config_place(c, key),
                "\"%s\" without \"%s\" has no effect on a model of this type", key,
                old ? "rope_type" : full_key);
    return true;
}

void config_rope_kinds(const Config *c, Side side, const bool *sliding, double local)
{
    const ConfigKey *row = family_key(c->family, theta_at_top(c));
    const double preset = row ? row->preset : 10000;
    Config all, full, slide;
    const char *key = rotary_key(c);
    const bool there = config_object(c, key, &all);
    const bool parts = sliding && there && config_is_object(&all, full_key);
    const Config *rope = there && !is_without_kind(c, key, &all, sliding) ? &all : NULL;
    if (parts && config_object(&all, full_key, &full)) rope = &full;
    if (parts && config_object(&all, sliding_key, &slide)) {
        local = theta_of(&slide, &slide, local);
        refuse_others(&slide);
        if (scaling(&slide) != SCALINGS_NONE) config_fault(&slide, "rope_type|type", "RoPE scaling of sliding-window layers is not supported");
    }
    const double theta = theta_of(c, rope, preset);
    const int kind = rope ? scaling(rope) : SCALINGS_NONE;
    set_dims(c, rope, side, kind);
    if (rope) refuse_others(rope);
    if (rope) set_scaling(c, rope, side, kind, sliding != NULL);
    if (sliding) {
        set_kinds(c, side, sliding, theta, local, kind);
        return;
    }
    const bool own = rope && config_has(rope, "rope_theta");
    config_set(own ? rope : c, own ? "rope_theta" : theta_at_top(c), side, FIELD_ID_rope_theta,
               theta);
    if (kind != SCALINGS_NONE) config_set(rope, "rope_type|type", side, FIELD_ID_rope_scaling, kind);
}

void config_rope(const Config *c, Side side) { config_rope_kinds(c, side, NULL, 0); }
