/* rt_cli_answer.c: one text into its answer: read, generate greedily, print as a line or as an object. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "rt_cli_parts.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "rt_numbers.h"

/* ---- why there is none -------------------------------------------------------------------------------------- */

__attribute__((format(printf, 2, 3))) static void say(HostAnswer *a, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(a->message, sizeof a->message, format, args);
    va_end(args);
}

/* The characters that begin in the first `bytes` bytes of valid UTF-8. */
static size_t characters_in(const char *s, size_t bytes)
{
    size_t n = 0;
    for (size_t i = 0; i < bytes; i++)
        n += ((unsigned char)s[i] & 0xc0) != 0x80;
    return n;
}

/* The faulty character itself and its number, if it can do the terminal no harm, or the number alone. */
static void say_character(HostAnswer *a, const char *text, const RtTextFault *fault)
{
    const size_t at = characters_in(text, fault->at) + 1;
    const unsigned c = (unsigned)fault->code_point;
    int length;
    host_code_point(text + fault->at, strlen(text + fault->at), &length);
    if (host_may_print(fault->code_point))
        say(a, "'%.*s' (U+%04X) at character %zu is not in the vocabulary", length, text + fault->at, c, at);
    else say(a, "U+%04X at character %zu is not in the vocabulary", c, at);
}

static void say_fault(Host *host, const char *text, rt_status status, int n, const RtTextFault *fault)
{
    HostAnswer *a = &host->answer;
    const int numbers = host_numbers(host);
    const char *all = host->options->turns && host->conversation ? "with it the conversation has " : "";
    const RtGeneration *g = &host->options->generation;
    const int most = host_most(host), limited = !host->program->max_source && rt_generation_prompt(g, most + 1) == most;
    if (status == RT_TOO_LONG && limited) say(a, "%s%d %s, but at most %d fit: max_length is %d", all, n, host_unit(host), most, g->max_length);
    else if (status == RT_NO_ROOM) {
        say(a, "no memory for a text of %zu bytes", strlen(text));
        host->refused = RT_EXIT_MISSING;
    } else if (status == RT_TOO_LONG) say(a, "%s%d %s, but at most %d fit", all, n, host_unit(host), most);
    else if (status != RT_BAD_ID || (host->tokenizer && !numbers)) say(a, "%s", rt_text_fault(status));
    else if (numbers && !host->options->ids && !host->program->texts && !host->program->ids)
        say(a, "the model has no tokenizer and takes ids, such as 1 403 407; at byte %zu there is none", fault->at + 1);
    else if (numbers) say(a, "no whole number from 0 to %d at byte %zu", host_vocabulary(host->program) - 1, fault->at + 1);
    else if (fault->code_point < 0) say(a, "not valid UTF-8 at byte %zu", fault->at + 1);
    else say_character(a, text, fault);
}

/* ---- reading ------------------------------------------------------------------------------------------------ */

/* Whether every id is one of the vocabulary's. */
static int ids_are_known(Host *host)
{
    HostAnswer *a = &host->answer;
    const int most = host_vocabulary(host->program) - 1;
    for (int i = 0; i < a->input_count; i++) {
        if (a->input[i] >= 0 && a->input[i] <= most) continue;
        say(a, "id %d at place %d is not in the vocabulary, 0 to %d", a->input[i], i + 1, most);
        return 0;
    }
    return 1;
}

/* By pieces; of an encoder alone a long text is cut. Of a chat the text is wrapped: then the marks stand in it. */
static rt_status read_pieces(Host *host, const char *text, size_t bytes)
{
    const rt_program *p = host->program;
    const HostOptions *o = host->options;
    HostAnswer *a = &host->answer;
    rt_host_source source = { .ids = a->input, .room = host_most(host) };
    rt_status status = RT_OK;
    const RtChatWords words = { o->system, o->date };
    const char *asked = o->separator ? o->separator : "\t", *separator = p->pairs && *asked ? asked : NULL;
    if (o->chat) status = p->texts->wrap(host->tokenizer, p->chat, &words, o->turns, text, bytes, &text, &bytes);
    if (status == RT_OK) status = p->texts->ids(host->tokenizer, text, bytes, separator, !p->max_target, o->chat, &source);
    a->input_count = source.n;
    a->first = source.first;
    a->whole = source.whole;
    a->twice = p->max_target && source.twice;
    return status;
}

