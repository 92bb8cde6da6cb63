/* dates.c: dates.lua as C, made by xformc.
 *
 * Width 64. Encoder of 2 layers, 4 heads of 16, d_ff 256, annotated norm (pre);
  * decoder of 2 layers, 4 heads of 16, d_ff 256, annotated norm (pre).
 * Weights 2a4131a50fc06c8d, 984384 bytes. State 431744 bytes: per slot 98304 of keys and values, and 333376 of scratch.
 *
 * Every lane runs the same code on its share (rt_split) and waits for the others where it needs what they made
 * (rt_barrier). Shapes stand in the margin; the functions called are in dates_kernels.h. */
#include "rt.h"
#include "dates_kernels.h"

#define HEAD_BYTES                                   ((size_t)4928)    /* of the packed file, before its data */

/* ---- weights: bytes from the start of the packed data; within a block, from the start of its layer ---------- */

#define W_ENCODER_EMBEDDING                          ((size_t)0)
#define W_ENCODER_EMBEDDING_EMBED_TABLE              ((size_t)0)    /* [66][64] */
#define W_ENCODER_EMBEDDING_POSITION_TABLE           ((size_t)16896)    /* [80][64] */
#define W_ENCODER_LAYER                              ((size_t)37376)
#define W_ENCODER_LAYER_STRIDE                       ((size_t)199936)    /* from layer to layer */
#define W_ENCODER_LAYER_NORM_0                       ((size_t)0)    /* [2][64] gain, bias */
#define W_ENCODER_LAYER_SELF_Q                       ((size_t)512)    /* [4][65][16], biases first */
#define W_ENCODER_LAYER_SELF_K                       ((size_t)17152)    /* [4][65][16], biases first */
#define W_ENCODER_LAYER_SELF_V                       ((size_t)33792)    /* [4][65][16], biases first */
#define W_ENCODER_LAYER_SELF_OUT                     ((size_t)50432)    /* [4][65][16], biases first */
#define W_ENCODER_LAYER_NORM_1                       ((size_t)67072)    /* [2][64] gain, bias */
#define W_ENCODER_LAYER_FFN_UP                       ((size_t)67584)    /* [16][65][16], biases first */
#define W_ENCODER_LAYER_FFN_DOWN                     ((size_t)134144)    /* [4][257][16], biases first */
#define W_ENCODER_END                                ((size_t)437248)
#define W_ENCODER_END_NORM                           ((size_t)0)    /* [2][64] gain, bias */
#define W_DECODER_MEMORY                             ((size_t)437760)
#define W_DECODER_MEMORY_STRIDE                      ((size_t)33280)    /* from layer to layer */
#define W_DECODER_MEMORY_CROSS_K                     ((size_t)0)    /* [4][65][16], biases first */
#define W_DECODER_MEMORY_CROSS_V                     ((size_t)16640)    /* [4][65][16], biases first */
#define W_DECODER_EMBEDDING                          ((size_t)504320)
#define W_DECODER_EMBEDDING_EMBED_TABLE              ((size_t)0)    /* [15][64] */
#define W_DECODER_EMBEDDING_POSITION_TABLE           ((size_t)3840)    /* [12][64] */
#define W_DECODER_LAYER                              ((size_t)511232)
#define W_DECODER_LAYER_STRIDE                       ((size_t)233728)    /* from layer to layer */
#define W_DECODER_LAYER_NORM_0                       ((size_t)0)    /* [2][64] gain, bias */
#define W_DECODER_LAYER_SELF_Q                       ((size_t)512)    /* [4][65][16], biases first */
#define W_DECODER_LAYER_SELF_K                       ((size_t)17152)    /* [4][65][16], biases first */
#define W_DECODER_LAYER_SELF_V                       ((size_t)33792)    /* [4][65][16], biases first */
#define W_DECODER_LAYER_SELF_OUT                     ((size_t)50432)    /* [4][65][16], biases first */
#define W_DECODER_LAYER_NORM_1                       ((size_t)67072)    /* [2][64] gain, bias */
#define W_DECODER_LAYER_CROSS_Q                      ((size_t)67584)    /* [4][65][16], biases first */
#define W_DECODER_LAYER_CROSS_OUT                    ((size_t)84224)    /* [4][65][16], biases first */
#define W_DECODER_LAYER_NORM_2                       ((size_t)100864)    /* [2][64] gain, bias */
#define W_DECODER_LAYER_FFN_UP                       ((size_t)101376)    /* [16][65][16], biases first */
#define W_DECODER_LAYER_FFN_DOWN                     ((size_t)167936)    /* [4][257][16], biases first */
#define W_DECODER_OUTPUT                             ((size_t)978688)
#define W_DECODER_OUTPUT_DECODER_NORM                ((size_t)0)    /* [2][64] gain, bias */
#define W_DECODER_OUTPUT_OUTPUT                      ((size_t)512)    /* [1][65][16], biases first */
#define W_SOURCE_CHARACTERS                          ((size_t)983360)    /* [128] */
#define W_SOURCE_TEXTS                               ((size_t)983872)    /* [80] */
#define W_TARGET_CHARACTERS                          ((size_t)984192)    /* [32] */
#define W_TARGET_TEXTS                               ((size_t)984320)    /* [16] */

