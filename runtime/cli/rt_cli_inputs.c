/* rt_cli_inputs.c: answer texts, for a program's main() and for xformc, which wraps its
 * engine in an rt_program. The model's buffers are allocated before the first text; those of texts
 * grow. Answers go to standard output: for each text one line, which is empty for a rejected text,
 * one JSON object or, with --raw, bytes. Everything else goes to standard error. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "rt_cli_parts.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- before the first text ------------------------------------------------------------------------------ */

static int cli_allocate(Cli *cli)
{
    const rt_program *p = cli->program;
    CliAnswer *a = &cli->answer;
    a->input = malloc(((size_t)cli_longest(p) + (size_t)p->max_target + 1) * sizeof *a->input);
    a->ids = malloc(((size_t)p->max_target + 1) * sizeof *a->ids);
    if (a->input && a->ids) return 0;
    return cli_no_memory(p);
}

/* Open the tokenizer in the weights, if the program has one. */
static int cli_open_tokenizer(Cli *cli)
{
    const rt_program *p = cli->program;
    size_t bytes;
    rt_status status;
    if (!p->texts) return 0;
    const void *blob = p->tokenizer(cli->model, &bytes);
    cli->tokenizer = p->texts->open(blob, bytes, &status);
    if (cli->tokenizer && cli->options->plain_text) p->texts->literal(cli->tokenizer);
    if (cli->tokenizer) return 0;
    if (status == RT_NO_ROOM) return cli_no_memory(p);
    if (status == RT_BAD_WEIGHTS) fprintf(stderr, "%s: the tokenizer in the weights is damaged\n", p->name);
    else fprintf(stderr, "%s: the tokenizer in the weights: %s\n", p->name, rt_status_text(status));
    return status == RT_BAD_WEIGHTS ? RT_EXIT_DATA : RT_EXIT_MISSING;
}

static int cli_translate(Cli *cli, CliBegin *begin)
{
    const rt_program *p = cli->program;
    const CliOptions *o = cli->options;
    const CliLanguages l = { o->source_language, o->target_language, p->translations, stderr, p->name, NULL,
                              p->generation && !p->generation->processors.force_first };
    return p->texts->translate(cli->tokenizer, &l, begin);
}

int cli_texts_open(Cli *cli)
{
    struct stat info;
    CliBegin begin = { cli->program->start, -1 };
    int code = cli_allocate(cli);
    if (!code) code = cli_open_tokenizer(cli);
    if (!code && cli->tokenizer) code = cli_translate(cli, &begin);
    if (!code) code = cli_decoder_open(&cli->decoder, cli->program, cli->options, begin, &cli->weights, cli->state);
    if (!code) code = cli_answer_open(cli);
    if (!code && cli->program->vectors) code = cli->program->vectors->batch_open(cli);
    cli->flush = fstat(STDIN_FILENO, &info) || !S_ISREG(info.st_mode);
    return code;
}

void cli_texts_close(Cli *cli)
{
    if (cli->tokenizer) cli->program->texts->close(cli->tokenizer);
    cli_decoder_close(&cli->decoder);
    if (cli->batch) cli->program->vectors->batch_free(cli->batch);
    free(cli->places);
    rt_lines_free(&cli->lines);
    free(cli->answer.input), free(cli->answer.ids);
    if (cli->answer.says) rt_answer_text_close(&cli->answer.text);
}

/* ---- one text ------------------------------------------------------------------------------------------- */

int cli_write_failed(const Cli *cli)
{
    fprintf(stderr, "%s: cannot write to standard output: %s\n", cli->program->name, strerror(errno));
    return RT_EXIT_IO;
}

void cli_tell_input(const Cli *cli, CliPlace place)
{
    const CliAnswer *a = &cli->answer;
    const char *name = cli->program->name;
    if (a->message[0]) return;
    if (a->whole > a->input_count)
        fprintf(stderr, "%s: %s %zu: %d tokens; truncated to %d\n", name, place.kind, place.number, a->whole, a->input_count);
    if (a->twice) cli->program->texts->tell_twice(cli->tokenizer, name, place, a->input[0]);
}

