/* jinja_lex.c: split a template into tokens. White space around tags is dropped here, as "-",
 * trim_blocks and lstrip_blocks require. */
#include <string.h>

#include "jinja_parts.h"

typedef struct Lexer {
    Arena *arena;
    const char *s, *end;
    JToken *at;  size_t count, room;
    int line;
    bool starts_line;   /* a tag has just dropped a newline, or nothing has been read yet */
    const char *fault;
} Lexer;

static const char blanks[] = " \t\n\r\f\v";

static void fail(Lexer *x, const char *what)
{
    if (!x->fault) x->fault = arena_format(x->arena, "line %d: %s", x->line, what);
}

static void push(Lexer *x, JTokenKind kind, const char *s, size_t bytes)
{
    if (x->count == x->room) {
        const size_t room = x->room ? 2 * x->room : 256;
        x->at = arena_grow(x->arena, x->at, x->room * sizeof *x->at, room * sizeof *x->at);
        x->room = room;
    }
    x->at[x->count++] = (JToken){ kind, s, bytes, x->line };
}

static bool begins(const Lexer *x, const char *s)
{
    const size_t n = strlen(s);
    return (size_t)(x->end - x->s) >= n && memcmp(x->s, s, n) == 0;
}

/* Skip n bytes and count lines. */
static void pass(Lexer *x, size_t n)
{
    for (size_t i = 0; i < n; i++) x->line += x->s[i] == '\n';
    x->s += n;
}

static void pass_blanks(Lexer *x)
{
    while (x->s < x->end && strchr(blanks, *x->s)) pass(x, 1);
}

/* Skip the end of a tag, and the white space that the tag drops after itself. */
static void end_tag(Lexer *x, size_t bytes, char sign, bool block)
{
    const char *begin = x->s;
    pass(x, bytes);
    if (sign == '-') pass_blanks(x);
    else if (sign != '+' && block && x->s < x->end && *x->s == '\n') pass(x, 1);
    x->starts_line = x->s > begin && x->s[-1] == '\n';
}

/* A text up to the next tag or the end, without the white space that the tag drops before it. */
static void take_text(Lexer *x)
{
    const char *to = x->s;
    while (to < x->end && !(to + 1 < x->end && *to == '{' && strchr("{%#", to[1]))) to++;
    size_t n = (size_t)(to - x->s);
    const bool tag = to < x->end, minus = tag && to + 2 < x->end && to[2] == '-';
    if (minus) while (n && strchr(blanks, x->s[n - 1])) n--;
    else if (tag && to[1] != '{' && !(to + 2 < x->end && to[2] == '+')) {
        size_t line = n;
        while (line && strchr(" \t\f\v", x->s[line - 1])) line--;
        if (line ? x->s[line - 1] == '\n' : x->starts_line) n = line;
    }
    if (n) push(x, JT_TEXT, x->s, n);
    pass(x, (size_t)(to - x->s));
}

static void take_comment(Lexer *x)
{
    const char *end = x->s + 2;
    while (end + 1 < x->end && !(end[0] == '#' && end[1] == '}')) end++;
    if (end + 1 >= x->end) {
        fail(x, "unterminated comment");
        return;
    }
    const char sign = end > x->s + 2 ? end[-1] : 0;
    pass(x, (size_t)(end - x->s));
    end_tag(x, 2, sign, true);
}

static void put_utf8(Text *t, uint32_t c)
{
    char s[4];
    size_t n = 0;
    if (c < 0x80) s[n++] = (char)c;
    else if (c < 0x800) s[n++] = (char)(0xC0 | c >> 6), s[n++] = (char)(0x80 | (c & 63));
    else if (c < 0x10000) {
        s[n++] = (char)(0xE0 | c >> 12), s[n++] = (char)(0x80 | (c >> 6 & 63)),
        s[n++] = (char)(0x80 | (c & 63));
    } else {
        s[n++] = (char)(0xF0 | c >> 18), s[n++] = (char)(0x80 | (c >> 12 & 63));
        s[n++] = (char)(0x80 | (c >> 6 & 63)), s[n++] = (char)(0x80 | (c & 63));
    }
    text_add_bytes(t, s, n);
}

