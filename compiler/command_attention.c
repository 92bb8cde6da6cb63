/* command_attention.c: run a model on one text, or on ids, and draw where every head of every layer looks.
 *
 * An encoder-decoder answers greedily first; then the pair goes through the engine once more, and its taps are read. A
 * decoder's row is the token that it writes at that step, and its columns are what it was fed: the start, then what it
 * wrote before. A decoder without an encoder is fed the ids as they are. */
#include "command.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "file.h"
#include "picture.h"
#include "trace.h"

enum { MOST_CELLS = 250000, WIDTH = 80 };

/* What the model reads and writes. `fed` and `written` go by steps of the decoder. */
typedef struct Question {
    int *source, n;
    int *fed, *written, m;
    const char *input, *answer;
} Question;

typedef struct Look { Session *session; Engine *engine; Question question; Trace *trace; Picture picture; } Look;

static bool refuse(Session *s, Exit code, const char *what, const char *hint)
{
    diag_error(s->diag, code, (Loc){ 0 }, "%s", what);
    if (hint) diag_note(s->diag, (Loc){ 0 }, "%s", hint);
    return false;
}

/* ---- the question ------------------------------------------------------------------------------------------- */

static int64_t most_ids(const Model *m) { return m->has_encoder ? m->max_source : m->max_target; }
static int64_t vocabulary_of(const Model *m) { return m->has_encoder ? m->source_vocab : m->target_vocab; }
static const Vocabulary *symbols_of(const Model *m) { return m->has_encoder ? m->source : m->target; }

/* The ids in one word: numbers with spaces or commas between them. */
static bool add_ids(Session *s, const char *word, int *ids, int *n)
{
    const Model *m = s->model;
    for (const char *at = word; *(at += strspn(at, " ,\t\n"));) {
        char *end;
        long id = strtol(at, &end, 10);
        if (end == at || (*end && !strchr(" ,\t\n", *end)))
            return refuse(s, EXIT_USAGE, arena_format(s->arena, "\"%s\": expected ids, since %s has no tokenizer", word, m->name), NULL);
        if (id < 0 || id >= vocabulary_of(m)) {
            const long long last = vocabulary_of(m) - 1;
            return refuse(s, EXIT_BAD_DATA, arena_format(s->arena, "id %ld: %s knows ids from 0 to %lld", id, m->name, last), NULL);
        }
        if (*n == most_ids(m))
            return refuse(s, EXIT_BAD_DATA, arena_format(s->arena, "more than %lld ids", (long long)most_ids(m)), NULL);
        ids[(*n)++] = (int)id;
        at = end;
    }
    return true;
}

static const char *ids_text(Arena *a, const int *ids, int n)
{
    Text t = text_new(a);
    for (int i = 0; i < n; i++) text_printf(&t, "%s%d", i ? " " : "", ids[i]);
    return t.data;
}

/* A text that goes on one line: U+2400 and on stand for what would end it, or move about in a terminal. */
static const char *without_controls(Arena *a, const char *text)
{
    Text t = text_new(a);
    for (; *text; text++) {
        const unsigned char c = (unsigned char)*text;
        if (c < 0x20) text_printf(&t, "\xe2\x90%c", 0x80 + c);
        else if (c == 0x7f) text_add(&t, "␡");
        else text_add_bytes(&t, text, 1);
    }
    return t.data;
}

static bool read_question(Look *l, int *ids, int *n)
{
    Session *s = l->session;
    const Choices *c = s->choices;
    Question *q = &l->question;
    if (symbols_of(s->model)) {
        if (c->word_count > 1)
            return refuse(s, EXIT_USAGE, arena_format(s->arena, "'%s' is one word too many", c->words[1]), "quote a TEXT of several words");
        q->input = arena_format(s->arena, "“%s”", without_controls(s->arena, c->words[0]));
        return command_text_ids(s, l->engine->plan, c->words[0], ids, n);
    }
    for (int i = 0; i < c->word_count; i++)
        if (!add_ids(s, c->words[i], ids, n)) return false;
    q->input = ids_text(s->arena, ids, *n);
    return *n > 0 || refuse(s, EXIT_BAD_DATA, "there are no ids", NULL);
}

