/* tokenizer_regex.c: compile regular expressions in Oniguruma's syntax to the nodes that the
 * runtime matches. A pattern is parsed into a tree, which is then written from its end, so that
 * every node knows its successor.
 *
 * Unbounded repetitions of groups, backreferences, and word and line boundaries are errors that
 * name the feature: no known tokenizer uses them. */
#include "tokenizer_build.h"

#include <stdlib.h>
#include <string.h>

#include "tokenizer_unicode.h"

typedef enum Shape { SHAPE_CHARS, SHAPE_CONCAT, SHAPE_EITHER, SHAPE_REPEAT, SHAPE_AHEAD, SHAPE_START, SHAPE_END } Shape;

typedef struct Tree {
    Shape shape;
    TokClass chars;
    struct Tree **part;  int parts, room;
    uint32_t least, most, mode;     /* of a repetition; mode: d of TOK_NODE_CHARS */
    bool negated;                   /* a negative lookahead */
} Tree;

typedef struct Reader {
    TokBuild *b;
    const char *s, *end;
    TokString all;
    bool failed, fold;
    int depth, complements;
    /* AFTER_GROUP after a group; if case is ignored, the previous character, in lower case if it is
     * a letter; else 0 */
    uint32_t folded;
} Reader;

enum { AFTER_GROUP = 1 };
enum { WITHOUT_END = TOK_REPEAT_MOST, EXPAND_MOST = 16, DEEPEST = 32, MOST_COMPLEMENTS = 32 };

/* Refuse the pattern: `what` is the subject of a sentence that ends with `fault`. */
static void refuse_as(Reader *r, const char *what, const char *fault)
{
    enum { SHOWN = 60 };            /* bytes of the pattern in a message */
    size_t n = r->all.n <= SHOWN ? r->all.n : SHOWN;
    while (n < r->all.n && n && (r->all.s[n] & 0xC0) == 0x80) n--;
    if (!r->failed)
        tok_refuse(r->b, "%s%spattern '%.*s%s': %s %s", r->b->part ? r->b->part : "", r->b->part ? ": " : "", (int)n, r->all.s,
                   n < r->all.n ? "\u2026" : "", what, fault);
    r->failed = true;
}

static void refuse(Reader *r, const char *what) { refuse_as(r, what, "is not supported"); }

static Tree *tree_new(Reader *r, Shape shape)
{
    Tree *t = arena_alloc(r->b->arena, sizeof *t);
    t->shape = shape;
    return t;
}

static void tree_add(Reader *r, Tree *t, Tree *part)
{
    if (t->parts == t->room) t->part = tok_grow(r->b->arena, t->part, &t->room, sizeof *t->part);
    t->part[t->parts++] = part;
}

/* ---- classes ---------------------------------------------------------------------------------------------------- */

static const uint64_t spaces = ~UINT64_C(0) << UNICODE_SPACE;

static bool class_has(const TokClass *c, uint32_t x)
{
    bool in = c->properties >> tok_property_modern((int32_t)x) & 1;
    for (int i = 0; i < c->count && !in; i++) in = x >= c->ranges[i].first && x <= c->ranges[i].last;
    return in != c->negated;
}

/* Add `from` to `to`. A negated class becomes properties if it has no ranges, else ranges. */
static void class_join(Reader *r, TokClass *to, const TokClass *from)
{
    if (!from->negated || !from->count) {
        to->properties |= from->negated ? ~from->properties : from->properties;
        for (int i = 0; i < from->count; i++) tok_add_range(r->b, to, from->ranges[i].first, from->ranges[i].last);
        return;
    }
    if (r->complements++ >= MOST_COMPLEMENTS) {         /* each scans all code points */
        refuse(r, "this number of negated classes within classes");
        return;
    }
    for (uint32_t c = 0, first = UINT32_MAX; c <= UNICODE_END; c++) {
        const bool in = c < UNICODE_END && class_has(from, c);
        if (in && first == UINT32_MAX) first = c;
        if (!in && first != UINT32_MAX) {
            tok_add_range(r->b, to, first, c - 1);
            first = UINT32_MAX;
        }
    }
}

