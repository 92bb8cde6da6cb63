/* dates.c: dates.lua as C, made by xformc 0.9.0. Width 64.
 * Encoder of 2 layers, 4 heads of 16, d_ff 256, annotated norm (pre).
 * Decoder of 2 layers, 4 heads of 16, d_ff 256, annotated norm (pre).
 *
 * Weights: 239887 parameters as f32, 984384 bytes, identity 8c36158f2411bbae.
 * State: 438720 bytes, one slot of 98304 for keys and values, 340416 for everything else.
 * encode: at most 22 MFLOP for a source of 80.
 * step: at most 285 kFLOP per row, at the last position; it reads 473 kB of weights.
 * Build: make, or cc -std=c11 -O2 -march=native -ffp-contract=off -Iruntime -c dates.c
 *
 * This file has, in order: the weights, as structs; the state; binding; the blocks, as functions;
 * the programs, which call blocks; and other calls of dates.h. The operations are in
 * dates_kernels.h.
 * Every thread runs the same code on its share (rt_split), and waits for the others where it needs
 * their results (rt_barrier).
 * A comment above each call gives its equation and, at the right, the shape of its result. */
#include "rt.h"
#include "rt_rows.h"
#include "dates_kernels.h"

#define HEAD_BYTES   ((size_t)5952)      /* bytes before the data of the packed file */
#define IDENTITY_AT  ((size_t)35)        /* offset of the 16 digits that bind compares */

/* ---- weights --------------------------------------------------------------------------------- */

/* W_BLOCK: where the weights of a block begin in the packed data, in bytes. */

/* A panel: sixteen outputs of a linear side by side, a row for each input: W[out][in] is
 * panel[out / 16].weight[in][out % 16]. The last panel is padded. */
struct panel_64 { float bias[16], weight[64][16]; };
struct panel_256 { float bias[16], weight[256][16]; };

#define W_ENCODER_EMBEDDING ((size_t)0)
struct encoder_embedding {
    float embed_table[66][64];                                  /* a row for each id */
    float position_table[80][64];  /* sinusoids, a row for each position */
};
_Static_assert(sizeof(struct encoder_embedding) == 37376, "as packed");

#define W_ENCODER_LAYER(layer) ((size_t)37376 + (size_t)(layer) * 199936)
struct encoder_layer {
    float norm_0[2][64];                                        /* weight, bias */
    struct { struct panel_64 q[4], k[4], v[4]; } self_qkv;      /* 64 -> 64 | 64 | 64 */
    struct panel_64 self_out[4];                                /* 64 -> 64 */
    float norm_1[2][64];                                        /* weight, bias */
    struct panel_64 ffn_up[16];                                 /* 64 -> 256 */
    struct panel_256 ffn_down[4];                               /* 256 -> 64 */
};
_Static_assert(sizeof(struct encoder_layer) == 199936, "as packed");

#define W_ENCODER_END ((size_t)437248)
struct encoder_end {
    float norm[2][64];                                          /* weight, bias */
};
_Static_assert(sizeof(struct encoder_end) == 512, "as packed");

#define W_DECODER_MEMORY(layer) ((size_t)437760 + (size_t)(layer) * 33280)
struct decoder_memory {
    struct { struct panel_64 k[4], v[4]; } cross_kv;            /* 64 -> 64 | 64 */
};
_Static_assert(sizeof(struct decoder_memory) == 33280, "as packed");

#define W_DECODER_EMBEDDING ((size_t)504320)
struct decoder_embedding {
    float embed_table[15][64];                                  /* a row for each id */
    float position_table[12][64];  /* sinusoids, a row for each position */
};
_Static_assert(sizeof(struct decoder_embedding) == 6912, "as packed");

#define W_DECODER_LAYER(layer) ((size_t)511232 + (size_t)(layer) * 233728)
struct decoder_layer {
    float norm_0[2][64];                                        /* weight, bias */
    struct { struct panel_64 q[4], k[4], v[4]; } self_qkv;      /* 64 -> 64 | 64 | 64 */
    struct panel_64 self_out[4];                                /* 64 -> 64 */
    float norm_1[2][64];                                        /* weight, bias */
    struct panel_64 cross_q[4];                                 /* 64 -> 64 */
    struct panel_64 cross_out[4];                               /* 64 -> 64 */
    float norm_2[2][64];                                        /* weight, bias */
    struct panel_64 ffn_up[16];                                 /* 64 -> 256 */
    struct panel_256 ffn_down[4];                               /* 256 -> 64 */
};
_Static_assert(sizeof(struct decoder_layer) == 233728, "as packed");

