/* tokenizer_json_values.c: read typed values of JSON objects by key, check the members of objects,
 * and read the flags of added tokens and a vocabulary of pieces and ids. */
#include "tokenizer_json.h"

#include <string.h>

#include "text.h"

json_t *tok_json_load(TokBuild *b, const char *data, size_t size) { return json_read(b->arena, b->diag, b->file, data, size); }

TokString tok_json_string(TokBuild *b, const json_t *string)
{
    if (!json_is_string(string)) return (TokString){ 0 };
    return (TokString){ arena_copy(b->arena, json_string_value(string), json_string_length(string)), json_string_length(string) };
}

const json_t *tok_json_member(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    return value && !json_is_null(value) ? value : NULL;
}

bool tok_json_bool(TokBuild *b, const json_t *object, const char *key, bool preset)
{
    const json_t *value = tok_json_member(object, key);
    if (!value) return preset;
    if (!json_is_boolean(value)) tok_refuse(b, "\"%s\" is neither true nor false", key);
    return json_is_true(value);
}

int64_t tok_json_int(TokBuild *b, const json_t *object, const char *key, int64_t preset)
{
    const json_t *value = tok_json_member(object, key);
    if (!value) return preset;
    if (!json_is_integer(value) || json_integer_value(value) < 0) tok_refuse(b, "\"%s\" must be a non-negative whole number", key);
    return json_is_integer(value) && json_integer_value(value) > 0 ? json_integer_value(value) : 0;
}

uint32_t tok_json_below(TokBuild *b, const json_t *object, const char *key, uint32_t preset, uint32_t limit)
{
    const int64_t n = tok_json_int(b, object, key, preset);
    if (n < limit) return (uint32_t)n;
    tok_refuse(b, "\"%s\" is %lld; it must be below %u", key, (long long)n, limit);
    return 0;
}

/* ---- shapes ---------------------------------------------------------------------------------- */

/* One entry of the list that tok_json_check takes. */
typedef struct Member { const char *key, *types, *words; size_t key_n, types_n, words_n; } Member;

static const char *take_member(const char *s, Member *m)
{
    *m = (Member){ .key = s, .key_n = strcspn(s, ":") };
    m->types = s + m->key_n + 1;
    m->types_n = strcspn(m->types, ": ");
    s = m->types + m->types_n;
    if (*s == ':') m->words = ++s, m->words_n = strcspn(s, " "), s += m->words_n;
    return s + strspn(s, " ");
}

static bool may(const Member *m, char type) { return memchr(m->types, type, m->types_n); }

static bool has_type(const json_t *value, const Member *m)
{
    switch (json_typeof(value)) {
    case JSON_NULL:    return may(m, 'z');
    case JSON_INTEGER: return may(m, 'f') || (may(m, 'u') && json_integer_value(value) >= 0);
    case JSON_REAL:    return may(m, 'f');
    case JSON_STRING:  return may(m, 't');
    case JSON_ARRAY:   return may(m, 'l');
    case JSON_OBJECT:  return may(m, 'o');
    default:           return may(m, 'b');
    }
}

static const char *type_words(TokBuild *b, const Member *m)
{
    static const struct { char type; const char *words; } names[] = {
        { 'b', "true or false" }, { 't', "a string" }, { 'u', "a non-negative whole number" },
        { 'f', "a number" },      { 'l', "a list" }, { 'o', "an object" },
        { 'z', "null" },
    };
    Text t = text_new(b->arena);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (may(m, names[i].type)) text_printf(&t, "%s%s", t.size ? " or " : "", names[i].words);
    return t.data;
}

bool tok_json_is_word(const char *words, size_t n, const char *word)
{
    const size_t length = strlen(word);
    for (size_t at = 0; words && at < n; at++) {
        const char *end = memchr(words + at, '|', n - at);
        const size_t m = end ? (size_t)(end - words) - at : n - at;
        if (m == length && memcmp(words + at, word, m) == 0) return true;
        at += m;
    }
    return false;
}

static void check_member(TokBuild *b, const json_t *object, const char *what, const Member *m)
{
    const char *key = arena_copy(b->arena, m->key, m->key_n);
    const json_t *value = json_object_get(object, key);
    if (!value && !may(m, '-')) tok_refuse(b, "%s has no \"%s\"", what, key);
    else if (value && !has_type(value, m))
        tok_refuse(b, "\"%s\" of %s must be %s", key, what, type_words(b, m));
    else if (m->words && json_is_string(value) &&
             !tok_json_is_word(m->words, m->words_n, json_string_value(value)))
        tok_refuse(b, "the %s \"%.40s\" of %s is not supported", key, json_string_value(value),
                   what);
}

bool tok_json_check(TokBuild *b, const json_t *object, const char *what, const char *members)
{
    Member m;
    if (!json_is_object(object)) tok_refuse(b, "%s is not an object", what);
    for (const char *s = members; *s && !tok_failed(b);) {
        s = take_member(s, &m);
        check_member(b, object, what, &m);
    }
    return !tok_failed(b);
}

/* ---- added tokens ---------------------------------------------------------------------------- */

bool tok_json_flag(TokBuild *b, const json_t *token, const char *key, bool preset)
{
    if (json_is_null(json_object_get(token, key)))
        tok_refuse(b, "\"%s\" of a token is neither true nor false", key);
    return tok_json_bool(b, token, key, preset);
}

uint32_t tok_json_flags(TokBuild *b, const json_t *token)
{
    return (tok_json_flag(b, token, "single_word", false) ? TOK_ADDED_SINGLE_WORD : 0u) |
           (tok_json_flag(b, token, "lstrip", false) ? TOK_ADDED_LSTRIP : 0u) |
           (tok_json_flag(b, token, "rstrip", false) ? TOK_ADDED_RSTRIP : 0u);
}

TokString tok_json_text(TokBuild *b, const json_t *object, const char *key)
{
    const json_t *value = tok_json_member(object, key);
    if (value && !json_is_string(value)) tok_refuse(b, "\"%s\" is not a string", key);
    return tok_json_string(b, value);
}

/* Report an id far above the number of pieces: gaps are allowed, but take memory. */
static bool is_far(TokBuild *b, const char *text, json_int_t id, size_t pieces)
{
    const json_int_t most = 16 * (json_int_t)pieces + 65536;
    if (id < most) return false;
    tok_refuse(b, "the piece \"%.60s\" has the id %lld; with %zu piece%s, ids must be below %lld", text, (long long)id, pieces,
               pieces == 1 ? "" : "s", (long long)most);
    return true;
}

static bool is_taken(TokBuild *b, const char *text, json_int_t id)
{
    if (id < 0 || id >= b->pieces.count || b->pieces.at[id].kind & TOK_ABSENT) return false;
    tok_refuse(b, "the pieces \"%.60s\" and \"%.60s\" have the same id, %lld", b->pieces.at[id].text.s, text, (long long)id);
    return true;
}

void tok_json_ids(TokBuild *b, json_t *root, bool known)
{
    const char *key;
    json_t *value;
    if (!json_is_object(root)) tok_refuse(b, "the vocabulary is not a JSON object of pieces and ids");
    json_object_foreach(root, key, value) {
        const json_int_t id = json_integer_value(value);
        if (!json_is_integer(value)) tok_refuse(b, "the id of \"%.60s\" is not a whole number from 0 to %d", key, TOK_IDS_MOST - 1);
        else if (is_far(b, key, id, json_object_size(root)) || is_taken(b, key, id)) break;
        else if (!tok_piece(b, id, (TokString){ arena_text(b->arena, key), strlen(key) }, known)) break;
    }
}
