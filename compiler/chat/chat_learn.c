/* chat_learn.c: learn a chat template by rendering sample conversations.
 *
 * The fixed texts around the messages are cut out of a few renderings. Then all ways of placing and
 * trimming messages are tried, and the first that reproduces every sample is taken. If there is
 * none, samples with a system message, those with earlier turns, or both kinds are left out; if
 * there is still none, the template is rejected. Last, conversations with blank messages, and with
 * the strings and lengths that the template tests for, show where the result still differs from the
 * template (Chat.unlike). */
#include "chat_learn.h"

#include <string.h>
#include <time.h>

#include "jinja.h"
#include "json_text.h"
#include "rt_chat.h"
#include "text.h"

/* Messages and dates of the samples: words that no template contains. */
#define USER   "wouldYouSay7"
#define ANSWER "iWouldSay3"
#define AGAIN  "andNow9"
#define SYSTEM "beBrief5"
#define DATE   "theDay1"
#define TODAY  "today2"

enum { MOST_SAID = 66 };

/* A conversation: `said` by user and assistant in turn, up to a NULL; system NULL: none. */
typedef struct Probe { const char *system, *said[MOST_SAID]; } Probe;

static const Probe probes[] = {
    { NULL, { USER } },
    { SYSTEM, { USER } },
    { "", { USER } },
    { NULL, { " \n " USER " \t\n" } },
    { NULL, { USER "\n\n{{ x }} <b> 'q' \"d\" \\n \xC3\xA9" } },
    { "\n  " SYSTEM " \n", { USER } },
    { " " SYSTEM "\n", { "\n" USER " " } },
    { "\n\n" SYSTEM, { "\n\n" USER } },
    { NULL, { USER, ANSWER, AGAIN } },
    { SYSTEM, { USER, ANSWER, AGAIN } },
    { "", { USER, ANSWER, AGAIN } },
    { NULL, { " " USER "\n", " \n" ANSWER " \n", "\n " AGAIN " " } },
    { "\n" SYSTEM " ", { " " USER "\n", ANSWER, "\n " AGAIN " ", "", USER } },
    { NULL, { USER, ANSWER, AGAIN, " two\nlines ", "three", "<b> {{ x }} \\n", "four" } },
    { NULL, { USER, "", AGAIN } },
    { NULL, { USER, "<think>\nso </think> and\n</think>\n\n " ANSWER "\n", AGAIN } },
    { NULL, { USER, "\n\n " ANSWER "\n", AGAIN } },
    { NULL, { USER, "so\n</think>" ANSWER, AGAIN, ANSWER "</think>", "more" } },
};
enum {
    PROBES = sizeof probes / sizeof *probes,
    BASE = 0,
    WITH_SYSTEM = 1,
    EMPTY_SYSTEM = 2,
    TWO_TURNS = 8
};

typedef struct Learner {
    Arena *arena;
    const JinjaTemplate *template;
    const JinjaName *names;  int name_count;
    const char *today;              /* what strftime_now returns */
    bool dated;                     /* the template writes date_string */
    const char *rendered[PROBES];   /* NULL: the template rejects it, or fails */
    const char *fault, *format;
    const char *other;              /* the first failure of the interpreter in any probe */
    bool raised;
    const char *sought[JINJA_SOUGHT];  int sought_count;    /* as in JinjaResult, of all probes */
    int64_t bound[JINJA_SOUGHT];  int bound_count;
    char *scratch;  size_t scratch_bytes;       /* for the longest rendering */
} Learner;

/* ---- conversations --------------------------------------------------------------------------- */

static JinjaResult render(const Learner *l, const Probe *p, const char *date, bool answers)
{
    JinjaMessage messages[MOST_SAID + 1];
    JinjaName *names = arena_array(l->arena, (size_t)l->name_count + 1, sizeof *names);
    JinjaChat c = { .messages = messages,
                    .names = names,
                    .name_count = l->name_count,
                    .today = l->today,
                    .answers = answers };
    if (l->name_count) memcpy(names, l->names, (size_t)l->name_count * sizeof *names);
    if (date) names[c.name_count++] = (JinjaName){ "date_string", date };
    if (p->system) messages[c.count++] = (JinjaMessage){ "system", p->system };
    for (int i = 0; i < MOST_SAID && p->said[i]; i++)
        messages[c.count++] = (JinjaMessage){ i % 2 ? "assistant" : "user", p->said[i] };
    return jinja_render(l->arena, l->template, &c);
}

