/* jinja_run.c: run the statements and expressions of a template on a conversation. */
#include <string.h>

#include "jinja_parts.h"

enum { MOST_STEPS = 200000, DEEPEST = 200, MOST_BYTES = 1 << 20 };

static JValue evaluate(JRun *r, JFrame *f, const JNode *n);
static void run(JRun *r, JFrame *f, const JNode *n);

static bool failed(const JRun *r) { return r->result->fault != NULL; }

/* ---- names ----------------------------------------------------------------------------------- */

static JValue text_of(const char *s)
{
    return (JValue){ .kind = J_TEXT, .s = s, .bytes = strlen(s) };
}

static void define(JRun *r, JFrame *f, const char *name, JValue v)
{
    for (int i = 0; i < f->count; i++)
        if (strcmp(f->at[i].key.s, name) == 0) {
            f->at[i].value = v;
            return;
        }
    if (f->count == f->room) {
        const size_t old = (size_t)f->room, room = old ? 2 * old : 4;
        f->at = arena_grow(r->arena, f->at, old * sizeof *f->at, room * sizeof *f->at);
        f->room = (int)room;
    }
    f->at[f->count++] = (JPair){ text_of(name), v };
}

static JFrame *frame_new(JRun *r, JFrame *above)
{
    JFrame *f = arena_alloc(r->arena, sizeof *f);
    f->above = above;
    return f;
}

static const char *const functions[] = { "range", "namespace", "dict", "raise_exception",
                                         "strftime_now" };
enum {
    F_RANGE,
    F_NAMESPACE,
    F_DICT,
    F_RAISE,
    F_TODAY,
    FUNCTIONS = sizeof functions / sizeof *functions
};

static JValue look_up(const JFrame *f, const char *name)
{
    for (; f; f = f->above)
        for (int i = 0; i < f->count; i++)
            if (strcmp(f->at[i].key.s, name) == 0) return f->at[i].value;
    for (int i = 0; i < FUNCTIONS; i++)
        if (strcmp(functions[i], name) == 0) return (JValue){ .kind = J_FUNCTION, .n = i };
    return (JValue){ .kind = J_UNDEFINED, .s = name, .bytes = strlen(name) };
}

/* ---- calls ----------------------------------------------------------------------------------- */

static JArguments arguments(JRun *r, JFrame *f, const JNode *n)
{
    JArguments a = { arena_array(r->arena, (size_t)n->parts, sizeof *a.at), n->key, n->parts };
    for (int i = 0; i < n->parts && !failed(r); i++) a.at[i] = evaluate(r, f, n->part[i]);
    return a;
}

static JValue range(JRun *r, const JArguments *a)
{
    int64_t bound[3] = { 0, 0, 1 };
    JValue v = jinja_list(r);
    for (int i = 0; i < a->count; i++)
        if (a->at[i].kind != J_INT || i == 3)
            return jinja_fail(r, "range takes one to three whole numbers");
    if (!a->count) return jinja_fail(r, "range takes one to three whole numbers");
    if (a->count == 1) bound[1] = a->at[0].n;
    else for (int i = 0; i < a->count; i++) bound[i] = a->at[i].n;
    if (!bound[2]) return jinja_fail(r, "the step of range is 0");
    for (int64_t i = bound[0]; (bound[2] > 0 ? i < bound[1] : i > bound[1]) && !failed(r);
         i += bound[2]) {
        if (v.list->count == 10000)
            return jinja_fail(r, "a range of more than 10000 numbers is not supported");
        jinja_add(r, v.list, (JValue){ .kind = J_INT, .n = i });
        if (bound[2] > 0 ? i > INT64_MAX - bound[2] : i < INT64_MIN - bound[2]) break;
    }
    return v;
}

