/* story.c: story.lua as C, made by xformc 0.9.0. Width 64.
 * Decoder of 5 layers, 8 heads (4 of keys and values) of 8, gated d_ff 172, rms norm (pre).
 *
 * Weights: 260032 parameters as f32, 1214208 bytes, identity e3017582d7f85f89.
 * State: 1540800 bytes, one slot of 983040 for keys and values, 557760 for everything else.
 * step: at most 1.19 MFLOP per row, at the last position; it reads 1.05 MB of weights.
 * Build: make, or cc -std=c11 -O3 -march=native -ffp-contract=off -Iruntime -c story.c
 *
 * This file has, in order: the weights, as structs; the state; binding; the blocks, as functions;
 * the programs, which call blocks; and other calls of story.h. The operations are in
 * story_kernels.h.
 * A comment above each call gives its equation and, at the right, the shape of its result. */
#include "rt.h"
#include "rt_rows.h"
#include "story_kernels.h"

#define HEAD_BYTES   ((size_t)5696)      /* bytes before the data of the packed file */
#define IDENTITY_AT  ((size_t)35)        /* offset of the 16 digits that bind compares */

/* ---- weights --------------------------------------------------------------------------------- */

/* W_BLOCK: where the weights of a block begin in the packed data, in bytes. */

/* Linears are panels of sixteen outputs: W[out][in] is [out / 16][in][out % 16]. */

#define W_DECODER_EMBEDDING ((size_t)0)
struct decoder_embedding {
    float embed_table[512][64];                                 /* a row for each id */
};
_Static_assert(sizeof(struct decoder_embedding) == 131072, "as packed");

#define W_DECODER_LAYER(layer) ((size_t)131072 + (size_t)(layer) * 183808)
struct decoder_layer {
    float norm_0[64];                                           /* weight */
    struct { float q[4][64][16], k[2][64][16], v[2][64][16]; } self_qkv;  /* 64 -> 64 | 32 | 32 */
    float self_out[4][64][16];                                  /* 64 -> 64 */
    float norm_1[64];                                           /* weight */
    struct { float gate[11][64][16], up[11][64][16]; } ffn_gate_up;  /* 64 -> 172 | 172 */
    float ffn_down[4][172][16];                                 /* 172 -> 64 */
};
_Static_assert(sizeof(struct decoder_layer) == 183808, "as packed");

#define W_DECODER_OUTPUT ((size_t)1050112)
struct decoder_output {
    float decoder_norm[64];                                     /* weight */
    float decoder_embed_table[32][64][16];                      /* 64 -> 512 */
};
_Static_assert(sizeof(struct decoder_output) == 131328, "as packed");

/* Shared by layers or blocks. */
#define W_DECODER_ROTARY_TABLE               ((size_t)1181440)    /* float[512][16] */

/* ---- state ----------------------------------------------------------------------------------- */

/* One sequence. For each layer and head: keys [positions / 16][width][16], values
 * [width / 16][positions][16]. */
struct slot {
    float self_k[5][4][32][8][16];
    float self_v[5][4][1][512][16];
};
_Static_assert(sizeof(struct slot) == 983040, "as planned");

/* The bytes of story_state. */
struct state {
    int source_length[1], next_position[1];      /* by slot */
    XF_ALIGN(64) struct slot slot[1];
    XF_ALIGN(64) int rows_ids[128];                             /* tokens of the rows of a call */
    XF_ALIGN(64) float decoder_x[1][64];                        /* one row, between layers */
    XF_ALIGN(64) int rows_positions[128];                       /* position of each in its slot */
    XF_ALIGN(64) int rows_visible[128];                         /* how many positions each sees */
    XF_ALIGN(64) float logits[128][528];
    XF_ALIGN(64) int next_id[128];                              /* argmax of each row */
    XF_ALIGN(64) float decoder_rows_x[128][64];                 /* several rows */
    XF_ALIGN(64) float scratch[62688];  /* work space; each block has its own layout */
    XF_ALIGN(64) rt_group groups[128];  /* rows of one slot, or of one text */
};
_Static_assert(sizeof(struct state) == STORY_STATE_BYTES, "as planned");

/* The arguments of a call, for its blocks. */
typedef struct job { const unsigned char *weights; struct state *state; int slot, rows;
                     const rt_group *groups, *groups_end; int keys_only; } job;
