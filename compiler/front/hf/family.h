/* family.h: what a family of Hugging Face folders is: tables that turn a config.json into fields and canonical tensor names into
 * those of its files. family_<id>.c each fill one Family, huggingface*.c and families.c read them. A family's name
 * stands in its own file and in families.def, nowhere else. */
#ifndef FAMILY_H
#define FAMILY_H

#include "config.h"
#include "fields.h"

/* ---- config.json ---------------------------------------------------------------------------------------- */

/* Set a field from a key; what the field does not take is an error at the key. key NULL: no key says it. */
void config_set(const Config *c, const char *key, Side side, FieldId id, double number);
void config_set_list(const Config *c, const char *key, Side side, FieldId id, const double *numbers, int n);
/* A field that was set: its number, or its default. */
double config_get(const Config *c, Side side, FieldId id);
/* Give the model a length, in tokens. */
void config_set_length(const Config *c, const char *key, int64_t length);
/* Set an activation by the name that a config has for it. */
void config_set_activation(const Config *c, const char *key, Side side, const char *name);

/* What keys of many families decide together. */
void config_rope(const Config *c, Side side);           /* both spellings of rotary positions */
/* The same; layers that slide turn by a theta of their own, `local` where their part of rope_parameters has none. */
void config_rope_kinds(const Config *c, Side side, const bool *sliding, double local);
/* Which layers of a decoder slide, [layers]: by layer_types, or where there are none from layer `first` on, but for every period-th (0: all). */
const bool *config_sliding(const Config *c, int first, int period);
void config_windows(const Config *c, const bool *sliding);      /* those see as many keys as sliding_window says */
/* That many; 0: it is null, or absent in a family whose row has no preset for it. */
int64_t config_window(const Config *c);

/* Rows of a decoder that is read as an encoder see what follows too. half: a window is a half of
 * what the file says, and one; else one more. */
void config_both_ways(const Config *c, const char *key, bool half);
/* Of what is read: an encoder too where sentence-transformers' modules stand behind a stack of
 * another kind. */
ModelKind config_kind(const Config *c);

/* ---- the tables of a family ------------------------------------------------------------------------------- */

typedef enum KeyUse {
    KEY_FIELD,          /* its value is that of `field`; an activation by the config's name for it */
    KEY_FLAG_NOT,       /* BOOL: the field is the opposite */
    KEY_MUST,           /* its value is one of `words`, as JSON with | between; anything else is refused */
    KEY_READ,           /* read by `more` */
    KEY_NOTED,          /* the family's code does not read it: a value not of `words` is noted */
    KEY_IGNORED         /* of no meaning to what is computed */
} KeyUse;

#define CONFIG_UNSET    (-2e300)        /* of a ConfigKey: the field stays unset */

typedef struct ConfigKey {
    const char *key;                /* NULL ends a table */
    KeyUse use;
    FieldId field;
    double preset;                  /* where the key is absent: CONFIG_REQUIRED, CONFIG_UNSET or a number */
    const char *words;              /* KEY_MUST: what it may be; KEY_FIELD of an activation: its name where the key is absent;
                                     * of another: a second name of the key, whose value may not be another */
    Side side;
} ConfigKey;

