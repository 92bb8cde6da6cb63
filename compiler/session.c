/* session.c: the passes, in order. Read this first.
 *
 *   spec  -> Model   front/   sizes and choices, checked; where each tensor is
 *         -> Graph   graph/   pure operations over named tensors
 *         -> Plan    plan/    kernels, layouts, offsets, shares, barriers: one per target
 *         -> C text  emit/    with packed weights, pack/; engine/ compiles and loads it, or runs
 *                             the Plan with the generic engine
 */
#include "session.h"

#include <stdlib.h>
#include <string.h>

#include "chat_read.h"
#include "clock.h"
#include "custom_code.h"
#include "debug.h"
#include "draft_lua.h"
#include "engine_open.h"
#include "front.h"
#include "tuned.h"
#include "weights.h"

Session *session_new(const CompileOptions *o)
{
    Arena *a = arena_new();
    Session *s = arena_alloc(a, sizeof *s);
    *s = (Session){ .arena = a, .diag = diag_new(a), .options = *o };
    return s;
}

static bool dumps(const Session *s, char letter) { return s->options.dumps && strchr(s->options.dumps, letter); }

int session_slots(const Session *s)
{
    if (s->model->model_kind == KIND_GRAPH || !s->model->has_decoder) return 1;
    const int beams = (int)s->model->generation_num_beams;
    return s->options.slots ? s->options.slots : beams > 1 ? beams : 1;
}

int session_max_threads(const CompileOptions *o)
{
    enum { USUAL_MAX_THREADS = 16 };
    return o->max_threads ? o->max_threads : USUAL_MAX_THREADS;
}

/* XFORMC_TEAM=always: threads share all work. Tests of threads need it, because their models are
 * small. */
static bool always_shares(void)
{
    const char *choice = getenv("XFORMC_TEAM");
    return choice && strcmp(choice, "always") == 0;
}

static PlanOptions plan_options(const Session *s, PlanTarget target, bool taps)
{
    return (PlanOptions){ .target = target, .taps = taps, .slots = session_slots(s), .always_share = always_shares(),
                          .max_threads = target == TARGET_PANELS ? session_max_threads(&s->options) : 1 };
}

/* ---- the passes -------------------------------------------------------------------------------------------- */

bool session_read(Session *s)
{
    int n;
    const OpName *ops = graph_builder_ops(&n);
    const CompileOptions *o = &s->options;
    const int64_t begin = clock_now_ns();
    Draft *draft = draft_read(s->arena, s->diag, o->spec, ops, n, o->allow_c ? graph_value_shape : NULL);
    const DraftChanges changes = { o->spec, o->from, o->tokenizer, o->sizes_only, o->max_len, o->name };
    if (!draft || !draft_change(s->arena, s->diag, draft, changes)) return false;
    s->phases.read_ns = clock_now_ns() - begin;
    return session_take(s, draft);
}

static bool make_model(Session *s)
{
    const int64_t begin = clock_now_ns();
    s->model = model_from_draft(s->arena, s->diag, s->draft);
    if (s->model && s->options.chat && !model_learn_chat(s->arena, s->diag, s->model)) {
        model_close(s->model);
        s->model = NULL;
    }
    s->phases.model_ns = clock_now_ns() - begin;
    if (s->model && dumps(s, 'm')) model_dump(s->model, stderr);
    return s->model;
}

static bool make_graph(Session *s)
{
    const int64_t begin = clock_now_ns();
    s->graph = graph_build(s->arena, s->diag, s->model, plan_decoder_rows(s->model, session_slots(s)));
    s->phases.graph_ns = clock_now_ns() - begin;
    if (s->graph && dumps(s, 'g')) graph_dump(s->graph, stderr);
    return s->graph;
}

/* Apply the tuning file to options that are not set. */
static bool take_tuning(Session *s)
{
    CompileOptions *o = &s->options;
    if (!o->tune) return true;
    const Plan *p = plan_make(s->arena, s->graph, plan_options(s, TARGET_PANELS, o->taps));
    return tuned_take(s->arena, s->diag, o->tune, p, &o->form, &o->threads);
}

static void remark_on_kv_dtype(Session *s)
{
    if (s->options.kv_dtype && !model_has_cache(s->model))
        diag_remark(s->diag, (Loc){ 0 }, "--kv-dtype has no effect: the model has no KV cache");
}

/* plan_is_small needs no Plan, and is true for most models. */
static bool fits_machine(Session *s)
{
    const PlanOptions o = plan_options(s, TARGET_PANELS, s->options.taps);
    return s->options.sizes_only || plan_is_small(s->graph, o) || plan_fits_machine(s->diag, plan_make(s->arena, s->graph, o), s->options.work);
}

