/* rt_cli_language.c: from one language into another. Most translators have languages as tokens (rt_tokenizer.h); of T5 the texts name
 * them, by the rows of rt_program.translations. */
#include "rt_cli_language.h"

#include <stdio.h>
#include <string.h>

#include "rt_cli_options.h"

/* ---- tokens --------------------------------------------------------------------------------------------------- */

static void list_languages(const RtTokenizer *t, const char *like, const char *label)
{
    enum { MOST = 8 };
    size_t n;
    int id = rt_tokenizer_language_like(t, like, 0);
    for (int i = 0; id >= 0 && i < MOST; i++, id = rt_tokenizer_language_like(t, like, id + 1)) {
        const char *s = rt_tokenizer_piece(t, id, &n);
        fprintf(stderr, "%s%.*s", i ? ", " : label, (int)n, s);
    }
    if (id >= 0) fputs(" and others", stderr);
}

/* The id of a language; -1 after a message that lists those that begin alike, else the first ones. */
static int find_token(const RtTokenizer *t, const char *program, const char *option, const char *code)
{
    const int id = rt_tokenizer_language(t, code);
    if (id >= 0) return id;
    fprintf(stderr, "%s: --%s: the vocabulary has no language '%s'", program, option, code);
    const int near = rt_tokenizer_language_like(t, code, 0) >= 0;
    list_languages(t, near ? code : NULL, near ? "; near ones: " : "; it has ");
    fputc('\n', stderr);
    return -1;
}

static int by_tokens(RtTokenizer *t, RtLanguages kind, const char *program, const char *from, const char *to, int *target)
{
    if (from && kind == RT_LANGUAGES_OF_TARGET) {
        fprintf(stderr, "%s: --source-language: the vocabulary has languages of answers alone, for --target-language\n", program);
        return RT_EXIT_USAGE;
    }
    const int source = from ? find_token(t, program, "source-language", from) : -1;
    const int wanted = to && (!from || source >= 0) ? find_token(t, program, "target-language", to) : -1;
    if ((from && source < 0) || (to && wanted < 0)) return RT_EXIT_USAGE;
    rt_tokenizer_translate(t, source, kind == RT_LANGUAGES_OF_TARGET ? wanted : -1);
    if (kind == RT_LANGUAGES_OF_SOURCE) *target = wanted;
    return 0;
}

/* ---- texts ---------------------------------------------------------------------------------------------------- */

/* Of a row "en de translate English to German: " what stands behind the two codes, where they are these; NULL. */
static const char *prefix_of(const char *row, const char *from, const char *to)
{
    const size_t n = strcspn(row, " "), m = strcspn(row + n + 1, " ");
    if (from && (strlen(from) != n || memcmp(row, from, n))) return NULL;
    if (to && (strlen(to) != m || memcmp(row + n + 1, to, m))) return NULL;
    return row + n + 1 + m + 1;
}

static int by_texts(RtTokenizer *t, const rt_program *p, const char *from, const char *to)
{
    const char *prefix = NULL;
    int count = 0;
    for (const char *const *row = p->translations; *row; row++) {
        const char *found = prefix_of(*row, from, to);
        if (found) prefix = found, count++;
    }
    if (count == 1) {
        rt_tokenizer_prompt(t, prefix, strlen(prefix));
        return 0;
    }
    fprintf(stderr, "%s: --%s-language %s%s%s: ", p->name, from ? "source" : "target", from ? from : to, from && to ? ", into " : "",
            from && to ? to : "");
    fputs(count ? "several translations fit:" : "the model was not trained for it; it has", stderr);
    for (const char *const *row = p->translations; *row; row++) {
        const int n = (int)strcspn(*row, " "), m = (int)strcspn(*row + n + 1, " ");
        if (!count || prefix_of(*row, from, to)) fprintf(stderr, " %.*s to %.*s%s", n, *row, m, *row + n + 1, row[1] ? "," : "");
    }
    fputc('\n', stderr);
    return RT_EXIT_USAGE;
}

int host_languages(RtTokenizer *t, const rt_program *p, const char *from, const char *to, int *target)
{
    *target = -1;
    if (p->translations) return by_texts(t, p, from, to);
    const RtLanguages kind = rt_tokenizer_languages(t);
    if (kind != RT_LANGUAGES_NONE) return by_tokens(t, kind, p->name, from, to, target);
    fprintf(stderr, "%s: --%s-language: the vocabulary has no languages\n", p->name, from ? "source" : "target");
    return RT_EXIT_USAGE;
}