static void add_character(Reader *r, TokClass *c, uint32_t x)
{
    tok_add_range(r->b, c, x, x);
    if (!r->fold) return;
    const uint32_t lower = x | 32;
    if (lower >= 'a' && lower <= 'z') {
        tok_add_range(r->b, c, lower, lower);
        tok_add_range(r->b, c, lower - 32, lower - 32);
        if (lower == 's') tok_add_range(r->b, c, 0x17F, 0x17F);
        if (lower == 'k') tok_add_range(r->b, c, 0x212A, 0x212A);
    } else if (x >= 128) refuse(r, "case-insensitive matching of a character outside ASCII");
}

static bool take(Reader *r, const char *s)
{
    const size_t n = strlen(s);
    if ((size_t)(r->end - r->s) < n || memcmp(r->s, s, n) != 0) return false;
    r->s += n;
    return true;
}

static uint32_t take_character(Reader *r)
{
    int32_t c = 0;
    const int n = r->s < r->end ? utf8_next(r->s, (size_t)(r->end - r->s), &c) : 0;
    if (!n) refuse_as(r, "the pattern", "ends with a backslash or within a character");
    r->s += n;
    return (uint32_t)c;
}

/* The hexadecimal digits of \x41, \x{1F600} or \u0041. */
static uint32_t take_hex(Reader *r, size_t digits)
{
    char text[12] = "";
    const bool braces = take(r, "{");
    size_t n = braces ? 0 : digits;
    if (braces) while (r->s + n < r->end && r->s[n] != '}' && n < 8) n++;
    if (r->s + n > r->end || !n || (braces && (r->s + n == r->end || r->s[n] != '}'))) {
        refuse(r, "this code point");
        return 0;
    }
    memcpy(text, r->s, n);
    r->s += n + braces;
    const unsigned long value = strtoul(text, NULL, 16);
    if (strspn(text, "0123456789abcdefABCDEF") != n || value >= UNICODE_END) refuse(r, "this code point");
    return (uint32_t)value;
}

/* {L} or {^L}, after \p or \P. */
static TokClass take_property(Reader *r, bool negated)
{
    char name[32] = "";
    TokClass c = { 0 };
    size_t n = 0;
    if (take(r, "{^")) negated = !negated;
    else take(r, "{");
    while (r->s + n < r->end && r->s[n] != '}') n++;
    if (r->s + n == r->end) refuse_as(r, "a property", "is not closed");
    if (n < sizeof name) memcpy(name, r->s, n);
    r->s += n + (r->s + n < r->end);
    c.properties = tok_properties(name);
    c.negated = negated;
    if (!c.properties) refuse(r, n < sizeof name ? arena_format(r->b->arena, "\\p{%s}", name) : "a property with so long a name");
    return c;
}

/* An escape, after the backslash: a class, or a single character in *single. */
static TokClass take_escape(Reader *r, bool in_brackets, bool *is_single, uint32_t *single)
{
    TokClass c = { 0 };
    *is_single = false;
    const uint32_t x = take_character(r);
    switch (x) {
    case 's': case 'S': c.properties = spaces; c.negated = x == 'S'; return c;
    case 'd': case 'D': c.properties = tok_properties("Nd"); c.negated = x == 'D'; return c;
    case 'w': case 'W': c = tok_word_class(r->b, in_brackets); c.negated = x == 'W'; return c;
    case 'p': case 'P':
        if (r->s < r->end && *r->s == '{') return take_property(r, x == 'P');
        break;
    default: break;
    }
    *is_single = true;
    if (x == 'p' || x == 'P') {         /* without braces: the letter itself */
        *single = x;
        return c;
    }
    *single = x == 'n' ? '\n' : x == 'r' ? '\r' : x == 't' ? '\t' : x == 'f' ? '\f' : x == 'v' ? '\v' : x == 'a' ? 7 : x == 'e' ? 27 : x;
    if (x == 'x') {
        const bool byte = r->s < r->end && *r->s != '{';
        *single = take_hex(r, 2);
        if (byte && *single >= 0x80) refuse(r, arena_format(r->b->arena, "the byte \\x%02X", *single));
    }
    else if (x == 'u') *single = take_hex(r, 4);
    else if (*single == x && ((x >= '0' && x <= '9') || (x >= 'A' && x <= 'Z') || (x >= 'a' && x <= 'z')))
        refuse(r, arena_format(r->b->arena, "\\%c", (char)x));
    return c;
}

