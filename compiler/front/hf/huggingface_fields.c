/* huggingface_fields.c: set fields of a Draft from keys of config.json, and find a family's row for
 * a key. */
#include "huggingface.h"

#include <string.h>

#include "integer.h"
#include "text.h"

void config_set(const Config *c, const char *key, Side side, FieldId id, double number)
{
    config_set_list(c, key, side, id, &number, 1);
}

void config_set_list(const Config *c, const char *key, Side side, FieldId id, const double *numbers, int n)
{
    const Loc at = config_place(c, key);
    const char *what = key ? arena_format(c->arena, "\"%s%.*s\"", c->within, (int)strcspn(key, "|"), key) : fields[id].name;
    FieldValue *values = arena_array(c->arena, (size_t)n, sizeof *values);
    for (int i = 0; i < n; i++) {
        values[i] = (FieldValue){ .integer = integer_of(numbers[i]), .real = numbers[i] };
        if (!field_check(c->diag, at, &fields[id], what, arena_format(c->arena, "%.9g", numbers[i]), &values[i])) return;
    }
    draft_set(c->arena, c->draft, side, id, at, values, n);
}

double config_get(const Config *c, Side side, FieldId id)
{
    const Choice *choice = draft_choice(c->draft, side, id);
    const FieldValue v = choice ? choice->values[0] : field_preset(&fields[id]);
    return fields[id].type == TYPE_REAL ? v.real : (double)v.integer;
}

ModelKind config_kind(const Config *c)
{
    return (ModelKind)config_get(c, SIDE_BOTH, FIELD_ID_kind);
}

void config_set_length(const Config *c, const char *key, int64_t length)
{
    const int errors = diag_errors(c->diag);
    config_set(c, key, SIDE_BOTH, FIELD_ID_max_len, (double)length);
    if (diag_errors(c->diag) == errors) draft_set_trained(c->arena, c->draft, config_place(c, key), length);
}

void config_set_activation(const Config *c, const char *key, Side side, const char *name)
{
    static const struct { const char *theirs, *ours; } names[] = {
        { "gelu", "gelu" }, { "gelu_python", "gelu" }, { "gelu_new", "gelu_tanh" }, { "gelu_pytorch_tanh", "gelu_tanh" },
        { "gelu_fast", "gelu_tanh" }, { "gelu_accurate", "gelu_tanh" }, { "gelu_python_tanh", "gelu_tanh" }, { "quick_gelu", "quick_gelu" },
        { "silu", "silu" }, { "swish", "silu" }, { "relu", "relu" }, { "relu2", "relu2" }, { "tanh", "tanh" }, { "sigmoid", "sigmoid" },
        { "linear", "none" },
    };
    enum { NAMES = sizeof names / sizeof *names };
    const char *theirs[NAMES];
    for (int i = 0; i < NAMES; i++) {
        theirs[i] = names[i].theirs;
        if (strcmp(names[i].theirs, name)) continue;
        config_set(c, key, side, FIELD_ID_activation, field_word(&fields[FIELD_ID_activation], names[i].ours));
        return;
    }
    if (!*name && diag_errors(c->diag)) return;
    config_fault(c, key, "the activation \"%s\" is not supported", name);
    diag_note(c->diag, config_place(c, key), "supported: %s", text_list(c->arena, theirs, NAMES));
}

bool config_is_one_of(const char *shown, const char *words)
{
    const size_t n = strlen(shown);
    for (const char *w = words; *w;) {
        const size_t m = strcspn(w, "|");
        if (m == n && !memcmp(w, shown, n)) return true;
        w += m + (w[m] == '|');
    }
    return false;
}

const ConfigKey *family_key(const Family *f, const char *key)
{
    for (; f; f = f->like)
        for (const ConfigKey *k = f->keys; k && k->key; k++) {
            char first[64];
            snprintf(first, sizeof first, "%.*s", (int)strcspn(key, "|"), key);
            if (config_is_one_of(first, k->key)) return k;
        }
    return NULL;
}
