/* rt_chat.c: write a conversation as text; see rt_chat.h. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "rt_chat.h"
#include <string.h>
#include <time.h>

typedef struct Part { const char *s; size_t n; } Part;
typedef struct Out {
    char *s;
    size_t n, cap;
    RtChatTyped *typed;
    const char *date;               /* replaces RT_CHAT_DATE; NULL: no dates */
} Out;

static void put(Out *o, const char *s, size_t n)
{
    if (n && n <= o->cap && o->n <= o->cap - n) memcpy(o->s + o->n, s, n);
    o->n += n;
}

static void note_typed(Out *o, size_t begin)
{
    if (!o->typed || o->n == begin) return;
    o->typed->at[2 * o->typed->count] = (uint32_t)begin;
    o->typed->at[2 * o->typed->count++ + 1] = (uint32_t)o->n;
}

/* Add a text of the template, with its dates. typed: the caller records the range of the whole
 * text, so dates are not recorded. */
static void put_part(Out *o, Part p, int typed)
{
    const char *end = p.s + p.n, *at;
    for (const char *s = p.s; s < end; s = at + 1) {
        at = o->date ? memchr(s, RT_CHAT_DATE, (size_t)(end - s)) : NULL;
        if (!at) {
            put(o, s, (size_t)(end - s));
            return;
        }
        put(o, s, (size_t)(at - s));
        const size_t begin = o->n;
        put(o, o->date, strlen(o->date));
        if (!typed) note_typed(o, begin);
    }
}

static void put_text(Out *o, const char *s) { put_part(o, (Part){ s, strlen(s) }, 0); }

/* The bytes of the white space character that s[0..n) begins with, as in Python's str.strip; 0 if
 * there is none. */
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

/* Add a message, answer or system prompt of the caller, trimmed at the ends that `left` and `right`
 * ask for. */
static void put_typed(Out *o, Part p, int left, int right)
{
    const size_t begin = o->n;
    p = trimmed(p, left, right);
    put(o, p.s, p.n);
    note_typed(o, begin);
}

/* Add the system prompt, with the template's text around it. ends: trim the white space at the end
 * of the whole. */
static void put_system(Out *o, const RtChat *c, const char *text, int ends)
{
    const int trims = c->trim == RT_CHAT_TRIM_EACH || c->trim == RT_CHAT_TRIM_SYSTEM;
    const Part behind = trimmed((Part){ c->system[1], strlen(c->system[1]) }, 0, ends);
    const int right = trims || c->trim == RT_CHAT_TRIM_SYSTEM_END || (ends && !behind.n);
    put_text(o, c->system[0]);
    if (text == c->preset) {
        const size_t begin = o->n;
        put_part(o, trimmed((Part){ text, strlen(text) }, trims, right), 1);
        note_typed(o, begin);
    } else put_typed(o, (Part){ text, strlen(text) }, trims, right);
    put_part(o, behind, 0);
}

static void put_past(Out *o, const RtChat *c, const RtChatTurn *t)
{
    static const char end[] = "</think>";
    enum { BYTES = sizeof end - 1 };
    Part p = { t->answer, t->answer_bytes };
    for (size_t i = p.n; c->thinks && i >= BYTES; i--) {
        if (memcmp(t->answer + i - BYTES, end, BYTES) != 0) continue;
        p = (Part){ t->answer + i, t->answer_bytes - i };
        for (; c->thinks == 1 && p.n && *p.s == '\n'; p.n--) p.s++;
        break;
    }
    for (; c->trims_past == 2 && p.n && *p.s == '\n'; p.n--) p.s++;
    put_text(o, c->past[0]);
    put_typed(o, p, c->trims_past == 1, c->trims_past == 1);
    put_text(o, c->past[1]);
}

size_t rt_chat_text(const RtChat *c, const RtChatWords *words, const RtChatTurn *turns, int count, char *out, size_t cap,
                    RtChatTyped *typed)
{
    const Part said = { words->system, words->system ? strlen(words->system) : 0 };
    const int empty = c->empty != RT_CHAT_EMPTY_KEPT && words->system && !trimmed(said, c->blank, 0).n;
    const char *system = empty && c->empty == RT_CHAT_EMPTY_NONE ? NULL : words->system && !empty ? words->system : c->preset;
    /* The turn that contains the system prompt or follows it; -1: no system prompt is written. */
    const int place = !system || !c->system[0] ? -1 : c->at_last ? count - 1 : 0;
    const char *date = words->date ? words->date : c->date ? c->date : "";
    Out o = { out, 0, cap, typed, c->dated ? date : NULL };
    if (typed) typed->count = 0;
    put_text(&o, c->begin);
    for (int i = 0; i < count; i++) {
        /* With TRIM_TURN only the ends of a turn are trimmed: if the system prompt comes first, the
         * left end is not that of the message. */
        const int left = c->trim == RT_CHAT_TRIM_EACH || c->trim == RT_CHAT_TRIM_USER || (c->trim == RT_CHAT_TRIM_TURN && i != place);
        /* If the message is only white space, the end of the system prompt ends the turn. */
        const Part user = { turns[i].user, turns[i].user_bytes };
        const int alone = c->trim == RT_CHAT_TRIM_TURN && !trimmed(user, 1, 0).n;
        if (i) put_text(&o, c->again);
        if (i == place && !c->inside) put_system(&o, c, system, alone && !*c->user[0]);
        put_text(&o, c->user[0]);
        if (i == place && c->inside) put_system(&o, c, system, alone);
        put_typed(&o, user, left || alone,
                  left || c->trim == RT_CHAT_TRIM_TURN);
        put_text(&o, c->user[1]);
        if (i < count - 1) put_past(&o, c, &turns[i]);
    }
    put_text(&o, c->answer);
    return o.n;
}

void rt_chat_today(const RtChat *c, int64_t now, char *out, size_t cap)
{
    const time_t seconds = (time_t)now;
    struct tm t;
    if (!localtime_r(&seconds, &t) || !strftime(out, cap, c->today, &t)) *out = '\0';
}

size_t rt_chat_message(const RtChat *c, const RtChatWords *words, const char *text, size_t bytes, char *out, size_t cap,
                       RtChatTyped *typed)
{
    char today[64];
    RtChatWords said = *words;
    const RtChatTurn turn = { text, bytes, NULL, 0 };
    if (c->today && !said.date) {
        rt_chat_today(c, time(NULL), today, sizeof today);
        said.date = today;
    }
    return rt_chat_text(c, &said, &turn, 1, out, cap, typed);
}