/* ---- state: a header of lengths, slots of caches, a scratch ------------------------------------------------- */

#define SLOTS                                        ((size_t)64)
#define SLOT_BYTES                                   ((size_t)98304)

/* In a slot. */
#define AT_DECODER_MEMORY_CROSS_K_MEMORY             ((size_t)0)    /* [4 heads][80 / 16][16][16] */
#define AT_DECODER_MEMORY_CROSS_K_MEMORY_STRIDE      ((size_t)20480)    /* from layer to layer */
#define AT_DECODER_MEMORY_CROSS_V_MEMORY             ((size_t)40960)    /* [4 heads][16 / 16][80][16] */
#define AT_DECODER_MEMORY_CROSS_V_MEMORY_STRIDE      ((size_t)20480)    /* from layer to layer */
#define AT_DECODER_LAYER_SELF_K_CACHE                ((size_t)81920)    /* [4 heads][16 / 16][16][16] */
#define AT_DECODER_LAYER_SELF_K_CACHE_STRIDE         ((size_t)4096)    /* from layer to layer */
#define AT_DECODER_LAYER_SELF_V_CACHE                ((size_t)90112)    /* [4 heads][16 / 16][16][16] */
#define AT_DECODER_LAYER_SELF_V_CACHE_STRIDE         ((size_t)4096)    /* from layer to layer */

/* In the scratch: what passes between blocks, then what each block uses; these overlap where their lives do not. */
#define AT_SOURCE_IDS                                ((size_t)98368)    /* [80] int */
#define AT_SOURCE_POSITIONS                          ((size_t)98688)    /* [80] int */
#define AT_ENCODER_X                                 ((size_t)99008)    /* [80][64] */
#define AT_SOURCE_VISIBLE                            ((size_t)119488)    /* [80] int */
#define AT_ROWS_IDS                                  ((size_t)119808)    /* [1] int */
#define AT_ROWS_POSITIONS                            ((size_t)119872)    /* [1] int */
#define AT_DECODER_X                                 ((size_t)119936)    /* [1][64] */
#define AT_ROWS_VISIBLE                              ((size_t)120192)    /* [1] int */
#define AT_ROWS_VISIBLE_MEMORY                       ((size_t)120256)    /* [1] int */
#define AT_LOGITS                                    ((size_t)120320)    /* [1][16] */
#define AT_NEXT_ID                                   ((size_t)120384)    /* [1] int */
#define AT_ENCODER_LAYER_NORM_0                      ((size_t)120448)    /* [80][64] */
#define AT_ENCODER_LAYER_SELF_Q                      ((size_t)288384)    /* [80][64] */
#define AT_ENCODER_LAYER_SELF_K                      ((size_t)140928)    /* [80][64] */
#define AT_ENCODER_LAYER_SELF_V                      ((size_t)161408)    /* [80][64] */
#define AT_ENCODER_LAYER_SELF_K_PANELS               ((size_t)308864)    /* [4 heads][80 / 16][16][16] */
#define AT_ENCODER_LAYER_SELF_V_PANELS               ((size_t)329344)    /* [4 heads][16 / 16][80][16] */
#define AT_ENCODER_LAYER_SELF_CONTEXT                ((size_t)349824)    /* [80][64] */
#define AT_ENCODER_LAYER_SELF_CONTEXT_LANES          ((size_t)120448)    /* [16 lanes][14][96] */
#define AT_ENCODER_LAYER_SELF_OUT                    ((size_t)370304)    /* [80][64] */
#define AT_ENCODER_LAYER_NORM_1                      ((size_t)390784)    /* [80][64] */
#define AT_ENCODER_LAYER_FFN_HIDDEN                  ((size_t)206464)    /* [80][256] */
#define AT_ENCODER_LAYER_FFN                         ((size_t)411264)    /* [80][64] */
#define AT_DECODER_MEMORY_CROSS_K                    ((size_t)120448)    /* [80][64] */
#define AT_DECODER_MEMORY_CROSS_V                    ((size_t)140928)    /* [80][64] */
#define AT_DECODER_LAYER_NORM_0                      ((size_t)120448)    /* [1][64] */
#define AT_DECODER_LAYER_SELF_Q                      ((size_t)122496)    /* [1][64] */
#define AT_DECODER_LAYER_SELF_K                      ((size_t)122752)    /* [1][64] */
#define AT_DECODER_LAYER_SELF_V                      ((size_t)123008)    /* [1][64] */
#define AT_DECODER_LAYER_SELF_CONTEXT                ((size_t)123264)    /* [1][64] */
#define AT_DECODER_LAYER_SELF_CONTEXT_LANES          ((size_t)120448)    /* [16 lanes][1][32] */
#define AT_DECODER_LAYER_SELF_OUT                    ((size_t)120448)    /* [1][64] */
#define AT_DECODER_LAYER_NORM_1                      ((size_t)120448)    /* [1][64] */
#define AT_DECODER_LAYER_CROSS_Q                     ((size_t)126592)    /* [1][64] */
#define AT_DECODER_LAYER_CROSS_CONTEXT               ((size_t)126848)    /* [1][64] */
#define AT_DECODER_LAYER_CROSS_CONTEXT_LANES         ((size_t)120448)    /* [16 lanes][1][96] */
#define AT_DECODER_LAYER_CROSS_OUT                   ((size_t)120448)    /* [1][64] */
#define AT_DECODER_LAYER_NORM_2                      ((size_t)121472)    /* [1][64] */
#define AT_DECODER_LAYER_FFN_HIDDEN                  ((size_t)120448)    /* [1][256] */
#define AT_DECODER_LAYER_FFN                         ((size_t)121472)    /* [1][64] */

