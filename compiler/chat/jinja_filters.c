/* jinja_filters.c: methods of strings and dictionaries, filters, and tests. */
#include <string.h>

#include "jinja_parts.h"

/* ---- texts ----------------------------------------------------------------------------------- */

/* True if the character c[n] is one of those in set[bytes]; both are UTF-8. */
static bool is_one_of(const char *set, size_t bytes, const char *c, size_t n)
{
    for (size_t i = 0; i + n <= bytes; i++)
        if (memcmp(set + i, c, n) == 0) return true;
    return false;
}

/* The size of the character with which s[n] begins, or with which it ends, in bytes; 1 if it is not
 * UTF-8. */
static size_t first_bytes(const char *s, size_t n)
{
    int32_t c;
    const int bytes = utf8_next(s, n, &c);
    return bytes ? (size_t)bytes : 1;
}
static size_t last_bytes(const char *s, size_t n)
{
    int32_t c;
    for (size_t k = 2; k <= 4 && k <= n; k++)
        if (utf8_next(s + n - k, k, &c) == (int)k) return k;
    return 1;
}

/* Strip the characters of `set`, or ASCII white space if `set` is not a string, from one end or
 * both. */
static JValue stripped(JRun *r, const JValue *v, const JValue *set, bool left, bool right)
{
    static const char spaces[] = " \t\n\v\f\r\x1C\x1D\x1E\x1F";
    const char *s = v->s, *of = set && set->kind == J_TEXT ? set->s : spaces;
    const size_t bytes = set && set->kind == J_TEXT ? set->bytes : sizeof spaces - 1;
    size_t n = v->bytes;
    while (left && n) {
        const size_t k = first_bytes(s, n);
        if (!is_one_of(of, bytes, s, k)) break;
        s += k, n -= k;
    }
    while (right && n) {
        const size_t k = last_bytes(s, n);
        if (!is_one_of(of, bytes, s + n - k, k)) break;
        n -= k;
    }
    return jinja_text(r, s, n);
}

static JValue replaced(JRun *r, const JValue *v, const JValue *old, const JValue *with,
                       const JValue *most)
{
    if (old) jinja_seek(r, old);
    if (!old || !with || old->kind != J_TEXT || with->kind != J_TEXT || !old->bytes)
        return jinja_fail(r, "replace is supported only with two strings, the first of them not empty");
    Text t = text_new(r->arena);
    size_t at = 0;
    int64_t left = most && most->kind == J_INT ? most->n : -1;
    for (size_t next; left && (next = jinja_position(v, old->s, old->bytes, at)) != SIZE_MAX;
         left--) {
        text_add_bytes(&t, v->s + at, next - at);
        text_add_bytes(&t, with->s, with->bytes);
        at = next + old->bytes;
        if (t.size > 1 << 20) return jinja_fail(r, "a string is longer than 1 MB");
    }
    text_add_bytes(&t, v->s + at, v->bytes - at);
    return jinja_text(r, t.data, t.size);
}

static JValue split(JRun *r, const JValue *v, const JValue *by, const JValue *most)
{
    if (by) jinja_seek(r, by);
    const JValue list = jinja_list(r);
    int64_t left = most && most->kind == J_INT && most->n >= 0 ? most->n : INT64_MAX;
    if (!by || by->kind != J_TEXT || !by->bytes)
        return jinja_fail(r, "split and rsplit are supported only with a nonempty string as the separator");
    size_t at = 0;
    for (size_t next; left && (next = jinja_position(v, by->s, by->bytes, at)) != SIZE_MAX;
         left--) {
        jinja_add(r, list.list, jinja_text(r, v->s + at, next - at));
        at = next + by->bytes;
    }
    jinja_add(r, list.list, jinja_text(r, v->s + at, v->bytes - at));
    return list;
}

static JValue split_lines(JRun *r, const JValue *v)
{
    const JValue list = jinja_list(r);
    size_t at = 0;
    for (size_t i = 0; i < v->bytes; i++)
        if (v->s[i] == '\n') jinja_add(r, list.list, jinja_text(r, v->s + at, i - at)), at = i + 1;
    if (at < v->bytes) jinja_add(r, list.list, jinja_text(r, v->s + at, v->bytes - at));
    return list;
}