/* The dictionary that the function `name`, namespace or dict, makes from its arguments. */
static JValue dictionary(JRun *r, const char *name, const JArguments *a)
{
    JValue v = { .kind = J_DICT, .dict = arena_alloc(r->arena, sizeof *v.dict) };
    for (int i = 0; i < a->count; i++) {
        if (a->key[i]) jinja_put(r, v.dict, text_of(a->key[i]), a->at[i]);
        else if (a->at[i].kind == J_DICT)
            for (int k = 0; k < a->at[i].dict->count; k++)
                jinja_put(r, v.dict, a->at[i].dict->at[k].key, a->at[i].dict->at[k].value);
        else return jinja_fail(r, "%s is supported only with keyword arguments and dictionaries", name);
    }
    return v;
}

static JValue call_function(JRun *r, int64_t which, const JArguments *a)
{
    const JValue *first = jinja_argument(a, 0, which == F_TODAY ? "format" : "message");
    if (which == F_RANGE) return range(r, a);
    if (which == F_NAMESPACE || which == F_DICT) return dictionary(r, functions[which], a);
    if (!first || first->kind != J_TEXT) return jinja_fail(r, "%s takes a string", functions[which]);
    const char *text = arena_copy(r->arena, first->s, first->bytes);
    if (which == F_TODAY) {
        r->result->format = text;
        return text_of(r->chat->today);
    }
    if (!failed(r))
        r->result->fault = arena_copy(r->arena, text, strcspn(text, "\r\n")),
        r->result->raised = true;
    return (JValue){ .kind = J_UNDEFINED };
}

/* The output of a block, as a string. */
static JValue captured(JRun *r, JFrame *f, const JNode *block)
{
    const Text out = r->out;
    r->out = text_new(r->arena);
    run(r, f, block);
    const JValue v = { .kind = J_TEXT, .s = r->out.data, .bytes = r->out.size };
    r->out = out;
    return v;
}

static JValue call_macro(JRun *r, const JValue *macro, const JArguments *a)
{
    const JNode *n = macro->macro;
    JFrame *f = frame_new(r, macro->frame);
    for (int i = 0; i < a->count; i++) {
        bool known = !a->key[i] && i < n->parts;
        for (int k = 0; k < n->parts && a->key[i]; k++)
            known = known || strcmp(n->key[k], a->key[i]) == 0;
        if (!known) return jinja_fail(r, "the macro '%s' does not take these arguments", n->name);
    }
    for (int i = 0; i < n->parts && !failed(r); i++) {
        const JValue *given = jinja_argument(a, i, n->key[i]);
        define(r, f, n->key[i], given ? *given : n->part[i] ? evaluate(r, f, n->part[i]) :
               (JValue){ .kind = J_UNDEFINED, .s = n->key[i], .bytes = strlen(n->key[i]) });
    }
    if (++r->depth > DEEPEST) return jinja_fail(r, "macro calls are nested too deeply");
    const JValue v = captured(r, f, n->c);
    r->depth--;
    return v;
}

static JValue call(JRun *r, JFrame *f, const JNode *n)
{
    const JValue what = evaluate(r, f, n->a);
    const JArguments a = arguments(r, f, n);
    if (failed(r)) return what;
    if (what.kind == J_FUNCTION) return call_function(r, what.n, &a);
    if (what.kind == J_METHOD) return jinja_call_method(r, &what, &a);
    if (what.kind == J_MACRO) return call_macro(r, &what, &a);
    if (what.kind == J_UNDEFINED)
        return jinja_fail(r, "'%.*s' is undefined", (int)what.bytes, what.s ? what.s : "");
    return jinja_fail(r, "only functions can be called");
}

/* ---- expressions ----------------------------------------------------------------------------- */

static double number(const JValue *v) { return v->kind == J_FLOAT ? v->x : (double)v->n; }

static JValue negative(JRun *r, const JValue *v)
{
    int64_t n;
    if (v->kind == J_FLOAT) return (JValue){ .kind = J_FLOAT, .x = -v->x };
    if (v->kind != J_INT) return jinja_fail(r, "'-' needs a number");
    if (__builtin_sub_overflow(0, v->n, &n)) return jinja_fail(r, "the number is too large");
    return (JValue){ .kind = J_INT, .n = n };
}

