/* jinja_values.c: make, compare, print and index values as Python does; record faults, and the
 * strings and integers of JinjaResult.sought and bound. */
#include <stdarg.h>
#include <string.h>

#include "jinja_parts.h"

JValue jinja_fail(JRun *r, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    if (!r->result->fault)
        r->result->fault =
            arena_format(r->arena, "line %d: %s", r->line, arena_vformat(r->arena, format, list));
    va_end(list);
    return (JValue){ .kind = J_UNDEFINED };
}

static JValue undefined(JRun *r, const JValue *v)
{
    return jinja_fail(r, "'%.*s' is undefined", (int)v->bytes, v->s ? v->s : "");
}

void jinja_seek(JRun *r, const JValue *text)
{
    enum { LONGEST = 100 };
    JinjaResult *to = r->result;
    if (text->kind != J_TEXT || !text->bytes || text->bytes > LONGEST) return;
    for (int i = 0; i < to->sought_count; i++)
        if (strlen(to->sought[i]) == text->bytes && !memcmp(to->sought[i], text->s, text->bytes))
            return;
    if (to->sought_count < JINJA_SOUGHT)
        to->sought[to->sought_count++] = arena_copy(r->arena, text->s, text->bytes);
}

void jinja_bound(JRun *r, const JNode *n)
{
    JinjaResult *to = r->result;
    const bool negative = n && n->kind == JN_NEGATE;
    if (negative) n = n->a;
    if (!n || n->kind != JN_LITERAL || n->value.kind != J_INT) return;
    for (int i = 0; i < to->bound_count; i++)
        if (to->bound[i] == n->value.n) return;
    if (to->bound_count < JINJA_SOUGHT) to->bound[to->bound_count++] = n->value.n;
}

JValue jinja_text(JRun *r, const char *s, size_t bytes)
{
    return (JValue){ .kind = J_TEXT, .s = arena_copy(r->arena, s, bytes), .bytes = bytes };
}

JValue jinja_list(JRun *r)
{
    return (JValue){ .kind = J_LIST, .list = arena_alloc(r->arena, sizeof(JList)) };
}

void jinja_add(JRun *r, JList *l, JValue v)
{
    enum { MOST = 100000 };
    if (l->count == MOST) {
        jinja_fail(r, "a list has more than %d values", MOST);
        return;
    }
    if (l->count == l->room) {
        const size_t old = (size_t)l->room, room = old ? 2 * old : 4;
        l->at = arena_grow(r->arena, l->at, old * sizeof *l->at, room * sizeof *l->at);
        l->room = (int)room;
    }
    l->at[l->count++] = v;
}

const JValue *jinja_find(const JDict *d, const char *key, size_t bytes)
{
    for (int i = 0; i < d->count; i++)
        if (d->at[i].key.kind == J_TEXT && d->at[i].key.bytes == bytes &&
            memcmp(d->at[i].key.s, key, bytes) == 0)
            return &d->at[i].value;
    return NULL;
}

void jinja_put(JRun *r, JDict *d, JValue key, JValue value)
{
    for (int i = 0; i < d->count; i++)
        if (jinja_equal(r, &d->at[i].key, &key)) {
            d->at[i].value = value;
            return;
        }
    if (d->count == d->room) {
        const size_t old = (size_t)d->room, room = old ? 2 * old : 4;
        d->at = arena_grow(r->arena, d->at, old * sizeof *d->at, room * sizeof *d->at);
        d->room = (int)room;
    }
    d->at[d->count++] = (JPair){ key, value };
}

bool jinja_true(const JValue *v)
{
    switch (v->kind) {
    case J_UNDEFINED:
    case J_NONE:  return false;
    case J_BOOL:
    case J_INT:   return v->n != 0;
    case J_FLOAT: return v->x < 0 || v->x > 0;
    case J_TEXT:  return v->bytes != 0;
    case J_LIST:  return v->list->count != 0;
    case J_DICT:  return v->dict->count != 0;
    default:      return true;
    }
}

static double number(const JValue *v) { return v->kind == J_FLOAT ? v->x : (double)v->n; }