static TokClass take_class(Reader *r);

/* If case is ignored, report properties within brackets that include some but not all of upper,
 * lower and title case, or marks without cased letters, since the mark U+0345 matches iota. */
static void check_cases(Reader *r, uint64_t properties)
{
    const uint64_t cased = tok_properties("Lu") | tok_properties("Ll") | tok_properties("Lt"), found = properties & cased;
    if (r->fold && (found ? found != cased : (properties & tok_properties("Mn")) != 0))
        refuse(r, found ? "case-insensitive matching of a class of one case" : "case-insensitive matching of a class of marks");
}

/* Add [:alpha:] or [:^alpha:]; false for anything else, such as a nested class that begins with a
 * colon. */
static bool take_named_class(Reader *r, TokClass *c)
{
    enum { LONGEST = 20 };
    const char *s = r->s + 2, *end = s;
    TokClass named;
    if (r->end - r->s < 2 || memcmp(r->s, "[:", 2) != 0) return false;
    const bool negated = s < r->end && *s == '^';
    s += negated;
    while (end < r->end && end - s <= LONGEST && *end != ':' && *end != ']') end++;
    if (r->end - end < 2 || memcmp(end, ":]", 2) != 0) return false;
    if (!tok_posix_class(r->b, s, (size_t)(end - s), &named))
        refuse(r, arena_format(r->b->arena, "[:%.*s:]", (int)(end - s), s));
    else {
        check_cases(r, named.properties);
        if (r->fold && end - s == 5 && !memcmp(s, "ascii", 5)) refuse(r, "case-insensitive matching of [:ascii:]");
        named.negated = named.negated != negated;
        class_join(r, c, &named);
    }
    r->s = end + 2;
    return true;
}

/* After a class within a class: it cannot begin a range. */
static void check_no_range(Reader *r)
{
    if (r->end - r->s >= 2 && *r->s == '-' && r->s[1] != ']') refuse(r, "a range that begins with a class");
}

/* One item of a class: a range, a character or a nested class. */
static void take_class_item(Reader *r, TokClass *c)
{
    bool single = true;
    uint32_t first, last;
    if (take_named_class(r, c)) {
        check_no_range(r);
        return;
    }
    if (take(r, "[")) {
        const TokClass inner = take_class(r);
        class_join(r, c, &inner);
        return;
    }
    if (take(r, "&&")) refuse(r, "&&");
    if (take(r, "\\")) {
        const TokClass escape = take_escape(r, true, &single, &first);
        if (!single) {
            check_cases(r, escape.properties);
            class_join(r, c, &escape);
            check_no_range(r);
            return;
        }
    } else first = take_character(r);
    if (r->end - r->s < 2 || *r->s != '-' || r->s[1] == ']') {
        add_character(r, c, first);
        return;
    }
    r->s++;
    if (take(r, "\\")) take_escape(r, true, &single, &last);
    else last = take_character(r);
    if (!single) refuse(r, "a range that ends with a class");
    else if (last < first) refuse_as(r, "a range", "ends before it begins");
    else if (r->fold) refuse(r, "case-insensitive matching of this range");
    else tok_add_range(r->b, c, first, last);
}

/* A class, after '['. */
static TokClass take_class(Reader *r)
{
    TokClass c = { .negated = take(r, "^") };
    if (++r->depth > DEEPEST) refuse(r, "nesting classes this deeply");
    for (bool first = true; !r->failed && (first || !take(r, "]")); first = false) {
        if (r->s == r->end) refuse_as(r, "a class", "is not closed");
        else take_class_item(r, &c);
    }
    r->depth--;
    return c;
}

/* ---- the tree ----------------------------------------------------------------------------------------------------- */

static Tree *take_either(Reader *r);

static Tree *chars(Reader *r, TokClass c)
{
    Tree *t = tree_new(r, SHAPE_CHARS);
    t->chars = c;
    return t;
}

