/* spec_lua.h: declarations shared by the Lua reader, the prompt and tune_file.c. */
#ifndef SPEC_LUA_H
#define SPEC_LUA_H

#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>

#include "fields.h"
#include "spec_lexer.h"

/* Why the sandbox stopped a spec; the spec cannot catch this. */
typedef enum Stop { STOP_NOT, STOP_INSTRUCTIONS, STOP_TIME, STOP_MEMORY } Stop;

/* The chunk name of xformc's own Lua code; errors do not point at its lines. */
#define SPEC_OWN_CHUNK "[xf]"

/* The name of a spec's type in Lua. */
#define SPEC_TYPE "xf.spec"

/* Calls to `g` that are not operations; the first DECLARATIONS of them declare values. */
enum { OWN_CALLS = 5, DECLARATIONS = 3 };
extern const char *const spec_own_calls[OWN_CALLS];

/* The limits for a spec. */
enum {
    MAX_INSTRUCTIONS = 10000000,
    MAX_MEMORY = 64 << 20,          /* bytes in use at any time */
    MAX_ALLOCATED_MB = 4096,        /* allocated in all */
    MAX_STRING = 1 << 20,           /* bytes of one string */
    MAX_SPECS = 1000,               /* models and graphs made by one spec */
    MAX_CALLS = 10000,              /* calls to `g`, over all graphs */
    MAX_NUMBERS = 16 << 20          /* given for inputs and params */
};
/* A limit in seconds of processor time, for code that is slow although it runs few instructions.
 * Tests of the other limits raise it, so that they do not depend on the speed of the machine. */
extern int sandbox_seconds;

typedef struct Sandbox {
    size_t used;                    /* bytes now */
    uint64_t allocated;             /* bytes in all: garbage costs time too */
    int64_t instructions;
    int64_t started_ns;             /* processor time at the start; 0: no limit */
    int64_t looked_ns;              /* monotonic time when the processor time was last read */
    int64_t bytes;                  /* handled inside C and not charged yet */
    Stop stop;
    Loc at;                         /* where it was stopped */
} Sandbox;

/* A kind of Lua file: its name in messages, its table `xf`, and the function that takes the value
 * that the file returns. */
typedef struct LuaKind {
    const char *name;               /* "spec" */
    void (*open)(lua_State *L);     /* push the table `xf` */
    void (*take)(lua_State *L, int index);
} LuaKind;

typedef struct SpecReader {
    Arena *arena;
    Diag *diag;
    const char *path, *folder;
    Lexer *lexer;
    const OpName *ops;
    int op_count;
    GraphShape *shape_of;           /* NULL: xf.op is an error */
    const CustomOp **custom;        /* made by xf.op, in order */
    int custom_count;
    Sandbox sandbox;
    int specs, calls;               /* made so far */
    int64_t numbers;                /* kept so far */
    Draft *result;
    const LuaKind *kind;            /* of the file; NULL at the prompt */
    struct Tuning *tuning;          /* made by xf.tune */
    Loc raised;                     /* where a Lua error was raised */
} SpecReader;

/* Read the file r->path and run it in a sandbox; false after errors. needs: arena, diag, path,
 * kind; for a spec, also folder, ops, op_count and shape_of. */
bool spec_run_file(SpecReader *r);
/* Push the table `xf` of specs, with xf.model, xf.graph and xf.op, for a state whose extra space
 * points to a SpecReader. */
void spec_open(lua_State *L);
/* A new state with the table of allowed functions on top of its stack; NULL if out of memory. The
 * caller ends it with lua_close. */
lua_State *sandbox_new(SpecReader *r);
SpecReader *spec_reader(lua_State *L);
/* Charge work done in C to the sandbox: n units, each as slow as a Lua instruction; or n bytes read
 * or written. Both check the time limit. */
void sandbox_charge(lua_State *L, int64_t n);
void sandbox_charge_bytes(lua_State *L, size_t n);
/* "a table", "\"x\"", "3.5": the value at `index`, for a message. In the arena, or constant. */
const char *spec_describe(lua_State *L, int index);

/* The current line of the innermost running Lua function of the spec (0: none), and in it the
 * column of `word` after . or :, else that of the line's first token. */
Loc  spec_call(lua_State *L, const char *word);
/* Report an error, unless format is NULL because it was reported, and raise a Lua error. */
_Noreturn void spec_fail(lua_State *L, Loc at, const char *format, ...) __attribute__((format(printf, 3, 4)));
bool spec_is_told(lua_State *L, int index);             /* true for the error value of spec_fail */
/* Fail if there are more than `most` arguments, not counting nils at the end. takes: "xf.model
 * takes a table of fields". */
void spec_no_more(lua_State *L, Loc at, int most, const char *takes);

/* Add the fields of the table at `index` to a draft; errors are collected in the Diag. method: as
 * in lexer_field. */
void spec_read_fields(lua_State *L, int index, Draft *draft, Loc call, const char *method);
/* The string at `index`, in the arena. It must be UTF-8 without zero bytes, not empty and of
 * limited length; else NULL after an error reported at `at`. */
const char *spec_text(lua_State *L, int index, Loc at, const char *what);

/* The length of the list at `index`; -1 if the table has holes or keys other than 1, 2, … */
int64_t spec_list(lua_State *L, int index);

void spec_push(lua_State *L, const Draft *draft);       /* a spec value that points to the draft */
const Draft *spec_at(lua_State *L, int index);          /* NULL if it is not a spec value */
Draft *spec_new_draft(lua_State *L, Loc at);            /* counted against MAX_SPECS */
int  spec_graph(lua_State *L);                          /* xf.graph */
bool spec_is_builder_word(const SpecReader *r, const char *word);
/* The number of a word: spec_own_calls first, then the operations, then those of xf.op; -1 if
 * unknown. If an xf.op is defined again, as at the prompt, the last definition is used. */
int spec_word_number(const SpecReader *r, const char *word);
int  spec_op(lua_State *L);                             /* xf.op */
/* Set the attributes and the result's shape of a call of an xf.op, whose inputs are at stack places
 * 1 to c->input_count. table: the stack place of its attributes; 0: none. */
void spec_custom_call(lua_State *L, GraphSpec *spec, GraphCall *c, int table);

#endif