bool jinja_equal(JRun *r, const JValue *a, const JValue *b)
{
    if (jinja_is_number(a) && jinja_is_number(b)) {
        if (a->kind != J_FLOAT && b->kind != J_FLOAT) return a->n == b->n;
        return !(number(a) < number(b)) && !(number(a) > number(b));
    }
    if (a->kind != b->kind) return false;
    if (++r->depth > 100) {
        jinja_fail(r, "values are nested too deeply");
        return false;
    }
    bool same = true;
    if (a->kind == J_TEXT) same = a->bytes == b->bytes && memcmp(a->s, b->s, a->bytes) == 0;
    else if (a->kind == J_LIST) {
        same = a->list->count == b->list->count;
        for (int i = 0; i < a->list->count && same; i++)
            same = jinja_equal(r, &a->list->at[i], &b->list->at[i]);
    } else if (a->kind == J_DICT) {
        same = a->dict->count == b->dict->count;
        for (int i = 0; i < a->dict->count && same; i++) {
            const JValue *other = a->dict->at[i].key.kind == J_TEXT ?
                jinja_find(b->dict, a->dict->at[i].key.s, a->dict->at[i].key.bytes) : NULL;
            same = other && jinja_equal(r, &a->dict->at[i].value, other);
        }
    } else if (a->kind != J_NONE && a->kind != J_UNDEFINED)
        same = a->n == b->n && a->macro == b->macro;
    r->depth--;
    return same;
}

int jinja_order(JRun *r, const JValue *a, const JValue *b)
{
    if (jinja_is_number(a) && jinja_is_number(b)) {
        if (a->kind != J_FLOAT && b->kind != J_FLOAT) return (a->n > b->n) - (a->n < b->n);
        return (number(a) > number(b)) - (number(a) < number(b));
    }
    if (a->kind == J_TEXT && b->kind == J_TEXT) {
        const int order = memcmp(a->s, b->s, a->bytes < b->bytes ? a->bytes : b->bytes);
        return order ? order : (a->bytes > b->bytes) - (a->bytes < b->bytes);
    }
    jinja_fail(r, "ordering values of these types is not supported");
    return 0;
}

size_t jinja_position(const JValue *in, const char *s, size_t bytes, size_t from)
{
    for (size_t i = from; i + bytes <= in->bytes; i++)
        if (memcmp(in->s + i, s, bytes) == 0) return i;
    return SIZE_MAX;
}

bool jinja_contains(JRun *r, const JValue *in, const JValue *v)
{
    if (in->kind == J_TEXT) jinja_seek(r, v);
    bool found = false;
    if (in->kind == J_TEXT && v->kind == J_TEXT)
        return jinja_position(in, v->s, v->bytes, 0) != SIZE_MAX;
    if (in->kind == J_LIST) {
        for (int i = 0; i < in->list->count; i++) {
            jinja_seek(r, &in->list->at[i]);
            found = found || jinja_equal(r, &in->list->at[i], v);
        }
        return found;
    }
    if (in->kind == J_DICT) {
        for (int i = 0; i < in->dict->count && !found; i++)
            found = jinja_equal(r, &in->dict->at[i].key, v);
        return found;
    }
    if (in->kind == J_UNDEFINED) return found;
    if (in->kind == J_TEXT) jinja_fail(r, "only a string can be searched for in a string");
    else jinja_fail(r, "'in' needs a list, a dictionary or a string on its right");
    return found;
}

void jinja_write(JRun *r, Text *t, const JValue *v)
{
    switch (v->kind) {
    case J_UNDEFINED: break;
    case J_NONE:      text_add(t, "None"); break;
    case J_BOOL:      text_add(t, v->n ? "True" : "False"); break;
    case J_INT:       text_printf(t, "%lld", (long long)v->n); break;
    case J_TEXT:      text_add_bytes(t, v->s, v->bytes); break;
    default:          jinja_fail(r, "writing a list, a dictionary, a float or a function as text is not supported");
    }
}

const JValue *jinja_argument(const JArguments *a, int place, const char *name)
{
    for (int i = 0; i < a->count; i++)
        if (a->key[i] && name && strcmp(a->key[i], name) == 0) return &a->at[i];
    return place < a->count && !a->key[place] ? &a->at[place] : NULL;
}

/* ---- parts ----------------------------------------------------------------------------------- */

static bool is_of(const char *name, const char *const *list)
{
    for (; *list; list++)
        if (strcmp(name, *list) == 0) return true;
    return false;
}

static const char *const text_methods[] = {
    "strip",   "lstrip",       "rstrip",       "split",      "rsplit",     "startswith", "endswith",
    "replace", "upper",        "lower",        "title",      "capitalize", "find",       "rfind",
    "join",    "removeprefix", "removesuffix", "splitlines", "format",     "count",      NULL
};
/* jinja_call_method supports no method of a list, and none that changes a value. transformers does
 * not allow changes either. */
static const char *const list_methods[] = { "append", "pop", "index", "count", NULL };
static const char *const dict_methods[] = {
    "items", "keys", "values", "get", "pop", "update", NULL
};

