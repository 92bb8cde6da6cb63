/* repl.h: what the files of the prompt share: a Lua state with `xf` loaded, in which models are compiled, run and looked at.
 *
 * The state has all of Lua; a spec that is loaded from a file still runs in a sandbox of its own. An error never ends the
 * session: whatever goes wrong becomes a Lua error, with the messages and carets that the command line would show. */
#ifndef REPL_H
#define REPL_H

#include <signal.h>

#include "spec_lua.h"

#include "background.h"
#include "engine_open.h"
#include "inspect.h"
#include "pack.h"
#include "repl_command.h"
#include "session.h"

#define REPL_TENSOR_TYPE "xf.tensor"        /* names of types in Lua */
#define REPL_MODEL_TYPE "xf.compiled"

typedef struct Repl {
    SpecReader reader;              /* first: it is what the state's extra space points at; its arena lives as long as the prompt */
    lua_State *L;
    const ReplOptions *options;
    bool terminal;                  /* a person reads the answers */
    bool quit;
    Text typed;                     /* the chunks that ran, for :save */
    Exit code;                      /* of the chunk that failed last */
    Exit exit_code;                 /* of what failed last, a chunk or a command: the exit code of a script */
    int files;                      /* that are being loaded, one from the other */
    void (*command)(struct Repl *r, const char *line);      /* what begins with a colon, or ?x */
} Repl;

Repl *repl_of(lua_State *L);
char *repl_diag_text(Diag *d);            /* to be freed */

/* ---- chunks: repl_chunk.c ---------------------------------------------------------------------------------------- */

typedef enum ChunkResult { CHUNK_DONE, CHUNK_FAILED, CHUNK_INCOMPLETE } ChunkResult;

/* Run `text`, an expression or statements, and print its values; `_` becomes the first. `name` stands in messages; an
 * incomplete chunk is reported only with `last`. */
ChunkResult repl_chunk(Repl *r, const char *name, const char *text, bool last);
/* The same with a text as its argument, `...`. */
ChunkResult repl_chunk_with(Repl *r, const char *name, const char *text, const char *argument);
/* A text as a part of a longer one, a file's: errors and places are those of the file. A ReplWhole holds for any number of its parts. */
typedef struct ReplWhole { const char *name; Diag *diag; Lexer *lexer; } ReplWhole;
ReplWhole repl_whole(Repl *r, const char *name, const char *text);
/* Run `text`, which begins at this line of the whole, as repl_chunk does with `last`. */
ChunkResult repl_piece(Repl *r, const ReplWhole *whole, int line, const char *text);
/* What repl_chunk would make of a text before it runs: whether it is Lua; CHUNK_DONE, it is. repl_is_lua: as statements alone,
 * or one expression, to the end. */
ChunkResult repl_chunk_check(Repl *r, const char *text);
bool repl_is_lua(Repl *r, const char *text);

void repl_catch_interrupts(const Repl *r);
/* The same with Ctrl-C handled; a script that was interrupted quits: repl_run.c. */
ChunkResult repl_run(Repl *r, const char *name, const char *text, bool last);
ChunkResult repl_run_piece(Repl *r, const ReplWhole *whole, int line, const char *text);
void repl_run_command(Repl *r, const char *line);
bool repl_is_command(const char *line);

/* Run the file at `path`, a text without zero bytes; a byte order mark and a line #! at its beginning are skipped. What is no Lua as a
 * whole runs as its lines would on a pipe: a failure is reported, and the next goes on. False after a reported failure, and then r->exit_code is
 * its exit code: repl_file.c. */
