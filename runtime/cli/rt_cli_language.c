/* rt_cli_language.c: choose the languages of a translation. Most translators have tokens for
 * languages (rt_tokenizer.h); for T5, the texts name them, as listed in rt_program.translations. */
#include "rt_cli_language.h"

#include <string.h>

#include "rt_cli_options.h"

static const char *option_of(const CliLanguages *l, int to)
{
    static const char *const usual[2] = { "--source-language", "--target-language" };
    return (l->options ? l->options : usual)[to];
}

/* Begin a message about l->from or, if `to` is 1, about l->to. */
static void tell(const CliLanguages *l, int to)
{
    fprintf(l->messages, "%s%s%s: ", l->program ? l->program : "", l->program ? ": " : "", option_of(l, to));
}

static int end_message(const CliLanguages *l)
{
    if (l->program) fputc('\n', l->messages);
    return RT_EXIT_USAGE;
}

/* ---- tokens --------------------------------------------------------------------------------------------------- */

static void list_languages(const CliLanguages *l, const RtTokenizer *t, const char *like, const char *label)
{
    enum { MOST = 8 };
    size_t n;
    int id = rt_tokenizer_language_like(t, like, 0);
    for (int i = 0; id >= 0 && i < MOST; i++, id = rt_tokenizer_language_like(t, like, id + 1)) {
        const char *s = rt_tokenizer_piece(t, id, &n);
        fprintf(l->messages, "%s%.*s", i ? ", " : label, (int)n, s);
    }
    if (id >= 0) fputs(" and others", l->messages);
}

/* The id of a language. -1 after a message that lists languages that begin with the same two
 * letters or, if there are none, the first ones. */
static int find_token(const CliLanguages *l, const RtTokenizer *t, int to)
{
    const char *code = to ? l->to : l->from;
    const int id = rt_tokenizer_language(t, code);
    if (id >= 0) return id;
    tell(l, to);
    fprintf(l->messages, "the vocabulary has no language '%s'", code);
    const int near = rt_tokenizer_language_like(t, code, 0) >= 0;
    list_languages(l, t, near ? code : NULL, near ? "; similar: " : "; it has ");
    end_message(l);
    return -1;
}

static int by_tokens(RtTokenizer *t, RtLanguages kind, const CliLanguages *l, int *target)
{
    if (l->from && kind == RT_LANGUAGES_OF_TARGET) {
        tell(l, 0);
        fprintf(l->messages, "the vocabulary has only target languages, set with %s", option_of(l, 1));
        return end_message(l);
    }
    const int source = l->from ? find_token(l, t, 0) : -1;
    const int wanted = l->to && (!l->from || source >= 0) ? find_token(l, t, 1) : -1;
    if ((l->from && source < 0) || (l->to && wanted < 0)) return RT_EXIT_USAGE;
    rt_tokenizer_translate(t, source, kind == RT_LANGUAGES_OF_TARGET ? wanted : -1);
    if (kind == RT_LANGUAGES_OF_SOURCE) *target = wanted;
    return 0;
}

/* ---- texts ---------------------------------------------------------------------------------------------------- */

/* The prefix in a row such as "en de translate English to German: ", if the codes match; else
 * NULL. */
static const char *prefix_of(const char *row, const CliLanguages *l)
{
    const size_t n = strcspn(row, " "), m = strcspn(row + n + 1, " ");
    if (l->from && (strlen(l->from) != n || memcmp(row, l->from, n))) return NULL;
    if (l->to && (strlen(l->to) != m || memcmp(row + n + 1, l->to, m))) return NULL;
    return row + n + 1 + m + 1;
}

static int by_texts(RtTokenizer *t, const CliLanguages *l)
{
    const char *prefix = NULL;
    int count = 0;
    for (const char *const *row = l->translations; *row; row++) {
        const char *found = prefix_of(*row, l);
        if (found) prefix = found, count++;
    }
    if (count == 1) {
        rt_tokenizer_prompt(t, prefix, strlen(prefix));
        return 0;
    }
    tell(l, !l->from);
    fprintf(l->messages, "%s%s%s: %s", l->from ? l->from : l->to, l->from && l->to ? " to " : "", l->from && l->to ? l->to : "",
            count ? "several translations fit:" : "the model was not trained for this; it translates");
    const char *before = "";
    for (const char *const *row = l->translations; *row; row++) {
        const int n = (int)strcspn(*row, " "), m = (int)strcspn(*row + n + 1, " ");
        if (count && !prefix_of(*row, l)) continue;
        fprintf(l->messages, "%s %.*s to %.*s", before, n, *row, m, *row + n + 1);
        before = ",";
    }
    return end_message(l);
}

void cli_tell_free(const CliLanguages *l)
{
    fprintf(l->messages, "%s: note: the model chooses the language of its answer; %s sets it\n",
            l->program, option_of(l, 1));
}

int cli_languages(RtTokenizer *t, const CliLanguages *l, int *target)
{
    *target = -1;
    if (!l->from && !l->to) return 0;
    if (l->translations) return by_texts(t, l);
    const RtLanguages kind = rt_tokenizer_languages(t);
    if (kind != RT_LANGUAGES_NONE) return by_tokens(t, kind, l, target);
    tell(l, !l->from);
    fputs("the vocabulary has no languages", l->messages);
    return end_message(l);
}
