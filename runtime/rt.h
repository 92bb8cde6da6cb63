/* rt.h: the one header that an emitted model needs. Freestanding C11, and C++.
 *
 * Vocabulary. A *team* is a number of threads that run one body at once (SPMD); each takes its share of the work
 * by rt_split. A *panel* is sixteen output rows of a weight matrix, interleaved. A *slot* is one
 * sequence in a state. No kernel allocates, keeps anything, or writes outside the buffers it was given. */
#ifndef RT_H
#define RT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* x87 arithmetic rounds to more than a float: other bits. */
#if defined(__FLT_EVAL_METHOD__) && (__FLT_EVAL_METHOD__ == 2 || __FLT_EVAL_METHOD__ < 0)
#error "floats would be computed in extended precision: compile with -msse2 -mfpmath=sse"
#endif

/* The version of xformc that this header and the emitted calls belong to: 10000 * major + 100 * minor +
 * patch. */
#define XF_API_VERSION 900

#ifdef __cplusplus
extern "C" {
#define XF_ALIGN(n) alignas(n)
#else
#define XF_ALIGN(n) _Alignas(n)
#endif

typedef enum rt_status {
    RT_OK,
    RT_BAD_ID,       /* an id outside the vocabulary, a slot outside the state, a character without an id */
    RT_TOO_LONG,     /* more ids, rows, positions or threads than the model was compiled for */
    RT_ORDER,        /* a call out of order: a step before encode, a position that leaves a gap; no ids */
    RT_BAD_WEIGHTS,  /* not the packed file that this model was compiled for, or not 64-byte aligned */
    RT_NO_ISA,       /* this processor lacks an instruction set that the model was compiled for */
    RT_INTERRUPTED,  /* stopped between two layers at the caller's wish */
    RT_NO_ROOM,      /* the caller's buffer is too small, or the system gave no thread or memory */
    RT_BYTE_ORDER,   /* the weights' numbers are little-endian and this machine is big-endian, or the reverse */
    RT_BAD_VALUE,    /* a mask with a number other than 0 and 1, a bias with NaN or +inf */
    RT_BAD_OPTION    /* an option out of range, or options that do not go together */
} rt_status;

/* A short English text for a status, without a full stop; never NULL. */
const char *rt_status_text(rt_status status);
/* rt_status_text for the status of a call that turns text into ids. */
const char *rt_text_fault(rt_status status);

/* One row of the decoder: in the sequence of `slot`, at `pos` from 0 on, the token `id`. */
typedef struct rt_token { int slot, pos, id; } rt_token;

/* ---- threads ---------------------------------------------------------------------------------------------- */

typedef struct rt_team rt_team;                             /* a set of waiting threads; NULL is the caller alone */
typedef void rt_body(void *job, int thread, int threads);

/* Start a team of `threads` threads (the caller is thread 0), replacing *team, which may be NULL. threads == 1 gives NULL.
 * Returns RT_NO_ROOM, with *team unchanged, when the system gives no thread. */
rt_status rt_team_resize(rt_team **team, int threads);
int  rt_team_threads(const rt_team *team);
/* Run `body(job, thread, threads)` on every thread and return when all are done. */
void rt_team_run(rt_team *team, rt_body *body, void *job);
/* The same for a body whose results do not depend on how many threads there are: as long as others keep the processors that
 * threads wait for, the caller runs it alone, as body(job, 0, 1). */
void rt_team_share(rt_team *team, rt_body *body, void *job);
void rt_team_barrier(rt_team *team);                        /* called by every thread of a running body */
/* Pin every thread, the caller too, to a processor of its own. RT_NO_ROOM when there are fewer, or the system cannot. */
rt_status rt_team_pin(rt_team *team);

#if defined(__TINYC__)                                      /* it inlines nothing, and a layer has a dozen of these */
#define rt_barrier(team) do { if (team) rt_team_barrier(team); } while (0)
#else
static inline void rt_barrier(rt_team *team) { if (team) rt_team_barrier(team); }
#endif

/* A half-open range of rows, panels, heads or groups of sixteen. */
typedef struct rt_span { int begin, end; } rt_span;
static inline int rt_count(rt_span s) { return s.end - s.begin; }

/* The share of `thread` in `n` equal pieces; shares are contiguous, in order of thread, and cover 0..n. */
static inline rt_span rt_split(int n, int thread, int threads)
{
    rt_span share = { 0, n };
    if (threads == 1) return share;           /* a division takes as long as a small operation */
    share.begin = (int)((int64_t)n * thread / threads);
    share.end = (int)((int64_t)n * (thread + 1) / threads);
    return share;
}

/* The part that two ranges have in common; empty where there is none. */
static inline rt_span rt_intersect(rt_span a, rt_span b)
{
    rt_span both;
    both.begin = a.begin > b.begin ? a.begin : b.begin;
    both.end = a.end < b.end ? a.end : b.end;
    if (both.end < both.begin) both.end = both.begin;
    return both;
}

/* Rows of one slot, next to one another; of an encoder alone those of one text, where `slot` is the place of its first key and value
 * in their panels, a multiple of 16. */
typedef struct rt_group { int slot; rt_span rows; } rt_group;

/* Bytes copied and cleared without a library. */
static inline void rt_copy(void *to, const void *from, size_t bytes)
{
    unsigned char *t = (unsigned char *)to;
    const unsigned char *f = (const unsigned char *)from;
    for (size_t i = 0; i < bytes; i++) t[i] = f[i];
}

static inline void rt_clear(void *to, size_t bytes)
{
    unsigned char *t = (unsigned char *)to;
    for (size_t i = 0; i < bytes; i++) t[i] = 0;
}

/* ---- byte order ----------------------------------------------------------------------------------------- */

/* 1 where the most significant byte of a number comes first. */
#if defined(__BYTE_ORDER__) && defined(__ORDER_BIG_ENDIAN__)
#define RT_BIG_ENDIAN (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)
#elif defined(__BIG_ENDIAN__) && !defined(__LITTLE_ENDIAN__)
#define RT_BIG_ENDIAN 1
#else
#define RT_BIG_ENDIAN 0
#endif

/* Packed weights begin with the length of their head, 8 bytes, in the byte order of all their numbers.
 * RT_BYTE_ORDER where that is not this machine's, RT_BAD_WEIGHTS where the length is another. */
static inline rt_status rt_head_check(const unsigned char *head, uint64_t length)
{
    uint64_t found, turned = 0;
    rt_copy(&found, head, sizeof found);
    for (int i = 0; i < 8; i++) turned = turned << 8 | (found >> 8 * i & 255);
    return found == length ? RT_OK : turned == length ? RT_BYTE_ORDER : RT_BAD_WEIGHTS;
}

/* ---- processors ----------------------------------------------------------------------------------------- */

/* Instruction sets, as bits. */
enum {
#define ISA_BIT(id, name, bit, macro, machine, has) RT_ISA_##id = bit,
#include "instruction_sets.def"
    RT_ISA_NONE = 0
};
/* The bits of `wanted` that this processor or operating system lacks; 0 when it can run them all.
 * Compiled for the baseline; safe on every processor. */
unsigned rt_isa_missing(unsigned wanted);
/* How many bytes ahead one row asks for its weights of few bits: 4096, or 0 where the processor reads one stream faster when it is left
 * alone. Asked of the processor once. */
int rt_ahead(void);
const char *rt_isa_text(unsigned isa);                      /* "avx512", or "portable" for 0; static storage */
int rt_processors(void);                                    /* that this process may use: affinity, cgroup quota */

/* The instruction sets that this translation unit was compiled for, as bits of rt_isa_missing. A compiler's macro is 1
 * or is not there: RT_IF(1, bit) is the bit, RT_IF(other, bit) is 0. */
#define RT_IF_1 0,
#define RT_SECOND(first, second, ...) second
#define RT_CHOOSE(...) RT_SECOND(__VA_ARGS__, 0, 0)
#define RT_IF_JOINED(macro, bit) RT_CHOOSE(RT_IF_##macro bit)
#define RT_IF(macro, bit) RT_IF_JOINED(macro, bit)
enum {
    RT_ISA_BUILT = RT_ISA_NONE
#define ISA_BIT(id, name, bit, macro, machine, has) | RT_IF(macro, bit)
#include "instruction_sets.def"
};

/* The bits of an IEEE half: 5 of exponent, 11 of precision. rt_plain.h and rt_simd_f16.h turn it into a float and back. */
typedef uint16_t rt_f16;

/* ---- shapes of kernels ---------------------------------------------------------------------------------- *
 * Every kernel takes a shape, its operands, and what part of the work to do. Activations are f32, row-major,
 * with a stride in floats that is a multiple of 16; a row may be written up to that multiple, and the padding of a
 * row is never read. Kernels of one row per sequence and of many are the same functions, and the bits of a row depend
 * neither on how many rows, panels or heads a call does nor on how they are cut. Where not said otherwise, y may be an
 * operand itself (x, a or b, same stride). */

typedef enum RtActivation {
#define RT_ACTIVATION(id, name, formula, vector, plain, exact) RT_##id,
#include "activations.def"
#undef RT_ACTIVATION
    RT_ACTIVATIONS
} RtActivation;

typedef enum RtNormKind {
    RT_NORM_ANNOTATED,   /* gain * (x - mean) / (std + eps) + bias, std unbiased: divided by width - 1 */
    RT_NORM_LAYER,       /* gain * (x - mean) / sqrt(variance + eps) + bias, variance biased: divided by width */
    RT_NORM_RMS          /* gain * x / sqrt(mean(x * x) + eps) */
} RtNormKind;

/* y[r][o] = activation(bias[o] + sum over i of w[o][i] * x[r][i])
 * w: panels, each [16] biases (if has_bias) then [in][16] weights; panel p holds outputs 16p .. 16p+15, the
 * last one padded with zeros. A call does rows 0..rows and panels begin..end. y overlaps no operand.
 * rt_linear_gate_f32: panels of two such matrices, G's, then U's, and y = activation(G x + b) * (U x + c).
 * rt_linear_add_f32: y = a + that, where a has y's stride, and may be y.
 * one_stream: weights come from memory, not from a cache, so that one row reads panel after panel; else many panels abreast.
 * Of many rows, no_prefetch: full tiles do not ask for the panels behind theirs; wide_tile: of f32 and bf16, tiles of fewer rows and more
 * panels than usual. None of these changes a bit.
 * The same with another format for f32: w is panels of rt_panel_bytes. With int8 or int4 x is rounded to 8 bits in groups of 32, as the
 * weights are; with bf16 it is not, and y has the bits of the f32 kernel with the same weights. The rounded rows stand at
 * `rounded`, which is the caller's and of this call alone: rt_rounded_rows(in, rows) times rt_rounded_stride(in) floats. */
typedef struct RtLinear { int in, out, x_stride, y_stride; int has_bias; RtActivation activation; int one_stream, no_prefetch, wide_tile; } RtLinear;

/* A panel of weights of 16 bits: f32 biases [16], if any; then [in][16] weights, to a multiple of 64 bytes.
 * Of 8 or 4 bits, in groups of 32 inputs, the last one padded: f32 biases [16], if any; f16 factors [groups][16], to a multiple of
 * 64 bytes; then of 8 bits [groups][8][16][4] bytes of four inputs of each output, and a weight is factor * (byte - 128). Of 4 bits
 * [groups][4][16][4] bytes of eight inputs of each output, the first four in the lower halves, and a weight is factor * (half - 8). */
static inline size_t rt_panel_bytes(int in, int has_bias, int bits)
{
    const size_t groups = ((size_t)in + 31) / 32;
    if (bits == 16) return (has_bias ? 64 : 0) + ((size_t)in + 1) / 2 * 64;
    return (has_bias ? 64 : 0) + (groups * 32 + 63) / 64 * 64 + groups * 64 * (size_t)bits;
}

/* How many rows of `in` numbers a linear of int8 or int4 rounds at once, and the floats that each takes: groups of 32
 * bytes, a scale and a start each. */
static inline int rt_rounded_rows(int in, int rows)
{
    const int room = 65536 / ((in + 31) / 32 * 32);
    return rows <= room ? rows : room > 1 ? room : 1;
}
static inline int rt_rounded_stride(int in) { return ((in + 31) / 32 * 10 + 15) / 16 * 16; }

/* w: gain [padded width], then bias [padded width] (absent for RMS); padded to a multiple of 16 with zeros.
 * `heads` of `width` stand side by side in a row, each normed alone with the same gain; 1 for a whole row. */
typedef struct RtNorm { int heads, width, x_stride, y_stride; RtNormKind kind; float eps; } RtNorm;

/* y[r] = scale * table[ids[r]], or for positions y[r] = x[r] + scale * table[positions[r]] with x of y's stride; table
 * rows are padded to a multiple of 16 with zeros. rt_embed_bf16, _int8, _int4: the table is panels without
 * biases, as a linear's. */
typedef struct RtEmbed { int width, y_stride; float scale; } RtEmbed;

/* Element-wise on `width` columns: y = a + b, y = activation(a), or y = activation(a) * b. */
typedef struct RtElement { int width, a_stride, b_stride, y_stride; RtActivation activation; } RtElement;

/* y [parts * width]: of the visible[0] rows of x the first, the last, the largest of each column, or a sum over them:
 * divided by their number, by its root, or with the weights 1, 2, 3 .. divided by the sum of these. y overlaps no operand. */
typedef enum RtPoolKind { RT_POOL_MEAN = 1, RT_POOL_FIRST, RT_POOL_MAX, RT_POOL_MEAN_SQRT, RT_POOL_WEIGHTED, RT_POOL_LAST } RtPoolKind;
enum { RT_POOL_PARTS = 8 };
typedef struct RtPool { int width, x_stride, parts; RtPoolKind kind[RT_POOL_PARTS]; } RtPool;

/* y = scale * x on `width` columns, or, with a softcap c > 0, c * tanh(scale * x / c). */
typedef struct RtScale { int width, x_stride, y_stride; float scale, softcap; } RtScale;

/* Turn the first `dims` columns of each of `heads` heads by their row's position, whose cosines and sines are
 * table[position][dims / 2] and table[position][dims / 2 ..], rows padded to a multiple of 16:
 * a' = a cos - b sin, b' = b cos + a sin, for the pair (i, i + dims / 2), or (2i, 2i + 1) when interleaved.
 * Columns past `dims` are copied. y may be x. */
typedef struct RtRotary { int heads, width, dims, interleaved, x_stride, y_stride; } RtRotary;

/* A cache of keys or values of one sequence.
 * keys   [heads][capacity / 16][width][16]: sixteen positions side by side, the operand of q k^T
 * values [heads][padded width / 16][capacity][16]: sixteen columns side by side, the operand of weights v
 * capacity is a multiple of 16; x_stride is that of the rows to be stored. Numbers are f32, or by rt_store_k_f16 and the other
 * functions of that ending f16: rounded to the nearest, ties to even, and what lies beyond 65504, the largest, becomes that. */
typedef struct RtCache { int heads, width, capacity, x_stride; } RtCache;

/* scores[h][r][j] = q[r][h] . k[h'][j],  weights = softmax over j < visible[r] of scale * scores (+ bias),
 * out[r][h] = sum over j of weights * v[h'][j],  h' = h / (heads / kv_heads).
 * visible[r] == 0 gives zeros. `scores` and `weights`, where not NULL, receive what their names say, as
 * [heads][tap_rows][tap_columns]; positions from visible[r] to tap_columns are set to 0. Only columns h * d_v to
 * (h + 1) * d_v of out are written, and nothing depends on what the cache holds beyond visible[r]. out overlaps no
 * operand.
 * scratch: [RT_ATTENTION_ROWS][capacity + 16] floats of this thread alone. */
typedef struct RtAttention {
    int heads, kv_heads, d_k, d_v, capacity;                /* of keys and values */
    int q_stride, out_stride, tap_rows, tap_columns;
    float scale;
    float softcap;                                          /* 0, or c: scores become c * tanh(scale * scores / c) */
} RtAttention;
/* The same over the last `window` positions of the visible[r]: those before take no part. Keys and values are rings, the
 * position p at p % capacity. All rows of a call are of one sequence; what they see, from the first to the last, are at
 * most `capacity` positions. With `both` a row sees `window` - 1 positions behind its own too, which
 * is extra->positions[r], as far as visible[r] goes. */
typedef struct RtWindow {
    int heads, kv_heads, d_k, d_v, capacity;
    int q_stride, out_stride, tap_rows, tap_columns;
    float scale, softcap;
    int window;
    int both;
} RtWindow;
/* What an attention may have besides: each may be NULL, and so may the whole. */
typedef struct RtAttentionExtra {
    const float *bias;              /* [heads][2 * reach - 1]: added to scale * scores by key position minus row position, */
    int reach;                      /*   which lies between 1 - reach and reach - 1 */
    const int *positions;           /* [rows]: of the queries, for bias or window on both sides */
    const float *mask;              /* [rows][mask_stride]: 0 where a row may not look; a row that sees nothing gives zeros */
    int mask_stride;
    const float *added;             /* [heads][rows][added_stride]: added to scale * scores, */
    int added_stride;               /*   -inf hides as a mask does */
    ptrdiff_t added_head;           /* floats from head to head; 0: the same for all */
    float *scores, *weights;        /* taps, see RtAttention */
} RtAttentionExtra;
enum { RT_ATTENTION_ROWS = 14 };                            /* rows of queries that a kernel takes at once */

/* One row of logits: log-softmax in place, or the first maximum. */
typedef struct RtVocabulary { int size, stride; } RtVocabulary;

/* ---- characters ----------------------------------------------------------------------------------------- */

/* A tokenizer whose tokens are single Unicode characters; its tables lie in the packed weights.
 * table: int32 pairs {code point, id}, ascending by code point, `characters` of them;
 * texts: int32 code point of each id, -1 for marks such as <s>, `size` of them. */
typedef struct RtCharacters { const int32_t *table; int characters; const int32_t *texts; int size; } RtCharacters;

/* Where and why a text was refused. at: byte offset. code_point: -1 for what is not UTF-8, 0 where it
 * is not known which character. */
typedef struct RtTextFault { size_t at; int code_point; } RtTextFault;

/* Turn UTF-8 into ids. *n receives their number. RT_BAD_ID with *fault (may be NULL) filled in for a character
 * without an id or a broken sequence anywhere in the text, else RT_TOO_LONG past `room` ids with *n the number that the
 * text has; then the ids are unspecified. */
rt_status rt_characters_encode(const RtCharacters *t, const char *utf8, int *ids, int room, int *n, RtTextFault *fault);
/* Turn ids[n] into text, without marks: out[cap], NUL-terminated. *bytes, where not NULL, receives its
 * length. RT_NO_ROOM, RT_BAD_ID: then out has the text of the ids before. */
rt_status rt_characters_decode(const RtCharacters *t, const int *ids, int n, char *out, size_t cap, size_t *bytes);

/* ---- tokenizers ----------------------------------------------------------------------------------------- */

/* The tokenizer in a model's weights (rt_tokenizer.h). rt_text_check reads all of it,
 * RT_BAD_WEIGHTS where it is damaged; the other two rely on that. */
rt_status rt_text_check(const void *tokenizer, size_t bytes);
/* Turn a text into ids [room], as rt_tokenizer_encode: with special tokens as <s>, or plain, without.
 * *n receives their number. RT_TOO_LONG: they are more than `room`, and *n says how many; or *n is 0, and the scratch is
 * too small for the text. RT_BAD_ID: a character without an id, where there is no unknown token;
 * *fault, which may be NULL, then has code_point 0, for it is not known which. */
rt_status rt_text_ids(const void *tokenizer, size_t bytes, const char *utf8, int plain, int *ids, int room, int *n,
                      RtTextFault *fault, void *scratch, size_t scratch_bytes);
/* Turn ids[n] into text, special tokens left out: out[cap], NUL-terminated. *length, where not
 * NULL, receives its bytes. RT_NO_ROOM. */
rt_status rt_text_of_ids(const void *tokenizer, size_t bytes, const int *ids, int n, char *out, size_t cap,
                         size_t *length);

/* ---- answers -------------------------------------------------------------------------------------------- */

/* Options of NAME_generate. 0 or NULL keeps the model's own setting. */
typedef struct rt_generate_options {
    int max_new_tokens;             /* limit of generated tokens */
    int greedy;                     /* 1: no sampling, no beams; penalties of the settings stay */
    float temperature;              /* sample at this temperature, at most 100 */
    int top_k;                      /* sample from the k most likely tokens */
    float top_p;                    /* sample from the most likely tokens of this total probability */
    uint64_t seed;                  /* of the sampling */
    const char *const *stops;       /* [stop_count] stop strings, in addition to the model's own */
    int stop_count;
    const struct RtGeneration *settings;    /* replaces all the model's settings: rt_generation.h */
    int chat;                       /* 1: the text is a user message for the model's chat template */
    const char *system, *date;      /* system prompt and date of the template */
    int plain_text;                 /* 1: special tokens such as </s> in the text are plain text */
} rt_generate_options;

/* Receives the next piece of an answer: n bytes of whole UTF-8 characters, and a NUL behind them. A piece may
 * contain NULs too, where the vocabulary does. Returns false to stop. */
typedef bool rt_on_token(void *user, const char *text, size_t n);

/* Bytes of a state in which NAME_generate works: enough with any options that a model of so many slots
 * takes, where there are at most 16 stops, with 256 bytes in all, and 16 end ids. longest: ids that a sequence may have,
 * the start id too; token: bytes of the longest token. */
size_t rt_generate_text_bytes(int slots, int longest, int vocab, int token);

#ifdef __cplusplus
}
#endif
#endif
