/* unicode_tables.c: Unicode properties of code points; the only file that uses utf8proc. */
#include "unicode_tables.h"

#include <string.h>
#include <utf8proc.h>

/* White_Space of the Unicode Character Database; it has not changed since 2013. */
static bool is_space(int32_t c)
{
    return (c >= 9 && c <= 13) || c == ' ' || c == 0x85 || c == 0xA0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200A) || c == 0x2028 ||
           c == 0x2029 || c == 0x202F || c == 0x205F || c == 0x3000;
}

unsigned unicode_property(int32_t c)
{
    return (unsigned)utf8proc_get_property(c)->category | (is_space(c) ? UNICODE_SPACE : 0);
}

unsigned unicode_combining_class(int32_t c) { return (unsigned)utf8proc_get_property(c)->combining_class; }

static bool is_hangul(int32_t c) { return c >= 0xAC00 && c <= 0xD7A3; }

int unicode_decompose(int32_t c, bool compatible, int32_t out[UNICODE_LONGEST])
{
    int last = UTF8PROC_BOUNDCLASS_START;
    const utf8proc_option_t options = UTF8PROC_DECOMPOSE | (compatible ? UTF8PROC_COMPAT : 0);
    if (is_hangul(c)) return 0;
    const utf8proc_ssize_t n = utf8proc_decompose_char(c, out, UNICODE_LONGEST, options, &last);
    return n < 1 || n > UNICODE_LONGEST || (n == 1 && out[0] == c) ? 0 : (int)n;
}

/* c is a composite if all but the last code point of its decomposition, composed, and that last one
 * compose to c. */
bool unicode_composed_of(int32_t c, int32_t pair[2])
{
    int32_t parts[UNICODE_LONGEST], again[UNICODE_LONGEST];
    const int n = unicode_decompose(c, false, parts);
    if (n < 2) return false;
    memcpy(again, parts, (size_t)(n - 1) * sizeof *parts);
    if (utf8proc_normalize_utf32(again, n - 1, UTF8PROC_STABLE | UTF8PROC_COMPOSE) != 1) return false;
    pair[0] = again[0];
    pair[1] = parts[n - 1];
    again[1] = pair[1];
    return utf8proc_normalize_utf32(again, 2, UTF8PROC_STABLE | UTF8PROC_COMPOSE) == 1 && again[0] == c;
}

int unicode_lower(int32_t c, int32_t out[2])
{
    if (c == 0x130) {               /* the only unconditional lower case of two code points */
        out[0] = 'i';
        out[1] = 0x307;
        return 2;
    }
    out[0] = utf8proc_tolower(c);
    return out[0] != c;
}

unsigned unicode_break(int32_t c)
{
    static const unsigned char of[32] = {
        [UTF8PROC_BOUNDCLASS_CR] = 1, [UTF8PROC_BOUNDCLASS_LF] = 2, [UTF8PROC_BOUNDCLASS_CONTROL] = 3, [UTF8PROC_BOUNDCLASS_EXTEND] = 4,
        [UTF8PROC_BOUNDCLASS_L] = 5, [UTF8PROC_BOUNDCLASS_V] = 6, [UTF8PROC_BOUNDCLASS_T] = 7, [UTF8PROC_BOUNDCLASS_LV] = 8,
        [UTF8PROC_BOUNDCLASS_LVT] = 9, [UTF8PROC_BOUNDCLASS_REGIONAL_INDICATOR] = 10, [UTF8PROC_BOUNDCLASS_SPACINGMARK] = 11,
        [UTF8PROC_BOUNDCLASS_PREPEND] = 12, [UTF8PROC_BOUNDCLASS_ZWJ] = 13, [UTF8PROC_BOUNDCLASS_EXTENDED_PICTOGRAPHIC] = 14,
    };
    return of[utf8proc_get_property(c)->boundclass & 31];
}
