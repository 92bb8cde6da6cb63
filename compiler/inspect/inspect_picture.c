/* inspect_picture.c: make the picture of attention weights, with labels. In an encoder-decoder, a
 * row of the decoder is labelled with the id that is written at that step, and a column with the id
 * that was fed: first the start, then what was written before. In a decoder-only model, both are
 * the ids fed. */
#include "inspect.h"

#include <math.h>
#include <string.h>

enum { MOST_CELLS = 250000 };

/* ---- labels ------------------------------------------------------------------------------------------------- */

/* Labels for ids of a source or of a decoder. */
static const char *const *labels(Arena *a, const Model *m, bool source, const int *ids, int n)
{
    const char **out = arena_array(a, (size_t)n + 1, sizeof *out);
    for (int i = 0; i < n; i++) out[i] = look_label(a, m, source, ids[i]);
    return out;
}

static const char *const *numbers(Arena *a, int n)
{
    const char **out = arena_array(a, (size_t)n + 1, sizeof *out);
    for (int i = 0; i < n; i++) out[i] = arena_format(a, "%d", i);
    return out;
}

static bool has_sign(const Picture *p, const char *sign)
{
    for (int i = 0; i < p->count; i++) {
        const PictureSection *s = &p->sections[i];
        for (int r = 0; r < s->rows; r++)
            if (strstr(s->row_labels[r], sign)) return true;
        for (int c = 0; c < s->columns; c++)
            if (strstr(s->column_labels[c], sign)) return true;
    }
    return false;
}

static const char *signs(Arena *a, const Picture *p)
{
    static const char *const known[][2] = { { "␣", "space" }, { "⊢", "start" }, { "⊣", "end" } };
    Text t = text_new(a);
    for (int i = 0; i < 3; i++)
        if (has_sign(p, known[i][0])) text_printf(&t, "%s%s %s", t.size ? ", " : "", known[i][0], known[i][1]);
    return t.data;
}

/* ---- the picture -------------------------------------------------------------------------------------------- */

static bool wanted(const AttentionOptions *c, int layer, int head)
{
    return (!c->has_layer || c->layer == layer) && (!c->has_head || c->head == head);
}

static bool wanted_kind(const AttentionOptions *c, const char *kind) { return !c->kind || strcmp(c->kind, kind) == 0; }

static void add_heads(Look *l, PictureSection *s, const TraceTensor *t, int layer)
{
    const AttentionOptions *c = &l->wanted;
    const int heads = t->rank == 3 ? (int)t->shape[0] : 1;
    const size_t cells = (size_t)s->rows * (size_t)s->columns;
    if (heads > l->most_heads) l->most_heads = heads;
    s->maps = arena_grow(l->arena, s->maps, (size_t)s->count * sizeof *s->maps, (size_t)(s->count + heads) * sizeof *s->maps);
    for (int h = 0; h < heads; h++)
        if (wanted(c, layer, h)) s->maps[s->count++] = (PictureMap){ t->name, layer, h, t->values + (size_t)h * cells };
}

static void add_section(Look *l, const PictureSection *s)
{
    Picture *p = &l->picture;
    if (!s->count) return;
    p->sections = arena_grow(l->arena, p->sections, (size_t)p->count * sizeof *s, (size_t)(p->count + 1) * sizeof *s);
    p->sections[p->count++] = *s;
}

/* Add the tensor `STACK.N.PART.weights` of every layer. */
static void add_stack(Look *l, PictureSection s, const char *stack, const char *part, int64_t layers)
{
    for (int i = 0; i < layers; i++) {
        const char *name = arena_format(l->arena, "%s.%d.%s.weights", stack, i, part);
        const TraceTensor *t = trace_find(l->trace, name);
        if (!t) die("%s is not traced", name);
        add_heads(l, &s, t, i);
    }
    add_section(l, &s);
}

static void add_model(Look *l)
{
    Arena *a = l->arena;
    const AttentionOptions *c = &l->wanted;
    const Model *m = l->session->model;
    const Question *q = &l->question;
    const char *unit = !m->tokenizer_data && look_has_texts(m) ? "character" : "token";
    const char *const *source = labels(a, m, true, q->source, q->n);
    const char *const *fed = labels(a, m, false, q->fed, q->m), *const *written = labels(a, m, false, q->written, q->m);
    PictureSection s = { .heading = "Encoder self-attention", .layered = true, .rows = q->n, .columns = q->n,
                         .row_labels = source, .column_labels = source };
    s.doc = arena_format(a, "Rows: each %s of the input. Columns: the %ss it looks at.", unit, unit);
    if (m->has_encoder && wanted_kind(c, "encoder")) add_stack(l, s, "encoder", "self_attn", m->encoder.layers);
    if (!m->has_decoder) return;

    s = (PictureSection){ .heading = "Decoder self-attention", .layered = true, .causal = true, .rows = q->m, .columns = q->m,
                          .row_labels = written, .column_labels = fed };
    s.doc = m->has_encoder ? arena_format(a, "Rows: each %s of the answer, as it is written. Columns: what precedes it.", unit)
                           : arena_format(a, "Rows: each %s%s. Columns: itself and those before it.", unit, q->answer ? " of prompt and answer" : "");
    if (wanted_kind(c, "decoder")) add_stack(l, s, "decoder", "self_attn", m->decoder.layers);
    if (!m->has_encoder) return;

    s = (PictureSection){ .heading = "Cross-attention", .layered = true, .rows = q->m, .columns = q->n,
                          .row_labels = written, .column_labels = source };
    s.doc = arena_format(a, "Rows: each %s of the answer, as it is written. Columns: the input.", unit);
    if (wanted_kind(c, "cross")) add_stack(l, s, "decoder", "cross_attn", m->decoder.layers);
}

