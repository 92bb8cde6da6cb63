/* jit.c: compile the emitted C in memory with libtcc. Code from tcc is as slow as unoptimised C, so
 * it only calls kernels: every operation but an xf.op is a kernel compiled into this program, bound
 * by name. */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "c_depth.h"
#include "tcc.h"
#include "clock.h"
#include "emitted.h"
#include "isa.h"
#include "jit.h"
#include "kernel_set.h"
#include "pack.h"
#include "rt_weights.h"
#include "perf_map.h"

typedef struct Jit {
    Emitted emitted;
    CMemory *code;
    const unsigned char *weights;   /* shared */
    unsigned char *own_weights;     /* a private copy that may be changed, or NULL */
    const KernelSet *set;
    const char *text;               /* the C that runs: in the engine's arena, or own_text */
    char *own_text;                 /* set by jit_recompile, or NULL */
    JitWatch watch;
    JitAt at;
    int64_t last_ns;                /* start of the current operation */
} Jit;

static void jit_close(Engine *e)
{
    Jit *k = e->own;
    emitted_release(&k->emitted);
    if (k->code) c_memory_free(k->code);
    if (k->weights) pack_release(k->weights);
    free(k->own_weights);
    free(k->own_text);
    free(k);
    free(e->state);
    e->own = NULL;
    e->state = NULL;
}

/* ---- time ------------------------------------------------------------------------------------------------------- */

/* Nanoseconds since *last, which is set to the current time. */
static int64_t since(int64_t *last)
{
    const int64_t now = clock_now_ns(), passed = now - *last;
    *last = now;
    return passed;
}

/* ---- stopping --------------------------------------------------------------------------------------------------- */

static volatile sig_atomic_t stop_wanted;
static int answers[2], stopped;

void jit_stop(void) { stop_wanted = 1; }

bool jit_stop_wanted(void) { return stop_wanted; }

void jit_go_on(void) { stop_wanted = stopped = answers[0] = answers[1] = 0; }

/* All threads return the same answer: the one that thread 0 wrote in the previous turn, with a
 * barrier in between. Thread 0 also writes the answer for the next turn. */
static int rt_poll(int thread, int turn)
{
    if (thread == 0) {
        answers[!turn] = stop_wanted;
        stopped |= answers[turn];
    }
    return answers[turn];
}

/* ---- leaving ----------------------------------------------------------------------------------------------------- *
 * Code set by jit_recompile may loop without reaching a poll. Emitted code holds neither memory nor
 * locks, so a signal handler may jump out of it anywhere, as long as it runs on one thread and is
 * not in a call of a watch, which may run Lua. */

static sigjmp_buf way_out;
static volatile sig_atomic_t inside;
static pthread_t inside_thread;

bool jit_leave(void)
{
    if (!inside || !pthread_equal(pthread_self(), inside_thread)) return false;
    inside = 0;
    siglongjmp(way_out, 1);
}

/* Call this after sigsetjmp and before the code runs. */
static void enter(const Jit *k)
{
    inside_thread = pthread_self();
    inside = !k->emitted.model.team;
}

/* End a call that jit_leave jumped out of. Unblock SIGINT: its handler did not return, so it is
 * still blocked. */
static rt_status left(void)
{
    sigset_t interrupt;
    sigemptyset(&interrupt);
    sigaddset(&interrupt, SIGINT);
    pthread_sigmask(SIG_UNBLOCK, &interrupt, NULL);
    return RT_INTERRUPTED;
}

/* ---- watching --------------------------------------------------------------------------------------------------- */

static Engine *running;             /* for rt_watch: the innermost, as a watch may run another */

static void rt_watch(int block, int operation, int layer, int rows)
{
    Jit *k = running->own;
    JitAt at = k->at;
    at.ns = since(&k->last_ns);
    at.block = running->plan->blocks[block];
    at.op = &at.block->ops[operation];
    at.layer = layer;
    at.rows = rows > 0 ? rows : 1;
    const sig_atomic_t was_inside = inside;
    inside = 0;                         /* jit_leave must not jump out of a watch */
    if (k->watch.call) k->watch.call(k->watch.user, running, &at);
    inside = was_inside;
    since(&k->last_ns);
}

/* Begin a call: make e the running engine. Returns the engine that ran before, for `end`. */
static Engine *begin(Engine *e)
{
    Jit *k = e->own;
    Engine *const outer = running;
    running = e;
    emitted_read(&k->emitted);          /* here, where jit_leave cannot interrupt it */
    if (k->watch.call) since(&k->last_ns);
    return outer;
}