/* Rows of that table. */
#define KEY(key, field, preset)             { key, KEY_FIELD, FIELD_ID_##field, preset, NULL, SIDE_BOTH }
#define KEY_OF(side, key, field, preset)    { key, KEY_FIELD, FIELD_ID_##field, preset, NULL, SIDE_##side }
#define KEY_ALSO(side, key, also, field, preset) \
    { key "|" also, KEY_FIELD, FIELD_ID_##field, preset, also, SIDE_##side }
#define KEY_NOT(key, field, preset)         { key, KEY_FLAG_NOT, FIELD_ID_##field, preset, NULL, SIDE_BOTH }
#define ACTIVATION(key, name)               { key, KEY_FIELD, FIELD_ID_activation, 0, name, SIDE_BOTH }
#define MUST(key, words)                    { key, KEY_MUST, FIELD_COUNT, 0, words, SIDE_BOTH }
#define READ(key)                           { key, KEY_READ, FIELD_COUNT, 0, NULL, SIDE_BOTH }
#define NOTED(key, words)                   { key, KEY_NOTED, FIELD_COUNT, 0, words, SIDE_BOTH }
#define READ_OR(key, preset)                { key, KEY_READ, FIELD_COUNT, preset, NULL, SIDE_BOTH }
#define IGNORED(key)                        { key, KEY_IGNORED, FIELD_COUNT, 0, NULL, SIDE_BOTH }
#define NO_MORE_KEYS                        { NULL, KEY_IGNORED, FIELD_COUNT, 0, NULL, SIDE_BOTH }

/* A field that all models of the family share. */
typedef struct FamilySetting { FieldId field; double number; Side side; } FamilySetting;
#define SET(field, number)                  { FIELD_ID_##field, number, SIDE_BOTH }
#define SET_OF(side, field, number)         { FIELD_ID_##field, number, SIDE_##side }

/* How a tensor of ours lies in one of theirs. Linears are [out, in]. */
typedef enum Cut {
    CUT_WHOLE,
    CUT_TRANSPOSED,         /* stored [in, out] */
    CUT_FUSED,          /* q, k, v one below the other, or gate above up */
    CUT_FUSED_TRANSPOSED,   /* the same, stored [in, out] */
    CUT_FUSED_HEADS,    /* of each head q, k, v */
    CUT_PAIRS,          /* of each head rows 2i and 2i+1 turn together; ours: i and i + half */
    CUT_ROWS_2          /* of a table of positions: from row 2 on */
} Cut;

/* name: canonical, without its last word unless it ends in '!', {} for the layer. file: theirs, {} for the layer, (a|b) for either; behind it comes
 * .weight, of a gain also .gamma, or .bias, of norms also .beta. The family's prefix stands before it unless it begins with '/'; one that
 * ends in '!' is a whole name. Two rows name what a file may have besides: "shared", a matrix
 * that embeddings and output layer have in common; "head.copy", a second bias of the output
 * layer. */
typedef struct FamilyTensor {
    const char *name, *file;
    Cut cut;
    const char *added;              /* a table of theirs whose row 0 is added to every row; NULL for none */
} FamilyTensor;
#define WHOLE(name, file)                   { name, file, CUT_WHOLE, NULL }
#define CUT(name, file, cut)                { name, file, CUT_##cut, NULL }
#define ADDED(name, file, cut, added)       { name, file, CUT_##cut, added }

/* An array and its size, as a Family has them. */
#define SETTINGS_OF(array)  .settings = array, .setting_count = sizeof array / sizeof *array
#define TENSORS_OF(array)   .tensors = array, .tensor_count = sizeof array / sizeof *array

typedef struct Family {
    const struct Family *like;      /* its tables hold where the family's own say nothing; NULL for none */
    ModelKind kind;
    const char *nested;             /* the key under which its keys stand; NULL: at the top */
    bool tied;                      /* where config.json does not say so */
    bool tied_always;               /* whatever config.json says */
    bool encoder_alone;             /* an encoder-decoder: sentence models are its encoder */
    const char *prefix;             /* of tensors, as (a|b|) */
    const FamilySetting *settings;  int setting_count;
    const ConfigKey *keys;
    void (*more)(const Config *c);  /* what several keys decide together; NULL for nothing */
    const FamilyTensor *tensors;    int tensor_count;
} Family;

/* The family of a word of the field `names`; NULL for xformc's own. */
const Family *family_of_word(int word);
/* Choose it: `names`, `kind` and what all its models share. */
void family_apply(Arena *a, Draft *draft, int word);
/* The row of a canonical name; *layer receives its layer. NULL for a tensor that the family does not have. */
const FamilyTensor *family_tensor(Arena *a, const Family *f, const char *name, int64_t *layer);
/* A file of theirs (FamilyTensor) for the tensor `name` as a pattern. */
const char *family_spelling(Arena *a, const Family *f, const char *file, const char *name, int64_t layer);
/* The row of a key, of the family or of what it is like; NULL where there is none. */
const ConfigKey *family_key(const Family *f, const char *key);
/* The name that the family has for a tensor: a decoder that is read as an encoder has an encoder's. */
const char *family_own_name(Arena *a, const Family *f, const char *name);
/* A buffer that is not a weight, whatever the family. */
bool family_is_buffer(const char *name);
/* Give `t`, whose shape is set, the view of `found` that the row says. expected receives the stored shape that belongs to it; false
 * where found has another. l: of the tensor's layer, where it has one. */
bool family_view(const FamilyTensor *row, const LayerFields *l, const TensorSource *found, TensorSource *t, int64_t expected[2], int *rank);

#endif
