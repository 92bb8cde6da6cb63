/* rt_cli_inputs.c: text by text, for a program's main() and for xformc, which fills an rt_program over its engine.
 * Everything is allocated before the first text, but for the buffer of a line. Answers go to standard output, one
 * line for each text, an empty one for a text that was refused, or one object of JSON; all else goes to standard error. */
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

static int host_allocate(Host *host)
{
    const rt_program *p = host->program;
    HostAnswer *a = &host->answer;
    a->input = malloc(((size_t)host_longest(p) + (size_t)p->max_target + 1) * sizeof *a->input);
    a->ids = malloc(((size_t)p->max_target + 1) * sizeof *a->ids);
    if (a->input && a->ids) return 0;
    return host_no_memory(p);
}

/* The tokenizer in the weights, where the program has one. */
static int host_open_tokenizer(Host *host)
{
    const rt_program *p = host->program;
    size_t bytes;
    rt_status status;
    if (!p->texts) return 0;
    const void *blob = p->tokenizer(host->model, &bytes);
    host->tokenizer = p->texts->open(blob, bytes, &status);
    if (host->tokenizer && host->options->plain_text) p->texts->literal(host->tokenizer);
    if (host->tokenizer) return 0;
    if (status == RT_NO_ROOM) return host_no_memory(p);
    fprintf(stderr, "%s: the tokenizer in the weights: %s\n", p->name, rt_status_text(status));
    return status == RT_BAD_WEIGHTS ? RT_EXIT_DATA : RT_EXIT_MISSING;
}

static int host_translate(Host *host, HostBegin *begin)
{
    const rt_program *p = host->program;
    const HostOptions *o = host->options;
    const HostLanguages l = { o->source_language, o->target_language, p->translations, stderr, p->name, NULL,
                              p->generation && !p->generation->processors.force_first };
    return p->texts->translate(host->tokenizer, &l, begin);
}

int host_texts_open(Host *host)
{
    struct stat info;
    HostBegin begin = { host->program->start, -1 };
    int code = host_allocate(host);
    if (!code) code = host_open_tokenizer(host);
    if (!code && host->tokenizer) code = host_translate(host, &begin);
    if (!code) code = host_decoder_open(&host->decoder, host->program, host->options, begin, &host->weights, host->state);
    if (!code) code = host_answer_open(host);
    if (!code && host->program->vectors) code = host->program->vectors->batch_open(host);
    host->flush = fstat(STDIN_FILENO, &info) || !S_ISREG(info.st_mode);
    return code;
}

void host_texts_close(Host *host)
{
    if (host->tokenizer) host->program->texts->close(host->tokenizer);
    host_decoder_close(&host->decoder);
    if (host->batch) host->program->vectors->batch_free(host->batch);
    free(host->places);
    rt_lines_free(&host->lines);
    free(host->answer.input), free(host->answer.ids);
    if (host->answer.says) rt_answer_text_close(&host->answer.text);
}

/* ---- one text ------------------------------------------------------------------------------------------- */

int host_write_failed(const Host *host)
{
    fprintf(stderr, "%s: cannot write to standard output: %s\n", host->program->name, strerror(errno));
    return RT_EXIT_IO;
}

void host_tell_input(const Host *host, HostPlace place)
{
    const HostAnswer *a = &host->answer;
    const char *name = host->program->name;
    if (a->message[0]) return;
    if (a->whole > a->input_count) fprintf(stderr, "%s: %s %zu: %d tokens; cut to %d\n", name, place.kind, place.number, a->whole, a->input_count);
    if (a->twice) host->program->texts->tell_twice(host->tokenizer, name, place, a->input[0]);
}

/* Once. */
static void tell_saturated(Host *host)
{
    const rt_program *p = host->program;
    if (host->saturated || !p->saturated || !p->saturated(host->state)) return;
    fprintf(stderr, "%s: note: " RT_SATURATED "\n", p->name);
    host->saturated = 1;
}

int host_show(Host *host, const char *text, size_t bytes, HostPlace place, int code)
{
    const int json = host->options->json;
    const char *message = host->answer.message;
    host_tell_input(host, place);
    tell_saturated(host);
    if (*message && (code || !json)) fprintf(stderr, "%s: %s %zu: %s\n", host->program->name, place.kind, place.number, message);
    if ((json ? host_print_json(host, text, bytes) : host_print(host)) == EOF) return host_write_failed(host);
    if (host->flush && fflush(stdout)) return host_write_failed(host);
    if (host->options->scores && !*message) host_tell_scores(host);
    if (host->options->verbose && !*message) rt_timing_print(&host->decoder.timing, host->program->name);
    return code;
}

