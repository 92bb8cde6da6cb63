/* spec_lexer.c: split Lua source into tokens with their places, and find words and fields among
 * them. Comments are dropped; a string is one token. */
#include "spec_lexer.h"

#include <ctype.h>
#include <string.h>

typedef enum TokenKind { TOKEN_NAME, TOKEN_STRING, TOKEN_OTHER } TokenKind;

/* text: of a string, the characters between its quotes. */
typedef struct Token { TokenKind kind; const char *text; int size, line, column; } Token;

struct Lexer { Arena *arena; Token *tokens; int count, room; };

/* ---- tokens --------------------------------------------------------------------------------------------- */

typedef struct Cursor { const char *at, *end, *line_start; int line; } Cursor;

static void add_token(Lexer *x, TokenKind kind, const char *text, size_t size, int line, int column)
{
    if (x->count == x->room) {
        size_t bytes = sizeof(Token) * (size_t)x->room, more = bytes ? bytes * 2 : 256 * sizeof(Token);
        x->tokens = arena_grow(x->arena, x->tokens, bytes, more);
        x->room = (int)(more / sizeof(Token));
    }
    x->tokens[x->count++] = (Token){ kind, text, (int)size, line, column };
}

static void step_to(Cursor *c, const char *to)
{
    for (; c->at < to; c->at++) {
        if (*c->at != '\n') continue;
        c->line++;
        c->line_start = c->at + 1;
    }
}

/* The number of = in a long bracket [==[ that starts here, or -1. */
static int long_bracket(const Cursor *c)
{
    const char *p = c->at + 1;
    if (*c->at != '[') return -1;
    while (p < c->end && *p == '=') p++;
    return p < c->end && *p == '[' ? (int)(p - c->at - 1) : -1;
}

/* The end of the string in a long bracket: its ]==], or the end of the source. */
static const char *long_end(const Cursor *c, const char *from, int level)
{
    for (const char *p = from; p < c->end; p++) {
        if (*p != ']') continue;
        const char *q = p + 1;
        while (q < c->end && *q == '=') q++;
        if (q < c->end && *q == ']' && q - p - 1 == level) return p;
    }
    return c->end;
}

static const char *quoted_end(const Cursor *c, char quote)
{
    const char *p = c->at + 1;
    for (; p < c->end && *p != quote && *p != '\n'; p++)
        if (*p == '\\' && p + 1 < c->end) p++;
    return p;
}

static const char *past(const Cursor *c, const char *p, int bytes)
{
    return c->end - p < bytes ? c->end : p + bytes;
}

static void read_string(Lexer *x, Cursor *c, int level)
{
    int line = c->line, column = (int)(c->at - c->line_start) + 1;
    const char *start = level < 0 ? c->at + 1 : past(c, c->at, level + 2);
    const char *end = level < 0 ? quoted_end(c, *c->at) : long_end(c, start, level);
    add_token(x, TOKEN_STRING, start, (size_t)(end - start), line, column);
    step_to(c, past(c, end, level < 0 ? 1 : level + 2));
}

static void skip_comment(Cursor *c)
{
    c->at += 2;
    int level = c->at < c->end ? long_bracket(c) : -1;
    const char *newline = memchr(c->at, '\n', (size_t)(c->end - c->at));
    if (level < 0) step_to(c, newline ? newline : c->end);
    else step_to(c, past(c, long_end(c, past(c, c->at, level + 2), level), level + 2));
}

static bool is_word(char ch)
{
    return isalnum((unsigned char)ch) || ch == '_';
}

/* A run of letters, digits and _ is a name, even a number, since no caller needs numbers. */
static void read_word(Lexer *x, Cursor *c)
{
    const char *start = c->at;
    while (c->at < c->end && is_word(*c->at)) c->at++;
    add_token(x, TOKEN_NAME, start, (size_t)(c->at - start), c->line, (int)(start - c->line_start) + 1);
}

static void read_other(Lexer *x, Cursor *c)
{
    size_t size = c->end - c->at > 1 && c->at[1] == '=' && strchr("=~<>", *c->at) ? 2 : 1;
    add_token(x, TOKEN_OTHER, c->at, size, c->line, (int)(c->at - c->line_start) + 1);
    c->at += size;
}

Lexer *lexer_new(Arena *a, const char *text, size_t size)
{
    Lexer *x = arena_alloc(a, sizeof *x);
    Cursor c = { text, text + size, text, 1 };
    x->arena = a;
    while (c.at < c.end) {
        char ch = *c.at;
        int level = long_bracket(&c);
        if (isspace((unsigned char)ch)) step_to(&c, c.at + 1);
        else if (ch == '-' && c.end - c.at > 1 && c.at[1] == '-') skip_comment(&c);
        else if (ch == '"' || ch == '\'' || level >= 0) read_string(x, &c, level);
        else if (is_word(ch)) read_word(x, &c);
        else read_other(x, &c);
    }
    return x;
}

/* ---- looking -------------------------------------------------------------------------------------------- */

static bool is_text(const Lexer *x, int i, TokenKind kind, const char *text)
{
    if (i < 0 || i >= x->count) return false;
    const Token *t = &x->tokens[i];
    return t->kind == kind && (size_t)t->size == strlen(text) && !memcmp(t->text, text, (size_t)t->size);
}

static bool is_other(const Lexer *x, int i, char ch)
{
    char text[2] = { ch, '\0' };
    return is_text(x, i, TOKEN_OTHER, text);
}

static int first_in_line(const Lexer *x, int line)
{
    int low = 0, high = x->count;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (x->tokens[middle].line < line) low = middle + 1;
        else high = middle;
    }
    return low;
}

