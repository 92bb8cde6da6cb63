/* plan_names.c: the names in C of buffers and packed weights: names of the graph as unique
 * identifiers. */
#include "plan_lower.h"
#include "reserved_names.h"

#include <ctype.h>
#include <string.h>

static const char *in_case(Arena *a, const char *name, int (*fold)(int))
{
    char *c = arena_text(a, name);
    for (char *s = c; *s; s++) *s = isalnum((unsigned char)*s) ? (char)fold((unsigned char)*s) : '_';
    return c;
}

/* ---- buffers ---------------------------------------------------------------------------------------------- */

static bool begins(const char *s, const char *with) { return strncmp(s, with, strlen(with)) == 0; }

/* True if the C of a block, a macro or C itself uses a name, or if it begins with a digit. */
static bool reserved(const Lower *w, const char *name)
{
    static const char *const words[] = { "j", "job", "w", "s", "state", "slot", "layer", "thread", "threads", "mine", "g",
                                         "HEAD_BYTES", "IDENTITY_AT" };
    static const char *const stems[] = { "rt_", "RT_", "XF_", "W_", "share_", "_" };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(words[i], name) == 0) return true;
    for (size_t i = 0; i < sizeof stems / sizeof *stems; i++)
        if (begins(name, stems[i])) return true;
    const char *model = w->plan->graph->model->name, *upper = in_case(w->arena, model, toupper);
    bool macro = begins(name, upper) && name[strlen(upper)] == '_';
    return macro || name_is_of_c(name) || isdigit((unsigned char)*name);
}

static bool taken(Lower *w, const char *name)
{
    const char *low = in_case(w->arena, name, tolower);
    if (name_map_find(w->names, low)) return true;
    return name_map_find(w->names, in_case(w->arena, arena_format(w->arena, "%s_%s", w->block->block->name, low), tolower)) != NULL;
}

void lower_take_name(Lower *w, const char *name) { name_map_add(w->names, in_case(w->arena, name, tolower), w); }

const char *lower_name(Lower *w, const char *name)
{
    const char *base = reserved(w, name) ? arena_format(w->arena, "t_%s", name) : name, *out = base;
    for (int i = 2; taken(w, out); i++) out = arena_format(w->arena, "%s_%d", base, i);
    return out;
}

const char *lower_words(Lower *w, const Tensor *t)
{
    const char *stem = w->block->block->stem, *name = t->name;
    if (begins(name, "rows.") && t->kind == TENSOR_TEMP) name += strlen("rows.");
    size_t n = strlen(stem);
    if (n && strncmp(name, stem, n) == 0 && name[n] == '.') name += n + 1;
    char *c = arena_text(w->arena, name), *end = c;
    for (const char *s = name; *s; s++) {
        if (begins(s, "_attn.")) s += strlen("_attn");
        *end++ = *s == '.' || *s == '{' || *s == '}' ? '_' : *s;
    }
    *end = 0;
    return c;
}

/* ---- packed weights --------------------------------------------------------------------------------------- */

/* Reserve BLOCK for each block, since the macro W_BLOCK is the offset of a block's weights. */
void lower_start_names(Lower *w)
{
    const Graph *g = w->plan->graph;
    w->names = name_map_new(w->arena);
    w->identifiers = name_map_new(w->arena);
    for (int i = 0; i < g->block_count; i++)
        name_map_add(w->identifiers, in_case(w->arena, g->blocks[i]->name, toupper), w);
}

/* encoder.{}.self_attn.q.weight -> encoder_layer_self.q; a bias is packed with its weight. */
static const char *words_of(Lower *w, const Packed *k)
{
    if (!k->block) return k->name;
    const Block *b = k->block->block;
    const char *name = k->name;
    size_t n = strlen(b->stem);
    if (n && strncmp(name, b->stem, n) == 0 && name[n] == '.') name += n + 1;
    char *c = arena_text(w->arena, name), *end = c;
    for (const char *s = name; *s; s++) {
        if (begins(s, "_attn.")) s += strlen("_attn");
        if (strcmp(s, ".weight") == 0 || strcmp(s, ".gain") == 0) break;
        *end++ = *s;
    }
    *end = 0;
    return arena_format(w->arena, "%s_%s", b->name, c);
}

const char *lower_identifier(Lower *w, const Packed *k)
{
    return name_map_add_free(w->identifiers, in_case(w->arena, words_of(w, k), toupper));
}
