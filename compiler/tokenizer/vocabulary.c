/* vocabulary.c: read a file of symbols, one per line, into a Vocabulary. A symbol is one character,
 * or a mark such as <s>; a space is a line of one space. The id is the number of the line, counted
 * from 0. */
#include "fields.h"
#include "tokenizer.h"

#include <stdlib.h>
#include <string.h>

#include "text.h"

enum { MAX_BYTES = 16 << 20 };

static Loc line_of(const char *path, int id, int column)
{
    return (Loc){ path, id + 1, column };
}

/* Report the first zero byte or invalid UTF-8; false if there is one. */
static bool check_utf8(Diag *d, const char *path, const char *text, size_t size)
{
    int line = 0;
    size_t start = 0;
    for (size_t i = 0; i < size;) {
        int32_t c;
        int n = utf8_next(text + i, size - i, &c);
        if (!n || !c) {
            diag_error(d, EXIT_BAD_DATA, line_of(path, line, (int)(i - start) + 1), n ? "a zero byte" : "not UTF-8");
            return false;
        }
        i += (size_t)n;
        if (c == '\n') {
            line++;
            start = i;
        }
    }
    return true;
}

static bool is_mark(const char *s, size_t n)
{
    return n >= 3 && s[0] == '<' && s[n - 1] == '>' && !memchr(s + 1, ' ', n - 2);
}

/* Set the code point of a line's symbol, -1 for a mark; report a line that is not one symbol. */
static void read_symbol(Diag *d, Vocabulary *v, int id, const char *path, const char *s)
{
    size_t n = strlen(s);
    int32_t c = -1;
    if (is_mark(s, n)) {
        v->code_point[id] = -1;
        return;
    }
    int length = utf8_next(s, n, &c);
    v->code_point[id] = c;
    if (!n)
        diag_error(d, EXIT_BAD_DATA, line_of(path, id, 1), "the line is empty; to add the space character, write a line with a single space");
    else if (s[n - 1] == '\r')
        diag_error(d, EXIT_BAD_DATA, line_of(path, id, (int)n), "the line ends with a carriage return");
    else if ((size_t)length != n)
        diag_error(d, EXIT_BAD_DATA, line_of(path, id, length + 1), "expected a single character or a mark such as <s>");
}

typedef struct Symbol { const char *text; int id; } Symbol;

static int by_text(const void *a, const void *b)
{
    const Symbol *x = a, *y = b;
    int order = strcmp(x->text, y->text);
    return order ? order : x->id - y->id;
}

static void check_repeats(Arena *a, Diag *d, const Vocabulary *v, const char *path)
{
    Symbol *sorted = arena_array(a, (size_t)v->size, sizeof *sorted);
    for (int i = 0; i < v->size; i++) sorted[i] = (Symbol){ v->text[i], i };
    qsort(sorted, (size_t)v->size, sizeof *sorted, by_text);
    for (int i = 1; i < v->size; i++) {
        if (strcmp(sorted[i].text, sorted[i - 1].text) || !*sorted[i].text) continue;
        diag_error(d, EXIT_BAD_DATA, line_of(path, sorted[i].id, 1),
                   "this symbol is already on line %d", sorted[i - 1].id + 1);
    }
}

static int find_mark(const Vocabulary *v, const char *mark)
{
    for (int i = 0; i < v->size; i++)
        if (!strcmp(v->text[i], mark)) return i;
    return -1;
}

static int count_lines(const char *text, size_t size)
{
    int lines = 0;
    for (size_t i = 0; i < size; i++) lines += text[i] == '\n';
    return lines + (size && text[size - 1] != '\n');
}

/* The last line may lack its newline. */
static void split_lines(Arena *a, Diag *d, Vocabulary *v, const char *path, const char *text)
{
    for (int id = 0; id < v->size; id++) {
        size_t n = strcspn(text, "\n");
        v->text[id] = arena_copy(a, text, n);
        read_symbol(d, v, id, path, v->text[id]);
        text += n + 1;
    }
}

Vocabulary *vocabulary_read(Arena *a, Diag *d, Loc at, const char *path)
{
    size_t size;
    int errors = diag_errors(d);
    diag_conceal(d, path);
    const char *text = file_read(a, d, at, path, MAX_BYTES, &size);
    if (!text || !check_utf8(d, path, text, size)) return NULL;
    Vocabulary *v = arena_alloc(a, sizeof *v);
    v->size = count_lines(text, size);
    if (!v->size) diag_error(d, EXIT_BAD_DATA, (Loc){ path, 0, 0 }, "the vocabulary is empty");
    v->code_point = arena_array(a, (size_t)v->size, sizeof *v->code_point);
    v->text = arena_array(a, (size_t)v->size, sizeof *v->text);
    split_lines(a, d, v, path, text);
    check_repeats(a, d, v, path);
    v->blank = find_mark(v, "<blank>");
    v->start = find_mark(v, "<s>");
    v->end = find_mark(v, "</s>");
    v->unknown = find_mark(v, "<unk>");
    return diag_errors(d) == errors ? v : NULL;
}