static int64_t floored(int64_t a, int64_t b, bool rest)
{
    const int64_t q = a / b, m = a % b;
    const bool below = m && (m < 0) != (b < 0);
    return rest ? m + (below ? b : 0) : q - below;
}

static JValue compute(JRun *r, char sign, bool twice, const JValue *a, const JValue *b)
{
    if (a->kind == J_FLOAT || b->kind == J_FLOAT || (sign == '/' && !twice)) {
        const double x = number(a), y = number(b);
        if (sign == '/' && y == 0) return jinja_fail(r, "division by zero");
        if (!twice && strchr("+-*/", sign))
            return (JValue){ .kind = J_FLOAT,
                             .x = sign == '+'   ? x + y
                                  : sign == '-' ? x - y
                                  : sign == '*' ? x * y
                                                : x / y };
        const char both[2] = { sign, sign };
        return jinja_fail(r, "'%.*s' on floats is not supported", twice ? 2 : 1, both);
    }
    int64_t v = 0;
    if (strchr("/%", sign) && !b->n) return jinja_fail(r, "division by zero");
    if (b->n == -1 && sign == '%') return (JValue){ .kind = J_INT, .n = 0 };
    if (b->n == -1 && sign == '/') return negative(r, a);
    const bool over = sign == '+' ? __builtin_add_overflow(a->n, b->n, &v)
                      : sign == '-'
                          ? __builtin_sub_overflow(a->n, b->n, &v)
                          : sign == '*' && !twice && __builtin_mul_overflow(a->n, b->n, &v);
    if (sign == '*' && twice) return jinja_fail(r, "'**' is not supported");
    if (over) return jinja_fail(r, "the number is too large");
    if (strchr("/%", sign)) v = floored(a->n, b->n, sign == '%');
    return (JValue){ .kind = J_INT, .n = v };
}

static JValue repeated(JRun *r, const JValue *text, int64_t times)
{
    Text t = text_new(r->arena);
    for (int64_t i = 0; i < times && t.size < MOST_BYTES; i++)
        text_add_bytes(&t, text->s, text->bytes);
    if (t.size >= MOST_BYTES) return jinja_fail(r, "a string is longer than 1 MB");
    return jinja_text(r, t.data, t.size);
}

static JValue sum(JRun *r, const JValue *a, const JValue *b)
{
    if (a->kind == J_TEXT && b->kind == J_TEXT) {
        Text t = text_new(r->arena);
        if (a->bytes + b->bytes > MOST_BYTES) return jinja_fail(r, "a string is longer than 1 MB");
        text_add_bytes(&t, a->s, a->bytes);
        text_add_bytes(&t, b->s, b->bytes);
        return jinja_text(r, t.data, t.size);
    }
    if (a->kind == J_LIST && b->kind == J_LIST) {
        const JValue v = jinja_list(r);
        for (int i = 0; i < a->list->count && !failed(r); i++) jinja_add(r, v.list, a->list->at[i]);
        for (int i = 0; i < b->list->count && !failed(r); i++) jinja_add(r, v.list, b->list->at[i]);
        return v;
    }
    return jinja_fail(r, "'+' is not supported for these types");
}

static JValue binary(JRun *r, const char *s, const JValue *a, const JValue *b)
{
    const char sign = *s;
    if (!strcmp(s, "==") || !strcmp(s, "!=")) jinja_seek(r, b);
    if (!strcmp(s, "==") || !strcmp(s, "!="))
        return (JValue){ .kind = J_BOOL, .n = jinja_equal(r, a, b) == (*s == '=') };
    if (!strcmp(s, "in") || !strcmp(s, "not in"))
        return (JValue){ .kind = J_BOOL, .n = jinja_contains(r, b, a) == (*s == 'i') };
    if (sign == '<' || sign == '>') {
        jinja_seek(r, a);
        jinja_seek(r, b);
        const int order = jinja_order(r, a, b);
        return (JValue){ .kind = J_BOOL,
                         .n = sign == '<' ? order < 0 || (s[1] && !order)
                                          : order > 0 || (s[1] && !order) };
    }
    if (sign == '~') {
        Text t = text_new(r->arena);
        jinja_write(r, &t, a);
        jinja_write(r, &t, b);
        if (t.size > MOST_BYTES) return jinja_fail(r, "a string is longer than 1 MB");
        return jinja_text(r, t.data, t.size);
    }
    for (int i = 0; i < 2; i++) {
        const JValue *v = i ? b : a;
        if (v->kind == J_UNDEFINED)
            return jinja_fail(r, "'%.*s' is undefined", (int)v->bytes, v->s ? v->s : "");
    }
    if (sign == '*' && a->kind == J_TEXT && b->kind == J_INT) return repeated(r, a, b->n);
    if (jinja_is_number(a) && jinja_is_number(b)) return compute(r, sign, s[1] != 0, a, b);
    if (sign == '+') return sum(r, a, b);
    return jinja_fail(r, "'%s' is not supported for these types", s);
}

