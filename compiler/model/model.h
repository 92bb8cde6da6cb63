/* model.h: a Transformer's sizes and choices, checked, and where each of its tensors lies.
 *
 * The readers in front/ fill a Draft; model_check.c makes a Model of it, sets what the Draft left
 * unset and refuses what cannot be. Nothing in a Model tells how it was read. Everything lives in
 * the session's arena. */
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

/* A file of tensors, mapped; owned by the session. */
typedef struct TensorFile {
    const char *path;
    FileMap map;
    struct TensorSource *tensors;  int count;       /* by name */
    struct TensorFile **parts;  int part_count;     /* where the tensors lie in several files: these, and nothing is mapped here */
} TensorFile;

typedef enum SourceKind {
    SOURCE_FILE,        /* strided view into a file */
    SOURCE_VALUES,      /* numbers given in the spec */
    SOURCE_XAVIER,      /* uniform ±sqrt(6 / (fan_in + fan_out)) from a seed and the tensor's name */
    SOURCE_UNIFORM,     /* uniform ±1/sqrt(fan_in) likewise: biases */
    SOURCE_CONSTANT,    /* one number everywhere: gains 1, biases 0 of norms */
    SOURCE_SINUSOID,    /* sinusoidal positions, computed: [positions, d_model] */
    SOURCE_ROTARY,      /* rotary positions, computed: [positions, dims]: cosines, then sines, of position * rate, times constant */
    SOURCE_DISTANCE     /* a relative bias by distance, from a table by bucket: [heads, 2 * reach - 1], key minus query */
} SourceKind;

/* Where a tensor's numbers come from. shape and stride (in elements) are those of the logical tensor: a transposed
 * matrix or a slice of a fused one is a view. */
typedef struct TensorSource {
    const char *name;               /* canonical name, or the file's own inside a TensorFile */
    const char *file_name;          /* the name in the file, for messages; NULL where there is none */
    SourceKind kind;
    DType dtype;
    int rank;
    int64_t shape[MAX_RANK], stride[MAX_RANK];
    const TensorFile *file;  size_t offset;     /* SOURCE_FILE: bytes from the start of the file */
    int64_t start;                              /* elements from there to the first; counted in groups too */
    int64_t skip;                               /* elements before the first, in order: of random numbers, and of a view */
    /* SOURCE_FILE whose rows follow no one stride, as those of heads in a fused matrix: the same elements in the same order, by
     * other dimensions. view_rank 0: by shape and stride. */
    int view_rank;  int64_t view_shape[MAX_RANK], view_stride[MAX_RANK];
    const struct TensorSource *added;           /* a vector added to every row, or NULL */
    int group;  size_t scales;                  /* DTYPE_I8 in groups, each with an F32 factor at `scales`; 0: no groups */
    const float *values;                        /* SOURCE_VALUES */
    float constant;                             /* SOURCE_CONSTANT, SOURCE_ROTARY */
    bool computed;                              /* SOURCE_CONSTANT that nobody trained */
    float plus;                                 /* SOURCE_FILE: added to every number */
    uint64_t seed;  int64_t fan_in, fan_out;    /* SOURCE_XAVIER, SOURCE_UNIFORM */
    int layout, divisor, first;                 /* SOURCE_SINUSOID: words of fields.def, first position */
    const float *rates;                         /* SOURCE_ROTARY: [dims / 2] */
    const struct TensorSource *table;           /* SOURCE_DISTANCE: [buckets, heads] */
    int distance;  bool both_ways;              /* SOURCE_DISTANCE: all from here on share a bucket; keys ahead have buckets too */
} TensorSource;

int64_t tensor_elements(const TensorSource *t);

/* ---- choices -------------------------------------------------------------------------------------------- */

/* In the order of the words of `kind`; a graph has no such word. */
typedef enum ModelKind { KIND_ENCODER_DECODER, KIND_DECODER, KIND_ENCODER, KIND_GRAPH } ModelKind;

/* Numbers of a field that lists them. */
typedef struct Numbers { int count; const double *value; } Numbers;

/* Values of a field of scope LIST: numbers, switches, words by their index; of TEXT the texts. */
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

