/* fields.h: fields.def as tables, and a spec's choices before they are checked.
 * Everything that a Draft points at lives in the session's arena. */
#ifndef FIELDS_H
#define FIELDS_H

#include "model.h"

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

/* Whether a number is one that the field takes; false after an error reported at `at`. what: the field as the user wrote it; shown: the
 * value likewise. For INT v->integer is set, for REAL, and for each
 * of NUMBERS, v->real. */
bool field_check(Diag *d, Loc at, const Field *f, const char *what, const char *shown, const FieldValue *v);
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

/* The length that a model was trained for becomes its length; a decoder's at most 4096, for its state grows with it. */
void draft_set_trained(Arena *a, Draft *d, Loc at, int64_t length);
/* Give both stacks a length, in tokens; false after an error. */
bool draft_set_length(Arena *a, Diag *d, Draft *draft, int64_t length);

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

#endif