typedef void job_body(const job *j);

/* ---- binding --------------------------------------------------------------------------------- */

const unsigned story_isa = RT_ISA_BUILT;

rt_status story_bind(story *m, const void *weights, size_t bytes)
{
    static const char identity[] = "e3017582d7f85f89";      /* a hash of the graph and the layout */
    const unsigned char *head = weights;
    if (rt_isa_missing(story_isa)) return RT_NO_ISA;
    if (bytes != STORY_WEIGHTS_BYTES || (uintptr_t)weights % 64 != 0) return RT_BAD_WEIGHTS;
    const rt_status order = rt_head_check(head, HEAD_BYTES - 8);
    if (order != RT_OK) return order;
    for (size_t i = 0; identity[i]; i++)
        if (head[IDENTITY_AT + i] != (unsigned char)identity[i]) return RT_BAD_WEIGHTS;
    m->weights = head + HEAD_BYTES;
    return RT_OK;
}

rt_status story_threads(story *m, int n)
{
    return n < 1 || n > STORY_MAX_THREADS ? RT_TOO_LONG : rt_team_resize(&m->team, n);
}

/* ---- blocks ---------------------------------------------------------------------------------- */

/* Each decoder block appears twice: for one row, and (_rows) for several. */

/* Token embeddings. */
static void decoder_embedding(const job *j)
{
    const struct decoder_embedding *const w = (const void *)(j->weights + W_DECODER_EMBEDDING);
    struct state *const s = j->state;
    float *const x = s->decoder_x[0];

    /* x = embed_table[rows_ids]                                                       [rows, 64] */
    embed_64(x, w->embed_table, s->rows_ids);
}

/* Causal self-attention and feed-forward, each with a residual. One of 5 layers. */
static void decoder_layer(const job *j, int layer)
{
    const struct decoder_layer *const w = (const void *)(j->weights + W_DECODER_LAYER(layer));
    struct state *const s = j->state;
    float *const x = s->decoder_x[0];
    float *const norm_0 = s->scratch;                           /* [1][64] */
    float *const self_qkv = s->scratch + 1056;                  /* [1][128] */
    float *const self_q = self_qkv, *const self_k = self_qkv + 64, *const self_v = self_qkv + 96;
    float *const self_k_cache = s->slot[j->slot].self_k[layer][0][0][0];
    float *const self_v_cache = s->slot[j->slot].self_v[layer][0][0][0];
    float *const self_context = s->scratch + 1184;              /* [1][64] */
    float *const self_context_scratch = s->scratch;             /* [2][528] */
    float *const norm_1 = s->scratch + 176;                     /* [1][64] */
    float *const ffn_hidden = s->scratch;                       /* [1][176] */
    const rt_span all_8 = { 0, 8 };
    const rt_span all_4 = { 0, 4 };
    const rt_span all_11 = { 0, 11 };

    /* ---- self-attention */
    /* norm_0 = norm(x)                                                                [rows, 64] */
    norm_64(norm_0, x, w->norm_0);
    /* self_qkv = norm_0 [W_self_q^T | W_self_k^T | W_self_v^T]                       [rows, 128] */
    linear_64x128_unbiased(self_qkv, norm_0, &w->self_qkv, all_8);
    /* self_q = self_q rotated by rows_positions                                       [rows, 64] */
    rotary_8x8(self_q, self_q, j->weights + W_DECODER_ROTARY_TABLE, s->rows_positions, all_8);
    /* self_k = self_k rotated by rows_positions                                       [rows, 32] */
    rotary_4x8(self_k, self_k, j->weights + W_DECODER_ROTARY_TABLE, s->rows_positions, all_4);
    /* self_k_cache[rows_positions] = self_k                                         [target, 32] */
    store_keys_4x8_512(self_k_cache, self_k, s->rows_positions, all_4);
    /* self_v_cache[rows_positions] = self_v                                         [target, 32] */
    store_values_4x8_512(self_v_cache, self_v, s->rows_positions, all_4);
    /* self_context = softmax(self_q self_k_cache^T * 0.353553) self_v_cache           [rows, 64] */
    attention_8x8_512(self_context, self_q, self_k_cache, self_v_cache, self_context_scratch,
                      s->rows_visible, all_8);
    /* x = x + self_context W_self_out^T                                               [rows, 64] */
    linear_64x64_unbiased_add(x, self_context, w->self_out, x, all_4);

    /* ---- feed-forward */
    /* norm_1 = norm(x)                                                                [rows, 64] */
    norm_64(norm_1, x, w->norm_1);
    /* ffn_hidden = silu(norm_1 W_ffn_gate^T) * (norm_1 W_ffn_up^T)                   [rows, 172] */
    linear_64x172_unbiased_silu_gate(ffn_hidden, norm_1, &w->ffn_gate_up, all_11);
    /* x = x + ffn_hidden W_ffn_down^T                                                 [rows, 64] */
    linear_172x64_unbiased_add(x, ffn_hidden, w->ffn_down, x, all_4);
}