static Tree *any_character(Reader *r)
{
    TokClass c = { .negated = true };
    tok_add_range(r->b, &c, '\n', '\n');
    return chars(r, c);
}

/* A group, after '('. */
static Tree *take_group(Reader *r)
{
    const bool fold = r->fold, ahead = take(r, "?="), not_ahead = !ahead && take(r, "?!");
    Tree *t;
    if (!ahead && !not_ahead) {
        if (take(r, "?i:")) r->fold = true;
        else if (take(r, "?-i:")) r->fold = false;
        else if (take(r, "?i)")) {                  /* to the end of the enclosing group */
            r->fold = true;
            return take_either(r);
        } else if (!take(r, "?:") && r->s < r->end && *r->s == '?') refuse(r, arena_format(r->b->arena, "(%.3s", r->s));
    }
    t = take_either(r);
    if (!take(r, ")")) refuse_as(r, "a group", "is not closed");
    r->fold = fold;
    if (!ahead && !not_ahead) return t;
    Tree *look = tree_new(r, SHAPE_AHEAD);
    look->negated = not_ahead;
    tree_add(r, look, t);
    return look;
}

/* Report two letters that match one character if case is ignored, as ss matches \u00DF. After a
 * group, the last letter is not known, so any letter that may be the second is reported. */
static void check_folded(Reader *r, uint32_t x)
{
    static const char pairs[][3] = { "ss", "ff", "fi", "fl", "st" };
    x |= 32;
    if (r->fold && r->folded == AFTER_GROUP && x < 128 && strchr("sfilt", (int)x))
        refuse(r, arena_format(r->b->arena, "case-insensitive matching of '%c' after a group", (char)x));
    for (size_t i = 0; r->fold && i < sizeof pairs / sizeof *pairs; i++)
        if (r->folded == (uint32_t)pairs[i][0] && x == (uint32_t)pairs[i][1])
            refuse(r, arena_format(r->b->arena, "case-insensitive matching of \"%s\"", pairs[i]));
}

static Tree *take_atom(Reader *r)
{
    bool single;
    uint32_t x;
    TokClass c = { 0 };
    if (take(r, "(")) return take_group(r);
    if (take(r, "[")) return chars(r, take_class(r));
    if (take(r, ".")) return any_character(r);
    if (take(r, "\\A")) return tree_new(r, SHAPE_START);
    if (take(r, "\\z")) return tree_new(r, SHAPE_END);
    if (take(r, "\\")) {
        c = take_escape(r, false, &single, &x);
        if (!single) {
            r->folded = 0;
            return chars(r, c);
        }
    } else {
        x = take_character(r);
        if (x < 128 && strchr("^$*+?", (int)x)) refuse(r, arena_format(r->b->arena, "'%c' here", (char)x));
    }
    add_character(r, &c, x);
    check_folded(r, x);
    r->folded = r->fold ? x | 32 : 0;
    return chars(r, c);
}

/* {m}, {m,}, {m,n} or {,n}; anything else is literal text. */
static bool take_bounds(Reader *r, uint32_t *least, uint32_t *most)
{
    const char *s = r->s + 1;
    char *end;
    if (r->s == r->end || *r->s != '{') return false;
    const bool begun = s < r->end && *s >= '0' && *s <= '9';
    const unsigned long m = begun ? strtoul(s, &end, 10) : 0;
    if (begun) s = end;
    unsigned long n = m;
    if (s < r->end && *s == ',') {
        s++;
        const bool bounded = s < r->end && *s >= '0' && *s <= '9';
        if (!begun && !bounded) return false;
        n = bounded ? strtoul(s, &end, 10) : WITHOUT_END;
        if (bounded) s = end;
    } else if (!begun) return false;
    if (s >= r->end || *s != '}') return false;
    if (m > 1000 || (n > 1000 && n != WITHOUT_END) || n < m) refuse(r, "a repetition with these bounds");
    r->s = s + 1;
    *least = (uint32_t)m;
    *most = (uint32_t)n;
    return true;
}