bool repl_file(Repl *r, const char *path);
/* Tell a failure that ends no chunk; a script goes on, and ends with this exit code. */
void repl_refuse(Repl *r, Exit code, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* What the lines of a chunk say so far; begins as REPL_SCAN. */
typedef struct ReplScan { int depth, level; bool goes_on, strange; size_t tried; } ReplScan;
#define REPL_SCAN ((ReplScan){ .level = -1 })
void repl_scan(ReplScan *c, const char *line);                  /* one more line: repl_whole.c */
bool repl_scan_due(ReplScan *c, size_t size);                   /* whether `size` bytes of lines are to be tried now */
void repl_check_nul(lua_State *L, int index);          /* an error where it is a text with a NUL */
/* Raise what a Diag holds as one Lua error; returns where it holds no error. */
void repl_raise(lua_State *L, Diag *d);
/* From a signal handler: stop the Lua code and the model that runs. `again`: that was done before, and nothing has reacted to it; false where
 * nothing can be left either. */
bool repl_interrupt(bool again);
bool repl_interrupted(void);                                    /* the last chunk was asked to stop */
/* The same, and nothing has reacted to it; and to react to it: what runs goes on, and the next Ctrl-C is a first one. A script ends after the
 * chunk all the same. */
bool repl_stopping(void);
void repl_heard(lua_State *L);
extern volatile sig_atomic_t repl_interrupts;                   /* since what runs began */
/* A person has seen the value at `index`: as a value of this chunk it is not printed. */
void repl_set_shown(lua_State *L, int index);

/* ---- values ------------------------------------------------------------------------------------------------------ */

/* Metatables and `xf`: repl_tensor.c, repl_model.c, repl_xf.c; what is written in Lua: repl_prelude. */
void repl_open_tensor(lua_State *L);
void repl_open_model(lua_State *L);
void repl_open_xf(lua_State *L);
void repl_open_prelude(lua_State *L);
void repl_push_methods(lua_State *L);           /* the table of a model's methods */

/* A tensor of numbers, row-major, its own copy. Pushes it. */
typedef struct ReplTensor { int rank; int64_t shape[4]; float *values; char *name; } ReplTensor;
ReplTensor *repl_push_tensor(lua_State *L, const char *name, int rank, const int64_t *shape, const float *values);
ReplTensor *repl_tensor_at(lua_State *L, int index);            /* NULL if it is none */
int64_t repl_tensor_elements(const ReplTensor *t);
/* An arena for one call of a C function, pushed: it goes when the function is left, by an error too, or when it is popped. */
Arena *repl_scratch(lua_State *L);
ReplTensor *repl_check_tensor(lua_State *L, int index);         /* raises where it is none */
/* Its extremes and their like; non_finite: how many numbers are not finite. */
typedef struct ReplRange { double least, most, mean, sum; int64_t non_finite; } ReplRange;
ReplRange repl_range(const ReplTensor *t);
/* What is computed of tensors, into their metatable and their methods at these stack places: repl_tensor_math.c. */
void repl_add_math(lua_State *L, int meta, int methods);

/* A tensor, or a table of numbers whose nesting is the shape, at `index`; what is made lies in the arena and has no name. Raises on
 * anything else, and where rows are not equally long: repl_numbers.c. */
ReplTensor repl_values(lua_State *L, int index, Arena *a);
/* Its numbers alone; *n receives how many. */
const float *repl_numbers(lua_State *L, int index, Arena *a, int64_t *n);
/* The numbers for a tensor of this shape, called `what` where it does not fit: of that shape, or a flat table of as many. */
const float *repl_shaped(lua_State *L, int index, Arena *a, const char *what, int rank, const int64_t *shape);
const char *repl_shape_text(lua_State *L, int rank, const int64_t *shape);      /* "4 × 3", pushed */

/* A compiled model. */
typedef struct ReplModel {
    EngineKind kind;                /* of its engine; while native code runs in its place, still the jit */
    bool quiet;                     /* nothing is remarked */
    Session *session;               /* NULL once closed */
    Engine *engine, *tapped;        /* tapped: opened when first looked at */
    bool brief;                     /* `tapped` takes no longer sequences than what was asked */
    struct { Arena *home, *call, *trace, *taps; } memory;    /* of the model; of what goes earlier: repl_memory.c */
    const Plan *looked;             /* a plan with taps, before there is that engine; NULL until it is wanted */
    Look look;                      /* of the last question */
    bool asked, traced;             /* there is a question; its trace is there too */
    bool running;                   /* Lua is called while it runs: nothing may change it, or run it again */
    lua_State *L;                   /* of the call that is at work */
    struct ReplEdit { const char *function, *text; struct ReplEdit *before; } *edits;       /* C that was put in, the last first */
    const char *original;           /* the whole C before the first of them */
    bool probed;                    /* some tensors have probes: the engine with taps answers */
    int64_t open_ns;                /* from the spec to something that runs */
    Background native;              /* what `engine` becomes; BACKGROUND_NONE where it is pinned */
    bool reported;                  /* why it did not */
    bool pinned;                    /* it was changed, and stays on the jit */
} ReplModel;
ReplModel *repl_model_at(lua_State *L, int index);              /* NULL if it is none or closed */
/* Compile a spec value, a path or a graph at `index`, with the table of options at `options` (0: none). Pushes the model. */
ReplModel *repl_compile(lua_State *L, int index, int options);
/* The last model that was compiled, for commands without a name; NULL where there is none. */
ReplModel *repl_last_model(lua_State *L);
void repl_remember(lua_State *L);                               /* the model at the top of the stack is that */
/* The same as a value, pushed; nil where there is none. */
void repl_push_last(lua_State *L);

/* What a model leaves in memory goes when nobody can ask for it: repl_memory.c. A session's arena is the model's own while it is
 * compiled; then that of the call at work, until the next call. */
void repl_memory_begin(ReplModel *m);               /* a call: without errors of earlier ones */
Arena *repl_memory_trace(ReplModel *m);             /* where a trace of the question lies, in the place of an earlier one */
/* What is made until the arena that this gives is given back by repl_memory_back is the engine with taps, in the place of one that
 * was closed; the model's own. */
Arena *repl_memory_taps(ReplModel *m);
Arena *repl_memory_home(ReplModel *m);
void repl_memory_back(ReplModel *m, Arena *before);
void repl_memory_free(ReplModel *m);                /* before the session is */

/* The model at stack place 1, without errors of earlier calls; raises where it is none. */
ReplModel *repl_check_model(lua_State *L);
/* Its engine with taps, opened when need be; and closed, so that the next use opens it anew. */
Engine *repl_tapped(lua_State *L, ReplModel *m);
/* The same for sources and targets of these lengths: where the taps of the longest are large it may be one that takes no longer ones. What is
 * changed or probed has none such. */
Engine *repl_tapped_for(lua_State *L, ReplModel *m, int64_t source, int64_t target);
void repl_close_tapped(ReplModel *m);
/* A plan with taps, as that engine has one; made when need be. */
const Plan *repl_looked(ReplModel *m);
/* Raise what the model's session reported. */
int repl_model_fail(lua_State *L, const ReplModel *m);
/* Raise what a status other than RT_OK says. */
void repl_check_status(lua_State *L, rt_status status);
/* Behind a name that there is not: "; did you mean 'x'?", and where its layer is none, "; encoder has layers 0 to 1"; pushed. */
const char *repl_near(lua_State *L, const ReplModel *m, const char *name, const char *near);
/* What there is to look at: the last question, run once more with taps; a graph runs by itself. */
const Trace *repl_traced(lua_State *L, ReplModel *m);
/* m:attention, as a method into the table at the top of the stack: repl_attention.c. */
void repl_add_attention(lua_State *L);
/* A new question, in the place of the last one and of all that it took. */
void repl_begin_question(ReplModel *m, Look look);
/* A list of ids at `index` into the arena; raises where they are none of the vocabulary, or more than `most`. */
int *repl_read_ids(lua_State *L, const ReplModel *m, Arena *a, int index, int64_t vocabulary, int64_t most, int *n);
/* Who answers: with taps only where something looks on. */
Engine *repl_answering(lua_State *L, ReplModel *m);
/* Texts answered: repl_answer.c. The text at stack place 2 as a question, a decoder's answer of at most `most` ids with it (0: as many as
 * its settings let it have), of a decoder alone where it answers. */
void repl_ask_text(lua_State *L, ReplModel *m, bool answers, int most);
/* m("text"), m("first", "second"), with a last argument of options: pushes the answer; and m:generate, as a method into the table at the
 * top of the stack. */
int repl_answer(lua_State *L);
void repl_add_answers(lua_State *L);
/* How long it takes, as methods into the table at the top of the stack: repl_measure.c. */
void repl_add_measures(lua_State *L);
/* m:verify, as a method into the same table: repl_verify.c. */
void repl_add_verify(lua_State *L);
/* The sequences, inputs and threads of an engine before something else runs on it; what it gives is pushed, and given back by repl_resume. */
typedef struct ReplPause { Engine *engine; unsigned char *state; } ReplPause;
ReplPause repl_pause(lua_State *L, Engine *e);
void repl_resume(const ReplModel *m, const ReplPause *p);
/* Put the weights that were changed into a generic engine; what stays different, as "C of argmax, probes", or NULL. */
const char *repl_share_changes(lua_State *L, const ReplModel *m, Engine *generic);
/* Probes, edits of C and of weights, as methods into the table at the top of the stack: repl_experiment.c. */
void repl_add_experiments(lua_State *L);
/* What is other than the spec says: "C of argmax, probes, weights", or "". */
const char *repl_changes(const ReplModel *m);
/* Whether its C or its weights are other than the spec's. */
bool repl_is_changed(const ReplModel *m);
/* The table of a model's probes, pushed; made when need be. */
void repl_push_probes(lua_State *L, const ReplModel *m);
/* A function of a whole C text replaced, in the arena; NULL after a reported error. */
const char *repl_replaced(ReplModel *m, Arena *a, const char *old, const char *function, const char *text);
void repl_free_edit(struct ReplEdit *e);
/* Every place of a tensor of weights in an engine; raises where there is none. Numbers into all of them. */
PackedTensor *repl_packed(lua_State *L, const ReplModel *m, const Engine *e, const char *name, int *n);
void repl_put(lua_State *L, ReplModel *m, Engine *e, const char *name, const float *values);
/* Before calls and behind them: raise what a probe raised. */
void repl_check_probes(lua_State *L);
/* Before a model is closed: its probes, and the C that was put in. */
void repl_forget_edits(ReplModel *m);
void repl_forget_probes(ReplModel *m);
/* Engines that were just opened get the probes and the weights that the model has. */
void repl_renew_experiments(lua_State *L, ReplModel *m);

/* ---- arguments: repl_arguments.c -------------------------------------------------------------- */

/* A function of the prompt by its name. takes: "file text, axis whole?, values numbers|text": what
 * may be left out ends in `?`, `|` stands between kinds: text, table, function, number, whole,
 * tensor, numbers (a tensor or a table), any. */
typedef struct ReplFunction {
    const char *name;
    lua_CFunction run;
    const char *takes;
} ReplFunction;
/* Into the table at the top of the stack: functions that raise what is one too many or of another
 * kind. prefix: "m:", "t:" or "xf.", as messages have it. A name of NULL ends them. */
void repl_set_functions(lua_State *L, const char *prefix, const ReplFunction *functions);
/* "nothing", "5", "a tensor": what stands at `index`, pushed or constant. */
const char *repl_described(lua_State *L, int index);

/* ---- options: repl_options.c ------------------------------------------------------------------------------------- */

/* What stands at `index` where something else was wanted: "nothing", or "a table", pushed. */
const char *repl_found(lua_State *L, int index);

/* Raise where the table of options at `index` (0, nil: none), those of `what`, has others than names[n]. */
void repl_check_keys(lua_State *L, int index, const char *what, const char *const *names, int n);
/* The names of a function's options, "xf.compile", "xf.sweep" or "m:attention"; NULL for another one. The words of an option, which
 * NULL ends; NULL where it takes others. */
const char *const *repl_option_names(const char *function, int *n);
const char *const *repl_option_words(const char *name);
void repl_check_options(lua_State *L, int index, const char *function);     /* repl_check_keys with those of a function */
/* One option of that table, left on the stack; false where it is not given. */
bool repl_option(lua_State *L, int index, const char *name);
/* What is at the top of the stack, for the option `name`: a whole number, a text. Raise where it is none. */
int repl_integer_option(lua_State *L, const char *name, int least, int most);
const char *repl_text_option(lua_State *L, const char *name);
/* The one of words, which NULL ends, that the text at the top of the stack is. */
const char *repl_word_option(lua_State *L, const char *name, const char *const *words);
/* The options of xf.compile. Returns what repl_tier_begin takes; an engine that is asked for is pinned. */
const char *repl_compile_options(lua_State *L, int index, ReplModel *m, CompileOptions *c);
/* For Lua: raise where a table has others than those of xf.sweep. */
int repl_check_sweep(lua_State *L);

/* ---- tiers: repl_tier.c ------------------------------------------------------------------------------------------ */

/* tier: NULL: the jit until native code is there; "native": wait for that, and raise where there is none; "jit": pinned. */
void repl_tier_begin(lua_State *L, ReplModel *m, const char *tier);
/* At the beginning of each call: go on with native code if it is there. */
void repl_tier_poll(lua_State *L, ReplModel *m);
/* Until there is nothing to wait for any more; "interrupted" is raised after Ctrl-C. */
void repl_tier_await(lua_State *L, ReplModel *m);
/* What is changed runs by the jit from now on, with the state that it has. */
void repl_tier_pin(ReplModel *m);
/* The engine in memory, which native code stands in front of. */
const Engine *repl_tier_jit(const ReplModel *m);
const char *repl_tier_name(const ReplModel *m);     /* jit, native, generic */
void repl_tier_time(const ReplModel *m);            /* print how long native code took, or why there is none */

/* Where the definition of `name` begins and ends in a C text; false where there is none. */
bool repl_find_function(const char *text, const char *name, const char **begin, const char **end);
/* Print what the C compiler makes of a function of the model, or why it cannot, with an exit code: repl_assembly.c. */
Exit repl_assembly(ReplModel *m, const char *function);

/* ---- commands: repl_commands.c ----------------------------------------------------------------------------------- */

/* `:help` and the like, and `?x`. */
void repl_command(Repl *r, const char *line);
/* Names of commands, for completion: the i-th, or NULL past the end. */
const char *repl_command_name(int i);

/* What is known of a name, with its value where it is a global; the names of topics, likewise: repl_help.c. */
void repl_help(Repl *r, const char *words);
const char *repl_topic_name(int i);

/* ---- completion: repl_complete.c --------------------------------------------------------------------------------- */

/* Words that the text before the cursor may go on with: all begin with `prefix`, its end; sorted. `shared`: bytes that they have in
 * common, the prefix among them. */
typedef struct Completion { Arena *arena; const char *prefix, **words; int count; size_t shared; } Completion;
Completion repl_complete(Repl *r, Arena *a, const char *text);

/* ---- lines: repl_edit.c ------------------------------------------------------------------------------------------ */

typedef struct Lines Lines;
Lines *lines_open(Repl *r);
/* The next line without its end, the reader's own until the next call; NULL at the end. `more`: it goes on with a chunk. */
const char *lines_next(Lines *l, bool more);
void lines_remember(Lines *l, const char *text);                /* in the history */
void lines_close(Lines *l);

#endif
