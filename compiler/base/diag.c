/* diag.c: a list of errors and remarks, each with its notes, in the order in which they were
 * reported; and the word that the user may have meant. */
#include "diag.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "progress.h"
#include "text.h"

enum { MAX_SHOWN = 20, MAX_SOURCE_BYTES = 64 << 20, LONGEST_LINE = 400, LONGEST_WORD = 64 };

typedef enum Kind { ERROR, NOTE } Kind;

typedef struct Message { struct Message *next; Kind kind; Loc at; const char *text; } Message;

/* A top-level message and its notes. */
typedef struct Entry { struct Entry *next; Message *first, **last; } Entry;

typedef struct Source { struct Source *next; const char *file, *text; } Source;

struct Diag {
    Arena *arena;
    Entry *first, **last, *last_error;
    Entry **unprinted;                          /* entries not printed yet */
    Source *sources;
    int errors, printed_errors;
    Exit code;
};

Diag *diag_new(Arena *a)
{
    Diag *d = arena_alloc(a, sizeof *d);
    d->arena = a;
    d->last = d->unprinted = &d->first;
    return d;
}

/* ---- reporting ------------------------------------------------------------------------------------------ */

static void message_add(Diag *d, Entry *e, Kind kind, Loc at, const char *format, va_list args)
{
    Message *m = arena_alloc(d->arena, sizeof *m);
    m->kind = kind;
    m->at = at;
    if (at.file) m->at.file = arena_text(d->arena, at.file);
    m->text = arena_vformat(d->arena, format, args);
    *e->last = m;
    e->last = &m->next;
}

static void entry_append(Diag *d, Entry *e)
{
    *d->last = e;
    d->last = &e->next;
}

static Entry *entry_new(Diag *d)
{
    Entry *e = arena_alloc(d->arena, sizeof *e);
    e->last = &e->first;
    return e;
}

static bool same_place(Loc a, Loc b)
{
    if (!a.file || !b.file) return a.file == b.file;
    return !strcmp(a.file, b.file) && a.line == b.line && a.column == b.column;
}

static bool same_error(const Entry *a, const Entry *b)
{
    return a && same_place(a->first->at, b->first->at) && !strcmp(a->first->text, b->first->text);
}

void diag_error(Diag *d, Exit code, Loc at, const char *format, ...)
{
    Entry *e = entry_new(d);
    va_list args;
    va_start(args, format);
    message_add(d, e, ERROR, at, format, args);
    va_end(args);
    if (same_error(d->last_error, e)) return;
    if (!d->errors++) d->code = code;
    d->last_error = e;
    entry_append(d, e);
}

void diag_note(Diag *d, Loc at, const char *format, ...)
{
    Entry *e = d->last_error ? d->last_error : entry_new(d);
    va_list args;
    va_start(args, format);
    message_add(d, e, NOTE, at, format, args);
    va_end(args);
    if (!d->last_error) entry_append(d, e);
}

void diag_remark(Diag *d, Loc at, const char *format, ...)
{
    Entry *e = entry_new(d);
    va_list args;
    va_start(args, format);
    message_add(d, e, NOTE, at, format, args);
    va_end(args);
    entry_append(d, e);
}

void diag_forget(Diag *d)
{
    *d = (Diag){ .arena = d->arena, .last = &d->first, .unprinted = &d->first, .sources = d->sources };
}

int diag_errors(const Diag *d)
{
    return d->errors;
}

Exit diag_exit(const Diag *d)
{
    return d->errors ? d->code : EXIT_DONE;
}

/* text NULL: no line of the file is ever shown. */
static void add_source(Diag *d, const char *file, const char *text)
{
    Source *s = arena_alloc(d->arena, sizeof *s);
    s->file = arena_text(d->arena, file);
    s->text = text;
    s->next = d->sources;
    d->sources = s;
}

void diag_source(Diag *d, const char *file, const char *text)
{
    add_source(d, file, arena_text(d->arena, text));
}

void diag_conceal(Diag *d, const char *file) { add_source(d, file, NULL); }

/* ---- source lines --------------------------------------------------------------------------------------- */

/* Find line number `line` of a text, without its newline. Lines count from 1. False if there is no
 * such line. */
