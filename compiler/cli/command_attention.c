/* command_attention.c: run a model on one text, or on ids, and draw where every head of every layer
 * looks. Of a decoder alone that is the prompt, and with -n what it generates behind it. */
#include "command.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command_run_texts.h"
#include "file.h"
#include "inspect.h"
#include "progress.h"
#include "svg.h"

enum { WIDTH = 80 };

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
    const PictureInk ink = wants_colour(&s->choices->attention) ? picture_ground() : PICTURE_SHADES;
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

static bool gives(const GenerationChoices *c, const char *name)
{
    for (int i = 0; i < c->count; i++)
        if (strcmp(c->name[i], name) == 0) return true;
    return false;
}

/* Settings of generation are of something that generates: a decoder alone does with -n. */
static bool can_generate(const Look *l)
{
    Session *s = l->session;
    const Model *m = s->model;
    const GenerationChoices *c = &s->choices->generation;
    if (!c->count) return true;
    const char *first = c->name[0], *why = "needs -n N: without it the prompt alone is drawn";
    if (m->has_decoder && (m->has_encoder || gives(c, "predict"))) return true;
    if (m->has_decoder) why = arena_format(l->arena, "--%s %s", first, why);
    else if (m->graph) why = arena_format(l->arena, "--%s: an xf.graph generates nothing", first);
    else why = arena_format(l->arena, "--%s: %s has no decoder and generates nothing", first, m->name);
    return look_refuse(s, EXIT_USAGE, why, NULL);
}

/* What can be refused without an engine is. */
static bool can_look(const Look *l)
{
    Session *s = l->session;
    const Choices *c = s->choices;
    if (s->model->graph && c->word_count)
        return look_refuse(s, EXIT_USAGE, arena_format(s->arena, "'%s' is one word too many", c->words[0]),
                      "an xf.graph has its inputs in the spec, or from --input");
    if (!s->model->graph && !c->word_count)
        return look_refuse(s, EXIT_USAGE, "attention needs a TEXT",
                           look_has_texts(s->model) ? NULL : "ids, since the model has no tokenizer");
    return can_generate(l);
}

static bool run_graph(Look *l)
{
    l->engine = command_graph_engine(l->session);
    return l->engine && look_graph(l);
}

/* By one engine, for the longest sequence. */
static bool run_whole(Look *l, int *ids, int n)
{
    l->engine = session_engine(l->session, l->session->choices->engine, NULL, true);
    return l->engine && look_read(l, ids, &n) && look_ask(l, ids, n);
}

/* By one without taps, where something is answered, and then by one that is as long as that. */
static bool run_sized(Look *l, int *ids, int n)
{
    Session *s = l->session;
    const char *name = s->choices->engine;
    const bool writes = s->model->has_decoder && (s->model->has_encoder || l->answers);
    if (!look_read(l, ids, &n)) return false;
    if (writes && !(l->engine = session_engine(s, name, NULL, false))) return false;
    const bool answered = look_answer(l, ids, n);
    if (l->engine) engine_close(l->engine);
    l->engine = NULL;
    return answered && look_engine(l, name) && look_trace(l);
}

static bool run(Look *l)
{
    Session *s = l->session;
    if (!can_look(l)) return false;
    if (s->model->graph) return run_graph(l);
    RtGeneration *settings = arena_alloc(l->arena, sizeof *settings);
    if (s->model->has_decoder && !command_generation(s, settings)) return false;
    l->settings = settings;
    l->answers = gives(&s->choices->generation, "predict");
    int *ids = arena_array(l->arena, (size_t)look_most_ids(s->model), sizeof *ids);
    return (session_taps_are_large(s) ? run_sized : run_whole)(l, ids, 0);
}

Exit command_attention(const Choices *c)
{
    Session *s = session_new(c);
    Look l = { .session = s, .arena = s->arena };
    progress_begin("attention", c->quiet);
    const bool good = session_open(s) && run(&l) && look_picture(&l);
    progress_end();
    if (good) show(&l);
    if (l.engine) engine_close(l.engine);
    return session_end(s);
}
