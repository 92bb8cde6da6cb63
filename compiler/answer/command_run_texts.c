/* command_run_texts.c: texts into answers, as the generated program gives them: one line for each text, an empty one for
 * a text that is refused, its fault told at once on standard error. Without a tokenizer, texts and answers are ids. With
 * --json an object that grows answer by answer. */
#include "command_run_texts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command_run_batch.h"
#include "answer_masks.h"
#include "command_run_read.h"
#include "answer_vectors.h"
#include "decode.h"
#include "json_text.h"
#include "progress.h"

typedef struct Texts {
    Session *session;
    const RunOptions *options;
    TextReader *reader;
    Decoder *decoder;               /* NULL of an encoder alone */
    Vectors *vectors;               /* of an encoder alone, else NULL */
    Masks masks;                    /* of a masked language model; else without vectors */
    RtAnswerText text;              /* of an answer */
    RtTokenStream stream;           /* of what its pieces say */
    bool streams;                   /* an answer is written while it is generated */
    size_t shown;                   /* bytes of it that were */
    rt_status told;                 /* of writing the text while its ids came */
    RtLines lines;                  /* of standard input */
    Batch batch;                    /* of them, of an encoder alone */
    int prompt;                     /* ids of the text */
    int count;                      /* of the texts so far */
    Exit code;                      /* 65 after a refused text; 70, 74: nothing more is answered */
} Texts;

/* ---- writing -------------------------------------------------------------------------------------------- */

static void put_more(Texts *t, const char *s, size_t n)
{
    if (t->code == EXIT_IO || fwrite(s, 1, n, stdout) == n) return;
    fprintf(stderr, "%s: cannot write to standard output: %s\n", t->session->model->name, strerror(errno));
    t->code = EXIT_IO;
}

/* Somebody may wait for it. */
static void put(Texts *t, const char *s, size_t n)
{
    put_more(t, s, n);
    if (t->code == EXIT_IO || fflush(stdout) == 0) return;
    fprintf(stderr, "%s: cannot write to standard output: %s\n", t->session->model->name, strerror(errno));
    t->code = EXIT_IO;
}

/* ---- the text of an answer ------------------------------------------------------------------------------ */

static rt_status say_pieces(void *self, const int *ids, int from, int n, int last, char *out, size_t cap, size_t *used)
{
    Texts *t = self;
    if (!from) t->stream = (RtTokenStream){ 0 };
    return (last ? rt_tokenizer_stream_end : rt_tokenizer_stream)(t->reader->tokenizer, &t->stream, ids, n, true, out, cap, used);
}

static rt_status say_characters(void *self, const int *ids, int from, int n, int last, char *out, size_t cap, size_t *used)
{
    const Texts *t = self;
    rt_status status = RT_OK;
    (void)last;
    for (int i = from; i < n && status == RT_OK; i++) status = rt_characters_decode(&t->reader->target, ids[i], out, cap, used);
    return status;
}

static void open_text(Texts *t)
{
    const TextReader *r = t->reader;
    const RtGeneration *g = &t->decoder->generation;
    RtSay *say = r->numbers ? rt_say_numbers : r->tokenizer ? say_pieces : say_characters;
    if (rt_answer_text_open(&t->text, say, t, g->stops, r->numbers ? 0 : g->stop_count) != RT_OK) die("no memory");
}

/* By pieces a decoder alone writes its prompt too, since a piece may depend on the one before; but for the answer in a chat. */
static rt_status begin_text(Texts *t)
{
    const bool prompted = t->reader->tokenizer && !t->reader->chat && !t->session->model->has_encoder;
    return rt_answer_text_begin(&t->text, t->reader->ids, prompted ? t->prompt : 0);
}

/* An id goes into the text, but for an end mark; of ids as numbers that too. */
static rt_status add_id(Texts *t, int id)
{
    if (!t->reader->numbers && decoder_is_end(t->decoder, id)) return RT_OK;
    return rt_answer_text_add(&t->text, id);
}

static rt_status write_answer(Texts *t, const RtBeamResult *r)
{
    rt_status status = begin_text(t);
    for (int i = 0; i < r->length && status == RT_OK; i++) status = add_id(t, r->ids[i]);
    return status == RT_OK ? rt_answer_text_end(&t->text) : status;
}

