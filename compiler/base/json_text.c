/* json_text.c: strings and numbers as JSON. */
#include "json_text.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

void json_add_bytes(Text *to, const char *s, size_t n)
{
    text_add(to, "\"");
    while (n) {
        int32_t c = 0;
        int length = utf8_next(s, n, &c);
        if (!length) text_add(to, "\\ufffd");
        else if (c == '"' || c == '\\') text_printf(to, "\\%c", (char)c);
        else if (c < 0x20) text_printf(to, "\\u%04x", (unsigned)c);
        else text_add_bytes(to, s, (size_t)length);
        s += length ? length : 1;
        n -= length ? (size_t)length : 1;
    }
    text_add(to, "\"");
}

void json_add_string(Text *to, const char *s) { json_add_bytes(to, s, strlen(s)); }

void json_add_number(Text *to, double x)
{
    if (isfinite(x)) text_printf(to, "%.9g", x);
    else text_add(to, "null");
}

/* ---- reading -------------------------------------------------------------------------------------------- */

/* The closing quote of the string that opens at `i`, or n. */
static size_t string_end(const char *s, size_t n, size_t i)
{
    for (i++; i < n && s[i] != '"'; i++) i += s[i] == '\\';
    return i < n ? i : n;
}

static bool is_of_number(char c) { return (c >= '0' && c <= '9') || c == '.' || c == 'e' || c == 'E' || c == '+' || c == '-'; }

/* Whether so many digits are more than 2^63 - 1. */
static bool is_too_big(const char *digits, size_t count)
{
    static const char most[] = "9223372036854775807";
    const size_t n = sizeof most - 1;
    return *digits != '0' && (count > n || (count == n && memcmp(digits, most, n) > 0));
}

const char *json_shorten_integers(Arena *a, const char *s, size_t n)
{
    char *copy = NULL;
    for (size_t i = 0, end; i < n; i = end + 1) {
        if (s[i] == '"') {
            end = string_end(s, n, i);
            continue;
        }
        const size_t begin = i + (s[i] == '-');
        size_t digits = 0;
        while (begin + digits < n && s[begin + digits] >= '0' && s[begin + digits] <= '9') digits++;
        for (end = begin + digits; end < n && is_of_number(s[end]);) end++;
        if (end == begin + digits && is_too_big(s + begin, digits)) {
            if (!copy) copy = arena_copy(a, s, n);
            memset(copy + begin, ' ', digits);
            char shorter[32];
            const int length = snprintf(shorter, sizeof shorter, "%ce%zu", s[begin], digits - 1);
            memcpy(copy + begin, shorter, (size_t)length);
        }
        end -= end > i;             /* what stopped it is looked at next */
    }
    return copy ? copy : s;
}

const char *json_fault(Arena *a, const char *said)
{
    const char *near = strstr(said, " near '");
    return near ? arena_copy(a, said, (size_t)(near - said)) : said;
}
