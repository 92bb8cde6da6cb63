/* config.h: read a JSON file key by key, with type checks and the source position of each key. */
#ifndef CONFIG_H
#define CONFIG_H

#include <stdbool.h>
#include <stdint.h>

#include "arena.h"
#include "diag.h"

/* An object of a JSON file. Errors name the file, line and key. */
typedef struct Config {
    Arena *arena;
    Diag *diag;
    const char *path, *text;        /* path and content of the file */
    size_t start;                   /* offset of the object's opening brace in text */
    const char *within;             /* prefix of keys in messages: "rope_scaling."; "" at the top */
    const struct Family *family;
    const void *object;             /* a json_t of the JSON library */
    bool foreign;                   /* a file that a spec names: messages show none of its lines */
    struct Draft *draft;            /* filled by the readers of models */
} Config;

/* "a|b" means the key a, or b if a is absent. A null counts as absent. */
bool        config_has(const Config *c, const char *key);
bool        config_is_null(const Config *c, const char *key);   /* one key: present and null */
Loc         config_place(const Config *c, const char *key);     /* of the key, else of the object */
/* The value of a key, or the preset if the key is absent; but if the preset is CONFIG_REQUIRED
 * (NULL for text), an absent key is an error, and the value is 0, false or "". The same holds for a
 * value of the wrong type. */
#define CONFIG_REQUIRED (-1e300)
double      config_number(const Config *c, const char *key, double preset);
int64_t     config_integer(const Config *c, const char *key, double preset);
bool        config_bool(const Config *c, const char *key, bool preset);
const char *config_text(const Config *c, const char *key, const char *preset);
/* The length of a list; -1 after an error if the key is absent or its value is not a list of at
 * most 2^20 elements. The next three functions return one element; errors are as above.
 * config_bool_at also accepts 0 and 1. */
int         config_count(const Config *c, const char *key);
double      config_number_at(const Config *c, const char *key, int i);
bool        config_bool_at(const Config *c, const char *key, int i);
const char *config_text_at(const Config *c, const char *key, int i);
/* The object under a key; false if it is absent, or after an error if it is not an object. */
bool        config_object(const Config *c, const char *key, Config *out);
const char **config_keys(const Config *c, int *n);                /* all keys, in file order */

/* Read c->path; the caller has set arena and diag. False after errors. If true, call config_close
 * at the end. */
bool config_open(Config *c);
void config_close(Config *c);
/* Like config_open, for a file that is a list of objects; *n receives their number. config_item
 * gives object i, which needs no config_close; false after an error. */
bool config_open_list(Config *c, int *n);
bool config_item(const Config *list, int i, Config *out);
/* A key's value as JSON on one line, shortened if it is long. */
const char *config_shown(const Config *c, const char *key);
/* The type of the value of one key: z null, b bool, i integer, r other number, t text, l list, o
 * object; 0 if the key is absent. */
char config_type(const Config *c, const char *key);
bool config_is_list(const Config *c, const char *key);
bool config_is_object(const Config *c, const char *key);
/* Element i of a list of lists of numbers. Returns how many numbers it has; -1 after an error. */
int config_list_at(const Config *c, const char *key, int i, double **numbers);
#define config_fault(c, key, ...) diag_error((c)->diag, EXIT_BAD_DATA, config_place(c, key), __VA_ARGS__)

#endif