/* Greedy, to the end or the longest target, as `run` does. */
static rt_status write_answer(Look *l)
{
    const Model *m = l->session->model;
    Engine *e = l->engine;
    Question *q = &l->question;
    q->fed = arena_array(l->session->arena, (size_t)m->max_target, sizeof *q->fed);
    q->written = arena_array(l->session->arena, (size_t)m->max_target, sizeof *q->written);
    rt_status status = e->ops->encode(e, q->source, q->n);
    const int most = m->max_target > 2 ? (int)m->max_target - 1 : 1;         /* the last id is not fed */
    for (int id = (int)m->start_id; status == RT_OK && q->m < most;) {
        q->fed[q->m] = id;
        status = e->ops->next(e, id, &id);
        q->written[q->m++] = id;
        if (id == m->end_id) break;
    }
    engine_reset(e);
    return status;
}

static const char *answer_text(Arena *a, const Model *m, const Question *q)
{
    int n = q->m && q->written[q->m - 1] == m->end_id ? q->m - 1 : q->m;
    if (!m->target) return ids_text(a, q->written, n);
    Text t = text_new(a);
    text_add(&t, "“");
    for (int i = 0; i < n; i++)
        if (q->written[i] < m->target->size && m->target->code_point[q->written[i]] >= 0)
            text_add(&t, without_controls(a, m->target->text[q->written[i]]));
    text_add(&t, "”");
    return t.data;
}

static bool ask(Look *l)
{
    Session *s = l->session;
    const Model *m = s->model;
    Question *q = &l->question;
    int *ids = arena_array(s->arena, (size_t)most_ids(m), sizeof *ids), n = 0;
    if (!read_question(l, ids, &n)) return false;
    rt_status status = RT_OK;
    if (m->has_encoder) {
        q->source = ids;
        q->n = n;
        if (m->has_decoder) status = write_answer(l);
        if (m->has_decoder) q->answer = answer_text(s->arena, m, q);
    } else {
        q->fed = q->written = ids;
        q->m = n;
    }
    if (status == RT_OK) {
        l->trace = trace_run(s->arena, l->engine, q->source, q->n, q->fed, q->m);
        status = l->trace->status;
    }
    return status == RT_OK || refuse(s, EXIT_OUR_BUG, arena_format(s->arena, "the model did not run: %s", rt_status_text(status)), NULL);
}

/* ---- labels ------------------------------------------------------------------------------------------------- */

/* One character, as seen: what has no ink has a sign. */
static const char *character_label(Arena *a, int32_t c, const char *text)
{
    if (c == ' ') return "␣";
    if (c == 0xa0) return "⍽";
    if (c < 0x20 || c == 0x7f) return without_controls(a, text);
    return picture_text_columns(text) ? text : arena_format(a, "◌%s", text);
}

static const char *label(Arena *a, const Vocabulary *v, int id)
{
    if (!v || id >= v->size) return arena_format(a, "%d", id);
    if (id == v->start) return "⊢";
    if (id == v->end) return "⊣";
    if (v->code_point[id] < 0) return v->text[id];
    return character_label(a, v->code_point[id], v->text[id]);
}

static const char *const *labels(Arena *a, const Vocabulary *v, const int *ids, int n)
{
    const char **out = arena_array(a, (size_t)n + 1, sizeof *out);
    for (int i = 0; i < n; i++) out[i] = label(a, v, ids ? ids[i] : i);
    return out;
}

static bool has_label(const Picture *p, const char *sign)
{
    for (int i = 0; i < p->count; i++) {
        const PictureSection *s = &p->sections[i];
        for (int r = 0; r < s->rows; r++)
            if (strcmp(s->row_labels[r], sign) == 0) return true;
        for (int c = 0; c < s->columns; c++)
            if (strcmp(s->column_labels[c], sign) == 0) return true;
    }
    return false;
}

static const char *signs(Arena *a, const Picture *p)
{
    static const char *const known[][2] = { { "␣", "space" }, { "⊢", "start" }, { "⊣", "end" } };
    Text t = text_new(a);
    for (int i = 0; i < 3; i++)
        if (has_label(p, known[i][0])) text_printf(&t, "%s%s %s", t.size ? ", " : "", known[i][0], known[i][1]);
    return t.data;
}

/* ---- the picture -------------------------------------------------------------------------------------------- */

