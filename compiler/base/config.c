/* config.c: read a JSON file key by key, with type checks. A value of the wrong type is an error at
 * its key; a missing key that is required is one at the object's brace. The caller gets 0,
 * false, "" or -1 and continues, so that all errors are reported. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "file.h"
#include "integer.h"
#include "json_read.h"

enum { MAX_CONFIG_BYTES = 16 << 20, LONGEST_KEY = 128 };

/* ---- places --------------------------------------------------------------------------------------------- */

/* The closing quote of the string that opens at `i`, or the NUL at the end of `s`. */
static size_t string_end(const char *s, size_t i)
{
    for (i++; s[i] && s[i] != '"'; i++)
        if (s[i] == '\\' && s[i + 1]) i++;
    return i;
}

static size_t skip_space(const char *s, size_t i) { return i + strspn(s + i, " \t\r\n"); }

/* The offset of a key in the object whose brace is at `start`; 0 if it is absent. */
static size_t find_key(const char *s, size_t start, const char *key)
{
    const size_t n = strlen(key);
    int depth = 0;
    for (size_t i = start; s[i]; i++) {
        if (s[i] == '{' || s[i] == '[') depth++;
        if ((s[i] == '}' || s[i] == ']') && --depth == 0) break;
        if (s[i] != '"') continue;
        const size_t end = string_end(s, i);
        if (!s[end]) break;
        if (depth == 1 && end - i - 1 == n && !memcmp(s + i + 1, key, n) && s[skip_space(s, end + 1)] == ':') return i;
        i = end;
    }
    return 0;
}

static Loc place_of(const Config *c, size_t at)
{
    Loc l = { c->path, 1, 1 };
    for (size_t i = 0; i < at; i++) {
        l.column++;
        if (c->text[i] == '\n') l = (Loc){ c->path, l.line + 1, 1 };
    }
    return l;
}

/* ---- keys ----------------------------------------------------------------------------------------------- */

/* The value of the first key of a|b that is present and not null, else NULL; `name` receives that
 * key, or the first one if there is none. */
static const json_t *look_up(const Config *c, const char *keys, char name[LONGEST_KEY])
{
    char first[LONGEST_KEY] = "";
    for (const char *k = keys;; k++) {
        const size_t n = strcspn(k, "|");
        snprintf(name, LONGEST_KEY, "%.*s", (int)n, k);
        if (!*first) snprintf(first, sizeof first, "%s", name);
        const json_t *v = json_object_get(c->object, name);
        if (v && !json_is_null(v)) return v;
        k += n;
        if (!*k) break;
    }
    snprintf(name, LONGEST_KEY, "%s", first);
    return NULL;
}

Loc config_place(const Config *c, const char *key)
{
    char name[LONGEST_KEY];
    if (key) look_up(c, key, name);
    const size_t at = key ? find_key(c->text, c->start, name) : 0;
    return at ? place_of(c, at) : c->start ? place_of(c, c->start) : (Loc){ c->path, 0, 0 };
}

bool config_is_null(const Config *c, const char *key)
{
    return json_is_null(json_object_get(c->object, key));
}

bool config_has(const Config *c, const char *key)
{
    char name[LONGEST_KEY];
    return look_up(c, key, name) != NULL;
}

/* A value as JSON on one line, cut if it is long. */
static const char *shown(const Config *c, const json_t *v)
{
    enum { SHOWN = 60 };
    char *text = json_dumps(v, JSON_ENCODE_ANY | JSON_COMPACT | JSON_REAL_PRECISION(15));
    const char *kept = text ? arena_format(c->arena, strlen(text) > SHOWN ? "%.*s…" : "%.*s", SHOWN, text) : "?";
    free(text);
    return kept;
}

static void wrong_type(const Config *c, const char *key, const char *name, const json_t *v, const char *expected)
{
    config_fault(c, key, "\"%s%s\" must be %s, found %s", c->within, name, expected, shown(c, v));
}

static void missing(const Config *c, const char *name)
{
    diag_error(c->diag, EXIT_BAD_DATA, config_place(c, NULL), "the key \"%s%s\" is missing", c->within, name);
}

/* The key's value; NULL if the key is absent, with an error if it is needed. */
static const json_t *value(const Config *c, const char *key, bool needed, char name[LONGEST_KEY])
{
    const json_t *v = look_up(c, key, name);
    if (!v && needed) missing(c, name);
    return v;
}