/* What a call hands to every lane. */
typedef struct job { const dates *model; dates_state *state; int slot, rows; } job;

static float *floats(const job *j, size_t at) { return (float *)(j->state->bytes + at); }
static int *ints(const job *j, size_t at) { return (int *)(j->state->bytes + at); }
static unsigned char *slot_bytes(dates_state *s, int slot) { return s->bytes + SLOTS + (size_t)slot * SLOT_BYTES; }
static float *in_slot(const job *j, size_t at) { return (float *)(slot_bytes(j->state, j->slot) + at); }

const unsigned dates_isa = RT_ISA_BUILT;

rt_status dates_bind(dates *m, const void *weights, size_t bytes)
{
    static const char identity[] = "2a4131a50fc06c8d";          /* of spec and layout; stands in the file's head */
    const unsigned char *head = weights;
    if (rt_isa_missing(dates_isa)) return RT_NO_ISA;
    if (bytes != DATES_WEIGHTS_BYTES || (uintptr_t)weights % 64 != 0) return RT_BAD_WEIGHTS;
    for (size_t i = 0; identity[i]; i++)
        if (head[35 + i] != (unsigned char)identity[i]) return RT_BAD_WEIGHTS;
    m->weights = head + HEAD_BYTES;
    return RT_OK;
}

rt_status dates_threads(dates *m, int n)
{
    return n < 1 || n > DATES_LANES ? RT_TOO_LONG : rt_team_resize(&m->team, n);
}

/* ---- blocks ----------------------------------------------------------------------------------------------- */

/* Token embeddings, scaled, plus positions. */
static void encoder_embedding(const job *j, int lane, int lanes)
{
    const unsigned char *const w = j->model->weights + W_ENCODER_EMBEDDING;
    const int *const source_ids = ints(j, AT_SOURCE_IDS);
    float *const x = floats(j, AT_ENCODER_X);
    const int *const source_positions = ints(j, AT_SOURCE_POSITIONS);
    const rt_span mine = rt_split(j->rows, lane, lanes);    /* rows */

    /* x = 8 * table[source_ids]                                                               [source, 64] */
    embed_64_rows(x, w + W_ENCODER_EMBEDDING_EMBED_TABLE, source_ids, mine);
    /* x = x + table[source_positions]                                                         [source, 64] */
    position_64_rows(x, x, w + W_ENCODER_EMBEDDING_POSITION_TABLE, source_positions, mine);
    rt_barrier(j->model->team);
}