/* What nothing can change any more. */
static void show(Texts *t)
{
    if (t->text.certain > t->shown) put(t, t->text.text + t->shown, t->text.certain - t->shown);
    t->shown = t->text.certain;
}

/* An id has come. */
static int hear(void *user, int id)
{
    Texts *t = user;
    t->told = add_id(t, id);
    if (t->streams && t->told == RT_OK) show(t);
    return t->told != RT_OK || t->text.stopped || t->code == EXIT_IO;
}

/* Of a search every sequence with its score; else the sum alone. */
static void tell_scores(Texts *t)
{
    for (int i = 0; i < t->decoder->count; i++) {
        const RtBeamResult *r = &t->decoder->results[i];
        if (write_answer(t, r) != RT_OK) return;
        fprintf(stderr, "%s: ", t->text.text);
        if (rt_generation_searches(&t->decoder->generation)) fprintf(stderr, "score %.6f, ", r->score);
        fprintf(stderr, "sum of log-probabilities %.4f\n", r->sum);
    }
}

static rt_status decode_answer(Texts *t, int n)
{
    t->told = begin_text(t);
    t->shown = 0;
    if (t->streams && t->told == RT_OK) show(t);
    t->decoder->answering.text = (uint64_t)t->count;
    rt_status status = t->told == RT_OK ? decoder_answer(t->decoder, t->reader->ids, n) : t->told;
    if (status == RT_OK && t->told != RT_OK) status = t->told;
    if (status == RT_OK && !t->decoder->count) return RT_BAD_WEIGHTS;
    return status == RT_OK ? write_answer(t, &t->decoder->results[0]) : status;
}

/* The ids of a text; false after telling. */
static bool read_ids(Texts *t, const char *text, size_t bytes, Origin at)
{
    int n = 0;
    if (!text_reader_ids(t->reader, text, bytes, at, &n)) {
        t->code = EXIT_BAD_DATA;
        return false;
    }
    t->prompt = n;
    if (t->masks.vectors && !t->options->raw && !masks_count(&t->masks, n)) {
        text_reader_begin_message(t->reader, at);
        fprintf(t->reader->messages, "no mask, id %lld, in it\n", (long long)t->session->model->mask_id);
        t->code = EXIT_BAD_DATA;
        return false;
    }
    return true;
}

/* Whether it is RT_OK; false after telling. */
static bool good(Texts *t, rt_status status, Origin at)
{
    if (status == RT_OK) return true;
    text_reader_begin_message(t->reader, at);
    fprintf(stderr, "%s\n", status == RT_BAD_WEIGHTS ? "the model's logits are no numbers" : rt_status_text(status));
    t->code = status == RT_BAD_WEIGHTS ? EXIT_BAD_DATA : EXIT_OUR_BUG;
    return false;
}

/* False after telling; there is then no answer. */
static bool answer(Texts *t, const char *text, size_t bytes, Origin at)
{
    if (!read_ids(t, text, bytes, at)) return false;
    const int n = t->prompt;
    const bool answered = good(t, t->vectors ? vectors_encode(t->vectors, t->reader->ids, n, t->reader->first) : decode_answer(t, n), at);
    text_reader_answered(t->reader, answered ? t->text.text : NULL, t->text.bytes);
    return answered;
}

/* ---- all texts ------------------------------------------------------------------------------------------ */

static void add_ids(Text *json, const char *key, const int *ids, int n)
{
    text_printf(json, ",\"%s\":[", key);
    for (int i = 0; i < n; i++) text_printf(json, i ? ",%d" : "%d", ids[i]);
    text_add(json, "]");
}

/* What a decoder wrote, by the keys of a generated program. */
static void add_answer(Texts *t, Text *json)
{
    const RtBeamResult *r = &t->decoder->results[0];
    add_ids(json, "input_ids", t->reader->ids, t->prompt);
    add_ids(json, "ids", r->ids, r->length);
    text_add(json, ",\"answer\":");
    json_add_bytes(json, t->text.text, t->text.bytes);
    text_add(json, ",\"score\":");
    json_add_number(json, r->sum);
    text_printf(json, ",\"finished\":%s", decoder_ended(t->decoder, r) ? "true" : "false");
}