bool session_take(Session *s, const Draft *draft)
{
    const CompileOptions *o = &s->options;
    s->draft = draft_with_dtypes(s->arena, draft, o->dtype, o->kv_dtype);
    if (!make_model(s) || !emit_form_fits(s->diag, s->model, o->form)) return false;
    remark_on_kv_dtype(s);
    s->looked = false;
    return make_graph(s) && plan_fits(s->diag, s->graph, plan_options(s, TARGET_PANELS, o->taps)) &&
           plan_dtypes_hold(s->diag, s->graph) && custom_check(s->arena, s->diag, s->graph) && take_tuning(s) && fits_machine(s);
}

void session_look_at_weights(Session *s)
{
    if (s->looked || s->options.sizes_only) return;
    s->looked = true;
    model_look_at_weights(s->diag, s->model);
    if (s->opened) diag_print(s->diag, stderr, diag_colours(2));
}

bool session_open(Session *s)
{
    const bool good = session_read(s);
    s->opened = true;
    if (good) diag_print(s->diag, stderr, diag_colours(2));
    return good;
}

static Plan *plan_graph(Session *s, const Graph *g, PlanTarget target, bool taps, bool unfused)
{
    const int64_t begin = clock_now_ns();
    PlanOptions options = plan_options(s, target, taps);
    options.unfused = unfused;
    Plan *p = plan_make(s->arena, g, options);
    s->phases.plan_ns = clock_now_ns() - begin;
    const unsigned parts = (dumps(s, 'k') ? PLAN_KERNELS : 0) | (dumps(s, 'p') ? PLAN_MEMORY : 0);
    if (parts) plan_dump(p, parts, stderr);
    return p;
}

Plan *session_plan(Session *s, PlanTarget target, bool taps)
{
    return plan_graph(s, s->graph, target, taps, s->options.unfused);
}

/* ---- engines ----------------------------------------------------------------------------------------------- */

static Engine *open_engine(Session *s, const Graph *g, EngineKind kind, bool taps, const CompileOptions *o, const Engine *beside)
{
    const EngineOrder order = { kind, o->form, o->cc, o->cached, o->hooks, o->threads, beside };
    if (!weights_stay(s->diag, s->model)) return NULL;
    const Plan *p = plan_graph(s, g, engine_target(kind), taps, o->unfused);
    /* Cached packed weights were checked when they were packed. */
    if (!s->looked && (kind == ENGINE_GENERIC || !pack_is_cached(s->arena, p))) session_look_at_weights(s);
    Engine *e = engine_open(s->arena, s->diag, p, order);
    if (e && !weights_stay(s->diag, s->model)) {                /* they were written to meanwhile */
        engine_close(e);
        return NULL;
    }
    if (e && kind == ENGINE_JIT) debug_engine(e, s->phases.plan_ns);
    return e;
}

Engine *session_engine_as(Session *s, EngineKind kind, bool taps, const CompileOptions *o)
{
    return open_engine(s, s->graph, kind, taps, o, NULL);
}

Engine *session_engine_beside(Session *s, EngineKind kind, const Engine *first, const CompileOptions *o)
{
    return open_engine(s, s->graph, kind, false, o, first);
}

Engine *session_engine(Session *s, EngineKind kind, bool taps) { return session_engine_as(s, kind, taps, &s->options); }

static int64_t at_most(int64_t length, int64_t most) { return length < 1 ? 1 : length < most ? length : most; }

/* Build a graph for shorter sequences. The weights are shared; position tables keep their
 * length. */
Engine *session_engine_for(Session *s, EngineKind kind, int64_t source, int64_t target)
{
    Model *brief = arena_alloc(s->arena, sizeof *brief);
    *brief = *s->model;
    brief->max_source = at_most(source, brief->max_source);
    brief->max_target = at_most(target, brief->max_target);
    const Graph *g = graph_build(s->arena, s->diag, brief, plan_decoder_rows(brief, session_slots(s)));
    return g ? open_engine(s, g, kind, true, &s->options, NULL) : NULL;
}

bool session_taps_are_large(Session *s)
{
    enum { LARGE_BYTES = 256 << 20 };
    return s->model->model_kind != KIND_GRAPH &&
           plan_make(s->arena, s->graph, plan_options(s, TARGET_PANELS, true))->state_bytes > LARGE_BYTES;
}

/* ---- the rest ---------------------------------------------------------------------------------------------- */

bool session_print_lua(const Session *s, FILE *to)
{
    if (s->draft->graph) {
        diag_error(s->diag, EXIT_USAGE, (Loc){ 0 }, "--lua: an xf.graph has no fields");
        return false;
    }
    draft_print_lua(s->draft, s->model, to);
    return true;
}

void session_free(Session *s)
{
    if (s->model) model_close(s->model);
    arena_free(s->arena);
}

Exit session_end(Session *s)
{
    diag_print(s->diag, stderr, diag_colours(2));
    Exit code = diag_exit(s->diag);
    session_free(s);
    return code;
}
