/* rt_cli_answer.c: answer one text: read it, generate or encode, print a line or an object. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "rt_cli_parts.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "rt_numbers.h"

/* ---- why there is no answer --------------------------------------------------------------------------------- */

__attribute__((format(printf, 2, 3))) static void say(CliAnswer *a, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(a->message, sizeof a->message, format, args);
    va_end(args);
}

/* How many characters begin in the first `bytes` bytes of valid UTF-8. */
static size_t characters_in(const char *s, size_t bytes)
{
    size_t n = 0;
    for (size_t i = 0; i < bytes; i++)
        n += ((unsigned char)s[i] & 0xc0) != 0x80;
    return n;
}

/* Report the faulty character and its code point; only the code point if a terminal might interpret
 * the character. */
static void say_character(CliAnswer *a, const char *text, const RtTextFault *fault)
{
    const size_t at = characters_in(text, fault->at) + 1;
    const unsigned c = (unsigned)fault->code_point;
    int length;
    cli_code_point(text + fault->at, strlen(text + fault->at), &length);
    if (cli_may_print(fault->code_point))
        say(a, "'%.*s' (U+%04X) at character %zu is not in the vocabulary", length, text + fault->at, c, at);
    else say(a, "U+%04X at character %zu is not in the vocabulary", c, at);
}

static void say_fault(Cli *cli, const char *text, rt_status status, int n, const RtTextFault *fault)
{
    CliAnswer *a = &cli->answer;
    const int numbers = cli_numbers(cli);
    const char *all = cli->options->turns && cli->conversation ? "the conversation would have " : "";
    const RtGeneration *g = &cli->options->generation;
    const int most = cli_most(cli), limited = !cli->program->max_source && rt_generation_prompt(g, most + 1) == most;
    if (status == RT_TOO_LONG && limited) say(a, "%s%d %s, but at most %d fit: max_length is %d", all, n, cli_unit(cli), most, g->max_length);
    else if (status == RT_NO_ROOM) {
        say(a, "no memory for a text of %zu bytes", strlen(text));
        cli->refused = RT_EXIT_MISSING;
    } else if (status == RT_TOO_LONG) say(a, "%s%d %s, but at most %d fit", all, n, cli_unit(cli), most);
    else if (status != RT_BAD_ID || (cli->tokenizer && !numbers)) say(a, "%s", rt_text_fault(status));
    else if (numbers && !cli->options->ids && !cli->program->texts && !cli->program->tokenize)
        say(a, "the model has no tokenizer: pass token ids, such as 1 2 3; expected one at byte "
            "%zu", fault->at + 1);
    else if (numbers)
        say(a, "expected a whole number from 0 to %d at byte %zu", cli_vocabulary(cli->program) - 1,
            fault->at + 1);
    else if (fault->code_point < 0) say(a, "not valid UTF-8 at byte %zu", fault->at + 1);
    else say_character(a, text, fault);
}

/* ---- reading ------------------------------------------------------------------------------------------------ */

/* 1 if all ids are in the vocabulary; otherwise 0, with a message. */
static int ids_are_known(Cli *cli)
{
    CliAnswer *a = &cli->answer;
    const int most = cli_vocabulary(cli->program) - 1;
    for (int i = 0; i < a->input_count; i++) {
        if (a->input[i] >= 0 && a->input[i] <= most) continue;
        say(a, "id %d at position %d is not in the vocabulary, 0 to %d", a->input[i], i + 1, most);
        return 0;
    }
    return 1;
}

/* Tokenize a text. An encoder-only model cuts a long text. With --chat the text is wrapped in the
 * chat template, which contains the special tokens. */
static rt_status read_pieces(Cli *cli, const char *text, size_t bytes)
{
    const rt_program *p = cli->program;
    const CliOptions *o = cli->options;
    CliAnswer *a = &cli->answer;
    rt_cli_source source = { .ids = a->input, .room = cli_most(cli) };
    rt_status status = RT_OK;
    const RtChatWords words = { o->system, o->date };
    const char *asked = o->separator ? o->separator : "\t", *separator = p->pairs && *asked ? asked : NULL;
    if (o->chat) status = p->texts->wrap(cli->tokenizer, p->chat, &words, o->turns, text, bytes, &text, &bytes);
    if (status == RT_OK) status = p->texts->ids(cli->tokenizer, text, bytes, separator, !p->max_target, o->chat, &source);
    a->input_count = source.n;
    a->first = source.first;
    a->whole = source.whole;
    a->twice = p->max_target && source.twice;
    return status;
}

