/* rt_generate_text.c: the answer of rt_generate_text.h. It keeps only text that has not been passed
 * on yet: a possible beginning of a stop, and what the next id may still change. */
#include "rt_generate_text.h"
#include <string.h>

typedef struct Answer {
    const RtTextModel *model;
    const RtGeneration *settings;
    RtStops stops;
    int *ids;  int count;           /* the prompt, if joined, and the answer */
    char *text;  size_t room, bytes;                        /* not passed on yet */
    /* The end of the prompt's text if no id followed; ids of the answer may change it. */
    const char *open;  size_t open_bytes;
    int prompt;                     /* prompt ids in `ids`, until the answer begins */
    rt_on_token *on_token;
    void *user;
    int ended;                      /* by a stop, or by on_token */
    rt_status status;               /* of `stream` */
} Answer;

/* ---- options -------------------------------------------------------------------------------------------- */

static int given(float x) { return !(x >= 0 && x <= 0); }           /* NaN counts as given */
static int draws(const rt_generate_options *o) { return given(o->temperature) || o->top_k || given(o->top_p); }

/* 1 if the options do not conflict, and the model supports them. */
static int applies(const RtTextModel *m, const rt_generate_options *o)
{
    if (o->plain_text && !m->marks) return 0;
    if (o->greedy && draws(o)) return 0;
    if (!o->chat) return !o->system && !o->date;
    return m->chat && (!o->system || m->chat->system[0]) && (!o->date || m->chat->dated);
}

static RtGeneration chosen(const RtGeneration *own, const rt_generate_options *o)
{
    RtGeneration g = o->settings ? *o->settings : *own;
    RtSampling *s = &g.sampling;
    if (o->max_new_tokens) g.max_new = o->max_new_tokens;
    if (o->greedy || draws(o)) g.beams = 0;
    if (o->greedy) s->temperature = 0;
    if (draws(o) && s->temperature <= 0) s->temperature = 1;
    if (given(o->temperature)) s->temperature = o->temperature;
    if (o->top_k) s->top_k = o->top_k;
    if (given(o->top_p)) s->top_p = o->top_p;
    if (o->seed) g.seed = o->seed;
    return g;
}

/* ---- memory --------------------------------------------------------------------------------------------- */

/* Allocate from the work memory; NULL if too little is left. */
static void *take(unsigned char **at, size_t *left, size_t bytes)
{
    void *part = *at;
    bytes = rt_padded(bytes);
    if (bytes > *left) return NULL;
    *at += bytes, *left -= bytes;
    return part;
}

/* ENDS: end ids. WINDOW: bytes of text besides two tokens; WINDOW_MOST: most bytes used, besides
 * those that room_most adds. STOPS, STOP_BYTES: stop strings, and their bytes in all. */
enum { ENDS = 16, WINDOW = 512, WINDOW_MOST = 65536, STOPS = 16, STOP_BYTES = 256 };

size_t rt_generate_text_bytes(int slots, int longest, int vocab, int token)
{
    const RtGeneration drawn = { .sampling = { .temperature = 1 }, .processors = { .repetition_penalty = 2 } };
    const RtGeneration search = { .processors = drawn.processors, .beams = slots < RT_BEAM_MOST ? slots : RT_BEAM_MOST,
                                  .end_count = ENDS };
    const size_t one = rt_answer_scratch_bytes(&drawn, longest, vocab);
    const size_t many = slots > 1 ? rt_answer_scratch_bytes(&search, longest, vocab) : 0;
    const size_t stops = STOPS * (sizeof(char *) + sizeof(RtStop)) + STOP_BYTES * sizeof(uint32_t);
    const size_t results = (size_t)(slots < RT_BEAM_MOST ? slots : RT_BEAM_MOST) * sizeof(RtBeamResult);
    return rt_padded(results) + rt_padded(stops) + rt_padded(one > many ? one : many) + WINDOW + 2 * rt_padded((size_t)token);
}

/* ---- the prompt ----------------------------------------------------------------------------------------- */

/* Turn a text into m->ids, wrapped in the chat template if `chat` is set. The rest of the work
 * memory is scratch. */
static rt_status read_text(const RtTextModel *m, const rt_generate_options *o, const char *text, int room, int *n)
{
    uint32_t ranges[2 * (2 * 1 + 2 + RT_CHAT_DATES)];
    RtChatTyped typed = { ranges, 0 };
    RtTextInput in = { .text = text, .bytes = strlen(text), .plain = o->chat, .literal_count = o->plain_text ? -1 : 0 };
    size_t used = 0;
    if (o->chat) {
        const RtChatWords words = { o->system, o->date };
        in.bytes = m->message(m->chat, &words, text, in.bytes, m->work, m->bytes, &typed);
        in.text = m->work, used = rt_padded(in.bytes);
        if (o->plain_text) in.literal = ranges, in.literal_count = typed.count;
    }
    if (used > m->bytes) return RT_TOO_LONG;
    in.scratch = (unsigned char *)m->work + used, in.scratch_bytes = m->bytes - used;
    return m->tokenize(m->decoder.self, &in, m->ids, room, n);
}