RtChat chat_as_runtime(const Chat *c)
{
    static const RtChatTrim trims[] = { [CHAT_TRIM_NONE] = RT_CHAT_TRIM_NONE,
                                        [CHAT_TRIM_USER] = RT_CHAT_TRIM_USER,
                                        [CHAT_TRIM_SYSTEM] = RT_CHAT_TRIM_SYSTEM,
                                        [CHAT_TRIM_EACH] = RT_CHAT_TRIM_EACH,
                                        [CHAT_TRIM_TURN] = RT_CHAT_TRIM_TURN,
                                        [CHAT_TRIM_SYSTEM_END] = RT_CHAT_TRIM_SYSTEM_END };
    static const RtChatEmpty empties[] = { [CHAT_EMPTY_KEPT] = RT_CHAT_EMPTY_KEPT,
                                           [CHAT_EMPTY_NONE] = RT_CHAT_EMPTY_NONE,
                                           [CHAT_EMPTY_PRESET] = RT_CHAT_EMPTY_PRESET };
    return (RtChat){ .name = c->name,
                     .begin = c->begin,
                     .system = { c->system[0], c->system[1] },
                     .dated = c->dated,
                     .date = c->date,
                     .today = c->today,
                     .user = { c->user[0], c->user[1] },
                     .answer = c->answer,
                     .again = c->again,
                     .past = { c->past[0], c->past[1] },
                     .preset = c->preset,
                     .trim = trims[c->trim],
                     .inside = c->inside,
                     .at_last = c->at_last,
                     .trims_past = c->trims_past,
                     .empty = empties[c->empty],
                     .thinks = c->thinks,
                     .blank = c->blank };
}

/* True if `c` writes the conversation as the template does. wanted: the template's rendering; NULL
 * if it rejects the conversation, or fails. */
static bool agrees(const Learner *l, const Chat *c, const Probe *p, const char *date,
                   const char *wanted)
{
    const RtChat chat = chat_as_runtime(c);
    const RtChatWords words = { p->system, date };
    RtChatTurn turns[MOST_SAID / 2 + 1];
    int count = 0;
    if (!wanted) return false;
    for (int i = 0; i < MOST_SAID && p->said[i]; i += 2) {
        const char *answer = i + 1 < MOST_SAID && p->said[i + 1] ? p->said[i + 1] : "";
        turns[count++] = (RtChatTurn){ p->said[i], strlen(p->said[i]), answer, strlen(answer) };
    }
    const size_t bytes = strlen(wanted);
    return rt_chat_text(&chat, &words, turns, count, l->scratch, l->scratch_bytes, NULL) == bytes &&
           memcmp(l->scratch, wanted, bytes) == 0;
}

/* ---- the text around messages ---------------------------------------------------------------- */

static const char *copy(const Learner *l, const char *from, const char *to)
{
    return arena_copy(l->arena, from, (size_t)(to - from));
}

static size_t shared_end(const char *a, const char *b)
{
    size_t n = 0;
    const size_t x = strlen(a), y = strlen(b);
    while (n < x && n < y && a[x - 1 - n] == b[y - 1 - n]) n++;
    return n;
}

static size_t shared_beginning(const char *a, const char *b)
{
    size_t n = 0;
    while (a[n] && a[n] == b[n]) n++;
    return n;
}

/* Reduce n so that the last n bytes of `s` do not begin within a tag <…>. whole_beginning does the
 * same for the end of the first n bytes. */
static size_t whole_end(const char *s, size_t n)
{
    const char *begin = s + strlen(s) - n, *close = strchr(begin, '>'), *open = strchr(begin, '<');
    return close && (!open || close < open) && begin > s && strchr(s, '<') ? strlen(close + 1) : n;
}

static size_t whole_beginning(const char *s, size_t n)
{
    size_t open = n;
    while (open && s[open - 1] != '<' && s[open - 1] != '>') open--;
    return open && s[open - 1] == '<' ? open - 1 : n;
}

/* The parts of a text before and after a message. */
typedef struct Around { const char *before, *behind; } Around;