/* Words, so that code says POSITIONS_SINUSOIDAL and not 1: in the order of fields.def. A test compares them. */
enum { NORMS_ANNOTATED, NORMS_LAYER, NORMS_RMS };
enum { NORM_PLACES_PRE, NORM_PLACES_POST, NORM_PLACES_BOTH };
enum { GAINS_PLAIN, GAINS_ONE_PLUS };
enum { POSITIONS_NONE, POSITIONS_SINUSOIDAL, POSITIONS_LEARNED, POSITIONS_RELATIVE, POSITIONS_ROTARY, POSITIONS_LEARNED_RELATIVE };
/* Of a stack's position: whether rows of a trained table are added, which end with it; whether scores get a bias by distance. */
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
enum { KV_DTYPES_F32, KV_DTYPES_F16 };

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

/* Whether two layers agree in every field. */
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
    int *rotary;                    /* [layers]: which of the stack's rotary tables turns its heads, from 1; 0: none */
} Stack;

/* The width in which positions are added to the embedding, and normed. */
static inline int64_t stack_position_width(const Stack *s, int64_t d_model)
{
    return s->embed_project == PROJECTIONS_FIRST ? d_model : s->embed_width;
}

/* What a decoder's output layer reads. */
static inline int64_t stack_output_width(const Stack *s, int64_t d_model)
{
    return s->embed_project == PROJECTIONS_FIRST ? s->embed_width : d_model;
}

/* A vocabulary of single characters and marks such as <s>. */
typedef struct Vocabulary {
    int size;
    int32_t *code_point;            /* [size]; -1 for a mark */
    const char **text;              /* [size]; UTF-8, as in its file */
    int blank, start, end, unknown; /* ids of <blank> <s> </s> <unk>; -1 where absent */
} Vocabulary;

/* ---- graphs written by hand ------------------------------------------------------------------------------ *
 * What an xf.graph builder asked for, call by call, unchecked; graph/ gives it shapes and meaning. */

/* An xf.op: an operation by its C, the body of a function over rows; see xformc-spec(5). */
enum { MAX_ATTRIBUTES = 8, MAX_CUSTOM_INPUTS = 8 };
typedef struct CustomOp {
    const char *name;
    const char *inputs[MAX_CUSTOM_INPUTS];  int input_count;        /* what the C calls them */
    struct { const char *name; double number; } attributes[MAX_ATTRIBUTES];  int attribute_count;     /* and their defaults */
    const char *c;
    Loc at, text;                   /* of the call of xf.op; where the C begins */
} CustomOp;

typedef struct GraphCall {
    const char *op;                 /* name of an operation as in ops.def, "input", "param", "cache", "name" or "output" */
    const CustomOp *custom;         /* of an xf.op's call: then `shape` is its result's, `options` are all its attributes, in order */
    Loc at;
    int inputs[8], input_count;     /* values: results of earlier calls; -1 where nil was given */
    int first_result, results;      /* this call's values are first_result .. first_result + results - 1 */
    const char *name;               /* of an input, param, cache, name or output */
    int rank;  int64_t shape[MAX_RANK];             /* input, param, cache */
    const float *values;  int64_t value_count;      /* numbers given for an input or param; NULL if none */
    struct GraphOption { const char *name; double number; const char *word; bool boolean; } options[8];  int option_count;
} GraphCall;

/* An operation that a builder may call, and how many values it gives; the graph floor hands its list down. */
typedef struct OpName { const char *name; int results; } OpName;

typedef struct GraphSpec {
    GraphCall *calls;  int count, values;
    void *shapes;                   /* of values: what GraphShape has worked out so far */
} GraphSpec;

/* The shape of a value that the calls so far make, for whoever defines operations of his own; returns its rank, 0 where a
 * fault hides it, which is reported when the graph is built. A builder that may define none has no such function. */
typedef int GraphShape(Arena *a, GraphSpec *spec, int value, int64_t shape[MAX_RANK]);

/* Ids of a field that lists them. */
typedef struct IdList { int count; const int *id; } IdList;

