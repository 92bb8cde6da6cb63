/* rt_host_answer.c: one text into its answer: read, generate greedily, print as a line or as an object. */
#include "rt_host_parts.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

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
    if (status == RT_TOO_LONG) say(a, "%d %s, but at most %d fit", n, host_unit(host), host_longest(host->program));
    else if (status != RT_BAD_ID) say(a, "%s", rt_status_text(status));
    else if (host->tokenizer && !numbers) say(a, "a character that the vocabulary has no id for");
    else if (numbers) say(a, "no whole number at byte %zu", fault->at + 1);
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

/* The ids of a text into answer.input; 0 after a message. */
static int read_ids(Host *host, const char *text, size_t bytes)
{
    const rt_program *p = host->program;
    HostAnswer *a = &host->answer;
    const int numbers = host_numbers(host), longest = host_longest(p);
    const size_t length = strlen(text);
    RtTextFault fault = { 0, -1 };
    rt_status status;
    a->input_count = 0;
    if (length < bytes && (numbers || !host->tokenizer)) {
        say(a, "a NUL at byte %zu", length + 1);
        return 0;
    }
    if (numbers) status = rt_numbers_read(text, a->input, longest, &a->input_count, &fault);
    else if (host->tokenizer) status = p->texts->ids(host->tokenizer, text, bytes, a->input, longest, &a->input_count);
    else status = p->ids(host->model, text, a->input, longest, &a->input_count, &fault);
    if (status != RT_OK) {
        say_fault(host, text, status, a->input_count, &fault);
        a->input_count = 0;
    } else if (a->input_count == 0) {
        say(a, "empty; 1 to %d %s fit", longest, host_unit(host));
    } else if (ids_are_known(host)) {
        return 1;
    }
    return 0;
}

/* ---- generating --------------------------------------------------------------------------------------------- */

rt_status host_generate(Host *host, int scored)
{
    HostAnswer *a = &host->answer;
    const RtGeneration *g = &host->decoder.settings;
    const rt_status status = host_decoder_answer(&host->decoder, a->input, a->input_count, scored, a->ids, &a->count, &a->score);
    a->finished = 0;
    for (int i = 0; a->count && i < g->end_count; i++) a->finished |= a->ids[a->count - 1] == g->ends[i];
    return status;
}

/* By pieces: of a decoder alone its prompt and what follows, else the answer. There is room for both in input. */
static rt_status pieces_to_text(Host *host)
{
    const rt_program *p = host->program;
    HostAnswer *a = &host->answer;
    const int n = p->max_source ? 0 : a->input_count, count = a->count - a->finished;
    if (n) memcpy(a->input + n, a->ids, (size_t)count * sizeof *a->ids);
    return p->texts->text(host->tokenizer, n ? a->input : a->ids, n + count, &a->text, &a->text_bytes);
}

/* The ids as text, without the end mark. */
static rt_status to_text(Host *host)
{
    HostAnswer *a = &host->answer;
    size_t used = 0;
    rt_status status = RT_OK;
    if (host->tokenizer) return pieces_to_text(host);
    a->text[0] = '\0';
    for (int i = 0; i < a->count - a->finished && status == RT_OK; i++)
        status = host->program->append(host->model, a->ids[i], a->text, a->text_bytes, &used);
    return status;
}

int host_answer(Host *host, const char *text, size_t bytes, int scored)
{
    const rt_program *p = host->program;
    HostAnswer *a = &host->answer;
    rt_status status;
    a->message[0] = '\0', a->count = a->finished = 0;
    if (!read_ids(host, text, bytes)) {
        host->refused = 1;
        return 0;
    }
    status = p->max_target ? host_generate(host, scored) : p->encode(host->model, host->state, a->input, a->input_count);
    if (status == RT_OK && a->text) status = to_text(host);
    if (status == RT_OK) return 0;
    say(a, "%s", rt_status_text(status));
    return status == RT_BAD_WEIGHTS ? EXIT_DATA : EXIT_DEFECT;
}

/* ---- printing ----------------------------------------------------------------------------------------------- */

int host_print(const Host *host)
{
    const HostAnswer *a = &host->answer;
    if (host->options->raw) {
        host_print_raw(host);
        return ferror(stdout) ? EOF : 0;
    }
    if (a->message[0]) return putchar('\n');
    if (!host->program->max_target) host_print_vector(host);
    else if (!host_numbers(host)) fputs(a->text, stdout);
    else for (int i = 0; i < a->count; i++) printf("%s%d", i ? " " : "", a->ids[i]);
    return putchar('\n') == EOF || ferror(stdout) ? EOF : 0;
}

static void json_ids(const char *key, const int *ids, int n)
{
    printf(",\"%s\":[", key);
    for (int i = 0; i < n; i++) printf("%s%d", i ? "," : "", ids[i]);
    putchar(']');
}

int host_print_json(const Host *host, const char *text, size_t bytes)
{
    const HostAnswer *a = &host->answer;
    fputs("{\"input\":", stdout);
    host_json_text(text, bytes);
    if (a->message[0]) {
        fputs(",\"error\":", stdout);
        host_json_text(a->message, strlen(a->message));
    } else {
        json_ids("input_ids", a->input, a->input_count);
        if (!host->program->max_target) host_json_vector(host);
        else {
            json_ids("ids", a->ids, a->count);
            fputs(",\"answer\":", stdout);
            if (a->text) host_json_text(a->text, strlen(a->text));
            else fputs("null", stdout);
            fputs(",\"score\":", stdout);
            host_json_number(a->score);
            printf(",\"finished\":%s", a->finished ? "true" : "false");
        }
    }
    return puts("}") == EOF || ferror(stdout) ? EOF : 0;
}