/* Every sequence of a search, best first. */
static void add_beams(Texts *t, Text *json, int count)
{
    text_add(json, ",\"beams\":[");
    for (int i = 0; i < count; i++) {
        const RtBeamResult *r = &t->decoder->results[i];
        write_answer(t, r);         /* the first of them was written before, and the others are no longer */
        text_add(json, i ? ",\n   {\"answer\":" : "{\"answer\":");
        json_add_bytes(json, t->text.text, t->text.bytes);
        add_ids(json, "ids", r->ids, r->length);
        text_add(json, ",\"score\":");
        json_add_number(json, r->score);
        text_add(json, ",\"sum\":");
        json_add_number(json, r->sum);
        text_add(json, "}");
    }
    text_add(json, "]");
}

/* The input as ids, then the numbers. */
static void add_vectors(Texts *t, Text *json)
{
    add_ids(json, "input_ids", t->reader->ids, t->prompt);
    if (t->masks.vectors) masks_print_json(&t->masks, json);
    else vectors_print_json(t->vectors, json);
}

static void put_vectors(Texts *t, bool answered)
{
    Arena *a = arena_new();
    Text out = text_new(a);
    const bool raw = t->options->raw;
    if (answered && t->masks.vectors && !raw) masks_print(&t->masks, &out);
    else if (answered) (raw ? vectors_print_raw : vectors_print)(t->vectors, &out);
    if (!raw) text_add(&out, "\n");
    put(t, out.data, out.size);
    arena_free(a);
}

static void put_json(Texts *t, const char *text, size_t bytes, bool answered)
{
    Arena *a = arena_new();
    Text json = text_new(a);
    text_add(&json, t->count ? ",\n {\"input\":" : "\n {\"input\":");
    json_add_bytes(&json, text, bytes);
    if (!answered) text_add(&json, ",\"answer\":null");
    else (t->vectors ? add_vectors : add_answer)(t, &json);
    if (t->decoder && rt_generation_searches(&t->decoder->generation)) add_beams(t, &json, answered ? t->decoder->count : 0);
    text_add(&json, "}");
    put(t, json.data, json.size);
    arena_free(a);
}

/* The answer and a line's end, which stands alone where there is none. */
static void put_line(Texts *t, bool answered)
{
    if (answered) put_more(t, t->text.text + t->shown, t->text.bytes - t->shown);
    put(t, "\n", 1);
}

/* Whether to go on. */
static bool show_answer(Texts *t, const char *text, size_t bytes, bool answered)
{
    if (t->options->json) put_json(t, text, bytes, answered);
    else if (t->vectors) put_vectors(t, answered);
    else put_line(t, answered);
    if (t->decoder && answered && t->options->verbose) {
        tell_scores(t);
        rt_timing_print(&t->decoder->timing, t->session->model->name);
    }
    t->count++;
    return t->code != EXIT_IO && t->code != EXIT_OUR_BUG;
}

static bool take_text(Texts *t, const char *text, size_t bytes, Origin at)
{
    if (t->vectors) t->vectors->values = t->vectors->all;
    return show_answer(t, text, bytes, answer(t, text, bytes, at));
}

/* ---- lines ---------------------------------------------------------------------------------------------- */

/* Answer all that wait. */
static bool end_batch(Texts *t)
{
    Batch *b = &t->batch;
    if (!b->count) return true;
    const bool encoded = good(t, vectors_encode_batch(t->vectors, b->ids, b->lengths, b->firsts, b->count), (Origin){ "line", b->items[0].number });
    bool more = true;
    for (int i = 0, from = 0; i < b->count && more; from += b->lengths[i++]) {
        const BatchItem *item = &b->items[i];
        memcpy(t->reader->ids, b->ids + from, (size_t)b->lengths[i] * sizeof *b->ids);
        t->prompt = b->lengths[i];
        vectors_take(t->vectors, i, from, b->lengths[i]);
        fwrite(b->texts.data + item->said, 1, item->said_bytes, stderr);
        more = show_answer(t, b->texts.data + item->at, item->bytes, encoded);
    }
    batch_clear(b);
    return more;
}