static bool wanted(const AttentionChoices *c, int layer, int head)
{
    return (!c->has_layer || c->layer == layer) && (!c->has_head || c->head == head);
}

static bool wanted_kind(const AttentionChoices *c, const char *kind) { return !c->kind || strcmp(c->kind, kind) == 0; }

static void add_heads(const Look *l, PictureSection *s, const TraceTensor *t, int layer)
{
    const AttentionChoices *c = &l->session->choices->attention;
    const int heads = t->rank == 3 ? (int)t->shape[0] : 1;
    const size_t cells = (size_t)s->rows * (size_t)s->columns;
    s->maps = arena_grow(l->session->arena, s->maps, (size_t)s->count * sizeof *s->maps, (size_t)(s->count + heads) * sizeof *s->maps);
    for (int h = 0; h < heads; h++)
        if (wanted(c, layer, h)) s->maps[s->count++] = (PictureMap){ t->name, layer, h, t->values + (size_t)h * cells };
}

static void add_section(Look *l, const PictureSection *s)
{
    Picture *p = &l->picture;
    if (!s->count) return;
    p->sections = arena_grow(l->session->arena, p->sections, (size_t)p->count * sizeof *s, (size_t)(p->count + 1) * sizeof *s);
    p->sections[p->count++] = *s;
}

/* Every layer's `STACK.N.PART.weights`. */
static void add_stack(Look *l, PictureSection s, const char *stack, const char *part, int64_t layers)
{
    for (int i = 0; i < layers; i++) {
        const char *name = arena_format(l->session->arena, "%s.%d.%s.weights", stack, i, part);
        const TraceTensor *t = trace_find(l->trace, name);
        if (!t) die("%s is not traced", name);
        add_heads(l, &s, t, i);
    }
    add_section(l, &s);
}

static void add_model(Look *l)
{
    Arena *a = l->session->arena;
    const AttentionChoices *c = &l->session->choices->attention;
    const Model *m = l->session->model;
    const Question *q = &l->question;
    const char *unit = symbols_of(m) ? "character" : "token";
    const char *const *source = labels(a, m->source, q->source, q->n);
    const char *const *fed = labels(a, m->target, q->fed, q->m), *const *written = labels(a, m->target, q->written, q->m);
    PictureSection s = { .heading = "Encoder self-attention", .layered = true, .rows = q->n, .columns = q->n,
                         .row_labels = source, .column_labels = source };
    s.doc = arena_format(a, "Rows: each %s of the input. Columns: the %ss it looks at.", unit, unit);
    if (m->has_encoder && wanted_kind(c, "encoder")) add_stack(l, s, "encoder", "self_attn", m->encoder.layers);
    if (!m->has_decoder) return;

    s = (PictureSection){ .heading = "Decoder self-attention", .layered = true, .causal = true, .rows = q->m, .columns = q->m,
                          .row_labels = written, .column_labels = fed };
    s.doc = m->has_encoder ? arena_format(a, "Rows: each %s of the answer, as it is written. Columns: what precedes it.", unit)
                           : arena_format(a, "Rows: each %s. Columns: itself and those before it.", unit);
    if (wanted_kind(c, "decoder")) add_stack(l, s, "decoder", "self_attn", m->decoder.layers);
    if (!m->has_encoder) return;

    s = (PictureSection){ .heading = "Cross-attention", .layered = true, .rows = q->m, .columns = q->n,
                          .row_labels = written, .column_labels = source };
    s.doc = arena_format(a, "Rows: each %s of the answer, as it is written. Columns: the input.", unit);
    if (wanted_kind(c, "cross")) add_stack(l, s, "decoder", "cross_attn", m->decoder.layers);
}

/* The weights of every attention of an xf.graph that has given them a name. */
static void add_graph(Look *l)
{
    Arena *a = l->session->arena;
    const Graph *g = l->session->graph;
    for (int b = 0; b < g->block_count; b++) {
        for (int i = 0; i < g->blocks[b]->count; i++) {
            const Node *n = g->blocks[b]->nodes[i];
            const TraceTensor *t = n->op == OP_ATTENTION && n->out[1] && n->out[1]->name ? trace_find(l->trace, n->out[1]->name) : NULL;
            if (!t) continue;
            PictureSection s = { .heading = t->name, .doc = "Rows: queries. Columns: keys.",
                                 .rows = (int)t->shape[t->rank - 2], .columns = (int)t->shape[t->rank - 1] };
            s.row_labels = labels(a, NULL, NULL, s.rows);
            s.column_labels = labels(a, NULL, NULL, s.columns);
            if (!l->session->choices->attention.kind) add_heads(l, &s, t, 0);
            add_section(l, &s);
        }
    }
}