static rt_status end(Engine *outer, rt_status status)
{
    inside = 0;
    running = outer;
    return stopped ? RT_INTERRUPTED : status;
}

/* Run `call`, a call of emitted code that jit_leave may end, and return its status from the
 * enclosing function; afterwards `outer` is the running engine again. */
#define LEAVABLE(outer, k, call)                            \
    do {                                                    \
        if (sigsetjmp(way_out, 0)) return end(outer, left()); \
        enter(k);                                           \
        return end(outer, call);                            \
    } while (0)

static bool each_row(const Engine *e)
{
    const JitWatch *w = &((const Jit *)e->own)->watch;
    return w->call && w->each_row;
}

static JitAt *at_of(Engine *e) { return &((Jit *)e->own)->at; }

static rt_status jit_encode(Engine *e, int slot, const int *ids, int n)
{
    Engine *const outer = begin(e);
    *at_of(e) = (JitAt){ .source = n };
    LEAVABLE(outer, e->own, emitted_encode(e, slot, ids, n));
}

static rt_status jit_encode_batch(Engine *e, const int *ids, const int *lengths, const int *firsts, int count, float *vectors)
{
    Engine *const outer = begin(e);
    *at_of(e) = (JitAt){ .source = 0 };
    for (int i = 0; i < count; i++) at_of(e)->source += lengths[i];
    LEAVABLE(outer, e->own, emitted_encode_batch(e, ids, lengths, firsts, count, vectors));
}

static rt_status jit_step(Engine *e, int id)
{
    Engine *const outer = begin(e);
    at_of(e)->target++;
    LEAVABLE(outer, e->own, emitted_step(e, id));
}

static rt_status jit_next(Engine *e, int id, int *next)
{
    Engine *const outer = begin(e);
    at_of(e)->target++;
    LEAVABLE(outer, e->own, emitted_next(e, id, next));
}

static rt_status rows_at_once(Engine *e, const rt_token *rows, int n)
{
    Engine *const outer = begin(e);
    at_of(e)->target = n > 0 ? rows[n - 1].pos + 1 : 0;
    LEAVABLE(outer, e->own, emitted_decode(e, rows, n));
}

static rt_status read_at_once(Engine *e, const rt_token *rows, int n)
{
    Engine *const outer = begin(e);
    at_of(e)->target = n > 0 ? rows[n - 1].pos + 1 : 0;
    LEAVABLE(outer, e->own, emitted_prefill(e, rows, n));
}

static rt_status next_rows_at_once(Engine *e, const rt_token *rows, int n, int *next)
{
    Engine *const outer = begin(e);
    at_of(e)->target = n > 0 ? rows[n - 1].pos + 1 : 0;
    LEAVABLE(outer, e->own, emitted_decode_greedy(e, rows, n, next));
}

static rt_status jit_decode(Engine *e, const rt_token *rows, int n)
{
    return n > 1 && each_row(e) ? engine_each_row(e, rows, n, NULL) : rows_at_once(e, rows, n);
}

/* Even with one row, prefill leaves no taps: use decode. */
static rt_status jit_prefill(Engine *e, const rt_token *rows, int n)
{
    return each_row(e) ? engine_each_row(e, rows, n, NULL) : read_at_once(e, rows, n);
}

static rt_status jit_decode_greedy(Engine *e, const rt_token *rows, int n, int *next)
{
    return n > 1 && each_row(e) ? engine_each_row(e, rows, n, next) : next_rows_at_once(e, rows, n, next);
}

static rt_status jit_clear(Engine *e)
{
    Engine *const outer = begin(e);
    at_of(e)->target = 0;
    const rt_status status = emitted_clear(e);
    running = outer;
    return status;
}

static rt_status run_once(Engine *e)
{
    Engine *const outer = begin(e);
    LEAVABLE(outer, e->own, emitted_run(e));
}

static rt_status jit_run(Engine *e)
{
    const int32_t before = *engine_position(e);
    const rt_status status = run_once(e);
    if (status == RT_INTERRUPTED) *engine_position(e) = before;     /* discard the rows it cached */
    return status;
}

