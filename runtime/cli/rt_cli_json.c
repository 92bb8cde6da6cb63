/* rt_cli_json.c: read code points; write strings and numbers as JSON. Callers detect write
 * errors. */
#include "rt_cli_parts.h"

#include <math.h>
#include <stdio.h>

int cli_may_print(int code_point)
{
    return code_point >= 0x20 && (code_point < 0x7f || code_point > 0x9f)
        && !(code_point >= 0x200b && code_point <= 0x200f) && !(code_point >= 0x2028 && code_point <= 0x202e)
        && !(code_point >= 0x2060 && code_point <= 0x2069) && code_point != 0xfeff;
}

int cli_code_point(const char *s, size_t bytes, int *length)
{
    static const int least[5] = { 0, 0, 0x80, 0x800, 0x10000 };
    const unsigned char *u = (const unsigned char *)s;
    const int n = u[0] < 0x80 ? 1 : u[0] >= 0xc2 && u[0] < 0xe0 ? 2 : u[0] >= 0xe0 && u[0] < 0xf0 ? 3 : u[0] >= 0xf0 && u[0] < 0xf5 ? 4 : 0;
    int c = n == 1 ? u[0] : u[0] & (0x7f >> n);
    *length = 1;
    if (n == 0 || (size_t)n > bytes) return -1;
    for (int i = 1; i < n; i++) {
        if ((u[i] & 0xc0) != 0x80) return -1;
        c = c << 6 | (u[i] & 0x3f);
    }
    if (c < least[n] || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff)) return -1;
    *length = n;
    return c;
}

void cli_json_text(FILE *to, const char *s, size_t bytes)
{
    putc('"', to);
    for (int length; bytes; s += length, bytes -= (size_t)length) {
        const int c = cli_code_point(s, bytes, &length);
        if (c < 0) fputs("\\ufffd", to);
        else if (c == '"' || c == '\\') fprintf(to, "\\%c", c);
        else if (!cli_may_print(c)) fprintf(to, "\\u%04x", (unsigned)c);
        else fwrite(s, 1, (size_t)length, to);
    }
    putc('"', to);
}

void cli_json_number(FILE *to, double x)
{
    if (isfinite(x)) fprintf(to, "%.9g", x);
    else fputs("null", to);
}