/* Self-attention and feed-forward, each with a residual. One of 2 layers. */
static void encoder_layer(const job *j, int layer, int lane, int lanes)
{
    const unsigned char *const w = j->model->weights + W_ENCODER_LAYER + (size_t)layer * W_ENCODER_LAYER_STRIDE;
    float *const x = floats(j, AT_ENCODER_X);
    float *const norm_0 = floats(j, AT_ENCODER_LAYER_NORM_0);
    float *const self_q = floats(j, AT_ENCODER_LAYER_SELF_Q);
    float *const self_k = floats(j, AT_ENCODER_LAYER_SELF_K);
    float *const self_v = floats(j, AT_ENCODER_LAYER_SELF_V);
    const int *const source_positions = ints(j, AT_SOURCE_POSITIONS);
    float *const self_k_panels = floats(j, AT_ENCODER_LAYER_SELF_K_PANELS);
    float *const self_v_panels = floats(j, AT_ENCODER_LAYER_SELF_V_PANELS);
    const int *const source_visible = ints(j, AT_SOURCE_VISIBLE);
    float *const self_context = floats(j, AT_ENCODER_LAYER_SELF_CONTEXT);
    float *const self_context_lanes = floats(j, AT_ENCODER_LAYER_SELF_CONTEXT_LANES);
    float *const self_out = floats(j, AT_ENCODER_LAYER_SELF_OUT);
    float *const norm_1 = floats(j, AT_ENCODER_LAYER_NORM_1);
    float *const ffn_hidden = floats(j, AT_ENCODER_LAYER_FFN_HIDDEN);
    float *const ffn = floats(j, AT_ENCODER_LAYER_FFN);
    const rt_span mine = rt_split(j->rows, lane, lanes);    /* rows */

    /* ---- self-attention */
    /* norm_0 = norm(x)                                                                        [source, 64] */
    norm_64_rows(norm_0, x, w + W_ENCODER_LAYER_NORM_0, mine);
    /* self_q = norm_0 W^T + b                                                                 [source, 64] */
    linear_64x64_rows(self_q, norm_0, w + W_ENCODER_LAYER_SELF_Q, mine);
    /* self_k = norm_0 W^T + b                                                                 [source, 64] */
    linear_64x64_rows(self_k, norm_0, w + W_ENCODER_LAYER_SELF_K, mine);
    /* self_v = norm_0 W^T + b                                                                 [source, 64] */
    linear_64x64_rows(self_v, norm_0, w + W_ENCODER_LAYER_SELF_V, mine);
    /* self_k_panels[source_positions] = self_k                                                [source, 64] */
    store_keys_4x16_80_rows(self_k_panels, self_k, source_positions, mine);
    /* self_v_panels[source_positions] = self_v                                                [source, 64] */
    store_values_4x16_80_rows(self_v_panels, self_v, source_positions, mine);
    rt_barrier(j->model->team);
    /* self_context = softmax(self_q self_k_panels^T * 0.25) self_v_panels                     [source, 64] */
    attention_4x16_80_rows(self_context, self_q, self_k_panels, self_v_panels, self_context_lanes + lane * 1344,
        source_visible, mine);
    /* self_out = self_context W^T + b                                                         [source, 64] */
    linear_64x64_rows(self_out, self_context, w + W_ENCODER_LAYER_SELF_OUT, mine);
    /* x = x + self_out                                                                        [source, 64] */
    add_64_rows(x, x, self_out, mine);

    /* ---- feed-forward */
    /* norm_1 = norm(x)                                                                        [source, 64] */
    norm_64_rows(norm_1, x, w + W_ENCODER_LAYER_NORM_1, mine);
    /* ffn_hidden = relu(norm_1 W^T + b)                                                      [source, 256] */
    linear_64x256_relu_rows(ffn_hidden, norm_1, w + W_ENCODER_LAYER_FFN_UP, mine);
    /* ffn = ffn_hidden W^T + b                                                                [source, 64] */
    linear_256x64_rows(ffn, ffn_hidden, w + W_ENCODER_LAYER_FFN_DOWN, mine);
    /* x = x + ffn                                                                             [source, 64] */
    add_64_rows(x, x, ffn, mine);
    rt_barrier(j->model->team);
}

/* The encoder's final norm. */
static void encoder_end(const job *j, int lane, int lanes)
{
    const unsigned char *const w = j->model->weights + W_ENCODER_END;
    float *const x = floats(j, AT_ENCODER_X);
    const rt_span mine = rt_split(j->rows, lane, lanes);    /* rows */

    /* x = norm(x)                                                                             [source, 64] */
    norm_64_rows(x, x, w + W_ENCODER_END_NORM, mine);
    rt_barrier(j->model->team);
}

