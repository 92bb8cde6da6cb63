/* tune_whole.c: choose the number of threads, the form of the layers (calls or a loop) and the
 * instruction set by timing whole runs. */
#include <math.h>
#include <string.h>

#include "isa.h"
#include "kernel_set.h"
#include "tune.h"

enum { MOST_WAYS = 32, MOST_JUDGES = 2 };

/* A way: the default one, or one that differs in one choice. */
typedef struct Way { const char *words; int threads; LayersForm layers; const char *isa; const BenchEngine *engine; } Way;

typedef struct WholeTune {
    Tune *tune;
    BenchEngine engines[MOST_WAYS];  int engine_count;
    Way ways[MOST_WAYS];  int way_count;            /* the first is the default one */
    const BenchTest *judges[MOST_JUDGES];  int judge_count;
    double *ns[MOST_WAYS];                          /* [round]: geometric mean over the judges */
    double us[MOST_WAYS][MOST_JUDGES];              /* medians */
} WholeTune;

/* ---- ways ------------------------------------------------------------------------------------------------- */

static const BenchEngine *open_engine(WholeTune *w, const char *label, const char *isa, LayersForm layers)
{
    Engine *e = tune_engine(w->tune, NULL, isa, layers, false);
    if (!e) return NULL;
    BenchEngine *b = &w->engines[w->engine_count++];
    *b = (BenchEngine){ .name = "jit", .label = label, .engine = e };
    return b;
}

static bool add_way(WholeTune *w, Way way)
{
    if (way.engine && w->way_count < MOST_WAYS) w->ways[w->way_count++] = way;
    return way.engine != NULL;
}

static bool add_threads(WholeTune *w, const BenchEngine *usual)
{
    const Bench *b = &w->tune->bench;
    bool ok = true;
    for (int i = 0; i < b->thread_count && ok; i++)
        if (b->threads[i] > 1) ok = add_way(w, (Way){ arena_format(b->arena, "%d threads", b->threads[i]), b->threads[i], 0, NULL, usual });
    return ok;
}

/* Add the other form of layers, calls or a loop. A graph has no layers, and with at most one layer
 * of each kind the two forms are the same. */
static bool add_layers(WholeTune *w)
{
    const Session *s = w->tune->bench.session;
    const Model *m = s->model;
    const bool loops = !m->graph && emit_loops(w->tune->bench.plan, s->options.form);
    const int64_t most = m->encoder.layers > m->decoder.layers ? m->encoder.layers : m->decoder.layers;
    if (m->graph || most < 2) return true;
    const LayersForm other = loops ? LAYERS_CALLS : LAYERS_LOOP;
    const char *words = loops ? "a call for each layer" : "a loop over layers";
    return add_way(w, (Way){ words, 1, other, NULL, open_engine(w, words, NULL, other) });
}

/* Unless --isa is given, add the instruction sets that this processor supports, other than the best
 * and `portable`, if their results are bit-identical. */
static bool add_sets(WholeTune *w)
{
    Session *s = w->tune->bench.session;
    int n;
    const char *const *names = isa_names(&n);
    const KernelSet *best = kernel_set("native");
    for (int i = 0; i < n && !s->options.form.isa; i++) {
        const KernelSet *set = strcmp(names[i], "portable") == 0 ? NULL : kernel_set(names[i]);
        if (!set || !best || strcmp(set->name, best->name) == 0 || strcmp(names[i], "native") == 0) continue;
        const BenchEngine *e = open_engine(w, names[i], names[i], LAYERS_BY_SPEC);
        if (!e) return false;
        bool same = true;
        for (int k = 0; k < w->judge_count; k++) same &= tune_same(w->tune, w->judges[k], w->ways[0].engine->engine, e->engine);
        if (same) add_way(w, (Way){ names[i], 1, 0, names[i], e });
    }
    return true;
}

/* ---- times ------------------------------------------------------------------------------------------------ */

/* The deciding tests are those that a user waits for: a whole answer; a prompt and an answer; the
 * longest sentence; a run of an xf.graph. */
