/* session.c: the passes, in order. Read this first.
 *
 *   spec  -> Model   front/   sizes and choices, checked; where each tensor lies
 *         -> Graph   graph/   pure operations over named tensors
 *         -> Plan    plan/    kernels, layouts, offsets, shares, barriers: one per target
 *         -> C text  emit/    and packed weights, pack/; compiled, loaded, or run by the generic engine, engine/
 */
#include "session.h"
#include "clock.h"
#include "custom.h"
#include "custom_code.h"
#include "debug.h"
#include "draft_lua.h"
#include "fields.h"
#include "front.h"
#include "isa.h"
#include "jit.h"
#include "machine.h"
#include "native.h"
#include "pack.h"
#include "tune_file.h"
#include "weights.h"

#include <string.h>
#include <time.h>
#include <unistd.h>

Session *session_new(const Choices *c)
{
    Arena *a = arena_new();
    Session *s = arena_alloc(a, sizeof *s);
    *s = (Session){ .arena = a, .diag = diag_new(a), .choices = c };
    return s;
}

static bool dumps(const Session *s, char letter) { return s->choices->dumps && strchr(s->choices->dumps, letter); }

int session_slots(const Session *s)
{
    const int beams = s->model->model_kind == KIND_GRAPH || !s->model->has_decoder ? 1 : (int)s->model->generation_num_beams;
    return s->choices->slots ? s->choices->slots : beams > 1 ? beams : 1;
}

/* Rows of one decoder call: what all slots can hold, up to a bound past which a matrix kernel gains no more. */
static int64_t decoder_rows(const Session *s)
{
    enum { MOST_ROWS = 128 };
    int64_t rows = s->model->max_target * session_slots(s);
    return rows < MOST_ROWS ? rows : MOST_ROWS;
}

int session_lanes(const Choices *c)
{
    enum { USUAL_LANES = 16 };
    return c->lanes ? c->lanes : USUAL_LANES;
}

EmitForm session_form(const Choices *c)
{
    return (EmitForm){ .weights = c->weights, .kernels = c->kernels, .layers = c->layers, .unroll = c->unroll, .isa = c->isa,
                       .tuning = c->tuning };
}

/* Of a folder that takes less than what it was trained for. */
static void note_shortened(Session *s, const Draft *d)
{
    const long long trained = d->trained, most = draft_choice(d, SIDE_BOTH, FIELD_ID_max_len)->values[0].integer, bound = d->bound;
    const char *spec = s->choices->spec;
    if (!bound) diag_remark(s->diag, (Loc){ 0 }, "%s was trained for %lld tokens; it takes %lld here, more with --max-len", spec, trained, most);
    else if (most < bound)
        diag_remark(s->diag, (Loc){ 0 }, "%s was trained for %lld tokens; it takes %lld here, up to %lld with --max-len", spec, trained,
                    most, bound);
    else
        diag_remark(s->diag, (Loc){ 0 }, "%s was trained for %lld tokens; it takes %lld here, and no more: past them the rates of its positions"
                    " depend on how long the whole sequence is, which is not supported", spec, trained, most);
}

/* --tokenizer: false after an error where the model would not read it. */
static bool take_tokenizer(Session *s, Draft *draft)
{
    const char *path = s->choices->tokenizer;
    const Choice *how = draft_choice(draft, SIDE_BOTH, FIELD_ID_tokenizer);
    const int errors = diag_errors(s->diag);
    if (draft->graph) diag_error(s->diag, EXIT_USAGE, (Loc){ 0 }, "--tokenizer %s: an xf.graph has no texts", path);
    else if (how && how->values[0].integer == TOKENIZERS_CHARACTERS)
        diag_error(s->diag, EXIT_USAGE, (Loc){ 0 }, "--tokenizer %s: the spec says tokenizer = \"characters\"", path);
    else draft_set_text(s->arena, draft, FIELD_ID_tokenizer_file, (Loc){ 0 }, path);
    return diag_errors(s->diag) == errors;
}

/* ---- --tune ----------------------------------------------------------------------------------------------- */

/* Whether the file's instruction sets are some; false after an error. */
static bool isa_is_known(Session *s, const Tuning *t)
{
    int n, known;
    const char *const *names = isa_names(&known), *const *list = isa_list(s->arena, t->isa, &n);
    const char *fault = t->isa ? isa_list_fault(s->arena, t->isa) : NULL;
    for (int i = 0; i < n && t->isa; i++)
        if (!isa_flags(list[i])) {
            const char *near = diag_nearest(list[i], names, known);
            fault = arena_format(s->arena, "there is no \"%s\"%s%s%s", list[i], near ? "; did you mean \"" : "", near ? near : "", near ? "\"?" : "");
        }
    if (fault) diag_error(s->diag, EXIT_BAD_DATA, t->isa_at, "isa = \"%s\": %s", t->isa, fault);
    return !fault;
}