typedef enum JCase { JC_UPPER, JC_LOWER, JC_TITLE, JC_CAPITALIZE } JCase;

static JValue cased(JRun *r, const JValue *v, JCase how)
{
    char *s = arena_copy(r->arena, v->s, v->bytes);
    bool begins = true;
    for (size_t i = 0; i < v->bytes; i++) {
        const bool lower = s[i] >= 'a' && s[i] <= 'z', upper = s[i] >= 'A' && s[i] <= 'Z';
        const bool large = how == JC_UPPER || (begins && (how == JC_TITLE || how == JC_CAPITALIZE));
        if (lower && large) s[i] = (char)(s[i] - 32);
        if (upper && !large) s[i] = (char)(s[i] + 32);
        begins = how == JC_TITLE ? !(lower || upper) : false;
    }
    return jinja_text(r, s, v->bytes);
}

static JValue joined(JRun *r, const JValue *list, const JValue *between, const JValue *attribute)
{
    Text t = text_new(r->arena);
    if (list->kind != J_LIST) return jinja_fail(r, "this form of join is not supported");
    for (int i = 0; i < list->list->count; i++) {
        JValue one = list->list->at[i];
        if (attribute) one = jinja_item(r, &one, attribute);
        if (i && between) jinja_write(r, &t, between);
        jinja_write(r, &t, &one);
        if (t.size > 1 << 20) return jinja_fail(r, "a string is longer than 1 MB");
    }
    return jinja_text(r, t.data, t.size);
}

static bool ends_with(const JValue *v, const JValue *end, bool begin)
{
    return v->bytes >= end->bytes &&
           memcmp(begin ? v->s : v->s + v->bytes - end->bytes, end->s, end->bytes) == 0;
}

/* startswith and endswith, which also take a tuple. */
static JValue has_end(JRun *r, const JValue *v, const JValue *end, bool begin)
{
    if (end) jinja_seek(r, end);
    if (end && end->kind == J_TEXT) return jinja_bool(ends_with(v, end, begin));
    if (!end || end->kind != J_LIST)
        return jinja_fail(r, "startswith and endswith take a string or a tuple of strings");
    bool any = false;
    for (int i = 0; i < end->list->count; i++) jinja_seek(r, &end->list->at[i]);
    for (int i = 0; i < end->list->count; i++)
        any = any || (end->list->at[i].kind == J_TEXT && ends_with(v, &end->list->at[i], begin));
    return jinja_bool(any);
}

static JValue text_method(JRun *r, const char *name, const JValue *v, const JArguments *a)
{
    const JValue *first = jinja_argument(a, 0, NULL), *second = jinja_argument(a, 1, NULL);
    if (!strcmp(name, "strip")) return stripped(r, v, first, true, true);
    if (!strcmp(name, "lstrip")) return stripped(r, v, first, true, false);
    if (!strcmp(name, "rstrip")) return stripped(r, v, first, false, true);
    if (!strcmp(name, "split")) return split(r, v, first, second);
    if (!strcmp(name, "rsplit") && !second) return split(r, v, first, NULL);
    if (!strcmp(name, "splitlines") && !first) return split_lines(r, v);
    if (!strcmp(name, "startswith")) return has_end(r, v, first, true);
    if (!strcmp(name, "endswith")) return has_end(r, v, first, false);
    if (!strcmp(name, "replace")) return replaced(r, v, first, second, jinja_argument(a, 2, NULL));
    if (!strcmp(name, "upper")) return cased(r, v, JC_UPPER);
    if (!strcmp(name, "lower")) return cased(r, v, JC_LOWER);
    if (!strcmp(name, "title")) return cased(r, v, JC_TITLE);
    if (!strcmp(name, "capitalize")) return cased(r, v, JC_CAPITALIZE);
    if (!strcmp(name, "join") && first) return joined(r, first, v, NULL);
    const bool text = first && first->kind == J_TEXT;
    if (text) jinja_seek(r, first);
    if (text && !strcmp(name, "removeprefix"))
        return ends_with(v, first, true)
                   ? jinja_text(r, v->s + first->bytes, v->bytes - first->bytes)
                   : *v;
    if (text && !strcmp(name, "removesuffix"))
        return ends_with(v, first, false) ? jinja_text(r, v->s, v->bytes - first->bytes) : *v;
    if (text && !strcmp(name, "find") && jinja_is_ascii(r, v)) {
        const size_t at = jinja_position(v, first->s, first->bytes, 0);
        return jinja_int(at == SIZE_MAX ? -1 : (int64_t)at);
    }
    if (text && !strcmp(name, "count") && first->bytes)
        return jinja_int(split(r, v, first, NULL).list->count - 1);
    const bool never = !strcmp(name, "rfind") || !strcmp(name, "format");
    return jinja_fail(r, "%s%s() on a string is not supported", never ? "" : "this form of ", name);
}

