/* rt_tokenizer_match.c: patterns over character classes. A pattern is a graph of nodes without a circle; alternatives are
 * tried in order and a repetition gives back one character at a time, as Perl's and Oniguruma's do. */
#include "rt_tokenizer_parts.h"

bool rt_tok_in_class(const RtTokenizer *t, uint32_t class, int32_t c)
{
    const unsigned char *p = t->section[TOK_CLASSES] + (size_t)class * 4 * TOK_CLASS_WORDS;
    if (c < 128) return rt_tok_u32(p + 4 * (c >> 5)) >> (c & 31) & 1;
    const uint64_t properties = rt_tok_u32(p + 16) | (uint64_t)rt_tok_u32(p + 20) << 32;
    const uint32_t first = rt_tok_u32(p + 24), ranges = rt_tok_u32(p + 28);
    bool in = properties && properties >> rt_tok_lookup(t, TOK_PROPERTIES, c, 1) & 1;
    for (uint32_t i = 0; i < ranges && !in; i++) {
        const unsigned char *range = t->section[TOK_RANGES] + 8 * ((size_t)first + i);
        in = (uint32_t)c >= rt_tok_u32(range) && (uint32_t)c <= rt_tok_u32(range + 4);
    }
    return in != (rt_tok_u32(p + 32) != 0);
}

typedef struct Matcher { const RtTokenizer *t; const unsigned char *s; size_t n; } Matcher;

static RtTokNode node_at(const Matcher *m, uint32_t node)
{
    const unsigned char *p = m->t->section[TOK_NODES] + (size_t)node * 4 * TOK_NODE_WORDS;
    return (RtTokNode){ rt_tok_u32(p), rt_tok_u32(p + 4), rt_tok_u32(p + 8), rt_tok_u32(p + 12), rt_tok_u32(p + 16), rt_tok_u32(p + 20), 0, 0 };
}

/* The length of the character at `at` if it is of the class, else 0. */
static size_t one(const Matcher *m, uint32_t class, size_t at)
{
    int32_t c;
    if (at >= m->n) return 0;
    const int length = rt_tok_character(m->s + at, m->n - at, &c);
    return rt_tok_in_class(m->t, class, c) ? (size_t)length : 0;
}

static size_t match(const Matcher *m, uint32_t node, size_t at);

/* As many characters as may be, then fewer, until the rest matches. */
static size_t match_most(const Matcher *m, const RtTokNode *node, size_t at)
{
    size_t count = 0;
    for (size_t n; count < node->c && (n = one(m, node->a, at)); count++) at += n;
    if (count < node->b) return SIZE_MAX;
    for (;; count--, at = rt_tok_back(m->s, at)) {
        const size_t end = match(m, node->next, at);
        if (end != SIZE_MAX || count == node->b || node->d == 2) return end;
    }
}

static size_t match_fewest(const Matcher *m, const RtTokNode *node, size_t at)
{
    for (size_t count = 0;; count++) {
        const size_t end = count >= node->b ? match(m, node->next, at) : SIZE_MAX;
        const size_t n = end == SIZE_MAX && count < node->c ? one(m, node->a, at) : 0;
        if (!n) return end;
        at += n;
    }
}

static size_t match(const Matcher *m, uint32_t number, size_t at)
{
    for (;;) {
        const RtTokNode node = node_at(m, number);
        size_t end, n;
        switch ((RtTokNodeKind)node.kind) {
        case TOK_NODE_MATCH: return at;
        case TOK_NODE_CHARS:
            if (node.b != 1 || node.c != 1) return node.d == 1 ? match_fewest(m, &node, at) : match_most(m, &node, at);
            if (!(n = one(m, node.a, at))) return SIZE_MAX;
            at += n;
            break;
        case TOK_NODE_EITHER:
            if ((end = match(m, node.a, at)) != SIZE_MAX) return end;
            break;
        case TOK_NODE_AHEAD:
            if ((match(m, node.a, at) != SIZE_MAX) == (node.b != 0)) return SIZE_MAX;
            break;
        case TOK_NODE_START:
            if (at) return SIZE_MAX;
            break;
        case TOK_NODE_END:
            if (at < m->n) return SIZE_MAX;
            break;
        case TOK_NODE_KINDS: return SIZE_MAX;
        }
        number = node.next;
    }
}

size_t rt_tok_match(const RtTokenizer *t, uint32_t node, const unsigned char *s, size_t n, size_t at)
{
    const Matcher m = { t, s, n };
    return match(&m, node, at);
}
