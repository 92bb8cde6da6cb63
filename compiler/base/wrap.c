/* wrap.c: wrap words into lines. A word wider than a line gets its own line. */
#include "wrap.h"

#include <string.h>

enum { COLUMNS = 80 };

static int columns_of(const char *s, size_t n)
{
    int columns = 0;
    for (size_t i = 0; i < n; i++) columns += ((unsigned char)s[i] & 0xC0) != 0x80;
    return columns;
}

static void add_word(Wrap *w, const char *word, size_t n)
{
    const int columns = columns_of(word, n);
    if (w->column && w->column + 1 + columns > COLUMNS) {
        fputc('\n', w->to);
        w->column = 0;
    }
    const int blanks = w->column ? 1 : w->indent;
    fprintf(w->to, "%*s", blanks, "");
    fwrite(word, 1, n, w->to);
    w->column += blanks + columns;
}

void wrap_words(Wrap *w, const char *text)
{
    for (size_t n; *(text += strspn(text, " ")); text += n) {
        n = strcspn(text, " ");
        add_word(w, text, n);
    }
}

void wrap_text(FILE *to, int indent, const char *text)
{
    Wrap w = { to, indent, 0 };
    wrap_words(&w, text);
    fputc('\n', to);
}