static bool text_line(const char *text, int line, const char **start, size_t *size)
{
    for (int i = 1; i < line; i++) {
        text = strchr(text, '\n');
        if (!text) return false;
        text++;
    }
    *start = text;
    *size = strcspn(text, "\r\n");
    return true;
}

/* Read a line of a file. False if it cannot be read: the message is then printed without it. */
static bool file_line(const char *path, int line, char **buffer, size_t *size)
{
    struct stat info;
    /* skip pipes, which have already been read */
    FILE *f = !stat(path, &info) && S_ISREG(info.st_mode) ? fopen(path, "r") : NULL;
    if (!f) return false;
    size_t room = 0, total = 0;
    ssize_t n = -1;
    for (int i = 0; i < line && total < MAX_SOURCE_BYTES; i++) {
        n = getline(buffer, &room, f);
        if (n < 0) break;
        total += (size_t)n;
    }
    fclose(f);
    if (n < 0 || total >= MAX_SOURCE_BYTES) return false;
    *size = strcspn(*buffer, "\r\n");
    return true;
}

/* ---- printing ------------------------------------------------------------------------------------------- */

static const char *paint(bool colour, const char *code)
{
    return colour ? code : "";
}

/* Print text so that it cannot harm a terminal: invalid UTF-8, and control characters other than
 * `allowed`, become U+FFFD. */
static void put_clean(FILE *to, const char *s, size_t n, const char *allowed)
{
    for (int32_t c; n;) {
        int length = utf8_next(s, n, &c);
        bool control = length && (c < 0x20 || (c >= 0x7F && c < 0xA0)) && !(c && c < 0x80 && strchr(allowed, c));
        if (!length || control) fputs("\xEF\xBF\xBD", to);
        else fwrite(s, 1, (size_t)length, to);
        s += length ? length : 1;
        n -= length ? (size_t)length : 1;
    }
}

/* Terminal columns of a character: 2 for wide East Asian characters and emoji, 0 for combining
 * marks and other characters without width. */
static int char_width(int32_t c)
{
    static const int32_t wide[][2] = { { 0x1100, 0x115F }, { 0x2E80, 0xA4CF }, { 0xAC00, 0xD7A3 }, { 0xF900, 0xFAFF },
        { 0xFE30, 0xFE6F }, { 0xFF00, 0xFF60 }, { 0xFFE0, 0xFFE6 }, { 0x1F300, 0x1FAFF }, { 0x20000, 0x3FFFD } };
    static const int32_t none[][2] = { { 0x300, 0x36F }, { 0x200B, 0x200F }, { 0xFE00, 0xFE0F }, { 0xFEFF, 0xFEFF } };
    for (size_t i = 0; i < sizeof wide / sizeof *wide; i++)
        if (c >= wide[i][0] && c <= wide[i][1]) return 2;
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        if (c >= none[i][0] && c <= none[i][1]) return 0;
    return 1;
}

/* Print blanks as wide as the first `bytes` of a line; tabs are kept. */
static void put_blanks(FILE *to, const char *s, size_t n, size_t bytes)
{
    for (size_t i = 0; i < bytes && i < n;) {
        int32_t c = ' ';
        int length = utf8_next(s + i, n - i, &c);
        if (c == '\t') fputc('\t', to);
        else fprintf(to, "%*s", length ? char_width(c) : 1, "");
        i += length ? (size_t)length : 1;
    }
}

/* Cut a very long line to a part around the column, at character boundaries. */
static void cut_line(const char **s, size_t *n, size_t *column)
{
    if (*n <= LONGEST_LINE) return;
    size_t from = *column > LONGEST_LINE / 2 ? *column - LONGEST_LINE / 2 : 0;
    if (from > *n) from = *n;
    while (from && from < *n && ((*s)[from] & 0xC0) == 0x80) from--;
    size_t to = *n - from > LONGEST_LINE ? from + LONGEST_LINE : *n;
    while (to < *n && to > from && ((*s)[to] & 0xC0) == 0x80) to--;
    *s += from;
    *n = to - from;
    *column -= from < *column ? from : *column;
}

static void put_caret(FILE *to, const char *s, size_t n, int column, bool colour)
{
    size_t before = (size_t)column - 1;
    cut_line(&s, &n, &before);
    put_clean(to, s, n, "\t");
    fputc('\n', to);
    put_blanks(to, s, n, before);
    fprintf(to, "%s^%s\n", paint(colour, "\033[1;32m"), paint(colour, "\033[0m"));
}