double config_number(const Config *c, const char *key, double preset)
{
    char name[LONGEST_KEY];
    const bool needed = preset == CONFIG_REQUIRED;
    const json_t *v = value(c, key, needed, name);
    if (!v) return needed ? 0 : preset;
    if (json_is_number(v)) return json_number_value(v);
    wrong_type(c, key, name, v, "a number");
    return 0;
}

int64_t config_integer(const Config *c, const char *key, double preset)
{
    char name[LONGEST_KEY];
    const bool needed = preset == CONFIG_REQUIRED;
    const json_t *v = value(c, key, needed, name);
    if (!v) return needed ? 0 : integer_of(preset);
    if (json_is_integer(v)) return json_integer_value(v);
    wrong_type(c, key, name, v, "a whole number");
    return 0;
}

bool config_bool(const Config *c, const char *key, bool preset)
{
    char name[LONGEST_KEY];
    const json_t *v = value(c, key, false, name);
    if (!v) return preset;
    if (json_is_boolean(v)) return json_is_true(v);
    wrong_type(c, key, name, v, "true or false");
    return false;
}

/* True for a string that a C string can hold: one without U+0000. */
static bool is_text(const json_t *v) { return json_is_string(v) && strlen(json_string_value(v)) == json_string_length(v); }

static const char *text_wanted(const json_t *v) { return json_is_string(v) ? "a string without U+0000" : "a string"; }

const char *config_text(const Config *c, const char *key, const char *preset)
{
    char name[LONGEST_KEY];
    const json_t *v = value(c, key, !preset, name);
    if (!v) return preset ? preset : "";
    if (is_text(v)) return arena_text(c->arena, json_string_value(v));
    wrong_type(c, key, name, v, text_wanted(v));
    return "";
}

int config_count(const Config *c, const char *key)
{
    char name[LONGEST_KEY];
    const json_t *v = value(c, key, true, name);
    if (!v) return -1;
    if (json_is_array(v) && json_array_size(v) <= 1 << 20) return (int)json_array_size(v);
    wrong_type(c, key, name, v, json_is_array(v) ? "a list of at most 1048576 elements" : "a list");
    return -1;
}

static const json_t *element(const Config *c, const char *key, int i, char name[LONGEST_KEY])
{
    return json_array_get(look_up(c, key, name), (size_t)i);
}

static void wrong_element(const Config *c, const char *key, const char *name, int i, const json_t *v, const char *expected)
{
    wrong_type(c, key, arena_format(c->arena, "%s[%d]", name, i), v, expected);
}

double config_number_at(const Config *c, const char *key, int i)
{
    char name[LONGEST_KEY];
    const json_t *v = element(c, key, i, name);
    if (json_is_number(v)) return json_number_value(v);
    wrong_element(c, key, name, i, v, "a number");
    return 0;
}

bool config_bool_at(const Config *c, const char *key, int i)
{
    char name[LONGEST_KEY];
    const json_t *v = element(c, key, i, name);
    if (json_is_boolean(v)) return json_is_true(v);
    if (json_is_integer(v) && (json_integer_value(v) == 0 || json_integer_value(v) == 1)) return json_integer_value(v) != 0;
    wrong_element(c, key, name, i, v, "true or false");
    return false;
}

const char *config_text_at(const Config *c, const char *key, int i)
{
    char name[LONGEST_KEY];
    const json_t *v = element(c, key, i, name);
    if (is_text(v)) return arena_text(c->arena, json_string_value(v));
    wrong_element(c, key, name, i, v, text_wanted(v));
    return "";
}

int config_list_at(const Config *c, const char *key, int i, double **numbers)
{
    char name[LONGEST_KEY];
    const json_t *list = element(c, key, i, name);
    const size_t n = json_array_size(list);
    bool good = json_is_array(list);
    *numbers = arena_array(c->arena, n + 1, sizeof **numbers);
    for (size_t k = 0; k < n && good; k++) {
        const json_t *v = json_array_get(list, k);
        good = json_is_number(v);
        (*numbers)[k] = json_number_value(v);
    }
    if (good) return (int)n;
    wrong_element(c, key, name, i, list, "a list of numbers");
    return -1;
}

