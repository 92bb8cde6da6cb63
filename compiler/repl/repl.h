/* repl.h: declarations shared by the source files of the prompt: a Lua state with `xf` loaded,
 * which compiles, runs and inspects models.
 *
 * The state has all of Lua; a spec that is loaded from a file still runs in its own sandbox. An
 * error in Lua code, a spec or a model does not end the session: it becomes a Lua error, with the
 * messages and carets that the command line would show. */
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

#define REPL_TENSOR_TYPE "xf.tensor"        /* names of the types in Lua */
#define REPL_MODEL_TYPE "xf.compiled"

typedef struct Repl {
    SpecReader reader;              /* must be first: the state's extra space points to it; its
                                     * arena lives as long as the prompt */
    lua_State *L;
    const ReplOptions *options;
    bool terminal;                  /* interactive */
    bool quit;
    Text typed;                     /* the chunks of the input that ran without an error, for :save */
    Exit code;                      /* for the current chunk if it fails */
    Exit exit_code;                 /* of the last chunk or command that failed: the exit code of
                                     * a script */
    int files;                      /* nesting depth of the files being loaded */
    void (*command)(struct Repl *r, const char *line);      /* runs a line that is a command */
} Repl;

Repl *repl_of(lua_State *L);
char *repl_diag_text(Diag *d);            /* the caller frees it */

/* ---- chunks: repl_chunk.c ---------------------------------------------------------------------------------------- */

typedef enum ChunkResult { CHUNK_DONE, CHUNK_FAILED, CHUNK_INCOMPLETE } ChunkResult;

/* Run `text`, an expression or statements, and print its values; `_` is set to the first. `name`
 * appears in messages. An incomplete chunk is an error only with `last`. */
ChunkResult repl_chunk(Repl *r, const char *name, const char *text, bool last);
/* repl_chunk with `last`; the chunk gets `argument` as `...`. */
ChunkResult repl_chunk_with(Repl *r, const char *name, const char *text, const char *argument);
/* A file whose parts run as separate chunks: messages refer to lines of the file. One ReplWhole
 * serves all parts. */
typedef struct ReplWhole { const char *name; Diag *diag; Lexer *lexer; } ReplWhole;
ReplWhole repl_whole(Repl *r, const char *name, const char *text);
/* Run `text`, the part that begins at this line of the whole, like repl_chunk with `last`. */
ChunkResult repl_piece(Repl *r, const ReplWhole *whole, int line, const char *text);
/* Check the syntax of a text without running it: CHUNK_DONE if it is valid Lua, CHUNK_INCOMPLETE if
 * only its end is missing, else CHUNK_FAILED. repl_is_lua: false only after a syntax error;
 * incomplete Lua counts as one. */
ChunkResult repl_chunk_check(Repl *r, const char *text);
bool repl_is_lua(Repl *r, const char *text);

void repl_catch_interrupts(const Repl *r);
/* Run a chunk, a piece or a command with Ctrl-C handled; an interrupted script quits. See
 * repl_run.c. */
ChunkResult repl_run(Repl *r, const char *name, const char *text, bool last);
ChunkResult repl_run_piece(Repl *r, const ReplWhole *whole, int line, const char *text);
void repl_run_command(Repl *r, const char *line);
bool repl_is_command(const char *line);

/* Run the Lua file at `path`, which must not contain zero bytes; a byte order mark or a #! line at
 * the beginning is skipped. A file that is valid Lua only piece by piece runs like lines from a
 * pipe: after a reported failure the next chunk still runs. False after reported failures;
 * r->exit_code is then the exit code. See repl_file.c. */