static bool cut(const Learner *l, const char *text, const char *said, Around *a)
{
    const char *at = text ? strstr(text, said) : NULL;
    if (!at || strstr(at + 1, said)) return false;
    *a = (Around){ copy(l, text, at), at + strlen(said) };
    return true;
}

/* The texts around a single turn, around a system message, and between turns. */
typedef struct Cuts {
    Around one, system, empty;      /* system.behind: up to the user message */
    const char *answered, *again;   /* before an answer; between it and the next user message */
    const char *closed;             /* after a user message that gets no answer; NULL: unknown */
    size_t ended;                   /* bytes of `again` that end an answer if nothing follows it */
    bool has_system, has_empty, has_turns;
} Cuts;

static void cut_turns(const Learner *l, Cuts *c)
{
    Around first, answer, last;
    c->has_turns = cut(l, l->rendered[TWO_TURNS], USER, &first) &&
                   cut(l, first.behind, ANSWER, &answer) && cut(l, answer.behind, AGAIN, &last) &&
                   strcmp(last.behind, c->one.behind) == 0;
    if (c->has_turns) c->answered = answer.before, c->again = last.before;
}

/* Find how a conversation ends without add_generation_prompt. */
static void cut_ends(const Learner *l, Cuts *c)
{
    static const Probe answered = { NULL, { USER, ANSWER } };
    const char *date = l->dated ? DATE : NULL;
    Around a;
    if (cut(l, render(l, &probes[BASE], date, false).text, USER, &a)) c->closed = a.behind;
    if (c->has_turns && cut(l, render(l, &answered, date, false).text, ANSWER, &a) &&
        strncmp(c->again, a.behind, strlen(a.behind)) == 0) c->ended = strlen(a.behind);
}

static bool find_cuts(const Learner *l, Cuts *c)
{
    Around user;
    if (!cut(l, l->rendered[BASE], USER, &c->one)) return false;
    c->has_system = cut(l, l->rendered[WITH_SYSTEM], SYSTEM, &c->system) &&
                    cut(l, c->system.behind, USER, &user) &&
                    strcmp(user.behind, c->one.behind) == 0;
    if (c->has_system) c->system.behind = user.before;
    c->has_empty = cut(l, l->rendered[EMPTY_SYSTEM], USER, &c->empty);
    cut_turns(l, c);
    cut_ends(l, c);
    return true;
}

/* ---- proposals ------------------------------------------------------------------------------- */

/* The kind of a proposal. system: there may be a system message; preset: the template has a system
 * message of its own; inside: a system message is part of the first user turn; turns: there may be
 * several turns. */
typedef struct Way { bool system, preset, inside, turns; } Way;

static const char *name_of(const char *s, size_t at) { return s + at; }

/* Set the texts after a user message: user[1] and answer; with `turns` also past[0]. */
static void propose_turns(const Learner *l, const Cuts *c, bool turns, Chat *chat)
{
    const char *behind = c->one.behind;
    size_t user = strlen(behind);
    if (c->closed) user = shared_beginning(behind, c->closed);
    if (turns && shared_beginning(behind, c->answered) < user)
        user = shared_beginning(behind, c->answered);
    user = whole_beginning(behind, user);
    chat->user[1] = arena_copy(l->arena, behind, user);
    chat->answer = name_of(behind, user);
    if (turns) chat->past[0] = name_of(c->answered, user);
}

/* How many of the last bytes of `text`, which precedes a user message, begin every user turn. */
static size_t user_mark(const Cuts *c, const char *text, bool turns)
{
    size_t n = strlen(text);
    if (turns && shared_end(text, c->again + c->ended) < n)
        n = shared_end(text, c->again + c->ended);
    return whole_end(text, n);
}

