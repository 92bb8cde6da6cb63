/* fields.h: fields.def as tables, and a spec's choices before they are checked.
 * Everything that a Draft points at lives in the session's arena. */
#ifndef FIELDS_H
#define FIELDS_H

#include "model.h"

typedef enum FieldId {
#define FIELD(scope, type, name, default, least, most, words, doc) FIELD_ID_##name,
#include "fields.def"
    FIELD_COUNT
} FieldId;

typedef enum FieldScope { SCOPE_MODEL, SCOPE_STACK, SCOPE_LAYER } FieldScope;
typedef enum FieldType { TYPE_INT, TYPE_REAL, TYPE_BOOL, TYPE_TEXT, TYPE_PATH, TYPE_WORD, TYPE_NUMBERS } FieldType;

/* One value: an INT, BOOL or WORD in integer, a REAL in real, a TEXT or PATH in text, NUMBERS in list. */
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
} Field;

extern const Field fields[FIELD_COUNT];

/* The field of that name, or NULL. */
const Field *field_find(const char *name);
/* The nearest field's name, of the model or of a stack, or NULL. */
const char *field_nearest(const char *name, bool in_stack);
/* Write a value into the struct that the field's offset belongs to. */
void field_store(const Field *f, void *where, FieldValue value);
FieldValue field_preset(const Field *f);            /* what stands where the spec says nothing */

/* What a spec says of one field: count 0 is nothing, more than 1 a list for the layers. */
typedef struct Choice { Loc at; int count; FieldValue *values; } Choice;

typedef enum Side { SIDE_BOTH, SIDE_ENCODER, SIDE_DECODER, SIDES } Side;

typedef struct Draft {
    const char *path;                   /* of the spec */
    Loc at;                             /* the call that made it */
    GraphSpec *graph;                   /* NULL for a model */
    const char *weights;                /* a file in the place of the spec's; NULL for that */
    bool sizes_only;                    /* random weights stand in for a file that is not there */
    Choice choices[SIDES][FIELD_COUNT];
} Draft;

/* What holds for a side: its own choice, else the one for both; NULL where there is none. */
const Choice *draft_choice(const Draft *d, Side side, FieldId id);
Loc draft_place(const Draft *d, Side side, FieldId id);     /* of that choice, else of the call */

/* What the Lua file `path` says; NULL after errors told to `d`. */
Draft *draft_from_lua(Arena *a, Diag *d, const char *path, const OpName *ops, int op_count, GraphShape *shape_of);

/* Work out, check, find the weights; NULL after errors. */
Model *model_from_draft(Arena *a, Diag *d, const Draft *draft);

/* The passes of model_from_draft. needs: the fields of `m`. */
bool model_open_weights(Arena *a, Diag *d, const Draft *draft, Model *m);         /* gives: weight_file; false after errors */
void model_read_vocabularies(Arena *a, Diag *d, const Draft *draft, Model *m);    /* gives: source, target, sizes */
void model_find_tensors(Arena *a, Diag *d, const Draft *draft, Model *m);         /* gives: weight_file, tensors */

/* The rotary positions of a stack of at most `length` tokens: what is unset or cannot be. Layers have their head_dim.
 * gives: rope_dims, rope_attention_factor, s->rotary; false after an error. */
bool model_check_rotary(Arena *a, Diag *d, const Draft *draft, Side side, Stack *s, int64_t length);

/* Symbols from a file, one a line; NULL after errors, told at their lines. `at` names the field for a missing file. */
Vocabulary *vocabulary_read(Arena *a, Diag *d, Loc at, const char *path);

#endif