/* Keys and values of the cross-attention, once per source. One of 2 layers. */
static void decoder_memory(const job *j, int layer, int lane, int lanes)
{
    const unsigned char *const w = j->model->weights + W_DECODER_MEMORY + (size_t)layer * W_DECODER_MEMORY_STRIDE;
    float *const x = floats(j, AT_ENCODER_X);
    float *const cross_k = floats(j, AT_DECODER_MEMORY_CROSS_K);
    const int *const source_positions = ints(j, AT_SOURCE_POSITIONS);
    float *const cross_k_memory = in_slot(j, AT_DECODER_MEMORY_CROSS_K_MEMORY + (size_t)layer * AT_DECODER_MEMORY_CROSS_K_MEMORY_STRIDE);
    float *const cross_v = floats(j, AT_DECODER_MEMORY_CROSS_V);
    float *const cross_v_memory = in_slot(j, AT_DECODER_MEMORY_CROSS_V_MEMORY + (size_t)layer * AT_DECODER_MEMORY_CROSS_V_MEMORY_STRIDE);
    const rt_span mine = rt_split(j->rows, lane, lanes);    /* rows */

    /* cross_k = x W^T + b                                                                     [source, 64] */
    linear_64x64_rows(cross_k, x, w + W_DECODER_MEMORY_CROSS_K, mine);
    /* cross_k_memory[source_positions] = cross_k                                              [source, 64] */
    store_keys_4x16_80_rows(cross_k_memory, cross_k, source_positions, mine);
    /* cross_v = x W^T + b                                                                     [source, 64] */
    linear_64x64_rows(cross_v, x, w + W_DECODER_MEMORY_CROSS_V, mine);
    /* cross_v_memory[source_positions] = cross_v                                              [source, 64] */
    store_values_4x16_80_rows(cross_v_memory, cross_v, source_positions, mine);
    rt_barrier(j->model->team);
}

/* Token embeddings, scaled, plus positions. */
static void decoder_embedding(const job *j, int lane, int lanes)
{
    const unsigned char *const w = j->model->weights + W_DECODER_EMBEDDING;
    const int *const rows_ids = ints(j, AT_ROWS_IDS);
    float *const x = floats(j, AT_DECODER_X);
    const int *const rows_positions = ints(j, AT_ROWS_POSITIONS);

    (void)lanes;
    /* x = 8 * table[rows_ids]                                                                   [rows, 64] */
    if (lane == 0) embed_64(x, w + W_DECODER_EMBEDDING_EMBED_TABLE, rows_ids);
    /* x = x + table[rows_positions]                                                             [rows, 64] */
    if (lane == 0) position_64(x, x, w + W_DECODER_EMBEDDING_POSITION_TABLE, rows_positions);
    rt_barrier(j->model->team);
}