/* ---- text ----------------------------------------------------------------------------------------------- */

/* The bytes of whole characters among the first n. */
static size_t whole(const Answer *a, size_t n)
{
    while (n && n < a->bytes && ((unsigned char)a->text[n] & 0xC0) == 0x80) n--;
    return n;
}

/* Pass on the first n bytes, and remove them. */
static void hand_on(Answer *a, size_t n)
{
    const char next = a->text[n];
    if (!n) return;
    a->text[n] = '\0';
    if (a->on_token && !a->on_token(a->user, a->text, n)) a->ended = 1;
    a->text[n] = next;
    a->bytes -= n;
    memmove(a->text, a->text + n, a->bytes + 1);
}

/* Append the text of ids[from..n) to a->text, of which *used bytes are taken. */
static rt_status text_of(Answer *a, int from, int n, int last, size_t *used)
{
    return a->model->detokenize(a->model->decoder.self, a->ids, from, n, last, a->text, a->room, used);
}

/* a->text is the first text after the prompt's certain text: remove from it what the prompt left
 * open. If the ids after the prompt have changed that, for example because their bytes complete its
 * last character, the answer is the text of its own ids. */
static rt_status part(Answer *a, int last)
{
    const int prompt = a->prompt;
    a->prompt = 0;
    if (a->bytes >= a->open_bytes && !memcmp(a->text, a->open, a->open_bytes)) {
        a->bytes -= a->open_bytes;
        memmove(a->text, a->text + a->open_bytes, a->bytes + 1);
        return RT_OK;
    }
    a->ids += prompt, a->count -= prompt, a->bytes = 0;
    return text_of(a, 0, a->count, last, &a->bytes);
}

/* Pass on the certain text of ids[from..count); last: no id follows. */
static rt_status stream(Answer *a, int from, int last)
{
    size_t used = a->bytes, seen = a->prompt ? 0 : used;
    rt_status status = text_of(a, from, a->count, last, &used);
    if (status != RT_OK) return status;
    a->bytes = used;
    if (a->prompt && (!used || (!last && used < a->open_bytes && !memcmp(a->text, a->open, used)))) return RT_OK;
    if (a->prompt) status = part(a, last);
    if (status != RT_OK) return status;
    for (; seen < a->bytes && !a->ended; seen++) {
        const size_t found = rt_stops_see(&a->stops, a->text[seen]);
        if (!found) continue;
        a->bytes = whole(a, seen + 1 - found);
        a->ended = 1;
    }
    hand_on(a, whole(a, a->bytes - (a->ended || last ? 0 : rt_stops_held(&a->stops))));
    return RT_OK;
}

/* Called for each generated id; returns 1 to stop. */
static int on_id(void *user, int id)
{
    Answer *a = user;
    if (rt_is_end(a->settings->ends, a->settings->end_count, id)) return 0;
    a->ids[a->count++] = id;
    a->status = stream(a, a->count - 1, 0);
    return a->status != RT_OK || a->ended;
}

/* Detokenize the prompt id by id, without passing on its text; last: also the rest, as if no id
 * followed. *used receives the bytes of the last piece, which is in a->text. */
static rt_status pass(Answer *a, int last, size_t *used)
{
    rt_status status = RT_OK;
    for (int i = 0; i < a->count + last && status == RT_OK; i++) {
        const int ends = i == a->count;
        *used = 0;
        status = text_of(a, i, ends ? i : i + 1, ends, used);
    }
    return status;
}

/* Move the text that the prompt leaves open to the end of the room, and bring the detokenizer to
 * where the answer begins. */
static rt_status begin(Answer *a)
{
    size_t used = 0;
    if (!a->count) return RT_OK;
    rt_status status = pass(a, 1, &used);
    if (status != RT_OK) return status;
    a->room -= used;
    a->open = memmove(a->text + a->room, a->text, used);
    a->open_bytes = used, a->prompt = used ? a->count : 0;
    status = pass(a, 0, &used);
    a->text[0] = '\0';
    return status;
}

/* ---- the answer ----------------------------------------------------------------------------------------- */

