/* text.c: growing texts, templates, numbers of bytes and UTF-8. The room of a Text at least doubles
 * when it grows. */
#include "text.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_ROOM = 256, MAX_PLACES = 64 };

/* ---- growing text --------------------------------------------------------------------------------------- */

Text text_new(Arena *a)
{
    Text t = { a, arena_alloc(a, FIRST_ROOM), 0, FIRST_ROOM };
    return t;
}

/* Make room for `more` bytes and a NUL. */
static void text_reserve(Text *t, size_t more)
{
    if (more < t->room - t->size) return;
    size_t room = t->room * 2;
    if (room <= t->size + more) room = t->size + more + 1;
    t->data = arena_grow(t->arena, t->data, t->size, room);
    t->room = room;
}

void text_add_bytes(Text *t, const char *s, size_t n)
{
    if (!n) return;
    text_reserve(t, n);
    memcpy(t->data + t->size, s, n);
    t->size += n;
    t->data[t->size] = '\0';
}

void text_add(Text *t, const char *s)
{
    text_add_bytes(t, s, strlen(s));
}

void text_add_quoted(Text *t, const char *s)
{
    for (; *s; s++) {
        const unsigned char c = (unsigned char)*s;
        if (c < ' ' || c >= 0x7f || strchr("\"\\?", c)) text_printf(t, "\\%03o", (unsigned)c);
        else text_add_bytes(t, s, 1);
    }
}

void text_printf(Text *t, const char *format, ...)
{
    va_list args;
    size_t room = t->room - t->size;        /* including a NUL */
    va_start(args, format);
    int n = vsnprintf(t->data + t->size, room, format, args);
    va_end(args);
    if (n < 0) die("cannot format: %s", format);
    if ((size_t)n >= room) {
        text_reserve(t, (size_t)n);
        va_start(args, format);
        vsnprintf(t->data + t->size, (size_t)n + 1, format, args);
        va_end(args);
    }
    t->size += (size_t)n;
}

/* ---- templates ------------------------------------------------------------------------------------------ */

typedef struct Place { const char *name, *value; bool used; } Place;

typedef struct Places { Place place[MAX_PLACES]; int count; } Places;

static void collect_places(Places *places, va_list args)
{
    for (const char *name; (name = va_arg(args, const char *));) {
        const char *value = va_arg(args, const char *);
        if (!value) die("template: ${%s} has no value", name);
        if (places->count == MAX_PLACES) die("template: more than %d placeholders", MAX_PLACES);
        places->place[places->count++] = (Place){ name, value, false };
    }
}

/* The value of the placeholder "${name}" at `at`; *after receives its end. */
static const char *place_value(Places *places, const char *at, const char *end, const char **after)
{
    const char *name = at + 2, *close = memchr(name, '}', (size_t)(end - name));
    if (!close) die("template: ${ without }");
    size_t n = (size_t)(close - name);
    *after = close + 1;
    for (int i = 0; i < places->count; i++) {
        Place *p = &places->place[i];
        if (strlen(p->name) != n || memcmp(p->name, name, n)) continue;
        p->used = true;
        return p->value;
    }
    die("template: ${%.*s} is not given", (int)n, name);
}

static const char *find_place(const char *from, const char *end)
{
    for (const char *s = from; s + 1 < end; s++)
        if (s[0] == '$' && s[1] == '{') return s;
    return NULL;
}

static const char *skip_blanks(const char *s, const char *end)
{
    while (s < end && (*s == ' ' || *s == '\t')) s++;
    return s;
}

/* Append a value with all lines but the first indented; empty lines stay empty. */
static void add_indented(Text *t, const char *value, size_t n, const char *indent, size_t indent_size)
{
    for (const char *end = value + n; value < end;) {
        const char *newline = memchr(value, '\n', (size_t)(end - value));
        const char *stop = newline ? newline + 1 : end;
        text_add_bytes(t, value, (size_t)(stop - value));
        if (newline && stop < end && *stop != '\n') text_add_bytes(t, indent, indent_size);
        value = stop;
    }
}

/* Fill one line of the template, without its newline. False if the line is to be dropped: it has
 * only a placeholder, whose value is empty. */
