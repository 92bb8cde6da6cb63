/* emit_words.c: numbers, names and declarations that several files of the emitter write. */
#include "emit.h"

#include <ctype.h>
#include <string.h>

const char *emit_number(Emit *e, int64_t n) { return arena_format(e->arena, "%lld", (long long)n); }

const char *emit_upper(Arena *a, const char *text)
{
    char *c = arena_text(a, text);
    for (char *s = c; *s; s++) *s = isalnum((unsigned char)*s) ? (char)toupper((unsigned char)*s) : '_';
    return c;
}

const char *emit_optimise(const Emit *e)
{
    return e->form.kernels == KERNELS_UNROLLED ? "-O3" : "-O2";
}

const char *emit_real(Arena *a, double x)
{
    const char *text = arena_format(a, "%.9g", x);
    return arena_format(a, "%s%s", text, strpbrk(text, ".e") ? "f" : ".0f");
}

const char *emit_spec_name(const Emit *e)
{
    const char *s = e->model->spec_path, *base = s;
    for (; *s; s++)
        if (*s == '/') base = s + 1;
    return base;
}

static int64_t heads_of(const LayerFields *f) { return f->heads; }

static int64_t kv_heads_of(const LayerFields *f) { return f->kv_heads; }

static int64_t heads_shared(const LayerFields *f) { return f->kv_heads != f->heads; }

static int64_t gated_of(const LayerFields *f) { return f->gated; }

static int64_t head_dim_of(const LayerFields *f) { return f->head_dim; }

static int64_t d_ff_of(const LayerFields *f) { return f->d_ff; }

/* "64", or "48 to 64" if layers differ. */
static const char *over_layers(Emit *e, const Stack *s, int64_t (*field)(const LayerFields *))
{
    int64_t least = field(&s->layer[0]), most = least;
    for (int i = 1; i < s->layers; i++) {
        const int64_t x = field(&s->layer[i]);
        least = x < least ? x : least, most = x > most ? x : most;
    }
    return least == most ? emit_number(e, least) : arena_format(e->arena, "%lld to %lld", (long long)least, (long long)most);
}

static bool in_any_layer(const Stack *s, int64_t (*field)(const LayerFields *))
{
    for (int i = 0; i < s->layers; i++)
        if (field(&s->layer[i])) return true;
    return false;
}

const char *emit_stack(Emit *e, const Stack *s)
{
    int n;
    const char *heads = over_layers(e, s, heads_of);
    const char *shared = in_any_layer(s, heads_shared) ? arena_format(e->arena, " (%s of keys and values)", over_layers(e, s, kv_heads_of)) : "";
    return arena_format(e->arena, "%lld layer%s, %s head%s%s of %s, %sd_ff %s, %s norm (%s)%s", (long long)s->layers,
                        s->layers == 1 ? "" : "s", heads, strcmp(heads, "1") == 0 ? "" : "s", shared,
                        over_layers(e, s, head_dim_of), in_any_layer(s, gated_of) ? "gated " : "",
                        over_layers(e, s, d_ff_of),
                        field_words("norms", &n)[s->norm], field_words("norm_places", &n)[s->norm_at],
                        s == &e->model->decoder && e->model->kv_dtype != KV_DTYPES_F32
                            ? arena_format(e->arena, ", keys and values kept as %s", model_kv_dtype(e->model)) : "");
}

/* "bf16 and int4": the formats of linears and embeddings. */
const char *emit_dtypes(Emit *e)
{
    const Plan *p = e->plan;
    const char *words[FORMATS];
    int n = 0;
    if (!model_is_narrow(e->model)) return "f32";
    for (int f = 0; f < FORMATS; f++) {
        bool any = false;
        for (int i = 0; i < p->packed_count; i++) any |= (int)p->packed[i]->format == f;
        if (any && *format_rows[f].word) words[n++] = format_rows[f].word;
    }
    Text t = text_new(e->arena);
    for (int i = 0; i < n; i++) text_printf(&t, "%s%s", i == 0 ? "" : i + 1 < n ? ", " : " and ", words[i]);
    return n ? t.data : "f32";
}

bool emit_has_weights_file(const Emit *e) { return e->form.weights == WEIGHTS_FILE || e->form.weights == WEIGHTS_BEHIND; }

const char *emit_weights_place(Emit *e)
{
    return e->form.weights == WEIGHTS_BEHIND ? "WEIGHTS" : arena_format(e->arena, "\"%s.safetensors\"", e->name);
}

const char *emit_weights_define(Emit *e, const char *program)
{
    static const char define[] =
        "#if defined(__linux__)\n"
        "#define WEIGHTS \"${program}\"\n"
        "#else\n"
        "#define WEIGHTS \"${name}.safetensors\"\n"
        "#endif\n\n";
    Text t = text_new(e->arena);
    if (e->form.weights == WEIGHTS_BEHIND) text_fill(&t, define, "program", program, "name", e->name, NULL);
    return t.data;
}

const char *emit_weights_declaration(Emit *e)
{
    switch (e->form.weights) {
    case WEIGHTS_EMBED:   return arena_format(e->arena, "extern const unsigned char %s_weights[];\n\n", e->name);
    case WEIGHTS_LITERAL: return arena_format(e->arena, "extern const void *const %s_literal;\n\n", e->name);
    case WEIGHTS_FILE: case WEIGHTS_BEHIND: break;
    }
    return "";
}

const char *emit_weights_symbol(Emit *e)
{
    switch (e->form.weights) {
    case WEIGHTS_EMBED:   return arena_format(e->arena, "%s_weights", e->name);
    case WEIGHTS_LITERAL: return arena_format(e->arena, "%s_literal", e->name);
    case WEIGHTS_FILE: case WEIGHTS_BEHIND: break;
    }
    return "NULL";
}