/* ---- lists and dictionaries ------------------------------------------------------------------ */

/* A list of the keys, of the values, or of pairs of both. */
static JValue parts_of(JRun *r, const JDict *d, bool keys, bool values)
{
    const JValue list = jinja_list(r);
    for (int i = 0; i < d->count; i++) {
        const JValue both = jinja_list(r);
        if (keys && values)
            jinja_add(r, both.list, d->at[i].key), jinja_add(r, both.list, d->at[i].value);
        jinja_add(r, list.list, keys && values ? both : keys ? d->at[i].key : d->at[i].value);
    }
    return list;
}

static JValue dict_method(JRun *r, const char *name, const JValue *v, const JArguments *a)
{
    const JValue *first = jinja_argument(a, 0, "key"), *second = jinja_argument(a, 1, "default");
    if (!strcmp(name, "items")) return parts_of(r, v->dict, true, true);
    if (!strcmp(name, "keys")) return parts_of(r, v->dict, true, false);
    if (!strcmp(name, "values")) return parts_of(r, v->dict, false, true);
    if (!strcmp(name, "get") && first) {
        const JValue *found =
            first->kind == J_TEXT ? jinja_find(v->dict, first->s, first->bytes) : NULL;
        return found ? *found : second ? *second : jinja_none();
    }
    return jinja_fail(r, "%s%s() on a dictionary is not supported",
                      strcmp(name, "get") ? "" : "this form of ", name);
}

JValue jinja_call_method(JRun *r, const JValue *method, const JArguments *a)
{
    const JValue *self = method->self;
    if (self->kind == J_LIST) return jinja_fail(r, "%s() on a list is not supported", method->s);
    return (self->kind == J_TEXT ? text_method : dict_method)(r, method->s, self, a);
}

/* ---- filters and tests ----------------------------------------------------------------------- */

/* selectattr(name [, test, argument]) and rejectattr; select and reject without a name. */
static JValue selected(JRun *r, const JValue *v, const JArguments *a, bool by_name, bool keeps)
{
    const JValue list = jinja_list(r), *name = jinja_argument(a, 0, NULL),
                 *test = jinja_argument(a, by_name, NULL);
    if (v->kind != J_LIST)
        return jinja_fail(r, by_name ? "selectattr and rejectattr are supported only for lists"
                                     : "select and reject are supported only for lists");
    if ((by_name && !name) || (test && test->kind != J_TEXT))
        return jinja_fail(r, by_name ? "this form of selectattr or rejectattr is not supported"
                                     : "this form of select or reject is not supported");
    for (int i = 0; i < v->list->count && !r->result->fault; i++) {
        const JValue one = by_name ? jinja_item(r, &v->list->at[i], name) : v->list->at[i];
        const int skip = by_name + 1;
        const bool more = a->count > skip;
        const JArguments rest = { more ? a->at + skip : NULL, more ? a->key + skip : NULL,
                                  more ? a->count - skip : 0 };
        const bool good =
            test ? jinja_test(r, arena_copy(r->arena, test->s, test->bytes), &one, &rest)
                 : jinja_true(&one);
        if (good == keeps) jinja_add(r, list.list, v->list->at[i]);
    }
    return list;
}

static JValue mapped(JRun *r, const JValue *v, const JArguments *a)
{
    const JValue list = jinja_list(r), *attribute = jinja_argument(a, INT32_MAX, "attribute"),
                 *filter = jinja_argument(a, 0, NULL);
    if (v->kind != J_LIST || (!attribute && (!filter || filter->kind != J_TEXT)))
        return jinja_fail(r, "this form of map is not supported");
    for (int i = 0; i < v->list->count && !r->result->fault; i++) {
        const JValue *one = &v->list->at[i];
        if (attribute) jinja_add(r, list.list, jinja_item(r, one, attribute));
        else {
            const JArguments rest = { a->at + 1, a->key + 1, a->count - 1 };
            jinja_add(r, list.list,
                      jinja_filter(r, arena_copy(r->arena, filter->s, filter->bytes), one, &rest));
        }
    }
    return list;
}