bool config_object(const Config *c, const char *key, Config *out)
{
    char name[LONGEST_KEY];
    const json_t *v = value(c, key, false, name);
    if (!v) return false;
    *out = *c;
    out->object = v;
    out->within = arena_format(c->arena, "%s%s.", c->within, name);
    const size_t at = find_key(c->text, c->start, name);
    out->start = at ? at + strcspn(c->text + at, "{") : 0;
    if (json_is_object(v)) return true;
    wrong_type(c, key, name, v, "an object");
    return false;
}

const char **config_keys(const Config *c, int *n)
{
    const char **keys = arena_array(c->arena, json_object_size(c->object) + 1, sizeof *keys), *key;
    json_t *v;
    *n = 0;
    json_object_foreach((json_t *)(uintptr_t)c->object, key, v) keys[(*n)++] = arena_text(c->arena, key);
    return keys;
}

const char *config_shown(const Config *c, const char *key)
{
    char name[LONGEST_KEY];
    return shown(c, json_object_get(c->object, (look_up(c, key, name), name)));
}

char config_type(const Config *c, const char *key)
{
    const json_t *v = json_object_get(c->object, key);
    if (!v) return 0;
    switch (json_typeof(v)) {
    case JSON_NULL:    return 'z';
    case JSON_INTEGER: return 'i';
    case JSON_REAL:    return 'r';
    case JSON_STRING:  return 't';
    case JSON_ARRAY:   return 'l';
    case JSON_OBJECT:  return 'o';
    default:           return 'b';
    }
}

bool config_is_list(const Config *c, const char *key)
{
    char name[LONGEST_KEY];
    return json_is_array(look_up(c, key, name));
}

bool config_is_object(const Config *c, const char *key)
{
    char name[LONGEST_KEY];
    return json_is_object(look_up(c, key, name));
}

/* ---- the file ------------------------------------------------------------------------------------------- */

static void tell_json(const Config *c, const json_error_t *error)
{
    const Loc at = { c->path, error->line > 0 ? error->line : 0, error->column > 0 ? error->column : 0 };
    const char *said = c->foreign ? json_fault(c->arena, error->text) : error->text;
    diag_error(c->diag, EXIT_BAD_DATA, at, "not JSON: %s", said);
}

/* Read the file, whose root must be a list if `list`, else an object. False after an error, with
 * the file closed. */
static bool open_root(Config *c, bool list)
{
    size_t size;
    json_error_t error;
    char *text = file_read(c->arena, c->diag, (Loc){ 0 }, c->path, MAX_CONFIG_BYTES, &size);
    if (!text) return false;
    json_t *root = json_parse(c->arena, text, size, JSON_REJECT_DUPLICATES, &error);
    c->text = text;
    c->within = "";
    c->object = root;
    if (c->foreign) diag_conceal(c->diag, c->path);
    else if (strlen(text) == size) diag_source(c->diag, c->path, text);
    if (!root) tell_json(c, &error);
    else if (list ? !json_is_array(root) : !json_is_object(root))
        diag_error(c->diag, EXIT_BAD_DATA, (Loc){ c->path, 0, 0 }, list ? "not a JSON list" : "not a JSON object");
    else {
        c->start = skip_space(text, 0);
        return true;
    }
    config_close(c);
    return false;
}

bool config_open(Config *c) { return open_root(c, false); }

bool config_open_list(Config *c, int *n)
{
    const bool good = open_root(c, true);
    *n = good ? (int)json_array_size(c->object) : 0;
    return good;
}

/* The offset of the brace of object i in the list that opens at `start`; 0 if there is none. */
static size_t find_item(const char *s, size_t start, int i)
{
    int depth = 0;
    for (size_t at = start; s[at]; at++) {
        if (s[at] == '"') at = string_end(s, at);
        if (!s[at]) break;
        if (s[at] == '{' && depth == 1 && i-- == 0) return at;
        if (s[at] == '{' || s[at] == '[') depth++;
        if (s[at] == '}' || s[at] == ']') depth--;
    }
    return 0;
}

bool config_item(const Config *list, int i, Config *out)
{
    *out = *list;
    out->object = json_array_get(list->object, (size_t)i);
    out->start = find_item(list->text, list->start, i);
    if (json_is_object((const json_t *)out->object)) return true;
    diag_error(list->diag, EXIT_BAD_DATA, (Loc){ list->path, 0, 0 }, "element %d is not a JSON object", i);
    return false;
}

void config_close(Config *c)
{
    json_decref((json_t *)(uintptr_t)c->object);
    c->object = NULL;
}
