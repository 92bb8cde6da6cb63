/* custom_code.c: the C of xf.ops, compiled by libtcc for the generic engine; see custom_code.h. */
#include "custom_code.h"

#include <stdlib.h>
#include <string.h>

#include "c_depth.h"
#include "tcc.h"
#include "custom.h"
#include "emit.h"

typedef struct Compiled { const PlanOp *op; CustomFunction *function; } Compiled;
struct CustomCode { CMemory *code; Compiled *list; int count; };

static void collect(CustomCode *c, Arena *a, const Plan *p)
{
    int room = 0;
    for (int i = 0; i < p->block_count; i++) room += p->blocks[i]->op_count;
    c->list = arena_array(a, (size_t)room + 1, sizeof *c->list);
    for (int i = 0; i < p->block_count; i++)
        for (int j = 0; j < p->blocks[i]->op_count; j++)
            if (p->blocks[i]->ops[j].kernel == KERNEL_CUSTOM) c->list[c->count++].op = &p->blocks[i]->ops[j];
}

/* Add the operation's C as body_N, and xf_op_N, which takes the inputs as an array and calls
 * body_N. */
static void add_function(Text *out, Arena *a, const PlanOp *op, int number)
{
    const CustomOp *c = op->node->custom;
    text_printf(out, "static void body_%d(", number);
    custom_parameters(out, c);
    text_printf(out, ")\n{\n%s}\nvoid xf_op_%d(float *y, const float *const *in, int begin, int end)\n{\n    const rt_span rows = { begin, end };\n"
                "    body_%d(y", custom_body(a, op, true, true), number, number);
    for (int i = 0; i < c->input_count; i++) text_printf(out, ", in[%d]", i);
    text_add(out, ", rows);\n}\n");
}

typedef struct Told { Diag *diag; Arena *arena; const CustomCode *code; bool any; } Told;

/* The location of the first word of line `line` of the user's file; that of the last line of the C
 * if `line` is beyond it. */
static Loc place_of(const CustomOp *op, int line)
{
    Loc at = op->text;
    const char *s = op->c;
    for (const char *end; at.line < line && (end = strchr(s, '\n')) && end[1 + strspn(end + 1, " \t\r\n")]; s = end + 1)
        at = (Loc){ at.file, at.line + 1, 1 };
    at.column += (int)strspn(s, " \t");
    return at;
}

/* A message of libtcc without its prefixes. */
static const char *message_words(const char *s)
{
    static const char *const heads[] = { "tcc: ", "error: ", "warning: " };
    for (int i = 0; i < 3; i++)
        if (strncmp(s, heads[i], strlen(heads[i])) == 0) s += strlen(heads[i]);
    return s;
}

/* The first operation whose C contains a word, or NULL. */
static const CustomOp *op_with(const CustomCode *c, const char *word)
{
    for (int i = 0; i < c->count; i++)
        if (strstr(c->list[i].op->node->custom->c, word)) return c->list[i].op->node->custom;
    return NULL;
}

/* True if there are operations besides `op`. */
static bool has_others(const CustomCode *c, const CustomOp *op)
{
    for (int i = 0; i < c->count; i++)
        if (c->list[i].op->node->custom != op) return true;
    return false;
}

/* The first operation whose C contains the name that a message quotes, as in "undefined symbol
 * 'expf'"; NULL if there is none. */
static const CustomOp *op_quoted(const Told *t, const char *message)
{
    const char *from = strchr(message, '\''), *to = from ? strchr(from + 1, '\'') : NULL;
    return to && to > from + 1 ? op_with(t->code, arena_format(t->arena, "%.*s", (int)(to - from - 1), from + 1)) : NULL;
}

/* Report a message such as "op:scale:7: error: ';' expected", perhaps after "In file included
 * from". It refers to line 7 of the file that contains the C of scale. A message of the linker
 * names no file. */
