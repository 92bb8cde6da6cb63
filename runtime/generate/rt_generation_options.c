/* rt_generation_options.c: change generation settings by name, for command lines. */
#include "rt_generation.h"
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

typedef enum Kind { INTEGER, REAL, ABOVE, DOUBLE, SEED, WORD } Kind;

typedef struct Row { Kind kind; int at; double least, most; const char *expected; } Row;

static const Row rows[] = {              /* one for each of rt_generation_options */
#define RT_GENERATION_OPTION(id, letter, name, argument, doc, more, kind, member, least, most, expected) \
    { kind, offsetof(RtGeneration, member), least, most, expected },
#include "rt_generation_options.def"
#undef RT_GENERATION_OPTION
};

const RtGenerationOption rt_generation_options[] = {
#define RT_GENERATION_OPTION(id, letter, name, argument, doc, more, kind, member, least, most, expected) { letter, name, argument, doc },
#include "rt_generation_options.def"
#undef RT_GENERATION_OPTION
};
enum {
#define RT_GENERATION_OPTION(id, letter, name, argument, doc, more, kind, member, least, most, expected) OPTION_##id,
#include "rt_generation_options.def"
#undef RT_GENERATION_OPTION
};
const RtGenerationAlias rt_generation_aliases[] = {
#define RT_GENERATION_OPTION(id, letter, name, argument, doc, more, kind, member, least, most, expected)
#define RT_GENERATION_ALIAS(name, id) { name, OPTION_##id },
#include "rt_generation_options.def"
#undef RT_GENERATION_OPTION
};
const int rt_generation_alias_count = (int)(sizeof rt_generation_aliases / sizeof *rt_generation_aliases);
const int rt_generation_option_count = (int)(sizeof rt_generation_options / sizeof *rt_generation_options);

static int is_digit(char c) { return c >= '0' && c <= '9'; }

static int integer(int *out, const char *text, const Row *r)
{
    char *end;
    errno = 0;
    const long n = strtol(text, &end, 10);
    if (errno || !is_digit(*text) || *end || n < (long)r->least || n > (long)r->most) return 1;
    *out = (int)n;
    return 0;
}

static int number(double *out, const char *text, const Row *r)
{
    char *end;
    *out = strtod(text, &end);
    const int begins = is_digit(*text) || *text == '.' || *text == '-';
    return !begins || *end || !(*out >= r->least && *out <= r->most) || (r->kind == ABOVE && *out == r->least);
}

static int real(float *out, const char *text, const Row *r)
{
    double x;
    if (number(&x, text, r)) return 1;
    *out = (float)x;
    return 0;
}

static int seed(uint64_t *out, const char *text)
{
    char *end;
    errno = 0;
    const unsigned long long n = strtoull(text, &end, 10);
    if (errno || !is_digit(*text) || *end) return 1;
    *out = n;
    return 0;
}

static int word(RtBeamStop *out, const char *text)
{
    /* In the order of RtBeamStop. */
    static const char *const words[] = { "false", "true", "never" };
    for (int i = 0; i < 3; i++) {
        if (strcmp(words[i], text)) continue;
        *out = (RtBeamStop)i;
        return 0;
    }
    return 1;
}

/* The index of an option by its name or an alias, or -1. */
static int option_of(const char *name)
{
    for (int i = 0; i < rt_generation_alias_count; i++)
        if (!strcmp(rt_generation_aliases[i].name, name)) return rt_generation_aliases[i].option;
    for (int i = 0; i < rt_generation_option_count; i++)
        if (!strcmp(rt_generation_options[i].name, name)) return i;
    return -1;
}

int rt_generation_set(RtGeneration *g, const char *name, const char *value, const char **expected)
{
    const int option = option_of(name);
    if (option < 0) return -1;
    const Row *r = &rows[option];
    void *at = (unsigned char *)g + r->at;
    double kept;
    *expected = r->expected;
    switch (r->kind) {
    case INTEGER: return integer(at, value, r);
    case REAL:
    case ABOVE: return real(at, value, r);
    case SEED:  return seed(at, value);
    case WORD:  return word(at, value);
    case DOUBLE:
        if (number(&kept, value, r)) return 1;
        *(double *)at = kept;
        return 0;
    }
    return -1;
}

const char *rt_generation_fault(const RtGeneration *g)
{
    if (g->beams > 1 && g->sampling.temperature > 0)
        return "a beam search does not sample: use --temperature 0 or --beam 1";
    return NULL;
}