static bool propose_system(const Learner *l, const Cuts *c, Way w, Chat *chat)
{
    const char *plain = c->one.before, *before = c->system.before, *behind = c->system.behind;
    const size_t x = strlen(before), y = strlen(behind), n = strlen(plain);
    if (w.preset && (n < x + y || strncmp(plain, before, x) || strcmp(plain + n - y, behind)))
        return false;
    if (w.preset) chat->preset = arena_copy(l->arena, plain + x, n - x - y);
    if (w.inside) {
        if (w.preset || strncmp(before, plain, n)) return false;
        const size_t user = user_mark(c, plain, w.turns);
        chat->begin = arena_copy(l->arena, plain, n - user);
        chat->user[0] = name_of(plain, n - user);
        chat->system[0] = name_of(before, n);
        chat->system[1] = behind;
        return true;
    }
    size_t user = user_mark(c, behind, w.turns), begin = 0;
    if (!w.preset && shared_end(plain, behind) < user)
        user = whole_end(behind, shared_end(plain, behind));
    const char *none = w.preset ? (c->has_empty ? c->empty.before : "") : plain;
    /* an empty system message is written like any other */
    if (w.preset && strlen(none) == x + y) none = "";
    if (strlen(none) >= user && strcmp(none + strlen(none) - user, behind + y - user) == 0 &&
        strncmp(none, before, strlen(none) - user) == 0) begin = strlen(none) - user;
    else if (!w.preset) return false;
    chat->begin = arena_copy(l->arena, before, begin);
    chat->system[0] = name_of(before, begin);
    chat->system[1] = copy(l, behind, behind + y - user);
    chat->user[0] = name_of(behind, y - user);
    return true;
}

static bool propose(const Learner *l, const Cuts *c, Way w, Chat *chat)
{
    *chat = (Chat){ .name = "", .begin = "", .again = "" };
    if ((w.system && !c->has_system) || (w.turns && !c->has_turns)) return false;
    propose_turns(l, c, w.turns, chat);
    if (w.system && !propose_system(l, c, w, chat)) return false;
    if (!w.system) {
        const size_t user = user_mark(c, c->one.before, w.turns), n = strlen(c->one.before);
        chat->begin = arena_copy(l->arena, c->one.before, n - user);
        chat->user[0] = name_of(c->one.before, n - user);
        chat->inside = true;
    } else chat->inside = w.inside;
    if (!w.turns) return true;
    const size_t n = strlen(c->again), user = strlen(chat->user[0]);
    if (n < user || strcmp(c->again + n - user, chat->user[0])) return false;
    chat->past[1] = arena_copy(l->arena, c->again, n - user);
    return true;
}

/* A copy of the text with RT_CHAT_DATE in place of each date; adds the number of dates to *n. */
static const char *with_dates(const Learner *l, const char *text, const char *date, int *n)
{
    Text t = text_new(l->arena);
    const char *at;
    if (!text) return NULL;
    for (; (at = strstr(text, date)); text = at + strlen(date), ++*n) {
        text_add_bytes(&t, text, (size_t)(at - text));
        text_add_bytes(&t, (const char[]){ RT_CHAT_DATE }, 1);
    }
    text_add(&t, text);
    return t.data;
}

/* ---- trying ---------------------------------------------------------------------------------- */

static bool writes_all(const Learner *l, const Chat *c, Way w)
{
    for (int i = 0; i < PROBES; i++) {
        if ((probes[i].system && !w.system) || (probes[i].said[1] && !w.turns)) continue;
        if (!agrees(l, c, &probes[i], l->dated ? DATE : c->dated ? TODAY : NULL, l->rendered[i]))
            return false;
    }
    return true;
}

/* Try all values of trim, empty, thinks, trims_past and at_last; false if none reproduces all
 * probes that `w` allows. */
static bool settle(const Learner *l, Chat *c, Way w)
{
    static const ChatTrim trims[] = { CHAT_TRIM_NONE, CHAT_TRIM_EACH, CHAT_TRIM_USER,
                                      CHAT_TRIM_SYSTEM, CHAT_TRIM_TURN, CHAT_TRIM_SYSTEM_END };
    for (int i = 0; i < 6 * 3 * 18; i++) {
        const int turns = i / 18;
        c->trim = trims[i % 6];
        c->empty = (ChatEmpty)(i / 6 % 3);
        c->thinks = turns % 3, c->trims_past = turns / 3 % 3, c->at_last = turns / 9;
        if ((!w.turns && turns) || (!w.system && c->empty) || (c->at_last && !w.inside)) continue;
        if (writes_all(l, c, w)) return true;
    }
    return false;
}