static const EngineOps jit_ops = {
    .encode = jit_encode, .encode_batch = jit_encode_batch,
    .step = jit_step, .next = jit_next, .decode = jit_decode, .prefill = jit_prefill, .decode_greedy = jit_decode_greedy, .fork = emitted_fork,
    .logits = emitted_logits, .clear = jit_clear, .run = jit_run, .threads = emitted_threads, .team = emitted_team, .close = jit_close,
};

/* ---- compiling -------------------------------------------------------------------------------------------------- */

static void *in_memory(void *code, const char *name) { return c_memory_symbol(code, name); }

/* Collect libtcc's messages, one per line. */
static void keep_message(void *text, const char *message)
{
    text_add(text, message);
    text_add(text, "\n");
}

/* The functions that emitted code calls, besides the kernels. */
static const CSymbol runtime[] = {
    C_SYMBOL(rt_isa_missing),
    C_SYMBOL(rt_team_resize),
    C_SYMBOL(rt_team_run),
    C_SYMBOL(rt_team_share),
    C_SYMBOL(rt_team_weigh),
    C_SYMBOL(rt_team_barrier),
    C_SYMBOL(rt_characters_encode),
    C_SYMBOL(rt_characters_decode),
    C_SYMBOL(rt_text_check),
    C_SYMBOL(rt_text_ids),
    C_SYMBOL(rt_text_of_ids),
    C_SYMBOL(rt_poll),
    C_SYMBOL(rt_watch),
};
enum { RUNTIME = sizeof runtime / sizeof *runtime };

static CSymbol *symbols_of(Arena *a, const KernelSet *set, int *n)
{
    for (*n = RUNTIME; set->kernels[*n - RUNTIME].name;) ++*n;
    CSymbol *symbols = arena_array(a, (size_t)*n, sizeof *symbols);
    memcpy(symbols, runtime, sizeof runtime);
    for (int i = RUNTIME; i < *n; i++) symbols[i] = (CSymbol){ set->kernels[i - RUNTIME].name, set->kernels[i - RUNTIME].function };
    return symbols;
}

/* The line that a message "NAME:LINE: ..." of libtcc refers to, preceded by the line before it,
 * since libtcc may have read past the error. "" if the message names no line. A text consists of
 * several files, each after its own #line. */
static const char *told_lines(Arena *a, const char *text, const char *message)
{
    const size_t n = strcspn(message, ":\n");
    int line = 0, end = 0;
    const char *at = strstr(text, arena_format(a, "#line 1 \"%.*s\"\n", (int)n, message)), *before = NULL;
    if (!at || sscanf(message + n, ":%d:%n", &line, &end) != 1 || !end) return "";
    for (; line > 0 && at; line--) {
        before = at;
        at = (at = strchr(at, '\n')) ? at + 1 : NULL;
    }
    return at ? arena_format(a, "\n%.*s", (int)(at - before) + (int)strcspn(at, "\n"), before) : "";
}

/* blame: exit code of the error. */
static CMemory *compile(Arena *a, Diag *d, Exit blame, const char *text, const KernelSet *set)
{
    int n;
    const CSymbol *symbols = symbols_of(a, set, &n);
    Text messages = text_new(a);
    const bool named = perf_map_wanted();
    CMemory *code = c_memory_compile(named ? perf_map_text(a, text) : text, symbols, n, &messages, keep_message);
    if (code && named) perf_map_add(a, d, code, symbols, n);
    if (!code)
        diag_error(d, blame, (Loc){ 0 }, "libtcc rejects the C: %.*s%s", (int)strcspn(messages.data, "\n"), messages.data,
                   told_lines(a, text, messages.data));
    return code;
}

/* The kernel set of the first name in a list that kernel_set accepts; NULL if it accepts none. */
static const KernelSet *first_set(Arena *a, const char *list)
{
    int n;
    const char *const *isas = isa_list(a, list, &n);
    const KernelSet *set = NULL;
    for (int i = 0; i < n && !set; i++) set = kernel_set(isas[i]);
    return set;
}

/* libtcc counts the bytes of an array in an int. */
static bool state_fits(Diag *d, const Plan *p)
{
    if (p->state_bytes <= INT32_MAX) return true;
    diag_error(d, EXIT_NO_FEATURE, (Loc){ 0 }, "the state of %s takes %lld bytes, but libtcc is "
               "limited to 2 GiB; use the native engine", p->graph->model->name,
               (long long)p->state_bytes);
    diag_note(d, (Loc){ 0 }, "a shorter context or fewer slots need less memory");
    return false;
}

