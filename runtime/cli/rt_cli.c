/* rt_cli.c: the run of a generated program: its weights, its threads, then text by text.
 * Everything is allocated before the first text, but for the buffer of a line. Answers go to standard output, one
 * line for each text, an empty one for a text that was refused, or one object of JSON; all else goes to standard error. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "rt_cli_parts.h"
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- before the first text ------------------------------------------------------------------------------ */

static void *allocate(size_t bytes) { return aligned_alloc(64, (bytes + 64) / 64 * 64); }

static int host_allocate(Host *host)
{
    const rt_program *p = host->program;
    HostAnswer *a = &host->answer;
    host->model = allocate(p->model_bytes);
    host->state = allocate(p->state_bytes);
    a->input = allocate(((size_t)host_longest(p) + (size_t)p->max_target + 1) * sizeof *a->input);
    a->ids = allocate(((size_t)p->max_target + 1) * sizeof *a->ids);
    if (host->model) memset(host->model, 0, p->model_bytes);            /* no team yet, for host_close */
    if (host->model && host->state && a->input && a->ids) return 0;
    fprintf(stderr, "%s: no memory for the state of %zu bytes\n", p->name, p->state_bytes);
    return EXIT_MISSING;
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
    if (host->tokenizer) return 0;
    fprintf(stderr, "%s: the tokenizer in the weights: %s\n", p->name, rt_status_text(status));
    return status == RT_BAD_WEIGHTS ? EXIT_DATA : EXIT_MISSING;
}

static int host_threads(Host *host, const HostOptions *options)
{
    const rt_program *p = host->program;
    const int usual = p->default_lanes ? p->default_lanes : rt_processors();
    const int lanes = options->threads ? options->threads : usual < p->lanes_max ? usual : p->lanes_max;
    host->lanes = lanes;
    if (lanes > 1 && p->threads(host->model, lanes) != RT_OK) {
        fprintf(stderr, "%s: the system gives no %d threads\n", p->name, lanes);
        if (options->threads) return EXIT_MISSING;
        host->lanes = 1;
    }
    if (options->pin && rt_team_pin(p->team(host->model)) != RT_OK) {
        fprintf(stderr, "%s: cannot pin %d threads to processors of their own\n", p->name, lanes);
        return EXIT_MISSING;
    }
    return 0;
}

static int host_open(Host *host, const HostOptions *options, const char *argv0)
{
    struct stat info;
    int code = host_allocate(host);
    if (!code) code = host_weights_open(&host->weights, host->program, host->model, options->weights, argv0);
    if (!code) code = host_open_tokenizer(host);
    if (!code) code = host_threads(host, options);
    if (!code) code = host_decoder_open(&host->decoder, host->program, options, &host->weights, host->state);
    if (!code) code = host_answer_open(host);
    if (!code && host->program->vectors) code = host->program->vectors->batch_open(host);
    if (code) return code;
    host->program->reset(host->state);
    host->flush = fstat(STDIN_FILENO, &info) || !S_ISREG(info.st_mode);
    return 0;
}

static void host_close(Host *host)
{
    if (host->tokenizer) host->program->texts->close(host->tokenizer);
    if (host->model && host->program->team(host->model)) host->program->threads(host->model, 1);
    host_weights_close(&host->weights);
    host_decoder_close(&host->decoder);
    if (host->batch) host->program->vectors->batch_free(host->batch);
    free(host->places);
    rt_lines_free(&host->lines);
    free(host->model), free(host->state), free(host->answer.input), free(host->answer.ids);
    if (host->answer.says) rt_answer_text_close(&host->answer.text);
}

/* ---- one text ------------------------------------------------------------------------------------------- */

static int write_failed(const Host *host)
{
    fprintf(stderr, "%s: cannot write to standard output: %s\n", host->program->name, strerror(errno));
    return EXIT_IO;
}

int host_show(Host *host, const char *text, size_t bytes, HostPlace place, int code)
{
    const int json = host->options->json;
    const char *message = host->answer.message;
    if (host->answer.whole > host->answer.input_count && !*message)
        fprintf(stderr, "%s: %s %zu: %d tokens; cut to %d\n", host->program->name, place.kind, place.number, host->answer.whole,
                host->answer.input_count);
    if (*message && (code || !json)) fprintf(stderr, "%s: %s %zu: %s\n", host->program->name, place.kind, place.number, message);
    if ((json ? host_print_json(host, text, bytes) : host_print(host)) == EOF) return write_failed(host);
    if (host->flush && fflush(stdout)) return write_failed(host);
    if (host->options->verbose && !*message) rt_timing_print(&host->decoder.timing, host->program->name);
    return code;
}

static int host_text(Host *host, const char *text, size_t bytes, HostPlace place)
{
    const int code = host_answer(host, text, bytes, host->options->json);
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
        return EXIT_DATA;
    }
    fprintf(stderr, "%s: cannot read standard input: %s\n", host->program->name, strerror(error));
    return error == ENOMEM ? EXIT_MISSING : EXIT_IO;
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
    if (failed) return error == ENOENT || error == ENOTDIR ? EXIT_NO_INPUT : error ? EXIT_IO : EXIT_DATA;
    if (*bytes && (*text)[*bytes - 1] == '\n') --*bytes;
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

static int host_texts(Host *host, int n, char **texts)
{
    const HostOptions *o = host->options;
    const int similar = host_is_similar(host->program, n, texts);
    int code = similar ? host->program->vectors->similar(host, texts) : n || o->prompt_count ? 0 : host_lines(host);
    for (int i = 0; i < o->prompt_count && !code; i++) code = host_prompt(host, &o->prompts[i], (size_t)i + 1);
    for (int i = 0; !similar && i < n && !code; i++) {
        const HostPlace place = { "argument", (size_t)i + 1 };
        code = strcmp(texts[i], "-") ? host_text(host, texts[i], strlen(texts[i]), place) : host_lines(host);
    }
    if (code != EXIT_IO && fflush(stdout)) code = write_failed(host);
    return code ? code : host->refused ? EXIT_DATA : 0;
}

/* One of the options that stand in the place of answers. */
static int host_act(Host *host, HostAction action)
{
    static int (*const actions[])(Host *) = {
        [HOST_INFO] = host_info, [HOST_CHECK] = host_check, [HOST_SELFTEST] = host_selftest, [HOST_BENCH] = host_bench,
    };
    const int code = actions[action](host);
    return fflush(stdout) || ferror(stdout) ? write_failed(host) : code;
}

int rt_host_main(const rt_program *program, int argc, char **argv)
{
    HostOptions options;
    Host host = { .program = program, .options = &options };
    const unsigned missing = rt_isa_missing(program->isa);
    int code;
    if (missing) {
        fprintf(stderr, "%s: this program was compiled for %s, which this processor lacks; "
                "rebuild with --isa portable\n", program->name, rt_isa_text(missing));
        return EXIT_MISSING;
    }
    signal(SIGPIPE, SIG_DFL);                                           /* nobody reads: the end, without a word, */
    signal(SIGXFSZ, SIG_IGN);                                           /* but a file that may not grow is an error of write */
    code = host_options(&options, program, argc, argv);
    if (code) {
        host_options_free(&options);
        return code < 0 ? 0 : code;
    }
    code = host_open(&host, &options, argv[0]);
    if (!code && options.action) code = host_act(&host, options.action);
    else if (!code) code = host_texts(&host, argc - options.first, argv + options.first);
    host_close(&host);
    host_options_free(&options);
    return code;
}
