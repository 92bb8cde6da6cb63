/* model.h: a Transformer's sizes and choices, checked, and the sources of its tensors.
 *
 * The readers in front/ fill a Draft; model_check.c makes a Model of it, sets what the Draft left
 * unset and reports what is impossible. A Model does not depend on the format that it was read
 * from. Everything but mapped files lives in the session's arena. */
#ifndef MODEL_H
#define MODEL_H

#include <stdbool.h>
#include <stdint.h>

#include "arena.h"
#include "diag.h"
#include "file.h"
#include "name_map.h"

/* ---- tensors -------------------------------------------------------------------------------------------- */

typedef enum DType { DTYPE_F32, DTYPE_F16, DTYPE_BF16, DTYPE_F64, DTYPE_I8, DTYPE_U8, DTYPE_I16, DTYPE_U16,
                     DTYPE_I32, DTYPE_U32, DTYPE_I64, DTYPE_U64, DTYPE_BOOL,
                     DTYPE_Q8_0, DTYPE_Q4_0, DTYPE_Q4_1, DTYPE_Q5_0, DTYPE_Q4_K, DTYPE_Q5_K, DTYPE_Q6_K, DTYPE_OTHER } DType;

enum { MAX_RANK = 4 };

/* A file of tensors, mapped until tensor_file_close. */
typedef struct TensorFile {
    const char *path;
    FileMap map;
    struct TensorSource *tensors;  int count;       /* sorted by name */
    struct TensorFile **parts;  int part_count;     /* the files if there are several; then `map` is
                                                     * not used */
} TensorFile;

typedef enum SourceKind {
    SOURCE_FILE,        /* strided view into a file */
    SOURCE_VALUES,      /* numbers given in the spec */
    SOURCE_XAVIER,      /* uniform ±sqrt(6 / (fan_in + fan_out)) from a seed and the name */
    SOURCE_UNIFORM,     /* uniform ±1/sqrt(fan_in), likewise: biases, and vectors of graphs */
    SOURCE_CONSTANT,    /* one number everywhere: without a file, 1 for gains, 0 for norm biases */
    SOURCE_SINUSOID,    /* sinusoidal positions, computed: [positions, width] */
    SOURCE_ROTARY,      /* rotary positions, computed: [positions, dims]: cosines, then sines, of
                         * position * rate, times constant */
    SOURCE_DISTANCE     /* a relative position bias for each distance, key minus query, from a table
                         * with one row per bucket: [heads, 2 * positions - 1] */
} SourceKind;

/* The source of a tensor's numbers. shape and stride (in elements) are those of the logical tensor:
 * a transposed matrix or a slice of a fused one is a view. */
typedef struct TensorSource {
    const char *name;               /* canonical name; inside a TensorFile, the name in the file,
                                     * unless tensor_file_unwrap or weights_with_linears
                                     * changed it */
    const char *file_name;          /* the file's name for it, for messages; NULL without a file */
    SourceKind kind;
    DType dtype;
    int rank;
    int64_t shape[MAX_RANK], stride[MAX_RANK];
    const TensorFile *file;  size_t offset;     /* SOURCE_FILE: bytes from the start of the file */
    int64_t start;                              /* offset of the first element, in elements, not in
                                                 * groups or blocks */
    int64_t skip;                               /* elements to skip first, in row-major order: of
                                                 * random numbers and of views with view_rank */
    /* SOURCE_FILE whose rows have no single stride, such as those of heads in a fused matrix: the
     * same elements in the same order, with different dimensions. view_rank 0: use shape and stride. */
    int view_rank;  int64_t view_shape[MAX_RANK], view_stride[MAX_RANK];
    const struct TensorSource *added;           /* a vector added to every row, or NULL */
    int group;  size_t scales;                  /* DTYPE_I8: size of groups, with F32 factors at
                                                 * `scales` in the file; 0: no groups */
    const float *values;                        /* SOURCE_VALUES */
    float constant;                             /* SOURCE_CONSTANT, SOURCE_ROTARY */
    bool computed;                              /* a SOURCE_CONSTANT that is no parameter */
    float plus;                                 /* SOURCE_FILE: added to every number */
    uint64_t seed;  int64_t fan_in, fan_out;    /* SOURCE_XAVIER, SOURCE_UNIFORM */
    /* SOURCE_SINUSOID: indices of words of position_layout and position_divisor; first position */
    int layout, divisor, first;
    const float *rates;                         /* SOURCE_ROTARY: [dims / 2] */
    const struct TensorSource *table;           /* SOURCE_DISTANCE: [buckets, heads] */
    int distance;  bool both_ways;              /* SOURCE_DISTANCE: distances of at least `distance`
                                                 * in one direction share one bucket; both_ways:
                                                 * later keys have buckets of their own */
} TensorSource;