/* ---- chat ----------------------------------------------------------------------------------------------- */

/* White space that a chat template leaves out: none; around the user's text; around the system's; around
 * both; around what stands between user[0] and user[1]; behind the system's. */
typedef enum ChatTrim {
    CHAT_TRIM_NONE, CHAT_TRIM_USER, CHAT_TRIM_SYSTEM, CHAT_TRIM_EACH, CHAT_TRIM_TURN,
    CHAT_TRIM_SYSTEM_END
} ChatTrim;
/* An empty text of a system: as others; none at all; as if it were not given. */
typedef enum ChatEmpty { CHAT_EMPTY_KEPT, CHAT_EMPTY_NONE, CHAT_EMPTY_PRESET } ChatEmpty;

/* What a chat template makes of a conversation. dated: RT_CHAT_DATE in begin, system and preset stands for
 * a date: the one that is given, else `date`, else today's as strftime writes it by `today`. past: around
 * the answers of earlier turns; NULL where that is not known. again: before every turn of the user but the
 * first. preset: the system's text where none is given. inside: it stands within a turn of the user. */
typedef struct Chat {
    const char *name, *begin;
    const char *system[2], *date, *today, *user[2], *answer, *again, *past[2], *preset;
    const char *unlike;             /* where the template writes something else, such as "in an
                                     * empty message"; NULL: nowhere that is known */
    ChatTrim trim;
    ChatEmpty empty;
    bool dated, inside, at_last, blank;
    int trims_past, thinks;         /* as of RtChat */
} Chat;

/* ---- the product ---------------------------------------------------------------------------------------- */

/* dtype = { ["decoder.*.ffn"] = "int4" }: a word of that field for every matrix whose name the pattern is, or the beginning of up to a
 * dot; * stands for any characters. */
typedef struct DtypeRule { const char *pattern; int word; Loc at; } DtypeRule;

/* Where a tokenizer is from, for people: the file of its vocabulary, the class of transformers or the
 * model of a GGUF file by whose rules it is read, the files of settings beside it with ", " between.
 * NULL where there is no such thing. */
typedef struct TokenizerOrigin { const char *files, *rules, *settings; } TokenizerOrigin;

/* The template of a chat that stands in a tokenizer's own file, with the texts of the marks it may
 * name; NULL where there is none. */
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
    Loc at;                         /* the call that made the model */
    const DtypeRule *dtype_rules;  int dtype_rule_count;
    const char *weights_path;       /* the file of weights; NULL when random or given in the spec */
    bool random_weights;
    bool weights_missing;           /* random ones stand in for a file that is not there: Draft.sizes_only */
    bool head_own;                  /* of head_tied: the file has a matrix of its own for it */
    Stack encoder, decoder;
    Vocabulary *source, *target;    /* NULL without a tokenizer of characters */
    const unsigned char *tokenizer_data;  size_t tokenizer_size;  int tokenizer_ids;    /* tokenizer_file as a blob; NULL without it */
    TokenizerOrigin tokenizer_origin;
    TokenizerChat tokenizer_chat;
    const Chat *chat;               /* of model_learn_chat; NULL: there is none, or chat_fault says
                                     * why it is not known */
    const char *chat_fault, *chat_path;             /* the file that should have it */
    const int *ends;  int end_count;                /* ids that end what is generated, end_id the first */
    IdList bad_words, suppress, begin_suppress;     /* of generation; bad_words: each behind its length */
    TensorFile *weight_file;        /* NULL when random or given in the spec */
    const bool *weights_used;       /* [weight_file->count]; NULL without a file */
    bool weights_finite;            /* they were looked at: model_look_at_weights */
    Loc weights_at;                 /* what names the file */
    TensorSource *tensors;  int tensor_count;       /* by canonical name, in order of use; of a graph, its params */
    NameMap *tensor_of;             /* the same, by name */
    GraphSpec *graph;               /* KIND_GRAPH only */
} Model;