/* Report the saturation of an f16 cache, once. */
static void tell_saturated(Cli *cli)
{
    const rt_program *p = cli->program;
    if (cli->saturated || !p->saturated || !p->saturated(cli->state)) return;
    fprintf(stderr, "%s: note: " RT_SATURATED "\n", p->name);
    cli->saturated = 1;
}

/* Say how many calls of the model the threads shared in this answer. */
static void tell_team(Cli *cli)
{
    const rt_program *p = cli->program;
    const rt_team *team = p->team ? p->team(cli->model) : NULL;
    unsigned calls, shared;
    rt_team_calls(team, &calls, &shared);
    if (calls != cli->calls)
        fprintf(stderr, "%s: %d threads shared %u of %u call%s\n", p->name, rt_team_threads(team), shared - cli->shared, calls - cli->calls,
                calls - cli->calls == 1 ? "" : "s");
    cli->calls = calls, cli->shared = shared;
}

int cli_show(Cli *cli, const char *text, size_t bytes, CliPlace place, int code)
{
    const int json = cli->options->json;
    const char *message = cli->answer.message;
    cli_tell_input(cli, place);
    tell_saturated(cli);
    if (*message && (code || !json)) fprintf(stderr, "%s: %s %zu: %s\n", cli->program->name, place.kind, place.number, message);
    if ((json ? cli_print_json(cli, text, bytes) : cli_print(cli)) == EOF) return cli_write_failed(cli);
    if (cli->flush && fflush(stdout)) return cli_write_failed(cli);
    if (cli->options->scores && !*message) cli_tell_scores(cli);
    if (cli->options->verbose && !*message) tell_team(cli);
    if (cli->options->verbose && !*message) rt_timing_print(&cli->decoder.timing, cli->program->name);
    return code;
}

static int cli_text(Cli *cli, const char *text, size_t bytes, CliPlace place)
{
    const int code = cli_answer(cli, text, bytes, cli->options->json || cli->options->scores);
    cli->texts++;
    return cli_show(cli, text, bytes, place, code);
}

/* ---- all texts ------------------------------------------------------------------------------------------ */

static int cli_lines(Cli *cli)
{
    cli->lines.most = rt_line_most(cli_longest(cli->program));
    char *line;
    size_t n;
    int code = 0, got = 1;
    CliPlace place = { "line", 1 };
    const int prompts = isatty(STDIN_FILENO) && isatty(STDERR_FILENO);
    for (; !code && (!prompts || fputs("> ", stderr) >= 0) && (got = rt_lines_next(&cli->lines, &line, &n)) > 0; place.number++)
        code = cli->batch ? cli->program->vectors->batch_line(cli, line, n, place.number) : cli_text(cli, line, n, place);
    const int error = errno;
    if (prompts && got == 0) fputs("\n", stderr);
    if (!code && cli->batch) code = cli->program->vectors->batch_end(cli);
    if (code || got == 0) return code;
    if (got == RT_LINE_TOO_LONG) {
        fprintf(stderr, "%s: %s %zu: more than %zu bytes, but at most %d %s fit; nothing more is read\n", cli->program->name, place.kind,
                place.number, cli->lines.most, cli_most(cli), cli_unit(cli));
        return RT_EXIT_DATA;
    }
    fprintf(stderr, "%s: cannot read standard input: %s\n", cli->program->name, strerror(error));
    return error == ENOMEM ? RT_EXIT_MISSING : RT_EXIT_IO;
}

/* Read a file, without a newline at its end, into *text, which the caller frees. Returns 0, or an
 * exit code after a message. */