static void seek(Learner *l, const JinjaResult *r)
{
    for (int i = 0; i < r->sought_count; i++) {
        int k = 0;
        while (k < l->sought_count && strcmp(l->sought[k], r->sought[i])) k++;
        if (k == l->sought_count && k < JINJA_SOUGHT) l->sought[l->sought_count++] = r->sought[i];
    }
    for (int i = 0; i < r->bound_count; i++) {
        int k = 0;
        while (k < l->bound_count && l->bound[k] != r->bound[i]) k++;
        if (k == l->bound_count && k < JINJA_SOUGHT) l->bound[l->bound_count++] = r->bound[i];
    }
}

static void render_all(Learner *l)
{
    for (int i = 0; i < PROBES; i++) {
        const JinjaResult r = render(l, &probes[i], l->dated ? DATE : NULL, true);
        l->rendered[i] = r.text;
        seek(l, &r);
        if (r.fault && !r.raised && !l->other) l->other = r.fault;
        if (i == BASE) l->fault = r.fault, l->raised = r.raised;
        if (r.text && strlen(r.text) >= l->scratch_bytes) l->scratch_bytes = strlen(r.text) + 1;
    }
    l->scratch = arena_alloc(l->arena, l->scratch_bytes);
}

/* Set what the template writes if no date is given: the strftime format c->today, or the fixed text
 * c->date; false if that is unknown. */
static bool find_date(const Learner *l, Chat *c, Way w)
{
    static const char known[] = "aAbBdHIjmMpSyY%";
    if (!c->dated) return true;
    if (l->format) {
        for (const char *s = l->format; (s = strchr(s, '%')); s += 2)
            if (!s[1] || !strchr(known, s[1])) return false;
        if (!*l->format || strlen(l->format) >= 32) return false;
        c->today = l->format;
        if (!l->dated) return true;
        const JinjaResult r = render(l, &probes[BASE], NULL, true);
        return agrees(l, c, &probes[BASE], TODAY, r.text);
    }
    const Probe *p = &probes[w.system && !w.preset ? WITH_SYSTEM : BASE];
    const char *text = render(l, p, NULL, true).text, *given = render(l, p, DATE, true).text,
               *at = given ? strstr(given, DATE) : NULL;
    if (!text || !at) return false;
    int dates = 0;
    with_dates(l, given, DATE, &dates);
    const size_t before = (size_t)(at - given), rest = strlen(given) - (size_t)dates * strlen(DATE),
                 n = strlen(text);
    if (n < rest || (n - rest) % (size_t)dates || (n - rest) / (size_t)dates > n - before)
        return false;
    c->date = arena_copy(l->arena, text + before, (n - rest) / (size_t)dates);
    return agrees(l, c, p, NULL, text);
}

static const char *name_of_chat(const Chat *c)
{
    static const struct { const char *name, *system, *before, *behind; } names[] = {
#define CHAT(name, system, before, behind) { name, system, before, behind },
#include "chats.def"
#undef CHAT
    };
    const char *system = c->system[0] ? c->system[0] : "";
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strstr(system, names[i].system) && strstr(c->user[0], names[i].before) &&
            strstr(c->user[1], names[i].behind))
            return names[i].name;
    return "custom";
}

/* Replace the dates in begin, system and preset with RT_CHAT_DATE, and set c->dated if there are
 * any. False if a text of a turn contains a date, if begin and system have too many dates, or if
 * the template also writes the byte RT_CHAT_DATE itself. */
static bool settle_date(const Learner *l, Chat *c)
{
    const char *date = l->dated ? DATE : TODAY;
    const char *turns[] = { c->user[0], c->user[1], c->answer, c->past[0], c->past[1] };
    const char *const mark = (const char[]){ RT_CHAT_DATE, '\0' };
    int outside = 0, within = 0;
    for (size_t i = 0; i < sizeof turns / sizeof *turns; i++)
        if (turns[i] && strstr(turns[i], date)) return false;
    c->begin = with_dates(l, c->begin, date, &outside);
    for (int i = 0; i < 2; i++) c->system[i] = with_dates(l, c->system[i], date, &outside);
    c->preset = with_dates(l, c->preset, date, &within);
    c->dated = outside || within;
    return outside <= RT_CHAT_DATES && !(c->dated && strstr(l->rendered[BASE], mark));
}

