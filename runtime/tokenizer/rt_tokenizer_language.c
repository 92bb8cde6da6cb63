/* rt_tokenizer_language.c: the language tokens of a translator, recognised by their spelling:
 * deu_Latn (NLLB), de_DE (mBART), __de__ (M2M100), >>deu<< (Marian). */
#include "rt_tokenizer_parts.h"

/* A language's name: its token without marks; n 0: the token is not a language. */
typedef struct LanguageName { const char *s; size_t n; } LanguageName;

static bool all_within(const char *s, size_t n, char first, char last)
{
    for (size_t i = 0; i < n; i++)
        if (s[i] < first || s[i] > last) return false;
    return n > 0;
}

static bool starts(const char *s, size_t n, const char *with) { return n >= strlen(with) && memcmp(s, with, strlen(with)) == 0; }

/* True if a token has these marks, of two bytes each, before and after a name. */
static bool is_marked(const char *s, size_t n, const char *before, const char *behind)
{
    return n > 4 && starts(s, n, before) && starts(s + n - 2, 2, behind);
}

static bool is_small(const char *s, size_t n) { return all_within(s, n, 'a', 'z'); }

/* deu_Latn or de_DE */
static bool is_bare_code(const char *s, size_t n)
{
    if (n == 8 && s[3] == '_') return is_small(s, 3) && all_within(s + 4, 1, 'A', 'Z') && is_small(s + 5, 3);
    return n == 5 && s[2] == '_' && is_small(s, 2) && all_within(s + 3, 2, 'A', 'Z');
}

static LanguageName language_name(const RtTokenizer *t, int id)
{
    LanguageName x;
    x.s = rt_tokenizer_piece(t, id, &x.n);
    if (!x.s) return (LanguageName){ NULL, 0 };
    if (is_marked(x.s, x.n, ">>", "<<")) return (LanguageName){ x.s + 2, x.n - 4 };
    if (!rt_tokenizer_special(t, id)) return (LanguageName){ NULL, 0 };
    if (is_marked(x.s, x.n, "__", "__") && x.n < 8 && is_small(x.s + 2, x.n - 4)) return (LanguageName){ x.s + 2, x.n - 4 };
    return is_bare_code(x.s, x.n) ? x : (LanguageName){ NULL, 0 };
}

int rt_tokenizer_is_language(const RtTokenizer *t, int id) { return language_name(t, id).n > 0; }

static bool template_names_one(const RtTokenizer *t)
{
    for (uint32_t i = 0; i < t->head[TOK_HEAD_SINGLE]; i++)
        if (rt_tok_at(t, TOK_TEMPLATE, 3 * (size_t)i) == TOK_ITEM_SPECIAL &&
            rt_tokenizer_is_language(t, (int)rt_tok_at(t, TOK_TEMPLATE, 3 * (size_t)i + 1))) return true;
    return false;
}

RtLanguages rt_tokenizer_languages(const RtTokenizer *t)
{
    size_t n;
    if (template_names_one(t)) return RT_LANGUAGES_OF_SOURCE;
    for (int id = 0; id < rt_tokenizer_size(t); id++) {
        const char *s = rt_tokenizer_piece(t, id, &n);
        if (s && is_marked(s, n, ">>", "<<")) return RT_LANGUAGES_OF_TARGET;
    }
    return RT_LANGUAGES_NONE;
}

/* True if `code` is the token itself, or the name inside its marks. */
static bool is_language_called(const RtTokenizer *t, int id, const char *code)
{
    size_t n;
    const char *s = rt_tokenizer_piece(t, id, &n);
    const LanguageName name = language_name(t, id);
    const size_t length = strlen(code);
    return name.n && ((n == length && !memcmp(s, code, n)) || (name.n == length && !memcmp(name.s, code, length)));
}

/* True if the name is `code` followed by _ and more. */
static bool starts_language(const RtTokenizer *t, int id, const char *code)
{
    const LanguageName name = language_name(t, id);
    const size_t n = strlen(code);
    return n && name.n > n && name.s[n] == '_' && !memcmp(name.s, code, n);
}

int rt_tokenizer_language(const RtTokenizer *t, const char *code)
{
    int found = -1, count = 0;
    for (int id = 0; id < rt_tokenizer_size(t); id++)
        if (is_language_called(t, id, code)) return id;
    for (int id = 0; id < rt_tokenizer_size(t); id++)
        if (starts_language(t, id, code)) found = id, count++;
    return count == 1 ? found : -1;
}

int rt_tokenizer_language_like(const RtTokenizer *t, const char *code, int from)
{
    for (int id = from; id < rt_tokenizer_size(t); id++) {
        const LanguageName name = language_name(t, id);
        if (name.n >= 2 && (!code || (code[0] && name.s[0] == (code[0] | 32) && name.s[1] == (code[1] | 32)))) return id;
    }
    return -1;
}
