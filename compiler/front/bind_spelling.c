/* bind_spelling.c: expand patterns of names, where (a|b) means a or b. */
#include "bind_find.h"

#include <string.h>

#include "text.h"

/* Append `pattern` with its first group replaced by alternative n, counted from 0; false if there
 * is no such alternative. */
static bool choose(Text *t, const char *pattern, int n)
{
    const char *open = strchr(pattern, '('), *close = strchr(open, ')'), *word = open + 1;
    for (; n; n--) {
        word += strcspn(word, "|)");
        if (word == close) return false;
        word++;
    }
    text_add_bytes(t, pattern, (size_t)(open - pattern));
    text_add_bytes(t, word, strcspn(word, "|)"));
    text_add(t, close + 1);
    return true;
}

const char *finder_first_spelling(Arena *a, const char *pattern)
{
    while (strchr(pattern, '(')) {
        Text t = text_new(a);
        choose(&t, pattern, 0);
        pattern = t.data;
    }
    return pattern;
}

const TensorSource *finder_spelling(Finder *f, const char *pattern)
{
    if (!strchr(pattern, '(')) return tensor_file_find(f->model->weight_file, pattern);
    for (int n = 0;; n++) {
        Text t = text_new(f->arena);
        if (!choose(&t, pattern, n)) return NULL;
        const TensorSource *found = finder_spelling(f, t.data);
        if (found) return found;
    }
}
