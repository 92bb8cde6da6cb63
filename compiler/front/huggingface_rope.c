/* huggingface_rope.c: rotary positions, in both spellings: rope_theta with rope_scaling, and rope_parameters, which may have a part for each
 * kind of layer. What scales the rates in a way that is not known is refused by name. */
#include "huggingface.h"

#include <string.h>

static const char rotary_key[] = "rope_parameters|rope_scaling", theta_key[] = "rope_theta|rotary_emb_base";
static const char original_key[] = "original_max_position_embeddings", full_key[] = "full_attention", sliding_key[] = "sliding_attention";

/* Names of the scalings, in the order of the words of rope_scaling; `su` is an old name of longrope. */
static const char *const type_names[] = { "default", "linear", "dynamic", "llama3", "yarn", "longrope", "su" };
static const int scaling_of[] = { SCALINGS_NONE, SCALINGS_LINEAR, SCALINGS_DYNAMIC, SCALINGS_LLAMA3, SCALINGS_YARN, SCALINGS_LONGROPE,
                                  SCALINGS_LONGROPE };

static const struct { const char *key; FieldId field; } settings[] = {
    { "factor", FIELD_ID_rope_factor }, { "low_freq_factor", FIELD_ID_rope_low_freq_factor },
    { "high_freq_factor", FIELD_ID_rope_high_freq_factor }, { original_key, FIELD_ID_rope_original_len },
    { "beta_fast", FIELD_ID_rope_beta_fast }, { "beta_slow", FIELD_ID_rope_beta_slow }, { "truncate", FIELD_ID_rope_truncate },
    { "attention_factor", FIELD_ID_rope_attention_factor }, { "mscale", FIELD_ID_rope_mscale },
    { "mscale_all_dim", FIELD_ID_rope_mscale_all_dim }, { "short_factor", FIELD_ID_rope_short_factor },
    { "long_factor", FIELD_ID_rope_long_factor },
};

/* ---- one object ----------------------------------------------------------------------------------------- */

static int scaling(const Config *rope)
{
    const char *type = config_text(rope, "rope_type|type", "default");
    for (size_t i = 0; i < sizeof type_names / sizeof *type_names; i++)
        if (!strcmp(type_names[i], type)) return scaling_of[i];
    config_fault(rope, "rope_type|type", "the rope_type \"%s\" is not supported", type);
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
    static const char *const others[] = { "rope_type", "type", "rope_theta", "partial_rotary_factor" };
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        if (!strcmp(settings[i].key, key)) return true;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (!strcmp(others[i], key)) return true;
    return false;
}

/* Everything in it is about what is computed, so what is not known is refused. */
static void refuse_others(const Config *rope)
{
    int n;
    const char **keys = config_keys(rope, &n);
    for (int i = 0; i < n; i++)
        if (!is_setting(keys[i]) && config_has(rope, keys[i])) config_fault(rope, keys[i], "\"%s%s\" is not supported", rope->within, keys[i]);
}

/* The length trained on before scaling; that of longrope may stand at the top, and there is no way past it. */
static void set_original(const Config *c, const Config *rope, Side side, int kind)
{
    const double trained = (double)c->draft->trained;
    const Config *from = config_has(rope, original_key) ? rope : c;
    const bool there = kind != SCALINGS_DYNAMIC && config_has(from, original_key);
    const double original = there ? (double)config_integer(from, original_key, trained) : trained;
    config_set(there ? from : c, there ? original_key : NULL, side, FIELD_ID_rope_original_len, original);
    if (kind != SCALINGS_LONGROPE) return;
    if (!config_has(rope, "factor")) config_set(c, NULL, side, FIELD_ID_rope_factor, trained / (original > 0 ? original : 1));
    if (trained > original) c->draft->bound = (int64_t)original;
    if (config_get(c, SIDE_BOTH, FIELD_ID_max_len) <= original || original < 1) return;
    draft_set_number(c->arena, c->draft, SIDE_BOTH, FIELD_ID_max_len, config_place(from, original_key), original);
    c->draft->shortened = true;
}