int lexer_tokens(const Lexer *x)
{
    return x->count;
}

int lexer_token(const Lexer *x, int line, const char *text, size_t size)
{
    for (int i = first_in_line(x, line); i < x->count && x->tokens[i].line == line; i++)
        if ((size_t)x->tokens[i].size == size && !memcmp(x->tokens[i].text, text, size)) return x->tokens[i].column;
    return 0;
}

int lexer_word(const Lexer *x, int line, const char *word)
{
    int first = first_in_line(x, line);
    for (int i = first; i < x->count && x->tokens[i].line == line; i++)
        if (is_text(x, i, TOKEN_NAME, word) && (is_other(x, i - 1, '.') || is_other(x, i - 1, ':'))) return x->tokens[i].column;
    return first < x->count && x->tokens[first].line == line ? x->tokens[first].column : 1;
}

/* The bracket that closes the one at `open`, or the end. */
static int closing(const Lexer *x, int open)
{
    int depth = 0;
    for (int i = open; i < x->count; i++) {
        if (x->tokens[i].kind != TOKEN_OTHER || x->tokens[i].size != 1) continue;
        if (strchr("({[", *x->tokens[i].text)) depth++;
        if (strchr(")}]", *x->tokens[i].text) && !--depth) return i;
    }
    return x->count;
}

/* The token of `name =` or `["name"] =` directly within the braces at `open`, or -1; *value
 * receives the token after `=`. after: -1, or the result of the last call, to find the next such
 * key. */
static int key_within(const Lexer *x, int open, const char *name, int after, int *value)
{
    int end = closing(x, open);
    for (int i = open + 1; i < end; i++) {
        bool starts = i == open + 1 || is_other(x, i - 1, ',') || is_other(x, i - 1, ';');
        if (starts && i > after && is_text(x, i, TOKEN_NAME, name) && is_other(x, i + 1, '=')) {
            *value = i + 2;
            return i;
        }
        if (starts && i + 1 > after && is_other(x, i, '[') && is_text(x, i + 1, TOKEN_STRING, name) && is_other(x, i + 3, '=')) {
            *value = i + 4;
            return i + 1;
        }
        if (x->tokens[i].kind == TOKEN_OTHER && strchr("({[", *x->tokens[i].text)) i = closing(x, i);
    }
    return -1;
}

/* The last token before `{` or `({` if the brace is the argument of a call; else -1. */
static int callee(const Lexer *x, int brace)
{
    int i = brace - 1;
    if (is_other(x, i, '(')) i--;
    if (i < 0) return -1;
    if (x->tokens[i].kind == TOKEN_NAME) return is_text(x, i, TOKEN_NAME, "return") ? -1 : i;
    return is_other(x, i, ')') || is_other(x, i, '}') ? i : -1;
}

/* The brace of `{` or `({` at i, or -1. */
static int brace_at(const Lexer *x, int i)
{
    if (is_other(x, i, '(')) i++;
    return is_other(x, i, '{') ? i : -1;
}

static bool is_wanted(const Lexer *x, int brace, const char *method)
{
    int i = callee(x, brace);
    if (i < 0) return false;
    if (method) return is_text(x, i, TOKEN_NAME, method) && is_other(x, i - 1, '.');
    return !is_other(x, i - 1, '.');
}

static void set_place(const Lexer *x, int token, Loc *at)
{
    at->line = token < 0 ? 0 : x->tokens[token].line;
    at->column = token < 0 ? 0 : x->tokens[token].column;
}

static bool field_within(const Lexer *x, int brace, const char *side, const char *name, Loc *at, Loc *again)
{
    int value, found;
    if (side) {
        if (key_within(x, brace, side, -1, &value) < 0 || !is_other(x, value, '{')) return false;
        brace = value;
    }
    found = key_within(x, brace, name, -1, &value);
    if (found < 0) return false;
    set_place(x, found, at);
    set_place(x, key_within(x, brace, name, found, &value), again);
    return true;
}

/* Lua reports the line of the first word for a whole chain of calls, xf.model{…}{…}, so look in
 * each call of the chain. */
static bool chain_field(const Lexer *x, int call, const char *method, const char *side, const char *name, Loc *at, Loc *again)
{
    while (is_other(x, call, '{') || is_other(x, call, '(')) {
        int brace = brace_at(x, call);
        if (brace >= 0 && is_wanted(x, brace, method) && field_within(x, brace, side, name, at, again)) return true;
        call = closing(x, call) + 1;
    }
    return false;
}

bool lexer_field(const Lexer *x, int line, const char *method, const char *side, const char *name, Loc *at, Loc *again)
{
    for (int i = first_in_line(x, line); i < x->count && x->tokens[i].line == line; i++) {
        bool call = (is_other(x, i, '{') || is_other(x, i, '(')) && callee(x, i) >= 0;
        if (call && chain_field(x, i, method, side, name, at, again)) return true;
    }
    return false;
}

Loc lexer_string(const Lexer *x, Loc name)
{
    int i = first_in_line(x, name.line);
    while (i < x->count && x->tokens[i].line == name.line && x->tokens[i].column != name.column) i++;
    while (i < x->count && !is_other(x, i, '=')) i++;
    if (++i >= x->count || x->tokens[i].kind != TOKEN_STRING) return (Loc){ name.file, 0, 0 };
    const Token *t = &x->tokens[i];
    /* Lua skips a newline at the start of a long string. */
    const int skipped = t->size && *t->text == '\n' ? 1 : t->size > 1 && memcmp(t->text, "\r\n", 2) == 0;
    return (Loc){ name.file, t->line + skipped, skipped ? 1 : t->column };
}
