/* family.h: a family of models: tables that map config.json to fields, and canonical tensor names
 * to those of its files. Each family_*.c fills one Family or several; huggingface*.c,
 * families.c and bind*.c read them. */
#ifndef FAMILY_H
#define FAMILY_H

#include "config.h"
#include "fields.h"

/* ---- config.json ---------------------------------------------------------------------------------------- */

/* Set a field from a key; a value that the field does not accept is an error at the key. key NULL:
 * the value comes from no key. */
void config_set(const Config *c, const char *key, Side side, FieldId id, double number);
void config_set_list(const Config *c, const char *key, Side side, FieldId id, const double *numbers, int n);
/* The number that a field was set to, the first one of a list, or the field's default. */
double config_get(const Config *c, Side side, FieldId id);
/* Set the trained length, in tokens, and with it the model's length. */
void config_set_length(const Config *c, const char *key, int64_t length);
/* Set an activation by its name in config.json. */
void config_set_activation(const Config *c, const char *key, Side side, const char *name);

/* Settings that several keys decide, for many families. */
void config_rope(const Config *c, Side side);           /* RoPE, in both spellings */
/* Like config_rope, but sliding-window layers have no scaling and a theta of their own: that of
 * their part of rope_parameters, else `local`. */
void config_rope_kinds(const Config *c, Side side, const bool *sliding, double local);
/* Which decoder layers have a sliding window, [layers]: by layer_types; without that key, layers
 * from `first` on except every period-th (0: no exception). */
const bool *config_sliding(const Config *c, int first, int period);
/* Give the layers with `sliding` the window of the key sliding_window. */
void config_windows(const Config *c, const bool *sliding);
/* The value of sliding_window; 0 if it is null, or absent in a family whose row has no preset. */
int64_t config_window(const Config *c);

/* Make attention bidirectional in a decoder that is read as an encoder. A window w of the file
 * becomes w / 2 + 1 with `half`, else w + 1. */
void config_both_ways(const Config *c, const char *key, bool half);
/* The kind of the model. A decoder or an encoder-decoder that sentence-transformers modules follow
 * is an encoder. */
ModelKind config_kind(const Config *c);

/* ---- the tables of a family ------------------------------------------------------------------------------- */

typedef enum KeyUse {
    KEY_FIELD,          /* sets `field`; an activation by its name in config.json */
    KEY_FLAG_NOT,       /* BOOL: sets the field to the opposite */
    KEY_MUST,           /* must be one of `words`, JSON values separated by |; else an error */
    KEY_READ,           /* read by `more` */
    KEY_NOTED,          /* ignored by transformers' code for the family; remark unless in `words` */
    KEY_IGNORED         /* has no effect on the computation */
} KeyUse;

#define CONFIG_UNSET    (-2e300)        /* a preset: leave the field unset */

typedef struct ConfigKey {
    const char *key;                /* NULL ends a table */
    KeyUse use;
    FieldId field;
    double preset;                  /* if the key is absent: CONFIG_REQUIRED, CONFIG_UNSET or a
                                     * number */
    const char *words;              /* KEY_MUST, KEY_NOTED: the allowed values; KEY_FIELD
                                     * of an activation: the name if the key is absent; of another
                                     * field: a second name of the key, whose value must be the
                                     * same */
    Side side;
} ConfigKey;

/* Rows of tables of ConfigKey. */
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

/* A field that has the same value in all models of the family. */
typedef struct FamilySetting { FieldId field; double number; Side side; } FamilySetting;
#define SET(field, number)                  { FIELD_ID_##field, number, SIDE_BOTH }
#define SET_OF(side, field, number)         { FIELD_ID_##field, number, SIDE_##side }

/* How a canonical tensor is stored in a tensor of the file. Linears are [out, in]. */
typedef enum Cut {
    CUT_WHOLE,
    CUT_TRANSPOSED,         /* stored [in, out] */
    CUT_FUSED,          /* rows of q, then k, then v; or of gate, then up */
    CUT_FUSED_TRANSPOSED,   /* like CUT_FUSED, stored [in, out] */
    CUT_FUSED_HEADS,    /* for each head its rows of q, k, v */
    CUT_PAIRS,          /* RoPE rotates rows 2i and 2i+1 of a head; canonical: i and i + half */
    CUT_ROWS_2          /* a position table, starting at row 2 */
} Cut;

/* name: the canonical name without its last word; if it ends in '!', the whole name. file: the name
 * in the file, with the family's prefix before it and an ending after it: .weight (for a gain also
 * .gamma) or .bias (also .beta). If it begins with '/' there is no prefix; if it ends in '!' there
 * is no ending. {} is the layer; (a|b) means a or b. Two rows name optional tensors: "shared", one
 * matrix for embeddings and output layer; "head.copy", a second bias of the output layer. */
typedef struct FamilyTensor {
    const char *name, *file;
    Cut cut;
    const char *added;              /* a table whose row 0 is added to every row; or NULL */
} FamilyTensor;
#define WHOLE(name, file)                   { name, file, CUT_WHOLE, NULL }
#define CUT(name, file, cut)                { name, file, CUT_##cut, NULL }
#define ADDED(name, file, cut, added)       { name, file, CUT_##cut, added }

/* An array and its size, as members of a Family. */
#define SETTINGS_OF(array)  .settings = array, .setting_count = sizeof array / sizeof *array
#define TENSORS_OF(array)   .tensors = array, .tensor_count = sizeof array / sizeof *array

typedef struct Family {
    const struct Family *like;      /* family whose tables apply where these have no row */
    ModelKind kind;
    const char *nested;             /* the key of the object that has its keys; NULL: at the top */
    bool tied;                      /* embeddings are tied unless config.json says otherwise */
    bool tied_always;               /* embeddings are tied regardless of config.json */
    bool encoder_alone;             /* an encoder-decoder that may be a sentence model, which uses
                                     * only the encoder */
    const char *prefix;             /* of tensor names, a pattern (a|b|); NULL: as in `like` */
    const FamilySetting *settings;  int setting_count;
    const ConfigKey *keys;
    void (*more)(const Config *c);  /* sets what several keys decide together; NULL: as in `like` */
    const FamilyTensor *tensors;    int tensor_count;
} Family;

/* The family of a word of the field `names`; NULL for xformc's own names. */
const Family *family_of_word(int word);
/* Choose a family: set `names`, `kind` and the settings that all its models share. */
void family_apply(Arena *a, Draft *draft, int word);
/* The row of a canonical name; *layer receives its layer. NULL if the family has no such tensor. */
const FamilyTensor *family_tensor(Arena *a, const Family *f, const char *name, int64_t *layer);
/* The pattern of names in the file for the tensor `name`, from the `file` of a FamilyTensor. */
const char *family_spelling(Arena *a, const Family *f, const char *file, const char *name, int64_t layer);
/* The row of a key, in the family or in those that it is `like`; NULL if there is none. */
const ConfigKey *family_key(const Family *f, const char *key);
/* The canonical name to look up in the family's tables: if a decoder is read as an encoder,
 * encoder.* is looked up as decoder.*. */
const char *family_own_name(Arena *a, const Family *f, const char *name);
/* True for names of buffers and of other tensors that some models leave unused, in any family. */
bool family_is_buffer(const char *name);
/* Make `t`, whose shape is set, the view of `found` that the row describes. `expected` receives the
 * shape that the stored tensor should have; false if `found` has a different one. l: the tensor's
 * layer, if it has one. */
bool family_view(const FamilyTensor *row, const LayerFields *l, const TensorSource *found, TensorSource *t, int64_t expected[2], int *rank);

#endif