/* Causal self-attention, cross-attention and feed-forward, each with a residual. One of 2 layers. */
static void decoder_layer(const job *j, int layer, int lane, int lanes)
{
    const unsigned char *const w = j->model->weights + W_DECODER_LAYER + (size_t)layer * W_DECODER_LAYER_STRIDE;
    float *const x = floats(j, AT_DECODER_X);
    float *const norm_0 = floats(j, AT_DECODER_LAYER_NORM_0);
    float *const self_q = floats(j, AT_DECODER_LAYER_SELF_Q);
    float *const self_k = floats(j, AT_DECODER_LAYER_SELF_K);
    float *const self_v = floats(j, AT_DECODER_LAYER_SELF_V);
    const int *const rows_positions = ints(j, AT_ROWS_POSITIONS);
    float *const self_k_cache = in_slot(j, AT_DECODER_LAYER_SELF_K_CACHE + (size_t)layer * AT_DECODER_LAYER_SELF_K_CACHE_STRIDE);
    float *const self_v_cache = in_slot(j, AT_DECODER_LAYER_SELF_V_CACHE + (size_t)layer * AT_DECODER_LAYER_SELF_V_CACHE_STRIDE);
    const int *const rows_visible = ints(j, AT_ROWS_VISIBLE);
    float *const self_context = floats(j, AT_DECODER_LAYER_SELF_CONTEXT);
    float *const self_context_lanes = floats(j, AT_DECODER_LAYER_SELF_CONTEXT_LANES);
    float *const self_out = floats(j, AT_DECODER_LAYER_SELF_OUT);
    float *const norm_1 = floats(j, AT_DECODER_LAYER_NORM_1);
    float *const cross_q = floats(j, AT_DECODER_LAYER_CROSS_Q);
    float *const cross_k_memory = in_slot(j, AT_DECODER_MEMORY_CROSS_K_MEMORY + (size_t)layer * AT_DECODER_MEMORY_CROSS_K_MEMORY_STRIDE);
    float *const cross_v_memory = in_slot(j, AT_DECODER_MEMORY_CROSS_V_MEMORY + (size_t)layer * AT_DECODER_MEMORY_CROSS_V_MEMORY_STRIDE);
    const int *const rows_visible_memory = ints(j, AT_ROWS_VISIBLE_MEMORY);
    float *const cross_context = floats(j, AT_DECODER_LAYER_CROSS_CONTEXT);
    float *const cross_context_lanes = floats(j, AT_DECODER_LAYER_CROSS_CONTEXT_LANES);
    float *const cross_out = floats(j, AT_DECODER_LAYER_CROSS_OUT);
    float *const norm_2 = floats(j, AT_DECODER_LAYER_NORM_2);
    float *const ffn_hidden = floats(j, AT_DECODER_LAYER_FFN_HIDDEN);
    float *const ffn = floats(j, AT_DECODER_LAYER_FFN);

    /* ---- self-attention */
    /* norm_0 = norm(x)                                                                          [rows, 64] */
    if (lane == 0) norm_64(norm_0, x, w + W_DECODER_LAYER_NORM_0);
    rt_barrier(j->model->team);
    /* self_q = norm_0 W^T + b                                                                   [rows, 64] */
    linear_64x64(self_q, norm_0, w + W_DECODER_LAYER_SELF_Q, rt_split(4, lane, lanes));
    /* self_k = norm_0 W^T + b                                                                   [rows, 64] */
    linear_64x64(self_k, norm_0, w + W_DECODER_LAYER_SELF_K, rt_split(4, lane, lanes));
    /* self_v = norm_0 W^T + b                                                                   [rows, 64] */
    linear_64x64(self_v, norm_0, w + W_DECODER_LAYER_SELF_V, rt_split(4, lane, lanes));
    rt_barrier(j->model->team);
    /* self_k_cache[rows_positions] = self_k                                                   [target, 64] */
    store_keys_4x16_16(self_k_cache, self_k, rows_positions, rt_split(4, lane, lanes));
    /* self_v_cache[rows_positions] = self_v                                                   [target, 64] */
    store_values_4x16_16(self_v_cache, self_v, rows_positions, rt_split(4, lane, lanes));
    /* self_context = softmax(self_q self_k_cache^T * 0.25) self_v_cache                         [rows, 64] */
    attention_4x16_16(self_context, self_q, self_k_cache, self_v_cache, self_context_lanes + lane * 32, rows_visible,
        rt_split(4, lane, lanes));
    rt_barrier(j->model->team);
    /* self_out = self_context W^T + b                                                           [rows, 64] */
    linear_64x64(self_out, self_context, w + W_DECODER_LAYER_SELF_OUT, rt_split(4, lane, lanes));
    /* x = x + self_out                                                                          [rows, 64] */
    add_64(x, x, self_out, rt_split(4, lane, lanes));
    rt_barrier(j->model->team);

    /* ---- cross-attention */
    /* norm_1 = norm(x)                                                                          [rows, 64] */
    if (lane == 0) norm_64(norm_1, x, w + W_DECODER_LAYER_NORM_1);
    rt_barrier(j->model->team);
    /* cross_q = norm_1 W^T + b                                                                  [rows, 64] */
    linear_64x64(cross_q, norm_1, w + W_DECODER_LAYER_CROSS_Q, rt_split(4, lane, lanes));
    rt_barrier(j->model->team);
    /* cross_context = softmax(cross_q cross_k_memory^T * 0.25) cross_v_memory                   [rows, 64] */
    attention_4x16_80(cross_context, cross_q, cross_k_memory, cross_v_memory, cross_context_lanes + lane * 96,
        rows_visible_memory, rt_split(4, lane, lanes));
    rt_barrier(j->model->team);
    /* cross_out = cross_context W^T + b                                                         [rows, 64] */
    linear_64x64(cross_out, cross_context, w + W_DECODER_LAYER_CROSS_OUT, rt_split(4, lane, lanes));
    /* x = x + cross_out                                                                         [rows, 64] */
    add_64(x, x, cross_out, rt_split(4, lane, lanes));
    rt_barrier(j->model->team);

    /* ---- feed-forward */
    /* norm_2 = norm(x)                                                                          [rows, 64] */
    if (lane == 0) norm_64(norm_2, x, w + W_DECODER_LAYER_NORM_2);
    rt_barrier(j->model->team);
    /* ffn_hidden = relu(norm_2 W^T + b)                                                        [rows, 256] */
    linear_64x256_relu(ffn_hidden, norm_2, w + W_DECODER_LAYER_FFN_UP, rt_split(16, lane, lanes));
    rt_barrier(j->model->team);
    /* ffn = ffn_hidden W^T + b                                                                  [rows, 64] */
    linear_256x64(ffn, ffn_hidden, w + W_DECODER_LAYER_FFN_DOWN, rt_split(4, lane, lanes));
    /* x = x + ffn                                                                               [rows, 64] */
    add_64(x, x, ffn, rt_split(4, lane, lanes));
    rt_barrier(j->model->team);
}

