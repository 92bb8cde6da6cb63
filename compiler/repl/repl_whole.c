/* repl_whole.c: decide when to try to load the lines of a chunk. Trying at every line would take
 * quadratic time, so a long chunk with unclosed blocks or brackets is tried again only after it has
 * grown by a quarter; a syntax error may still be reported before the end of the chunk. Lua decides
 * what is complete; these functions only save attempts. */
#include "repl.h"

#include <ctype.h>
#include <string.h>

enum { SHORT_CHUNK = 16 << 10 };        /* bytes: up to this size, try at every line */

/* The level of the long bracket that opens at `s`: 0 for "[[", 2 for "[==["; -1 if there is
 * none. */
static int long_level(const char *s)
{
    const size_t n = *s == '[' ? strspn(s + 1, "=") : 0;
    return *s == '[' && s[1 + n] == '[' ? (int)n : -1;
}

/* The text after the end of the open long bracket; NULL if it continues on the next line. */
static const char *long_end(ReplScan *c, const char *s)
{
    for (; (s = strchr(s, ']')); s++) {
        const size_t n = strspn(s + 1, "=");
        if ((int)n != c->level || s[1 + n] != ']') continue;
        c->level = -1;
        return s + n + 2;
    }
    return NULL;
}

/* The text after a quoted string. If it does not end on this line, every later line is tried. */
static const char *quoted_end(ReplScan *c, const char *s)
{
    const char quote = *s++;
    for (; *s && *s != quote; s++)
        if (*s == '\\' && s[1]) s++;
    if (!*s) c->strange = true;
    return *s ? s + 1 : s;
}

static void take_word(ReplScan *c, const char *s, size_t n)
{
    static const char *const opening[] = { "function", "if", "do", "repeat" }, *const closing[] = { "end", "until" };
    static const char *const joining[] = { "and", "or", "not", "local" };
    c->goes_on = false;
    for (size_t i = 0; i < 4; i++) c->depth += strlen(opening[i]) == n && memcmp(opening[i], s, n) == 0;
    for (size_t i = 0; i < 2; i++) c->depth -= strlen(closing[i]) == n && memcmp(closing[i], s, n) == 0;
    for (size_t i = 0; i < 4; i++) c->goes_on |= strlen(joining[i]) == n && memcmp(joining[i], s, n) == 0;
}

void repl_scan(ReplScan *c, const char *s)
{
    for (s = c->level >= 0 ? long_end(c, s) : s; s && *s;) {
        if (isspace((unsigned char)*s)) s++;
        else if (strncmp(s, "--", 2) == 0) {
            c->level = long_level(s + 2);
            if (c->level < 0) return;
            s = long_end(c, s + c->level + 4);
        } else if ((c->level = long_level(s)) >= 0) {
            c->goes_on = false;
            s = long_end(c, s + c->level + 2);
        } else if (*s == '"' || *s == '\'') {
            c->goes_on = false;
            s = quoted_end(c, s);
        } else if (isalnum((unsigned char)*s) || *s == '_') {
            size_t n = 1;
            while (isalnum((unsigned char)s[n]) || s[n] == '_') n++;
            take_word(c, s, n);
            s += n;
        } else {
            c->depth += strchr("([{", *s) ? 1 : strchr(")]}", *s) ? -1 : 0;
            c->goes_on = strchr("+-*/%^#&|~<=,.([{", *s) != NULL && strncmp(s, "...", 3) != 0;
            s += strncmp(s, "...", 3) == 0 ? 3 : 1;
        }
    }
}

bool repl_scan_due(ReplScan *c, size_t size)
{
    const bool open = c->level >= 0 || c->depth > 0 || c->goes_on;
    if (size > SHORT_CHUNK && open && !c->strange && size < c->tried + c->tried / 4) return false;
    c->tried = size;
    return true;
}
