/* regex_memo.c: choose the nodes of a pattern whose failures the matcher remembers, so that nested
 * backtracking does not multiply the steps. These are the nodes that may be tried again at the same
 * place and are not cheap, and the nodes of lookaheads. The patterns of known tokenizers have few
 * such nodes, or none. */
#include "tokenizer_build.h"

/* The nodes of one pattern, numbered from `offset` on. */
typedef struct Nodes { const RtTokNode *at; uint32_t offset, count; } Nodes;

static const RtTokNode *node_of(const Nodes *p, uint32_t number) { return &p->at[number - p->offset]; }

static bool is_choice(const RtTokNode *node) { return node->kind == TOK_NODE_CHARS && node->b != node->c; }

/* True if the pattern from this node on matches at every place. */
static bool always_matches(const Nodes *p, uint32_t number)
{
    for (;;) {
        const RtTokNode *node = node_of(p, number);
        if (node->kind == TOK_NODE_MATCH) return true;
        if (node->kind == TOK_NODE_EITHER) {
            if (always_matches(p, node->a)) return true;
        } else if (node->kind != TOK_NODE_CHARS || node->b) return false;
        number = node->next;
    }
}

/* True if only repetitions with fixed counts follow, up to the match. */
static bool is_fixed(const Nodes *p, uint32_t number)
{
    const RtTokNode *node = node_of(p, number);
    for (; node->kind == TOK_NODE_CHARS && node->b == node->c; node = node_of(p, node->next)) continue;
    return node->kind == TOK_NODE_MATCH;
}

/* True if trying the node fails after a number of steps that does not depend on the text, or
 * completes the match. Not valid in a lookahead, after which the match continues. */
static bool is_cheap(const Nodes *p, uint32_t number)
{
    for (;;) {
        const RtTokNode *node = node_of(p, number);
        switch ((RtTokNodeKind)node->kind) {
        case TOK_NODE_MATCH: return true;
        case TOK_NODE_CHARS:
            if (is_choice(node)) return node->b <= 1 && always_matches(p, node->next);
            break;
        case TOK_NODE_AHEAD:
            if (!is_fixed(p, node->a)) return false;
            break;
        case TOK_NODE_EITHER: return false;
        case TOK_NODE_START:
        case TOK_NODE_END:
        case TOK_NODE_KINDS: break;
        }
        number = node->next;
    }
}

void tok_memo(TokBuild *b, uint32_t offset, uint32_t first)
{
    RtTokNode *nodes = b->nodes.at + offset;
    const uint32_t count = (uint32_t)b->nodes.count - offset;
    const Nodes p = { nodes, offset, count };
    /* ways: how many nodes lead to each node; a repetition whose count varies counts twice.
     * ahead: part of a lookahead. One pass is enough, since successors have higher numbers. */
    uint32_t memos = 0, *ways = arena_array(b->arena, count, sizeof *ways);
    bool *ahead = arena_array(b->arena, count, sizeof *ahead);
    for (uint32_t i = 0; i < count; i++) {
        const RtTokNode *node = &nodes[i];
        if (node->kind == TOK_NODE_MATCH) continue;
        ways[node->next - offset] += is_choice(node) ? 2 : 1;
        ahead[node->next - offset] |= ahead[i];
        if (node->kind != TOK_NODE_EITHER && node->kind != TOK_NODE_AHEAD) continue;
        ways[node->a - offset]++;
        ahead[node->a - offset] |= ahead[i] || node->kind == TOK_NODE_AHEAD;
    }
    for (uint32_t i = 0; i < count; i++)
        if ((ways[i] > 1 || is_choice(&nodes[i]) || ahead[i]) && nodes[i].kind != TOK_NODE_MATCH && (ahead[i] || !is_cheap(&p, offset + i)))
            nodes[i].e = ++memos;
    nodes[first - offset].f = memos;
}