bool repl_file(Repl *r, const char *path);
/* Print an error that does not end a chunk. A script continues, and ends with this exit code. */
void repl_refuse(Repl *r, Exit code, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* State of a scan over the lines of a chunk for open brackets and blocks; its initial value is
 * REPL_SCAN. */
typedef struct ReplScan { int depth, level; bool goes_on, strange; size_t tried; } ReplScan;
#define REPL_SCAN ((ReplScan){ .level = -1 })
void repl_scan(ReplScan *c, const char *line);                  /* one more line: repl_whole.c */
bool repl_scan_due(ReplScan *c, size_t size);                   /* true to try `size` bytes now */
void repl_check_nul(lua_State *L, int index);    /* raise if the value is a string with a NUL */
/* Raise the errors of a Diag as one Lua error; return if it has none. */
void repl_raise(lua_State *L, Diag *d);
/* Called from a signal handler: ask the running Lua code, model and child to stop. `again`: an
 * earlier request had no effect, so also leave the emitted code; false if it cannot be left. */
bool repl_interrupt(bool again);
bool repl_interrupted(void);                                    /* the last chunk was asked to stop */
/* repl_stopping: the last chunk was asked to stop, and nothing has handled that. repl_heard: handle
 * the request, so that the code continues and the next Ctrl-C counts as the first. A script still
 * ends after the chunk. */
bool repl_stopping(void);
void repl_heard(lua_State *L);
extern volatile sig_atomic_t repl_interrupts;                   /* presses of Ctrl-C in this chunk or command */
/* The value at `index` was already shown: do not print it as a value of this chunk. */
void repl_set_shown(lua_State *L, int index);

/* ---- values ------------------------------------------------------------------------------------------------------ */

/* Create the metatables and `xf`: repl_tensor.c, repl_model.c, repl_xf.c. repl_open_prelude adds
 * the parts that are written in Lua. */
void repl_open_tensor(lua_State *L);
void repl_open_model(lua_State *L);
void repl_open_xf(lua_State *L);
void repl_open_prelude(lua_State *L);
void repl_push_methods(lua_State *L);           /* the table of a model's methods */

/* A row-major f32 tensor. repl_push_tensor copies the values and pushes the tensor. */
typedef struct ReplTensor { int rank; int64_t shape[4]; float *values; char *name; } ReplTensor;
ReplTensor *repl_push_tensor(lua_State *L, const char *name, int rank, const int64_t *shape, const float *values);
ReplTensor *repl_tensor_at(lua_State *L, int index);            /* NULL if it is not a tensor */
int64_t repl_tensor_elements(const ReplTensor *t);
/* Push an arena for one call of a C function: it is freed when the function ends, even by an error,
 * or when it is popped. */
Arena *repl_scratch(lua_State *L);
ReplTensor *repl_check_tensor(lua_State *L, int index);         /* raises if it is not a tensor */
/* Statistics of a tensor; non_finite: the number of elements that are not finite. */
typedef struct ReplRange { double least, most, mean, sum; int64_t non_finite; } ReplRange;
ReplRange repl_range(const ReplTensor *t);
/* Add arithmetic to the metatable and the methods of tensors, at these stack places:
 * repl_tensor_math.c. */
void repl_add_math(lua_State *L, int meta, int methods);

/* The tensor at `index`; or a tensor without a name, made in the arena from a table of numbers
 * whose nesting is the shape. Raises on anything else, and if rows differ in length. See
 * repl_numbers.c. */
ReplTensor repl_values(lua_State *L, int index, Arena *a);
/* Like repl_values, but only the numbers; *n is set to their count. */
const float *repl_numbers(lua_State *L, int index, Arena *a, int64_t *n);
/* The numbers at `index` for a tensor of the given shape: from a value of that shape, or from a
 * flat table with one number per element. Raises otherwise; `what` is the name of the tensor in the
 * message. */
const float *repl_shaped(lua_State *L, int index, Arena *a, const char *what, int rank, const int64_t *shape);
const char *repl_shape_text(lua_State *L, int rank, const int64_t *shape);      /* "4 × 3", pushed */

/* A compiled model. */
typedef struct ReplModel {
    EngineKind kind;                /* of its engine; still the jit while native code runs */
    bool quiet;                     /* do not print remarks */
    Session *session;               /* NULL once closed */
    Engine *engine, *tapped;        /* tapped: with taps; opened on first use */
    bool brief;                     /* `tapped` is sized for the question, not the longest one */
    struct { Arena *home, *call, *trace, *taps; } memory;    /* home: for the life of the model; for
                                                              * the others, see repl_memory.c */
    const Plan *looked;             /* a plan with taps, used until `tapped` is open; NULL
                                     * until needed */
    Look look;                      /* of the last question */
    bool asked, traced;             /* there is a question; it has a trace */
    bool running;                   /* a run or an edit of the model is calling a Lua function,
                                     * which must not change or run the model */
    lua_State *L;                   /* of the current call */
    /* edits of the C, newest first */
    struct ReplEdit { const char *function, *text; struct ReplEdit *before; } *edits;
    const char *original;           /* the whole C before the first edit */
    bool probed;                    /* some tensors have probes: the engine with taps answers */
    int64_t open_ns;                /* time from the spec to an open engine */
    Background native;              /* request for native code that replaces the code of `engine`;
                                     * its state is BACKGROUND_NONE if pinned or never asked */
    bool reported;                  /* a failure of `native` was noted */
    bool pinned;                    /* a change cancelled `native`: the model stays on the jit */
} ReplModel;
ReplModel *repl_model_at(lua_State *L, int index);              /* NULL if not a model, or closed */
/* Compile a spec value, a path or a graph at `index`, with the table of options at `options` (0:
 * none). Pushes the model. */
ReplModel *repl_compile(lua_State *L, int index, int options);
/* The latest compiled model that is still open, for commands that name no model; NULL if there is
 * none. */
ReplModel *repl_last_model(lua_State *L);
void repl_remember(lua_State *L);                               /* make the model at the top of the
                                                                 * stack the last one */
/* Push the last model as a value; nil if there is none. */
void repl_push_last(lua_State *L);

/* The memory of a model is freed once the model is closed or no longer reachable: repl_memory.c.
 * The session's arena is the model's own during compilation, and after that the arena of the
 * current call, which lasts until the next call. */
void repl_memory_begin(ReplModel *m);               /* begin a call: forget earlier errors */
Arena *repl_memory_trace(ReplModel *m);             /* a new arena for a trace of the question; it
                                                     * replaces the earlier one */
/* repl_memory_taps: make the session use a new arena for the engine with taps, which must be
 * closed. repl_memory_home: make it use the model's own arena. Both return the previous arena, for
 * repl_memory_back. */
Arena *repl_memory_taps(ReplModel *m);
Arena *repl_memory_home(ReplModel *m);
void repl_memory_back(ReplModel *m, Arena *before);
void repl_memory_free(ReplModel *m);                /* call it before session_free */

/* Begin a call of a method. Returns the model at stack place 1. Raises if there is no model, or if
 * it is closed or running. */
ReplModel *repl_check_model(lua_State *L);
/* The model's engine with taps, opened if needed. repl_close_tapped closes it; the next use opens a
 * new one. */
Engine *repl_tapped(lua_State *L, ReplModel *m);
/* repl_tapped for a source and a target of these lengths: if the taps for the longest sequences are
 * large, the engine may be limited to shorter ones, unless the model is changed or has probes. */
Engine *repl_tapped_for(lua_State *L, ReplModel *m, int64_t source, int64_t target);
void repl_close_tapped(ReplModel *m);
/* A plan with taps: that of the engine with taps if it is open, else one that is made when
 * needed. */
const Plan *repl_looked(ReplModel *m);
/* Raise the errors that the model's session reported. */
int repl_model_fail(lua_State *L, const ReplModel *m);
/* Raise an error for a status other than RT_OK. */
void repl_check_status(lua_State *L, rt_status status);
/* The end of a message about an unknown name, pushed: "; encoder has layers 0 to 1" if the name has
 * a layer out of range, and "; did you mean 'x'?" if `near` is not NULL. */
const char *repl_near(lua_State *L, const ReplModel *m, const char *name, const char *near);
/* The trace of the last question, which runs again with taps if needed. A graph needs no
 * question. */
const Trace *repl_traced(lua_State *L, ReplModel *m);
/* Add the method m:attention to the table at the top of the stack: repl_attention.c. */
void repl_add_attention(lua_State *L);
/* Begin a new question, which replaces the last one and frees its memory. */
void repl_begin_question(ReplModel *m, Look look);
/* Read the list of ids at `index` into the arena. Raises if it is empty or longer than `most`, if
 * an id is not in the vocabulary, or if a source has the padding id. */
int *repl_read_ids(lua_State *L, const ReplModel *m, Arena *a, int index, int64_t vocabulary, int64_t most, int *n);
/* The engine for answers: the one with taps only if there are probes. */
Engine *repl_answering(lua_State *L, ReplModel *m);
/* Ask the text at stack place 2: repl_answer.c. A decoder generates at most `most` ids (0: as many
 * as its settings allow); a decoder-only model generates only if `answers`. */
void repl_ask_text(lua_State *L, ReplModel *m, bool answers, int most);
/* m("text") and m("first", "second"), with an optional last table of options: push the answer.
 * repl_add_answers adds the method m:generate to the table at the top of the stack. */
int repl_answer(lua_State *L);
void repl_add_answers(lua_State *L);
/* Add the methods that measure time to the table at the top of the stack: repl_measure.c. */
void repl_add_measures(lua_State *L);
/* Add the method m:verify to the same table: repl_verify.c. */
void repl_add_verify(lua_State *L);
/* Save the sequences and inputs of an engine before something else runs on it; the copy is pushed.
 * repl_resume restores them and the number of threads. */
typedef struct ReplPause { Engine *engine; unsigned char *state; } ReplPause;
ReplPause repl_pause(lua_State *L, Engine *e);
void repl_resume(const ReplModel *m, const ReplPause *p);
/* Put the changed weights into a generic engine. Returns the other changes, such as "C of argmax,
 * probes", or NULL. */
const char *repl_share_changes(lua_State *L, const ReplModel *m, Engine *generic);
/* Add the methods for probes and for edits of C and weights to the table at the top of the stack:
 * repl_experiment.c. */
void repl_add_experiments(lua_State *L);
/* The differences from the spec: "C of argmax, probes, weights", or "". */
const char *repl_changes(const ReplModel *m);
/* True if the C or the weights differ from the spec's. */
bool repl_is_changed(const ReplModel *m);
/* Push the table of a model's probes; made if needed. */
void repl_push_probes(lua_State *L, const ReplModel *m);
/* The C text `old` with a function replaced, in the arena; NULL after a reported error. */
const char *repl_replaced(ReplModel *m, Arena *a, const char *old, const char *function, const char *text);
void repl_free_edit(struct ReplEdit *e);
/* All places of a weight tensor in an engine, [*n]; raises if there are none. repl_put writes the
 * numbers to all of them. */
PackedTensor *repl_packed(lua_State *L, const ReplModel *m, const Engine *e, const char *name, int *n);
void repl_put(lua_State *L, ReplModel *m, Engine *e, const char *name, const float *values);
/* Raise the error of a probe, if one failed. */
void repl_check_probes(lua_State *L);
/* Forget all edits of the C, or all probes, for example before the model is closed. */
void repl_forget_edits(ReplModel *m);
void repl_forget_probes(ReplModel *m);
/* Give a newly opened engine with taps the probes, the edits of the C and the weights of the
 * model. */
void repl_renew_experiments(lua_State *L, ReplModel *m);

/* ---- arguments: repl_arguments.c -------------------------------------------------------------- */

/* A Lua function of the prompt. takes: its parameters, such as "file text, axis whole?, values
 * numbers|text": `?` marks an optional one, and `|` separates kinds. The kinds are text, table,
 * function, number, whole, tensor, numbers (a tensor or a table) and any. */
typedef struct ReplFunction {
    const char *name;
    lua_CFunction run;
    const char *takes;
} ReplFunction;
/* Add functions to the table at the top of the stack; a name of NULL ends the list. The functions
 * raise an error if an argument is missing, surplus or of the wrong kind. prefix: "m:", "t:" or
 * "xf.", for messages. */
void repl_set_functions(lua_State *L, const char *prefix, const ReplFunction *functions);
/* Describe the value at `index`: "nothing", "5", "a tensor"; pushed or constant. */
const char *repl_described(lua_State *L, int index);

/* ---- options: repl_options.c ------------------------------------------------------------------------------------- */

/* The type of the value at `index`: "nothing", "a table"; pushed or constant. For messages that say
 * which type was expected. */
const char *repl_found(lua_State *L, int index);

/* Raise if the table of options at `index` (0 or nil: none) has a key that is not in names[n].
 * what: the function, for messages. */
void repl_check_keys(lua_State *L, int index, const char *what, const char *const *names, int n);
/* The names of the options of a function, such as "xf.compile" or "m:attention"; NULL if it has
 * none. repl_option_words: the words that an option accepts, terminated by NULL; NULL if it is not
 * a choice of words. */
const char *const *repl_option_names(const char *function, int *n);
const char *const *repl_option_words(const char *name);
/* repl_check_keys for the options of a function. */
void repl_check_options(lua_State *L, int index, const char *function);
/* Push one option of the table at `index` (0 or nil: none). False if it is not given; with a table,
 * nil is then pushed. */
bool repl_option(lua_State *L, int index, const char *name);
/* The value at the top of the stack, for the option `name`: a whole number from `least` to `most`,
 * or a string. Raises if it is not one. */
int repl_integer_option(lua_State *L, const char *name, int least, int most);
const char *repl_text_option(lua_State *L, const char *name);
/* A string that must be one of `words`, a list that ends with NULL. */
const char *repl_word_option(lua_State *L, const char *name, const char *const *words);
/* Read the options of xf.compile. Returns the tier for repl_tier_begin; with the option `engine`,
 * that is "jit", which keeps the chosen engine. */
const char *repl_compile_options(lua_State *L, int index, ReplModel *m, CompileOptions *c);
/* A Lua function: raise if a table has a key that is not an option of xf.sweep. */
int repl_check_sweep(lua_State *L);

/* ---- tiers: repl_tier.c ------------------------------------------------------------------------------------------ */

/* tier NULL: run on the jit until native code is ready; "native": wait for it, and raise an error
 * if there is none; "jit": stay on the engine that is open. */
void repl_tier_begin(lua_State *L, ReplModel *m, const char *tier);
/* Switch to native code if it is ready; with -v, note once that it failed. Called at the beginning
 * of each call. */
void repl_tier_poll(lua_State *L, ReplModel *m);
/* Wait until native code is ready or has failed; raises "interrupted" after Ctrl-C. */
void repl_tier_await(lua_State *L, ReplModel *m);
/* Run the model on the jit from now on, since it is being changed; its state is kept. */
void repl_tier_pin(ReplModel *m);
/* The engine as it was opened: the jit, while native code runs in its place. */
const Engine *repl_tier_jit(const ReplModel *m);
const char *repl_tier_name(const ReplModel *m);     /* jit, native, generic */
void repl_tier_time(const ReplModel *m);            /* print how long native code took, or why there is none */

/* Find the definition of a function in a C text: *begin to *end. False if there is none. */
bool repl_find_function(const char *text, const char *name, const char **begin, const char **end);
/* Print the assembly that the C compiler makes of a function of the model, or an error; returns the
 * exit code: repl_assembly.c. */
Exit repl_assembly(ReplModel *m, const char *function);

/* ---- commands: repl_commands.c ----------------------------------------------------------------------------------- */

/* Run a command, such as `:help` or `?x`. */
void repl_command(Repl *r, const char *line);
/* Names of commands, for completion: the i-th, or NULL past the end. */
const char *repl_command_name(int i);

/* repl_help: print help on a name, and its value if it is a global but not a topic.
 * repl_topic_name: the i-th topic, or NULL past the end. See repl_help.c. */
void repl_help(Repl *r, const char *words);
const char *repl_topic_name(int i);

/* ---- completion: repl_complete.c --------------------------------------------------------------------------------- */

/* Completions of the text before the cursor, sorted. All words begin with `prefix`, the end of that
 * text. shared: the number of leading bytes that all words share, including the prefix. */
typedef struct Completion { Arena *arena; const char *prefix, **words; int count; size_t shared; } Completion;
Completion repl_complete(Repl *r, Arena *a, const char *text);

/* ---- lines: repl_edit.c ------------------------------------------------------------------------------------------ */

typedef struct Lines Lines;
Lines *lines_open(Repl *r);
/* The next line without its newline, valid until the next call; NULL at the end, and "\x03" if
 * Ctrl-C was pressed. `more`: the line continues a chunk. */
const char *lines_next(Lines *l, bool more);
void lines_remember(Lines *l, const char *text);                /* add it to the history */
void lines_close(Lines *l);

#endif
