/* encoder.c: encoder.lua as C, made by xformc 0.9.0. Width 128.
 * Encoder of 4 layers, 4 heads of 32, d_ff 512, layer norm (post).
 *
 * Weights: 842496 parameters as f32, 3369984 bytes, identity d0f68340832b2fc4.
 * State: 859840 bytes.
 * encode: at most 237 MFLOP for a source of 128.
 * Build: make, or cc -std=c11 -O2 -march=native -ffp-contract=off -Iruntime -c encoder.c
 *
 * This file has, in order: the weights, as structs; the state; binding; the blocks, as functions;
 * the programs, which call blocks; and other calls of encoder.h. The operations are in
 * encoder_kernels.h.
 * Every thread runs the same code on its share (rt_split), and waits for the others where it needs
 * their results (rt_barrier).
 * A comment above each call gives its equation and, at the right, the shape of its result. */
#include "rt.h"
#include "encoder_kernels.h"

#define HEAD_BYTES   ((size_t)4480)      /* bytes before the data of the packed file */
#define IDENTITY_AT  ((size_t)35)        /* offset of the 16 digits that bind compares */

/* ---- weights --------------------------------------------------------------------------------- */

/* W_BLOCK: where the weights of a block begin in the packed data, in bytes. */

/* A panel: sixteen outputs of a linear side by side, a row for each input: W[out][in] is
 * panel[out / 16].weight[in][out % 16]. The last panel is padded. */
struct panel_128 { float bias[16], weight[128][16]; };
struct panel_512 { float bias[16], weight[512][16]; };

#define W_ENCODER_EMBEDDING ((size_t)0)
struct encoder_embedding {
    float embed_table[256][128];                                /* a row for each id */
    float position_table[128][128];                             /* a row for each position */
    float embed_norm[2][128];                                   /* weight, bias */
};
_Static_assert(sizeof(struct encoder_embedding) == 197632, "as packed");

#define W_ENCODER_LAYER(layer) ((size_t)197632 + (size_t)(layer) * 793088)
struct encoder_layer {
    struct { struct panel_128 q[8], k[8], v[8]; } self_qkv;     /* 128 -> 128 | 128 | 128 */
    struct panel_128 self_out[8];                               /* 128 -> 128 */
    float norm_0[2][128];                                       /* weight, bias */
    struct panel_128 ffn_up[32];                                /* 128 -> 512 */
    struct panel_512 ffn_down[8];                               /* 512 -> 128 */
    float norm_1[2][128];                                       /* weight, bias */
};
_Static_assert(sizeof(struct encoder_layer) == 793088, "as packed");

/* ---- state ----------------------------------------------------------------------------------- */

/* The bytes of encoder_state. */
struct state {
    int source_length[1], next_position[1];      /* by slot */
    XF_ALIGN(64) int source_ids[128];                           /* tokens of the source */
    XF_ALIGN(64) int source_positions[128];                     /* position of each token */
    XF_ALIGN(64) float encoder_x[128][128];                     /* rows between encoder layers */
    XF_ALIGN(64) int source_visible[128];                       /* how many positions each sees */
    XF_ALIGN(64) float scratch[198144];  /* work space; each block has its own layout */
    XF_ALIGN(64) rt_group groups[8];  /* rows of one slot, or of one text */
};
_Static_assert(sizeof(struct state) == ENCODER_STATE_BYTES, "as planned");

/* The arguments of a call, for every thread. */
typedef struct job { const unsigned char *weights; struct rt_team *team; struct state *state;
                     int slot, rows; const rt_group *groups, *groups_end; } job;

/* ---- binding --------------------------------------------------------------------------------- */

const unsigned encoder_isa = RT_ISA_BUILT;