#define W_DECODER_OUTPUT ((size_t)978688)
struct decoder_output {
    float decoder_norm[2][64];                                  /* weight, bias */
    struct panel_64 output[1];                                  /* 64 -> 15 */
};
_Static_assert(sizeof(struct decoder_output) == 4672, "as packed");

/* Tables of the tokenizer. */
#define W_SOURCE_CHARACTERS                  ((size_t)983360)    /* int32_t[128] */
#define W_SOURCE_TEXTS                       ((size_t)983872)    /* int32_t[80] */
#define W_TARGET_CHARACTERS                  ((size_t)984192)    /* int32_t[32] */
#define W_TARGET_TEXTS                       ((size_t)984320)    /* int32_t[16] */

/* ---- state ----------------------------------------------------------------------------------- */

/* One sequence. For each layer and head: keys [positions / 16][width][16], values
 * [width / 16][positions][16]. */
struct slot {
    float cross_k[2][4][5][16][16];
    float cross_v[2][4][1][80][16];
    float self_k[2][4][1][16][16];
    float self_v[2][4][1][16][16];
};
_Static_assert(sizeof(struct slot) == 98304, "as planned");

/* The bytes of dates_state. */
struct state {
    int source_length[1], next_position[1];      /* by slot */
    XF_ALIGN(64) struct slot slot[1];
    XF_ALIGN(64) int source_ids[80];                            /* tokens of the source */
    XF_ALIGN(64) int source_positions[80];                      /* position of each token */
    XF_ALIGN(64) float encoder_x[80][64];                       /* rows between encoder layers */
    XF_ALIGN(64) int source_visible[80];                        /* how many positions each sees */
    XF_ALIGN(64) int rows_ids[12];                              /* tokens of the rows of a call */
    XF_ALIGN(64) int rows_positions[12];                        /* position of each in its slot */
    XF_ALIGN(64) float decoder_x[1][64];                        /* one row, between layers */
    XF_ALIGN(64) int rows_visible[12];                          /* how many positions each sees */
    XF_ALIGN(64) int rows_visible_memory[12];  /* how many source positions each sees */
    XF_ALIGN(64) float logits[12][16];
    XF_ALIGN(64) int next_id[12];                               /* argmax of each row */
    XF_ALIGN(64) float decoder_rows_x[12][64];                  /* several rows */
    XF_ALIGN(64) float scratch[77824];  /* work space; each block has its own layout */
    XF_ALIGN(64) rt_group groups[12];  /* rows of one slot, or of one text */
    XF_ALIGN(64) int text_ids[80];                              /* a text as ids */
    XF_ALIGN(64) unsigned char text_work[2640];                 /* for the tokenizer and answers */
};
_Static_assert(sizeof(struct state) == DATES_STATE_BYTES, "as planned");

/* The arguments of a call, for every thread. */
typedef struct job { const unsigned char *weights; struct rt_team *team; struct state *state;
                     int slot, rows; const rt_group *groups, *groups_end; int keys_only; } job;

/* ---- binding --------------------------------------------------------------------------------- */

const unsigned dates_isa = RT_ISA_BUILT;

rt_status dates_bind(dates *m, const void *weights, size_t bytes)
{
    static const char identity[] = "8c36158f2411bbae";      /* a hash of the graph and the layout */
    const unsigned char *head = weights;
    if (rt_isa_missing(dates_isa)) return RT_NO_ISA;
    if (bytes != DATES_WEIGHTS_BYTES || (uintptr_t)weights % 64 != 0) return RT_BAD_WEIGHTS;
    const rt_status order = rt_head_check(head, HEAD_BYTES - 8);
    if (order != RT_OK) return order;
    for (size_t i = 0; identity[i]; i++)
        if (head[IDENTITY_AT + i] != (unsigned char)identity[i]) return RT_BAD_WEIGHTS;
    m->weights = head + HEAD_BYTES;
    return RT_OK;
}

rt_status dates_threads(dates *m, int n)
{
    return n < 1 || n > DATES_MAX_THREADS ? RT_TOO_LONG : rt_team_resize(&m->team, n);
}

/* ---- blocks ---------------------------------------------------------------------------------- */

/* Each decoder block appears twice: for one row, where threads divide panels and heads, and
 * (_rows) for several, where threads divide the rows. */

/* Token embeddings, scaled, plus positions. */
static void encoder_embedding(const job *j, int thread, int threads)
{
    const struct encoder_embedding *const w = (const void *)(j->weights + W_ENCODER_EMBEDDING);
    struct state *const s = j->state;
    float *const x = s->encoder_x[0];
    const rt_span mine = rt_split(j->rows, thread, threads);     /* this thread's rows */

    /* x = 8 * embed_table[source_ids]                                               [source, 64] */
    embed_64_rows(x, w->embed_table, s->source_ids, mine);
    /* x = x + position_table[source_positions]                                      [source, 64] */
    position_64_rows(x, x, w->position_table, s->source_positions, mine);
    rt_barrier(j->team);
}