/* Final norm and logits. */
static void decoder_output(const job *j, int lane, int lanes)
{
    const unsigned char *const w = j->model->weights + W_DECODER_OUTPUT;
    float *const x = floats(j, AT_DECODER_X);
    float *const logits = floats(j, AT_LOGITS);

    /* x = norm(x)                                                                               [rows, 64] */
    if (lane == 0) norm_64(x, x, w + W_DECODER_OUTPUT_DECODER_NORM);
    rt_barrier(j->model->team);
    /* logits = x W^T + b                                                                        [rows, 15] */
    linear_64x15(logits, x, w + W_DECODER_OUTPUT_OUTPUT, rt_split(1, lane, lanes));
    rt_barrier(j->model->team);
}

/* Log-softmax of the logits. */
static void log_probabilities(const job *j, int lane, int lanes)
{
    float *const x = floats(j, AT_LOGITS);

    (void)lanes;
    /* x = log_softmax(x)                                                                        [rows, 15] */
    if (lane == 0) log_softmax_15(x, x);
    rt_barrier(j->model->team);
}

/* The first maximum of the logits. */
static void likeliest(const job *j, int lane, int lanes)
{
    float *const x = floats(j, AT_LOGITS);
    int *const next_id = ints(j, AT_NEXT_ID);

    (void)lanes;
    /* next_id = index of the maximum of x                                                           [rows] */
    if (lane == 0) argmax_15(next_id, x);
    rt_barrier(j->model->team);
}

/* ---- programs --------------------------------------------------------------------------------------------- */

/* encode: a source into a slot's memory. At most 22 MFLOP for a source of 80. */
static void encode_body(void *work, int lane, int lanes)
{
    const job *j = work;
    encoder_embedding(j, lane, lanes);
    encoder_layer(j, 0, lane, lanes);
    encoder_layer(j, 1, lane, lanes);
    encoder_end(j, lane, lanes);
    decoder_memory(j, 0, lane, lanes);
    decoder_memory(j, 1, lane, lanes);
}

/* step: one decoder row into logits. At most 285 kFLOP a token at position 11, 473 kB of weights. */
static void step_body(void *work, int lane, int lanes)
{
    const job *j = work;
    decoder_embedding(j, lane, lanes);
    decoder_layer(j, 0, lane, lanes);
    decoder_layer(j, 1, lane, lanes);
    decoder_output(j, lane, lanes);
    log_probabilities(j, lane, lanes);
}

/* next: one decoder row into the likeliest id. At most 284 kFLOP a token at position 11, 473 kB of weights. */
static void next_body(void *work, int lane, int lanes)
{
    const job *j = work;
    decoder_embedding(j, lane, lanes);
    decoder_layer(j, 0, lane, lanes);
    decoder_layer(j, 1, lane, lanes);
    decoder_output(j, lane, lanes);
    likeliest(j, lane, lanes);
}

/* ---- the calls -------------------------------------------------------------------------------------------- */

/* The header of a state: per slot the length of its source and its next position. */
static int *source_length(const dates_state *s, int slot) { return (int *)s->bytes + slot; }
static int *next_position(const dates_state *s, int slot) { return (int *)s->bytes + 1 + slot; }

void dates_reset(dates_state *s) { memset(s->bytes, 0, SLOTS); }