/* A line waits for those behind it that are there, and is answered before one that does not fit or is refused. */
static bool take_batch_line(Texts *t, const char *text, size_t bytes, Origin at)
{
    Batch *b = &t->batch;
    TextReader *r = t->reader;
    r->messages = b->said;
    const bool read = read_ids(t, text, bytes, at);
    r->messages = stderr;
    if (!read) {
        if (!end_batch(t)) return false;
        fputs(batch_words(b), stderr);
        return show_answer(t, text, bytes, false);
    }
    const int n = t->prompt, first = r->first;
    memcpy(r->more, r->ids, (size_t)n * sizeof *r->ids);
    if (!batch_fits(b, n) && !end_batch(t)) return false;
    batch_add(b, r->more, n, first, text, bytes, at.number);
    return rt_lines_ready(&t->lines) || end_batch(t);
}

/* Whether somebody at a terminal is told when to say something. */
static bool prompts(const Texts *t) { return t->reader->goes_on && isatty(STDIN_FILENO) && isatty(STDERR_FILENO); }

static bool take_lines(Texts *t)
{
    t->lines.most = rt_line_most(t->reader->most);
    char *line;
    size_t n;
    int got = 1;
    bool more = true;
    Origin at = { "line", 1 };
    for (; more && (!prompts(t) || fputs("> ", stderr) >= 0) && (got = rt_lines_next(&t->lines, &line, &n)) > 0; at.number++)
        more = t->batch.vectors ? take_batch_line(t, line, n, at) : take_text(t, line, n, at);
    const int error = errno;
    if (got == 0 && prompts(t)) fputs("\n", stderr);
    if (more) more = end_batch(t);
    if (!more || got == 0) return more;
    if (got == RT_LINE_TOO_LONG) {
        text_reader_begin_message(t->reader, at);
        fprintf(stderr, "more than %zu bytes, but at most %d %s fit; nothing more is read\n", t->lines.most, t->reader->most,
                text_reader_unit(t->reader));
        t->code = EXIT_BAD_DATA;
        return true;
    }
    fprintf(stderr, "%s: cannot read standard input: %s\n", t->session->model->name, strerror(error));
    t->code = EXIT_IO;
    return false;
}

/* The text of -p, or of the file of -f; NULL after telling. */
static const char *prompt_text(Texts *t, const Prompt *p, size_t *bytes)
{
    enum { MOST_BYTES = 64 << 20 };
    Session *s = t->session;
    *bytes = strlen(p->text);
    if (!p->file) return p->text;
    char *text = file_read(s->arena, s->diag, (Loc){ 0 }, p->text, MOST_BYTES, bytes);
    if (text && *bytes && text[*bytes - 1] == '\n') text[--*bytes] = '\0';
    return text;
}

/* The vector of a text, in the arena; NULL after telling. */
static const float *vector_of(Texts *t, int word)
{
    const char *text = t->options->words[word];
    const size_t bytes = sizeof(float) * (size_t)t->vectors->width;
    if (!answer(t, text, strlen(text), (Origin){ "argument", (size_t)word + 1 })) return NULL;
    float *copy = arena_alloc(t->session->arena, bytes);
    memcpy(copy, t->vectors->values, bytes);
    return copy;
}

static void take_similar(Texts *t)
{
    const RunOptions *c = t->options;
    Text out = text_new(t->session->arena);
    const float *a = vector_of(t, 1), *b = vector_of(t, 2);
    const bool good = a && b;
    if (c->json) {
        text_add(&out, "\n {\"input\":[");
        json_add_string(&out, c->words[1]);
        text_add(&out, ",");
        json_add_string(&out, c->words[2]);
        text_add(&out, "],\"similarity\":");
        if (good) json_add_number(&out, rt_cosine(a, b, t->vectors->width));
        else text_add(&out, "null");
        text_add(&out, "}");
    } else {
        if (good) text_printf(&out, "%.9g", rt_cosine(a, b, t->vectors->width));
        text_add(&out, "\n");
    }
    put(t, out.data, out.size);
}

