/* dates.c: dates.lua as C, made by xformc.
 *
 * Width 64. Encoder of 2 layers, 4 heads of 16, d_ff 256, annotated norm (pre).
 * Decoder of 2 layers, 4 heads of 16, d_ff 256, annotated norm (pre).
 * Weights 8c36158f2411bbae, 984384 bytes. State 438720 bytes: per slot 98304 of keys and values, 340352 of scratch.
 *
 * Every thread runs the same code on its share (rt_split) and waits for the others where it needs what they made
 * (rt_barrier).
 * Shapes stand in the margin; the functions called are in dates_kernels.h. */
#include "rt.h"
#include "rt_rows.h"
#include "dates_kernels.h"

#define HEAD_BYTES                                   ((size_t)5952)    /* of the packed file, before its data */
#define IDENTITY_AT                                  ((size_t)35)    /* in them: what the weights were packed for */

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

#define SLOTS_AT                                     ((size_t)64)
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

/* What passes between blocks; buffers overlap where their lives do not. */
#define AT_SOURCE_IDS                                ((size_t)98368)    /* [80] int */
#define AT_SOURCE_POSITIONS                          ((size_t)98688)    /* [80] int */
#define AT_ENCODER_X                                 ((size_t)99008)    /* [80][64] */
#define AT_SOURCE_VISIBLE                            ((size_t)119488)    /* [80] int */
#define AT_ROWS_IDS                                  ((size_t)119808)    /* [12] int */
#define AT_ROWS_POSITIONS                            ((size_t)119872)    /* [12] int */
#define AT_DECODER_X                                 ((size_t)119936)    /* [1][64] */
#define AT_ROWS_VISIBLE                              ((size_t)120192)    /* [12] int */
#define AT_ROWS_VISIBLE_MEMORY                       ((size_t)120256)    /* [12] int */
#define AT_LOGITS                                    ((size_t)120320)    /* [12][16] */
#define AT_NEXT_ID                                   ((size_t)121088)    /* [12] int */
#define AT_DECODER_ROWS_X                            ((size_t)121152)    /* [12][64] */
#define AT_GROUPS                                    ((size_t)435520)    /* [12] rt_group */
#define AT_TEXT_IDS                                  ((size_t)435712)    /* [80] int */
#define AT_TEXT_WORK                                 ((size_t)436032)    /* [2640] unsigned char */
#define SCRATCH                                      ((size_t)124224)    /* of one block at a time, laid out in its function */

/* What a call hands to every thread. */
typedef struct job { const dates *model; dates_state *state; int slot, rows; const rt_group *groups, *groups_end; } job;

static float *floats(const job *j, size_t at) { return (float *)(j->state->bytes + at); }
static int *ints(const job *j, size_t at) { return (int *)(j->state->bytes + at); }
static unsigned char *slot_bytes(dates_state *s, int slot) { return s->bytes + SLOTS_AT + (size_t)slot * SLOT_BYTES; }
static float *in_slot(const job *j, int slot, size_t at) { return (float *)(slot_bytes(j->state, slot) + at); }

const unsigned dates_isa = RT_ISA_BUILT;