static rt_status read_numbers(Cli *cli, const char *text, RtTextFault *fault)
{
    CliAnswer *a = &cli->answer;
    const rt_status status = rt_numbers_read(text, a->input, cli_most(cli), &a->input_count, fault);
    a->first = cli->program->pairs ? rt_numbers_before_tab(text) : a->input_count;
    return status;
}

/* 0, with a message, if the source contains the padding id, which has no position. */
static int has_positions(Cli *cli)
{
    const rt_program *p = cli->program;
    CliAnswer *a = &cli->answer;
    for (int i = 0; p->has_pad && i < a->input_count; i++) {
        if (a->input[i] != p->pad_id) continue;
        say(a, "token %d is the padding id, %d, which this model cannot read", i + 1, p->pad_id);
        return 0;
    }
    return 1;
}

/* 0, with a message, if a masked language model gets a text without a mask; --raw does not need
 * one. */
static int has_mask(Cli *cli)
{
    const rt_program *p = cli->program;
    CliAnswer *a = &cli->answer;
    if (!p->has_mask || cli->options->raw) return 1;
    for (int i = 0; i < a->input_count; i++)
        if (a->input[i] == p->mask_id) return 1;
    say(a, "the text has no mask token (id %d)", p->mask_id);
    return 0;
}

/* Read the ids of a text into answer.input; 0, with a message, if it is rejected. */
static int read_ids(Cli *cli, const char *text, size_t bytes)
{
    const rt_program *p = cli->program;
    CliAnswer *a = &cli->answer;
    const int numbers = cli_numbers(cli), longest = cli_most(cli);
    const size_t length = strlen(text);
    RtTextFault fault = { 0, -1 };
    rt_status status;
    a->input_count = a->whole = a->twice = 0;
    if (length < bytes && (numbers || !cli->tokenizer)) {
        say(a, "a NUL at byte %zu", length + 1);
        return 0;
    }
    if (numbers) status = read_numbers(cli, text, &fault);
    else if (cli->tokenizer) status = read_pieces(cli, text, bytes);
    else status = p->tokenize(cli->model, cli->state, text, a->input, longest, &a->input_count, &fault);
    if (status != RT_OK) {
        say_fault(cli, text, status, a->input_count, &fault);
        a->input_count = 0;
    } else if (a->input_count == 0) {
        say(a, "empty; 1 to %d %s fit", longest, cli_unit(cli));
    } else {
        return ids_are_known(cli) && has_positions(cli) && has_mask(cli);
    }
    return 0;
}

/* ---- generating --------------------------------------------------------------------------------------------- */

/* RtDetokenize for a character tokenizer; self: the Cli. */
static rt_status detokenize_characters(void *self, const int *ids, int from, int n, int last, char *out, size_t cap, size_t *used)
{
    const Cli *cli = self;
    size_t bytes;
    (void)last;
    const rt_status status = cli->program->detokenize(cli->model, ids + from, n - from, out + *used, cap - *used, &bytes);
    *used += bytes;
    return status;
}

int cli_answer_open(Cli *cli)
{
    const rt_program *p = cli->program;
    const RtGeneration *g = &cli->decoder.settings;
    const int numbers = cli_numbers(cli), lines = numbers && !cli->options->json;
    CliAnswer *a = &cli->answer;
    RtDetokenize *speech = lines ? rt_detokenize_numbers : cli->tokenizer ? p->texts->detokenize : p->detokenize ? detokenize_characters : NULL;
    a->says = p->max_target && speech;
    if (!a->says) return 0;
    cli->streams = !cli->options->json && !rt_generation_searches(g) && (cli->options->stream || isatty(STDOUT_FILENO));
    void *self = cli->tokenizer ? (void *)cli->tokenizer : (void *)cli;
    if (rt_answer_text_open(&a->text, speech, self, g->stops, numbers ? 0 : g->stop_count) == RT_OK) return 0;
    return cli_no_memory(p);
}

