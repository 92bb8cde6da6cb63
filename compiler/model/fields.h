/* fields.h: fields.def as tables, and Draft: the choices of a spec before they are checked.
 * Everything that a Draft points at lives at least as long as the session's arena. */
#ifndef FIELDS_H
#define FIELDS_H

#include "model.h"

typedef enum FieldId {
#define FIELD(scope, type, name, default, least, most, words, needs, doc) FIELD_ID_##name,
#include "fields.def"
    FIELD_COUNT
} FieldId;

/* The conditions for fields to have an effect. */
typedef enum Need {
#define NEED(name, holds, why) NEED_##name,
#include "fields.def"
} Need;

typedef enum FieldScope { SCOPE_MODEL, SCOPE_LIST, SCOPE_STACK, SCOPE_LAYER } FieldScope;
typedef enum FieldType { TYPE_INT, TYPE_REAL, TYPE_BOOL, TYPE_TEXT, TYPE_PATH, TYPE_WORD, TYPE_NUMBERS, TYPE_IDS, TYPE_SEQUENCES } FieldType;

/* One value. INT, BOOL and WORD are in `integer`; REAL is in `real`; TEXT and PATH are in `text`;
 * NUMBERS, IDS and SEQUENCES are in `list`, where each sequence of SEQUENCES follows its length. */
typedef struct FieldValue { int64_t integer; double real; const char *text; const Numbers *list; } FieldValue;

typedef struct Field {
    const char *name, *doc;
    FieldScope scope;
    FieldType type;
    size_t offset;                      /* in Model, Stack or LayerFields, by scope */
    bool has_default;
    double preset;                      /* the default, if has_default */
    double least, most;
    const char *const *words;  int word_count;      /* TYPE_WORD */
    Need needs;
} Field;

extern const Field fields[FIELD_COUNT];

/* The field of that name, or NULL. */
const Field *field_find(const char *name);
/* The name nearest to `name` among the fields of a stack, or among all fields, stacks and groups of
 * fields; NULL if none is near. */
const char *field_nearest(const char *name, bool in_stack);
/* Store a value in the struct that the field's offset is for. */
void field_store(const Field *f, void *where, FieldValue value);
FieldValue field_preset(const Field *f);            /* the default value; zeros if there is none */

/* Check that a number is within the field's limits and not too small for an f32; false after an
 * error reported at `at`. what, shown: the field and the value as the user wrote them. For INT the
 * number is v->integer; for REAL and each number of NUMBERS it is v->real. Values of other types
 * are not checked. */
bool field_check(Diag *d, Loc at, const Field *f, const char *what, const char *shown, const FieldValue *v);
int field_word(const Field *f, const char *word);   /* index in the field's words; -1 if absent */

/* The value of one field in a spec. count: 0 if not given; only a list has more than 1. */
typedef struct Choice { Loc at; int count; FieldValue *values; } Choice;

typedef enum Side { SIDE_BOTH, SIDE_ENCODER, SIDE_DECODER, SIDES } Side;

typedef struct Draft {
    const char *path;                   /* of the spec */
    Loc at;                             /* the call that made it, or the file that was read */
    GraphSpec *graph;                   /* NULL for a model */
    const char *weights;                /* a file that overrides the spec's; NULL: none */
    const char *folder;                 /* the folder that was read; NULL for a file */
    const char *changed_from;           /* the weights file before a change of the spec;
                                         * vocabularies are still next to it; NULL: none */
    int64_t trained;                    /* trained length in tokens; 0: the model's length */
    int64_t longest;                    /* --max-len; 0: not given */
    bool shortened;                     /* max_len is below `trained`, but no option asked for it:
                                         * draft_change remarks on it */
    int64_t bound;                      /* a length below `trained`; beyond it, RoPE rates depend on
                                         * the length of the whole sequence; 0: none */
    const DtypeRule *dtype_rules;  int dtype_rule_count;        /* in order of their places */
    bool sizes_only;                    /* random weights replace a file that does not exist */
    Choice choices[SIDES][FIELD_COUNT];
} Draft;

/* The choice for a side: its own, else the one for both; NULL if there is none. */
const Choice *draft_choice(const Draft *d, Side side, FieldId id);
Loc draft_place(const Draft *d, Side side, FieldId id);     /* of that choice, else d->at */

/* Set one field for a side: `count` values, copied into the arena. */
void draft_set(Arena *a, Draft *d, Side side, FieldId id, Loc at, const FieldValue *values, int count);
/* Set an INT, REAL, BOOL or WORD. */
void draft_set_number(Arena *a, Draft *d, Side side, FieldId id, Loc at, double number);
/* Set NUMBERS or IDS; the array is not copied. */
void draft_set_numbers(Arena *a, Draft *d, Side side, FieldId id, Loc at, const double *numbers, int count);
/* Set a WORD of the whole model; `word` must be one of the field's words. */
void draft_set_word(Arena *a, Draft *d, FieldId id, Loc at, const char *word);
/* Set a TEXT or PATH of the whole model. */
void draft_set_text(Arena *a, Draft *d, FieldId id, Loc at, const char *text);

/* Set the length to the trained length; for a decoder-only model, to at most 4096, since its state
 * grows with it. */
void draft_set_trained(Arena *a, Draft *d, Loc at, int64_t length);
/* Set the length of each stack, in tokens; false after an error. */
bool draft_set_length(Arena *a, Diag *d, Draft *draft, int64_t length);

/* Check the generation settings and translations. gives: ends, bad_words, suppress, begin_suppress,
 * end_id, generation_do_sample. */
void model_check_generation(Arena *a, Diag *d, const Draft *draft, Model *m);

/* Check the RoPE fields of a stack whose sequences have at most `length` tokens, and remark on
 * fields that no layer's scaling reads. needs: head_dim of layers. gives: rope_dims,
 * rope_attention_factor, s->rotary; false after an error. */
bool model_check_rotary(Arena *a, Diag *d, const Draft *draft, Side side, Stack *s, int64_t length);

/* Why the draft's choice of a field for `side` has no effect on the model; NULL if it has one, or
 * if choices for the single stacks override it. */
const char *field_unread(const Draft *draft, const Model *m, Side side, FieldId id);
/* Remark on every field in a spec, but not on keys of a folder, for which field_unread gives a
 * reason. needs: all of `m`. */
void model_note_unread(Diag *d, const Draft *draft, const Model *m);

void model_fill_lists(Arena *a, const Draft *draft, Model *m); /* gives: fields of scope LIST */
/* Check the fields about the head of an encoder-only model; in other models, setting one is an
 * error. needs: model_fill_lists. */
void model_check_head(Diag *d, const Draft *draft, Model *m);

#endif
