/* emit_lines.c: break lines of emitted C that are longer than 100 columns. A statement continues in
 * the column after the innermost open bracket, unless that is too far to the right, and a comment
 * after its star. Preprocessor lines stay as they are. The meaning of the C does not change. */
#include "emit.h"

#include <ctype.h>
#include <string.h>

enum { COLUMNS = 100, DEEPEST = 64 };

static size_t blanks_of(const char *s) { return strspn(s, " "); }

/* ---- comments ------------------------------------------------------------------------------------ */

/* Words that did not fit into a line of a comment, to be put before those of the next one. */
typedef struct Carried { const char *words; size_t size; } Carried;

static bool ends_comment(const char *s, size_t n) { return n >= 2 && strncmp(s + n - 2, "*/", 2) == 0; }

/* Add one line of a comment at column `indent`: its first line or, if `within`, a later one. Words
 * that do not fit go to new lines if the comment ends with them, else they are returned. */
static Carried fit_comment(Text *out, size_t indent, const char *s, size_t n, bool within)
{
    const char *const end = s + n;
    size_t column = indent + within;
    bool empty = true;                  /* the line has no word yet */
    text_printf(out, "%*s", (int)column, "");
    while (s < end) {
        const size_t blanks = empty ? 0 : blanks_of(s);
        size_t shown = blanks + strcspn(s + blanks, " \n");
        /* keep the end of the comment with its last word */
        if ((size_t)(end - s) <= shown + strlen(" */")) shown = (size_t)(end - s);
        if (!empty && column + shown > COLUMNS) {
            text_add(out, "\n");
            s += blanks;
            if (!ends_comment(s, (size_t)(end - s))) return (Carried){ s, (size_t)(end - s) };
            text_printf(out, "%*s * ", (int)indent, "");
            column = indent + strlen(" * ");
            empty = true;
            continue;
        }
        text_add_bytes(out, s, shown);
        column += shown;
        s += shown;
        empty = false;
    }
    text_add(out, "\n");
    return (Carried){ NULL, 0 };
}

/* ---- code ---------------------------------------------------------------------------------------- */

/* Where to break a line: before `at`, or nowhere if that is 0. The rest is within `depth` brackets
 * and goes to column `to`. The lowest rank is the best. */
typedef struct Break { size_t at, to; int depth, rank; } Break;

/* The index after the string or character constant that begins at s[i]. */
static size_t behind_quotes(const char *s, size_t n, size_t i)
{
    const char quote = s[i++];
    while (i < n && s[i] != quote) i += s[i] == '\\' ? 2 : 1;
    return i < n ? i + 1 : n;
}

/* True at an operator before which a line may be broken. */
static bool is_operator(const char *s)
{
    static const char *const operators[] = { "&& ", "|| ", "+ ", "? ", ": ", "| " };
    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++)
        if (strncmp(s, operators[i], strlen(operators[i])) == 0) return true;
    return false;
}

/* The best break of a line that begins within `depth` brackets, all of them opened at column
 * `to`. */
static Break find_break(const char *s, size_t n, int depth, size_t to)
{
    const size_t indent = blanks_of(s);
    size_t opened[DEEPEST];
    Break best = { .rank = 4 * DEEPEST };
    for (int i = 0; i < depth; i++) opened[i] = to;
    for (size_t i = indent; i < n && i <= COLUMNS && depth < DEEPEST; i++) {
        if (i > indent + 2 && s[i - 1] == ' ') {
            const char before = s[i - 2];
            const bool comma = before == ',' || before == ';', texts = before == '"' || (s[i] == '"' && before != ',' && before != '=');
            const bool assigned = before == '=' && s[i - 3] == ' ';
            /* within the fewest brackets; commas first */
            const int rank = 2 * depth + (comma ? 0 : assigned ? 5 : 1);
            const size_t behind = depth ? opened[depth - 1] : s[indent] == '.' ? indent : indent + 4;
            if ((comma || assigned || texts || is_operator(s + i)) && rank <= best.rank)
                best = (Break){ i, behind > 2 * COLUMNS / 3 ? indent + 8 : behind, depth, rank };
        }
        if (s[i] == '"' || s[i] == '\'') i = behind_quotes(s, n, i) - 1;
        else if (strchr("([{", s[i])) opened[depth++] = i + 1 + (s[i] == '{' && s[i + 1] == ' ');
        else if (strchr(")]}", s[i]) && depth) depth--;
    }
    return best;
}