static int cli_read_file(const rt_program *p, const char *path, char **text, size_t *bytes)
{
    enum { MOST = 64 << 20 };
    FILE *f = fopen(path, "rb");
    size_t room = 0;
    *bytes = 0;
    errno = f ? 0 : errno;
    for (size_t got = 1; f && got && *bytes < MOST && !errno; *bytes += got) {
        if (*bytes + 1 >= room) {
            char *more = realloc(*text, room = 2 * room + 4096);
            if (!more) break;
            *text = more;
        }
        got = fread(*text + *bytes, 1, room - 1 - *bytes, f);
    }
    const int error = errno, failed = !f || error || !*text || *bytes >= MOST;
    if (f) fclose(f);
    if (failed) fprintf(stderr, "%s: cannot read %s: %s\n", p->name, path, error ? strerror(error) : "it is too large");
    if (failed)
        return error == ENOENT || error == ENOTDIR ? RT_EXIT_NO_INPUT : error == ENOMEM ? RT_EXIT_MISSING : error ? RT_EXIT_IO : RT_EXIT_DATA;
    if (*bytes && (*text)[*bytes - 1] == '\n') {
        --*bytes;
        if (*bytes && (*text)[*bytes - 1] == '\r') --*bytes;       /* as for a line of stdin */
    }
    (*text)[*bytes] = '\0';
    return 0;
}

/* Answer the text given with -p, or the file given with -f. */
static int cli_prompt(Cli *cli, const CliPrompt *prompt, size_t number)
{
    const CliPlace place = { "prompt", number };
    char *text = NULL;
    size_t bytes = strlen(prompt->text);
    const int code = prompt->file ? cli_read_file(cli->program, prompt->text, &text, &bytes) : 0;
    const int answered = code ? code : cli_text(cli, text ? text : prompt->text, bytes, place);
    free(text);
    return answered;
}

/* 1 if a decoder-only model can continue an empty text, because its tokenizer adds a token to every
 * text. */
static int begins_alone(Cli *cli)
{
    const rt_program *p = cli->program;
    rt_cli_source source = { .ids = cli->answer.input, .room = cli_most(cli) };
    if (!cli->tokenizer || cli_numbers(cli) || cli->options->chat || p->max_source) return 0;
    return p->texts->ids(cli->tokenizer, "", 0, 0, 0, 0, &source) == RT_OK && source.n;
}

/* No texts were given: answer the lines of standard input. If there are none either, or if
 * standard input is a terminal, a model that can continue an empty text does so. */
static int cli_no_texts(Cli *cli)
{
    const int alone = begins_alone(cli), code = alone && isatty(STDIN_FILENO) ? 0 : cli_lines(cli);
    return code || cli->texts || !alone ? code : cli_text(cli, "", 0, (CliPlace){ "argument", 1 });
}

int cli_is_similar(const rt_program *p, int n, char **texts)
{
    return p->vector && !p->vector_stride && !p->labels && n > 1 && strcmp(texts[0], "similar") == 0;
}

/* Tell that "similar TEXT TEXT" is read as three texts if the model cannot compare texts. */
static void note_similar(const Cli *cli, int n, char **texts)
{
    const rt_program *p = cli->program;
    if (cli_numbers(cli) || n != 3 || strcmp(texts[0], "similar") || cli_is_similar(p, n, texts)) return;
    fprintf(stderr, "%s: note: \"similar\" is treated as an input text: the model does not give one vector per text%s\n", p->name,
            p->pairs && !cli->options->separator ? "; a tab between two texts makes them a pair" : "");
}

int cli_texts(Cli *cli, int n, char **texts)
{
    const CliOptions *o = cli->options;
    const int similar = cli_is_similar(cli->program, n, texts);
    note_similar(cli, n, texts);
    int code = similar ? cli->program->vectors->similar(cli, texts) : n || o->prompt_count ? 0 : cli_no_texts(cli);
    for (int i = 0; i < o->prompt_count && !code; i++) code = cli_prompt(cli, &o->prompts[i], (size_t)i + 1);
    for (int i = 0; !similar && i < n && !code; i++) {
        const CliPlace place = { "argument", (size_t)i + 1 };
        code = strcmp(texts[i], "-") ? cli_text(cli, texts[i], strlen(texts[i]), place) : cli_lines(cli);
    }
    if (code != RT_EXIT_IO && fflush(stdout)) code = cli_write_failed(cli);
    return code ? code : cli->refused;
}
