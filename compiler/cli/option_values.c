/* option_values.c: parse and check the values of options; errors are reported at once. */
#include "option_values.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "generation.h"
#include "isa.h"
#include "text.h"

/* ---- messages --------------------------------------------------------------------------------------------------- */

/* Print `s` with control characters, invisible characters and invalid UTF-8 as escapes. */
static void put_escaped(const char *s, FILE *to)
{
    for (size_t n = strlen(s); n;) {
        int32_t c = 0;
        int length = utf8_next(s, n, &c);
        bool hidden = (c >= 0x200B && c <= 0x200F) || (c >= 0x2028 && c <= 0x202E) || (c >= 0x2060 && c <= 0x2069) || c == 0xFEFF;
        if (!length) fprintf(to, "\\x%02x", (unsigned char)*s);
        else if (c < 0x20 || c == 0x7F) fprintf(to, "\\x%02x", (unsigned)c);
        else if ((c >= 0x80 && c < 0xA0) || hidden) fprintf(to, "\\u%04x", (unsigned)c);
        else fwrite(s, 1, (size_t)length, to);
        s += length ? length : 1;
        n -= length ? (size_t)length : 1;
    }
}

void tell_arguments(const char *format, va_list args)
{
    char *text;
    if (vasprintf(&text, format, args) < 0) no_memory("a message");
    fputs("xformc: ", stderr);
    put_escaped(text, stderr);
    fputc('\n', stderr);
    free(text);
}

void tell(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    tell_arguments(format, args);
    va_end(args);
}

/* ---- values ----------------------------------------------------------------------------------------------------- */

/* A whole number from `least` to `most`; false after a message. */
bool option_integer(const char *option, const char *text, int least, int most, int *out)
{
    char *end;
    long n = strtol(text, &end, 10);
    if (isdigit((unsigned char)*text) && !*end && n >= least && n <= most) {
        *out = (int)n;
        return true;
    }
    tell("--%s %s: expected a whole number from %d to %d", option, text, least, most);
    return false;
}

bool option_threads(const char *option, const char *text, int *threads, int most, int *count)
{
    *count = 0;
    for (const char *s = text;; s++) {
        const size_t n = strcspn(s, ",");
        char word[64];
        if (*count == most || n >= sizeof word) {       /* a number that long is out of range */
            tell("--%s %.60s%s: expected at most %d numbers from 1 to %d, separated by commas", option, text,
                 strlen(text) > 60 ? "..." : "", most, most);
            return false;
        }
        snprintf(word, sizeof word, "%.*s", (int)n, s);
        if (n == 0 && *text) {
            tell("--%s %s: a thread count is missing next to a comma", option, text);
            return false;
        }
        if (!option_integer(option, word, 1, most, &threads[(*count)++])) return false;
        s += n;
        if (!*s) break;
    }
    return true;
}

/* Bytes: a whole number above 0, with or without K, M or G for 2^10, 2^20 or 2^30; false after a
 * message. */
bool option_bytes(const char *option, const char *text, size_t *out)
{
    if (text_to_bytes(text, out)) return true;
    tell("--%s %s: expected a number of bytes above 0, such as 262144, 256K, 1M or 2G", option, text);
    return false;
}

bool option_seconds(const char *option, const char *text, double *out)
{
    char *end;
    *out = strtod(text, &end);
    if (*text && !*end && *out > 0 && *out <= 3600) return true;
    tell("--%s %s: expected a number of seconds above 0 and up to 3600", option, text);
    return false;
}

bool option_word(const char *option, const char *text, const char *const *words, int n)
{
    for (int i = 0; i < n; i++)
        if (strcmp(words[i], text) == 0) return true;
    Arena *a = arena_new();
    Text list = text_new(a);
    for (int i = 0; i < n; i++) text_printf(&list, "%s%s", !i ? "" : i + 1 < n ? ", " : " or ", words[i]);
    const char *near = diag_nearest(text, words, n);
    if (near) tell("--%s %s: expected %s; did you mean '%s'?", option, text, list.data, near);
    else tell("--%s %s: expected %s", option, text, list.data);
    arena_free(a);
    return false;
}

/* Check a generation setting and store its text; set g->beams if it is the number of beams. If a
 * name is given twice, the last value is used. */
bool option_setting(const char *option, const char *text, GenerationOptions *g)
{
    static const char *const stops[] = { "false", "true", "never" };
    RtGeneration tried = { .max_new = 0 };
    const char *expected = "";
    if (!strcmp(option, "early-stopping") && !option_word(option, text, stops, 3)) return false;
    if (rt_generation_set(&tried, option, text, &expected) != 0) {
        tell("--%s %s: expected %s", option, text, expected);
        return false;
    }
    int i = 0;
    while (i < g->count && strcmp(g->name[i], option)) i++;
    g->name[i] = option;
    g->value[i] = text;
    if (i == g->count) g->count++;
    if (tried.beams) g->beams = tried.beams;
    return true;
}

/* Check an instruction set, or several separated by commas. */
bool option_isas(const char *option, const char *text)
{
    Arena *a = arena_new();
    int n, known;
    const char *const *names = isa_names(&known), *const *list = isa_list(a, text, &n);
    bool good = true;
    for (int i = 0; i < n && good; i++) good = option_word(option, list[i], names, known);
    const char *fault = good ? isa_list_fault(a, text) : NULL;
    if (fault) tell("--%s %s: %s", option, text, fault);
    arena_free(a);
    return good && !fault;
}

bool option_text(const char *option, const char *text, const char **out)
{
    *out = text;
    if (!*text) tell("--%s is empty", option);
    return *text;
}