Engine *jit_open(Arena *a, Diag *d, const Plan *p, EmitForm form, unsigned hooks)
{
    const KernelSet *set = first_set(a, form.isa);
    if (!set) {
        const bool tuned = form.tuning && form.isa && form.isa == form.tuning->isa;
        diag_error(d, EXIT_NO_FEATURE, tuned ? form.tuning->isa_at : (Loc){ 0 }, "xformc has no kernels for %s, or this processor cannot run them",
                   form.isa ? form.isa : "native");
        return NULL;
    }
    if (!plan_fits_machine(d, p, WORK_RUN) || !state_fits(d, p)) return NULL;
    Engine *e = arena_alloc(a, sizeof *e);
    Jit *k = calloc(1, sizeof *k);
    if (!k) no_memory("an engine");
    *e = (Engine){ .name = engine_name(ENGINE_JIT), .ops = &jit_ops, .plan = p, .own = k };
    int64_t clock = 0;
    since(&clock);
    const Pack pack = pack_layout(a, p);
    const Text text = emit_one_text(a, p, pack.identity, pack.head_bytes, form, set->isa, hooks);
    k->set = set;
    k->emitted.reads_apart = true;
    k->text = text.data;
    e->phases.emit_ns = since(&clock);
    k->code = compile(a, d, EXIT_OUR_BUG, text.data, set);
    e->phases.compile_ns = since(&clock);
    if (k->code && emitted_find(a, d, &k->emitted, p->graph->model, in_memory, k->code)) {
        k->emitted.model.weights = k->weights = pack_acquire(a, d, &pack, &e->phases.packed_before);
        e->phases.pack_ns = since(&clock);
        if (k->weights && emitted_state(d, e)) return e;
    }
    jit_close(e);
    return NULL;
}

/* ---- changing what runs ------------------------------------------------------------------------------------------- */

int64_t jit_length(const JitAt *at, Dim d)
{
    switch (d.count) {
    case COUNT_SOURCE: return at->source;
    case COUNT_TARGET: return at->target;
    case COUNT_ROWS:   return at->rows;
    default:           return d.bound;
    }
}

void jit_watch(Engine *e, JitWatch watch) { ((Jit *)e->own)->watch = watch; }

const char *jit_text(const Engine *e) { return ((const Jit *)e->own)->text; }

bool jit_recompile(Arena *a, Diag *d, Engine *e, const char *text)
{
    Jit *k = e->own;
    Emitted found = k->emitted;
    const char *what;
    if (c_too_deep(text, &what)) {
        diag_error(d, EXIT_BAD_DATA, (Loc){ 0 }, "the C code has %s", what);
        return false;
    }
    int n;
    const CSymbol *symbols = symbols_of(a, k->set, &n);
    if (!c_memory_try(text, symbols, n)) {
        diag_error(d, EXIT_BAD_DATA, (Loc){ 0 }, C_TRIAL_WORDS);
        return false;
    }
    char *copy = strdup(text);
    if (!copy) no_memory("%zu bytes of C", strlen(text));
    CMemory *code = compile(a, d, EXIT_BAD_DATA, text, k->set);
    if (!code) {
        free(copy);
        return false;
    }
    if (!emitted_find(a, d, &found, e->plan->graph->model, in_memory, code)) {
        c_memory_free(code);
        free(copy);
        return false;
    }
    c_memory_free(k->code);
    k->code = code;
    k->emitted = found;
    free(k->own_text);
    k->text = k->own_text = copy;
    return true;
}

const unsigned char *jit_weights(const Engine *e) { return ((const Emitted *)e->own)->model.weights; }

bool jit_has_own_weights(const Engine *e) { return ((const Jit *)e->own)->own_weights != NULL; }

void jit_shared_weights(Engine *e)
{
    Jit *k = e->own;
    free(k->own_weights);
    k->own_weights = NULL;
    k->emitted.model.weights = k->weights;
}

unsigned char *jit_own_weights(Engine *e)
{
    Jit *k = e->own;
    if (!k->own_weights) {
        const size_t bytes = e->plan->weights_bytes;
        k->own_weights = rt_weights_room(bytes, NULL);
        if (!k->own_weights) no_memory("%zu bytes of weights", bytes);
        memcpy(k->own_weights, k->weights, bytes);
        k->emitted.model.weights = k->own_weights;
    }
    return k->own_weights;
}