static int host_text(Host *host, const char *text, size_t bytes, HostPlace place)
{
    const int code = host_answer(host, text, bytes, host->options->json || host->options->scores);
    host->texts++;
    return host_show(host, text, bytes, place, code);
}

/* ---- all texts ------------------------------------------------------------------------------------------ */

static int host_lines(Host *host)
{
    host->lines.most = rt_line_most(host_longest(host->program));
    char *line;
    size_t n;
    int code = 0, got = 1;
    HostPlace place = { "line", 1 };
    const int prompts = host->options->turns && isatty(STDIN_FILENO) && isatty(STDERR_FILENO);
    for (; !code && (!prompts || fputs("> ", stderr) >= 0) && (got = rt_lines_next(&host->lines, &line, &n)) > 0; place.number++)
        code = host->batch ? host->program->vectors->batch_line(host, line, n, place.number) : host_text(host, line, n, place);
    const int error = errno;
    if (prompts && got == 0) fputs("\n", stderr);
    if (!code && host->batch) code = host->program->vectors->batch_end(host);
    if (code || got == 0) return code;
    if (got == RT_LINE_TOO_LONG) {
        fprintf(stderr, "%s: %s %zu: more than %zu bytes, but at most %d %s fit; nothing more is read\n", host->program->name, place.kind,
                place.number, host->lines.most, host_most(host), host_unit(host));
        return RT_EXIT_DATA;
    }
    fprintf(stderr, "%s: cannot read standard input: %s\n", host->program->name, strerror(error));
    return error == ENOMEM ? RT_EXIT_MISSING : RT_EXIT_IO;
}

/* All of a file but a line end at its end, into memory of the caller. Returns 0, or an exit code after a message. */
static int host_read_file(const rt_program *p, const char *path, char **text, size_t *bytes)
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
        if (*bytes && (*text)[*bytes - 1] == '\r') --*bytes;       /* as of a line of standard input */
    }
    (*text)[*bytes] = '\0';
    return 0;
}

/* The text of -p, or of the file of -f. */
static int host_prompt(Host *host, const HostPrompt *prompt, size_t number)
{
    const HostPlace place = { "prompt", number };
    char *text = NULL;
    size_t bytes = strlen(prompt->text);
    const int code = prompt->file ? host_read_file(host->program, prompt->text, &text, &bytes) : 0;
    const int answered = code ? code : host_text(host, text ? text : prompt->text, bytes, place);
    free(text);
    return answered;
}

/* Whether a decoder alone has something to go on from without a text: the mark that its tokenizer begins every text with. */
static int begins_alone(Host *host)
{
    const rt_program *p = host->program;
    rt_host_source source = { .ids = host->answer.input, .room = host_most(host) };
    if (!host->tokenizer || host_numbers(host) || host->options->chat || p->max_source) return 0;
    return p->texts->ids(host->tokenizer, "", 0, 0, 0, 0, &source) == RT_OK && source.n;
}

/* Where there is no text: the lines of standard input. Where these are none, or nobody has put anything there, the beginning of one. */
static int host_no_texts(Host *host)
{
    const int alone = begins_alone(host), code = alone && isatty(STDIN_FILENO) ? 0 : host_lines(host);
    return code || host->texts || !alone ? code : host_text(host, "", 0, (HostPlace){ "argument", 1 });
}

int host_is_similar(const rt_program *p, int n, char **texts)
{
    return p->vector && !p->vector_stride && !p->labels && n > 1 && strcmp(texts[0], "similar") == 0;
}

int host_texts(Host *host, int n, char **texts)
{
    const HostOptions *o = host->options;
    const int similar = host_is_similar(host->program, n, texts);
    int code = similar ? host->program->vectors->similar(host, texts) : n || o->prompt_count ? 0 : host_no_texts(host);
    for (int i = 0; i < o->prompt_count && !code; i++) code = host_prompt(host, &o->prompts[i], (size_t)i + 1);
    for (int i = 0; !similar && i < n && !code; i++) {
        const HostPlace place = { "argument", (size_t)i + 1 };
        code = strcmp(texts[i], "-") ? host_text(host, texts[i], strlen(texts[i]), place) : host_lines(host);
    }
    if (code != RT_EXIT_IO && fflush(stdout)) code = host_write_failed(host);
    return code ? code : host->refused;
}