static JValue dictionary_of(JRun *r, JFrame *f, const JNode *n)
{
    JValue v = { .kind = J_DICT, .dict = arena_alloc(r->arena, sizeof *v.dict) };
    for (int i = 0; i + 1 < n->parts && !failed(r); i += 2)
        jinja_put(r, v.dict, evaluate(r, f, n->part[i]), evaluate(r, f, n->part[i + 1]));
    return v;
}

static JValue list_of(JRun *r, JFrame *f, const JNode *n)
{
    const JValue v = jinja_list(r);
    for (int i = 0; i < n->parts && !failed(r); i++)
        jinja_add(r, v.list, evaluate(r, f, n->part[i]));
    return v;
}

static JValue slice(JRun *r, JFrame *f, const JNode *n)
{
    const JValue v = evaluate(r, f, n->a), none = { .kind = J_NONE };
    const JValue from = n->b ? evaluate(r, f, n->b) : none, to = n->c ? evaluate(r, f, n->c) : none;
    const JValue step = n->d ? evaluate(r, f, n->d) : none;
    jinja_bound(r, n->b);
    jinja_bound(r, n->c);
    return failed(r) ? none : jinja_slice(r, &v, &from, &to, &step);
}

static JValue apply(JRun *r, JFrame *f, const JNode *n)
{
    const JValue v = evaluate(r, f, n->a);
    const JArguments a = arguments(r, f, n);
    if (failed(r)) return v;
    if (n->kind == JN_FILTER) return jinja_filter(r, n->name, &v, &a);
    return (JValue){ .kind = J_BOOL, .n = jinja_test(r, n->name, &v, &a) != n->negated };
}

static JValue evaluate_node(JRun *r, JFrame *f, const JNode *n)
{
    JValue a, b;
    switch (n->kind) {
    case JN_LITERAL: return n->value;
    case JN_NAME:    return look_up(f, n->name);
    case JN_LIST:    return list_of(r, f, n);
    case JN_DICT:    return dictionary_of(r, f, n);
    case JN_SLICE:   return slice(r, f, n);
    case JN_CALL:    return call(r, f, n);
    case JN_FILTER:
    case JN_TEST:    return apply(r, f, n);
    case JN_ATTRIBUTE:
        a = evaluate(r, f, n->a);
        return failed(r) ? a : jinja_attribute(r, &a, n->name);
    case JN_ITEM:
        a = evaluate(r, f, n->a);
        b = evaluate(r, f, n->b);
        return failed(r) ? a : jinja_item(r, &a, &b);
    case JN_NOT:
        a = evaluate(r, f, n->a);
        return (JValue){ .kind = J_BOOL, .n = !jinja_true(&a) };
    case JN_NEGATE:
        a = evaluate(r, f, n->a);
        return negative(r, &a);
    case JN_AND:
    case JN_OR:
        a = evaluate(r, f, n->a);
        return jinja_true(&a) == (n->kind == JN_OR) ? a : evaluate(r, f, n->b);
    case JN_CHOICE:
        b = evaluate(r, f, n->b);
        if (jinja_true(&b)) return evaluate(r, f, n->a);
        return n->c ? evaluate(r, f, n->c) : (JValue){ .kind = J_UNDEFINED, .s = "", .bytes = 0 };
    case JN_BINARY:
        a = evaluate(r, f, n->a);
        b = evaluate(r, f, n->b);
        if (strchr("<>=!", *n->name)) {
            jinja_bound(r, n->a);
            jinja_bound(r, n->b);
        }
        return failed(r) ? a : binary(r, n->name, &a, &b);
    default: return jinja_fail(r, "expected an expression, found a statement");
    }
}