static int digit_of(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

/* A Python escape, after the backslash. Returns the number of bytes read. */
static size_t take_escape(Lexer *x, const char *s, const char *end, Text *t)
{
    static const char from[] = "ntrabfv\\'\"", to[] = "\n\t\r\a\b\f\v\\'\"";
    const char *known = *s ? strchr(from, *s) : NULL;
    if (known) text_add_bytes(t, &to[known - from], 1);
    else if (*s == '\n') return 1;
    else if (*s == 'x' || *s == 'u' || *s == 'U') {
        const size_t digits = *s == 'x' ? 2 : *s == 'u' ? 4 : 8;
        uint32_t c = 0;
        for (size_t i = 1; i <= digits; i++) {
            const int digit = s + i < end ? digit_of(s[i]) : -1;
            if (digit < 0) fail(x, "a \\x, \\u or \\U escape needs more digits");
            c = 16 * c + (uint32_t)(digit & 15);
        }
        if (!c || c > 0x10FFFF || (c >= 0xD800 && c < 0xE000)) fail(x, "an escape does not stand for a supported character");
        else put_utf8(t, c);
        return 1 + digits;
    } else if ((*s >= '0' && *s <= '7') || *s == 'N')
        fail(x, "octal and \\N escapes are not supported");
    else {
        text_add(t, "\\");
        text_add_bytes(t, s, 1);
    }
    return 1;
}

static void take_string(Lexer *x)
{
    const char quote = *x->s, *s = x->s + 1;
    Text t = text_new(x->arena);
    while (s < x->end && *s != quote && !x->fault) {
        if (*s == '\\' && s + 1 < x->end) s += 1 + take_escape(x, s + 1, x->end, &t);
        else text_add_bytes(&t, s++, 1);
    }
    if (s >= x->end) fail(x, "unterminated string");
    else {
        push(x, JT_STRING, t.data, t.size);
        pass(x, (size_t)(s + 1 - x->s));
    }
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
static bool is_digit(char c) { return c >= '0' && c <= '9'; }

static void take_word(Lexer *x)
{
    size_t n = 0;
    const size_t most = (size_t)(x->end - x->s);
    if (is_letter(*x->s)) {
        while (n < most && (is_letter(x->s[n]) || is_digit(x->s[n]))) n++;
        push(x, JT_NAME, x->s, n);
    } else {
        while (n < most && is_digit(x->s[n])) n++;
        const bool real = n + 1 < most && x->s[n] == '.' && is_digit(x->s[n + 1]);
        if (real) for (n++; n < most && is_digit(x->s[n]);) n++;
        if (n < most && (is_letter(x->s[n]))) fail(x, "this number format is not supported");
        push(x, real ? JT_FLOAT : JT_INT, x->s, n);
    }
    pass(x, n);
}

static void take_sign(Lexer *x, int *depth)
{
    static const char *const two[] = { "==", "!=", ">=", "<=", "//", "**" };
    size_t n = 1;
    for (size_t i = 0; i < sizeof two / sizeof *two; i++)
        if (begins(x, two[i])) n = 2;
    if (!strchr("+-*/%~()[]{}<>=!.,:|", *x->s) || (n == 1 && *x->s == '!')) {
        int32_t c;
        const int bytes = utf8_next(x->s, (size_t)(x->end - x->s), &c);
        fail(x, arena_format(x->arena, "unexpected character '%.*s'", bytes ? bytes : 1, x->s));
        return;
    }
    if (strchr("([{", *x->s)) ++*depth;
    if (strchr(")]}", *x->s)) --*depth;
    push(x, JT_SIGN, x->s, n);
    pass(x, n);
}

/* A tag from {{ or {% up to its end, whose two bytes are `close`. */
static void take_tag(Lexer *x, const char *close)
{
    int depth = 0;
    const bool block = *close == '%';
    push(x, block ? JT_BLOCK : JT_PRINT, x->s, 2);
    pass(x, 2);
    if (x->s < x->end && (*x->s == '-' || (*x->s == '+' && block))) pass(x, 1);
    while (!x->fault) {
        pass_blanks(x);
        const bool signed_end = x->end - x->s >= 3 && (*x->s == '-' || (*x->s == '+' && block)) &&
                                memcmp(x->s + 1, close, 2) == 0;
        if (x->s >= x->end) fail(x, "unterminated tag");
        else if (depth <= 0 && (signed_end || begins(x, close))) {
            push(x, JT_CLOSE, x->s, 2);
            end_tag(x, 2 + signed_end, signed_end ? *x->s : 0, block);
            return;
        } else if (*x->s == '"' || *x->s == '\'') take_string(x);
        else if (is_letter(*x->s) || is_digit(*x->s)) take_word(x);
        else take_sign(x, &depth);
    }
}

/* Turn \r\n and \r into \n, and drop one \n at the end. */
static void settle_lines(Lexer *x, const char *text, size_t bytes)
{
    char *s = arena_alloc(x->arena, bytes + 1);
    size_t n = 0;
    for (size_t i = 0; i < bytes; i++) {
        if (text[i] == '\r' && i + 1 < bytes && text[i + 1] == '\n') continue;
        s[n++] = text[i] == '\r' ? '\n' : text[i];
    }
    if (n && s[n - 1] == '\n') n--;
    x->s = s;
    x->end = s + n;
}

const JToken *jinja_lex(Arena *a, const char *text, size_t bytes, const char **fault)
{
    Lexer x = { .arena = a, .line = 1, .starts_line = true };
    settle_lines(&x, text, bytes);
    if (memchr(text, '\0', bytes)) fail(&x, "the template contains U+0000");
    while (x.s < x.end && !x.fault) {
        if (begins(&x, "{#")) take_comment(&x);
        else if (begins(&x, "{{")) take_tag(&x, "}}");
        else if (begins(&x, "{%")) take_tag(&x, "%}");
        else {
            take_text(&x);
            x.starts_line = false;
        }
    }
    push(&x, JT_END, x.end, 0);
    *fault = x.fault;
    return x.fault ? NULL : x.at;
}
