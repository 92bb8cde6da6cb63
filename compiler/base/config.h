/* config.h: a JSON file, key by key and typed, with the place of each key. */
#ifndef CONFIG_H
#define CONFIG_H

#include <stdbool.h>
#include <stdint.h>

#include "arena.h"
#include "diag.h"

/* An object of a JSON file. Errors name the file and the key, with their line. */
typedef struct Config {
    Arena *arena;
    Diag *diag;
    const char *path, *text;        /* of the file */
    size_t start;                   /* where the object's brace stands in text */
    const char *within;             /* "rope_scaling.", or "" for the whole file: before a key in messages */
    const struct Family *family;
    const void *object;             /* of the JSON library */
    bool foreign;                   /* a file that a spec names: nothing of it is shown */
    struct Draft *draft;            /* whoever reads it as a model fills this */
} Config;

/* Keys are looked up as they are written: "a|b" is the key a, or, where there is none, b; a null is as absent. */
bool        config_has(const Config *c, const char *key);
bool        config_is_null(const Config *c, const char *key);   /* one key that is there and null */
Loc         config_place(const Config *c, const char *key);     /* of the key, or of the file */
/* The value. Absent: the preset; where that is CONFIG_REQUIRED an error, and 0. Of another type: an error, and 0. */
#define CONFIG_REQUIRED (-1e300)
double      config_number(const Config *c, const char *key, double preset);
int64_t     config_integer(const Config *c, const char *key, double preset);
bool        config_bool(const Config *c, const char *key, bool preset);
const char *config_text(const Config *c, const char *key, const char *preset);
/* Of a list: how many elements there are, -1 after an error for what is not a list; elements as above, errors likewise. */
int         config_count(const Config *c, const char *key);
double      config_number_at(const Config *c, const char *key, int i);
bool        config_bool_at(const Config *c, const char *key, int i);
const char *config_text_at(const Config *c, const char *key, int i);
/* The object under a key; false where it is absent, or after an error where it is none. */
bool        config_object(const Config *c, const char *key, Config *out);
const char **config_keys(const Config *c, int *n);                /* of the object, in the order of the file */

/* Read c->path, whose arena and diag are set; false after errors. Ends with config_close. */
bool config_open(Config *c);
void config_close(Config *c);
/* The same for a file that is a list of so many objects; the i-th, which needs no config_close, false after an error. */
bool config_open_list(Config *c, int *n);
bool config_item(const Config *list, int i, Config *out);
/* A key's value as JSON, in one line. */
const char *config_shown(const Config *c, const char *key);
/* What a key's value is: z null, b true or false, i a whole number, r another number, t a text,
 * l a list, o an object; 0 where it is absent. */
char config_type(const Config *c, const char *key);
bool config_is_list(const Config *c, const char *key);
bool config_is_object(const Config *c, const char *key);
/* The i-th element, a list of numbers: how many, -1 after an error for what is none. */
int config_list_at(const Config *c, const char *key, int i, double **numbers);
#define config_fault(c, key, ...) diag_error((c)->diag, EXIT_BAD_DATA, config_place(c, key), __VA_ARGS__)

#endif
