/* rt_chat.c: the text of rt_chat.h. */
#include "rt_chat.h"
#include <string.h>

typedef struct Part { const char *s; size_t n; } Part;
typedef struct Out { char *s; size_t n, cap; } Out;

static void put(Out *o, const char *s, size_t n)
{
    if (n <= o->cap && o->n <= o->cap - n) memcpy(o->s + o->n, s, n);
    o->n += n;
}

static void put_text(Out *o, const char *s) { put(o, s, strlen(s)); }

/* The bytes of the white space that s[0..n) begins with, as Unicode has it; 0 where it begins with none. */
static size_t space(const char *s, size_t n)
{
    static const char *const wide[] = { "\xC2\x85", "\xC2\xA0", "\xE1\x9A\x80", "\xE2\x80\xA8", "\xE2\x80\xA9",
                                        "\xE2\x80\xAF", "\xE2\x81\x9F", "\xE3\x80\x80" };
    if (n && (*s == ' ' || (*s >= 9 && *s <= 13) || (*s >= 28 && *s <= 31))) return 1;
    if (n >= 3 && !memcmp(s, "\xE2\x80", 2) && (unsigned char)s[2] >= 0x80 && (unsigned char)s[2] <= 0x8A) return 3;
    for (size_t i = 0; i < sizeof wide / sizeof *wide; i++)
        if (n >= strlen(wide[i]) && !memcmp(s, wide[i], strlen(wide[i]))) return strlen(wide[i]);
    return 0;
}

static size_t space_behind(const char *s, size_t n)
{
    for (size_t bytes = 1; bytes <= 3 && bytes <= n; bytes++)
        if (space(s + n - bytes, bytes) == bytes) return bytes;
    return 0;
}

static Part trimmed(Part p, int left, int right)
{
    for (size_t k; left && (k = space(p.s, p.n)); p.s += k, p.n -= k) continue;
    for (size_t k; right && (k = space_behind(p.s, p.n)); p.n -= k) continue;
    return p;
}

size_t rt_chat_text(const RtChat *c, const char *system, const char *user, size_t bytes, char *out, size_t cap)
{
    const char *given = system ? system : c->preset;
    const int each = c->trim == RT_CHAT_TRIM_EACH, turn = c->trim == RT_CHAT_TRIM_TURN, there = given && c->system[0];
    const Part first = trimmed((Part){ there ? given : "", there ? strlen(given) : 0 }, each, each);
    /* Of a whole turn only its two ends are trimmed; where a system's text begins it, that has a mark before it. */
    const Part last = trimmed((Part){ user, bytes }, each || c->trim == RT_CHAT_TRIM_USER || (turn && !there), c->trim != RT_CHAT_TRIM_NONE);
    Out o = { out, 0, cap };
    put_text(&o, c->begin);
    if (c->inside) put_text(&o, c->user[0]);
    if (there) {
        put_text(&o, c->system[0]);
        put(&o, first.s, first.n);
        put_text(&o, c->system[1]);
    }
    if (!c->inside) put_text(&o, c->user[0]);
    put(&o, last.s, last.n);
    put_text(&o, c->user[1]);
    put_text(&o, c->answer);
    return o.n;
}
