/* rt_tokenizer_match.c: patterns over character classes. A pattern is an acyclic graph of nodes;
 * alternatives are tried in order and a repetition gives back one character at a time, as in Perl
 * and Oniguruma. A node that fails at a position always fails there, so the failures of nodes that
 * may be tried often at a position are noted. */
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

static RtTokNode node_at(const TokMatcher *m, uint32_t node)
{
    const unsigned char *p = m->t->section[TOK_NODES] + (size_t)node * 4 * TOK_NODE_WORDS;
    return (RtTokNode){ rt_tok_u32(p),      rt_tok_u32(p + 4),  rt_tok_u32(p + 8),  rt_tok_u32(p + 12),
                        rt_tok_u32(p + 16), rt_tok_u32(p + 20), rt_tok_u32(p + 24), 0 };
}

/* The length of the character at `at` if it is of the class, else 0. */
static size_t one(const TokMatcher *m, uint32_t class, size_t at)
{
    int32_t c;
    if (at >= m->n) return 0;
    const int length = rt_tok_character(m->s + at, m->n - at, &c);
    return rt_tok_in_class(m->t, class, c) ? (size_t)length : 0;
}

/* ---- what has failed -------------------------------------------------------------------------------------- */

static bool is_noted(const TokMatcher *m, const RtTokNode *node) { return node->e && node->e <= m->memos; }

static size_t memo(const TokMatcher *m, const RtTokNode *node, size_t at) { return at * m->memos + node->e - 1; }

static bool has_failed(const TokMatcher *m, const RtTokNode *node, size_t at)
{
    const size_t i = memo(m, node, at);
    return m->failed[i >> 3] >> (i & 7) & 1;
}

static void note(const TokMatcher *m, const RtTokNode *node, size_t at)
{
    const size_t i = memo(m, node, at);
    m->failed[i >> 3] |= (unsigned char)(1 << (i & 7));
}

/* A repetition without an upper limit that backtracks, and whose failures are noted. If it fails at
 * a place, it also fails at every later place in the run of its class, since the rest of the
 * pattern fails wherever the repetition can end. */
static bool is_run(const TokMatcher *m, const RtTokNode *node) { return is_noted(m, node) && node->c == TOK_REPEAT_MOST && node->d != 2; }

static size_t fail(const TokMatcher *m, const RtTokNode *node, size_t from, size_t to)
{
    if (is_noted(m, node)) note(m, node, from);
    if (!is_run(m, node)) return SIZE_MAX;
    for (int32_t c; from < to; note(m, node, from)) from += (size_t)rt_tok_character(m->s + from, m->n - from, &c);
    return SIZE_MAX;
}

/* The most characters that can match if the repetition is known to fail after `count` of them: the
 * rest of the pattern then fails wherever node->b or more characters follow those. */
static int64_t most_behind(const RtTokNode *node, int64_t count) { return count + node->b - 1; }

/* ---- matching --------------------------------------------------------------------------------------------- */

static size_t match(const TokMatcher *m, uint32_t node, size_t at);

/* Match as many characters as possible, then, unless the repetition is possessive, fewer, until the
 * rest matches. */
static size_t match_most(const TokMatcher *m, const RtTokNode *node, size_t from)
{
    const bool run = is_run(m, node);
    int64_t count = 0, most = node->c;
    size_t at = from;
    for (size_t n; count < most && (n = one(m, node->a, at));) {
        at += n;
        count++;
        if (run && most == node->c && has_failed(m, node, at)) most = most_behind(node, count);
    }
    const size_t to = at;
    if (count < node->b) return fail(m, node, from, to);
    for (;; count--, at = rt_tok_back(m->s, at)) {
        const size_t end = count <= most ? match(m, node->next, at) : SIZE_MAX;
        if (end != SIZE_MAX) return end;
        if (count == node->b || node->d == 2) return fail(m, node, from, to);
    }
}

static size_t match_fewest(const TokMatcher *m, const RtTokNode *node, size_t from)
{
    const bool run = is_run(m, node);
    int64_t count = 0, most = node->c;
    for (size_t at = from;; count++) {
        if (run && count && most == node->c && has_failed(m, node, at)) most = most_behind(node, count);
        const size_t end = count >= node->b && count <= most ? match(m, node->next, at) : SIZE_MAX;
        if (end != SIZE_MAX) return end;
        const size_t n = count < most ? one(m, node->a, at) : 0;
        if (!n) return fail(m, node, from, at);
        at += n;
    }
}

/* known: a node whose failures the caller notes. */
static size_t match_from(const TokMatcher *m, uint32_t number, size_t at, uint32_t known)
{
    for (;;) {
        const RtTokNode node = node_at(m, number);
        const bool noted = number != known && is_noted(m, &node);
        size_t end, n;
        if (noted && has_failed(m, &node, at)) return SIZE_MAX;
        if (node.kind == TOK_NODE_CHARS && (node.b != 1 || node.c != 1))
            return node.d == 1 ? match_fewest(m, &node, at) : match_most(m, &node, at);
        if (noted) {
            if ((end = match_from(m, number, at, number)) == SIZE_MAX) note(m, &node, at);
            return end;
        }
        switch ((RtTokNodeKind)node.kind) {
        case TOK_NODE_MATCH: return at;
        case TOK_NODE_CHARS:
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

static size_t match(const TokMatcher *m, uint32_t node, size_t at) { return match_from(m, node, at, RT_TOK_NONE); }

bool rt_tok_matcher(TokWork *w, TokMatcher *m, uint32_t node, const unsigned char *s, size_t n)
{
    const uint32_t memos = rt_tok_at(w->t, TOK_NODES, (size_t)node * TOK_NODE_WORDS + 7);
    *m = (TokMatcher){ .t = w->t, .s = s, .n = n, .first = node, .memos = memos };
    if (!memos) return true;
    m->failed = rt_tok_take(w, rt_tok_matcher_bytes(memos, n));
    if (m->failed) memset(m->failed, 0, rt_tok_matcher_bytes(memos, n));
    return m->failed != NULL;
}

size_t rt_tok_match(const TokMatcher *m, size_t at) { return match(m, m->first, at); }
