/* tokenizer_sets.c: sets of characters by Unicode property: \p{L}, \w and [[:alpha:]], as Oniguruma
 * defines them, and \w as Rust defines it. */
#include "tokenizer_build.h"

#include <string.h>

#include "tokenizer_unicode.h"

uint64_t tok_properties(const char *name)
{
    static const char *const names[] = {
        "Cn", "Lu", "Ll", "Lt", "Lm", "Lo", "Mn", "Mc", "Me", "Nd", "Nl", "No", "Pc", "Pd", "Ps",
        "Pe", "Pi", "Pf", "Po", "Sm", "Sc", "Sk", "So", "Zs", "Zl", "Zp", "Cc", "Cf", "Cs", "Co"
    };
    uint64_t set = 0;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0 || (strlen(name) == 1 && name[0] == names[i][0]))
            set |= UINT64_C(1) << i;
    return set | set << UNICODE_SPACE;
}

void tok_add_range(TokBuild *b, TokClass *c, uint32_t first, uint32_t last)
{
    if (c->count == c->room) c->ranges = tok_grow(b->arena, c->ranges, &c->room, sizeof *c->ranges);
    c->ranges[c->count++] = (TokRange){ first, last };
}

TokClass tok_word_class(TokBuild *b, bool in_brackets)
{
    /* Alphabetic characters, marks, decimal digits, connectors. The ranges are circled and squared
     * letters, which are alphabetic but not letters by category. */
    TokClass c = { .properties = tok_properties("L") | tok_properties("M") | tok_properties("Nd") |
                                 tok_properties("Nl") | tok_properties("Pc") };
    tok_add_range(b, &c, 0x24B6, 0x24E9);
    tok_add_range(b, &c, 0x1F130, 0x1F149);
    tok_add_range(b, &c, 0x1F150, 0x1F169);
    tok_add_range(b, &c, 0x1F170, 0x1F189);
    if (b->rust_words) tok_add_range(b, &c, 0x200C, 0x200D);
    else if (!in_brackets) {        /* superscript digits, fractions */
        tok_add_range(b, &c, 0xB2, 0xB3);
        tok_add_range(b, &c, 0xB9, 0xB9);
        tok_add_range(b, &c, 0xBC, 0xBE);
    }
    return c;
}

/* ---- [[:alpha:]] ----------------------------------------------------------------------------- */

static void add_properties(TokClass *c, const char *names)
{
    for (char name[3]; *names; names += strcspn(names, " "), names += *names == ' ') {
        const size_t n = strcspn(names, " ");
        memcpy(name, names, n);
        name[n] = '\0';
        c->properties |= tok_properties(name);
    }
}

static void add_era(TokBuild *b, TokClass *c, TokEra era)
{
    uint32_t first, last;
    for (int i = 0; tok_era_range(era, i, &first, &last); i++) tok_add_range(b, c, first, last);
}

/* properties: general categories, separated by spaces. without: all characters but these. */
typedef struct Posix {
    const char *name, *properties;
    TokEra era;
    bool without, word;
    uint32_t range[3][2];
} Posix;
static const Posix all[] = {
    { .name = "alnum", .properties = "L Nl Nd", .era = TOK_ERA_ALPHABETIC },
    { .name = "alpha", .properties = "L Nl", .era = TOK_ERA_ALPHABETIC },
    { .name = "ascii", .properties = "", .era = TOK_ERAS, .range = { { 0, 0x7F } } },
    { .name = "blank", .properties = "Zs", .era = TOK_ERAS, .range = { { 9, 9 } } },
    { .name = "cntrl", .properties = "Cc", .era = TOK_ERAS },
    { .name = "digit", .properties = "Nd", .era = TOK_ERAS },
    { .name = "graph", .properties = "Cc Cn Cs Zs Zl Zp", .era = TOK_ERAS, .without = true },
    { .name = "lower", .properties = "Ll", .era = TOK_ERA_LOWERCASE },
    { .name = "print", .properties = "Cc Cn Cs Zl Zp", .era = TOK_ERAS, .without = true },
    { .name = "punct", .properties = "P S", .era = TOK_ERAS },
    { .name = "space",
      .properties = "Zs Zl Zp",
      .era = TOK_ERAS,
      .range = { { 9, 13 }, { 0x85, 0x85 } } },
    { .name = "upper", .properties = "Lu", .era = TOK_ERA_UPPERCASE },
    { .name = "word", .properties = "", .era = TOK_ERAS, .word = true },
    { .name = "xdigit",
      .properties = "",
      .era = TOK_ERAS,
      .range = { { '0', '9' }, { 'A', 'F' }, { 'a', 'f' } } },
};

bool tok_posix_class(TokBuild *b, const char *name, size_t bytes, TokClass *c)
{
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        const Posix *p = &all[i];
        if (strlen(p->name) != bytes || memcmp(p->name, name, bytes) != 0) continue;
        *c = p->word ? tok_word_class(b, true) : (TokClass){ .negated = p->without };
        add_properties(c, p->properties);
        if (p->era != TOK_ERAS) add_era(b, c, p->era);
        for (int k = 0; k < 3 && p->range[k][1]; k++)
            tok_add_range(b, c, p->range[k][0], p->range[k][1]);
        return true;
    }
    return false;
}
