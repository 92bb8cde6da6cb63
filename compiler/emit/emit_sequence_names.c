/* emit_sequence_names.c: the external names of sequence models, for variants by instruction set. */
#include "emit_kind.h"

const char *emit_scores(const Model *m) { return m->log_softmax ? "scores" : "logits"; }

enum {
    NEED_ENCODER = 1, NEED_ENCODER_ALONE = 2, NEED_DECODER = 4, NEED_IDS = 8, NEED_PAIR = 16, NEED_TOKENIZER = 32,
    NEED_HEAD = 64, NEED_HALF = 128, NEED_LOGITS = 256, NEED_SCORES = 512, NEED_TARGET_IDS = 1024
};
typedef struct NeededName { unsigned need; EmitName name; } NeededName;
static const NeededName sequence_names[] = {
    { NEED_ENCODER,       { "encode", "${name}_state *s, int slot, const int *ids, int n", "s, slot, ids, n" } },
    { NEED_ENCODER_ALONE, { "encode_batch",
                            "${name}_state *s, const int *ids, const int *lengths, const int *firsts, int count, float *vectors",
                            "s, ids, lengths, firsts, count, vectors" } },
    { NEED_PAIR,          { "encode_pair", "${name}_state *s, int slot, const int *ids, int n, int first", "s, slot, ids, n, first" } },
    { NEED_ENCODER_ALONE, { "hidden", NULL, NULL } },
    { NEED_HEAD,          { "vector", NULL, NULL } },
    { NEED_DECODER,       { "decode", "${name}_state *s, const rt_token *rows, int n", "s, rows, n" } },
    { NEED_DECODER,       { "prefill", "${name}_state *s, const rt_token *rows, int n", "s, rows, n" } },
    { NEED_DECODER,       { "decode_greedy", "${name}_state *s, const rt_token *rows, int n, int *next", "s, rows, n, next" } },
    { NEED_DECODER,       { "step", "${name}_state *s, int id", "s, id" } },
    { NEED_DECODER,       { "next", "${name}_state *s, int id, int *next", "s, id, next" } },
    { NEED_DECODER,       { "fork", NULL, NULL } },
    { NEED_DECODER,       { "clear", NULL, NULL } },
    { NEED_LOGITS,        { "logits", NULL, NULL } },
    { NEED_SCORES,        { "scores", NULL, NULL } },
    { NEED_HALF,          { "saturated", NULL, NULL } },
    { NEED_IDS,           { "tokenize", NULL, NULL } },
    { NEED_IDS,           { "detokenize", NULL, NULL } },
    { NEED_TARGET_IDS,    { "tokenize_target", NULL, NULL } },
    { NEED_TOKENIZER,     { "tokenizer", NULL, NULL } },
};
enum { SEQUENCE_NAMES = sizeof sequence_names / sizeof *sequence_names };

const EmitName *emit_sequence_names(Emit *e, int *n)
{
    const Model *m = e->model;
    const unsigned has = (model_has_head(m) ? NEED_HEAD : 0u) | (e->plan->saturated_offset ? NEED_HALF : 0u) |
                         (m->has_encoder ? NEED_ENCODER : 0u) | (m->has_encoder && !m->has_decoder ? NEED_ENCODER_ALONE : 0u) |
                         (m->token_types > 1 ? NEED_PAIR : 0u) |
                         (m->has_decoder ? NEED_DECODER : 0u) |
                         (!m->has_decoder ? 0u : m->log_softmax ? NEED_SCORES : NEED_LOGITS) |
                         (has_text(e) || has_pieces(e) ? NEED_IDS : 0u) |
                         (emit_answers_text(e) ? NEED_TARGET_IDS : 0u) | (has_pieces(e) ? NEED_TOKENIZER : 0u);
    EmitName *names = arena_array(e->arena, SEQUENCE_NAMES, sizeof *names);
    *n = 0;
    for (int i = 0; i < SEQUENCE_NAMES; i++)
        if (sequence_names[i].need & has) names[(*n)++] = sequence_names[i].name;
    return names;
}