int64_t tensor_elements(const TensorSource *t);

/* ---- choices -------------------------------------------------------------------------------------------- */

/* In the order of the words of `kind`; a graph has no such word. */
typedef enum ModelKind { KIND_ENCODER_DECODER, KIND_DECODER, KIND_ENCODER, KIND_GRAPH } ModelKind;

/* The numbers of a field of type NUMBERS, IDS or SEQUENCES. */
typedef struct Numbers { int count; const double *value; } Numbers;

/* The values of a field of scope LIST: for TEXT and PATH in text, else in value (a WORD by its
 * index). */
typedef struct FieldList { int count; const int64_t *value; const char *const *text; } FieldList;

/* C types of the fields. */
#define FIELD_INT    int64_t
#define FIELD_REAL   double
#define FIELD_BOOL   bool
#define FIELD_TEXT   const char *
#define FIELD_PATH   const char *
#define FIELD_WORD   int            /* index into its list of words */
#define FIELD_NUMBERS   const Numbers *
#define FIELD_IDS       const Numbers *
#define FIELD_SEQUENCES const Numbers *

/* Names for the words of lists, so that code says POSITIONS_SINUSOIDAL and not 1; in the order of
 * the words in fields.def or fields.c. A test compares some of them. */
enum { NORMS_ANNOTATED, NORMS_LAYER, NORMS_RMS };
enum { NORM_PLACES_PRE, NORM_PLACES_POST, NORM_PLACES_BOTH };
enum { GAINS_PLAIN, GAINS_ONE_PLUS };
enum { POSITIONS_NONE, POSITIONS_SINUSOIDAL, POSITIONS_LEARNED, POSITIONS_RELATIVE, POSITIONS_ROTARY, POSITIONS_LEARNED_RELATIVE };
/* position: the kind of a stack's positions. position_is_learned: true if rows of a trained table
 * are added, which limits the length. position_is_relative: true if scores get a bias that depends
 * on the distance. */
static inline bool position_is_learned(int position) { return position == POSITIONS_LEARNED || position == POSITIONS_LEARNED_RELATIVE; }
static inline bool position_is_relative(int position) { return position == POSITIONS_RELATIVE || position == POSITIONS_LEARNED_RELATIVE; }
enum { LAYOUTS_INTERLEAVED, LAYOUTS_HALVES };
enum { DIVISORS_HALF, DIVISORS_HALF_LESS_1 };
enum { ROTATIONS_HALVES, ROTATIONS_INTERLEAVED };
enum { SCALINGS_NONE, SCALINGS_LINEAR, SCALINGS_DYNAMIC, SCALINGS_LLAMA3, SCALINGS_YARN, SCALINGS_LONGROPE };
enum { POOLINGS_NONE, POOLINGS_MEAN, POOLINGS_CLS, POOLINGS_MAX, POOLINGS_MEAN_SQRT, POOLINGS_WEIGHTEDMEAN, POOLINGS_LASTTOKEN };
enum { TOKENIZERS_NONE, TOKENIZERS_CHARACTERS };
enum { PROJECTIONS_LAST, PROJECTIONS_FIRST };
enum { SCORINGS_SOFTMAX, SCORINGS_SIGMOID, SCORINGS_NONE };
enum { SIMILARITIES_COSINE, SIMILARITIES_DOT, SIMILARITIES_EUCLIDEAN, SIMILARITIES_MANHATTAN };
enum { STOPPINGS_FALSE, STOPPINGS_TRUE, STOPPINGS_NEVER };
enum {
    DTYPES_F32,
#define FORMAT(id, name, word, bits, dtype, size, doc)
#define PANEL_FORMAT(id, name, word, bits, dtype, size, kernels, doc) DTYPES_##id,
#include "formats.def"
#undef FORMAT
    DTYPES_FILE
};
enum { KV_DTYPES_F32, KV_DTYPES_F16, KV_DTYPES_INT8, KV_DTYPES };

typedef struct LayerFields {
#define FIELD_MODEL(type, name)
#define FIELD_LIST(type, name)
#define FIELD_STACK(type, name)
#define FIELD_LAYER(type, name) FIELD_##type name;
#define FIELD(scope, type, name, default, least, most, words, needs, doc) FIELD_##scope(type, name)
#include "fields.def"
#undef FIELD_STACK
#undef FIELD_LAYER
} LayerFields;