/* Begin the text of an answer. With a piece tokenizer, that of a decoder-only model includes the
 * prompt, since a piece may depend on the one before; but not with --chat, nor if ids are
 * printed. */
static rt_status begin_text(Cli *cli)
{
    CliAnswer *a = &cli->answer;
    const int prompted = a->text.detokenize != rt_detokenize_numbers && cli->tokenizer && !cli->options->chat && !cli->program->max_source;
    return rt_answer_text_begin(&a->text, a->input, prompted ? a->input_count : 0);
}

/* Add an id to the text. An end token is added only if ids are printed as numbers. */
static rt_status add_text(Cli *cli, int id)
{
    CliAnswer *a = &cli->answer;
    if (a->text.detokenize != rt_detokenize_numbers && cli_decoder_is_end(&cli->decoder, id)) return RT_OK;
    return rt_answer_text_add(&a->text, id);
}

/* Print what can no longer change. Callers detect write errors. */
static void show(CliAnswer *a)
{
    if (a->text.certain <= a->shown) return;
    fwrite(a->text.text + a->shown, 1, a->text.certain - a->shown, stdout);
    fflush(stdout);
    a->shown = a->text.certain;
}

/* Called for each generated id; returns 1 to stop. */
static int on_id(void *user, int id)
{
    Cli *cli = user;
    CliAnswer *a = &cli->answer;
    a->text_status = add_text(cli, id);
    if (cli->streams && a->text_status == RT_OK) show(a);
    return a->text_status != RT_OK || a->text.stopped || ferror(stdout);
}

/* Replace the answer's text with that of a sequence. */
static rt_status write_text(Cli *cli, const int *ids, int n)
{
    rt_status status = begin_text(cli);
    for (int i = 0; i < n && status == RT_OK; i++) status = add_text(cli, ids[i]);
    return status == RT_OK ? rt_answer_text_end(&cli->answer.text) : status;
}

/* Generate from cli->answer.input by the generation settings: set ids, count, finished, score and,
 * if `says`, text. Without a search, the text grows with the ids if it is streamed or may stop
 * them; otherwise it is made afterwards. */
static rt_status generate(Cli *cli, int scored)
{
    CliAnswer *a = &cli->answer;
    const int streamed = a->says && (a->text.stops.count || cli->streams) && !rt_generation_searches(&cli->decoder.settings);
    const RtAnswering how = { .scored = scored, .text = cli->texts, .on_id = streamed ? on_id : NULL, .user = cli,
                              .prompt_cache = cli->decoder.prompt_cache.ids ? &cli->decoder.prompt_cache : NULL };
    a->text_status = a->says ? begin_text(cli) : RT_OK;
    if (cli->streams && a->text_status == RT_OK) show(a);
    rt_status status = a->text_status;
    if (status == RT_OK) status = cli_decoder_answer(&cli->decoder, &how, a->input, a->input_count, a->ids, &a->count, &a->score);
    if (status == RT_OK) status = a->text_status;
    for (int i = 0; i < a->count && a->says && !streamed && status == RT_OK; i++) status = add_text(cli, a->ids[i]);
    if (status == RT_OK && a->says) status = rt_answer_text_end(&a->text);
    a->finished = a->count && cli_decoder_is_end(&cli->decoder, a->ids[a->count - 1]);
    return status;
}

rt_status cli_encode(Cli *cli)
{
    const rt_program *p = cli->program;
    const CliAnswer *a = &cli->answer;
    cli_weights_read(&cli->weights);
    if (p->encode_pair && a->first < a->input_count) return p->encode_pair(cli->model, cli->state, 0, a->input, a->input_count, a->first);
    return p->encode(cli->model, cli->state, 0, a->input, a->input_count);
}

/* Encode, in an encoder-only program. RT_NOT_FINITE: the result has NaN or +infinity. */
static rt_status encode(Cli *cli)
{
    const rt_status status = cli_encode(cli);
    return status != RT_OK || cli->program->vectors->good(cli) ? status : RT_NOT_FINITE;
}

int cli_read(Cli *cli, const char *text, size_t bytes)
{
    CliAnswer *a = &cli->answer;
    a->message[0] = '\0', a->count = a->finished = 0, a->shown = 0;
    const int good = read_ids(cli, text, bytes);
    if (!good && !cli->refused) cli->refused = RT_EXIT_DATA;
    return good;
}