rt_status encoder_bind(encoder *m, const void *weights, size_t bytes)
{
    static const char identity[] = "d0f68340832b2fc4";      /* a hash of the graph and the layout */
    const unsigned char *head = weights;
    if (rt_isa_missing(encoder_isa)) return RT_NO_ISA;
    if (bytes != ENCODER_WEIGHTS_BYTES || (uintptr_t)weights % 64 != 0) return RT_BAD_WEIGHTS;
    const rt_status order = rt_head_check(head, HEAD_BYTES - 8);
    if (order != RT_OK) return order;
    for (size_t i = 0; identity[i]; i++)
        if (head[IDENTITY_AT + i] != (unsigned char)identity[i]) return RT_BAD_WEIGHTS;
    m->weights = head + HEAD_BYTES;
    return RT_OK;
}

rt_status encoder_threads(encoder *m, int n)
{
    return n < 1 || n > ENCODER_MAX_THREADS ? RT_TOO_LONG : rt_team_resize(&m->team, n);
}

/* ---- blocks ---------------------------------------------------------------------------------- */

/* Token embeddings, plus positions, normalised. */
static void encoder_embedding(const job *j, int thread, int threads)
{
    const struct encoder_embedding *const w = (const void *)(j->weights + W_ENCODER_EMBEDDING);
    struct state *const s = j->state;
    float *const x = s->encoder_x[0];
    const rt_span mine = rt_split(j->rows, thread, threads);     /* this thread's rows */

    /* x = embed_table[source_ids]                                                  [source, 128] */
    embed_128_rows(x, w->embed_table, s->source_ids, mine);
    /* x = x + position_table[source_positions]                                     [source, 128] */
    position_128_rows(x, x, w->position_table, s->source_positions, mine);
    /* x = norm(x)                                                                  [source, 128] */
    norm_128_rows(x, x, w->embed_norm, mine);
    rt_barrier(j->team);
}

/* Self-attention and feed-forward, each with a residual. One of 4 layers. */
static void encoder_layer(const job *j, int layer, int thread, int threads)
{
    const struct encoder_layer *const w = (const void *)(j->weights + W_ENCODER_LAYER(layer));
    struct state *const s = j->state;
    float *const x = s->encoder_x[0];
    float *const self_qkv = s->scratch + 67584;                 /* [128][384] */
    float *const self_q = self_qkv, *const self_k = self_qkv + 128, *const self_v = self_qkv + 256;
    float *const self_k_panels = s->scratch + 148992;           /* [4 heads][128 / 16][32][16] */
    float *const self_v_panels = s->scratch + 165376;           /* [4 heads][32 / 16][128][16] */
    float *const self_context = s->scratch + 181760;            /* [128][128] */
    float *const self_context_scratch = s->scratch + 116736;    /* [16 threads][14][144] */
    float *const ffn_hidden = s->scratch;                       /* [128][528] */
    const rt_span mine = rt_split(j->rows, thread, threads);     /* this thread's rows */

    /* ---- self-attention */
    /* self_qkv = x [W_self_q^T | W_self_k^T | W_self_v^T] + b                      [source, 384] */
    linear_128x384_rows(self_qkv, x, &w->self_qkv, mine);
    /* self_k_panels[source_positions] = self_k                                     [source, 128] */
    for (const rt_group *g = j->groups; g < j->groups_end; g++)
        store_keys_4x32_128_rows(self_k_panels + 32 * g->slot, self_k, s->source_positions,
                                 rt_intersect(mine, g->rows));
    /* self_v_panels[source_positions] = self_v                                     [source, 128] */
    for (const rt_group *g = j->groups; g < j->groups_end; g++)
        store_values_4x32_128_rows(self_v_panels + 16 * g->slot, self_v, s->source_positions,
                                   rt_intersect(mine, g->rows));
    rt_barrier(j->team);
    /* self_context = softmax(self_q self_k_panels^T * 0.176777) self_v_panels      [source, 128] */
    for (const rt_group *g = j->groups; g < j->groups_end; g++)
        attention_4x32_128_rows(self_context, self_q, self_k_panels + 32 * g->slot,
                                self_v_panels + 16 * g->slot, self_context_scratch + thread * 2016,
                                s->source_visible, rt_intersect(mine, g->rows));
    /* x = x + self_context W_self_out^T + b                                        [source, 128] */
    linear_128x128_add_rows(x, self_context, w->self_out, x, mine);
    /* x = norm(x)                                                                  [source, 128] */
    norm_128_rows(x, x, w->norm_0, mine);

    /* ---- feed-forward */
    /* ffn_hidden = gelu(x W_ffn_up^T + b)                                          [source, 512] */
    linear_128x512_gelu_rows(ffn_hidden, x, w->ffn_up, mine);
    /* x = x + ffn_hidden W_ffn_down^T + b                                          [source, 128] */
    linear_512x128_add_rows(x, ffn_hidden, w->ffn_down, x, mine);
    /* x = norm(x)                                                                  [source, 128] */
    norm_128_rows(x, x, w->norm_1, mine);
    rt_barrier(j->team);
}