/* Without a word the lines of standard input. Where these are none, or nobody has put anything there, the beginning of a text. */
static void take_all(Texts *t)
{
    const RunOptions *c = t->options;
    const bool given = c->word_count || c->prompt_count;
    bool good = given || (isatty(STDIN_FILENO) && text_reader_begins_alone(t->reader)) || take_lines(t);
    if (good && !given && !t->count && text_reader_begins_alone(t->reader)) take_text(t, "", 0, (Origin){ "argument", 1 });
    for (int i = 0; i < c->prompt_count && good; i++) {
        const Origin at = { "prompt", (size_t)i + 1 };
        size_t bytes;
        const char *text = prompt_text(t, &c->prompts[i], &bytes);
        good = text && take_text(t, text, bytes, at);
    }
    for (int i = 0; i < c->word_count && good; i++) {
        const Origin at = { "argument", (size_t)i + 1 };
        good = strcmp(c->words[i], "-") ? take_text(t, c->words[i], strlen(c->words[i]), at) : take_lines(t);
    }
}

/* A setting of the command line that has a meaning for beams alone; NULL where there is none. */
static const char *beam_setting(const GenerationOptions *c)
{
    for (int i = 0; i < c->count; i++)
        if (!strcmp(c->name[i], "length-penalty") || !strcmp(c->name[i], "early-stopping")) return c->name[i];
    return NULL;
}

/* Those of the command line behind the model's own. */
static void add_stops(Session *s, const RunOptions *o, RtGeneration *g)
{
    const int own = g->stop_count, more = o->stop_count;
    const char **stops = arena_array(s->arena, (size_t)(own + more) + 1, sizeof *stops);
    for (int i = 0; i < own; i++) stops[i] = g->stops[i];
    for (int i = 0; i < more; i++) stops[own + i] = o->stops[i];
    g->stops = stops;
    g->stop_count = own + more;
}

bool command_generation(Session *s, const RunOptions *o, RtGeneration *g)
{
    const GenerationOptions *c = &o->generation;
    const char *expected;
    *g = generation_of(s->model);
    for (int i = 0; i < c->count; i++) rt_generation_set(g, c->name[i], c->value[i], &expected);
    add_stops(s, o, g);
    const char *fault = rt_generation_fault(g), *alone = beam_setting(c);
    if (alone && !rt_generation_searches(g)) {
        diag_error(s->diag, EXIT_USAGE, (Loc){ 0 }, "--%s needs --beam N, 2 or more", alone);
        return false;
    }
    if (fault) diag_error(s->diag, EXIT_USAGE, (Loc){ 0 }, "%s", fault);
    else if (o->stream && rt_generation_searches(g))
        diag_error(s->diag, EXIT_USAGE, (Loc){ 0 }, "--stream: a search with beams has no text before its end");
    else if (g->beams > session_slots(s))
        diag_error(s->diag, EXIT_USAGE, (Loc){ 0 }, "--slots %d are too few for %d beams", session_slots(s), g->beams);
    else return true;
    return false;
}

/* Whether --chat has a template; false after telling why not. */
static bool can_chat(Session *s, const RunOptions *c)
{
    const Model *m = s->model;
    if (!c->chat) return true;
    if (c->ids || !m->tokenizer_data || !m->has_decoder || m->has_encoder)
        diag_error(s->diag, EXIT_USAGE, (Loc){ 0 }, "--chat is for a decoder alone with a tokenizer, and for texts");
    else if (m->chat_fault) diag_error(s->diag, EXIT_NO_FEATURE, (Loc){ m->chat_path, 0, 0 }, "%s", m->chat_fault);
    else if (!m->chat) diag_error(s->diag, EXIT_USAGE, (Loc){ 0 }, "--chat: there is no chat template beside the tokenizer of %s", m->name);
    else if (c->system && !m->chat->system[0])
        diag_error(s->diag, EXIT_USAGE, (Loc){ 0 }, "--system: the chat template %s has no place for a system's text", m->chat->name);
    else if (c->date && !m->chat->dated)
        diag_error(s->diag, EXIT_USAGE, (Loc){ 0 }, "--date: the chat template %s has no place for a date", m->chat->name);
    else if (c->turns && !m->chat->past[0])
        diag_error(s->diag, EXIT_NO_FEATURE, (Loc){ m->chat_path, 0, 0 },
                   "--turns: the chat template is like %s, but what it makes of earlier answers cannot be told", m->chat->name);
    else return true;
    return false;
}