static void choose_judges(WholeTune *w)
{
    const Bench *b = &w->tune->bench;
    for (int i = 0; i < b->test_count; i++) {
        const BenchTest *t = &b->tests[i];
        const bool sentence = t->work == BENCH_SENTENCES && t->batch == 1;
        if (sentence) w->judges[w->judge_count = 0] = t;        /* the last is the longest */
        if (sentence || t->work == BENCH_BOTH || t->work == BENCH_PROMPT || t->work == BENCH_GENERATE || t->work == BENCH_GRAPH)
            w->judges[w->judge_count++] = t;
    }
}

static bool time_ways(WholeTune *w)
{
    Bench *b = &w->tune->bench;
    for (int i = 0; i < w->way_count; i++) {
        w->ns[i] = arena_array(b->arena, (size_t)b->repetitions, sizeof *w->ns[i]);
        for (int k = 0; k < b->repetitions; k++) w->ns[i][k] = 1;
    }
    for (int j = 0; j < w->judge_count; j++) {
        BenchRow *rows = arena_array(b->arena, (size_t)w->way_count, sizeof *rows);
        for (int i = 0; i < w->way_count; i++)
            rows[i] = (BenchRow){ .engine = w->ways[i].engine, .test = w->judges[j], .threads = w->ways[i].threads };
        if (!bench_turns(b, rows, w->way_count)) return false;
        for (int i = 0; i < w->way_count; i++) {
            w->us[i][j] = bench_median(b->arena, rows[i].samples_ns, rows[i].samples) / 1e3;
            for (int k = 0; k < b->repetitions; k++) w->ns[i][k] *= pow(rows[i].samples_ns[k], 1.0 / w->judge_count);
        }
    }
    return true;
}

/* ---- verdicts --------------------------------------------------------------------------------------------- */

/* The best of the ways that differ from the default one in one kind of choice; the default one if
 * none wins. *note receives the times, if there are such ways. */
static const Way *choose(const WholeTune *w, bool (*differs)(const Way *), const char *usual, const char **note)
{
    const Bench *b = &w->tune->bench;
    const double *ns[MOST_WAYS];
    int place[MOST_WAYS], n = 0;
    Text t = text_new(b->arena);
    for (int i = 0; i < w->way_count; i++)
        if (i == 0 || differs(&w->ways[i])) ns[place[n] = i, n++] = w->ns[i];
    if (n == 1) return &w->ways[0];
    for (int j = 0; j < w->judge_count; j++) {
        text_printf(&t, "%s%s: ", j ? "; " : "", w->judges[j]->name);
        for (int k = 0; k < n; k++)
            text_printf(&t, "%s%s %s", k ? ", " : "", k ? w->ways[place[k]].words : usual, tuning_us(b->arena, w->us[place[k]][j]));
    }
    *note = t.data;
    return &w->ways[place[tune_choose(b->arena, ns, n, b->repetitions)]];
}

static bool in_threads(const Way *w) { return w->threads > 1; }
static bool in_layers(const Way *w) { return w->layers != LAYERS_BY_SPEC; }
static bool in_isa(const Way *w) { return w->isa != NULL; }

static void give(const WholeTune *w)
{
    Tuning *r = w->tune->result;
    const Way *threads = choose(w, in_threads, "1 thread", &r->threads_note);
    const Way *layers = choose(w, in_layers, "default", &r->layers_note), *isa = choose(w, in_isa, "the best set", &r->isa_note);
    /* Set it even if it is 1: a program's default may be more. */
    if (r->threads_note) r->threads = threads->threads;
    if (layers->layers) r->layers = layers->layers == LAYERS_LOOP ? TUNED_LAYERS_LOOP : TUNED_LAYERS_CALLS;
    r->isa = isa->isa;
}

bool tune_whole(Tune *t)
{
    WholeTune w = { .tune = t };
    choose_judges(&w);
    const BenchEngine *usual = open_engine(&w, "default", NULL, LAYERS_BY_SPEC);
    const bool ok = add_way(&w, (Way){ "default", 1, 0, NULL, usual }) && add_threads(&w, usual) && add_layers(&w) && add_sets(&w) &&
                    (w.way_count == 1 || time_ways(&w));
    for (int i = 0; i < w.engine_count; i++) engine_close(w.engines[i].engine);
    if (ok) give(&w);
    return ok;
}
