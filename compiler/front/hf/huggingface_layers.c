/* huggingface_layers.c: which layers of a decoder have a sliding window, and of which size. */
#include "huggingface.h"

#include <string.h>

const bool *config_sliding(const Config *c, int first, int period)
{
    const int layers = (int)config_get(c, SIDE_BOTH, FIELD_ID_layers);
    bool *sliding = arena_array(c->arena, (size_t)layers, sizeof *sliding);
    const int n = config_has(c, "layer_types") ? config_count(c, "layer_types") : 0;
    if (config_has(c, "layer_types") && n != layers && n >= 0)
        config_fault(c, "layer_types", "the length of \"layer_types\" is %d, but the model has %d layer%s", n, layers,
                     layers == 1 ? "" : "s");
    for (int i = 0; i < layers; i++) {
        const char *type = n == layers ? config_text_at(c, "layer_types", i) : "";
        if (n == layers && strcmp(type, "full_attention") && strcmp(type, "sliding_attention"))
            config_fault(c, "layer_types", "the layer type \"%s\" of layer %d is not supported", type, i);
        sliding[i] = n == layers ? !strcmp(type, "sliding_attention") : i >= first && (!period || (i + 1) % period != 0);
    }
    return sliding;
}

int64_t config_window(const Config *c)
{
    const ConfigKey *row = family_key(c->family, "sliding_window");
    if (config_is_null(c, "sliding_window")) return 0;
    const int64_t window = config_integer(c, "sliding_window", row ? row->preset : 0);
    if (config_has(c, "sliding_window") && window < 1)
        config_fault(c, "sliding_window", "\"sliding_window\" is %lld; it must be null or at least 1", (long long)window);
    return window;
}

void config_both_ways(const Config *c, const char *key, bool half)
{
    const Choice *window = draft_choice(c->draft, SIDE_BOTH, FIELD_ID_window);
    const int n = window ? window->count : 0;
    double *windows = arena_array(c->arena, (size_t)n + 1, sizeof *windows);
    config_set(c, key, SIDE_BOTH, FIELD_ID_causal, 0);
    for (int i = 0; i < n; i++) {
        const int64_t w = window->values[i].integer;
        windows[i] = w ? (double)(half ? w / 2 + 1 : w + 1) : 0;
    }
    if (n) config_set_list(c, "sliding_window", SIDE_BOTH, FIELD_ID_window, windows, n);
}

void config_windows(const Config *c, const bool *sliding)
{
    const int layers = (int)config_get(c, SIDE_BOTH, FIELD_ID_layers);
    double *windows = arena_array(c->arena, (size_t)layers, sizeof *windows);
    bool any = false;
    for (int i = 0; i < layers; i++) any |= sliding[i];
    if (!any) return;
    int64_t window = config_window(c);
    if (!window) window = config_integer(c, "sliding_window", CONFIG_REQUIRED);
    for (int i = 0; i < layers; i++) windows[i] = sliding[i] ? (double)window : 0;
    config_set_list(c, "sliding_window", SIDE_BOTH, FIELD_ID_window, windows, layers);
}
