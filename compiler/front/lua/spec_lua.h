/* spec_lua.h: what the files of the Lua reader share. Included by spec_lua*.c only. */
#ifndef SPEC_LUA_H
#define SPEC_LUA_H

#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>

#include "fields.h"
#include "spec_lexer.h"

/* Why a spec was stopped for good; it cannot catch this. */
typedef enum Stop { STOP_NOT, STOP_INSTRUCTIONS, STOP_TIME, STOP_MEMORY } Stop;

/* What Lua of our own is called as a chunk: its lines are no places of a user's. */
#define SPEC_OWN_CHUNK "[xf]"

/* The name in Lua of the type of a spec. */
#define SPEC_TYPE "xf.spec"

/* What a builder has besides the operations: the first of these declare. */
enum { OWN_CALLS = 5, DECLARATIONS = 3 };
extern const char *const spec_own_calls[OWN_CALLS];

/* The limits that a spec runs under. */
enum {
    MAX_INSTRUCTIONS = 10000000,
    MAX_MEMORY = 64 << 20,          /* bytes at a time */
    MAX_ALLOCATED_MB = 4096,        /* in all */
    MAX_STRING = 1 << 20,           /* bytes of one string */
    MAX_SPECS = 1000,               /* models and graphs that one spec makes */
    MAX_CALLS = 10000,              /* of graphs, all together */
    MAX_NUMBERS = 16 << 20          /* given for inputs and params */
};
/* And seconds of processor time, for what is slow without being many instructions. A test of the
 * other limits raises it, so that none of its cases depends on how fast the machine is. */
extern int sandbox_seconds;

typedef struct Sandbox {
    size_t used;                    /* bytes now */
    uint64_t allocated;             /* bytes ever: making garbage costs time too */
    int64_t instructions;
    int64_t started_ns;             /* processor time when it began; 0: not limited */
    int64_t looked_ns;              /* time of day when the processor time was last read */
    int64_t bytes;                  /* handled inside C and not charged yet */
    Stop stop;
    Loc at;                         /* where it was stopped */
} Sandbox;

/* What a file is: how it is called in messages, what `xf` has there, what takes the value that it returns. */
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
    GraphShape *shape_of;           /* NULL: xf.op is refused */
    const CustomOp **custom;        /* of xf.op, in order */
    int custom_count;
    Sandbox sandbox;
    int specs, calls;               /* made so far */
    int64_t numbers;                /* kept so far */
    Draft *result;
    const LuaKind *kind;            /* of the file; NULL at the prompt */
    struct Tuning *tuning;          /* what xf.tune made */
    Loc raised;                     /* where a Lua error was raised */
} SpecReader;

/* Read the file r->path and run it in a sandbox; false after errors. needs: arena, diag, path, kind. */
bool spec_run_file(SpecReader *r);
/* Push the table `xf` of specs, xf.model and xf.graph, for a state whose extra space holds a SpecReader. */
void spec_open(lua_State *L);
/* A state with the whitelist as the table on top of its stack; NULL when out of memory. Ends with lua_close. */
lua_State *sandbox_new(SpecReader *r);
SpecReader *spec_reader(lua_State *L);
/* Count work that no instruction shows: `n` of whatever takes as long as one, or bytes that C reads or
 * writes. Both look at the clock. */
void sandbox_charge(lua_State *L, int64_t n);
void sandbox_charge_bytes(lua_State *L, size_t n);
/* "a table", "text \"x\"", "3.5": the value at `index`, for a message. In the arena. */
const char *spec_describe(lua_State *L, int index);

/* The line of the innermost Lua function that runs (0: none), and the column of `.word` in it. */
Loc  spec_call(lua_State *L, const char *word);
/* Tell an error and leave the running Lua function. */
_Noreturn void spec_fail(lua_State *L, Loc at, const char *format, ...) __attribute__((format(printf, 3, 4)));
bool spec_is_told(lua_State *L, int index);             /* the error value of spec_fail */
/* Fail where more than `most` arguments are given; a nil at the end is none.
 * takes: "xf.model takes a table of fields". */
void spec_no_more(lua_State *L, Loc at, int most, const char *takes);

/* Add the fields of the table at `index` to a draft; errors are reported and collected. method as in lexer_field. */
void spec_read_fields(lua_State *L, int index, Draft *draft, Loc call, const char *method);
/* The TEXT at `index`, in the arena, or NULL after an error reported at `at`: UTF-8 without zero bytes,
 * not endless. */
const char *spec_text(lua_State *L, int index, Loc at, const char *what);

/* How many values the table at `index` lists; -1 where it has holes or other keys than 1, 2, … */
int64_t spec_list(lua_State *L, int index);

void spec_push(lua_State *L, const Draft *draft);       /* a spec value, a copy of the draft */
const Draft *spec_at(lua_State *L, int index);          /* NULL if it is not a spec value */
Draft *spec_new_draft(lua_State *L, Loc at);            /* counted against MAX_SPECS */
int  spec_graph(lua_State *L);                          /* xf.graph */
bool spec_is_builder_word(const SpecReader *r, const char *word);
/* The number of a word: own calls first, then the operations, then those of xf.op; -1 where there is none. At the prompt an operation
 * may be defined again: the last one counts. */
int spec_word_number(const SpecReader *r, const char *word);
int  spec_op(lua_State *L);                             /* xf.op */
/* Of a call of an xf.op with its inputs at stack places 1 to c->input_count and the table of attributes, if any, at `table`
 * (0: none): the attributes and the result's shape. */
void spec_custom_call(lua_State *L, GraphSpec *spec, GraphCall *c, int table);

#endif