/* Canonical tensor names (all linears [out, in]):
 *   encoder.embed.table  [source_vocab, d_model]      decoder.embed.table  [target_vocab, d_model]
 *   encoder.types.table  [token_types, d_model]
 *   encoder.position.table [max_source, d_model]      decoder.position.table [max_target, d_model]
 *   {encoder|decoder}.rotary.table [length, rope_dims] and .relative.bias [heads, 2 * length - 1]: computed;
 *   where layers turn by other rates, those after the first are called rotary_2.table, rotary_3.table and so on
 *   {encoder|decoder}.relative.table [rel_buckets, heads]      {encoder|decoder}.embed.norm.{gain,bias}
 *   {encoder|decoder}.N.{self_attn|cross_attn}.{q,k,v,out}.{weight,bias}
 *   {encoder|decoder}.N.self_attn.{q_norm|k_norm}.weight  [head_dim]
 *   {encoder|decoder}.N.ffn.{gate,up,down}.{weight,bias}
 *   {encoder|decoder}.N.norm.K.{gain,bias}            {encoder|decoder}.norm.{gain,bias}
 *   {encoder|decoder}.N.norm_after.K.{gain,bias}      of what sublayer K gives, for norm_at = "both"
 *   {encoder|decoder}.embed.project.{weight,bias}     [d_model, embed_width] where these differ; output.project.weight
 *   head.N.{weight,bias} head.N.norm.{gain,bias} head.output.bias, head.normalize.gain (computed) of an encoder alone
 *   output.{weight,bias}  [target_vocab, d_model]; tied: the weight is decoder.embed.table
 *   head.output.weight    [source_vocab, embed_width] of a family's file, for head_own
 * Biases are absent where a field says so, and so is the bias of an RMS norm. */
const TensorSource *model_tensor(const Model *m, const char *name);     /* NULL if absent */
/* How many numbers were trained: every tensor once, computed ones not. */
int64_t model_parameters(const Model *m);

/* Whether anything is behind the hidden states of an encoder alone; whether they become one vector, and how wide it is (else
 * d_model); numbers of each vector behind all of it; value i of a list that begins again at its end. */
bool model_has_head(const Model *m);
bool model_pools(const Model *m);
int64_t model_pooled_width(const Model *m);
int64_t model_vector_width(const Model *m);
int64_t model_head_value(const FieldList *list, int i);

/* The name of a stack's rotary table by its number in Stack.rotary. */
const char *rotary_table_name(Arena *a, const char *stack, int number);
/* Rates of the pairs of a layer's heads, [rope_dims / 2], scaled. */
void rotary_rates(const LayerFields *l, float *rates);
/* What its cosines and sines are multiplied by. */
double rotary_factor(const LayerFields *l);

/* The words of a WORD field's list by its name in fields.def; *n receives their number. */
const char *const *field_words(const char *list, int *n);
const char *model_dtype(const Model *m);            /* "int8": what linears and embeddings are packed as; "mixed" where patterns say more */
bool model_is_narrow(const Model *m);               /* some of them as less than f32 */
bool model_rounds_activations(const Model *m);      /* to 8 bits, in front of linears of such weights */
bool model_rounds(const Model *m);                  /* while it runs: activations so, or keys and values to f16 */
/* The word of the field dtype for the tensor of that name, were it a matrix: that of the pattern that holds for it, else the model's,
 * of which int4 is int8 for much of models less than 256 wide. */
int  model_dtype_of(const Model *m, const char *name);
/* Its pattern, the one with most characters other than `*`; NULL where none matches. *other: one with as many that says
 * something else, or NULL. */
const DtypeRule *model_dtype_rule(const Model *m, const char *name, const DtypeRule **other);
bool dtype_rule_matches(const DtypeRule *r, const char *name);
/* Whether patterns say the same of all tensors of two layers of a stack, "encoder" or "decoder". */
bool model_layers_pack_alike(Arena *a, const Model *m, const char *stack, int one, int other);
const char *model_kv_dtype(const Model *m);         /* "f16": what a cache holds keys and values as */
/* Every field with its type, scope and default, and below that its meaning, in 100 columns. */
void fields_print(FILE *to);
/* A deterministic text of the whole Model: the golden of this floor. */
void model_dump(const Model *m, FILE *to);

#endif