static rt_status answer(Answer *a, const int *prompt, int n, RtBeamResult *results, void *scratch, size_t bytes)
{
    const int search = rt_generation_searches(a->settings);
    const RtAnswering how = { .on_id = search ? NULL : on_id, .user = a };
    int count;
    rt_status status = rt_answer(&a->model->decoder, a->settings, &how, prompt, n, a->model->longest, scratch, bytes, results, &count);
    if (status == RT_OK) status = a->status;
    for (int i = 0; search && status == RT_OK && i < results[0].length && !a->ended; i++) {
        on_id(a, results[0].ids[i]);
        status = a->status;
    }
    return status == RT_OK && !a->ended && a->count > a->prompt ? stream(a, a->count, 1) : status;
}

/* With a source, the ids of the answer overwrite those of the source; otherwise they follow the
 * prompt's. */
static rt_status answer_ids(Answer *a, int n, int joined, RtBeamResult *results, void *scratch, size_t bytes)
{
    const RtTextModel *m = a->model;
    rt_status status = m->encode ? m->encode(m->decoder.self, 0, m->ids, n) : RT_OK;
    a->ids = m->encode || joined ? m->ids : m->ids + n;
    a->count = !m->encode && joined ? n : 0;
    if (status == RT_OK) status = begin(a);
    return status == RT_OK ? answer(a, m->encode ? &m->start : m->ids, m->encode ? 1 : n, results, scratch, bytes) : status;
}

static size_t longest_stop(const char *const *stop, int n)
{
    size_t longest = 0;
    for (int i = 0; i < n; i++)
        if (strlen(stop[i]) > longest) longest = strlen(stop[i]);
    return longest;
}

/* A run of byte tokens is held until it ends, and each byte may become U+FFFD. */
static size_t room_most(const RtTextModel *m)
{
    const size_t bytes = 3 * (size_t)(m->source > m->longest ? m->source : m->longest);
    return WINDOW_MOST + 2 * bytes;
}

/* Return a status, after erasing pointers, the text and its ids. */
static rt_status refuse(const RtTextModel *m, rt_status status)
{
    const int most = m->source > m->longest ? m->source : m->longest;
    memset(m->work, 0, m->bytes);
    memset(m->ids, 0, (size_t)most * sizeof *m->ids);
    return status;
}

rt_status rt_generate_text(const RtTextModel *m, const char *text, const rt_generate_options *options,
                           rt_on_token *on_token, void *user)
{
    static const rt_generate_options none;
    const rt_generate_options *o = options ? options : &none;
    const RtGeneration g = chosen(m->settings, o);
    if (!applies(m, o) || !rt_generation_in_range(&g) || !rt_stops_good(o->stops, o->stop_count)) return RT_BAD_OPTION;
    if (rt_generation_fault(&g) || g.beams > m->decoder.slots) return RT_BAD_OPTION;

    int n;
    rt_status status = read_text(m, o, text, m->encode ? m->source : rt_generation_prompt(&g, m->longest - 1), &n);
    if (status != RT_OK) return refuse(m, status);
    if (!n) return refuse(m, RT_ORDER);

    const int stops = g.stop_count + o->stop_count;
    const size_t wanted = rt_answer_scratch_bytes(&g, m->longest, m->decoder.vocab);
    unsigned char *at = m->work;
    size_t left = m->bytes;
    RtBeamResult *results = take(&at, &left, (size_t)(g.beams > 1 ? g.beams : 1) * sizeof *results);
    const char **stop = take(&at, &left, (size_t)stops * sizeof *stop);
    void *scratch = take(&at, &left, wanted);
    if (!results || !stop || !scratch) return refuse(m, RT_NO_ROOM);
    if (g.stop_count) memcpy(stop, g.stops, (size_t)g.stop_count * sizeof *stop);
    if (o->stop_count) memcpy(stop + g.stop_count, o->stops, (size_t)o->stop_count * sizeof *stop);
    void *borders = take(&at, &left, rt_stops_scratch_bytes(stop, stops));
    if (!borders || left < longest_stop(stop, stops) + (size_t)m->token + 64) return refuse(m, RT_NO_ROOM);
    Answer a = { .model = m, .settings = &g, .stops = rt_stops_new(stop, stops, borders), .text = (char *)at,
                 .room = left < room_most(m) ? left : room_most(m), .on_token = on_token, .user = user };
    rt_stops_begin(&a.stops);
    a.text[0] = '\0';
    status = answer_ids(&a, n, m->joined && !o->chat, results, scratch, wanted);
    /* Leave no pointers behind. */
    memset(m->work, 0, (size_t)(at - (unsigned char *)m->work) + a.room + a.open_bytes);
    return status;
}