/* Whether the words ask for the cosine of two texts, which a model with one vector of a text answers; alone the word is a text. */
static bool is_similar(const Session *s, const RunOptions *c)
{
    const Model *m = s->model;
    return !m->has_decoder && model_pools(m) && !m->labels.count && c->word_count > 1 && !strcmp(c->words[0], "similar");
}

static bool can_answer(Session *s, const RunOptions *c)
{
    const Model *m = s->model;
    if (c->input_count)
        diag_error(s->diag, EXIT_USAGE, (Loc){ 0 }, "--input %s: only an xf.graph has inputs; %s answers texts", c->inputs[0], m->name);
    else if (c->stop_count && (c->ids || !text_reader_has_texts(m) || !m->has_decoder))
        diag_error(s->diag, EXIT_USAGE, (Loc){ 0 }, "--stop %s: answers are %s here, and no text", c->stops[0], m->has_decoder ? "ids" : "numbers");
    else if (!m->has_decoder && c->generation.count)
        diag_error(s->diag, EXIT_USAGE, (Loc){ 0 }, "--%s: %s has no decoder and generates nothing", c->generation.name[0], m->name);
    else if (c->stream && !m->has_decoder)
        diag_error(s->diag, EXIT_USAGE, (Loc){ 0 }, "--stream: %s has no decoder and generates nothing", m->name);
    else if (c->stream && c->json) diag_error(s->diag, EXIT_USAGE, (Loc){ 0 }, "--stream and --json are two forms of one answer");
    else if (c->raw && m->has_decoder)
        diag_error(s->diag, EXIT_USAGE, (Loc){ 0 }, "--raw: %s answers by text; vectors are an encoder's", m->name);
    else if (is_similar(s, c) && (c->word_count != 3 || c->prompt_count))
        diag_error(s->diag, EXIT_USAGE, (Loc){ 0 }, "similar compares two texts: similar TEXT TEXT");
    else if (is_similar(s, c) && c->raw) diag_error(s->diag, EXIT_USAGE, (Loc){ 0 }, "--raw: similar answers by one number");
    else if (c->raw && c->json) diag_error(s->diag, EXIT_USAGE, (Loc){ 0 }, "--raw and --json are two forms of one answer");
    else return true;
    return false;
}

/* Whether the texts are turns of one conversation: where that is asked for, or they are typed at a terminal. */
static bool goes_on(const Session *s, const RunOptions *c)
{
    return c->turns || (c->chat && s->model->chat->past[0] && !c->word_count && !c->prompt_count && isatty(STDIN_FILENO));
}

Exit run_texts(Session *s, const RunOptions *o)
{
    const Model *m = s->model;
    const bool json = o->json;
    RtGeneration settings;
    const bool ready = can_answer(s, o) && can_chat(s, o) && (!m->has_decoder || command_generation(s, o, &settings));
    Engine *e = ready ? session_engine(s, o->engine, false) : NULL;
    progress_end();
    if (!e) return EXIT_DONE;       /* told to s->diag */
    Texts t = { .session = s, .options = o, .reader = text_reader_new(s, e->plan, o) };
    t.reader->goes_on = goes_on(s, o);
    if (!m->has_encoder) text_reader_limit(t.reader, &settings);
    if (m->has_decoder) t.decoder = decoder_new(s->arena, e, &settings);
    else t.vectors = vectors_new(s->arena, e), batch_open(&t.batch, s->arena, t.vectors);
    if (t.decoder) {
        open_text(&t);
        t.streams = !json && !rt_generation_searches(&settings) && (o->stream || isatty(STDOUT_FILENO));
        t.decoder->answering = (RtAnswering){ .scored = o->verbose || json,
                                              .told = t.text.stops.count || t.streams ? hear : NULL, .user = &t };
        if (t.reader->goes_on) decoder_hold(s->arena, t.decoder);
    }
    if (m->mask_id >= 0) t.masks = (Masks){ t.vectors, t.reader->ids, (int)m->mask_id, t.reader->tokenizer };
    if (json) put(&t, "{\"answers\":[", 12);
    if (is_similar(s, o)) take_similar(&t);
    else take_all(&t);
    if (json) put(&t, "\n]}\n", 4);
    engine_close(e);
    batch_close(&t.batch);
    rt_lines_free(&t.lines);
    text_reader_close(t.reader);
    if (t.decoder) rt_answer_text_close(&t.text);
    return t.code;
}
