/* c_depth.c: measure the nesting of a C text in one walk over its tokens. */
#include "c_depth.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

/* begins: only white space precedes `at` on its line. */
typedef struct Walk { const char *at; int line; bool begins; } Walk;

static void step(Walk *w)
{
    if (*w->at == '\n') {
        w->line++;
        w->begins = true;
    } else if (!isspace((unsigned char)*w->at)) w->begins = false;
    w->at++;
}

/* Skip past the next `end`, or to the end of the text. */
static void pass(Walk *w, const char *end)
{
    const size_t n = strlen(end);
    while (*w->at && strncmp(w->at, end, n) != 0) step(w);
    for (size_t i = 0; i < n && *w->at; i++) step(w);
}

static void pass_quoted(Walk *w)
{
    const char quote = *w->at;
    for (step(w); *w->at && *w->at != quote && *w->at != '\n'; step(w))
        if (*w->at == '\\' && w->at[1]) step(w);
    if (*w->at == quote) step(w);
}

/* Skip to the end of the line, including the lines that backslashes join to it. */
static void pass_line(Walk *w)
{
    for (; *w->at && *w->at != '\n'; step(w))
        if (*w->at == '\\' && w->at[1]) step(w);
}

/* Skip white space, a comment or a preprocessor line; false at a token. */
static bool pass_blank(Walk *w)
{
    if (*w->at == '#' && w->begins) pass_line(w);
    else if (isspace((unsigned char)*w->at)) step(w);
    else if (strncmp(w->at, "//", 2) == 0) pass_line(w);
    else if (strncmp(w->at, "/*", 2) == 0) pass(w, "*/");
    else return false;
    return true;
}

/* Skip a token; true if it is `else`. */
static bool pass_token(Walk *w)
{
    const char *begin = w->at;
    if (*w->at == '"' || *w->at == '\'') {
        pass_quoted(w);
        return false;
    }
    if (!isalnum((unsigned char)*w->at) && *w->at != '_') {
        step(w);
        return false;
    }
    while (isalnum((unsigned char)*w->at) || *w->at == '_') step(w);
    return w->at - begin == 4 && memcmp(begin, "else", 4) == 0;
}

int c_too_deep(const char *text, const char **what)
{
    int depth = 0, tokens = 0, elses = 0;
    for (Walk w = { text, 1, true }; *w.at;) {
        if (pass_blank(&w)) continue;
        const char c = *w.at;
        const bool opens = strchr("([{", c) != NULL, closes = strchr(")]}", c) != NULL;
        depth += opens - (closes && depth);
        tokens = strchr(";,{}", c) ? 0 : tokens + 1;
        elses = depth ? elses + pass_token(&w) : (pass_token(&w), 0);
        *what = depth > C_MOST_BRACKETS ? "more than 256 nested brackets" :
                tokens > C_MOST_TOKENS ? "an expression of more than 2048 tokens" :
                elses > C_MOST_ELSES ? "more than 512 else branches in one function" : NULL;
        if (*what) return w.line;
    }
    return 0;
}