/* Final norm and logits. */
static void decoder_output(const job *j)
{
    const struct decoder_output *const w = (const void *)(j->weights + W_DECODER_OUTPUT);
    struct state *const s = j->state;
    float *const x = s->decoder_x[0];
    float *const logits = s->logits[0];
    const rt_span all_32 = { 0, 32 };

    /* x = norm(x)                                                                     [rows, 64] */
    norm_64(x, x, w->decoder_norm);
    /* logits = x W_decoder_embed_table^T                                             [rows, 512] */
    linear_64x512_unbiased(logits, x, w->decoder_embed_table, all_32);
}

/* The first maximum of the logits. */
static void argmax(const job *j)
{
    struct state *const s = j->state;
    float *const logits = s->logits[0];

    /* next_id = index of the maximum of logits                                            [rows] */
    argmax_512(s->next_id, logits);
}

/* Token embeddings. */
static void decoder_embedding_rows(const job *j)
{
    const struct decoder_embedding *const w = (const void *)(j->weights + W_DECODER_EMBEDDING);
    struct state *const s = j->state;
    float *const x = s->decoder_rows_x[0];
    const rt_span mine = { 0, j->rows };

    /* x = embed_table[rows_ids]                                                       [rows, 64] */
    embed_64_rows(x, w->embed_table, s->rows_ids, mine);
}

/* Causal self-attention and feed-forward, each with a residual. One of 5 layers. */
static void decoder_layer_rows(const job *j, int layer)
{
    const struct decoder_layer *const w = (const void *)(j->weights + W_DECODER_LAYER(layer));
    struct state *const s = j->state;
    float *const x = s->decoder_rows_x[0];
    float *const norm_0 = s->scratch;                           /* [128][64] */
    float *const self_qkv = s->scratch + 22528;                 /* [128][128] */
    float *const self_q = self_qkv, *const self_k = self_qkv + 64, *const self_v = self_qkv + 96;
    float *const self_context = s->scratch + 38912;             /* [128][64] */
    float *const self_context_scratch = s->scratch + 55296;     /* [14][528] */
    float *const norm_1 = s->scratch + 47104;                   /* [128][64] */
    float *const ffn_hidden = s->scratch;                       /* [128][176] */
    const rt_span mine = { 0, j->rows };

    /* ---- self-attention */
    /* norm_0 = norm(x)                                                                [rows, 64] */
    norm_64_rows(norm_0, x, w->norm_0, mine);
    /* self_qkv = norm_0 [W_self_q^T | W_self_k^T | W_self_v^T]                       [rows, 128] */
    linear_64x128_unbiased_rows(self_qkv, norm_0, &w->self_qkv, mine);
    /* self_q = self_q rotated by rows_positions                                       [rows, 64] */
    rotary_8x8_rows(self_q, self_q, j->weights + W_DECODER_ROTARY_TABLE, s->rows_positions, mine);
    /* self_k = self_k rotated by rows_positions                                       [rows, 32] */
    rotary_4x8_rows(self_k, self_k, j->weights + W_DECODER_ROTARY_TABLE, s->rows_positions, mine);
    /* self_k_cache[rows_positions] = self_k                                         [target, 32] */
    for (const rt_group *g = j->groups; g < j->groups_end; g++)
        store_keys_4x8_512_rows(s->slot[g->slot].self_k[layer][0][0][0], self_k, s->rows_positions,
                                rt_intersect(mine, g->rows));
    /* self_v_cache[rows_positions] = self_v                                         [target, 32] */
    for (const rt_group *g = j->groups; g < j->groups_end; g++)
        store_values_4x8_512_rows(s->slot[g->slot].self_v[layer][0][0][0], self_v,
                                  s->rows_positions, rt_intersect(mine, g->rows));
    if (j->keys_only && layer == 4) return;      /* prefill: nothing reads the rest */
    /* self_context = softmax(self_q self_k_cache^T * 0.353553) self_v_cache           [rows, 64] */
    for (const rt_group *g = j->groups; g < j->groups_end; g++)
        attention_8x8_512_rows(self_context, self_q, s->slot[g->slot].self_k[layer][0][0][0],
                               s->slot[g->slot].self_v[layer][0][0][0], self_context_scratch,
                               s->rows_visible, rt_intersect(mine, g->rows));
    /* x = x + self_context W_self_out^T                                               [rows, 64] */
    linear_64x64_unbiased_add_rows(x, self_context, w->self_out, x, mine);

    /* ---- feed-forward */
    /* norm_1 = norm(x)                                                                [rows, 64] */
    norm_64_rows(norm_1, x, w->norm_1, mine);
    /* ffn_hidden = silu(norm_1 W_ffn_gate^T) * (norm_1 W_ffn_up^T)                   [rows, 172] */
    linear_64x172_unbiased_silu_gate_rows(ffn_hidden, norm_1, &w->ffn_gate_up, mine);
    /* x = x + ffn_hidden W_ffn_down^T                                                 [rows, 64] */
    linear_172x64_unbiased_add_rows(x, ffn_hidden, w->ffn_down, x, mine);
}

