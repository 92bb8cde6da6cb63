/* json_read.c: read JSON that other programs wrote. Integers that are too large for the JSON
 * library are first rewritten as reals. */
#include "json_read.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "file.h"

enum { MAX_OBJECT_BYTES = 64 << 20, GREATEST_EXPONENT = 308 };

/* ---- numbers -------------------------------------------------------------------------------------------- */

/* The closing quote of the string that opens at `i`, or n. */
static size_t string_end(const char *s, size_t n, size_t i)
{
    for (i++; i < n && s[i] != '"'; i++) i += s[i] == '\\';
    return i < n ? i : n;
}

static bool is_of_number(char c) { return (c >= '0' && c <= '9') || c == '.' || c == 'e' || c == 'E' || c == '+' || c == '-'; }

/* True if these digits are a number greater than 2^63 - 1. */
static bool is_too_big(const char *digits, size_t count)
{
    static const char most[] = "9223372036854775807";
    const size_t n = sizeof most - 1;
    return *digits != '0' && (count > n || (count == n && memcmp(digits, most, n) > 0));
}

/* Overwrite digits with a real number, padded to the same width: 1.500000000000e30. A number of
 * 1e308 or more becomes 1e308. */
static void write_real(char *digits, size_t count)
{
    enum { MANTISSA = 14, WIDTH = 32 };
    char real[WIDTH];
    const size_t exponent = count - 1;
    const int length = exponent < GREATEST_EXPONENT
                           ? snprintf(real, sizeof real, "%c.%.*se%zu", *digits, MANTISSA - 2, digits + 1, exponent)
                           : snprintf(real, sizeof real, "1e%d", GREATEST_EXPONENT);
    memset(digits, ' ', count);
    memcpy(digits, real, (size_t)length);
}

/* Rewrite integers beyond 2^63 - 1 in magnitude as reals. Returns s itself if there are none, else
 * a copy. */
static const char *with_real_numbers(Arena *a, const char *s, size_t n)
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
            write_real(copy + begin, digits);
        }
        end -= end > i;             /* the character that ended the number is next */
    }
    return copy ? copy : s;
}

/* ---- values --------------------------------------------------------------------------------------------- */

/* The JSON library's allocator. The library would report a failed allocation as invalid JSON. */
static void *memory_of(size_t bytes)
{
    void *p = malloc(bytes);
    if (!p && bytes) no_memory("%zu bytes of JSON", bytes);
    return p;
}

json_t *json_parse(Arena *a, const char *s, size_t n, size_t flags, json_error_t *error)
{
    json_set_alloc_funcs(memory_of, free);      /* the first call sets the allocator, before any
                                                 * JSON value exists */
    return json_loadb(with_real_numbers(a, s, n), n, flags | JSON_ALLOW_NUL, error);
}

const char *json_fault(Arena *a, const char *said)
{
    const char *near = strstr(said, " near '");
    return near ? arena_copy(a, said, (size_t)(near - said)) : said;
}

json_t *json_read(Arena *a, Diag *d, const char *path, const char *s, size_t n)
{
    json_error_t error;
    json_t *root = json_parse(a, s, n, JSON_DECODE_ANY, &error);
    const Loc at = { path, error.line > 0 ? error.line : 0, 0 };
    if (!root) diag_error(d, EXIT_BAD_DATA, at, "not JSON: %s", json_fault(a, error.text));
    return root;
}

json_t *json_read_object(Arena *a, Diag *d, const char *path)
{
    struct stat there;
    size_t size;
    if (lstat(path, &there) != 0) return NULL;
    diag_conceal(d, path);
    const char *text = file_read(a, d, (Loc){ 0 }, path, MAX_OBJECT_BYTES, &size);
    json_t *root = text ? json_read(a, d, path, text, size) : NULL;
    if (!root || json_is_object(root)) return root;
    diag_error(d, EXIT_BAD_DATA, (Loc){ path, 0, 0 }, "not a JSON object");
    json_decref(root);
    return NULL;
}