static rt_status read_numbers(Host *host, const char *text, RtTextFault *fault)
{
    HostAnswer *a = &host->answer;
    const rt_status status = rt_numbers_read(text, a->input, host_most(host), &a->input_count, fault);
    a->first = host->program->pairs ? rt_numbers_before_tab(text) : a->input_count;
    return status;
}

/* Whether a masked language model has something to answer. */
static int has_mask(Host *host)
{
    const rt_program *p = host->program;
    HostAnswer *a = &host->answer;
    if (!p->has_mask || host->options->raw) return 1;
    for (int i = 0; i < a->input_count; i++)
        if (a->input[i] == p->mask_id) return 1;
    say(a, "no mask, id %d, in it", p->mask_id);
    return 0;
}

/* The ids of a text into answer.input; 0 after a message. */
static int read_ids(Host *host, const char *text, size_t bytes)
{
    const rt_program *p = host->program;
    HostAnswer *a = &host->answer;
    const int numbers = host_numbers(host), longest = host_most(host);
    const size_t length = strlen(text);
    RtTextFault fault = { 0, -1 };
    rt_status status;
    a->input_count = a->whole = a->twice = 0;
    if (length < bytes && (numbers || !host->tokenizer)) {
        say(a, "a NUL at byte %zu", length + 1);
        return 0;
    }
    if (numbers) status = read_numbers(host, text, &fault);
    else if (host->tokenizer) status = read_pieces(host, text, bytes);
    else status = p->ids(host->model, text, a->input, longest, &a->input_count, &fault);
    if (status != RT_OK) {
        say_fault(host, text, status, a->input_count, &fault);
        a->input_count = 0;
    } else if (a->input_count == 0) {
        say(a, "empty; 1 to %d %s fit", longest, host_unit(host));
    } else {
        return ids_are_known(host) && has_mask(host);
    }
    return 0;
}

/* ---- generating --------------------------------------------------------------------------------------------- */

/* Characters, of a tokenizer without pieces; `self` is the Host. */
static rt_status say_characters(void *self, const int *ids, int from, int n, int last, char *out, size_t cap, size_t *used)
{
    const Host *host = self;
    rt_status status = RT_OK;
    (void)last;
    for (int i = from; i < n && status == RT_OK; i++) status = host->program->append(host->model, ids[i], out, cap, used);
    return status;
}

int host_answer_open(Host *host)
{
    const rt_program *p = host->program;
    const RtGeneration *g = &host->decoder.settings;
    const int numbers = host_numbers(host), lines = numbers && !host->options->json;
    HostAnswer *a = &host->answer;
    RtSay *speech = lines ? rt_say_numbers : host->tokenizer ? p->texts->say : p->append ? say_characters : NULL;
    a->says = p->max_target && speech;
    if (!a->says) return 0;
    host->streams = !host->options->json && !rt_generation_searches(g) && (host->options->stream || isatty(STDOUT_FILENO));
    void *self = host->tokenizer ? (void *)host->tokenizer : (void *)host;
    if (rt_answer_text_open(&a->text, speech, self, g->stops, numbers ? 0 : g->stop_count) == RT_OK) return 0;
    return host_no_memory(p);
}

/* By pieces a decoder alone writes its prompt too, since a piece may depend on the one before; but for the answer in a chat. */
static rt_status begin_text(Host *host)
{
    HostAnswer *a = &host->answer;
    const int prompted = a->text.say != rt_say_numbers && host->tokenizer && !host->options->chat && !host->program->max_source;
    return rt_answer_text_begin(&a->text, a->input, prompted ? a->input_count : 0);
}