static Tree *take_repeat(Reader *r)
{
    uint32_t few, many;
    const char *begin = r->s;
    if (take_bounds(r, &few, &many)) refuse_as(r, "a repetition", "repeats nothing");
    Tree *t = take_atom(r);
    if (begin < r->end && strchr("([.", *begin)) r->folded = *begin == '(' ? AFTER_GROUP : 0;
    while (!r->failed && r->s < r->end) {
        uint32_t least = 0, most = WITHOUT_END, mode = 0;
        const char *from = r->s;
        const bool bounds = take_bounds(r, &least, &most), exact = bounds && !memchr(from, ',', (size_t)(r->s - from));
        if (!bounds) {
            if (take(r, "*")) most = WITHOUT_END;
            else if (take(r, "+")) least = 1;
            else if (take(r, "?")) most = 1;
            else break;
        }
        if (!exact && take(r, "?")) mode = 1;           /* a{2}? is (?:a{2})? */
        else if (!bounds && take(r, "+")) mode = 2;
        r->folded = 0;
        Tree *repeat = tree_new(r, SHAPE_REPEAT);
        repeat->least = least;
        repeat->most = most;
        repeat->mode = mode;
        tree_add(r, repeat, t);
        t = repeat;
    }
    return t;
}

static Tree *take_either(Reader *r)
{
    Tree *either = tree_new(r, SHAPE_EITHER), *concat = tree_new(r, SHAPE_CONCAT);
    if (++r->depth > DEEPEST) refuse(r, "nesting groups this deeply");
    tree_add(r, either, concat);
    const uint32_t before = r->folded;
    while (!r->failed && r->s < r->end && *r->s != ')') {
        if (*r->s == '|') r->folded = before;
        if (take(r, "|")) tree_add(r, either, concat = tree_new(r, SHAPE_CONCAT));
        else tree_add(r, concat, take_repeat(r));
    }
    r->depth--;
    return either;
}

/* True if the tree can match the empty string. */
static bool may_be_empty(const Tree *t)
{
    switch (t->shape) {
    case SHAPE_CHARS:  return false;
    case SHAPE_REPEAT: return !t->least || may_be_empty(t->part[0]);
    case SHAPE_CONCAT:
        for (int i = 0; i < t->parts; i++)
            if (!may_be_empty(t->part[i])) return false;
        return true;
    case SHAPE_EITHER:
        for (int i = 0; i < t->parts; i++)
            if (may_be_empty(t->part[i])) return true;
        return false;
    default: return true;
    }
}

/* ---- nodes, from the end ------------------------------------------------------------------------------------------- */

/* The nodes of one pattern; each comes after its successors. */
typedef struct Writer { Reader *r; TOK_LIST(RtTokNode) nodes; } Writer;

static uint32_t node_new(Writer *w, RtTokNode node)
{
    *TOK_NEW(w->r->b, &w->nodes) = node;
    if (w->nodes.count > 512) refuse(w->r, "a pattern of this size");
    return (uint32_t)w->nodes.count - 1;
}

static uint32_t class_number(TokBuild *b, TokClass c)
{
    *TOK_NEW(b, &b->classes) = c;
    if (c.properties) b->properties = true;
    return (uint32_t)b->classes.count - 1;
}

static uint32_t write(Writer *w, const Tree *t, uint32_t next);

static uint32_t write_repeat(Writer *w, const Tree *t, uint32_t next)
{
    const Tree *part = t->part[0];
    while (part->shape <= SHAPE_EITHER && part->shape != SHAPE_CHARS && part->parts == 1) part = part->part[0];
    if (part->shape == SHAPE_CHARS)
        return node_new(w, (RtTokNode){ TOK_NODE_CHARS, next, class_number(w->r->b, part->chars), t->least, t->most, t->mode, 0, 0 });
    if (t->most > EXPAND_MOST || t->mode == 2) refuse(w->r, "repeating a group this way");
    uint32_t rest = next;
    for (uint32_t i = t->least; i < t->most && !w->r->failed; i++) {
        const uint32_t once = write(w, part, rest);
        rest = node_new(w, (RtTokNode){ TOK_NODE_EITHER, t->mode ? once : next, t->mode ? next : once, 0, 0, 0, 0, 0 });
    }
    for (uint32_t i = 0; i < t->least && !w->r->failed; i++) rest = write(w, part, rest);
    return rest;
}