/* Self-attention and feed-forward, each with a residual. One of 2 layers. */
static void encoder_layer(const job *j, int layer, int thread, int threads)
{
    const struct encoder_layer *const w = (const void *)(j->weights + W_ENCODER_LAYER(layer));
    struct state *const s = j->state;
    float *const x = s->encoder_x[0];
    float *const norm_0 = s->scratch;                           /* [80][64] */
    float *const self_qkv = s->scratch + 41984;                 /* [80][192] */
    float *const self_q = self_qkv, *const self_k = self_qkv + 64, *const self_v = self_qkv + 128;
    float *const self_k_panels = s->scratch + 57344;            /* [4 heads][80 / 16][16][16] */
    float *const self_v_panels = s->scratch + 62464;            /* [4 heads][16 / 16][80][16] */
    float *const self_context = s->scratch + 67584;             /* [80][64] */
    float *const self_context_scratch = s->scratch;             /* [16 threads][14][96] */
    float *const norm_1 = s->scratch + 72704;                   /* [80][64] */
    float *const ffn_hidden = s->scratch + 21504;               /* [80][256] */
    const rt_span mine = rt_split(j->rows, thread, threads);     /* this thread's rows */

    /* ---- self-attention */
    /* norm_0 = norm(x)                                                              [source, 64] */
    norm_64_rows(norm_0, x, w->norm_0, mine);
    /* self_qkv = norm_0 [W_self_q^T | W_self_k^T | W_self_v^T] + b                 [source, 192] */
    linear_64x192_rows(self_qkv, norm_0, &w->self_qkv, mine);
    /* self_k_panels[source_positions] = self_k                                      [source, 64] */
    store_keys_4x16_80_rows(self_k_panels, self_k, s->source_positions, mine);
    /* self_v_panels[source_positions] = self_v                                      [source, 64] */
    store_values_4x16_80_rows(self_v_panels, self_v, s->source_positions, mine);
    rt_barrier(j->team);
    /* self_context = softmax(self_q self_k_panels^T * 0.25) self_v_panels           [source, 64] */
    attention_4x16_80_rows(self_context, self_q, self_k_panels, self_v_panels,
                           self_context_scratch + thread * 1344, s->source_visible, mine);
    /* x = x + self_context W_self_out^T + b                                         [source, 64] */
    linear_64x64_add_rows(x, self_context, w->self_out, x, mine);

    /* ---- feed-forward */
    /* norm_1 = norm(x)                                                              [source, 64] */
    norm_64_rows(norm_1, x, w->norm_1, mine);
    /* ffn_hidden = relu(norm_1 W_ffn_up^T + b)                                     [source, 256] */
    linear_64x256_relu_rows(ffn_hidden, norm_1, w->ffn_up, mine);
    /* x = x + ffn_hidden W_ffn_down^T + b                                           [source, 64] */
    linear_256x64_add_rows(x, ffn_hidden, w->ffn_down, x, mine);
    rt_barrier(j->team);
}

/* The encoder's final norm. */
static void encoder_end(const job *j, int thread, int threads)
{
    const struct encoder_end *const w = (const void *)(j->weights + W_ENCODER_END);
    struct state *const s = j->state;
    float *const x = s->encoder_x[0];
    const rt_span mine = rt_split(j->rows, thread, threads);     /* this thread's rows */

    /* x = norm(x)                                                                   [source, 64] */
    norm_64_rows(x, x, w->norm, mine);
    rt_barrier(j->team);
}

/* Keys and values of the cross-attention, once per source. One of 2 layers. */
static void decoder_memory(const job *j, int layer, int thread, int threads)
{
    const struct decoder_memory *const w = (const void *)(j->weights + W_DECODER_MEMORY(layer));
    struct state *const s = j->state;
    float *const x = s->encoder_x[0];
    float *const cross_kv = s->scratch;                         /* [80][128] */
    float *const cross_k = cross_kv, *const cross_v = cross_kv + 64;
    float *const cross_k_memory = s->slot[j->slot].cross_k[layer][0][0][0];
    float *const cross_v_memory = s->slot[j->slot].cross_v[layer][0][0][0];
    const rt_span mine = rt_split(j->rows, thread, threads);     /* this thread's rows */

    /* cross_kv = x [W_cross_k^T | W_cross_v^T] + b                                 [source, 128] */
    linear_64x128_rows(cross_kv, x, &w->cross_kv, mine);
    /* cross_k_memory[source_positions] = cross_k                                    [source, 64] */
    store_keys_4x16_80_rows_v2(cross_k_memory, cross_k, s->source_positions, mine);
    /* cross_v_memory[source_positions] = cross_v                                    [source, 64] */
    store_values_4x16_80_rows_v2(cross_v_memory, cross_v, s->source_positions, mine);
    rt_barrier(j->team);
}