static void fit_code(Text *out, const char *s, size_t n)
{
    Break b = { 0 };
    while (n > COLUMNS && (b = find_break(s, n, b.depth, b.to)).at) {
        Text rest = text_new(out->arena);
        text_printf(&rest, "%*s", (int)b.to, "");
        text_add_bytes(&rest, s + b.at, n - b.at);
        text_add_bytes(out, s, b.at - 1);
        text_add(out, "\n");
        s = rest.data;
        n = rest.size;
    }
    text_add_bytes(out, s, n);
    text_add(out, "\n");
}

/* ---- lines --------------------------------------------------------------------------------------- */

/* The index of the comment after the code of a line, or n. */
static size_t comment_behind(const char *s, size_t n)
{
    if (n < 4 || strncmp(s + n - 2, "*/", 2) != 0) return n;
    for (size_t i = n - 3; i > blanks_of(s); i--)
        if (s[i] == '/' && s[i + 1] == '*') return i;
    return n;
}

/* Add a line, broken if necessary. A comment that does not fit after its code goes above it. The
 * rule of a heading is shortened. Returns the words of a comment that go to the next line. */
static Carried fit_line(Text *out, const char *s, size_t n)
{
    const Carried nothing = { NULL, 0 };
    const size_t indent = blanks_of(s), at = comment_behind(s, n);
    size_t code = at;
    if (s[indent] == '#') {
        text_add_bytes(out, s, n);
        text_add(out, "\n");
        return nothing;
    }
    if (strncmp(s, "/* ---- ", 8) == 0 && strncmp(s + n - 5, "-- */", 5) == 0) {
        text_add_bytes(out, s, COLUMNS - strlen(" */"));
        text_add(out, " */\n");
        return nothing;
    }
    if (strncmp(s + indent, "/*", 2) == 0) return fit_comment(out, indent, s + indent, n - indent, false);
    if (strncmp(s + indent, "* ", 2) == 0) return fit_comment(out, indent - (indent > 0), s + indent, n - indent, indent > 0);
    while (code > indent && s[code - 1] == ' ') code--;
    if (at < n && code + 2 + (n - at) <= COLUMNS) {
        text_add_bytes(out, s, code);
        text_add(out, "  ");
        text_add_bytes(out, s + at, n - at);
        text_add(out, "\n");
        return nothing;
    }
    if (at < n) fit_comment(out, indent, s + at, n - at, false);
    fit_code(out, s, code);
    return nothing;
}

/* True for a line of a comment that continues the sentence of the line before: " * of one slot". */
static bool goes_on(const char *s, size_t n)
{
    const size_t indent = blanks_of(s);
    return n > indent + 2 && s[indent] == '*' && s[indent + 1] == ' ' && (islower((unsigned char)s[indent + 2]) || s[indent + 2] == '(');
}

void emit_fit(Text *text)
{
    Text out = text_new(text->arena);
    /* lines from `kept` on are not copied yet */
    const char *kept = text->data, *const end = kept + text->size;
    for (const char *s = kept, *next; s < end; s = next) {
        const char *newline = memchr(s, '\n', (size_t)(end - s));
        next = newline ? newline + 1 : end;
        const size_t n = (size_t)((newline ? newline : end) - s);
        if (n <= COLUMNS) continue;
        text_add_bytes(&out, kept, (size_t)(s - kept));
        Carried over = fit_line(&out, s, n);
        while (over.size) {
            newline = memchr(next, '\n', (size_t)(end - next));
            const size_t more = (size_t)((newline ? newline : end) - next);
            const bool joins = goes_on(next, more);
            Text line = text_new(text->arena);
            text_printf(&line, "%*s* ", (int)(blanks_of(s) + (s[blanks_of(s)] == '/')), "");
            text_add_bytes(&line, over.words, over.size);
            if (joins) {
                const size_t words = blanks_of(next) + strlen("* ");
                text_add(&line, " ");
                text_add_bytes(&line, next + words, more - words);
                next += more + (newline != NULL);
            }
            over = fit_line(&out, line.data, line.size);
        }
        kept = next;
    }
    if (kept == text->data) return;
    text_add_bytes(&out, kept, (size_t)(end - kept));
    *text = out;
}
