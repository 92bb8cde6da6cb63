/* huggingface_rope.c: rotary positions, in both spellings: rope_theta with rope_scaling, and rope_parameters. */
#include "huggingface.h"

#include <string.h>

/* Rows of a head that turn: partial_rotary_factor, or rotary_pct, of its width. */
static void set_dims(const Config *c, const Config *rope, Side side)
{
    static const char key[] = "partial_rotary_factor|rotary_pct";
    const Config *from = rope && config_has(rope, key) ? rope : c;
    if (!config_has(from, key)) return;
    const double heads = config_get(c, side, FIELD_ID_heads), d = config_get(c, side, FIELD_ID_d_model);
    const double head_dim = draft_choice(c->draft, side, FIELD_ID_head_dim) ? config_get(c, side, FIELD_ID_head_dim) : d / heads;
    config_set(from, key, side, FIELD_ID_rope_dims, (double)(int64_t)(head_dim * config_number(from, key, 1)));
}

void config_rope(const Config *c, Side side)
{
    const ConfigKey *row = family_key(c->family, "rope_theta");
    Config rope;
    const bool there = config_object(c, "rope_parameters|rope_scaling", &rope);
    const Config *from = there && config_has(&rope, "rope_theta") ? &rope : c;
    const double theta = config_number(from, "rope_theta|rotary_emb_base", row ? row->preset : 10000);
    config_set(from, "rope_theta|rotary_emb_base", side, FIELD_ID_rope_theta, theta);
    set_dims(c, there ? &rope : NULL, side);
    if (!there) return;
    const char *type = config_text(&rope, "rope_type|type", "default");
    if (strcmp(type, "default")) config_fault(&rope, "rope_type|type", "the rope_type \"%s\" is not supported", type);
}
