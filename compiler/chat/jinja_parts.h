/* jinja_parts.h: tokens, syntax tree and values, shared by the files that implement jinja.h. */
#ifndef JINJA_PARTS_H
#define JINJA_PARTS_H

#include <stdint.h>

#include "jinja.h"
#include "text.h"

/* ---- values ---------------------------------------------------------------------------------- */

typedef enum JKind {
    J_UNDEFINED, J_NONE, J_BOOL, J_INT, J_FLOAT, J_TEXT, J_LIST, J_DICT, J_FUNCTION, J_METHOD,
    J_MACRO
} JKind;

typedef struct JList JList;
typedef struct JDict JDict;
typedef struct JNode JNode;
typedef struct JFrame JFrame;

typedef struct JValue {
    JKind kind;
    int64_t n;                      /* BOOL, INT; FUNCTION: its number */
    double x;                       /* FLOAT */
    const char *s;  size_t bytes;   /* TEXT; METHOD: its name; UNDEFINED: the missing name */
    JList *list;
    JDict *dict;
    const JNode *macro;
    JFrame *frame;                  /* in which the macro was defined */
    const struct JValue *self;      /* METHOD */
} JValue;

struct JList { JValue *at; int count, room; };
typedef struct JPair { JValue key, value; } JPair;
struct JDict { JPair *at; int count, room; };

/* ---- the tree -------------------------------------------------------------------------------- */

typedef enum JNodeKind {
    /* expressions */
    JN_LITERAL, JN_NAME, JN_LIST, JN_DICT, JN_ATTRIBUTE, JN_ITEM, JN_SLICE, JN_CALL, JN_FILTER,
    JN_TEST, JN_NOT, JN_NEGATE, JN_BINARY, JN_AND, JN_OR, JN_CHOICE,
    /* statements */
    JN_TEXT, JN_PRINT, JN_BLOCK, JN_IF, JN_FOR, JN_SET, JN_MACRO, JN_BREAK, JN_CONTINUE
} JNodeKind;

/* a, b, c, d by kind: ITEM a[b]; SLICE a[b:c:d]; CHOICE a if b else c; IF a: b, else c; FOR target
 * in a if b: c, else d; SET target = a, or the text of block c; MACRO c; BINARY, AND, OR: a and b;
 * ATTRIBUTE, CALL, FILTER, TEST, NOT, NEGATE, PRINT: a. part: arguments, elements or statements; in
 * a dictionary, keys and values in turn. key: the names of keyword arguments, NULL for others; for
 * a macro, its parameters; part then holds their defaults, NULL for none. */
struct JNode {
    JNodeKind kind;
    const char *name; /* of a name, attribute, filter, test, macro; the operator of BINARY */
    JValue value;                   /* LITERAL, TEXT */
    JNode *a, *b, *c, *d;
    JNode **part;  const char **key;  int parts, room;
    const char **target;  int targets;      /* FOR, SET; if `attribute`, SET target[0].target[1] */
    bool negated, attribute;
    int line;
};

struct JinjaTemplate { JNode *root; };

/* ---- tokens ---------------------------------------------------------------------------------- */

typedef enum JTokenKind {
    JT_TEXT, JT_PRINT, JT_BLOCK, JT_CLOSE,          /* text; {{; {%; }} or %} */
    JT_NAME, JT_STRING, JT_INT, JT_FLOAT, JT_SIGN, JT_END
} JTokenKind;
typedef struct JToken { JTokenKind kind; const char *s; size_t bytes; int line; } JToken;

/* The tokens of a template, ending with JT_END; NULL after an error, which *fault describes. */
const JToken *jinja_lex(Arena *a, const char *text, size_t bytes, const char **fault);

/* ---- running --------------------------------------------------------------------------------- */

struct JFrame { JFrame *above; JPair *at; int count, room; };

typedef struct JRun {
    Arena *arena;
    const JinjaChat *chat;
    Text out;
    JinjaResult *result;
    int line, steps, depth;
    enum { JR_GOES_ON, JR_BREAKS, JR_CONTINUES } jump;
} JRun;

/* The arguments of a call, positional and by keyword. */
typedef struct JArguments { JValue *at; const char **key; int count; } JArguments;

static inline JValue jinja_bool(bool b) { return (JValue){ .kind = J_BOOL, .n = b }; }
static inline JValue jinja_int(int64_t n) { return (JValue){ .kind = J_INT, .n = n }; }
static inline JValue jinja_none(void) { return (JValue){ .kind = J_NONE }; }
static inline bool jinja_is_number(const JValue *v)
{
    return v->kind == J_BOOL || v->kind == J_INT || v->kind == J_FLOAT;
}

/* Record a fault, unless there is one already. Returns J_UNDEFINED. */
JValue jinja_fail(JRun *r, const char *format, ...) __attribute__((format(printf, 2, 3)));
void   jinja_seek(JRun *r, const JValue *text);         /* record it in JinjaResult.sought */
void   jinja_bound(JRun *r, const JNode *n);    /* record an integer literal in JinjaResult.bound */
JValue jinja_text(JRun *r, const char *s, size_t bytes);
JValue jinja_list(JRun *r);
void   jinja_add(JRun *r, JList *l, JValue v);
void   jinja_put(JRun *r, JDict *d, JValue key, JValue value);
const JValue *jinja_find(const JDict *d, const char *key, size_t bytes);
bool   jinja_true(const JValue *v);
bool   jinja_equal(JRun *r, const JValue *a, const JValue *b);
int    jinja_order(JRun *r, const JValue *a, const JValue *b);      /* negative, 0 or positive */
bool   jinja_contains(JRun *r, const JValue *in, const JValue *v);
/* The offset of s[bytes] in a text, searched from byte `from` on; SIZE_MAX if absent. */
size_t jinja_position(const JValue *in, const char *s, size_t bytes, size_t from);
bool   jinja_is_ascii(JRun *r, const JValue *v);                    /* false after a fault */
void   jinja_write(JRun *r, Text *t, const JValue *v);              /* like Python's str(); undefined: "" */
/* The argument at a position or with a keyword; NULL if not given. */
const JValue *jinja_argument(const JArguments *a, int place, const char *name);
JValue jinja_attribute(JRun *r, const JValue *v, const char *name);
JValue jinja_item(JRun *r, const JValue *v, const JValue *at);
JValue jinja_slice(JRun *r, const JValue *v, const JValue *from, const JValue *to,
                   const JValue *step);
JValue jinja_call_method(JRun *r, const JValue *method, const JArguments *a);
JValue jinja_filter(JRun *r, const char *name, const JValue *v, const JArguments *a);
bool   jinja_test(JRun *r, const char *name, const JValue *v, const JArguments *a);

#endif
