/* jinja_parse.c: parse a template into a tree, by the grammar of Jinja 3. */
#include <stdlib.h>
#include <string.h>

#include "jinja_parts.h"

typedef struct Parser {
    Arena *arena;
    const JToken *at;
    const char *fault;
    int depth;
} Parser;

enum { DEEPEST = 100 };

static void fail(Parser *p, const char *what)
{
    if (!p->fault) p->fault = arena_format(p->arena, "line %d: %s", p->at->line, what);
}

static JNode *node(Parser *p, JNodeKind kind)
{
    JNode *n = arena_alloc(p->arena, sizeof *n);
    n->kind = kind;
    n->line = p->at->line;
    return n;
}

static void add(Parser *p, JNode *to, JNode *part, const char *key)
{
    if (to->parts == to->room) {
        const size_t old = (size_t)to->room, room = old ? 2 * old : 4;
        to->part = arena_grow(p->arena, to->part, old * sizeof *to->part, room * sizeof *to->part);
        to->key = arena_grow(p->arena, to->key, old * sizeof *to->key, room * sizeof *to->key);
        to->room = (int)room;
    }
    to->key[to->parts] = key;
    to->part[to->parts++] = part;
}

static bool is(const Parser *p, JTokenKind kind, const char *s)
{
    return p->at->kind == kind && strlen(s) == p->at->bytes &&
           memcmp(p->at->s, s, p->at->bytes) == 0;
}

static bool take(Parser *p, JTokenKind kind, const char *s)
{
    const bool found = is(p, kind, s);
    if (found) p->at++;
    return found;
}

static bool sign(Parser *p, const char *s) { return take(p, JT_SIGN, s); }
static bool word(Parser *p, const char *s) { return take(p, JT_NAME, s); }

static void expect(Parser *p, const char *s)
{
    if (!sign(p, s)) fail(p, arena_format(p->arena, "expected '%s'", s));
}

static void expect_close(Parser *p)
{
    if (p->at->kind != JT_CLOSE)
        fail(p, arena_format(p->arena, "expected the end of the tag, found '%.*s'",
                             p->at->bytes < 40 ? (int)p->at->bytes : 40, p->at->s));
    else p->at++;
}

static const char *name(Parser *p)
{
    if (p->at->kind != JT_NAME) {
        fail(p, "expected a name");
        return "";
    }
    const char *s = arena_copy(p->arena, p->at->s, p->at->bytes);
    p->at++;
    return s;
}

/* ---- expressions ----------------------------------------------------------------------------- */

static JNode *expression(Parser *p);
static JNode *unary(Parser *p, bool filters);

static JNode *binary(Parser *p, JNodeKind kind, const char *s, JNode *a, JNode *b)
{
    JNode *n = node(p, kind);
    n->name = s;
    n->a = a;
    n->b = b;
    return n;
}

static JNode *constant(Parser *p, JValue v)
{
    JNode *n = node(p, JN_LITERAL);
    n->value = v;
    return n;
}

/* Elements up to the closing bracket. */
static JNode *elements(Parser *p, JNode *list, const char *close)
{
    while (!p->fault && !sign(p, close)) {
        if (list->parts) expect(p, ",");
        if (list->parts && sign(p, close)) break;
        add(p, list, expression(p), NULL);
    }
    return list;
}

/* After '(': an expression, or a tuple, which becomes a list. */
static JNode *in_brackets(Parser *p)
{
    JNode *list = node(p, JN_LIST);
    if (sign(p, ")")) return list;
    JNode *first = expression(p);
    if (sign(p, ")")) return first;
    add(p, list, first, NULL);
    return elements(p, list, ")");
}

static JNode *dictionary(Parser *p)
{
    JNode *n = node(p, JN_DICT);
    while (!p->fault && !sign(p, "}")) {
        if (n->parts) expect(p, ",");
        if (n->parts && sign(p, "}")) break;
        add(p, n, expression(p), NULL);
        expect(p, ":");
        add(p, n, expression(p), NULL);
    }
    return n;
}

static JNode *strings(Parser *p)
{
    Text t = text_new(p->arena);
    for (; p->at->kind == JT_STRING; p->at++) text_add_bytes(&t, p->at->s, p->at->bytes);
    return constant(p, (JValue){ .kind = J_TEXT, .s = t.data, .bytes = t.size });
}