rt_status dates_bind(dates *m, const void *weights, size_t bytes)
{
    static const char identity[] = "8c36158f2411bbae";      /* of spec and layout */
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

/* ---- blocks ----------------------------------------------------------------------------------------------- */

/* Token embeddings, scaled, plus positions. */
static void encoder_embedding(const job *j, int thread, int threads)
{
    const unsigned char *const w = j->model->weights + W_ENCODER_EMBEDDING;
    const int *const source_ids = ints(j, AT_SOURCE_IDS);       /* [80] */
    float *const x = floats(j, AT_ENCODER_X);                   /* [80][64] */
    const int *const source_positions = ints(j, AT_SOURCE_POSITIONS);  /* [80] */
    const rt_span mine = rt_split(j->rows, thread, threads);     /* this thread's rows */

    /* x = 8 * table[source_ids]                                                               [source, 64] */
    embed_64_rows(x, w + W_ENCODER_EMBEDDING_EMBED_TABLE, source_ids, mine);
    /* x = x + table[source_positions]                                                         [source, 64] */
    position_64_rows(x, x, w + W_ENCODER_EMBEDDING_POSITION_TABLE, source_positions, mine);
    rt_barrier(j->model->team);
}

/* Self-attention and feed-forward, each with a residual. One of 2 layers. */
static void encoder_layer(const job *j, int layer, int thread, int threads)
{
    const unsigned char *const w = j->model->weights + W_ENCODER_LAYER + (size_t)layer * W_ENCODER_LAYER_STRIDE;
    float *const x = floats(j, AT_ENCODER_X);                   /* [80][64] */
    float *const norm_0 = floats(j, SCRATCH + 0);               /* [80][64] */
    float *const self_qkv = floats(j, SCRATCH + 167936);        /* [80][192] */
    float *const self_k = self_qkv + 64;
    const int *const source_positions = ints(j, AT_SOURCE_POSITIONS);  /* [80] */
    float *const self_k_panels = floats(j, SCRATCH + 229376);   /* [4 heads][80 / 16][16][16] */
    float *const self_v = self_qkv + 128;
    float *const self_v_panels = floats(j, SCRATCH + 249856);   /* [4 heads][16 / 16][80][16] */
    float *const self_q = self_qkv;
    const int *const source_visible = ints(j, AT_SOURCE_VISIBLE);  /* [80] */
    float *const self_context = floats(j, SCRATCH + 270336);    /* [80][64] */
    float *const self_context_scratch = floats(j, SCRATCH + 0);  /* [16 threads][14][96] */
    float *const norm_1 = floats(j, SCRATCH + 290816);          /* [80][64] */
    float *const ffn_hidden = floats(j, SCRATCH + 86016);       /* [80][256] */
    const rt_span mine = rt_split(j->rows, thread, threads);     /* this thread's rows */

    /* ---- self-attention */
    /* norm_0 = norm(x)                                                                        [source, 64] */
    norm_64_rows(norm_0, x, w + W_ENCODER_LAYER_NORM_0, mine);
    /* self_qkv = norm_0 W_self_q^T + b | norm_0 W_self_k^T + b | norm_0 W_self_v^T + b       [source, 192] */
    linear_64x192_rows(self_qkv, norm_0, w + W_ENCODER_LAYER_SELF_Q, mine);
    /* self_k_panels[source_positions] = self_k                                                [source, 64] */
    store_keys_4x16_80_rows(self_k_panels, self_k, source_positions, mine);
    /* self_v_panels[source_positions] = self_v                                                [source, 64] */
    store_values_4x16_80_rows(self_v_panels, self_v, source_positions, mine);
    rt_barrier(j->model->team);
    /* self_context = softmax(self_q self_k_panels^T * 0.25) self_v_panels                     [source, 64] */
    attention_4x16_80_rows(self_context, self_q, self_k_panels, self_v_panels,
        self_context_scratch + thread * (14 * 96), source_visible, mine);
    /* x = x + self_context W_self_out^T + b                                                   [source, 64] */
    linear_64x64_add_rows(x, self_context, w + W_ENCODER_LAYER_SELF_OUT, x, mine);

    /* ---- feed-forward */
    /* norm_1 = norm(x)                                                                        [source, 64] */
    norm_64_rows(norm_1, x, w + W_ENCODER_LAYER_NORM_1, mine);
    /* ffn_hidden = relu(norm_1 W_ffn_up^T + b)                                               [source, 256] */
    linear_64x256_relu_rows(ffn_hidden, norm_1, w + W_ENCODER_LAYER_FFN_UP, mine);
    /* x = x + ffn_hidden W_ffn_down^T + b                                                     [source, 64] */
    linear_256x64_add_rows(x, ffn_hidden, w + W_ENCODER_LAYER_FFN_DOWN, x, mine);
    rt_barrier(j->model->team);
}

/* The encoder's final norm. */
static void encoder_end(const job *j, int thread, int threads)
{
    const unsigned char *const w = j->model->weights + W_ENCODER_END;
    float *const x = floats(j, AT_ENCODER_X);                   /* [80][64] */
    const rt_span mine = rt_split(j->rows, thread, threads);     /* this thread's rows */

    /* x = norm(x)                                                                             [source, 64] */
    norm_64_rows(x, x, w + W_ENCODER_END_NORM, mine);
    rt_barrier(j->model->team);
}

/* Keys and values of the cross-attention, once per source. One of 2 layers. */
static void decoder_memory(const job *j, int layer, int thread, int threads)
{
    const unsigned char *const w = j->model->weights + W_DECODER_MEMORY + (size_t)layer * W_DECODER_MEMORY_STRIDE;
    float *const x = floats(j, AT_ENCODER_X);                   /* [80][64] */
    float *const cross_kv = floats(j, SCRATCH + 0);             /* [80][128] */
    float *const cross_k = cross_kv;
    const int *const source_positions = ints(j, AT_SOURCE_POSITIONS);  /* [80] */
    float *const cross_k_memory = in_slot(j, j->slot, AT_DECODER_MEMORY_CROSS_K_MEMORY + (size_t)layer * AT_DECODER_MEMORY_CROSS_K_MEMORY_STRIDE);
    float *const cross_v = cross_kv + 64;
    float *const cross_v_memory = in_slot(j, j->slot, AT_DECODER_MEMORY_CROSS_V_MEMORY + (size_t)layer * AT_DECODER_MEMORY_CROSS_V_MEMORY_STRIDE);
    const rt_span mine = rt_split(j->rows, thread, threads);     /* this thread's rows */

    /* cross_kv = x W_cross_k^T + b | x W_cross_v^T + b                                       [source, 128] */
    linear_64x128_rows(cross_kv, x, w + W_DECODER_MEMORY_CROSS_K, mine);
    /* cross_k_memory[source_positions] = cross_k                                              [source, 64] */
    store_keys_4x16_80_rows_v2(cross_k_memory, cross_k, source_positions, mine);
    /* cross_v_memory[source_positions] = cross_v                                              [source, 64] */
    store_values_4x16_80_rows_v2(cross_v_memory, cross_v, source_positions, mine);
    rt_barrier(j->model->team);
}

/* Token embeddings, scaled, plus positions. */
static void decoder_embedding(const job *j, int thread, int threads)
{
    const unsigned char *const w = j->model->weights + W_DECODER_EMBEDDING;
    const int *const rows_ids = ints(j, AT_ROWS_IDS);           /* [12] */
    float *const x = floats(j, AT_DECODER_X);                   /* [1][64] */
    const int *const rows_positions = ints(j, AT_ROWS_POSITIONS);  /* [12] */

    (void)threads;
    /* x = 8 * table[rows_ids]                                                                   [rows, 64] */
    if (thread == 0) embed_64(x, w + W_DECODER_EMBEDDING_EMBED_TABLE, rows_ids);
    /* x = x + table[rows_positions]                                                             [rows, 64] */
    if (thread == 0) position_64(x, x, w + W_DECODER_EMBEDDING_POSITION_TABLE, rows_positions);
    rt_barrier(j->model->team);
}

/* Causal self-attention, cross-attention and feed-forward, each with a residual. One of 2 layers. */
static void decoder_layer(const job *j, int layer, int thread, int threads)
{
    const unsigned char *const w = j->model->weights + W_DECODER_LAYER + (size_t)layer * W_DECODER_LAYER_STRIDE;
    float *const x = floats(j, AT_DECODER_X);                   /* [1][64] */
    float *const norm_0 = floats(j, SCRATCH + 0);               /* [1][64] */
    float *const self_qkv = floats(j, SCRATCH + 2048);          /* [1][192] */
    float *const self_k = self_qkv + 64;
    const int *const rows_positions = ints(j, AT_ROWS_POSITIONS);  /* [12] */
    float *const self_k_cache = in_slot(j, j->slot, AT_DECODER_LAYER_SELF_K_CACHE + (size_t)layer * AT_DECODER_LAYER_SELF_K_CACHE_STRIDE);
    float *const self_v = self_qkv + 128;
    float *const self_v_cache = in_slot(j, j->slot, AT_DECODER_LAYER_SELF_V_CACHE + (size_t)layer * AT_DECODER_LAYER_SELF_V_CACHE_STRIDE);
    float *const self_q = self_qkv;
    const int *const rows_visible = ints(j, AT_ROWS_VISIBLE);   /* [12] */
    float *const self_context = floats(j, SCRATCH + 2816);      /* [1][64] */
    float *const self_context_scratch = floats(j, SCRATCH + 0);  /* [16 threads][1][32] */
    float *const norm_1 = floats(j, SCRATCH + 0);               /* [1][64] */
    float *const cross_q = floats(j, SCRATCH + 6144);           /* [1][64] */
    float *const cross_k_memory = in_slot(j, j->slot, AT_DECODER_MEMORY_CROSS_K_MEMORY + (size_t)layer * AT_DECODER_MEMORY_CROSS_K_MEMORY_STRIDE);
    float *const cross_v_memory = in_slot(j, j->slot, AT_DECODER_MEMORY_CROSS_V_MEMORY + (size_t)layer * AT_DECODER_MEMORY_CROSS_V_MEMORY_STRIDE);
    const int *const rows_visible_memory = ints(j, AT_ROWS_VISIBLE_MEMORY);  /* [12] */
    float *const cross_context = floats(j, SCRATCH + 6400);     /* [1][64] */
    float *const cross_context_scratch = floats(j, SCRATCH + 0);  /* [16 threads][1][96] */
    float *const norm_2 = floats(j, SCRATCH + 1024);            /* [1][64] */
    float *const ffn_hidden = floats(j, SCRATCH + 0);           /* [1][256] */
    const rt_span share_12 = rt_split(12, thread, threads);
    const rt_span share_4 = rt_split(4, thread, threads);
    const rt_span share_16 = rt_split(16, thread, threads);

    /* ---- self-attention */
    /* norm_0 = norm(x)                                                                          [rows, 64] */
    if (thread == 0) norm_64(norm_0, x, w + W_DECODER_LAYER_NORM_0);
    rt_barrier(j->model->team);
    /* self_qkv = norm_0 W_self_q^T + b | norm_0 W_self_k^T + b | norm_0 W_self_v^T + b         [rows, 192] */
    linear_64x192(self_qkv, norm_0, w + W_DECODER_LAYER_SELF_Q, share_12);
    rt_barrier(j->model->team);
    /* self_k_cache[rows_positions] = self_k                                                   [target, 64] */
    store_keys_4x16_16(self_k_cache, self_k, rows_positions, share_4);
    /* self_v_cache[rows_positions] = self_v                                                   [target, 64] */
    store_values_4x16_16(self_v_cache, self_v, rows_positions, share_4);
    /* self_context = softmax(self_q self_k_cache^T * 0.25) self_v_cache                         [rows, 64] */
    attention_4x16_16(self_context, self_q, self_k_cache, self_v_cache, self_context_scratch + thread * (1 * 32),
        rows_visible, share_4);
    rt_barrier(j->model->team);
    /* x = x + self_context W_self_out^T + b                                                     [rows, 64] */
    linear_64x64_add(x, self_context, w + W_DECODER_LAYER_SELF_OUT, x, share_4);
    rt_barrier(j->model->team);

    /* ---- cross-attention */
    /* norm_1 = norm(x)                                                                          [rows, 64] */
    if (thread == 0) norm_64(norm_1, x, w + W_DECODER_LAYER_NORM_1);
    rt_barrier(j->model->team);
    /* cross_q = norm_1 W_cross_q^T + b                                                          [rows, 64] */
    linear_64x64(cross_q, norm_1, w + W_DECODER_LAYER_CROSS_Q, share_4);
    rt_barrier(j->model->team);
    /* cross_context = softmax(cross_q cross_k_memory^T * 0.25) cross_v_memory                   [rows, 64] */
    attention_4x16_80(cross_context, cross_q, cross_k_memory, cross_v_memory, cross_context_scratch + thread * (1 * 96),
        rows_visible_memory, share_4);
    rt_barrier(j->model->team);
    /* x = x + cross_context W_cross_out^T + b                                                   [rows, 64] */
    linear_64x64_add(x, cross_context, w + W_DECODER_LAYER_CROSS_OUT, x, share_4);
    rt_barrier(j->model->team);

    /* ---- feed-forward */
    /* norm_2 = norm(x)                                                                          [rows, 64] */
    if (thread == 0) norm_64(norm_2, x, w + W_DECODER_LAYER_NORM_2);
    rt_barrier(j->model->team);
    /* ffn_hidden = relu(norm_2 W_ffn_up^T + b)                                                 [rows, 256] */
    linear_64x256_relu(ffn_hidden, norm_2, w + W_DECODER_LAYER_FFN_UP, share_16);
    rt_barrier(j->model->team);
    /* x = x + ffn_hidden W_ffn_down^T + b                                                       [rows, 64] */
    linear_256x64_add(x, ffn_hidden, w + W_DECODER_LAYER_FFN_DOWN, x, share_4);
    rt_barrier(j->model->team);
}

/* Final norm and logits. */
static void decoder_output(const job *j, int thread, int threads)
{
    const unsigned char *const w = j->model->weights + W_DECODER_OUTPUT;
    float *const x = floats(j, AT_DECODER_X);                   /* [1][64] */
    float *const logits = floats(j, AT_LOGITS);                 /* [12][16] */
    const rt_span share_1 = rt_split(1, thread, threads);

    /* x = norm(x)                                                                               [rows, 64] */
    if (thread == 0) norm_64(x, x, w + W_DECODER_OUTPUT_DECODER_NORM);
    rt_barrier(j->model->team);
    /* logits = x W_output^T + b                                                                 [rows, 15] */
    linear_64x15(logits, x, w + W_DECODER_OUTPUT_OUTPUT, share_1);
    rt_barrier(j->model->team);
}

/* Log-softmax of the logits. */
static void log_probabilities(const job *j, int thread, int threads)
{
    float *const logits = floats(j, AT_LOGITS);                 /* [12][16] */

    (void)threads;
    /* logits = log_softmax(logits)                                                              [rows, 15] */
    if (thread == 0) log_softmax_15(logits, logits);
    rt_barrier(j->model->team);
}

/* The first maximum of the logits. */
static void argmax(const job *j, int thread, int threads)
{
    float *const logits = floats(j, AT_LOGITS);                 /* [12][16] */
    int *const next_id = ints(j, AT_NEXT_ID);                   /* [12] */

    (void)threads;
    /* next_id = index of the maximum of logits                                                      [rows] */
    if (thread == 0) argmax_15(next_id, logits);
    rt_barrier(j->model->team);
}

/* Token embeddings, scaled, plus positions. */
static void decoder_embedding_rows(const job *j, int thread, int threads)
{
    const unsigned char *const w = j->model->weights + W_DECODER_EMBEDDING;
    const int *const rows_ids = ints(j, AT_ROWS_IDS);           /* [12] */
    float *const x = floats(j, AT_DECODER_ROWS_X);              /* [12][64] */
    const int *const rows_positions = ints(j, AT_ROWS_POSITIONS);  /* [12] */
    const rt_span mine = rt_split(j->rows, thread, threads);     /* this thread's rows */

    /* x = 8 * table[rows_ids]                                                                   [rows, 64] */
    embed_64_rows(x, w + W_DECODER_EMBEDDING_EMBED_TABLE, rows_ids, mine);
    /* x = x + table[rows_positions]                                                             [rows, 64] */
    position_64_rows(x, x, w + W_DECODER_EMBEDDING_POSITION_TABLE, rows_positions, mine);
    rt_barrier(j->model->team);
}

/* Causal self-attention, cross-attention and feed-forward, each with a residual. One of 2 layers. */
static void decoder_layer_rows(const job *j, int layer, int thread, int threads)
{
    const unsigned char *const w = j->model->weights + W_DECODER_LAYER + (size_t)layer * W_DECODER_LAYER_STRIDE;
    float *const x = floats(j, AT_DECODER_ROWS_X);              /* [12][64] */
    float *const norm_0 = floats(j, SCRATCH + 0);               /* [12][64] */
    float *const self_qkv = floats(j, SCRATCH + 110592);        /* [12][192] */
    float *const self_k = self_qkv + 64;
    const int *const rows_positions = ints(j, AT_ROWS_POSITIONS);  /* [12] */
    const size_t self_k_cache = AT_DECODER_LAYER_SELF_K_CACHE + (size_t)layer * AT_DECODER_LAYER_SELF_K_CACHE_STRIDE;
    float *const self_v = self_qkv + 128;
    const size_t self_v_cache = AT_DECODER_LAYER_SELF_V_CACHE + (size_t)layer * AT_DECODER_LAYER_SELF_V_CACHE_STRIDE;
    float *const self_q = self_qkv;
    const int *const rows_visible = ints(j, AT_ROWS_VISIBLE);   /* [12] */
    float *const self_context = floats(j, SCRATCH + 119808);    /* [12][64] */
    float *const self_context_scratch = floats(j, SCRATCH + 73728);  /* [16 threads][12][32] */
    float *const norm_1 = floats(j, SCRATCH + 122880);          /* [12][64] */
    float *const cross_q = floats(j, SCRATCH + 125952);         /* [12][64] */
    const size_t cross_k_memory = AT_DECODER_MEMORY_CROSS_K_MEMORY + (size_t)layer * AT_DECODER_MEMORY_CROSS_K_MEMORY_STRIDE;
    const size_t cross_v_memory = AT_DECODER_MEMORY_CROSS_V_MEMORY + (size_t)layer * AT_DECODER_MEMORY_CROSS_V_MEMORY_STRIDE;
    const int *const rows_visible_memory = ints(j, AT_ROWS_VISIBLE_MEMORY);  /* [12] */
    float *const cross_context = floats(j, SCRATCH + 129024);   /* [12][64] */
    float *const cross_context_scratch = floats(j, SCRATCH + 0);  /* [16 threads][12][96] */
    float *const norm_2 = floats(j, SCRATCH + 132096);          /* [12][64] */
    float *const ffn_hidden = floats(j, SCRATCH + 98304);       /* [12][256] */
    const rt_span mine = rt_split(j->rows, thread, threads);     /* this thread's rows */

    /* ---- self-attention */
    /* norm_0 = norm(x)                                                                          [rows, 64] */
    norm_64_rows(norm_0, x, w + W_DECODER_LAYER_NORM_0, mine);
    /* self_qkv = norm_0 W_self_q^T + b | norm_0 W_self_k^T + b | norm_0 W_self_v^T + b         [rows, 192] */
    linear_64x192_rows(self_qkv, norm_0, w + W_DECODER_LAYER_SELF_Q, mine);
    /* self_k_cache[rows_positions] = self_k                                                   [target, 64] */
    for (const rt_group *g = j->groups; g < j->groups_end; g++)
        store_keys_4x16_16_rows(in_slot(j, g->slot, self_k_cache), self_k, rows_positions, rt_intersect(mine, g->rows));
    /* self_v_cache[rows_positions] = self_v                                                   [target, 64] */
    for (const rt_group *g = j->groups; g < j->groups_end; g++)
        store_values_4x16_16_rows(in_slot(j, g->slot, self_v_cache), self_v, rows_positions, rt_intersect(mine, g->rows));
    rt_barrier(j->model->team);
    /* self_context = softmax(self_q self_k_cache^T * 0.25) self_v_cache                         [rows, 64] */
    for (const rt_group *g = j->groups; g < j->groups_end; g++)
        attention_4x16_16_rows(self_context, self_q, in_slot(j, g->slot, self_k_cache), in_slot(j, g->slot, self_v_cache),
        self_context_scratch + thread * (12 * 32), rows_visible, rt_intersect(mine, g->rows));
    /* x = x + self_context W_self_out^T + b                                                     [rows, 64] */
    linear_64x64_add_rows(x, self_context, w + W_DECODER_LAYER_SELF_OUT, x, mine);

    /* ---- cross-attention */
    /* norm_1 = norm(x)                                                                          [rows, 64] */
    norm_64_rows(norm_1, x, w + W_DECODER_LAYER_NORM_1, mine);
    /* cross_q = norm_1 W_cross_q^T + b                                                          [rows, 64] */
    linear_64x64_rows(cross_q, norm_1, w + W_DECODER_LAYER_CROSS_Q, mine);
    /* cross_context = softmax(cross_q cross_k_memory^T * 0.25) cross_v_memory                   [rows, 64] */
    for (const rt_group *g = j->groups; g < j->groups_end; g++)
        attention_4x16_80_rows_v2(cross_context, cross_q, in_slot(j, g->slot, cross_k_memory), in_slot(j, g->slot,
        cross_v_memory), cross_context_scratch + thread * (12 * 96), rows_visible_memory, rt_intersect(mine, g->rows));
    /* x = x + cross_context W_cross_out^T + b                                                   [rows, 64] */
    linear_64x64_add_rows(x, cross_context, w + W_DECODER_LAYER_CROSS_OUT, x, mine);

    /* ---- feed-forward */
    /* norm_2 = norm(x)                                                                          [rows, 64] */
    norm_64_rows(norm_2, x, w + W_DECODER_LAYER_NORM_2, mine);
    /* ffn_hidden = relu(norm_2 W_ffn_up^T + b)                                                 [rows, 256] */
    linear_64x256_relu_rows(ffn_hidden, norm_2, w + W_DECODER_LAYER_FFN_UP, mine);
    /* x = x + ffn_hidden W_ffn_down^T + b                                                       [rows, 64] */
    linear_256x64_add_rows(x, ffn_hidden, w + W_DECODER_LAYER_FFN_DOWN, x, mine);
    rt_barrier(j->model->team);
}

/* Final norm and logits. */
static void decoder_output_rows(const job *j, int thread, int threads)
{
    const unsigned char *const w = j->model->weights + W_DECODER_OUTPUT;
    float *const x = floats(j, AT_DECODER_ROWS_X);              /* [12][64] */
    float *const logits = floats(j, AT_LOGITS);                 /* [12][16] */
    const rt_span mine = rt_split(j->rows, thread, threads);     /* this thread's rows */

    /* x = norm(x)                                                                               [rows, 64] */
    norm_64_rows(x, x, w + W_DECODER_OUTPUT_DECODER_NORM, mine);
    /* logits = x W_output^T + b                                                                 [rows, 15] */
    linear_64x15_rows(logits, x, w + W_DECODER_OUTPUT_OUTPUT, mine);
    rt_barrier(j->model->team);
}

/* Log-softmax of the logits. */
static void log_probabilities_rows(const job *j, int thread, int threads)
{
    float *const logits = floats(j, AT_LOGITS);                 /* [12][16] */
    const rt_span mine = rt_split(j->rows, thread, threads);     /* this thread's rows */

    /* logits = log_softmax(logits)                                                              [rows, 15] */
    log_softmax_15_rows(logits, logits, mine);
    rt_barrier(j->model->team);
}

/* The first maximum of each row's logits. */
static void argmax_rows(const job *j, int thread, int threads)
{
    float *const logits = floats(j, AT_LOGITS);                 /* [12][16] */
    int *const next_id = ints(j, AT_NEXT_ID);                   /* [12] */
    const rt_span mine = rt_split(j->rows, thread, threads);     /* this thread's rows */

    /* next_id = index of the maximum of logits                                                      [rows] */
    argmax_15_rows(next_id, logits, mine);
    rt_barrier(j->model->team);
}

/* ---- programs --------------------------------------------------------------------------------------------- */

/* encode: a source into a slot's memory. At most 22 MFLOP for a source of 80. */
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

/* step: one decoder row into logits. At most 285 kFLOP a row, at the last position; it reads 473 kB of weights. */
static void step_body(void *work, int thread, int threads)
{
    const job *j = work;
    decoder_embedding(j, thread, threads);
    decoder_layer(j, 0, thread, threads);
    decoder_layer(j, 1, thread, threads);
    decoder_output(j, thread, threads);
    log_probabilities(j, thread, threads);
}

/* next: one decoder row into the most likely id. At most 284 kFLOP a row, at the last position; it reads 473 kB of weights. */
static void next_body(void *work, int thread, int threads)
{
    const job *j = work;
    decoder_embedding(j, thread, threads);
    decoder_layer(j, 0, thread, threads);
    decoder_layer(j, 1, thread, threads);
    decoder_output(j, thread, threads);
    argmax(j, thread, threads);
}

/* decode: decoder rows into logits. At most 285 kFLOP a row, at the last position; it reads 473 kB of weights. */
static void decode_body(void *work, int thread, int threads)
{
    const job *j = work;
    decoder_embedding_rows(j, thread, threads);
    decoder_layer_rows(j, 0, thread, threads);
    decoder_layer_rows(j, 1, thread, threads);
    decoder_output_rows(j, thread, threads);
    log_probabilities_rows(j, thread, threads);
}

/* prefill: decoder rows into keys and values alone. */
static void prefill_body(void *work, int thread, int threads)
{
    const job *j = work;
    decoder_embedding_rows(j, thread, threads);
    decoder_layer_rows(j, 0, thread, threads);
    decoder_layer_rows(j, 1, thread, threads);
}

/* decode_greedy: decoder rows into the most likely id of each. At most 284 kFLOP a row, at the last position; it reads 473 kB of weights. */
static void decode_greedy_body(void *work, int thread, int threads)
{
    const job *j = work;
    decoder_embedding_rows(j, thread, threads);
    decoder_layer_rows(j, 0, thread, threads);
    decoder_layer_rows(j, 1, thread, threads);
    decoder_output_rows(j, thread, threads);
    argmax_rows(j, thread, threads);
}

/* ---- the calls -------------------------------------------------------------------------------------------- */

/* The header of a state: per slot the length of its source and its next position. */
static int *source_length(const dates_state *s, int slot) { return (int *)s->bytes + slot; }
static int *next_position(const dates_state *s, int slot) { return (int *)s->bytes + 1 + slot; }

void dates_reset(dates_state *s) { rt_clear(s->bytes, SLOTS_AT); }

rt_status dates_encode(const dates *m, dates_state *s, int slot, const int *ids, int n)
{
    int *const source = (int *)(s->bytes + AT_SOURCE_IDS);
    int *const positions = (int *)(s->bytes + AT_SOURCE_POSITIONS);
    int *const visible = (int *)(s->bytes + AT_SOURCE_VISIBLE);
    job j = { .model = m, .state = s, .slot = slot, .rows = n };
    if (slot < 0 || slot >= DATES_SLOTS) return RT_BAD_ID;
    if (n < 1) return RT_ORDER;
    if (n > DATES_MAX_SOURCE) return RT_TOO_LONG;
    for (int i = 0; i < n; i++)
        if (ids[i] < 0 || ids[i] >= DATES_SOURCE_VOCAB) return RT_BAD_ID;
    for (int i = 0; i < n; i++) {
        source[i] = ids[i];
        positions[i] = i;
        visible[i] = n;
    }
    rt_team_share(m->team, encode_body, &j);
    *source_length(s, slot) = n;
    *next_position(s, slot) = 0;
    return RT_OK;
}

/* What rt_rows.h knows of the rows in a state. */
static RtRows rows_of(dates_state *s)
{
    const RtRows r = {
        .header = (int *)s->bytes, .slots = DATES_SLOTS, .vocab = DATES_VOCAB,
        .positions_most = DATES_MAX_TARGET, .rows_most = DATES_ROWS,
        .ids = (int *)(s->bytes + AT_ROWS_IDS), .positions = (int *)(s->bytes + AT_ROWS_POSITIONS),
        .visible = (int *)(s->bytes + AT_ROWS_VISIBLE), .memory = (int *)(s->bytes + AT_ROWS_VISIBLE_MEMORY),
    };
    return r;
}

/* one: for a row alone, or NULL. */
static rt_status run_rows(const dates *m, dates_state *s, const rt_token *rows, int n, rt_body *one, rt_body *many)
{
    const RtRows r = rows_of(s);
    rt_group *const groups = (rt_group *)(s->bytes + AT_GROUPS);
    const rt_status status = rt_rows_begin(&r, rows, n);
    if (status != RT_OK) return status;
    job j = { .model = m, .state = s, .slot = rows->slot, .rows = n, .groups = groups, .groups_end = rt_rows_group(rows, n, groups) };
    rt_body *const body = n == 1 && one ? one : many;
    rt_team_share(m->team, body, &j);
    rt_rows_end(&r, rows, n);
    return RT_OK;
}

rt_status dates_decode(const dates *m, dates_state *s, const rt_token *rows, int n)
{
    return run_rows(m, s, rows, n, step_body, decode_body);
}

rt_status dates_prefill(const dates *m, dates_state *s, const rt_token *rows, int n)
{
    return run_rows(m, s, rows, n, NULL, prefill_body);
}

rt_status dates_decode_greedy(const dates *m, dates_state *s, const rt_token *rows, int n, int *next)
{
    const int *const ids = (const int *)(s->bytes + AT_NEXT_ID);
    int good = 1;
    const rt_status status = run_rows(m, s, rows, n, next_body, decode_greedy_body);
    if (status != RT_OK) return status;
    for (int i = 0; i < n; i++) {
        next[i] = ids[i];
        good = good && ids[i] >= 0;
    }
    return good ? RT_OK : RT_BAD_WEIGHTS;           /* logits that are no numbers */
}

rt_status dates_fork(dates_state *s, int from, int to)
{
    if (from < 0 || from >= DATES_SLOTS || to < 0 || to >= DATES_SLOTS) return RT_BAD_ID;
    if (from == to) return RT_OK;
    const RtRows r = rows_of(s);
    rt_copy(slot_bytes(s, to), slot_bytes(s, from), SLOT_BYTES);
    rt_rows_fork(&r, from, to);
    return RT_OK;
}

rt_status dates_clear(dates_state *s, int slot)
{
    if (slot < 0 || slot >= DATES_SLOTS) return RT_BAD_ID;
    *next_position(s, slot) = 0;
    return RT_OK;
}

rt_status dates_step(const dates *m, dates_state *s, int id)
{
    const rt_token row = { 0, *next_position(s, 0), id };
    return run_rows(m, s, &row, 1, step_body, decode_body);
}

const float *dates_scores(const dates_state *s) { return (const float *)(s->bytes + AT_LOGITS); }

rt_status dates_next(const dates *m, dates_state *s, int id, int *next)
{
    const rt_token row = { 0, *next_position(s, 0), id };
    return dates_decode_greedy(m, s, &row, 1, next);
}

static RtCharacters characters(const dates *m, size_t table, int count, size_t texts, int size)
{
    const RtCharacters c = { (const int32_t *)(const void *)(m->weights + table), count,
                             (const int32_t *)(const void *)(m->weights + texts), size };
    return c;
}

rt_status dates_tokenize(const dates *m, dates_state *s, const char *utf8, int *ids, int room, int *n,
        RtTextFault *fault)
{
    (void)s;
    const RtCharacters source = characters(m, W_SOURCE_CHARACTERS, 62, W_SOURCE_TEXTS, DATES_SOURCE_VOCAB);
    return rt_characters_encode(&source, utf8, ids, room, n, fault);
}

rt_status dates_tokenize_target(const dates *m, dates_state *s, const char *utf8, int *ids, int room, int *n,
        RtTextFault *fault)
{
    const RtCharacters target = characters(m, W_TARGET_CHARACTERS, 11, W_TARGET_TEXTS, DATES_VOCAB);
    (void)s;
    return rt_characters_encode(&target, utf8, ids, room, n, fault);
}

rt_status dates_detokenize(const dates *m, const int *ids, int n, char *out, size_t cap, size_t *bytes)
{
    const RtCharacters target = characters(m, W_TARGET_CHARACTERS, 11, W_TARGET_TEXTS, DATES_VOCAB);
    return rt_characters_decode(&target, ids, n, out, cap, bytes);
}