/* Whether a file is of this model; what is strange about it is remarked. */
static bool tuning_fits(Session *s, const Tuning *t)
{
    const Loc whole = { t->path, 0, 0 };
    const char *machine = machine_processor(s->arena), *dtype = model_dtype(s->model);
    if (t->model && strcmp(t->model, s->model->name)) {
        diag_remark(s->diag, whole, "was measured for another model, %s, and is not used", t->model);
        return false;
    }
    if (t->dtype && strcmp(t->dtype, dtype)) {
        diag_remark(s->diag, whole, "was measured for weights of %s, these are %s: it is not used", t->dtype, dtype);
        return false;
    }
    if (t->machine && *machine && strcmp(t->machine, machine))
        diag_remark(s->diag, whole, "was measured on another machine, %s, not on %s: its choices may be slow here", t->machine, machine);
    return true;
}

/* Another form of the model; calls that the text does not have, or not cut so, are of such a one too, or misspelt. */
static void remark_on_form(Session *s, const Tuning *t)
{
    const PlanOptions options = { .target = TARGET_PANELS, .taps = s->choices->taps, .slots = session_slots(s),
                                  .lanes = session_lanes(s->choices) };
    const Plan *p = plan_make(s->arena, s->graph, options);
    const Emit *e = emit_named(s->arena, p);
    const TunedCall *strange = NULL;
    int n = 0;
    if (t->identity && strcmp(t->identity, pack_layout(s->arena, p).identity))
        diag_remark(s->diag, (Loc){ t->path, 0, 0 }, "was measured for another form of %s: its choices may be slow here", s->model->name);
    for (int i = 0; i < t->call_count; i++) {
        const TunedCall *c = &t->calls[i];
        bool good = false;
        for (int k = 0; k < e->wrapper_count && !good; k++)
            good = strcmp(e->wrappers[k]->name, c->name) == 0 && (c->take == LINEAR_CUT_USUAL || emit_can_cut(e, e->wrappers[k], c->take));
        if (good) continue;
        if (!n++) strange = c;
    }
    if (n) diag_remark(s->diag, strange->at, "%d of %d calls are not in this form of %s, or cannot be cut so, as %s: they are not used", n,
                       t->call_count, s->model->name, strange->name);
}

/* What --tune FILE says, where the command line says nothing. False after errors. */
static bool take_tuning(Session *s)
{
    const Choices *c = s->choices;
    if (!c->tune) return true;
    Tuning *t = tuning_from_lua(s->arena, s->diag, c->tune);
    if (!t || !isa_is_known(s, t)) return false;
    if (!tuning_fits(s, t)) return true;
    remark_on_form(s, t);
    s->tuned = *c;
    s->choices = &s->tuned;
    s->tuned.tuning = t;
    if (!c->isa) s->tuned.isa = t->isa;
    if (!c->threads) s->tuned.threads = t->threads < session_lanes(c) ? t->threads : session_lanes(c);
    if (c->layers == LAYERS_BY_SPEC && t->layers) s->tuned.layers = t->layers == TUNED_LAYERS_LOOP ? LAYERS_LOOP : LAYERS_CALLS;
    return true;
}

bool session_read(Session *s)
{
    int n;
    const OpName *ops = graph_builder_ops(&n);
    const int64_t begin = clock_now_ns();
    Draft *draft = draft_read(s->arena, s->diag, s->choices->spec, ops, n, s->choices->allow_c ? graph_value_shape : NULL);
    if (!draft) return false;
    draft->sizes_only = s->sizes_only && !s->choices->from;
    draft->weights = s->choices->from;
    if (s->choices->tokenizer && !take_tokenizer(s, draft)) return false;
    if (s->choices->max_len && !draft_set_length(s->arena, s->diag, draft, s->choices->max_len)) return false;
    if (draft->shortened) note_shortened(s, draft);
    s->phases.read_ns = clock_now_ns() - begin;
    return session_take(s, draft);
}

bool session_open(Session *s)
{
    const bool good = session_read(s);
    if (good) diag_print(s->diag, stderr, isatty(2));
    return good;
}

static const Draft *with_word(Session *s, const Draft *draft, FieldId field, const char *word)
{
    Draft *own = arena_alloc(s->arena, sizeof *own);
    *own = *draft;
    draft_set_word(s->arena, own, field, (Loc){ 0 }, word);
    if (field == FIELD_ID_dtype) own->dtype_rule_count = 0;
    return own;
}

/* What plain C is not written for. */
static bool kernels_know(const Session *s)
{
    if (!model_is_narrow(s->model) || s->choices->kernels != KERNELS_UNROLLED) return true;
    diag_error(s->diag, EXIT_NO_FEATURE, (Loc){ 0 }, "--kernels unrolled knows weights of f32, not of %s: take --kernels library, or --dtype f32",
               model_dtype(s->model));
    return false;
}