/* Add the weights of every attention of an xf.graph that names them. */
static void add_graph(Look *l)
{
    Arena *a = l->arena;
    const Graph *g = l->session->graph;
    for (int b = 0; b < g->block_count; b++) {
        for (int i = 0; i < g->blocks[b]->count; i++) {
            const Node *n = g->blocks[b]->nodes[i];
            const TraceTensor *t = n->op == OP_ATTENTION && n->out[1] && n->out[1]->name ? trace_find(l->trace, n->out[1]->name) : NULL;
            if (!t) continue;
            PictureSection s = { .heading = t->name, .doc = "Rows: queries. Columns: keys.",
                                 .rows = (int)t->shape[t->rank - 2], .columns = (int)t->shape[t->rank - 1] };
            s.row_labels = numbers(a, s.rows);
            s.column_labels = numbers(a, s.columns);
            add_heads(l, &s, t, 0);
            if (!l->wanted.kind) add_section(l, &s);
        }
    }
}

/* Append "layers 0 to 1", or "layer 0" if there is only one. */
static void add_range(Text *t, const char *what, int64_t n)
{
    if (n == 1) text_printf(t, "%s 0", what);
    else text_printf(t, "%ss 0 to %lld", what, (long long)n - 1);
}

/* Append "encoder: layers 0 to 1, heads 0 to 3" to the text. */
static void add_choice(Text *t, const char *kind, const Stack *s)
{
    int64_t heads = 0;
    for (int i = 0; i < s->layers; i++) heads = s->layer[i].heads > heads ? s->layer[i].heads : heads;
    text_printf(t, "%s%s: ", t->size ? "; " : "", kind);
    add_range(t, "layer", s->layers);
    text_add(t, ", ");
    add_range(t, "head", heads);
}

/* The attentions that can be chosen. */
static const char *choices_of(Look *l)
{
    const Model *m = l->session->model;
    Text t = text_new(l->session->arena);
    if (m->has_encoder) add_choice(&t, "encoder", &m->encoder);
    if (m->has_decoder) add_choice(&t, "decoder", &m->decoder);
    if (m->has_encoder && m->has_decoder) add_choice(&t, "cross", &m->decoder);
    if (m->graph) {
        text_add(&t, "this xf.graph has ");
        add_range(&t, "head", l->most_heads);
        text_add(&t, ", no layers and no kinds");
    }
    return t.data;
}

static bool refuse_choice(Look *l)
{
    Session *s = l->session;
    if (s->model->graph && !l->most_heads)
        return look_refuse(s, EXIT_BAD_DATA, arena_format(s->arena, "%s has no named attention weights", s->model->name),
                      "pass the second result of g.attention to g.output or g.name");
    return look_refuse(s, EXIT_USAGE, arena_format(s->arena, "%s has no such attention", s->model->name), choices_of(l));
}

/* True if all numbers that would be drawn of a map are finite. */
static bool is_finite(const PictureSection *s, const PictureMap *map)
{
    for (int r = 0; r < s->rows; r++)
        for (int c = 0; c < s->columns && !(s->causal && c > r); c++)
            if (!isfinite(map->values[(size_t)r * (size_t)s->columns + (size_t)c])) return false;
    return true;
}

static bool all_finite(Look *l)
{
    for (int i = 0; i < l->picture.count; i++) {
        const PictureSection *s = &l->picture.sections[i];
        for (int k = 0; k < s->count; k++)
            if (!is_finite(s, &s->maps[k]))
                return look_refuse(l->session, EXIT_BAD_DATA,
                                   arena_format(l->arena, "%s contains NaN or infinity", s->maps[k].name), NULL);
    }
    return true;
}

bool look_picture(Look *l)
{
    Session *s = l->session;
    l->picture = (Picture){ .model = s->model->name, .input = l->question.input, .answer = l->question.answer };
    l->most_heads = 0;
    if (s->model->graph) add_graph(l);
    else add_model(l);
    l->picture.signs = signs(l->arena, &l->picture);
    if (!l->picture.count) return refuse_choice(l);
    if (!all_finite(l)) return false;
    const double cells = picture_cells(&l->picture);
    if (cells <= MOST_CELLS) return true;
    return look_refuse(s, EXIT_USAGE, arena_format(l->arena, "the picture would have %.0f cells; the limit is %d", cells, MOST_CELLS),
                       s->model->graph ? "choose one head (--head)" :
                       "choose a layer, a head or a kind (--layer, --head, --kind) or fewer tokens (-n, -c); "
                       "at the prompt: m:attention(text, { layer = 0, n = 20 })");
}