/* Token embeddings, scaled, plus positions. */
static void decoder_embedding(const job *j, int thread, int threads)
{
    const struct decoder_embedding *const w = (const void *)(j->weights + W_DECODER_EMBEDDING);
    struct state *const s = j->state;
    float *const x = s->decoder_x[0];

    (void)threads;
    /* x = 8 * embed_table[rows_ids]                                                   [rows, 64] */
    if (thread == 0) embed_64(x, w->embed_table, s->rows_ids);
    /* x = x + position_table[rows_positions]                                          [rows, 64] */
    if (thread == 0) position_64(x, x, w->position_table, s->rows_positions);
    rt_barrier(j->team);
}

/* Causal self-attention, cross-attention and feed-forward, each with a residual. One of 2
 * layers. */
static void decoder_layer(const job *j, int layer, int thread, int threads)
{
    const struct decoder_layer *const w = (const void *)(j->weights + W_DECODER_LAYER(layer));
    struct state *const s = j->state;
    float *const x = s->decoder_x[0];
    float *const norm_0 = s->scratch + thread * 64;             /* [16 threads][1][64] */
    float *const self_qkv = s->scratch + 1024;                  /* [1][192] */
    float *const self_q = self_qkv, *const self_k = self_qkv + 64, *const self_v = self_qkv + 128;
    float *const self_k_cache = s->slot[j->slot].self_k[layer][0][0][0];
    float *const self_v_cache = s->slot[j->slot].self_v[layer][0][0][0];
    float *const self_context = s->scratch + 512;               /* [1][64] */
    float *const self_context_scratch = s->scratch;             /* [16 threads][1][32] */
    float *const norm_1 = s->scratch + thread * 64;             /* [16 threads][1][64] */
    float *const cross_q = s->scratch + 1536;                   /* [1][64] */
    float *const cross_k_memory = s->slot[j->slot].cross_k[layer][0][0][0];
    float *const cross_v_memory = s->slot[j->slot].cross_v[layer][0][0][0];
    float *const cross_context = s->scratch + 1600;             /* [1][64] */
    float *const cross_context_scratch = s->scratch;            /* [16 threads][1][96] */
    float *const norm_2 = s->scratch + thread * 64;             /* [16 threads][1][64] */
    float *const ffn_hidden = s->scratch + 1024;                /* [1][256] */
    const rt_span share_12 = rt_split(12, thread, threads);
    const rt_span share_4 = rt_split(4, thread, threads);
    const rt_span share_16 = rt_split(16, thread, threads);

    /* ---- self-attention */
    /* norm_0 = norm(x)                                                                [rows, 64] */
    norm_64(norm_0, x, w->norm_0);
    /* self_qkv = norm_0 [W_self_q^T | W_self_k^T | W_self_v^T] + b                   [rows, 192] */
    linear_64x192(self_qkv, norm_0, &w->self_qkv, share_12);
    rt_barrier(j->team);
    /* self_k_cache[rows_positions] = self_k                                         [target, 64] */
    store_keys_4x16_16(self_k_cache, self_k, s->rows_positions, share_4);
    /* self_v_cache[rows_positions] = self_v                                         [target, 64] */
    store_values_4x16_16(self_v_cache, self_v, s->rows_positions, share_4);
    /* self_context = softmax(self_q self_k_cache^T * 0.25) self_v_cache               [rows, 64] */
    attention_4x16_16(self_context, self_q, self_k_cache, self_v_cache,
                      self_context_scratch + thread * 32, s->rows_visible, share_4);
    rt_barrier(j->team);
    /* x = x + self_context W_self_out^T + b                                           [rows, 64] */
    linear_64x64_add(x, self_context, w->self_out, x, share_4);
    rt_barrier(j->team);

    /* ---- cross-attention */
    /* norm_1 = norm(x)                                                                [rows, 64] */
    norm_64(norm_1, x, w->norm_1);
    /* cross_q = norm_1 W_cross_q^T + b                                                [rows, 64] */
    linear_64x64(cross_q, norm_1, w->cross_q, share_4);
    rt_barrier(j->team);
    /* cross_context = softmax(cross_q cross_k_memory^T * 0.25) cross_v_memory         [rows, 64] */
    attention_4x16_80(cross_context, cross_q, cross_k_memory, cross_v_memory,
                      cross_context_scratch + thread * 96, s->rows_visible_memory, share_4);
    rt_barrier(j->team);
    /* x = x + cross_context W_cross_out^T + b                                         [rows, 64] */
    linear_64x64_add(x, cross_context, w->cross_out, x, share_4);
    rt_barrier(j->team);

    /* ---- feed-forward */
    /* norm_2 = norm(x)                                                                [rows, 64] */
    norm_64(norm_2, x, w->norm_2);
    /* ffn_hidden = relu(norm_2 W_ffn_up^T + b)                                       [rows, 256] */
    linear_64x256_relu(ffn_hidden, norm_2, w->ffn_up, share_16);
    rt_barrier(j->team);
    /* x = x + ffn_hidden W_ffn_down^T + b                                             [rows, 64] */
    linear_256x64_add(x, ffn_hidden, w->ffn_down, x, share_4);
    rt_barrier(j->team);
}