/* Final norm and logits. */
static void decoder_output_rows(const job *j)
{
    const struct decoder_output *const w = (const void *)(j->weights + W_DECODER_OUTPUT);
    struct state *const s = j->state;
    float *const x = s->decoder_rows_x[0];
    float *const logits = s->logits[0];
    const rt_span mine = { 0, j->rows };

    /* x = norm(x)                                                                     [rows, 64] */
    norm_64_rows(x, x, w->decoder_norm, mine);
    /* logits = x W_decoder_embed_table^T                                             [rows, 512] */
    linear_64x512_unbiased_rows(logits, x, w->decoder_embed_table, mine);
}

/* The first maximum of each row's logits. */
static void argmax_rows(const job *j)
{
    struct state *const s = j->state;
    float *const logits = s->logits[0];
    const rt_span mine = { 0, j->rows };

    /* next_id = index of the maximum of logits                                            [rows] */
    argmax_512_rows(s->next_id, logits, mine);
}

/* ---- programs -------------------------------------------------------------------------------- */

/* step: turn one decoder row into logits. At most 1.19 MFLOP per row, at the last position; it
 * reads 1.05 MB of weights. */
static void step_body(const job *j)
{
    decoder_embedding(j);
    decoder_layer(j, 0);
    decoder_layer(j, 1);
    decoder_layer(j, 2);
    decoder_layer(j, 3);
    decoder_layer(j, 4);
    decoder_output(j);
}

/* next: find the most likely id after one decoder row. At most 1.19 MFLOP per row, at the last
 * position; it reads 1.05 MB of weights. */
static void next_body(const job *j)
{
    decoder_embedding(j);
    decoder_layer(j, 0);
    decoder_layer(j, 1);
    decoder_layer(j, 2);
    decoder_layer(j, 3);
    decoder_layer(j, 4);
    decoder_output(j);
    argmax(j);
}

/* decode: turn decoder rows into logits. At most 1.19 MFLOP per row, at the last position; it reads
 * 1.05 MB of weights. */
static void decode_body(const job *j)
{
    decoder_embedding_rows(j);
    decoder_layer_rows(j, 0);
    decoder_layer_rows(j, 1);
    decoder_layer_rows(j, 2);
    decoder_layer_rows(j, 3);
    decoder_layer_rows(j, 4);
    decoder_output_rows(j);
}

/* prefill: turn decoder rows into keys and values, without computing logits. */
static void prefill_body(const job *j)
{
    decoder_embedding_rows(j);
    decoder_layer_rows(j, 0);
    decoder_layer_rows(j, 1);
    decoder_layer_rows(j, 2);
    decoder_layer_rows(j, 3);
    decoder_layer_rows(j, 4);
}