/* True if two layers have the same values in all fields. */
bool layer_same(const LayerFields *a, const LayerFields *b);

typedef struct Stack {
#define FIELD_STACK(type, name) FIELD_##type name;
#define FIELD_LAYER(type, name)
#define FIELD(scope, type, name, default, least, most, words, needs, doc) FIELD_##scope(type, name)
#include "fields.def"
#undef FIELD_MODEL
#undef FIELD_LIST
#undef FIELD_STACK
    LayerFields *layer;             /* [layers] */
    int *rotary;                    /* [layers]: each layer's rotary table, counted from 1; 0: none */
} Stack;

/* The width of the embedding when positions are added and embed_norm is applied. */
static inline int64_t stack_position_width(const Stack *s, int64_t d_model)
{
    return s->embed_project == PROJECTIONS_FIRST ? d_model : s->embed_width;
}

/* The width of the input of a decoder's output layer. */
static inline int64_t stack_output_width(const Stack *s, int64_t d_model)
{
    return s->embed_project == PROJECTIONS_FIRST ? s->embed_width : d_model;
}

/* A vocabulary of single characters and special tokens such as <s>. */
typedef struct Vocabulary {
    int size;
    int32_t *code_point;            /* [size]; -1 for a special token */
    const char **text;              /* [size]; UTF-8, as in its file */
    int blank, start, end, unknown; /* ids of <blank> <s> </s> <unk>; -1 where absent */
} Vocabulary;

/* ---- graphs written by hand ------------------------------------------------------------------------------ *
 * The calls of an xf.graph builder, unchecked; graph/ gives them shapes and meaning. */

/* An xf.op: an operation written in C, the body of a function over rows; see xformc-spec(5). */
enum { MAX_ATTRIBUTES = 8, MAX_CUSTOM_INPUTS = 8 };
typedef struct CustomOp {
    const char *name;
    const char *inputs[MAX_CUSTOM_INPUTS];  int input_count;        /* their names in the C */
    /* with their defaults */
    struct { const char *name; double number; } attributes[MAX_ATTRIBUTES];  int attribute_count;
    const char *c;
    Loc at, text;                   /* the call of xf.op; where its C begins */
} CustomOp;

typedef struct GraphCall {
    const char *op;                 /* an operation of graph_builder_ops, the name of an xf.op, or
                                     * "input", "param", "cache", "name" or "output" */
    const CustomOp *custom;         /* for a call of an xf.op; then `shape` is that of its result,
                                     * and `options` are all its attributes, in order */
    Loc at;
    int inputs[8], input_count;     /* values: results of earlier calls; -1 for nil */
    int first_result, results;      /* values first_result .. first_result + results - 1 */
    const char *name;               /* of an input, param, cache, name or output */
    int rank;  int64_t shape[MAX_RANK];             /* input, param, cache */
    /* numbers given for an input or param; NULL if none */
    const float *values;  int64_t value_count;
    struct GraphOption { const char *name; double number; const char *word; bool boolean; } options[8];  int option_count;
} GraphCall;

/* An operation that a builder may call, and the number of its results; graph_builder_ops has the
 * list. */
typedef struct OpName { const char *name; int results; } OpName;

typedef struct GraphSpec {
    GraphCall *calls;  int count, values;
    void *shapes;                   /* shapes of values that GraphShape has computed so far */
} GraphSpec;

/* Compute the shape of a value from the calls so far, for xf.op. Returns its rank; 0 if the shape
 * is unknown because of an error, which is reported when the graph is built. A pointer to the
 * function is NULL where xf.op is not allowed. */
typedef int GraphShape(Arena *a, GraphSpec *spec, int value, int64_t shape[MAX_RANK]);

/* A list of ids; for a field of type SEQUENCES, each sequence follows its length. */
typedef struct IdList { int count; const int *id; } IdList;

/* ---- chat ----------------------------------------------------------------------------------------------- */

/* The white space that a chat template strips: none; around user messages; around the system
 * message; around both; around the text between user[0] and user[1]; after the system message. */
typedef enum ChatTrim {
    CHAT_TRIM_NONE, CHAT_TRIM_USER, CHAT_TRIM_SYSTEM, CHAT_TRIM_EACH, CHAT_TRIM_TURN,
    CHAT_TRIM_SYSTEM_END
} ChatTrim;
/* How a template treats an empty system message: like any other; by writing no system part at all;
 * as if no message were given. */