static bool agrees_with(Learner *l, const Chat *c, const Probe *p)
{
    const char *date = l->dated ? DATE : NULL;
    const JinjaResult r = render(l, p, date, true);
    const size_t bytes = r.text ? strlen(r.text) + 1 : 0;
    if (bytes > l->scratch_bytes) l->scratch = arena_alloc(l->arena, l->scratch_bytes = bytes);
    return agrees(l, c, p, date || !c->dated ? date : l->today, r.text);
}

/* True if the template does not call strftime_now, or if it writes other dates, of every weekday
 * and month, in the same places. */
static bool moves_date(Learner *l, const Chat *c)
{
    enum { DAYS = 13, APART = 32 * 86400 };
    const bool dated = l->dated;
    bool moves = true;
    if (!l->format) return true;
    l->dated = false;
    for (int day = 0; day < DAYS && moves; day++) {
        char today[64];
        const time_t seconds = 1704110400 + (time_t)day * APART;
        struct tm t;
        moves = gmtime_r(&seconds, &t) && strftime(today, sizeof today, l->format, &t) > 0;
        l->today = today;
        for (int i = 0; i < TWO_TURNS && moves; i++)
            if (!probes[i].system || c->system[0]) moves = agrees_with(l, c, &probes[i]);
    }
    l->today = TODAY;
    l->dated = dated;
    return moves;
}

/* Set c->blank if a system message of white space counts as empty, and try blank and empty user
 * messages. Returns a description of messages that the template writes differently, or NULL. */
static const char *settle_blanks(Learner *l, Chat *c)
{
    static const Probe users[] = {
        { NULL, { "" } }, { NULL, { " \n" } }, { SYSTEM, { "" } }, { SYSTEM, { " \n" } }
    };
    static const Probe system = { " \n", { USER } };
    static const char blanks[] = "for a message that is only white space",
                      nothing[] = "for an empty message";
    if (c->system[0] && !agrees_with(l, c, &system)) {
        c->blank = true;
        if (!agrees_with(l, c, &system)) return blanks;
    }
    for (size_t i = 0; i < sizeof users / sizeof *users; i++)
        if ((!users[i].system || c->system[0]) && !agrees_with(l, c, &users[i]))
            return i % 2 ? blanks : nothing;
    return NULL;
}

/* True if the template writes a probe as `c` does, or `c` cannot represent it. */
static bool agrees_or_none(Learner *l, const Chat *c, const Probe *p)
{
    return (p->system && !c->system[0]) || (p->said[1] && !c->past[0]) || agrees_with(l, c, p);
}

/* Describe messages that contain s, a string that the template compares or searches for. */
static const char *sought_words(const Learner *l, const char *s)
{
    static const char *const own[] = { USER, ANSWER, AGAIN, SYSTEM };
    Text t = text_new(l->arena);
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (strstr(s, own[i])) return "for a message that repeats another";
    text_add(&t, "for a message with ");
    json_add_string(&t, s);
    return t.data;
}

/* Try messages that contain the strings that the template compares or searches for. Returns a
 * description of the first that it writes differently, or NULL. */
static const char *find_sought(Learner *l, const Chat *c)
{
    for (int i = 0; i < l->sought_count; i++) {
        const char *s = l->sought[i];
        const char *within = arena_format(l->arena, USER " %s and", s),
                   *first = arena_format(l->arena, "%s " USER, s);
        const char *last = arena_format(l->arena, USER "\n%s", s);
        const Probe all[] = {
            { NULL, { within } },
            { NULL, { first } },
            { NULL, { last } },
            { NULL, { s } },
            { within, { USER } },
            { first, { USER } },
            { last, { USER } },
            { s, { USER } },
            { NULL, { USER, within, AGAIN } },
            { NULL, { USER, first, AGAIN } },
            { NULL, { USER, last, AGAIN } },
            { NULL, { first, ANSWER, AGAIN } },
            { NULL, { USER, ANSWER, last } },
            { NULL, { USER, s, AGAIN } },
            { NULL, { USER, ANSWER, s } },
        };
        for (size_t k = 0; k < sizeof all / sizeof *all; k++)
            if (!agrees_or_none(l, c, &all[k])) return sought_words(l, s);
    }
    return NULL;
}

/* Try messages and conversations whose length is close to an integer that the template compares
 * values with or slices at. Returns a description of the first that it writes differently, or
 * NULL. */