static JNode *primary(Parser *p)
{
    static const struct { const char *name; JValue value;
    } known[] = {
        { "true", { .kind = J_BOOL, .n = 1 } }, { "false", { .kind = J_BOOL } },
        { "none", { .kind = J_NONE } },         { "True", { .kind = J_BOOL, .n = 1 } },
        { "False", { .kind = J_BOOL } },        { "None", { .kind = J_NONE } },
    };
    if (p->at->kind == JT_STRING) return strings(p);
    if (p->at->kind == JT_INT || p->at->kind == JT_FLOAT) {
        const bool whole = p->at->kind == JT_INT;
        const char *s = arena_copy(p->arena, p->at->s, p->at->bytes);
        p->at++;
        if (whole) return constant(p, (JValue){ .kind = J_INT, .n = strtoll(s, NULL, 10) });
        return constant(p, (JValue){ .kind = J_FLOAT, .x = strtod(s, NULL) });
    }
    if (sign(p, "(")) return in_brackets(p);
    if (sign(p, "[")) return elements(p, node(p, JN_LIST), "]");
    if (sign(p, "{")) return dictionary(p);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (word(p, known[i].name)) return constant(p, known[i].value);
    JNode *n = node(p, JN_NAME);
    if (p->at->kind != JT_NAME) fail(p, "expected an expression");
    n->name = name(p);
    return n;
}

/* After '(': add the arguments to the node. */
static void arguments(Parser *p, JNode *call)
{
    const int before = call->parts;
    while (!p->fault && !sign(p, ")")) {
        if (call->parts > before) expect(p, ",");
        if (call->parts > before && sign(p, ")")) break;
        const bool named = p->at->kind == JT_NAME && p->at[1].kind == JT_SIGN &&
                           p->at[1].bytes == 1 && *p->at[1].s == '=';
        const char *key = named ? name(p) : NULL;
        if (named) p->at++;
        else if (is(p, JT_SIGN, "*") || is(p, JT_SIGN, "**"))
            fail(p, "arguments with * or ** are not supported");
        add(p, call, expression(p), key);
    }
}

static JNode *subscript(Parser *p, JNode *of)
{
    JNode *n = node(p, JN_ITEM), *part[3] = { NULL, NULL, NULL };
    int colons = 0;
    n->a = of;
    while (!p->fault && !sign(p, "]")) {
        if (sign(p, ":")) {
            if (++colons > 2) fail(p, "expected ']'");
        } else if (part[colons]) fail(p, "expected ']'");
        else part[colons] = expression(p);
    }
    if (colons) n->kind = JN_SLICE;
    else if (!part[0]) fail(p, "expected an index");
    n->b = part[0], n->c = part[1], n->d = part[2];
    return n;
}

static JNode *postfix(Parser *p, JNode *n)
{
    while (!p->fault) {
        if (sign(p, ".")) {
            JNode *of = n;
            const bool number = p->at->kind == JT_INT;
            n = number ? node(p, JN_ITEM) : node(p, JN_ATTRIBUTE);
            n->a = of;
            if (number) n->b = primary(p);
            else n->name = name(p);
        } else if (sign(p, "[")) n = subscript(p, n);
        else if (sign(p, "(")) {
            JNode *call = node(p, JN_CALL);
            call->a = n;
            arguments(p, call);
            n = call;
        } else break;
    }
    return n;
}

/* A test, after 'is'. */
static JNode *test(Parser *p, JNode *of)
{
    static const char *const behind[] = { "else", "or", "and", "is", "if", "in", "not" };
    JNode *n = node(p, JN_TEST);
    n->a = of;
    n->negated = word(p, "not");
    n->name = name(p);
    if (sign(p, "(")) {
        arguments(p, n);
        return n;
    }
    bool more = p->at->kind == JT_STRING || p->at->kind == JT_INT || p->at->kind == JT_FLOAT ||
                p->at->kind == JT_NAME || is(p, JT_SIGN, "[") || is(p, JT_SIGN, "{");
    for (size_t i = 0; i < sizeof behind / sizeof *behind; i++)
        more = more && !is(p, JT_NAME, behind[i]);
    if (more) add(p, n, postfix(p, primary(p)), NULL);
    return n;
}

static JNode *filters(Parser *p, JNode *n)
{
    while (!p->fault) {
        if (sign(p, "|")) {
            JNode *filter = node(p, JN_FILTER);
            filter->a = n;
            filter->name = name(p);
            if (sign(p, "(")) arguments(p, filter);
            n = filter;
        } else if (word(p, "is")) n = test(p, n);
        else if (sign(p, "(")) {
            JNode *call = node(p, JN_CALL);
            call->a = n;
            arguments(p, call);
            n = call;
        } else break;
    }
    return n;
}