typedef enum ChatEmpty { CHAT_EMPTY_KEPT, CHAT_EMPTY_NONE, CHAT_EMPTY_PRESET } ChatEmpty;

/* How a chat template writes a conversation; see RtChat. dated: RT_CHAT_DATE in begin, system and
 * preset is replaced by a date: the one given, else today's in the strftime format `today` if that
 * is set, else `date`. past: around earlier answers; NULL if not known. again: before every user
 * message but the first. preset: the default system message. inside: the system message is inside a
 * user message. */
typedef struct Chat {
    const char *name, *begin;
    const char *system[2], *date, *today, *user[2], *answer, *again, *past[2], *preset;
    const char *unlike;             /* where the template is known to write something else: "in an
                                     * empty message"; NULL: nowhere */
    ChatTrim trim;
    ChatEmpty empty;
    bool dated, inside, at_last, blank;
    int trims_past, thinks;         /* as in RtChat */
} Chat;

/* ---- the Model ------------------------------------------------------------------------------------------ */

/* dtype = { ["decoder.*.ffn"] = "int4" }: the dtype of every matrix whose name matches the pattern,
 * or begins with it up to a dot; * matches any characters. */
typedef struct DtypeRule { const char *pattern; int word; Loc at; } DtypeRule;

/* The origin of a tokenizer, for `xformc info`: the vocabulary files; the rules that it follows,
 * such as those of a class of transformers, of a GGUF file's tokenizer model or of the
 * SentencePiece library; the other settings files, separated by commas. NULL if there is none. */
typedef struct TokenizerOrigin { const char *files, *rules, *settings; } TokenizerOrigin;

/* A chat template in the tokenizer's own file, with the texts of bos_token and eos_token; NULL if
 * there is none. */
typedef struct TokenizerChat { const char *text, *begin, *end; } TokenizerChat;

typedef struct Model {
#define FIELD_MODEL(type, name) FIELD_##type name;
#define FIELD_LIST(type, name)  FieldList name;
#define FIELD_STACK(type, name)
#define FIELD(scope, type, name, default, least, most, words, needs, doc) FIELD_##scope(type, name)
#include "fields.def"
#undef FIELD_MODEL
#undef FIELD_LIST
#undef FIELD_STACK
#undef FIELD_LAYER
    ModelKind model_kind;
    bool has_encoder, has_decoder;  /* which stacks there are */
    const char *spec_path;          /* as the user wrote it */
    Loc at;                         /* the call that made the model, or the file that was read */
    const DtypeRule *dtype_rules;  int dtype_rule_count;
    const char *weights_path;       /* the weights file; NULL if random or given in the spec */
    bool random_weights;
    bool weights_missing;           /* random weights replace a missing file: Draft.sizes_only */
    bool head_own;                  /* with head_tied: the file has a separate, different matrix for
                                     * the head */
    Stack encoder, decoder;
    Vocabulary *source, *target;    /* NULL without a character tokenizer */
    /* tokenizer_file as a blob; NULL without it */
    const unsigned char *tokenizer_data;  size_t tokenizer_size;  int tokenizer_ids;
    TokenizerOrigin tokenizer_origin;
    TokenizerChat tokenizer_chat;
    const Chat *chat;               /* of model_learn_chat; NULL: not called, no chat template, or
                                     * one that is not supported */
    const char *chat_fault, *chat_path;             /* why the template is not used; its file */
    const int *ends;  int end_count;    /* ids that end generation; end_id, even if -1, is first */
    IdList bad_words, suppress, begin_suppress;     /* bad_words: each sequence after its length */
    TensorFile *weight_file;        /* NULL if random or given in the spec */
    const bool *weights_used;       /* [weight_file->count]; NULL without a file */
    bool weights_finite;            /* model_look_at_weights found no infinity or NaN */
    Loc weights_at;                 /* where the file is named */
    TensorSource *tensors;  int tensor_count;       /* in order of use; of a graph, its params */
    NameMap *tensor_of;             /* the tensors by canonical name */
    GraphSpec *graph;               /* KIND_GRAPH only */
} Model;