/* Final norm and logits. */
static void decoder_output(const job *j, int thread, int threads)
{
    const struct decoder_output *const w = (const void *)(j->weights + W_DECODER_OUTPUT);
    struct state *const s = j->state;
    float *const x = s->decoder_x[0];
    float *const decoder_norm = s->scratch + thread * 64;       /* [16 threads][1][64] */
    float *const logits = s->logits[0];
    const rt_span share_1 = rt_split(1, thread, threads);

    /* decoder_norm = norm(x)                                                          [rows, 64] */
    norm_64(decoder_norm, x, w->decoder_norm);
    /* logits = decoder_norm W_output^T + b                                            [rows, 15] */
    linear_64x15(logits, decoder_norm, w->output, share_1);
    rt_barrier(j->team);
}

/* Log-softmax of the logits. */
static void log_probabilities(const job *j, int thread, int threads)
{
    struct state *const s = j->state;
    float *const logits = s->logits[0];

    (void)threads;
    /* logits = log_softmax(logits)                                                    [rows, 15] */
    if (thread == 0) log_softmax_15(logits, logits);
    rt_barrier(j->team);
}

/* The first maximum of the logits. */
static void argmax(const job *j, int thread, int threads)
{
    struct state *const s = j->state;
    float *const logits = s->logits[0];

    (void)threads;
    /* next_id = index of the maximum of logits                                            [rows] */
    if (thread == 0) argmax_15(s->next_id, logits);
    rt_barrier(j->team);
}

/* Token embeddings, scaled, plus positions. */
static void decoder_embedding_rows(const job *j, int thread, int threads)
{
    const struct decoder_embedding *const w = (const void *)(j->weights + W_DECODER_EMBEDDING);
    struct state *const s = j->state;
    float *const x = s->decoder_rows_x[0];
    const rt_span mine = rt_split(j->rows, thread, threads);     /* this thread's rows */

    /* x = 8 * embed_table[rows_ids]                                                   [rows, 64] */
    embed_64_rows(x, w->embed_table, s->rows_ids, mine);
    /* x = x + position_table[rows_positions]                                          [rows, 64] */
    position_64_rows(x, x, w->position_table, s->rows_positions, mine);
    rt_barrier(j->team);
}

/* Causal self-attention, cross-attention and feed-forward, each with a residual. One of 2
 * layers. */
