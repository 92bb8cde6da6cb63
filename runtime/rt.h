/* rt.h: the types and functions that every emitted model uses. Freestanding C11 and C++.
 *
 * A *team* is a set of threads that run one function at once (SPMD); rt_split gives each thread its
 * share of the work. A *panel* is sixteen output rows of a weight matrix, interleaved. A *slot* is
 * one sequence in a state. No kernel allocates memory, keeps state between calls or writes outside
 * the buffers that it is given. */
#ifndef RT_H
#define RT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* x87 arithmetic keeps more precision than a float, so results would differ. */
#if defined(__FLT_EVAL_METHOD__) && (__FLT_EVAL_METHOD__ == 2 || __FLT_EVAL_METHOD__ < 0)
#error "floats would be computed in extended precision: compile with -msse2 -mfpmath=sse"
#endif

/* The version of xformc that this header and the emitted calls belong to: 10000 * major + 100 *
 * minor + patch. */
#define XF_API_VERSION 900

#ifdef __cplusplus
extern "C" {
#define XF_ALIGN(n) alignas(n)
#else
#define XF_ALIGN(n) _Alignas(n)
#endif

typedef enum rt_status {
    RT_OK,
    RT_BAD_ID,       /* an id outside the vocabulary, a slot outside the state, a character without an id, invalid UTF-8 */
    RT_TOO_LONG,     /* more ids, rows, positions or threads than the model was compiled for */
    RT_ORDER,        /* a call out of order: a step before encode, a position that leaves a gap; no ids */
    RT_BAD_WEIGHTS,  /* not the packed file that this model was compiled for, or not 64-byte aligned */
    RT_NO_ISA,       /* this processor lacks an instruction set that the model was compiled for */
    RT_INTERRUPTED,  /* stopped at the caller's request */
    RT_NO_ROOM,      /* the caller's buffer is too small, or the system gave no thread or memory */
    RT_BYTE_ORDER,   /* the weights' numbers are little-endian and this machine is big-endian, or the reverse */
    RT_BAD_VALUE,    /* a mask with a number other than 0 and 1, a bias with NaN or +inf */
    RT_BAD_OPTION,   /* an option out of range, options that conflict, or one that the model does not support */
    RT_NO_TOKEN,     /* the settings of generation exclude every token */
    RT_NOT_FINITE    /* the output contains NaN or infinity */
} rt_status;

/* A short English text for a status, without a full stop; never NULL. */
const char *rt_status_text(rt_status status);
/* Like rt_status_text, for a call that turns text into ids; the text of RT_BAD_ID differs. */
const char *rt_text_fault(rt_status status);

/* One row of the decoder: the token `id` at position `pos`, counted from 0, of the sequence in
 * `slot`. */
typedef struct rt_token { int slot, pos, id; } rt_token;

/* ---- threads ---------------------------------------------------------------------------------------------- */

typedef struct rt_team rt_team;                             /* a set of waiting threads; NULL: the caller alone */
typedef void rt_body(void *job, int thread, int threads);

/* Replace *team, which may be NULL, with a team of `threads` threads; the caller is thread 0.
 * threads == 1 gives NULL. RT_NO_ROOM, with *team unchanged: the system does not provide that many
 * threads, or the memory for them. */
rt_status rt_team_resize(rt_team **team, int threads);
int  rt_team_threads(const rt_team *team);
/* Run `body(job, thread, threads)` on every thread and return when all are done. */
void rt_team_run(rt_team *team, rt_body *body, void *job);
/* Like rt_team_run, for a body whose results do not depend on the number of threads: while other
 * processes hold the team's processors, the caller runs it alone, as body(job, 0, 1). */
void rt_team_share(rt_team *team, rt_body *body, void *job);
/* Like rt_team_share, for a body that takes one thread about `ns` nanoseconds and has `barriers`
 * barriers: the caller also runs it alone if that is likely to be faster. */
void rt_team_weigh(rt_team *team, rt_body *body, void *job, int barriers, int64_t ns);
/* How many bodies rt_team_weigh ran, and how many of them it gave to rt_team_share, modulo 2^32. */
void rt_team_calls(const rt_team *team, unsigned *calls, unsigned *shared);
void rt_team_barrier(rt_team *team);                        /* called by every thread of a running body */
/* Pin every thread, including the caller, to its own processor. RT_NO_ROOM: there are fewer
 * processors than threads, or the system cannot pin threads. */
rt_status rt_team_pin(rt_team *team);

#if defined(__TINYC__)                  /* tcc inlines nothing, and a layer has a dozen barriers */
#define rt_barrier(team) do { if (team) rt_team_barrier(team); } while (0)
#else
static inline void rt_barrier(rt_team *team) { if (team) rt_team_barrier(team); }
#endif

/* A half-open range of rows, panels, heads or groups of sixteen. */
typedef struct rt_span { int begin, end; } rt_span;
static inline int rt_count(rt_span s) { return s.end - s.begin; }

/* The share of `thread` in 0..n. The shares are about equal, contiguous and in thread order, and
 * cover 0..n. */
static inline rt_span rt_split(int n, int thread, int threads)
{
    rt_span share = { 0, n };
    if (threads == 1) return share;           /* a division takes as long as a small operation */
    share.begin = (int)((int64_t)n * thread / threads);
    share.end = (int)((int64_t)n * (thread + 1) / threads);
    return share;
}

/* The intersection of two ranges; empty if they do not overlap. */
static inline rt_span rt_intersect(rt_span a, rt_span b)
{
    rt_span both;
    both.begin = a.begin > b.begin ? a.begin : b.begin;
    both.end = a.end < b.end ? a.end : b.end;
    if (both.end < both.begin) both.end = both.begin;
    return both;
}

/* Adjacent rows of one slot. In an encoder-only model: the rows of one text; `slot` is then the
 * position of its first key and value in their panels, a multiple of 16. */
typedef struct rt_group { int slot; rt_span rows; } rt_group;

/* Copy and clear bytes without a library. */
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

/* 1 if the most significant byte of a number comes first. */
#if defined(__BYTE_ORDER__) && defined(__ORDER_BIG_ENDIAN__)
#define RT_BIG_ENDIAN (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)
#elif defined(__BIG_ENDIAN__) && !defined(__LITTLE_ENDIAN__)
#define RT_BIG_ENDIAN 1
#else
#define RT_BIG_ENDIAN 0
#endif

/* Packed weights begin with the length of their header: 8 bytes, in the byte order of all their
 * numbers. Returns RT_BYTE_ORDER if that is not this machine's order, RT_BAD_WEIGHTS if the length
 * is not `length`. */
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
/* How the kernels prefetch int8 and int4 weights for one row or a few: `bytes` ahead, every cache
 * line into all caches or, if thin, one line in four into the second-level cache. 0 bytes: they do
 * not. */
typedef struct RtAhead { int bytes, thin; } RtAhead;
/* The fastest distance on this processor, 0 if it is not known to gain by prefetching.
 * from_memory: no cache holds the weights. The processor is detected only once. */
RtAhead rt_ahead(int from_memory);
const char *rt_isa_text(unsigned isa);                      /* "avx512", or "portable" for 0; static storage */
int rt_processors(void);                    /* that this process may use: affinity, cgroup quota */

/* The instruction sets that this translation unit was compiled for, as bits of rt_isa_missing. A
 * compiler's macro is 1 or undefined: RT_IF(1, bit) is the bit, RT_IF(other, bit) is 0. */
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

/* The bits of an IEEE half: 5 of exponent, 11 of precision. rt_plain.h and rt_simd_f16.h convert it
 * to float and back. */
typedef uint16_t rt_f16;

/* ---- kernel shapes -------------------------------------------------------------------------------------- *
 * Every kernel takes a shape, its operands, and the part of the work to do. Activations are f32,
 * row-major, with a stride in floats that is a multiple of 16. A kernel may write a row up to the
 * next multiple of 16, and never reads that padding. The same functions compute one row per
 * sequence or many; the bits of a row depend neither on how many rows, panels or heads a call
 * computes nor on how they are divided among calls. Unless stated otherwise, y may itself be an
 * operand (x, a or b, with the same stride). */

typedef enum RtActivation {
#define RT_ACTIVATION(id, name, formula, vector, plain, exact) RT_##id,
#include "activations.def"
#undef RT_ACTIVATION
    RT_ACTIVATIONS
} RtActivation;

typedef enum RtNormKind {
    RT_NORM_ANNOTATED,   /* gain * (x - mean) / (std + eps) + bias, std with divisor width - 1 */
    RT_NORM_LAYER,       /* gain * (x - mean) / sqrt(variance + eps) + bias, variance biased: divided by width */
    RT_NORM_RMS          /* gain * x / sqrt(mean(x * x) + eps) */
} RtNormKind;

/* y[r][o] = activation(bias[o] + sum over i of w[o][i] * x[r][i])
 * w: panels, each [16] biases (if has_bias), then [in][16] weights; panel p holds outputs
 * 16p .. 16p+15, the last one padded with zeros. A call computes rows 0..rows and panels
 * begin..end. y overlaps no operand.
 * rt_linear_gate_f32: w has the panels of G, then those of U; y = activation(G x + b) * (U x + c).
 * rt_linear_add_f32: y = a + activation(...); a has y's stride and may be y.
 * one_stream: the weights come from memory, not from a cache, so one row reads one panel after
 *   another; otherwise it reads several side by side. int8 and int4: see rt_ahead.
 * no_prefetch: with many rows, full tiles do not prefetch the panels after theirs.
 * wide_tile: with many rows, f32 and bf16 use tiles of fewer rows and more panels than usual.
 * These three do not change a bit of y.
 * In the other formats, w consists of panels of rt_panel_bytes bytes. bf16 kernels do not round x,
 * and their y is bit-identical to that of the f32 kernel with the same weights. int8 and int4
 * kernels round x to 8 bits, in groups of 32 like the weights. They put the rounded rows in
 * `rounded`, a buffer that the caller provides for this call only: rt_rounded_rows(in, rows) times
 * rt_rounded_stride(in) floats. */
typedef struct RtLinear { int in, out, x_stride, y_stride; int has_bias; RtActivation activation; int one_stream, no_prefetch, wide_tile; } RtLinear;

/* The bytes of a panel of 16-, 8- or 4-bit weights, a multiple of 64. f32 biases [16] come first,
 * if any.
 * bf16: [in / 2][16][2] weights: two inputs of each output. A last input alone is followed by 0.
 * 8 and 4 bits: the inputs are in groups of 32, the last one padded. f16 scales [groups][16],
 * padded to a multiple of 64 bytes, then
 *   8 bits: [groups][8][16][4] bytes: four inputs of each output; a weight is scale * (byte - 128)
 *   4 bits: [groups][4][16][4] bytes: eight inputs of each output, the first four in the low
 *           nibbles; a weight is scale * (nibble - 8) */
static inline size_t rt_panel_bytes(int in, int has_bias, int bits)
{
    const size_t groups = ((size_t)in + 31) / 32;
    if (bits == 16) return (has_bias ? 64 : 0) + ((size_t)in + 1) / 2 * 64;
    return (has_bias ? 64 : 0) + (groups * 32 + 63) / 64 * 64 + groups * 64 * (size_t)bits;
}

/* How many rows of `in` numbers an int8 or int4 linear rounds at once, and the floats that each row
 * takes: for each group 32 bytes, a scale and a start. */
static inline int rt_rounded_rows(int in, int rows)
{
    const int room = 65536 / ((in + 31) / 32 * 32);
    return rows <= room ? rows : room > 1 ? room : 1;
}
static inline int rt_rounded_stride(int in) { return ((in + 31) / 32 * 10 + 15) / 16 * 16; }

/* w: gain [padded width], then bias [padded width] (absent for RMS); padded to a multiple of 16 with
 * zeros. A row is `heads` heads of `width` side by side, each normalised separately with the same
 * gain and bias; heads is 1 for a whole row. */
typedef struct RtNorm { int heads, width, x_stride, y_stride; RtNormKind kind; float eps; } RtNorm;

/* y[r] = scale * table[ids[r]]; for positions y[r] = x[r] + scale * table[positions[r]], where x
 * has y's stride. Table rows are padded to a multiple of 16 with zeros. For rt_embed_bf16, _int8
 * and _int4 the table is panels without biases, like a linear's. */
typedef struct RtEmbed { int width, y_stride; float scale; } RtEmbed;

/* Element-wise on `width` columns: y = a + b, y = activation(a), or y = activation(a) * b. */
typedef struct RtElement { int width, a_stride, b_stride, y_stride; RtActivation activation; } RtElement;

/* y [parts * width]. Each part reduces the first visible[0] rows of x to one row: the first, the
 * last, the maximum of each column, the sum of the rows divided by their number or by its square
 * root, or the sum weighted 1, 2, 3, ... divided by the sum of these weights. y overlaps no
 * operand. */
typedef enum RtPoolKind { RT_POOL_MEAN = 1, RT_POOL_FIRST, RT_POOL_MAX, RT_POOL_MEAN_SQRT, RT_POOL_WEIGHTED, RT_POOL_LAST } RtPoolKind;
enum { RT_POOL_PARTS = 8 };
typedef struct RtPool { int width, x_stride, parts; RtPoolKind kind[RT_POOL_PARTS]; } RtPool;

/* y = scale * x on `width` columns, or, with a softcap c > 0, c * tanh(scale * x / c). */
typedef struct RtScale { int width, x_stride, y_stride; float scale, softcap; } RtScale;

/* RoPE: rotate the first `dims` columns of each of `heads` heads by the position of their row.
 * table[position] holds dims / 2 cosines, then dims / 2 sines, padded to a multiple of 16:
 * a' = a cos - b sin, b' = b cos + a sin, for the pair (i, i + dims / 2), or (2i, 2i + 1) if
 * interleaved. Columns from `dims` on are copied. y may be x. */
typedef struct RtRotary { int heads, width, dims, interleaved, x_stride, y_stride; } RtRotary;

/* A cache of keys or values of one sequence.
 * keys   [heads][capacity / 16][width][16]: sixteen positions side by side, the operand of q k^T
 * values [heads][padded width / 16][capacity][16]: sixteen columns side by side, the operand of weights v
 * capacity is a multiple of 16; x_stride is the stride of the rows to store. The numbers are f32;
 * functions that end in _f16 store f16: rounded to nearest, ties to even, saturated at +-65504.
 * Those that end in _int8 store signed bytes, and a scale for each key or value of a head, and
 * rotate keys first (see rt_plain_rotate):
 * keys   [heads][capacity / 16], each of bytes [width][16] and scales [16], f32
 * values [heads], each of bytes [padded width / 16][capacity][16] and scales [capacity], f32 */
typedef struct RtCache { int heads, width, capacity, x_stride; } RtCache;

/* scores[h][r][j] = q[r][h] . k[h'][j],  weights = softmax over j < visible[r] of scale * scores (+ bias),
 * out[r][h] = sum over j of weights * v[h'][j],  h' = h / (heads / kv_heads).
 * visible[r] == 0 gives zeros. `scores` and `weights` of RtAttentionExtra, if not NULL, receive
 * these values as [heads][tap_rows][tap_columns]; positions from visible[r] to tap_columns are set
 * to 0. A call writes only columns h * d_v to (h + 1) * d_v of out, and no result depends on the
 * cache beyond visible[r]. out overlaps no operand.
 * scratch: for this thread only, [RT_ATTENTION_ROWS][capacity + 16] floats; as many rows as the
 * larger of `rows` and heads / kv_heads are enough. For an int8 cache, rows of capacity + 16 + d_k
 * floats, d_k padded to a multiple of 16. */
typedef struct RtAttention {
    int heads, kv_heads, d_k, d_v, capacity;                /* capacity: positions in the cache */
    int q_stride, out_stride, tap_rows, tap_columns;
    float scale;
    float softcap;                                          /* 0, or c: scores become c * tanh(scale * scores / c) */
} RtAttention;
/* Like RtAttention, over the last `window` of the visible[r] positions only. Keys and values are
 * ring buffers: position p is at p % capacity. All rows of a call belong to one sequence, and the
 * range of positions that they see is at most `capacity` long. With `both`, a row at
 * extra->positions[r] sees `window` - 1 positions on either side of its own, up to visible[r].
 * Bias, mask and added scores are ignored. */
typedef struct RtWindow {
    int heads, kv_heads, d_k, d_v, capacity;
    int q_stride, out_stride, tap_rows, tap_columns;
    float scale, softcap;
    int window;
    int both;
} RtWindow;
/* Optional inputs and outputs of attention: each pointer may be NULL, and so may a pointer to the
 * struct. */
typedef struct RtAttentionExtra {
    const float *bias;              /* [heads][2 * reach - 1]: added to scale * scores by key position minus row position, */
    int reach;                      /*   which lies between 1 - reach and reach - 1 */
    const int *positions;           /* [rows]: of the queries, for bias or RtWindow.both */
    const float *mask;              /* [rows][mask_stride]: 0 where a row may not look; a row that sees nothing gives zeros */
    int mask_stride;
    const float *added;             /* [heads][rows][added_stride]: added to scale * scores, */
    int added_stride;               /*   -inf hides like a mask */
    ptrdiff_t added_head;           /* floats from head to head; 0: the same for all */
    float *scores, *weights;        /* taps; see RtAttention */
} RtAttentionExtra;
enum { RT_ATTENTION_ROWS = 14 };                            /* query rows that a kernel takes at once */

/* Rows of `size` logits: log-softmax, or the index of the first maximum, which needs no y_stride. */
typedef struct RtVocabulary { int size, x_stride, y_stride; } RtVocabulary;

/* ---- characters ----------------------------------------------------------------------------------------- */

/* A tokenizer whose tokens are single Unicode characters; its tables are in the packed weights.
 * table: int32 pairs {code point, id}, ascending by code point, `characters` of them;
 * texts: int32 code point of each id, -1 for marks such as <s>, `size` of them. */
typedef struct RtCharacters { const int32_t *table; int characters; const int32_t *texts; int size; } RtCharacters;

/* Where and why a text was rejected. at: byte offset. code_point: -1 for invalid UTF-8, 0 if it was
 * not determined which character was rejected. */
typedef struct RtTextFault { size_t at; int code_point; } RtTextFault;

/* Turn UTF-8 into ids[room]. *n receives their number. RT_BAD_ID, with *fault (may be NULL) filled
 * in: a character without an id, or invalid UTF-8, anywhere in the text. Otherwise RT_TOO_LONG if
 * the text has more than `room` ids: *n is their number, and the ids are unspecified. */
rt_status rt_characters_encode(const RtCharacters *t, const char *utf8, int *ids, int room, int *n, RtTextFault *fault);
/* Turn ids[n] into text, without marks: out[cap], NUL-terminated. *bytes, if bytes is not NULL,
 * receives its length. After RT_NO_ROOM or RT_BAD_ID out has the text of the preceding ids. */
rt_status rt_characters_decode(const RtCharacters *t, const int *ids, int n, char *out, size_t cap, size_t *bytes);

/* ---- tokenizers ----------------------------------------------------------------------------------------- */

/* The tokenizer in a model's weights (rt_tokenizer.h). rt_text_check checks all of it:
 * RT_BAD_WEIGHTS if it is damaged. The other two require a tokenizer that passed. */
rt_status rt_text_check(const void *tokenizer, size_t bytes);
/* Turn a text into ids[room], like rt_tokenizer_encode: with special tokens such as <s>, or, with
 * `plain`, without. *n receives their number. RT_TOO_LONG: there are more than `room`, and *n is
 * their number; or *n is 0, and the scratch is too small for the text. RT_BAD_ID: a character has
 * no id, and there is no unknown token; *fault, which may be NULL, gets code_point 0. */
rt_status rt_text_ids(const void *tokenizer, size_t bytes, const char *utf8, int plain, int *ids, int room, int *n,
                      RtTextFault *fault, void *scratch, size_t scratch_bytes);
/* Turn ids[n] into text without special tokens: out[cap], NUL-terminated. *length, if length is not
 * NULL, receives its length in bytes. RT_NO_ROOM: out is too small. */
rt_status rt_text_of_ids(const void *tokenizer, size_t bytes, const int *ids, int n, char *out, size_t cap,
                         size_t *length);

/* ---- answers -------------------------------------------------------------------------------------------- */

/* Options of NAME_generate. 0 or NULL keeps the model's own setting. */
typedef struct rt_generate_options {
    int max_new_tokens;             /* limit of generated tokens */
    int greedy;                     /* 1: no sampling or beams; the settings' penalties apply */
    float temperature;              /* sample at this temperature, at most 100 */
    int top_k;                      /* sample from the k most likely tokens */
    float top_p;                    /* sample from the most likely tokens of this total probability */
    uint64_t seed;                  /* for sampling */
    const char *const *stops;       /* [stop_count] stop strings, in addition to the model's own */
    int stop_count;
    const struct RtGeneration *settings;    /* replaces all the model's settings: rt_generation.h */
    int chat;                       /* 1: the text is a user message for the model's chat template */
    const char *system, *date;      /* system prompt and date of the template */
    int plain_text;                 /* 1: special tokens such as </s> in the text are plain text */
} rt_generate_options;

/* Receives the next piece of an answer: n bytes of whole UTF-8 characters, followed by a NUL. The
 * piece itself may contain NULs if the vocabulary does. Returns false to stop. */
typedef bool rt_on_token(void *user, const char *text, size_t n);

/* Bytes of work memory in a state for NAME_generate: enough for any options that a model of `slots`
 * slots takes, with at most 16 stops of 256 bytes in all, and 16 end ids. longest: the maximum
 * number of ids in a sequence, including the start id; token: bytes of the longest token. */
size_t rt_generate_text_bytes(int slots, int longest, int vocab, int token);

#ifdef __cplusplus
}
#endif
#endif
