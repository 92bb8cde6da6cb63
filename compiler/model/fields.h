/* fields.h: fields.def as tables, and a spec's choices before they are checked.
 * Everything that a Draft points at lives in the session's arena. */
#ifndef FIELDS_H
#define FIELDS_H

#include "model.h"
#include "tokenizer.h"

typedef enum FieldId {
#define FIELD(scope, type, name, default, least, most, words, needs, doc) FIELD_ID_##name,
#include "fields.def"
    FIELD_COUNT
} FieldId;

/* Without which a field says nothing. */
typedef enum Need {
#define NEED(name, holds, why) NEED_##name,
#include "fields.def"
} Need;

typedef enum FieldScope { SCOPE_MODEL, SCOPE_LIST, SCOPE_STACK, SCOPE_LAYER } FieldScope;
typedef enum FieldType { TYPE_INT, TYPE_REAL, TYPE_BOOL, TYPE_TEXT, TYPE_PATH, TYPE_WORD, TYPE_NUMBERS, TYPE_IDS, TYPE_SEQUENCES } FieldType;

/* One value: an INT, BOOL or WORD in integer, a REAL in real, a TEXT or PATH in text, NUMBERS and IDS in list, SEQUENCES there too, each
 * behind its length. */
typedef struct FieldValue { int64_t integer; double real; const char *text; const Numbers *list; } FieldValue;

typedef struct Field {
    const char *name, *doc;
    FieldScope scope;
    FieldType type;
    size_t offset;                      /* in Model, Stack or LayerFields, by scope */
    bool has_default;
    double preset;                      /* the default, where there is one */
    double least, most;
    const char *const *words;  int word_count;      /* TYPE_WORD */
    Need needs;
} Field;

extern const Field fields[FIELD_COUNT];

/* The field of that name, or NULL. */
const Field *field_find(const char *name);
/* The nearest field's name, of the model or of a stack, or NULL. */
const char *field_nearest(const char *name, bool in_stack);
/* Write a value into the struct that the field's offset belongs to. */
void field_store(const Field *f, void *where, FieldValue value);
FieldValue field_preset(const Field *f);            /* what stands where the spec says nothing */

/* Whether a number is one that the field takes; false after an error told at `at`. what: the field as the user wrote it; shown: the
 * value likewise. For INT v->integer is set, for REAL, and for each
 * of NUMBERS, v->real. */
bool field_check(Diag *d, Loc at, const Field *f, const char *what, const char *shown, const FieldValue *v);
/* The whole part; 0 of NaN, the nearest of int64 where it lies outside: field_check tells the limits. */
int64_t field_whole(double number);
int field_word(const Field *f, const char *word);   /* its place in the field's words; -1 where it is none */

/* What a spec says of one field: count 0 is nothing, more than 1 a list for the layers. */
typedef struct Choice { Loc at; int count; FieldValue *values; } Choice;

typedef enum Side { SIDE_BOTH, SIDE_ENCODER, SIDE_DECODER, SIDES } Side;

typedef struct Draft {
    const char *path;                   /* of the spec */
    Loc at;                             /* the call that made it */
    GraphSpec *graph;                   /* NULL for a model */
    const char *weights;                /* a file in the place of the spec's; NULL for that */
    const char *folder;                 /* whose files say it; NULL for a spec in Lua */
    const char *changed_from;           /* a file of weights that a change put aside: vocabularies stay beside it; NULL where there is none */
    int64_t trained;                    /* tokens that the model was trained for; 0: as many as it takes */
    int64_t longest;                    /* what --max-len says; 0 for nothing */
    bool shortened;                     /* max_len is less than that, and nobody asked for it: to be noted */
    int64_t bound;                      /* past it rates of positions depend on the length of the whole sequence; 0: nowhere */
    const DtypeRule *dtype_rules;  int dtype_rule_count;        /* in order of their places */
    bool sizes_only;                    /* random weights stand in for a file that is not there */
    Choice choices[SIDES][FIELD_COUNT];
} Draft;

/* What holds for a side: its own choice, else the one for both; NULL where there is none. */
const Choice *draft_choice(const Draft *d, Side side, FieldId id);
Loc draft_place(const Draft *d, Side side, FieldId id);     /* of that choice, else of the call */