static void decoder_layer_rows(const job *j, int layer, int thread, int threads)
{
    const struct decoder_layer *const w = (const void *)(j->weights + W_DECODER_LAYER(layer));
    struct state *const s = j->state;
    float *const x = s->decoder_rows_x[0];
    float *const norm_0 = s->scratch;                           /* [12][64] */
    float *const self_qkv = s->scratch + 27648;                 /* [12][192] */
    float *const self_q = self_qkv, *const self_k = self_qkv + 64, *const self_v = self_qkv + 128;
    float *const self_context = s->scratch + 29952;             /* [12][64] */
    float *const self_context_scratch = s->scratch + 18432;     /* [16 threads][12][32] */
    float *const norm_1 = s->scratch + 30720;                   /* [12][64] */
    float *const cross_q = s->scratch + 31488;                  /* [12][64] */
    float *const cross_context = s->scratch + 32256;            /* [12][64] */
    float *const cross_context_scratch = s->scratch;            /* [16 threads][12][96] */
    float *const norm_2 = s->scratch + 33024;                   /* [12][64] */
    float *const ffn_hidden = s->scratch + 24576;               /* [12][256] */
    const rt_span mine = rt_split(j->rows, thread, threads);     /* this thread's rows */

    /* ---- self-attention */
    /* norm_0 = norm(x)                                                                [rows, 64] */
    norm_64_rows(norm_0, x, w->norm_0, mine);
    /* self_qkv = norm_0 [W_self_q^T | W_self_k^T | W_self_v^T] + b                   [rows, 192] */
    linear_64x192_rows(self_qkv, norm_0, &w->self_qkv, mine);
    /* self_k_cache[rows_positions] = self_k                                         [target, 64] */
    for (const rt_group *g = j->groups; g < j->groups_end; g++)
        store_keys_4x16_16_rows(s->slot[g->slot].self_k[layer][0][0][0], self_k, s->rows_positions,
                                rt_intersect(mine, g->rows));
    /* self_v_cache[rows_positions] = self_v                                         [target, 64] */
    for (const rt_group *g = j->groups; g < j->groups_end; g++)
        store_values_4x16_16_rows(s->slot[g->slot].self_v[layer][0][0][0], self_v,
                                  s->rows_positions, rt_intersect(mine, g->rows));
    if (j->keys_only && layer == 1) return;      /* prefill: nothing reads the rest */
    rt_barrier(j->team);
    /* self_context = softmax(self_q self_k_cache^T * 0.25) self_v_cache               [rows, 64] */
    for (const rt_group *g = j->groups; g < j->groups_end; g++)
        attention_4x16_16_rows(self_context, self_q, s->slot[g->slot].self_k[layer][0][0][0],
                               s->slot[g->slot].self_v[layer][0][0][0],
                               self_context_scratch + thread * 384, s->rows_visible,
                               rt_intersect(mine, g->rows));
    /* x = x + self_context W_self_out^T + b                                           [rows, 64] */
    linear_64x64_add_rows(x, self_context, w->self_out, x, mine);

    /* ---- cross-attention */
    /* norm_1 = norm(x)                                                                [rows, 64] */
    norm_64_rows(norm_1, x, w->norm_1, mine);
    /* cross_q = norm_1 W_cross_q^T + b                                                [rows, 64] */
    linear_64x64_rows(cross_q, norm_1, w->cross_q, mine);
    /* cross_context = softmax(cross_q cross_k_memory^T * 0.25) cross_v_memory         [rows, 64] */
    for (const rt_group *g = j->groups; g < j->groups_end; g++)
        attention_4x16_80_rows_v2(cross_context, cross_q, s->slot[g->slot].cross_k[layer][0][0][0],
                                  s->slot[g->slot].cross_v[layer][0][0][0],
                                  cross_context_scratch + thread * 1152, s->rows_visible_memory,
                                  rt_intersect(mine, g->rows));
    /* x = x + cross_context W_cross_out^T + b                                         [rows, 64] */
    linear_64x64_add_rows(x, cross_context, w->cross_out, x, mine);

    /* ---- feed-forward */
    /* norm_2 = norm(x)                                                                [rows, 64] */
    norm_64_rows(norm_2, x, w->norm_2, mine);
    /* ffn_hidden = relu(norm_2 W_ffn_up^T + b)                                       [rows, 256] */
    linear_64x256_relu_rows(ffn_hidden, norm_2, w->ffn_up, mine);
    /* x = x + ffn_hidden W_ffn_down^T + b                                             [rows, 64] */
    linear_256x64_add_rows(x, ffn_hidden, w->ffn_down, x, mine);
    rt_barrier(j->team);
}

/* Final norm and logits. */
static void decoder_output_rows(const job *j, int thread, int threads)
{
    const struct decoder_output *const w = (const void *)(j->weights + W_DECODER_OUTPUT);
    struct state *const s = j->state;
    float *const x = s->decoder_rows_x[0];
    float *const logits = s->logits[0];
    const rt_span mine = rt_split(j->rows, thread, threads);     /* this thread's rows */

    /* x = norm(x)                                                                     [rows, 64] */
    norm_64_rows(x, x, w->decoder_norm, mine);
    /* logits = x W_output^T + b                                                       [rows, 15] */
    linear_64x15_rows(logits, x, w->output, mine);
    rt_barrier(j->team);
}

/* Log-softmax of the logits. */
static void log_probabilities_rows(const job *j, int thread, int threads)
{
    struct state *const s = j->state;
    float *const logits = s->logits[0];
    const rt_span mine = rt_split(j->rows, thread, threads);     /* this thread's rows */

    /* logits = log_softmax(logits)                                                    [rows, 15] */
    log_softmax_15_rows(logits, logits, mine);
    rt_barrier(j->team);
}