JValue jinja_attribute(JRun *r, const JValue *v, const char *name)
{
    const char *const *methods = v->kind == J_TEXT   ? text_methods
                                 : v->kind == J_LIST ? list_methods
                                                     : dict_methods;
    if (v->kind == J_UNDEFINED) return undefined(r, v);
    if ((v->kind == J_TEXT || v->kind == J_LIST || v->kind == J_DICT) && is_of(name, methods)) {
        JValue *self = arena_alloc(r->arena, sizeof *self);
        *self = *v;
        return (JValue){ .kind = J_METHOD, .s = name, .bytes = strlen(name), .self = self };
    }
    const JValue *found = v->kind == J_DICT ? jinja_find(v->dict, name, strlen(name)) : NULL;
    return found ? *found : (JValue){ .kind = J_UNDEFINED, .s = name, .bytes = strlen(name) };
}

bool jinja_is_ascii(JRun *r, const JValue *v)
{
    for (size_t i = 0; i < v->bytes; i++)
        if ((unsigned char)v->s[i] > 127) {
            jinja_fail(r, "find() on a string that is not ASCII is not supported");
            return false;
        }
    return true;
}

/* The characters of a string, as a list of strings. */
static JValue characters(JRun *r, const JValue *v)
{
    const JValue all = jinja_list(r);
    for (size_t i = 0, n; i < v->bytes && !r->result->fault; i += n) {
        int32_t c;
        n = (size_t)utf8_next(v->s + i, v->bytes - i, &c);
        if (!n) n = 1;
        jinja_add(r, all.list, jinja_text(r, v->s + i, n));
    }
    return all;
}

JValue jinja_item(JRun *r, const JValue *v, const JValue *at)
{
    if (v->kind == J_TEXT && (at->kind == J_INT || at->kind == J_BOOL)) {
        const JValue all = characters(r, v);
        return jinja_item(r, &all, at);
    }
    const int64_t count = v->kind == J_LIST ? v->list->count : 0;
    if (v->kind == J_UNDEFINED) return undefined(r, v);
    if (v->kind == J_DICT) {
        for (int i = 0; i < v->dict->count; i++)
            if (jinja_equal(r, &v->dict->at[i].key, at)) return v->dict->at[i].value;
        if (at->kind == J_TEXT)
            return jinja_attribute(r, v, arena_copy(r->arena, at->s, at->bytes));
        return (JValue){ .kind = J_UNDEFINED, .s = "[...]", .bytes = 5 };
    }
    if (at->kind != J_INT && at->kind != J_BOOL)
        return at->kind == J_TEXT ? jinja_attribute(r, v, arena_copy(r->arena, at->s, at->bytes))
                                  : (JValue){ .kind = J_UNDEFINED, .s = "[...]", .bytes = 5 };
    const int64_t i = at->n < 0 ? at->n + count : at->n;
    if (i < 0 || i >= count) return (JValue){ .kind = J_UNDEFINED, .s = "[...]", .bytes = 5 };
    return v->list->at[i];
}

/* A bound of a slice, as in Python: a negative one counts from the end, and the result is clamped
 * to least..most; `otherwise` if the bound is not an integer. */
static int64_t bound(const JValue *v, int64_t otherwise, int64_t count, int64_t least, int64_t most)
{
    if (v->kind != J_INT) return otherwise;
    const int64_t i = v->n < 0 ? v->n + count : v->n;
    return i < least ? least : i > most ? most : i;
}

JValue jinja_slice(JRun *r, const JValue *v, const JValue *from, const JValue *to,
                   const JValue *step)
{
    const JValue list = jinja_list(r);
    if (v->kind == J_UNDEFINED) return undefined(r, v);
    if (v->kind == J_TEXT) {
        Text t = text_new(r->arena);
        const JValue all = characters(r, v), part = jinja_slice(r, &all, from, to, step);
        for (int i = 0; part.kind == J_LIST && i < part.list->count; i++)
            text_add_bytes(&t, part.list->at[i].s, part.list->at[i].bytes);
        return jinja_text(r, t.data, t.size);
    }
    if (v->kind != J_LIST) return jinja_fail(r, "only lists and strings can be sliced or reversed");
    const int64_t count = v->list->count, by = step->kind == J_INT ? step->n : 1;
    if (!by || by > count + 1 || by < -count - 1)
        return jinja_fail(r, "a slice with this step is not supported");
    const int64_t begin =
        by > 0 ? bound(from, 0, count, 0, count) : bound(from, count - 1, count, -1, count - 1);
    const int64_t end =
        by > 0 ? bound(to, count, count, 0, count) : bound(to, -1, count, -1, count - 1);
    for (int64_t i = begin; by > 0 ? i < end : i > end; i += by)
        jinja_add(r, list.list, v->list->at[i]);
    return list;
}