static const char *find_bound(Learner *l, const Chat *c)
{
    enum { LONGEST = 20000 };
    for (int i = 0; i < 3 * l->bound_count; i++) {
        const int64_t bound = l->bound[i / 3], n = (bound < 0 ? -bound : bound) + i % 3 - 1;
        if (n < 1 || n > LONGEST) continue;
        char *text = arena_alloc(l->arena, (size_t)n + 1);
        memset(text, 'x', (size_t)n);
        const Probe all[] = { { NULL, { text } },
                              { text, { USER } },
                              { NULL, { USER, text, AGAIN } },
                              { NULL, { USER, ANSWER, text } } };
        for (size_t k = 0; k < sizeof all / sizeof *all; k++)
            if (!agrees_or_none(l, c, &all[k]))
                return arena_format(l->arena, "for a message of %d character%s", (int)n, n == 1 ? "" : "s");
        if (n > MOST_SAID - 3) continue;
        for (int k = 0; k < 2; k++) {           /* odd: the user speaks last */
            const int count = ((int)n | 1) + 2 * k;
            Probe turns = { NULL, { NULL } };
            for (int t = 0; t < count; t++) turns.said[t] = t % 2 ? ANSWER : USER;
            for (int s = 0; s < 2; s++) {
                turns.system = s ? SYSTEM : NULL;
                if (!agrees_or_none(l, c, &turns))
                    return arena_format(l->arena, "for a conversation of %d message%s%s", count, count == 1 ? "" : "s",
                                        s ? " with a system prompt" : "");
            }
        }
    }
    return NULL;
}

static const char *find_unlike(Learner *l, Chat *c)
{
    const char *unlike = settle_blanks(l, c);
    if (!unlike) unlike = find_sought(l, c);
    return unlike ? unlike : find_bound(l, c);
}

/* The first proposal that reproduces all probes of its Way; NULL if there is none, or if its date
 * is not supported. *fault says why. */
static Chat *find_chat(Learner *l, const Cuts *c, const char **fault)
{
    static const Way ways[] = {
        { true, false, true, true },  { true, false, false, true },
        { true, true, false, true },  { false, false, false, true },
        { true, false, true, false }, { true, false, false, false },
        { true, true, false, false }, { false, false, false, false },
    };
    *fault = "the chat template changes or moves messages in a way that is not supported";
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        Chat *chat = arena_alloc(l->arena, sizeof *chat);
        const Way w = ways[i];
        if (!propose(l, c, w, chat)) continue;
        if (!settle_date(l, chat)) {
            *fault = "the chat template writes dates in places that are not supported";
            continue;
        }
        if (!settle(l, chat, w)) continue;
        if (find_date(l, chat, w) && moves_date(l, chat)) {
            chat->name = name_of_chat(chat);
            chat->unlike = find_unlike(l, chat);
            *fault = NULL;
            return chat;
        }
        *fault = "the chat template writes a date in a form that is not supported";
        return NULL;
    }
    return NULL;
}

Chat *chat_learn(Arena *a, const char *text, size_t bytes, const JinjaName *names, int count,
                 const char **fault)
{
    Learner l = { .arena = a, .names = names, .name_count = count, .today = TODAY };
    Cuts cuts = { 0 };
    l.template = jinja_parse(a, text, bytes, fault);
    if (!l.template) {
        *fault = arena_format(a, "the chat template: %s", *fault);
        return NULL;
    }
    for (int i = 0; i < 2 && !l.dated; i++) {       /* does it write date_string? */
        const JinjaResult r = render(&l, &probes[i], DATE, true);
        l.dated = r.text && strstr(r.text, DATE);
    }
    l.format = render(&l, &probes[BASE], NULL, true).format;
    render_all(&l);
    if (l.fault)
        *fault = arena_format(a, "the chat template %s: %s",
                              l.raised ? "rejects a conversation" : "cannot be run", l.fault);
    else if (!find_cuts(&l, &cuts))
        *fault = "the chat template does not write a user message exactly once and unchanged";
    else {
        Chat *chat = find_chat(&l, &cuts, fault);
        if (!chat && l.other)
            *fault = arena_format(a, "the chat template cannot be run: %s", l.other);
        return chat;
    }
    return NULL;
}
