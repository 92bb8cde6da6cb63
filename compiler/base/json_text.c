/* json_text.c: write strings and numbers as JSON. */
#include "json_text.h"

#include <math.h>
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