rt_status dates_encode(const dates *m, dates_state *s, int slot, const int *ids, int n)
{
    int *const source = (int *)(s->bytes + AT_SOURCE_IDS);
    int *const positions = (int *)(s->bytes + AT_SOURCE_POSITIONS);
    int *const visible = (int *)(s->bytes + AT_SOURCE_VISIBLE);
    job j = { m, s, slot, n };
    if (slot < 0 || slot >= 1) return RT_BAD_ID;
    if (n < 1) return RT_ORDER;
    if (n > DATES_MAX_SOURCE) return RT_TOO_LONG;
    for (int i = 0; i < n; i++)
        if (ids[i] < 0 || ids[i] >= DATES_SOURCE_VOCAB) return RT_BAD_ID;
    for (int i = 0; i < n; i++) {
        source[i] = ids[i];
        positions[i] = i;
        visible[i] = n;
    }
    rt_team_run(m->team, encode_body, &j);
    *source_length(s, slot) = n;
    *next_position(s, slot) = 0;
    return RT_OK;
}

/* Check a row, set the inputs of a decoder program and run it. */
static rt_status decode(const dates *m, dates_state *s, const rt_row *row, rt_body *body)
{
    job j = { m, s, row->slot, 1 };
    if (row->slot < 0 || row->slot >= 1 || row->id < 0 || row->id >= DATES_VOCAB) return RT_BAD_ID;
    if (row->position >= DATES_MAX_TARGET) return RT_TOO_LONG;
    if (*source_length(s, row->slot) == 0 || row->position < 0 || row->position > *next_position(s, row->slot)) return RT_ORDER;
    *(int *)(s->bytes + AT_ROWS_IDS) = row->id;
    *(int *)(s->bytes + AT_ROWS_POSITIONS) = row->position;
    *(int *)(s->bytes + AT_ROWS_VISIBLE) = row->position + 1;
    *(int *)(s->bytes + AT_ROWS_VISIBLE_MEMORY) = *source_length(s, row->slot);
    rt_team_run(m->team, body, &j);
    *next_position(s, row->slot) = row->position + 1;
    return RT_OK;
}

rt_status dates_rows(const dates *m, dates_state *s, const rt_row *rows, int n)
{
    if (n < 1) return RT_ORDER;
    return n > DATES_ROWS ? RT_TOO_LONG : decode(m, s, rows, step_body);
}

rt_status dates_fork(dates_state *s, int from, int to)
{
    if (from < 0 || from >= 1 || to < 0 || to >= 1) return RT_BAD_ID;
    if (from == to) return RT_OK;
    memcpy(slot_bytes(s, to), slot_bytes(s, from), SLOT_BYTES);
    *source_length(s, to) = *source_length(s, from);
    *next_position(s, to) = *next_position(s, from);
    return RT_OK;
}

rt_status dates_step(const dates *m, dates_state *s, int id)
{
    const rt_row row = { 0, *next_position(s, 0), id };
    return decode(m, s, &row, step_body);
}

const float *dates_logits(const dates_state *s) { return (const float *)(s->bytes + AT_LOGITS); }

rt_status dates_next(const dates *m, dates_state *s, int id, int *next)
{
    const rt_row row = { 0, *next_position(s, 0), id };
    const rt_status status = decode(m, s, &row, next_body);
    if (status == RT_OK) *next = *(const int *)(s->bytes + AT_NEXT_ID);
    return status;
}

static RtCharacters characters(const dates *m, size_t table, int count, size_t texts, int size)
{
    const RtCharacters c = { (const int32_t *)(const void *)(m->weights + table), count,
                             (const int32_t *)(const void *)(m->weights + texts), size };
    return c;
}

rt_status dates_ids(const dates *m, const char *utf8, int *ids, int room, int *n, RtTextFault *fault)
{
    const RtCharacters source = characters(m, W_SOURCE_CHARACTERS, 62, W_SOURCE_TEXTS, DATES_SOURCE_VOCAB);
    return rt_characters_encode(&source, utf8, ids, room, n, fault);
}

rt_status dates_text(const dates *m, dates_state *s, const char *utf8, char *out, size_t cap)
{
    const RtCharacters target = characters(m, W_TARGET_CHARACTERS, 11, W_TARGET_TEXTS, DATES_VOCAB);
    int ids[DATES_MAX_SOURCE], n, id = DATES_START;
    size_t used = 0;
    if (cap == 0) return RT_NO_ROOM;
    out[0] = 0;
    rt_status status = dates_ids(m, utf8, ids, DATES_MAX_SOURCE, &n, NULL);
    if (status == RT_OK) status = dates_encode(m, s, 0, ids, n);
    for (int i = 1; status == RT_OK && i < DATES_MAX_TARGET; i++) {
        status = dates_next(m, s, id, &id);
        if (status != RT_OK || id == DATES_END) break;
        status = rt_characters_decode(&target, id, out, cap, &used);
    }
    return status;
}
