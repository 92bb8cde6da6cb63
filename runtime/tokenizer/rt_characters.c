/* rt_characters.c: UTF-8 to ids and back, one id per code point. Strict: no overlong forms, no
 * surrogates, nothing above U+10FFFF. */
#include "rt.h"

/* The code point at s, a NUL-terminated string; *bytes receives its length. -1 if it is not valid
 * UTF-8. */
static int32_t characters_point(const unsigned char *s, int *bytes)
{
    static const int32_t least[5] = { 0, 0, 0x80, 0x800, 0x10000 };
    const int n = s[0] < 0x80 ? 1 : s[0] >= 0xc0 && s[0] < 0xe0 ? 2 : s[0] >= 0xe0 && s[0] < 0xf0 ? 3
                : s[0] >= 0xf0 && s[0] < 0xf8 ? 4 : 0;
    int32_t c = n == 1 ? s[0] : n ? s[0] & (0x7f >> n) : -1;
    *bytes = 1;
    for (int i = 1; i < n; i++) {
        if ((s[i] & 0xc0) != 0x80) return -1;                           /* also at the NUL */
        c = c << 6 | (s[i] & 0x3f);
    }
    if (n == 0 || c < least[n] || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff)) return -1;
    *bytes = n;
    return c;
}

static int characters_find(const RtCharacters *t, int32_t code_point)
{
    int low = 0, high = t->characters;
    while (low < high) {
        const int middle = low + (high - low) / 2;
        if (t->table[2 * middle] < code_point) low = middle + 1;
        else high = middle;
    }
    return low < t->characters && t->table[2 * low] == code_point ? t->table[2 * low + 1] : -1;
}

rt_status rt_characters_encode(const RtCharacters *t, const char *utf8, int *ids, int room, int *n, RtTextFault *fault)
{
    const unsigned char *s = (const unsigned char *)utf8;
    int count = 0;
    *n = 0;
    for (int bytes; *s; s += bytes) {
        const int32_t code_point = characters_point(s, &bytes);
        const int id = code_point < 0 ? -1 : characters_find(t, code_point);
        if (id < 0) {
            if (fault) fault->at = (size_t)((const char *)s - utf8), fault->code_point = code_point;
            return RT_BAD_ID;
        }
        if (count < room) ids[count] = id;
        if (count < INT32_MAX) count++;
    }
    *n = count;
    return count > room ? RT_TOO_LONG : RT_OK;
}

/* Write the UTF-8 of a code point; returns its length. */
static int characters_write(int32_t c, unsigned char *s)
{
    const int n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    static const unsigned char head[5] = { 0, 0, 0xc0, 0xe0, 0xf0 };
    for (int i = n - 1; i > 0; i--, c >>= 6)
        s[i] = (unsigned char)(0x80 | (c & 0x3f));
    s[0] = (unsigned char)(head[n] | c);
    return n;
}

/* Append the text of one id; out[*used] is a NUL before and after. */
static rt_status characters_add(const RtCharacters *t, int id, char *out, size_t cap, size_t *used)
{
    unsigned char text[4];
    int n = 0;
    if (id < 0 || id >= t->size) return RT_BAD_ID;
    if (t->texts[id] >= 0) n = characters_write(t->texts[id], text);
    if (cap - *used <= (size_t)n) return RT_NO_ROOM;
    for (int i = 0; i < n; i++)
        out[(*used)++] = (char)text[i];
    out[*used] = '\0';
    return RT_OK;
}

rt_status rt_characters_decode(const RtCharacters *t, const int *ids, int n, char *out, size_t cap, size_t *bytes)
{
    size_t used = 0;
    rt_status status = RT_OK;
    if (bytes) *bytes = 0;
    if (!cap) return RT_NO_ROOM;
    out[0] = '\0';
    for (int i = 0; i < n && status == RT_OK; i++) status = characters_add(t, ids[i], out, cap, &used);
    if (bytes) *bytes = used;
    return status;
}