static JNode *unary(Parser *p, bool with_filters)
{
    JNode *n;
    if (++p->depth > DEEPEST) fail(p, "expressions are nested too deeply");
    if (p->fault) n = constant(p, (JValue){ .kind = J_NONE });
    else if (sign(p, "-")) {
        n = node(p, JN_NEGATE);
        n->a = unary(p, false);
    } else if (sign(p, "+")) n = unary(p, false);
    else n = primary(p);
    n = postfix(p, n);
    if (with_filters) n = filters(p, n);
    p->depth--;
    return n;
}

static JNode *signs(Parser *p, int level)
{
    static const char *const of[][5] = { { "+", "-" }, { "~" }, { "*", "//", "/", "%" }, { "**" } };
    enum { LEVELS = sizeof of / sizeof *of };
    if (level == LEVELS) return unary(p, true);
    JNode *n = signs(p, level + 1);
    for (int i = 0; !p->fault && of[level][i];) {
        if (sign(p, of[level][i])) {
            n = binary(p, JN_BINARY, of[level][i], n, signs(p, level + 1));
            i = 0;
        } else i++;
    }
    return n;
}

static const char *comparison(Parser *p)
{
    static const char *const all[] = { "==", "!=", "<=", ">=", "<", ">" };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (sign(p, all[i])) return all[i];
    if (word(p, "in")) return "in";
    if (is(p, JT_NAME, "not") && p->at[1].kind == JT_NAME && p->at[1].bytes == 2 &&
        memcmp(p->at[1].s, "in", 2) == 0) {
        p->at += 2;
        return "not in";
    }
    return NULL;
}

static JNode *compare(Parser *p)
{
    JNode *left = signs(p, 0), *all = NULL;
    for (const char *s; !p->fault && (s = comparison(p));) {
        JNode *right = signs(p, 0), *one = binary(p, JN_BINARY, s, left, right);
        all = all ? binary(p, JN_AND, NULL, all, one) : one;
        left = right;
    }
    return all ? all : left;
}

static JNode *negation(Parser *p)
{
    int times = 0;
    while (word(p, "not")) times++;
    JNode *n = compare(p);
    for (int i = 0; i < (times ? 2 - times % 2 : 0); i++) n = binary(p, JN_NOT, NULL, n, NULL);
    return n;
}

static JNode *both(Parser *p)
{
    JNode *n = negation(p);
    while (!p->fault && word(p, "and")) n = binary(p, JN_AND, NULL, n, negation(p));
    return n;
}

static JNode *either(Parser *p)
{
    JNode *n = both(p);
    while (!p->fault && word(p, "or")) n = binary(p, JN_OR, NULL, n, both(p));
    return n;
}

static JNode *expression(Parser *p)
{
    if (++p->depth > DEEPEST) fail(p, "expressions are nested too deeply");
    JNode *n = p->fault ? constant(p, (JValue){ .kind = J_NONE }) : either(p);
    while (!p->fault && word(p, "if")) {
        n = binary(p, JN_CHOICE, NULL, n, either(p));
        n->c = word(p, "else") ? expression(p) : NULL;
    }
    p->depth--;
    return n;
}

/* ---- statements ------------------------------------------------------------------------------ */

static JNode *block(Parser *p);

/* True if a tag with this first word comes next; it is not consumed. */
static bool tag(const Parser *p, const char *s)
{
    return p->at->kind == JT_BLOCK && p->at[1].kind == JT_NAME && p->at[1].bytes == strlen(s) &&
           memcmp(p->at[1].s, s, p->at[1].bytes) == 0;
}

static bool take_tag(Parser *p, const char *s)
{
    const bool found = tag(p, s);
    if (found) p->at += 2;
    return found;
}

static void end(Parser *p, const char *s)
{
    if (!take_tag(p, s)) fail(p, arena_format(p->arena, "expected {%% %s %%}", s));
    if (!p->fault && p->at->kind == JT_NAME) p->at++;           /* endmacro may repeat the name */
    expect_close(p);
}

/* An if statement, after 'if' or 'elif'. */
static JNode *choice(Parser *p)
{
    JNode *n = node(p, JN_IF);
    n->a = expression(p);
    expect_close(p);
    n->b = block(p);
    if (p->fault) return n;
    if (take_tag(p, "elif")) {
        n->c = choice(p);
        return n;
    }
    if (take_tag(p, "else")) {
        expect_close(p);
        n->c = block(p);
    }
    end(p, "endif");
    return n;
}

static void targets(Parser *p, JNode *n)
{
    const bool brackets = sign(p, "(");
    const char *found[8];
    do {
        if (n->targets == 8) fail(p, "more than 8 names in a loop or an assignment are not supported");
        if (!p->fault) found[n->targets++] = name(p);
    } while (!p->fault && sign(p, ","));
    if (brackets) expect(p, ")");
    n->target = arena_array(p->arena, (size_t)n->targets, sizeof *n->target);
    memcpy(n->target, found, (size_t)n->targets * sizeof *found);
}