/* decode_greedy: find the most likely id after each decoder row. At most 1.19 MFLOP per row, at the
 * last position; it reads 1.05 MB of weights. */
static void decode_greedy_body(const job *j)
{
    decoder_embedding_rows(j);
    decoder_layer_rows(j, 0);
    decoder_layer_rows(j, 1);
    decoder_layer_rows(j, 2);
    decoder_layer_rows(j, 3);
    decoder_layer_rows(j, 4);
    decoder_output_rows(j);
    argmax_rows(j);
}

/* ---- the calls ------------------------------------------------------------------------------- */

void story_reset(story_state *state)
{
    struct state *const s = (struct state *)(void *)state;
    rt_clear(s->source_length, sizeof s->source_length);
    rt_clear(s->next_position, sizeof s->next_position);
}

/* The rows in a state, for rt_rows.h. */
static RtRows rows_of(struct state *s)
{
    const RtRows r = {
        .slots = STORY_SLOTS, .vocab = STORY_VOCAB,
        .positions_most = STORY_MAX_TARGET, .rows_most = STORY_ROWS,
        .source_length = s->source_length, .next_position = s->next_position,
        .ids = s->rows_ids, .positions = s->rows_positions, .visible = s->rows_visible,
    };
    return r;
}

/* Run `one` for a single row, unless it is NULL; otherwise run `many`. */
static rt_status run_rows(const story *m, struct state *s, const rt_token *rows, int n,
                          job_body *one, job_body *many)
{
    const RtRows r = rows_of(s);
    const rt_status status = rt_rows_begin(&r, rows, n);
    if (status != RT_OK) return status;
    job j = { .weights = m->weights, .state = s, .keys_only = many == prefill_body,
              .slot = rows->slot, .rows = n, .groups = s->groups };
    j.groups_end = rt_rows_group(rows, n, s->groups);
    job_body *const body = n == 1 && one ? one : many;
    body(&j);
    rt_rows_end(&r, rows, n);
    return RT_OK;
}

rt_status story_decode(const story *m, story_state *state, const rt_token *rows, int n)
{
    struct state *const s = (struct state *)(void *)state;
    return run_rows(m, s, rows, n, step_body, decode_body);
}

rt_status story_prefill(const story *m, story_state *state, const rt_token *rows, int n)
{
    struct state *const s = (struct state *)(void *)state;
    return run_rows(m, s, rows, n, NULL, prefill_body);
}

rt_status story_decode_greedy(const story *m, story_state *state, const rt_token *rows, int n,
                              int *next)
{
    struct state *const s = (struct state *)(void *)state;
    int good = 1;
    const rt_status status = run_rows(m, s, rows, n, next_body, decode_greedy_body);
    if (status != RT_OK) return status;
    for (int i = 0; i < n; i++) {
        next[i] = s->next_id[i];
        good = good && next[i] >= 0;
    }
    return good ? RT_OK : RT_NOT_FINITE;            /* a logit is NaN or +infinity */
}

rt_status story_fork(story_state *state, int from, int to)
{
    struct state *const s = (struct state *)(void *)state;
    if (from < 0 || from >= STORY_SLOTS || to < 0 || to >= STORY_SLOTS) return RT_BAD_ID;
    if (from == to) return RT_OK;
    const RtRows r = rows_of(s);
    rt_copy(&s->slot[to], &s->slot[from], sizeof *s->slot);
    rt_rows_fork(&r, from, to);
    return RT_OK;
}

rt_status story_clear(story_state *state, int slot)
{
    struct state *const s = (struct state *)(void *)state;
    if (slot < 0 || slot >= STORY_SLOTS) return RT_BAD_ID;
    s->next_position[slot] = 0;
    return RT_OK;
}

rt_status story_step(const story *m, story_state *state, int id)
{
    struct state *const s = (struct state *)(void *)state;
    const rt_token row = { 0, s->next_position[0], id };
    return run_rows(m, s, &row, 1, step_body, decode_body);
}

const float *story_logits(const story_state *state)
{
    const struct state *const s = (const struct state *)(const void *)state;
    return s->logits[0];
}

rt_status story_next(const story *m, story_state *state, int id, int *next)
{
    struct state *const s = (struct state *)(void *)state;
    const rt_token row = { 0, s->next_position[0], id };
    return story_decode_greedy(m, state, &row, 1, next);
}