/* The first maximum of each row's logits. */
static void argmax_rows(const job *j, int thread, int threads)
{
    struct state *const s = j->state;
    float *const logits = s->logits[0];
    const rt_span mine = rt_split(j->rows, thread, threads);     /* this thread's rows */

    /* next_id = index of the maximum of logits                                            [rows] */
    argmax_15_rows(s->next_id, logits, mine);
    rt_barrier(j->team);
}

/* ---- programs -------------------------------------------------------------------------------- */

/* encode: turn a source into keys and values for cross-attention, in a slot. At most 22 MFLOP for a
 * source of 80. */
static void encode_body(void *work, int thread, int threads)
{
    const job *j = work;
    encoder_embedding(j, thread, threads);
    encoder_layer(j, 0, thread, threads);
    encoder_layer(j, 1, thread, threads);
    encoder_end(j, thread, threads);
    decoder_memory(j, 0, thread, threads);
    decoder_memory(j, 1, thread, threads);
}

/* step: turn one decoder row into log-probabilities. At most 285 kFLOP per row, at the last
 * position; it reads 473 kB of weights. */
static void step_body(void *work, int thread, int threads)
{
    const job *j = work;
    decoder_embedding(j, thread, threads);
    decoder_layer(j, 0, thread, threads);
    decoder_layer(j, 1, thread, threads);
    decoder_output(j, thread, threads);
    log_probabilities(j, thread, threads);
}

/* next: find the most likely id after one decoder row. At most 284 kFLOP per row, at the last
 * position; it reads 473 kB of weights. */
static void next_body(void *work, int thread, int threads)
{
    const job *j = work;
    decoder_embedding(j, thread, threads);
    decoder_layer(j, 0, thread, threads);
    decoder_layer(j, 1, thread, threads);
    decoder_output(j, thread, threads);
    argmax(j, thread, threads);
}

/* decode: turn decoder rows into log-probabilities. At most 285 kFLOP per row, at the last
 * position; it reads 473 kB of weights. */
static void decode_body(void *work, int thread, int threads)
{
    const job *j = work;
    decoder_embedding_rows(j, thread, threads);
    decoder_layer_rows(j, 0, thread, threads);
    decoder_layer_rows(j, 1, thread, threads);
    decoder_output_rows(j, thread, threads);
    log_probabilities_rows(j, thread, threads);
}

/* prefill: turn decoder rows into keys and values, without computing logits. */
static void prefill_body(void *work, int thread, int threads)
{
    const job *j = work;
    decoder_embedding_rows(j, thread, threads);
    decoder_layer_rows(j, 0, thread, threads);
    decoder_layer_rows(j, 1, thread, threads);
}

/* decode_greedy: find the most likely id after each decoder row. At most 284 kFLOP per row, at the
 * last position; it reads 473 kB of weights. */
static void decode_greedy_body(void *work, int thread, int threads)
{
    const job *j = work;
    decoder_embedding_rows(j, thread, threads);
    decoder_layer_rows(j, 0, thread, threads);
    decoder_layer_rows(j, 1, thread, threads);
    decoder_output_rows(j, thread, threads);
    argmax_rows(j, thread, threads);
}

/* ---- the calls ------------------------------------------------------------------------------- */

void dates_reset(dates_state *state)
{
    struct state *const s = (struct state *)(void *)state;
    rt_clear(s->source_length, sizeof s->source_length);
    rt_clear(s->next_position, sizeof s->next_position);
}

rt_status dates_encode(const dates *m, dates_state *state, int slot, const int *ids, int n)
{
    struct state *const s = (struct state *)(void *)state;
    job j = { .weights = m->weights, .team = m->team, .state = s, .slot = slot, .rows = n };
    if (slot < 0 || slot >= DATES_SLOTS) return RT_BAD_ID;
    if (n < 1) return RT_ORDER;
    if (n > DATES_MAX_SOURCE) return RT_TOO_LONG;
    for (int i = 0; i < n; i++)
        if (ids[i] < 0 || ids[i] >= DATES_SOURCE_VOCAB) return RT_BAD_ID;
    for (int i = 0; i < n; i++) {
        s->source_ids[i] = ids[i];
        s->source_positions[i] = i;
        s->source_visible[i] = n;
    }
    rt_team_weigh(m->team, encode_body, &j, /* barriers */ 8,
                  /* ns */ 6400 + 2100LL * (j.rows - 1));
    s->source_length[slot] = n;
    s->next_position[slot] = 0;
    return RT_OK;
}