static JValue evaluate(JRun *r, JFrame *f, const JNode *n)
{
    if (failed(r)) return (JValue){ .kind = J_UNDEFINED };
    r->line = n->line;
    if (++r->steps > MOST_STEPS) return jinja_fail(r, "the template did not finish within %d steps", MOST_STEPS);
    return evaluate_node(r, f, n);
}

/* ---- statements ------------------------------------------------------------------------------ */


/* The variable `loop` in iteration i. */
static JValue loop_of(JRun *r, const JList *items, int i)
{
    const int n = items->count;
    JValue v = { .kind = J_DICT, .dict = arena_alloc(r->arena, sizeof *v.dict) };
    const struct { const char *name; JValue value;
    } all[] = {
        { "index", jinja_int(i + 1) },    { "index0", jinja_int(i) },
        { "revindex", jinja_int(n - i) }, { "revindex0", jinja_int(n - i - 1) },
        { "first", jinja_bool(!i) },         { "last", jinja_bool(i == n - 1) },
        { "length", jinja_int(n) },       { "depth", jinja_int(1) },
        { "depth0", jinja_int(0) },
    };
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        jinja_put(r, v.dict, text_of(all[k].name), all[k].value);
    if (i) jinja_put(r, v.dict, text_of("previtem"), items->at[i - 1]);
    if (i + 1 < n) jinja_put(r, v.dict, text_of("nextitem"), items->at[i + 1]);
    return v;
}

static void bind(JRun *r, JFrame *f, const char *const *names, int n, const JValue *v)
{
    if (n == 1) define(r, f, names[0], *v);
    else if (v->kind != J_LIST || v->list->count != n)
        jinja_fail(r, "expected a list of %d values, one for each name", n);
    else for (int i = 0; i < n; i++) define(r, f, names[i], v->list->at[i]);
}

/* The list of items of a loop, without those that its "if" excludes. */
static JValue items_of(JRun *r, JFrame *f, const JNode *n)
{
    const JValue v = evaluate(r, f, n->a);
    const JValue all = jinja_list(r);
    if (failed(r) || v.kind == J_UNDEFINED) return all;
    if (v.kind == J_TEXT) {
        for (size_t i = 0, k; i < v.bytes && !failed(r); i += k) {
            int32_t c;
            k = (size_t)utf8_next(v.s + i, v.bytes - i, &c);
            if (!k) k = 1;
            jinja_add(r, all.list, jinja_text(r, v.s + i, k));
        }
    } else if (v.kind == J_DICT)
        for (int i = 0; i < v.dict->count; i++) jinja_add(r, all.list, v.dict->at[i].key);
    else if (v.kind == J_LIST)
        for (int i = 0; i < v.list->count && !failed(r); i++) jinja_add(r, all.list, v.list->at[i]);
    else jinja_fail(r, "a loop needs a list, a dictionary or a string");
    if (!n->b) return all;
    const JValue kept = jinja_list(r);
    for (int i = 0; i < all.list->count && !failed(r); i++) {
        JFrame *one = frame_new(r, f);
        bind(r, one, n->target, n->targets, &all.list->at[i]);
        const JValue good = evaluate(r, one, n->b);
        if (jinja_true(&good)) jinja_add(r, kept.list, all.list->at[i]);
    }
    return kept;
}

static void loop(JRun *r, JFrame *f, const JNode *n)
{
    const JList *items = items_of(r, f, n).list;
    for (int i = 0; i < items->count && !failed(r) && r->jump != JR_BREAKS; i++) {
        JFrame *one = frame_new(r, f);
        r->jump = JR_GOES_ON;
        bind(r, one, n->target, n->targets, &items->at[i]);
        define(r, one, "loop", loop_of(r, items, i));
        run(r, one, n->c);
    }
    r->jump = JR_GOES_ON;
    if (!items->count && n->d) run(r, frame_new(r, f), n->d);
}