/* An id goes into the text, but for an end mark; of ids as numbers that too. */
static rt_status add_text(Host *host, int id)
{
    HostAnswer *a = &host->answer;
    if (a->text.say != rt_say_numbers && host_decoder_is_end(&host->decoder, id)) return RT_OK;
    return rt_answer_text_add(&a->text, id);
}

/* What nothing can change any more. A failure of writing is seen at the end of the line. */
static void show(HostAnswer *a)
{
    if (a->text.certain <= a->shown) return;
    fwrite(a->text.text + a->shown, 1, a->text.certain - a->shown, stdout);
    fflush(stdout);
    a->shown = a->text.certain;
}

/* An id has come. */
static int hear(void *user, int id)
{
    Host *host = user;
    HostAnswer *a = &host->answer;
    a->told = add_text(host, id);
    if (host->streams && a->told == RT_OK) show(a);
    return a->told != RT_OK || a->text.stopped || ferror(stdout);
}

/* The text of a sequence, in the place of the last. */
static rt_status write_text(Host *host, const int *ids, int n)
{
    rt_status status = begin_text(host);
    for (int i = 0; i < n && status == RT_OK; i++) status = add_text(host, ids[i]);
    return status == RT_OK ? rt_answer_text_end(&host->answer.text) : status;
}

/* As the settings of generation ask for, from host->answer.input: gives ids, count, finished, text
 * and, where it is asked for, score. Without a search the text grows with the ids where it may stop
 * them; else it is written behind them. */
static rt_status generate(Host *host, int scored)
{
    HostAnswer *a = &host->answer;
    const int heard = a->says && (a->text.stops.count || host->streams) && !rt_generation_searches(&host->decoder.settings);
    const RtAnswering how = { .scored = scored, .text = host->texts, .told = heard ? hear : NULL, .user = host,
                              .held = host->decoder.held.ids ? &host->decoder.held : NULL };
    a->told = a->says ? begin_text(host) : RT_OK;
    if (host->streams && a->told == RT_OK) show(a);
    rt_status status = a->told;
    if (status == RT_OK) status = host_decoder_answer(&host->decoder, &how, a->input, a->input_count, a->ids, &a->count, &a->score);
    if (status == RT_OK) status = a->told;
    for (int i = 0; i < a->count && a->says && !heard && status == RT_OK; i++) status = add_text(host, a->ids[i]);
    if (status == RT_OK && a->says) status = rt_answer_text_end(&a->text);
    a->finished = a->count && host_decoder_is_end(&host->decoder, a->ids[a->count - 1]);
    return status;
}

rt_status host_encode(Host *host)
{
    const rt_program *p = host->program;
    const HostAnswer *a = &host->answer;
    if (p->encode_pair && a->first < a->input_count) return p->encode_pair(host->model, host->state, a->input, a->input_count, a->first);
    host_weights_read(&host->weights);
    return p->encode(host->model, host->state, a->input, a->input_count);
}

/* An encoder alone answers numbers, or nothing. */
static rt_status encode(Host *host)
{
    const rt_status status = host_encode(host);
    return status != RT_OK || host->program->vectors->good(host) ? status : RT_BAD_WEIGHTS;
}

int host_read(Host *host, const char *text, size_t bytes)
{
    HostAnswer *a = &host->answer;
    a->message[0] = '\0', a->count = a->finished = 0, a->shown = 0;
    const int good = read_ids(host, text, bytes);
    if (!good && !host->refused) host->refused = RT_EXIT_DATA;
    return good;
}

int host_failed(Host *host, rt_status status)
{
    const rt_program *p = host->program;
    const char *what = p->max_target || p->labels || p->has_mask ? RT_LOGITS_FAULT : "the model's numbers are NaN or infinite";
    say(&host->answer, "%s", status == RT_BAD_WEIGHTS ? what : rt_status_text(status));
    return status == RT_BAD_WEIGHTS ? RT_EXIT_DATA : RT_EXIT_DEFECT;
}