/* The rows in a state, for rt_rows.h. */
static RtRows rows_of(struct state *s)
{
    const RtRows r = {
        .slots = DATES_SLOTS, .vocab = DATES_VOCAB,
        .positions_most = DATES_MAX_TARGET, .rows_most = DATES_ROWS,
        .source_length = s->source_length, .next_position = s->next_position,
        .ids = s->rows_ids, .positions = s->rows_positions, .visible = s->rows_visible,
        .memory = s->rows_visible_memory,
    };
    return r;
}

/* Run `one` for a single row, unless it is NULL; otherwise run `many`. */
static rt_status run_rows(const dates *m, struct state *s, const rt_token *rows, int n,
                          rt_body *one, rt_body *many)
{
    const RtRows r = rows_of(s);
    const rt_status status = rt_rows_begin(&r, rows, n);
    if (status != RT_OK) return status;
    job j = { .weights = m->weights, .team = m->team, .state = s,
              .keys_only = many == prefill_body, .slot = rows->slot, .rows = n,
              .groups = s->groups };
    j.groups_end = rt_rows_group(rows, n, s->groups);
    rt_body *const body = n == 1 && one ? one : many;
    rt_team_weigh(m->team, body, &j, /* barriers */ 19, /* ns */ 6800 + 2300LL * (j.rows - 1));
    rt_rows_end(&r, rows, n);
    return RT_OK;
}

rt_status dates_decode(const dates *m, dates_state *state, const rt_token *rows, int n)
{
    struct state *const s = (struct state *)(void *)state;
    return run_rows(m, s, rows, n, step_body, decode_body);
}

rt_status dates_prefill(const dates *m, dates_state *state, const rt_token *rows, int n)
{
    struct state *const s = (struct state *)(void *)state;
    return run_rows(m, s, rows, n, NULL, prefill_body);
}

rt_status dates_decode_greedy(const dates *m, dates_state *state, const rt_token *rows, int n,
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

rt_status dates_fork(dates_state *state, int from, int to)
{
    struct state *const s = (struct state *)(void *)state;
    if (from < 0 || from >= DATES_SLOTS || to < 0 || to >= DATES_SLOTS) return RT_BAD_ID;
    if (from == to) return RT_OK;
    const RtRows r = rows_of(s);
    rt_copy(&s->slot[to], &s->slot[from], sizeof *s->slot);
    rt_rows_fork(&r, from, to);
    return RT_OK;
}

rt_status dates_clear(dates_state *state, int slot)
{
    struct state *const s = (struct state *)(void *)state;
    if (slot < 0 || slot >= DATES_SLOTS) return RT_BAD_ID;
    s->next_position[slot] = 0;
    return RT_OK;
}

rt_status dates_step(const dates *m, dates_state *state, int id)
{
    struct state *const s = (struct state *)(void *)state;
    const rt_token row = { 0, s->next_position[0], id };
    return run_rows(m, s, &row, 1, step_body, decode_body);
}

const float *dates_scores(const dates_state *state)
{
    const struct state *const s = (const struct state *)(const void *)state;
    return s->logits[0];
}

rt_status dates_next(const dates *m, dates_state *state, int id, int *next)
{
    struct state *const s = (struct state *)(void *)state;
    const rt_token row = { 0, s->next_position[0], id };
    return dates_decode_greedy(m, state, &row, 1, next);
}

static RtCharacters characters(const dates *m, size_t table, int count, size_t texts, int size)
{
    const RtCharacters c = { (const int32_t *)(const void *)(m->weights + table), count,
                             (const int32_t *)(const void *)(m->weights + texts), size };
    return c;
}

rt_status dates_tokenize(const dates *m, dates_state *state, const char *utf8, int *ids, int room,
                         int *n, RtTextFault *fault)
{
    (void)state;
    const RtCharacters source = characters(m, W_SOURCE_CHARACTERS, 62, W_SOURCE_TEXTS,
                                           DATES_SOURCE_VOCAB);
    return rt_characters_encode(&source, utf8, ids, room, n, fault);
}

rt_status dates_tokenize_target(const dates *m, dates_state *state, const char *utf8, int *ids,
                                int room, int *n, RtTextFault *fault)
{
    const RtCharacters target = characters(m, W_TARGET_CHARACTERS, 11, W_TARGET_TEXTS, DATES_VOCAB);
    (void)state;
    return rt_characters_encode(&target, utf8, ids, room, n, fault);
}

rt_status dates_detokenize(const dates *m, const int *ids, int n, char *out, size_t cap,
                           size_t *bytes)
{
    const RtCharacters target = characters(m, W_TARGET_CHARACTERS, 11, W_TARGET_TEXTS, DATES_VOCAB);
    return rt_characters_decode(&target, ids, n, out, cap, bytes);
}