bool session_take(Session *s, const Draft *draft)
{
    int64_t begin = clock_now_ns();
    if (s->choices->dtype) draft = with_word(s, draft, FIELD_ID_dtype, s->choices->dtype);
    if (s->choices->kv_dtype) draft = with_word(s, draft, FIELD_ID_kv_dtype, s->choices->kv_dtype);
    s->draft = draft;
    s->model = model_from_draft(s->arena, s->diag, draft);
    s->phases.model_ns = clock_now_ns() - begin;
    if (!s->model || !kernels_know(s)) return false;
    if (s->choices->kv_dtype && !s->model->has_decoder && !s->model->graph)
        diag_remark(s->diag, (Loc){ 0 }, "--kv-dtype changes nothing: an encoder has no cache of keys and values");
    if (dumps(s, 'm')) model_dump(s->model, stderr);
    begin = clock_now_ns();
    s->graph = graph_build(s->arena, s->diag, s->model, decoder_rows(s));
    s->phases.graph_ns = clock_now_ns() - begin;
    if (!s->graph) return false;
    const PlanOptions most = { .target = TARGET_PANELS, .taps = s->choices->taps, .slots = session_slots(s),
                               .lanes = session_lanes(s->choices) };
    if (!plan_fits(s->diag, s->graph, most) || !plan_dtypes_hold(s->diag, s->graph)) return false;
    if (dumps(s, 'g')) graph_dump(s->graph, stderr);
    return (!graph_has_custom(s->graph) || custom_check(s->arena, s->diag, s->graph)) && take_tuning(s);
}

Plan *session_plan(Session *s, PlanTarget target, bool taps)
{
    const PlanOptions options = { .target = target, .taps = taps, .slots = session_slots(s),
                                  .lanes = target == TARGET_PANELS ? session_lanes(s->choices) : 1 };
    const int64_t begin = clock_now_ns();
    Plan *p = plan_make(s->arena, s->graph, options);
    s->phases.plan_ns = clock_now_ns() - begin;
    const unsigned parts = (dumps(s, 'k') ? PLAN_KERNELS : 0) | (dumps(s, 'p') ? PLAN_MEMORY : 0);
    if (parts) plan_dump(p, parts, stderr);
    return p;
}

/* Weights are read again for every engine: they must still be those of the model. */
static bool weights_stay(Session *s)
{
    const char *path = s->model->weight_file ? tensor_file_changed(s->model->weight_file) : NULL;
    if (!path) return true;
    diag_error(s->diag, EXIT_BAD_DATA, (Loc){ 0 }, "%s was written to after %s had been read from it: read the model again", path, s->model->name);
    return false;
}

Engine *session_engine(Session *s, const char *name, const char *cc, bool taps)
{
    const Choices *c = s->choices;
    Engine *e = NULL;
    if (!weights_stay(s)) return NULL;
    if (strcmp(name, "generic") == 0) e = generic_open(s->arena, s->diag, session_plan(s, TARGET_ROW_MAJOR, taps));
    else if (strcmp(name, "jit") == 0) {
        const unsigned hooks = c->hooks | (debug_level() >= 2 ? EMIT_WATCHES : 0);
        e = jit_open(s->arena, s->diag, session_plan(s, TARGET_PANELS, taps), session_form(c), hooks);
        if (e) debug_engine(e, s->phases.plan_ns);
    }
    else {
        const NativeOrder order = { cc ? cc : c->cc, session_form(c), c->cached, (c->hooks & EMIT_POLLS) != 0 };
        e = native_open(s->arena, s->diag, session_plan(s, TARGET_PANELS, taps), order);
    }
    if (e && c->threads > 1 && e->ops->threads(e, c->threads) != RT_OK) {
        if (c->threads > e->plan->options.lanes && e->plan->options.target == TARGET_PANELS)
            diag_error(s->diag, EXIT_USAGE, (Loc){ 0 }, "--threads %d: a state has room for %d; see --lanes", c->threads, e->plan->options.lanes);
        else diag_error(s->diag, EXIT_NO_FEATURE, (Loc){ 0 }, "%d threads cannot be started", c->threads);
        engine_close(e);
        return NULL;
    }
    return e;
}

bool session_taps_are_large(Session *s)
{
    enum { LARGE_BYTES = 256 << 20 };
    const PlanOptions options = { .target = TARGET_PANELS, .taps = true, .slots = session_slots(s), .lanes = session_lanes(s->choices) };
    return s->model->model_kind != KIND_GRAPH && plan_make(s->arena, s->graph, options)->state_bytes > LARGE_BYTES;
}

static int64_t shortened(int64_t length, int64_t most) { return length < 1 ? 1 : length < most ? length : most; }

/* Its weights are the same, tables of positions as long as before. */
Engine *session_engine_for(Session *s, const char *name, int64_t source, int64_t target)
{
    Model *const whole = s->model, *brief = arena_alloc(s->arena, sizeof *brief);
    Graph *const graph = s->graph;
    *brief = *whole;
    brief->max_source = shortened(source, whole->max_source);
    brief->max_target = shortened(target, whole->max_target);
    s->model = brief;
    s->graph = graph_build(s->arena, s->diag, s->model, decoder_rows(s));
    Engine *e = s->graph ? session_engine(s, name, NULL, true) : NULL;
    s->model = whole;
    s->graph = graph;
    return e;
}

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
    diag_print(s->diag, stderr, isatty(2));
    Exit code = diag_exit(s->diag);
    session_free(s);
    return code;
}