int host_answer(Host *host, const char *text, size_t bytes, int scored)
{
    const rt_program *p = host->program;
    HostAnswer *a = &host->answer;
    const int good = host_read(host, text, bytes);
    rt_status status = !good ? RT_OK : p->max_target ? generate(host, scored) : encode(host);
    const char *answer = good && status == RT_OK ? a->text.text : NULL;
    host->conversation |= answer != NULL;
    if (host->options->chat && p->texts->answered(host->tokenizer, answer, a->text.bytes) != RT_OK && status == RT_OK) status = RT_NO_ROOM;
    return status == RT_OK ? 0 : host_failed(host, status);
}

/* ---- printing ----------------------------------------------------------------------------------------------- */

int host_print(const Host *host)
{
    const HostAnswer *a = &host->answer;
    if (host->options->raw) {
        host->program->vectors->raw(host);
        return ferror(stdout) ? EOF : 0;
    }
    if (a->message[0]) return putchar('\n');
    if (host->program->vectors) host->program->vectors->print(host, stdout);
    else fwrite(a->text.text + a->shown, 1, a->text.bytes - a->shown, stdout);
    return putchar('\n') == EOF || ferror(stdout) ? EOF : 0;
}

void host_tell_scores(Host *host)
{
    const HostDecoder *d = &host->decoder;
    for (int i = 0; i < d->count && host->answer.says; i++) {
        const RtBeamResult *r = &d->results[i];
        if (write_text(host, r->ids, r->length) != RT_OK) return;
        fprintf(stderr, "%s: ", host->answer.text.text);
        if (rt_generation_searches(&d->settings)) fprintf(stderr, "score %.6f, ", r->score);
        fprintf(stderr, "sum of log-probabilities %.4f\n", r->sum);
    }
}

static void json_ids(const char *key, const int *ids, int n)
{
    printf(",\"%s\":[", key);
    for (int i = 0; i < n; i++) printf("%s%d", i ? "," : "", ids[i]);
    putchar(']');
}

static void json_text(const HostAnswer *a)
{
    if (a->says) host_json_text(stdout, a->text.text, a->text.bytes);
    else fputs("null", stdout);
}

/* Every sequence of a search, best first. */
static void json_beams(Host *host)
{
    const HostDecoder *d = &host->decoder;
    fputs(",\"beams\":[", stdout);
    for (int i = 0; i < d->count; i++) {
        const RtBeamResult *r = &d->results[i];
        if (host->answer.says && write_text(host, r->ids, r->length) != RT_OK) break;
        fputs(i ? ",{\"answer\":" : "{\"answer\":", stdout);
        json_text(&host->answer);
        json_ids("ids", r->ids, r->length);
        fputs(",\"score\":", stdout);
        host_json_number(stdout, r->score);
        fputs(",\"sum\":", stdout);
        host_json_number(stdout, r->sum);
        putchar('}');
    }
    putchar(']');
}

static void json_answer(Host *host)
{
    const HostAnswer *a = &host->answer;
    json_ids("ids", a->ids, a->count);
    fputs(",\"answer\":", stdout);
    json_text(a);
    fputs(",\"score\":", stdout);
    host_json_number(stdout, a->score);
    printf(",\"finished\":%s", a->finished ? "true" : "false");
    if (rt_generation_searches(&host->decoder.settings)) json_beams(host);
}

int host_print_json(Host *host, const char *text, size_t bytes)
{
    const HostAnswer *a = &host->answer;
    fputs("{\"input\":", stdout);
    host_json_text(stdout, text, bytes);
    if (a->message[0]) {
        fputs(",\"error\":", stdout);
        host_json_text(stdout, a->message, strlen(a->message));
    } else {
        json_ids("input_ids", a->input, a->input_count);
        if (host->program->vectors) host->program->vectors->json(host);
        else json_answer(host);
    }
    return puts("}") == EOF || ferror(stdout) ? EOF : 0;
}