static void tell(void *user, const char *message)
{
    Told *t = user;
    const CustomOp *op = NULL;
    const char *words = message, *others = "";
    int line = 0;
    for (const char *found = message; (found = strstr(found, "op:")); found++)
        for (int i = 0; i < t->code->count; i++) {
            const CustomOp *c = t->code->list[i].op->node->custom;
            const size_t n = strlen(c->name);
            if (strncmp(found + 3, c->name, n) != 0 || found[3 + n] != ':') continue;
            char *end;
            op = c;
            line = (int)strtol(found + 4 + n, &end, 10);
            words = end + strspn(end, ": ");
        }
    words = message_words(words);
    if (!op) {
        op = op_quoted(t, words);
        if (!op) op = t->code->list[0].op->node->custom, others = has_others(t->code, op) ? " or of another operation" : "";
        line = op->text.line;
    }
    diag_error(t->diag, EXIT_BAD_DATA, place_of(op, line), "the C code of %s%s: %s", op->name, others, words);
    if (strstr(words, "implicit declaration") && !t->any)
        diag_note(t->diag, (Loc){ 0 }, "the C code of an operation may call rt_plain_exp, rt_plain_log, rt_plain_sqrt, rt_plain_rsqrt, "
                  "rt_plain_tanh, rt_plain_sigmoid and rt_plain_gelu");
    t->any = true;
}

/* False, after a reported error, if the C exceeds a limit of c_depth.h. */
static bool is_shallow(Diag *d, const CustomOp *op)
{
    const char *what;
    const int line = c_too_deep(op->c, &what);
    if (line) diag_error(d, EXIT_BAD_DATA, place_of(op, op->text.line + line - 1), "the C code of %s has %s", op->name, what);
    return !line;
}

/* Try `text`, the C of all operations, in a child process if any of them uses macros or static
 * data, whose size is known only after compilation. False after a reported error; which operation
 * fails is not known. */
static bool is_survived(Diag *d, const CustomCode *c, const char *text)
{
    const CustomOp *macros = op_with(c, "define"), *data = op_with(c, "static");
    const CustomOp *op = macros ? macros : data;
    if (!op || c_memory_try(text, NULL, 0)) return true;
    diag_error(d, EXIT_BAD_DATA, place_of(op, op->text.line), C_TRIAL_WORDS " of %s%s", op->name,
               has_others(c, op) ? " or of another operation" : "");
    return false;
}

CustomCode *custom_compile(Arena *a, Diag *d, const Plan *p)
{
    CustomCode *c = arena_alloc(a, sizeof *c);
    collect(c, a, p);
    if (!c->count) return c;            /* no need for libtcc */
    for (int i = 0; i < c->count; i++)
        if (!is_shallow(d, c->list[i].op->node->custom)) return NULL;
    Text text = text_new(a);
    emit_without_headers(a, &text);
    for (int i = 0; i < c->count; i++) add_function(&text, a, c->list[i].op, i);
    if (!is_survived(d, c, text.data)) return NULL;
    Told told = { d, a, c, false };
    c->code = c_memory_compile(text.data, NULL, 0, &told, tell);
    for (int i = 0; c->code && i < c->count; i++) {
        void *address = c_memory_symbol(c->code, arena_format(a, "xf_op_%d", i));
        if (!address) die("libtcc lost a function");
        /* POSIX: a void pointer can hold a function pointer. */
        memcpy(&c->list[i].function, &address, sizeof address);
    }
    if (!c->code && !told.any) die("libtcc failed without a message");
    return c->code ? c : NULL;
}

CustomFunction *custom_of(const CustomCode *c, const PlanOp *op)
{
    for (int i = 0; i < c->count; i++)
        if (c->list[i].op == op) return c->list[i].function;
    die("an operation was not compiled");
}

void custom_free(CustomCode *c)
{
    if (c->code) c_memory_free(c->code);
}

bool custom_check(Arena *a, Diag *d, const Graph *g)
{
    CustomCode *c = custom_compile(a, d, plan_make(a, g, (PlanOptions){ .target = TARGET_ROW_MAJOR, .slots = 1, .max_threads = 1 }));
    if (c) custom_free(c);
    return c != NULL;
}