static bool run_graph(Look *l)
{
    Session *s = l->session;
    l->trace = trace_graph(s->arena, l->engine);
    return l->trace->status == RT_OK ||
           refuse(s, EXIT_OUR_BUG, arena_format(s->arena, "the graph did not run: %s", rt_status_text(l->trace->status)), NULL);
}

static bool refuse_choice(Session *s)
{
    const AttentionChoices *c = &s->choices->attention;
    const bool chosen = c->has_layer || c->has_head || c->kind;
    if (s->model->graph && !chosen)
        return refuse(s, EXIT_BAD_DATA, arena_format(s->arena, "%s names no attention weights", s->model->name),
                      "give the second result of g.attention to g.output or g.name");
    const Model *m = s->model;
    const long long layers[] = { m->has_encoder ? m->encoder.layers : 0, m->has_decoder ? m->decoder.layers : 0 };
    return refuse(s, EXIT_USAGE, arena_format(s->arena, "%s has no such attention", m->name), m->graph ? "an xf.graph has heads, from 0" :
                  arena_format(s->arena, "layers: %lld in its encoder, %lld in its decoder; layers and heads count from 0", layers[0], layers[1]));
}

static bool make_picture(Look *l)
{
    Session *s = l->session;
    l->picture = (Picture){ .model = s->model->name, .input = l->question.input, .answer = l->question.answer };
    if (s->model->graph) add_graph(l);
    else add_model(l);
    l->picture.signs = signs(s->arena, &l->picture);
    if (!l->picture.count) return refuse_choice(s);
    const double cells = picture_cells(&l->picture);
    if (cells <= MOST_CELLS) return true;
    return refuse(s, EXIT_USAGE, arena_format(s->arena, "a picture of %.0f cells: at most %d can be looked at", cells, MOST_CELLS),
                  "choose with --layer, --head and --kind");
}

/* ---- where it goes ------------------------------------------------------------------------------------------ */

static bool wants_colour(const AttentionChoices *c)
{
    const char *none = getenv("NO_COLOR"), *term = getenv("TERM");
    if (c->colour && strcmp(c->colour, "auto") != 0) return strcmp(c->colour, "always") == 0;
    return isatty(1) && !(none && *none) && term && strcmp(term, "dumb") != 0;
}

static void show(const Look *l)
{
    Session *s = l->session;
    const char *path = s->choices->folder;
    const Text t = path ? picture_svg(s->arena, &l->picture) : picture_blocks(s->arena, &l->picture, WIDTH, wants_colour(&s->choices->attention));
    if (path && strcmp(path, "-") != 0) {
        file_write(s->arena, s->diag, path, t.data, t.size);
        return;
    }
    fwrite(t.data, 1, t.size, stdout);
    if (fflush(stdout) != 0 || ferror(stdout)) diag_error(s->diag, EXIT_IO, (Loc){ 0 }, "cannot write the picture");
}

/* What can be refused without an engine is. */
static bool open_engine(Look *l)
{
    Session *s = l->session;
    const Choices *c = s->choices;
    if (s->model->graph && c->word_count)
        return refuse(s, EXIT_USAGE, arena_format(s->arena, "'%s' is one word too many", c->words[0]),
                      "an xf.graph has its inputs in the spec, or from --input");
    if (!s->model->graph && !c->word_count)
        return refuse(s, EXIT_USAGE, "attention needs a TEXT", symbols_of(s->model) ? NULL : "ids, since the model has no tokenizer");
    l->engine = s->model->graph ? command_graph_engine(s) : session_engine(s, c->engine, NULL, true);
    return l->engine != NULL;
}

Exit command_attention(const Choices *c)
{
    Session *s = session_new(c);
    Look l = { .session = s };
    if (session_read(s) && open_engine(&l)) {
        if ((s->model->graph ? run_graph(&l) : ask(&l)) && make_picture(&l)) show(&l);
        engine_close(l.engine);
    }
    return session_end(s);
}