/* Canonical tensor names (all linears [out, in]):
 *   encoder.embed.table  [source_vocab, embed_width]
 *   decoder.embed.table  [target_vocab, embed_width]
 *   encoder.types.table  [token_types, d_model]
 *   encoder.position.table [max_source, d_model]      decoder.position.table [max_target, d_model]
 *   {encoder|decoder}.rotary.table [length, rope_dims], computed; if layers need different tables,
 *   the others are rotary_2.table, rotary_3.table, …
 *   {encoder|decoder}.relative.table [rel_buckets, heads]
 *   {encoder|decoder}.relative.bias [heads, 2 * length - 1], computed
 *   {encoder|decoder}.embed.norm.{gain,bias}
 *   {encoder|decoder}.N.{self_attn|cross_attn}.{q,k,v,out}.{weight,bias}
 *   {encoder|decoder}.N.self_attn.{q_norm|k_norm}.weight  [head_dim]
 *   {encoder|decoder}.N.ffn.{gate,up,down}.{weight,bias}
 *   {encoder|decoder}.N.norm.K.{gain,bias}            {encoder|decoder}.norm.{gain,bias}
 *   {encoder|decoder}.N.norm_after.K.{gain,bias}      of sublayer K's output, for norm_at = "both"
 *   {encoder|decoder}.embed.project.{weight,bias}     [d_model, embed_width] if these differ
 *   output.project.weight [embed_width, d_model] if these differ and embed_project is "first"
 *   head.N.{weight,bias} head.N.norm.{gain,bias} head.output.bias, head.normalize.gain (computed):
 *   of encoder-only models
 *   output.{weight,bias}  [target_vocab, d_model], with output.project [target_vocab, embed_width];
 *   tied: the weight is decoder.embed.table
 *   head.output.weight    [source_vocab, embed_width] of a family's file, for head_own
 * Tables of positions and types and embed.norm have the width embed_width, not d_model, if
 * embed_project is "last". Biases are absent if a field says so; an RMS norm has no bias. */
const TensorSource *model_tensor(const Model *m, const char *name);     /* NULL if absent */
/* The number of trained parameters: each tensor once, without computed ones. */
int64_t model_parameters(const Model *m);

/* The head of an encoder-only model. model_has_head: true if anything follows the hidden states.
 * model_pools: true if they are pooled to one vector. model_pooled_width: the width after pooling.
 * model_vector_width: the width of the result. model_head_value: value i of a list that repeats. */
bool model_has_head(const Model *m);
bool model_pools(const Model *m);
int64_t model_pooled_width(const Model *m);
int64_t model_vector_width(const Model *m);
int64_t model_head_value(const FieldList *list, int i);

/* The name of a stack's rotary table by its number in Stack.rotary. */
const char *rotary_table_name(Arena *a, const char *stack, int number);
/* The RoPE rates of the pairs of a layer's heads, [rope_dims / 2], scaled. */
void rotary_rates(const LayerFields *l, float *rates);
/* The factor of a layer's cosines and sines. */
double rotary_factor(const LayerFields *l);

/* The words of a list of fields.def by its name; *n receives their number. */
const char *const *field_words(const char *list, int *n);
/* The dtype in which linears and embeddings are packed: "int8"; "mixed" if there are patterns. */
const char *model_dtype(const Model *m);
bool model_is_narrow(const Model *m);               /* linears or embeddings may be narrower than
                                                     * f32 */
/* True if activations may be rounded to 8 bits, before quantized linears. */
bool model_rounds_activations(const Model *m);
bool model_has_cache(const Model *m);               /* of keys and values, to which kv_dtype
                                                     * applies */
bool model_rounds(const Model *m);                  /* at run time: activations, or the KV cache */
/* The index of the word of dtype for the tensor of that name, if it is a matrix: that of its
 * pattern, else the model's. A Transformer with d_model < 256 keeps most matrices that no pattern
 * matches in int8 instead of int4. */
int  model_dtype_of(const Model *m, const char *name);
/* The matching pattern with the most characters other than `*`, or NULL. *other: another pattern
 * with as many such characters and a different dtype, or NULL. */
const DtypeRule *model_dtype_rule(const Model *m, const char *name, const DtypeRule **other);
bool dtype_rule_matches(const DtypeRule *r, const char *name);
/* True if patterns give the tensors of two layers of a stack, "encoder" or "decoder", the same
 * dtypes. */
bool model_layers_pack_alike(Arena *a, const Model *m, const char *stack, int one, int other);
const char *model_kv_dtype(const Model *m);         /* "f16": the dtype of the KV cache */
/* Print every field with its type, scope and default, and below it its meaning, in 80 columns. */
void fields_print(FILE *to);
/* Print the whole Model deterministically, for golden tests. */
void model_dump(const Model *m, FILE *to);

#endif