static void put_source(const Diag *d, FILE *to, Loc at, bool colour)
{
    if (!at.file || at.line < 1 || at.column < 1) return;
    const char *line;
    size_t n;
    for (const Source *s = d->sources; s; s = s->next) {
        if (strcmp(s->file, at.file)) continue;
        if (s->text && text_line(s->text, at.line, &line, &n))
            put_caret(to, line, n, at.column, colour);
        return;
    }
    char *buffer = NULL;
    if (file_line(at.file, at.line, &buffer, &n)) put_caret(to, buffer, n, at.column, colour);
    free(buffer);
}

static void put_place(FILE *to, Loc at)
{
    if (!at.file) return;
    put_clean(to, at.file, strlen(at.file), "");
    if (at.line > 0) fprintf(to, ":%d", at.line);
    if (at.line > 0 && at.column > 0) fprintf(to, ":%d", at.column);
    fputs(": ", to);
}

/* A note at the place of its error does not show the source line again. */
static void put_entry(const Diag *d, FILE *to, const Entry *e, bool colour)
{
    for (const Message *m = e->first; m; m = m->next) {
        fputs(paint(colour, "\033[1m"), to);
        put_place(to, m->at);
        fputs(m->kind == ERROR ? paint(colour, "\033[31m") : paint(colour, "\033[36m"), to);
        fputs(m->kind == ERROR ? "error: " : "note: ", to);
        fputs(paint(colour, "\033[0m"), to);
        put_clean(to, m->text, strlen(m->text), "\t\n");
        fputc('\n', to);
        if (m == e->first || !same_place(m->at, e->first->at)) put_source(d, to, m->at, colour);
    }
}

bool diag_colours(int file)
{
    const char *none = getenv("NO_COLOR"), *term = getenv("TERM");
    return isatty(file) && !(none && *none) && term && *term && strcmp(term, "dumb") != 0;
}

void diag_print(Diag *d, FILE *to, bool colour)
{
    int more = 0;
    if (*d->unprinted) progress_clear();
    for (const Entry *e = *d->unprinted; e; e = e->next) {
        const bool full = e->first->kind == ERROR && d->printed_errors++ >= MAX_SHOWN;
        if (full) more++;
        else put_entry(d, to, e, colour);
    }
    d->unprinted = d->last;
    if (more) fprintf(to, "%d more error%s\n", more, more == 1 ? "" : "s");
}

/* ---- did you mean --------------------------------------------------------------------------------------- */

static int least(int a, int b)
{
    return a < b ? a : b;
}

/* The edit distance: the least number of insertions, deletions, replacements and swaps of
 * neighbours. Both words have at most LONGEST_WORD bytes. */
static int distance(const char *a, int n, const char *b, int m)
{
    int rows[3][LONGEST_WORD + 1];
    int *before = rows[0], *last = rows[1], *row = rows[2];
    for (int j = 0; j <= m; j++) last[j] = j;
    memset(before, 0, sizeof rows[0]);
    for (int i = 1; i <= n; i++) {
        row[0] = i;
        for (int j = 1; j <= m; j++) {
            row[j] = least(least(last[j], row[j - 1]) + 1, last[j - 1] + (a[i - 1] != b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) row[j] = least(row[j], before[j - 2] + 1);
        }
        int *free_row = before;
        before = last;
        last = row;
        row = free_row;
    }
    return last[m];
}

int diag_distance(const char *a, const char *b)
{
    return distance(a, (int)strlen(a), b, (int)strlen(b));
}

/* A word is near if its edit distance from `word` is less than its own length and at most a third
 * of the length of `word`, rounded up. */
const char *diag_nearest(const char *word, const char *const *words, int n)
{
    size_t size = strlen(word);
    if (!size || size > LONGEST_WORD) return NULL;
    const char *nearest = NULL;
    int best = (int)(size + 2) / 3 + 1;
    for (int i = 0; i < n; i++) {
        size_t other = strlen(words[i]);
        if (other > LONGEST_WORD) continue;
        int edits = distance(word, (int)size, words[i], (int)other);
        if (edits < best && edits < (int)other) {
            best = edits;
            nearest = words[i];
        }
    }
    return nearest;
}