static JValue length_of(JRun *r, const JValue *v)
{
    if (v->kind == J_LIST) return jinja_int(v->list->count);
    if (v->kind == J_DICT) return jinja_int(v->dict->count);
    if (v->kind == J_UNDEFINED) return jinja_int(0);
    if (v->kind != J_TEXT) return jinja_fail(r, "this value has no length");
    int64_t n = 0;
    for (size_t i = 0; i < v->bytes; i++) n += ((unsigned char)v->s[i] & 0xC0) != 0x80;
    return jinja_int(n);
}

static JValue end_of(JRun *r, const JValue *v, bool last)
{
    const JValue at = jinja_int(last ? -1 : 0);
    if (v->kind != J_LIST && v->kind != J_TEXT)
        return jinja_fail(r, "first and last are supported only for lists and strings");
    return jinja_item(r, v, &at);
}

static JValue as_text(JRun *r, const JValue *v)
{
    Text t = text_new(r->arena);
    jinja_write(r, &t, v);
    return jinja_text(r, t.data, t.size);
}

static JValue as_list(JRun *r, const JValue *v)
{
    const JValue list = jinja_list(r);
    if (v->kind == J_DICT) return parts_of(r, v->dict, true, false);
    if (v->kind != J_LIST) return jinja_fail(r, "the list filter is supported only for lists and dictionaries");
    for (int i = 0; i < v->list->count; i++) jinja_add(r, list.list, v->list->at[i]);
    return list;
}

static JValue defaulted(const JValue *v, const JArguments *a)
{
    const JValue *with = jinja_argument(a, 0, "default_value"),
                 *empty = jinja_argument(a, 1, "boolean");
    const bool use = v->kind == J_UNDEFINED || (empty && jinja_true(empty) && !jinja_true(v));
    return !use ? *v : with ? *with : (JValue){ .kind = J_TEXT, .s = "", .bytes = 0 };
}

JValue jinja_filter(JRun *r, const char *name, const JValue *v, const JArguments *a)
{
    const JValue nothing = jinja_none();
    const JValue back = jinja_int(-1);
    if (!strcmp(name, "default") || !strcmp(name, "d")) return defaulted(v, a);
    if (!strcmp(name, "length") || !strcmp(name, "count")) return length_of(r, v);
    if (!strcmp(name, "selectattr")) return selected(r, v, a, true, true);
    if (!strcmp(name, "rejectattr")) return selected(r, v, a, true, false);
    if (!strcmp(name, "select")) return selected(r, v, a, false, true);
    if (!strcmp(name, "reject")) return selected(r, v, a, false, false);
    if (!strcmp(name, "map")) return mapped(r, v, a);
    if (!strcmp(name, "list")) return as_list(r, v);
    if (!strcmp(name, "first") || !strcmp(name, "last")) return end_of(r, v, *name == 'l');
    if (!strcmp(name, "join") && v->kind == J_DICT) {
        const JValue keys = parts_of(r, v->dict, true, false);
        return jinja_filter(r, name, &keys, a);
    }
    if (!strcmp(name, "join"))
        return joined(r, v, jinja_argument(a, 0, "d"), jinja_argument(a, 1, "attribute"));
    if (!strcmp(name, "items") && v->kind == J_DICT) return parts_of(r, v->dict, true, true);
    if (!strcmp(name, "reverse")) return jinja_slice(r, v, &nothing, &nothing, &back);
    if (!strcmp(name, "safe")) return *v;
    if (!strcmp(name, "int") && (v->kind == J_INT || v->kind == J_BOOL)) return jinja_int(v->n);
    if (!strcmp(name, "items") || !strcmp(name, "int"))
        return jinja_fail(r, "the %s filter is not supported for this type", name);
    if (!strcmp(name, "tojson")) return jinja_fail(r, "the tojson filter is not supported");
    static const char *const of_texts[] = { "string", "trim",       "upper",  "lower",
                                            "title",  "capitalize", "replace" };
    bool known = false;
    for (size_t i = 0; i < sizeof of_texts / sizeof *of_texts; i++)
        known = known || !strcmp(name, of_texts[i]);
    if (!known) return jinja_fail(r, "the %s filter is not supported", name);
    const JValue text = as_text(r, v);
    if (!strcmp(name, "string")) return text;
    if (!strcmp(name, "trim")) return stripped(r, &text, jinja_argument(a, 0, "chars"), true, true);
    if (!strcmp(name, "upper")) return cased(r, &text, JC_UPPER);
    if (!strcmp(name, "lower")) return cased(r, &text, JC_LOWER);
    if (!strcmp(name, "title")) return cased(r, &text, JC_TITLE);
    if (!strcmp(name, "capitalize")) return cased(r, &text, JC_CAPITALIZE);
    if (!strcmp(name, "replace"))
        return replaced(r, &text, jinja_argument(a, 0, "old"), jinja_argument(a, 1, "new"),
                        jinja_argument(a, 2, "count"));
    return jinja_fail(r, "the %s filter is not supported", name);
}