static uint32_t write(Writer *w, const Tree *t, uint32_t next)
{
    uint32_t at = next;
    if (w->r->failed) return 0;
    switch (t->shape) {
    case SHAPE_CHARS:  return node_new(w, (RtTokNode){ TOK_NODE_CHARS, next, class_number(w->r->b, t->chars), 1, 1, 0, 0, 0 });
    case SHAPE_REPEAT: return write_repeat(w, t, next);
    case SHAPE_START:  return node_new(w, (RtTokNode){ TOK_NODE_START, next, 0, 0, 0, 0, 0, 0 });
    case SHAPE_END:    return node_new(w, (RtTokNode){ TOK_NODE_END, next, 0, 0, 0, 0, 0, 0 });
    case SHAPE_AHEAD:
        at = write(w, t->part[0], node_new(w, (RtTokNode){ TOK_NODE_MATCH, 0, 0, 0, 0, 0, 0, 0 }));
        return node_new(w, (RtTokNode){ TOK_NODE_AHEAD, next, at, t->negated, 0, 0, 0, 0 });
    case SHAPE_CONCAT:
        for (int i = t->parts - 1; i >= 0; i--) at = write(w, t->part[i], at);
        return at;
    case SHAPE_EITHER:
        at = write(w, t->part[t->parts - 1], next);
        for (int i = t->parts - 2; i >= 0; i--) {
            const uint32_t first = write(w, t->part[i], next);
            at = node_new(w, (RtTokNode){ TOK_NODE_EITHER, at, first, 0, 0, 0, 0, 0 });
        }
        return at;
    }
    return 0;
}

/* Append the nodes to b in reverse order, so that successors have higher numbers; returns the
 * number of the first. */
static uint32_t finish(Writer *w, uint32_t first)
{
    TokBuild *b = w->r->b;
    const uint32_t n = (uint32_t)w->nodes.count, offset = (uint32_t)b->nodes.count;
    for (uint32_t i = 0; i < n; i++) {
        RtTokNode node = w->nodes.at[n - 1 - i];
        if (node.kind != TOK_NODE_MATCH) node.next = offset + n - 1 - node.next;
        if (node.kind == TOK_NODE_EITHER || node.kind == TOK_NODE_AHEAD) node.a = offset + n - 1 - node.a;
        *TOK_NEW(b, &b->nodes) = node;
    }
    tok_memo(b, offset, offset + n - 1 - first);
    return offset + n - 1 - first;
}

static uint32_t write_pattern(Reader *r, const Tree *t)
{
    Writer w = { .r = r };
    const uint32_t match = node_new(&w, (RtTokNode){ TOK_NODE_MATCH, 0, 0, 0, 0, 0, 0, 0 }), first = write(&w, t, match);
    return r->failed ? 0 : finish(&w, first);
}

bool tok_regex(TokBuild *b, TokString regex, uint32_t *node)
{
    Reader r = { .b = b, .s = regex.s, .end = regex.s + regex.n, .all = regex };
    const Tree *t = take_either(&r);
    if (!r.failed && r.s < r.end) refuse_as(&r, "a ')'", "closes no group");
    if (!r.failed && may_be_empty(t)) refuse(&r, "a pattern that can match the empty string");
    *node = r.failed ? 0 : write_pattern(&r, t);
    return !r.failed;
}

uint32_t tok_class_pattern(TokBuild *b, TokClass class)
{
    Reader r = { .b = b };
    return write_pattern(&r, chars(&r, class));
}

uint32_t tok_text_pattern(TokBuild *b, TokString text)
{
    Reader r = { .b = b, .s = text.s, .end = text.s + text.n, .all = text };
    Tree *concat = tree_new(&r, SHAPE_CONCAT);
    while (!r.failed && r.s < r.end) {
        TokClass c = { 0 };
        add_character(&r, &c, take_character(&r));
        tree_add(&r, concat, chars(&r, c));
    }
    return write_pattern(&r, concat);
}