static JNode *loop(Parser *p)
{
    JNode *n = node(p, JN_FOR);
    targets(p, n);
    if (!word(p, "in")) fail(p, "expected 'in'");
    n->a = either(p);
    if (word(p, "if")) n->b = expression(p);
    if (is(p, JT_NAME, "recursive")) fail(p, "recursive loops are not supported");
    expect_close(p);
    n->c = block(p);
    if (take_tag(p, "else")) {
        expect_close(p);
        n->d = block(p);
    }
    end(p, "endfor");
    return n;
}

static JNode *assignment(Parser *p)
{
    JNode *n = node(p, JN_SET);
    targets(p, n);
    if (n->targets == 1 && sign(p, ".")) {
        const char **both = arena_array(p->arena, 2, sizeof *both);
        both[0] = n->target[0], both[1] = name(p);
        n->target = both;
        n->attribute = true;
    }
    if (sign(p, "=")) {
        n->a = expression(p);
        if (is(p, JT_SIGN, ",")) {
            JNode *list = node(p, JN_LIST);
            add(p, list, n->a, NULL);
            while (!p->fault && sign(p, ",")) add(p, list, expression(p), NULL);
            n->a = list;
        }
        expect_close(p);
        return n;
    }
    if (is(p, JT_SIGN, "|")) fail(p, "a set block with a filter is not supported");
    expect_close(p);
    n->c = block(p);
    end(p, "endset");
    return n;
}

static JNode *macro(Parser *p)
{
    JNode *n = node(p, JN_MACRO);
    n->name = name(p);
    expect(p, "(");
    while (!p->fault && !sign(p, ")")) {
        if (n->parts) expect(p, ",");
        const char *key = name(p);
        add(p, n, sign(p, "=") ? expression(p) : NULL, key);
    }
    expect_close(p);
    n->c = block(p);
    end(p, "endmacro");
    return n;
}

static JNode *generation(Parser *p)
{
    expect_close(p);
    JNode *n = block(p);
    end(p, "endgeneration");
    return n;
}

static JNode *jump(Parser *p, JNodeKind kind)
{
    JNode *n = node(p, kind);
    expect_close(p);
    return n;
}

/* A statement, after {%. */
static JNode *statement(Parser *p)
{
    if (word(p, "if")) return choice(p);
    if (word(p, "for")) return loop(p);
    if (word(p, "set")) return assignment(p);
    if (word(p, "macro")) return macro(p);
    if (word(p, "generation")) return generation(p);
    if (word(p, "break")) return jump(p, JN_BREAK);
    if (word(p, "continue")) return jump(p, JN_CONTINUE);
    fail(p, arena_format(p->arena, "the statement '%.*s' is not supported",
                         p->at->bytes < 20 ? (int)p->at->bytes : 20, p->at->s));
    return node(p, JN_BLOCK);
}

static bool ends_block(const Parser *p)
{
    static const char *const all[] = { "elif",   "else",     "endif",        "endfor",
                                       "endset", "endmacro", "endgeneration" };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (tag(p, all[i])) return true;
    return p->at->kind == JT_END;
}

/* Statements up to the end of the template or a tag that ends a block; the tag is not consumed. */
static JNode *block(Parser *p)
{
    JNode *n = node(p, JN_BLOCK);
    if (++p->depth > DEEPEST) fail(p, "blocks are nested too deeply");
    while (!p->fault && !ends_block(p)) {
        JNode *one;
        if (p->at->kind == JT_TEXT) {
            one = node(p, JN_TEXT);
            one->value = (JValue){ .kind = J_TEXT, .s = p->at->s, .bytes = p->at->bytes };
            p->at++;
        } else if (p->at->kind == JT_PRINT) {
            p->at++;
            one = node(p, JN_PRINT);
            one->a = expression(p);
            expect_close(p);
        } else {
            p->at++;
            one = statement(p);
        }
        add(p, n, one, NULL);
    }
    p->depth--;
    return n;
}

const JinjaTemplate *jinja_parse(Arena *a, const char *text, size_t bytes, const char **fault)
{
    Parser p = { .arena = a, .at = jinja_lex(a, text, bytes, fault) };
    if (!p.at) return NULL;
    JinjaTemplate *t = arena_alloc(a, sizeof *t);
    t->root = block(&p);
    if (!p.fault && p.at->kind != JT_END) fail(&p, "this tag does not match an open block");
    *fault = p.fault;
    return p.fault ? NULL : t;
}