/* Set one field for a side: `count` values, copied into the arena. */
void draft_set(Arena *a, Draft *d, Side side, FieldId id, Loc at, const FieldValue *values, int count);
void draft_set_number(Arena *a, Draft *d, Side side, FieldId id, Loc at, double number);    /* INT, REAL, BOOL, WORD */
/* A list, which is kept as it is. */
void draft_set_numbers(Arena *a, Draft *d, Side side, FieldId id, Loc at, const double *numbers, int count);
/* That word of the field, which is one of its words. */
void draft_set_word(Arena *a, Draft *d, FieldId id, Loc at, const char *word);
void draft_set_text(Arena *a, Draft *d, FieldId id, Loc at, const char *text);              /* of the whole model */

/* What the Lua file `path` says; NULL after errors told to `d`. */
Draft *draft_from_lua(Arena *a, Diag *d, const char *path, const OpName *ops, int op_count, GraphShape *shape_of);

/* What the config.json of a Hugging Face folder says; likewise. */
Draft *draft_from_folder(Arena *a, Diag *d, const char *path);
/* What the header of a llama2.c checkpoint says; likewise. */
Draft *draft_from_checkpoint(Arena *a, Diag *d, const char *path);
/* What the keys of a GGUF file say; likewise. */
Draft *draft_from_gguf(Arena *a, Diag *d, const char *path);
/* Any of them, by what is found at `path`. */
Draft *draft_read(Arena *a, Diag *d, const char *path, const OpName *ops, int op_count, GraphShape *shape_of);
/* The length that a model was trained for becomes its length; a decoder's at most 4096, for its state grows with it. */
void draft_set_trained(Arena *a, Draft *d, Loc at, int64_t length);
/* The draft of a model as a spec in Lua: every field that was set, is not its default and says something of it; files with their whole path. */
void draft_print_lua(const Draft *d, const Model *m, FILE *to);
/* Give both stacks a length, in tokens; false after an error. */
bool draft_set_length(Arena *a, Diag *d, Draft *draft, int64_t length);

/* A text as a model's name: a C identifier that nobody has taken. */
const char *model_name_of(Arena *a, const char *text);

/* Work out, check, find the weights; NULL after errors. */
Model *model_from_draft(Arena *a, Diag *d, const Draft *draft);

/* The passes of model_from_draft. needs: the fields of `m`. */
bool model_open_weights(Arena *a, Diag *d, const Draft *draft, Model *m);         /* gives: weight_file; false after errors */
void model_read_vocabularies(Arena *a, Diag *d, const Draft *draft, Model *m);    /* gives: source, target, sizes */
void model_read_tokenizer(Arena *a, Diag *d, const Draft *draft, Model *m);       /* gives: tokenizer_data, sizes */
/* own: of the tokenizer's file itself. needs: tokenizer_file   gives: chat or chat_fault, chat_path */
void model_read_chat(Arena *a, Model *m, const TokenizerChat *own);
void model_find_tensors(Arena *a, Diag *d, const Draft *draft, Model *m);         /* gives: weight_file, tensors */

void model_check_generation(Arena *a, Diag *d, const Draft *draft, Model *m);      /* gives: ends, bad_words, suppress, begin_suppress */

/* The rotary positions of a stack of at most `length` tokens: what is unset or cannot be. Layers have their head_dim.
 * gives: rope_dims, rope_attention_factor, s->rotary; false after an error. */
bool model_check_rotary(Arena *a, Diag *d, const Draft *draft, Side side, Stack *s, int64_t length);

/* Why what the draft says of a field for `side` says nothing of its model; NULL where it says something. */
const char *field_unread(const Draft *draft, const Model *m, Side side, FieldId id);
/* Note every such field that stands in a line of a spec; a folder's keys are of others. needs: all of `m`. */
void model_note_unread(Diag *d, const Draft *draft, const Model *m);

/* What is behind an encoder alone. needs: the fields of `m`.   gives: its lists. */
void model_fill_lists(Arena *a, const Draft *draft, Model *m);                    /* gives: fields of scope LIST */
void model_check_head(Diag *d, const Draft *draft, Model *m);

/* Symbols from a file, one a line; NULL after errors, told at their lines. `at` names the field for a missing file. */
Vocabulary *vocabulary_read(Arena *a, Diag *d, Loc at, const char *path);

#endif