static bool number_test(JRun *r, const char *name, const JValue *v, const JValue *by)
{
    const int64_t n = !strcmp(name, "divisibleby") ? (by && by->kind == J_INT ? by->n : 0) : 2;
    if (v->kind != J_INT || !n) {
        jinja_fail(r, "%s is supported only for whole numbers%s", name,
                   strcmp(name, "divisibleby") ? "" : ", with a divisor other than 0");
        return false;
    }
    return n == -1 || (v->n % n == 0) != !strcmp(name, "odd");
}

bool jinja_test(JRun *r, const char *name, const JValue *v, const JArguments *a)
{
    static const char *const orders[][2] = {
        { "eq", "=" }, { "equalto", "=" },  { "==", "=" }, { "ne", "!" }, { "!=", "!" },
        { "lt", "<" }, { "lessthan", "<" }, { "<", "<" },  { "gt", ">" }, { "greaterthan", ">" },
        { ">", ">" },  { "le", "l" },       { "<=", "l" }, { "ge", "g" }, { ">=", "g" }
    };
    const JValue *by = jinja_argument(a, 0, NULL);
    for (size_t i = 0; i < sizeof orders / sizeof *orders && by; i++) {
        const char sign = *orders[i][1];
        if (strcmp(name, orders[i][0])) continue;
        if (sign == '=' || sign == '!') return jinja_equal(r, v, by) == (sign == '=');
        const int order = jinja_order(r, v, by);
        return sign == '<'   ? order < 0
               : sign == '>' ? order > 0
               : sign == 'l' ? order <= 0
                             : order >= 0;
    }
    if (!strcmp(name, "defined")) return v->kind != J_UNDEFINED;
    if (!strcmp(name, "undefined")) return v->kind == J_UNDEFINED;
    if (!strcmp(name, "none")) return v->kind == J_NONE;
    if (!strcmp(name, "string")) return v->kind == J_TEXT;
    if (!strcmp(name, "mapping")) return v->kind == J_DICT;
    if (!strcmp(name, "iterable") || !strcmp(name, "sequence"))
        return v->kind == J_TEXT || v->kind == J_LIST || v->kind == J_DICT ||
               v->kind == J_UNDEFINED;
    if (!strcmp(name, "boolean")) return v->kind == J_BOOL;
    if (!strcmp(name, "true") || !strcmp(name, "false"))
        return v->kind == J_BOOL && v->n == (*name == 't');
    if (!strcmp(name, "integer")) return v->kind == J_INT;
    if (!strcmp(name, "float")) return v->kind == J_FLOAT;
    if (!strcmp(name, "number")) return jinja_is_number(v);
    if (!strcmp(name, "callable"))
        return v->kind == J_FUNCTION || v->kind == J_METHOD || v->kind == J_MACRO;
    if (!strcmp(name, "in") && by) return jinja_contains(r, by, v);
    if (!strcmp(name, "sameas") && by) return v->kind == by->kind && jinja_equal(r, v, by);
    if (!strcmp(name, "odd") || !strcmp(name, "even") || !strcmp(name, "divisibleby"))
        return number_test(r, name, v, by);
    jinja_fail(r, "the %s test is not supported", name);
    return false;
}