/* The encoder's output. */
static void encoder_end(const job *j, int thread, int threads)
{
    struct state *const s = j->state;
    float *const x = s->encoder_x[0];
    const rt_span mine = rt_split(j->rows, thread, threads);     /* this thread's rows */

    /* x = x                                                                        [source, 128] */
    copy_128_rows(x, x, mine);
    rt_barrier(j->team);
}

/* ---- programs -------------------------------------------------------------------------------- */

/* encode: turn a source into hidden states. At most 237 MFLOP for a source of 128. */
static void encode_body(void *work, int thread, int threads)
{
    const job *j = work;
    encoder_embedding(j, thread, threads);
    encoder_layer(j, 0, thread, threads);
    encoder_layer(j, 1, thread, threads);
    encoder_layer(j, 2, thread, threads);
    encoder_layer(j, 3, thread, threads);
    encoder_end(j, thread, threads);
}

/* ---- the calls ------------------------------------------------------------------------------- */

void encoder_reset(encoder_state *state)
{
    struct state *const s = (struct state *)(void *)state;
    rt_clear(s->source_length, sizeof s->source_length);
    rt_clear(s->next_position, sizeof s->next_position);
}

rt_status encoder_encode_batch(const encoder *m, encoder_state *state, const int *ids,
                               const int *lengths, const int *firsts, int count, float *vectors)
{
    struct state *const s = (struct state *)(void *)state;
    rt_group *const texts = s->groups;
    job j = { .weights = m->weights, .team = m->team, .state = s, .groups = texts };
    int place = 0;                  /* of the next text's keys and values, a multiple of 16 */
    if (firsts || vectors) return RT_BAD_OPTION;
    if (count < 1) return RT_ORDER;
    for (int t = 0; t < count; t++) {
        const int n = lengths[t];
        if (n < 1) return RT_ORDER;
        if (n > ENCODER_MAX_SOURCE - place) return RT_TOO_LONG;
        for (int i = j.rows; i < j.rows + n; i++)
            if (ids[i] < 0 || ids[i] >= ENCODER_SOURCE_VOCAB) return RT_BAD_ID;
        j.rows += n;
        place += (n + 15) / 16 * 16;
    }
    for (int t = 0, begin = 0, slot = 0; t < count; begin += lengths[t],
         slot += (lengths[t] + 15) / 16 * 16, t++) {
        texts[t].slot = slot;
        texts[t].rows.begin = begin;
        texts[t].rows.end = begin + lengths[t];
        for (int i = 0; i < lengths[t]; i++) {
            s->source_ids[begin + i] = ids[begin + i];
            s->source_positions[begin + i] = i;
            s->source_visible[begin + i] = lengths[t];
        }
    }
    j.groups_end = texts + count;
    rt_team_weigh(m->team, encode_body, &j, /* barriers */ 10,
                  /* ns */ 37000 + 14000LL * (j.rows - 1));
    s->source_length[0] = j.rows;
    s->next_position[0] = 0;
    return RT_OK;
}

rt_status encoder_encode(const encoder *m, encoder_state *state, int slot, const int *ids, int n)
{
    return slot ? RT_BAD_ID : encoder_encode_batch(m, state, ids, &n, NULL, 1, NULL);
}

const float *encoder_hidden(const encoder_state *state)
{
    const struct state *const s = (const struct state *)(const void *)state;
    return s->encoder_x[0];
}
