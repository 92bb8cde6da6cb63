/* regex_memo.c: which nodes of a pattern the matcher notes the failures of, so that giving back characters never multiplies:
 * those that it may come to again at the same place, and that are not done at once. The patterns of known tokenizers have
 * none or a few. */
#include "tokenizer_build.h"

typedef struct Nodes { const RtTokNode *at; uint32_t offset, count; } Nodes;    /* of one pattern, numbers from `offset` on */

static const RtTokNode *node_of(const Nodes *p, uint32_t number) { return &p->at[number - p->offset]; }

static bool is_choice(const RtTokNode *node) { return node->kind == TOK_NODE_CHARS && node->b != node->c; }

/* Whether it matches at every place. */
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

/* Characters that are counted, and nothing else. */
static bool is_fixed(const Nodes *p, uint32_t number)
{
    const RtTokNode *node = node_of(p, number);
    for (; node->kind == TOK_NODE_CHARS && node->b == node->c; node = node_of(p, node->next)) continue;
    return node->kind == TOK_NODE_MATCH;
}

/* Whether a try fails after a number of steps that no text makes larger, or ends the match. Not so within what looks ahead, behind which the match
 * goes on. */
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
    uint32_t memos = 0, *ways = arena_array(b->arena, count, sizeof *ways);     /* how many nodes lead to each; behind a repetition: many */
    bool *ahead = arena_array(b->arena, count, sizeof *ahead);                  /* part of what looks ahead */
    for (uint32_t i = 0; i < count; i++) {                                      /* what follows has the higher number */
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