static void set_scaling(const Config *c, const Config *rope, Side side, int kind)
{
    if (kind == SCALINGS_NONE) return;
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        if (config_has(rope, settings[i].key)) set_setting(rope, settings[i].key, side, settings[i].field);
    if (kind != SCALINGS_LINEAR) set_original(c, rope, side, kind);
}

/* ---- all of it ------------------------------------------------------------------------------------------ */

/* How much of a head turns: partial_rotary_factor, or rotary_pct, of its width. */
static void set_dims(const Config *c, const Config *rope, Side side)
{
    static const char key[] = "partial_rotary_factor|rotary_pct";
    const ConfigKey *row = family_key(c->family, "rotary_pct");
    const Config *from = rope && config_has(rope, key) ? rope : c;
    const double part = config_number(from, key, row ? row->preset : 1);
    if (!(part < 1)) return;
    const double heads = config_get(c, side, FIELD_ID_heads), d = config_get(c, side, FIELD_ID_d_model);
    const double head_dim = draft_choice(c->draft, side, FIELD_ID_head_dim) ? config_get(c, side, FIELD_ID_head_dim) : d / heads;
    config_set(from, key, side, FIELD_ID_rope_dims, (double)(int64_t)(head_dim * part));
}

static double theta_of(const Config *c, const Config *rope, double preset)
{
    return config_number(rope && config_has(rope, "rope_theta") ? rope : c, theta_key, preset);
}

/* Layers of two kinds: those that slide have rates of their own, which nothing scales. */
static void set_kinds(const Config *c, Side side, const bool *sliding, double theta, double local, int kind)
{
    const int layers = (int)config_get(c, side, FIELD_ID_layers);
    double *thetas = arena_array(c->arena, (size_t)layers, sizeof *thetas), *kinds = arena_array(c->arena, (size_t)layers, sizeof *kinds);
    for (int i = 0; i < layers; i++) {
        thetas[i] = sliding[i] ? local : theta;
        kinds[i] = sliding[i] ? SCALINGS_NONE : kind;
    }
    config_set_list(c, rotary_key, side, FIELD_ID_rope_theta, thetas, layers);
    config_set_list(c, rotary_key, side, FIELD_ID_rope_scaling, kinds, layers);
}

void config_rope_kinds(const Config *c, Side side, const bool *sliding, double local)
{
    const ConfigKey *row = family_key(c->family, "rope_theta");
    const double preset = row ? row->preset : 10000;
    Config all, full, slide;
    const bool there = config_object(c, rotary_key, &all), parts = there && config_is_object(&all, full_key);
    const Config *rope = there ? &all : NULL;
    if (parts && config_object(&all, full_key, &full)) rope = &full;
    if (parts && config_object(&all, sliding_key, &slide)) {
        local = theta_of(&slide, &slide, local);
        refuse_others(&slide);
        if (scaling(&slide) != SCALINGS_NONE) config_fault(&slide, "rope_type|type", "a rope_type of layers that slide is not supported");
    }
    const double theta = theta_of(c, rope, preset);
    const int kind = rope ? scaling(rope) : SCALINGS_NONE;
    set_dims(c, rope, side);
    if (rope) refuse_others(rope);
    if (rope) set_scaling(c, rope, side, kind);
    if (sliding) {
        set_kinds(c, side, sliding, theta, local, kind);
        return;
    }
    config_set(rope && config_has(rope, "rope_theta") ? rope : c, theta_key, side, FIELD_ID_rope_theta, theta);
    if (kind != SCALINGS_NONE) config_set(rope, "rope_type|type", side, FIELD_ID_rope_scaling, kind);
}

void config_rope(const Config *c, Side side) { config_rope_kinds(c, side, NULL, 0); }
