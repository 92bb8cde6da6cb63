/* model_dtype.c: the dtype in which each tensor is packed, by the field dtype and the patterns of a
 * spec; and whether a model rounds activations or its KV cache. */
#include "fields.h"

#include <string.h>

const char *model_dtype(const Model *m)
{
    return m->dtype_rule_count ? "mixed" : fields[FIELD_ID_dtype].words[m->dtype];
}

bool model_is_narrow(const Model *m) { return m->dtype != DTYPES_F32 || m->dtype_rule_count; }

static bool word_rounds(int word)
{
    static const bool rounds[] = {
        [DTYPES_F32] = false,
#define FORMAT(id, name, word, bits, dtype, size, doc)
#define PANEL_FORMAT(id, name, word, bits, dtype, size, kernels, doc) [DTYPES_##id] = (bits) <= 8,
#include "formats.def"
#undef FORMAT
        [DTYPES_FILE] = true,
    };
    return rounds[word];
}

bool model_rounds_activations(const Model *m)
{
    bool rounds = word_rounds(m->dtype);
    for (int i = 0; i < m->dtype_rule_count; i++) rounds |= word_rounds(m->dtype_rules[i].word);
    return rounds;
}

bool model_has_cache(const Model *m)
{
    for (int i = 0; m->graph && i < m->graph->count; i++)
        if (strcmp(m->graph->calls[i].op, "cache") == 0) return true;
    return m->has_decoder;
}

bool model_rounds(const Model *m) { return model_rounds_activations(m) || m->kv_dtype != KV_DTYPES_F32; }

bool dtype_rule_matches(const DtypeRule *r, const char *name)
{
    const char *p = r->pattern, *star = NULL, *again = NULL;
    while (*name) {
        if (!*p && *name == '.') return true;
        if (*p == '*') star = ++p, again = name;
        else if (*p == *name) p++, name++;
        else if (star) p = star, name = ++again;
        else return false;
    }
    while (*p == '*') p++;
    return !*p;
}

/* The number of literal characters of a pattern: if several match, the one with the most wins. */
static int weight_of(const DtypeRule *r)
{
    int n = 0;
    for (const char *p = r->pattern; *p; p++) n += *p != '*';
    return n;
}

const DtypeRule *model_dtype_rule(const Model *m, const char *name, const DtypeRule **other)
{
    const DtypeRule *best = NULL;
    *other = NULL;
    for (int i = 0; i < m->dtype_rule_count; i++) {
        const DtypeRule *r = &m->dtype_rules[i];
        if (!dtype_rule_matches(r, name)) continue;
        const int more = best ? weight_of(r) - weight_of(best) : 1;
        if (more > 0) best = r, *other = NULL;
        else if (more == 0 && r->word != best->word) *other = r;
    }
    return best;
}

/* Narrow models lose the most with few bits, and have few bytes to save. Perplexity of stories260K,
 * 64 wide: +11 % with all matrices in int4, +5 % with the feed-forwards, +3 % with only the up and
 * gate matrices. */
enum { NARROW_MODEL = 256 };

static bool keeps_eight_bits(const Model *m, const char *name)
{
    return !m->graph && m->d_model < NARROW_MODEL && !(strstr(name, ".ffn.") && !strstr(name, ".ffn.down"));
}

int model_dtype_of(const Model *m, const char *name)
{
    const DtypeRule *other, *rule = model_dtype_rule(m, name, &other);
    if (rule) return rule->word;
    return m->dtype == DTYPES_PANELS_INT4 && keeps_eight_bits(m, name) ? DTYPES_PANELS_INT8 : m->dtype;
}

bool model_layers_pack_alike(Arena *a, const Model *m, const char *stack, int one, int other)
{
    const char *prefix = arena_format(a, "%s.%d.", stack, one);
    const size_t length = strlen(prefix);
    for (int i = 0; m->dtype_rule_count && i < m->tensor_count; i++) {
        const char *name = m->tensors[i].name;
        if (strncmp(name, prefix, length) != 0) continue;
        if (model_dtype_of(m, name) != model_dtype_of(m, arena_format(a, "%s.%d.%s", stack, other, name + length))) return false;
    }
    return true;
}