static bool fill_line(Text *t, Places *places, const char *line, const char *end)
{
    const char *body = skip_blanks(line, end), *after;
    const char *at = find_place(line, end);
    bool alone = false;
    if (at == body) {
        const char *value = place_value(places, at, end, &after);
        alone = skip_blanks(after, end) == end;
        if (alone && !*value) return false;
    }
    size_t indent = (size_t)(body - line);
    for (; at; line = after, at = find_place(line, end)) {
        text_add_bytes(t, line, (size_t)(at - line));
        const char *value = place_value(places, at, end, &after);
        size_t n = strlen(value);
        if (alone && value[n - 1] == '\n') n--;
        add_indented(t, value, n, body - indent, indent);
    }
    text_add_bytes(t, line, (size_t)(end - line));
    return true;
}

const char *text_bytes(Arena *a, size_t bytes)
{
    static const char *const units[] = { "bytes", "KiB", "MiB", "GiB", "TiB" };
    double n = (double)bytes;
    int unit = 0;
    for (; n >= 1000 && unit < 4; unit++) n /= 1024;
    if (bytes == 1) return "1 byte";
    return arena_format(a, unit && n < 10 ? "%.2f %s" : unit && n < 100 ? "%.1f %s" : "%.0f %s", n, units[unit]);
}

bool text_to_bytes(const char *text, size_t *bytes)
{
    static const char units[] = "KMG";
    char *end;
    const unsigned long long n = strtoull(text, &end, 10);
    const char *unit = *end ? strchr(units, *end) : NULL;
    const int shift = unit ? 10 * (int)(unit - units + 1) : 0;
    *bytes = (size_t)(n << shift);
    return *text >= '1' && *text <= '9' && !end[unit != NULL] && n <= SIZE_MAX >> shift;
}

void text_fill(Text *t, const char *template, ...)
{
    Places places = { .count = 0 };
    va_list args;
    va_start(args, template);
    collect_places(&places, args);
    va_end(args);
    for (const char *line = template; *line;) {
        const char *newline = strchr(line, '\n');
        const char *end = newline ? newline : line + strlen(line);
        if (fill_line(t, &places, line, end) && newline) text_add(t, "\n");
        line = newline ? newline + 1 : end;
    }
    for (int i = 0; i < places.count; i++)
        if (!places.place[i].used) die("template: ${%s} is given but not used", places.place[i].name);
}

const char *text_list(Arena *a, const char *const *words, int n)
{
    Text t = text_new(a);
    for (int i = 0; i < n; i++) text_printf(&t, "%s\"%s\"", i ? ", " : "", words[i]);
    return t.data;
}

bool text_ends(const char *text, const char *ending)
{
    const size_t n = strlen(text), m = strlen(ending);
    return n >= m && strcmp(text + n - m, ending) == 0;
}

/* ---- UTF-8 ---------------------------------------------------------------------------------------------- */

/* The length of a character with this first byte, or 0; *bits receives the byte's part of the code
 * point. */
static int utf8_length(unsigned char first, int32_t *bits)
{
    if (first < 0x80) { *bits = first; return 1; }
    if (first >= 0xC2 && first <= 0xDF) { *bits = first & 0x1F; return 2; }
    if (first >= 0xE0 && first <= 0xEF) { *bits = first & 0x0F; return 3; }
    if (first >= 0xF0 && first <= 0xF4) { *bits = first & 0x07; return 4; }
    return 0;
}

int utf8_next(const char *s, size_t n, int32_t *code_point)
{
    static const int32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
    int32_t c;
    if (!n) return 0;
    int length = utf8_length((unsigned char)s[0], &c);
    if (!length || (size_t)length > n) return 0;
    for (int i = 1; i < length; i++) {
        if (((unsigned char)s[i] & 0xC0) != 0x80) return 0;
        c = c << 6 | ((unsigned char)s[i] & 0x3F);
    }
    if (c < least[length] || c > 0x10FFFF || (c >= 0xD800 && c <= 0xDFFF)) return 0;
    *code_point = c;
    return length;
}
