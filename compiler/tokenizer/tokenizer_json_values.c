/* tokenizer_json_values.c: values of a tokenizer.json by their keys, typed. */
#include "tokenizer_json.h"

#include <string.h>

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
    if (!json_is_integer(value) || json_integer_value(value) < 0) tok_refuse(b, "\"%s\" is no whole number from 0", key);
    return json_is_integer(value) && json_integer_value(value) > 0 ? json_integer_value(value) : 0;
}

uint32_t tok_json_below(TokBuild *b, const json_t *object, const char *key, uint32_t preset, uint32_t limit)
{
    const int64_t n = tok_json_int(b, object, key, preset);
    if (n < limit) return (uint32_t)n;
    tok_refuse(b, "\"%s\" is %lld; it must be below %u", key, (long long)n, limit);
    return 0;
}

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
    if (value && !json_is_string(value)) tok_refuse(b, "\"%s\" is no text", key);
    return tok_json_string(b, value);
}

/* Ids without a piece take memory as well: a vocabulary may have some, and not many more than pieces. */
static bool is_far(TokBuild *b, const char *text, json_int_t id, size_t pieces)
{
    const json_int_t most = 16 * (json_int_t)pieces + 65536;
    if (id < most) return false;
    tok_refuse(b, "the piece \"%.60s\" has the id %lld; of a vocabulary of %zu pieces ids are below %lld", text, (long long)id, pieces,
               (long long)most);
    return true;
}

static bool is_taken(TokBuild *b, const char *text, json_int_t id)
{
    if (id < 0 || id >= b->pieces.count || b->pieces.at[id].kind & TOK_ABSENT) return false;
    tok_refuse(b, "the pieces \"%.60s\" and \"%.60s\" have one id, %lld", b->pieces.at[id].text.s, text, (long long)id);
    return true;
}

void tok_json_ids(TokBuild *b, json_t *root, bool known)
{
    const char *key;
    json_t *value;
    if (!json_is_object(root)) tok_refuse(b, "not a JSON object of pieces");
    json_object_foreach(root, key, value) {
        const json_int_t id = json_integer_value(value);
        if (!json_is_integer(value)) tok_refuse(b, "the id of \"%.60s\" is no whole number", key);
        else if (is_far(b, key, id, json_object_size(root)) || is_taken(b, key, id)) break;
        else if (!tok_piece(b, id, (TokString){ arena_text(b->arena, key), strlen(key) }, known)) break;
    }
}
