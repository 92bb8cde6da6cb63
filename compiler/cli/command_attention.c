/* command_attention.c: run a model on one text or on ids, or an xf.graph on its inputs, and draw
 * the attention of the heads. For a decoder-only model, the picture covers the prompt, and with -n
 * also the generated tokens. */
#include "command.h"

#include <string.h>

#include "command_run_texts.h"
#include "file.h"
#include "inspect.h"
#include "progress.h"
#include "svg.h"

enum { WIDTH = 80 };

/* ---- the output --------------------------------------------------------------------------------------------- */

static bool wants_colour(int when)
{
    if (when > COLOR_WORD_AUTO) return when == COLOR_WORD_ALWAYS;
    return diag_colours(1);
}

static void show(const Look *l, const Options *o)
{
    Session *s = l->session;
    const char *path = o->output;
    const PictureInk ink = wants_colour(o->color) ? picture_ground() : PICTURE_SHADES;
    const Text t = path ? picture_svg(s->arena, &l->picture)
                        : picture_blocks(s->arena, &l->picture, WIDTH, ink);
    if (path && strcmp(path, "-") != 0) {
        file_replace(s->arena, s->diag, path, svg_kind, t.data, t.size);
        return;
    }
    fwrite(t.data, 1, t.size, stdout);
    const char *fault = file_output_fault();
    if (fault) diag_error(s->diag, EXIT_IO, (Loc){ 0 }, "cannot write to standard output: %s", fault);
}

static bool gives(const GenerationOptions *c, const char *name)
{
    for (int i = 0; i < c->count; i++)
        if (strcmp(c->name[i], name) == 0) return true;
    return false;
}

/* Generation settings need a model that generates; a decoder-only model does so with -n. */
static bool can_generate(const Look *l, const GenerationOptions *c)
{
    Session *s = l->session;
    const Model *m = s->model;
    if (!c->count) return true;
    const char *first = c->name[0], *why = "needs -n N: without it only the prompt is drawn";
    if (m->has_decoder && (m->has_encoder || gives(c, "max-new-tokens"))) return true;
    if (m->has_decoder) why = arena_format(l->arena, "--%s %s", first, why);
    else if (m->graph) why = arena_format(l->arena, "--%s: an xf.graph generates nothing", first);
    else why = arena_format(l->arena, "--%s: %s has no decoder and generates nothing", first, m->name);
    return look_refuse(s, EXIT_USAGE, why, NULL);
}

/* Check what needs neither an engine nor the values of generation settings. */
static bool can_look(const Look *l, const RunOptions *c)
{
    Session *s = l->session;
    if (s->model->graph && c->word_count)
        return look_refuse(s, EXIT_USAGE,
                      arena_format(s->arena, "unexpected argument '%s'", c->words[0]),
                      "an xf.graph gets its inputs from the spec or from --input");
    if (!s->model->graph && !c->word_count)
        return look_refuse(s, EXIT_USAGE, "attention needs a TEXT",
                           look_has_texts(s->model) ? NULL : "the model has no tokenizer, so TEXT is token ids");
    return can_generate(l, &c->generation);
}

static bool run_graph(Look *l, const RunOptions *o)
{
    l->engine = command_graph_engine(l->session, o);
    return l->engine && look_graph(l);
}

/* Answer and trace with one engine, sized for the longest sequence. */
static bool run_whole(Look *l, EngineKind kind, int *ids, int n)
{
    l->engine = session_engine(l->session, kind, true);
    return l->engine && look_read(l, ids, &n) && look_ask(l, ids, n);
}

/* Generate the answer, if there is one, with an engine without taps; then trace with one that is
 * sized for the question and the answer. */
static bool run_sized(Look *l, EngineKind kind, int *ids, int n)
{
    Session *s = l->session;
    const bool writes = s->model->has_decoder && (s->model->has_encoder || l->answers);
    if (!look_read(l, ids, &n)) return false;
    if (writes && !(l->engine = session_engine(s, kind, false))) return false;
    const bool answered = look_answer(l, ids, n);
    if (l->engine) engine_close(l->engine);
    l->engine = NULL;
    return answered && look_engine(l, kind) && look_trace(l);
}

static bool run(Look *l, const RunOptions *o)
{
    Session *s = l->session;
    if (!can_look(l, o)) return false;
    if (s->model->graph) return run_graph(l, o);
    RtGeneration *settings = arena_alloc(l->arena, sizeof *settings);
    if (s->model->has_decoder && !command_generation(s, o, settings)) return false;
    l->settings = settings;
    l->answers = gives(&o->generation, "max-new-tokens");
    int *ids = arena_array(l->arena, (size_t)look_most_ids(s->model), sizeof *ids);
    return (session_taps_are_large(s) ? run_sized : run_whole)(l, o->engine, ids, 0);
}

static AttentionOptions wanted(const Options *o)
{
    return (AttentionOptions){ .kind = option_word_of(OPTION_KIND, o->kind), .layer = o->layer, .head = o->head,
                               .has_layer = o->layer >= 0, .has_head = o->head >= 0 };
}

Exit command_attention(const Options *o)
{
    CompileOptions compile;
    EngineKind kind;
    if (!options_compile(o, &compile) || !options_engine(o, ENGINE_JIT, &kind)) return EXIT_USAGE;
    const RunOptions asked = options_run(o, kind);
    Session *s = session_new(&compile);
    Look l = { .session = s, .arena = s->arena, .wanted = wanted(o), .words = o->words, .word_count = o->word_count };
    progress_begin("attention", o->quiet);
    const bool good = session_open(s) && run(&l, &asked) && look_picture(&l);
    progress_end();
    if (good) show(&l, o);
    if (l.engine) engine_close(l.engine);
    return session_end(s);
}
