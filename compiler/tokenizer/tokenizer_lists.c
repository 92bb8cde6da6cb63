/* tokenizer_lists.c: helpers for all importers: growing arrays, lists of words, string comparison,
 * errors, rows by class. */
#include "tokenizer_build.h"

#include <stdarg.h>
#include <string.h>

void *tok_grow(Arena *a, void *old, int *room, size_t size)
{
    const int more = *room ? 2 * *room : 16;
    void *new = arena_grow(a, old, (size_t)*room * size, (size_t)more * size);
    *room = more;
    return new;
}

void tok_refuse(TokBuild *b, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    diag_error(b->diag, EXIT_BAD_DATA, (Loc){ b->file, 0, 0 }, "%s", arena_vformat(b->arena, format, args));
    va_end(args);
}

float tok_float(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

bool tok_same(TokString a, TokString b) { return a.n == b.n && (!a.n || memcmp(a.s, b.s, a.n) == 0); }

void tok_note_class(TokBuild *b, const TokFolder *f, const char *name)
{
    const char *by = f->class_name ? "tokenizer_class" : "model_type";
    b->origin.rules = name ? arena_format(b->arena, "class %s by %s", name, by) : "SentencePiece, by the library's rules";
}

bool tok_next_word(const char **s, TokString *word)
{
    *s += strspn(*s, " ");
    *word = (TokString){ *s, strcspn(*s, " ") };
    *s += word->n;
    return word->n > 0;
}

const char *tok_first_word(TokBuild *b, const char *words)
{
    TokString w;
    return tok_next_word(&words, &w) ? arena_copy(b->arena, w.s, w.n) : "";
}

void tok_list_words(Text *list, const char *words)
{
    TokString w;
    while (tok_next_word(&words, &w)) text_printf(list, "%s%.*s", list->size ? ", " : "", (int)w.n, w.s);
}

bool tok_has_word(const char *words, const char *word)
{
    TokString w;
    while (tok_next_word(&words, &w))
        if (w.n == strlen(word) && memcmp(w.s, word, w.n) == 0) return true;
    return false;
}

const TokClassRow *tok_class_of(TokBuild *b, const TokFolder *f, const TokClassRow *rows, int n)
{
    const char *name = f->class_name ? f->class_name : f->model_type;
    for (int i = 0; name && i < n; i++)
        if (tok_has_word(f->class_name ? rows[i].names : rows[i].types, name)) {
            tok_note_class(b, f, f->class_name ? name : tok_first_word(b, rows[i].names));
            return &rows[i];
        }
    return NULL;
}

const char *tok_class_shown(TokBuild *b, const TokFolder *f)
{
    if (f->class_name) return arena_format(b->arena, "class %sTokenizer", f->class_name);
    return f->model_type ? arena_format(b->arena, "model_type %s", f->model_type) : NULL;
}