int cli_failed(Cli *cli, rt_status status)
{
    say(&cli->answer, "%s", status == RT_NO_ROOM ? "no memory for the answer" : rt_status_text(status));
    if (status == RT_NO_ROOM) return RT_EXIT_MISSING;
    return status == RT_NOT_FINITE || status == RT_NO_TOKEN ? RT_EXIT_DATA : RT_EXIT_DEFECT;
}

int cli_answer(Cli *cli, const char *text, size_t bytes, int scored)
{
    const rt_program *p = cli->program;
    CliAnswer *a = &cli->answer;
    const int good = cli_read(cli, text, bytes);
    rt_status status = !good ? RT_OK : p->max_target ? generate(cli, scored) : encode(cli);
    const char *answer = good && status == RT_OK ? a->text.text : NULL;
    cli->conversation |= answer != NULL;
    if (cli->options->chat && p->texts->answered(cli->tokenizer, answer, a->text.bytes) != RT_OK && status == RT_OK) status = RT_NO_ROOM;
    return status == RT_OK ? 0 : cli_failed(cli, status);
}

/* ---- printing ----------------------------------------------------------------------------------------------- */

int cli_print(const Cli *cli)
{
    const CliAnswer *a = &cli->answer;
    if (cli->options->raw) {
        cli->program->vectors->raw(cli);
        return ferror(stdout) ? EOF : 0;
    }
    if (a->message[0]) return putchar('\n');
    if (cli->program->vectors) cli->program->vectors->print(cli, stdout);
    else fwrite(a->text.text + a->shown, 1, a->text.bytes - a->shown, stdout);
    return putchar('\n') == EOF || ferror(stdout) ? EOF : 0;
}

void cli_tell_scores(Cli *cli)
{
    const CliDecoder *d = &cli->decoder;
    for (int i = 0; i < d->count && cli->answer.says; i++) {
        const RtBeamResult *r = &d->results[i];
        if (write_text(cli, r->ids, r->length) != RT_OK) return;
        fprintf(stderr, "%s: ", cli->answer.text.text);
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

static void json_text(const CliAnswer *a)
{
    if (a->says) cli_json_text(stdout, a->text.text, a->text.bytes);
    else fputs("null", stdout);
}

/* Every sequence of a search, best first. */
static void json_beams(Cli *cli)
{
    const CliDecoder *d = &cli->decoder;
    fputs(",\"beams\":[", stdout);
    for (int i = 0; i < d->count; i++) {
        const RtBeamResult *r = &d->results[i];
        if (cli->answer.says && write_text(cli, r->ids, r->length) != RT_OK) break;
        fputs(i ? ",{\"answer\":" : "{\"answer\":", stdout);
        json_text(&cli->answer);
        json_ids("ids", r->ids, r->length);
        fputs(",\"score\":", stdout);
        cli_json_number(stdout, r->score);
        fputs(",\"sum\":", stdout);
        cli_json_number(stdout, r->sum);
        putchar('}');
    }
    putchar(']');
}

static void json_answer(Cli *cli)
{
    const CliAnswer *a = &cli->answer;
    json_ids("ids", a->ids, a->count);
    fputs(",\"answer\":", stdout);
    json_text(a);
    fputs(",\"score\":", stdout);
    cli_json_number(stdout, a->score);
    printf(",\"finished\":%s", a->finished ? "true" : "false");
    if (rt_generation_searches(&cli->decoder.settings)) json_beams(cli);
}

int cli_print_json(Cli *cli, const char *text, size_t bytes)
{
    const CliAnswer *a = &cli->answer;
    fputs("{\"input\":", stdout);
    cli_json_text(stdout, text, bytes);
    if (a->message[0]) {
        fputs(",\"error\":", stdout);
        cli_json_text(stdout, a->message, strlen(a->message));
    } else {
        json_ids("input_ids", a->input, a->input_count);
        if (cli->program->vectors) cli->program->vectors->json(cli);
        else json_answer(cli);
    }
    return puts("}") == EOF || ferror(stdout) ? EOF : 0;
}