static void assign(JRun *r, JFrame *f, const JNode *n)
{
    const JValue v = n->a ? evaluate(r, f, n->a) : captured(r, f, n->c);
    if (failed(r)) return;
    if (!n->attribute) {
        bind(r, f, n->target, n->targets, &v);
        return;
    }
    const JValue space = look_up(f, n->target[0]);
    if (space.kind != J_DICT) jinja_fail(r, "'%s' is not a namespace", n->target[0]);
    else jinja_put(r, space.dict, text_of(n->target[1]), v);
}

static void run_block(JRun *r, JFrame *f, const JNode *n)
{
    for (int i = 0; i < n->parts && !failed(r) && r->jump == JR_GOES_ON; i++) run(r, f, n->part[i]);
}

static void run(JRun *r, JFrame *f, const JNode *n)
{
    JValue v;
    if (failed(r)) return;
    r->line = n->line;
    if (++r->steps > MOST_STEPS) jinja_fail(r, "the template did not finish within %d steps", MOST_STEPS);
    switch (n->kind) {
    case JN_TEXT:     text_add_bytes(&r->out, n->value.s, n->value.bytes); break;
    case JN_PRINT:
        v = evaluate(r, f, n->a);
        if (!failed(r)) jinja_write(r, &r->out, &v);
        break;
    case JN_BLOCK:    run_block(r, f, n); break;
    case JN_IF:
        v = evaluate(r, f, n->a);
        if (jinja_true(&v)) run(r, f, n->b);
        else if (n->c) run(r, f, n->c);
        break;
    case JN_FOR:      loop(r, f, n); break;
    case JN_SET:      assign(r, f, n); break;
    case JN_MACRO:
        define(r, f, n->name, (JValue){ .kind = J_MACRO, .macro = n, .frame = f });
        break;
    case JN_BREAK:    r->jump = JR_BREAKS; break;
    case JN_CONTINUE: r->jump = JR_CONTINUES; break;
    default:          jinja_fail(r, "expected a statement, found an expression");
    }
    if (r->out.size > MOST_BYTES) jinja_fail(r, "the template writes more than 1 MB");
}

static JValue messages(JRun *r)
{
    const JValue all = jinja_list(r);
    for (int i = 0; i < r->chat->count; i++) {
        JValue one = { .kind = J_DICT, .dict = arena_alloc(r->arena, sizeof *one.dict) };
        jinja_put(r, one.dict, text_of("role"), text_of(r->chat->messages[i].role));
        jinja_put(r, one.dict, text_of("content"), text_of(r->chat->messages[i].content));
        jinja_add(r, all.list, one);
    }
    return all;
}

JinjaResult jinja_render(Arena *a, const JinjaTemplate *t, const JinjaChat *chat)
{
    JinjaResult result = { 0 };
    Arena *own = arena_new();
    JRun r = { .arena = own, .chat = chat, .out = text_new(own), .result = &result };
    JFrame *global = frame_new(&r, NULL), *f = frame_new(&r, global);
    define(&r, global, "messages", messages(&r));
    define(&r, global, "tools", (JValue){ .kind = J_NONE });
    define(&r, global, "documents", (JValue){ .kind = J_NONE });
    define(&r, global, "add_generation_prompt", jinja_bool(chat->answers));
    for (int i = 0; i < chat->name_count; i++)
        define(&r, global, chat->names[i].name, text_of(chat->names[i].text));
    run(&r, f, t->root);
    if (!result.fault) result.text = arena_copy(a, r.out.data, r.out.size);
    else result.fault = arena_text(a, result.fault);
    for (int i = 0; i < result.sought_count; i++)
        result.sought[i] = arena_text(a, result.sought[i]);
    if (result.format) result.format = arena_text(a, result.format);
    arena_free(own);
    return result;
}
