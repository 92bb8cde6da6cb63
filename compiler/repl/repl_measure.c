/* repl_measure.c: how long a model took to compile and takes to run: m:time(), m:bench(),
 * m:measure(). */
#include "repl.h"

#include <stdlib.h>
#include <string.h>

#include "bench.h"

static int time_phases(lua_State *L)
{
    ReplModel *m = repl_check_model(L);
    const SessionPhases *p = &m->session->phases;
    const EnginePhases *e = &m->engine->phases;
    const struct { const char *name; int64_t ns; } phases[] = {
        { "read", p->read_ns }, { "model", p->model_ns }, { "graph", p->graph_ns }, { "plan", p->plan_ns },
        { "emit", e->emit_ns }, { "compile", e->compile_ns }, { e->packed_before ? "pack (reused)" : "pack", e->pack_ns }, { "all", m->open_ns }
    };
    for (size_t i = 0; i < sizeof phases / sizeof *phases; i++)
        if (phases[i].ns || i > 3) printf("%-14s %9.3f ms\n", phases[i].name, (double)phases[i].ns / 1e6);
    repl_tier_time(m);
    return 0;
}

/* One run: a graph runs once; an encoder reads a source of full length, and its decoder, if any,
 * takes one step; a decoder-only model takes up to 16 steps from an empty sequence. */
static rt_status run_once(ReplModel *m, const int *ids)
{
    const Model *model = m->session->model;
    const EngineOps *ops = m->engine->ops;
    if (model->graph) return engine_run(m->engine);
    if (model->has_encoder) {
        rt_status status = ops->encode(m->engine, 0, ids, (int)model->max_source);
        return status || !model->has_decoder ? status : ops->step(m->engine, (int)model->start_id);
    }
    rt_status status = ops->clear(m->engine);
    const int n = model->max_target < 16 ? (int)model->max_target : 16;
    for (int i = 0; i < n && !status; i++) status = ops->step(m->engine, ids[i]);
    return status;
}

/* The resolution of the clock, in µs. */
static double clock_tick_us(void)
{
    int64_t least = INT64_MAX;
    for (int i = 0; i < 100; i++) {
        const int64_t begin = clock_now_ns();
        int64_t now = begin;
        while (now == begin) now = clock_now_ns();
        if (now - begin < least) least = now - begin;
    }
    return (double)least / 1e3;
}

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Print up to ten bins from the minimum to the 95th percentile, none narrower than the clock's
 * resolution, and one for all longer runs. */
static void histogram(const double *us, int n)
{
    enum { BINS = 10, WIDTH = 40 };
    const double low = us[0], reach = us[(int64_t)n * 95 / 100] - low, tick = clock_tick_us();
    const double step = reach / BINS > tick ? reach / BINS : tick;
    int counts[BINS + 1] = { 0 }, most = 1, last = 0;
    for (int i = 0; i < n; i++) {
        const double place = (us[i] - low) / step;
        const int bin = place < BINS ? (int)place : BINS;
        if (++counts[bin] > most) most = counts[bin];
        if (bin > last) last = bin;
    }
    for (int i = 0; i <= last; i++) {
        if (i < BINS) printf("%10.2f µs |", low + step * i);
        else printf("%13s |", "more");
        for (int k = 0; k < (int)(((int64_t)counts[i] * WIDTH + most - 1) / most); k++) fputs("█", stdout);
        printf(" %d\n", counts[i]);
    }
}

/* Run for some seconds, and push the minimum and the median in seconds; print: also print them
 * and a histogram. */
static int measure_runs(lua_State *L, double seconds, bool print)
{
    enum { MOST_RUNS = 100000 };
    ReplModel *m = repl_check_model(L);
    const Model *model = m->session->model;
    if (!(seconds > 0 && seconds <= 600)) luaL_error(L, "m:bench and m:measure take a number of seconds, above 0 and up to 600");
    int *ids = arena_array(m->session->arena, (size_t)(model->graph ? 1 : look_most_ids(model)), sizeof *ids);
    const ReplPause pause = repl_pause(L, m->engine);
    double *us = malloc(MOST_RUNS * sizeof *us);
    if (!us) no_memory("the times of %d runs", MOST_RUNS);
    int n = 0;
    rt_status status = run_once(m, ids);
    const int64_t begin = clock_now_ns(), end = begin + (int64_t)(seconds * 1e9);
    for (int64_t now = begin; status == RT_OK && (!n || now < end) && n < MOST_RUNS; n++) {
        status = run_once(m, ids);
        const int64_t after = clock_now_ns();
        us[n] = (double)(after - now) / 1e3;
        now = after;
    }
    repl_resume(m, &pause);
    if (status == RT_OK) qsort(us, (size_t)n, sizeof *us, by_size);
    if (status == RT_OK && print) {
        const char *what = model->graph ? "one run" : !model->has_encoder ? "up to 16 tokens, one at a time" : model->has_decoder ?
                           "a full-length source and one step" : "a full-length source";
        printf("%s, %s: %d run%s, minimum %.2f µs, median %.2f µs\n", m->engine->name, what, n, n == 1 ? "" : "s", us[0], us[n / 2]);
        histogram(us, n);
    }
    const double best = n ? us[0] / 1e6 : 0, median = n ? us[n / 2] / 1e6 : 0;
    free(us);
    repl_check_status(L, status);
    lua_pushnumber(L, best);
    lua_pushnumber(L, median);
    return 2;
}

/* m:bench(seconds): how long one run takes, with a histogram. */
static int bench(lua_State *L)
{
    measure_runs(L, luaL_optnumber(L, 2, 1), true);
    return 0;
}

/* m:measure(seconds): the minimum and the median in seconds. */
static int measure(lua_State *L) { return measure_runs(L, luaL_optnumber(L, 2, 0.1), false); }

void repl_add_measures(lua_State *L)
{
    static const ReplFunction methods[] = {
        { "time", time_phases, "" }, { "bench", bench, "seconds number?" },
        { "measure", measure, "seconds number?" }, { NULL, NULL, NULL }
    };
    repl_set_functions(L, "m:", methods);
}
