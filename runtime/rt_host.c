/* rt_host.c: the run of a generated program: its weights, its threads, then text by text.
 * Everything is allocated before the first text, but for the buffer of getline. Answers go to standard output, one
 * line for each text, an empty one for a text that was refused; all else goes to standard error. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "rt_host.h"
#include "rt_host_beam.h"
#include "rt_weights.h"
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct Host {
    const rt_program *program;
    RtWeights file;                 /* empty when the weights are embedded */
    void *model, *state;
    int *ids;                       /* [max_source] */
    char *answer;                   /* [answer_bytes] */
    HostBeam beam;
    int flush;                      /* after every answer: somebody may wait for it */
    int refused;                    /* whether any text was */
} Host;

/* ---- before the first text ------------------------------------------------------------------------------ */

static void *allocate(size_t bytes) { return aligned_alloc(64, (bytes + 64) / 64 * 64); }

static int host_allocate(Host *host)
{
    const rt_program *p = host->program;
    host->model = allocate(p->model_bytes);
    host->state = allocate(p->state_bytes);
    host->ids = allocate((size_t)p->max_source * sizeof host->ids[0]);
    host->answer = allocate(p->answer_bytes);
    if (host->model) memset(host->model, 0, p->model_bytes);            /* no team yet, for host_close */
    if (host->model && host->state && host->ids && host->answer) return 0;
    fprintf(stderr, "%s: no memory for the state of %zu bytes\n", p->name, p->state_bytes);
    return EXIT_MISSING;
}

/* The path of the weights that belong to the program: beside the executable. */
static void default_path(const rt_program *p, const char *argv0, char *path, size_t room)
{
    char self[4096];
    const ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    const char *slash;
    if (n > 0) self[n] = '\0', argv0 = self;
    slash = strrchr(argv0, '/');
    snprintf(path, room, "%.*s%s", slash ? (int)(slash - argv0) + 1 : 0, argv0, p->weights_file);
}

static int open_weights(Host *host, const char *path)
{
    const int error = rt_weights_open(&host->file, path);
    if (!error) return 0;
    fprintf(stderr, "%s: cannot read the weights %s: %s\n", host->program->name, path, strerror(error));
    if (error != ENOENT && error != ENOTDIR) return EXIT_IO;
    fprintf(stderr, "%s: give their place with --weights FILE\n", host->program->name);
    return EXIT_NO_INPUT;
}

static int host_bind(Host *host, const HostOptions *options, const char *argv0)
{
    const rt_program *p = host->program;
    const void *weights = p->weights;
    size_t bytes = p->weights_bytes;
    char beside[8192] = "the embedded weights";
    const char *path = options->weights ? options->weights : beside;
    rt_status status;
    if (options->weights || !weights) {
        int code;
        if (!options->weights) default_path(p, argv0, beside, sizeof beside);
        if ((code = open_weights(host, path))) return code;
        weights = host->file.data, bytes = host->file.bytes;
    }
    status = p->bind(host->model, weights, bytes);
    if (status == RT_OK) return 0;
    fprintf(stderr, "%s: %s: %s\n", p->name, path, rt_status_text(status));
    if (status == RT_BAD_WEIGHTS && bytes != p->weights_bytes)
        fprintf(stderr, "%s: expected %zu bytes, found %zu\n", p->name, p->weights_bytes, bytes);
    return status == RT_BAD_WEIGHTS ? EXIT_DATA : status == RT_NO_ISA ? EXIT_MISSING : EXIT_DEFECT;
}

static int host_threads(Host *host, const HostOptions *options)
{
    const rt_program *p = host->program;
    const int usual = p->default_lanes ? p->default_lanes : rt_processors();
    const int lanes = options->threads ? options->threads : usual < p->lanes_max ? usual : p->lanes_max;
    if (lanes > 1 && p->threads(host->model, lanes) != RT_OK) {
        fprintf(stderr, "%s: the system gives no %d threads\n", p->name, lanes);
        if (options->threads) return EXIT_MISSING;
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
    if (!code) code = host_bind(host, options, argv0);
    if (!code) code = host_threads(host, options);
    if (!code) code = host_beam_open(&host->beam, host->program, options, host->model, host->state);
    if (code) return code;
    host->program->reset(host->state);
    host->flush = fstat(STDIN_FILENO, &info) || !S_ISREG(info.st_mode);
    return 0;
}

static void host_close(Host *host)
{
    if (host->model && host->program->team(host->model)) host->program->threads(host->model, 1);
    rt_weights_close(&host->file);
    host_beam_close(&host->beam);
    free(host->model), free(host->state), free(host->ids), free(host->answer);
}

/* ---- one text ------------------------------------------------------------------------------------------- */

/* Where a text came from, for messages. */
typedef struct Place { const char *kind; size_t number; } Place;

static int may_print(int code_point)
{
    return code_point >= 0x20 && (code_point < 0x7f || code_point > 0x9f)
        && !(code_point >= 0x200b && code_point <= 0x200f) && !(code_point >= 0x2028 && code_point <= 0x202e)
        && !(code_point >= 0x2060 && code_point <= 0x2069) && code_point != 0xfeff;
}

/* The faulty character itself and its number, if it can do the terminal no harm, or the number alone. */
static void print_character(const char *s, int code_point)
{
    const int bytes = code_point < 0x80 ? 1 : code_point < 0x800 ? 2 : code_point < 0x10000 ? 3 : 4;
    if (may_print(code_point)) fprintf(stderr, "'%.*s' (U+%04X)", bytes, s, (unsigned)code_point);
    else fprintf(stderr, "U+%04X", (unsigned)code_point);
}

/* The characters that begin in the first `bytes` bytes of valid UTF-8. */
static size_t characters_in(const char *s, size_t bytes)
{
    size_t n = 0;
    for (size_t i = 0; i < bytes; i++)
        n += ((unsigned char)s[i] & 0xc0) != 0x80;
    return n;
}

static void explain(const rt_program *p, const char *text, rt_status status, int n, const RtTextFault *fault)
{
    if (status == RT_TOO_LONG) {
        fprintf(stderr, "%d characters, but at most %d fit\n", n, p->max_source);
    } else if (status == RT_BAD_ID && fault->code_point < 0) {
        fprintf(stderr, "not valid UTF-8 at byte %zu\n", fault->at + 1);
    } else if (status == RT_BAD_ID) {
        print_character(text + fault->at, fault->code_point);
        fprintf(stderr, " at character %zu is not in the vocabulary\n", characters_in(text, fault->at) + 1);
    } else {
        fprintf(stderr, "%s\n", rt_status_text(status));
    }
}

/* Leave the answer in host->answer, or a message and an empty answer. Returns 0, EXIT_DATA for weights that give no
 * numbers, or EXIT_DEFECT. */
static int answer(Host *host, const char *text, size_t bytes, Place place)
{
    const rt_program *p = host->program;
    const size_t length = strlen(text);
    RtTextFault fault = { 0, -1 };
    rt_status status = RT_OK;
    int n = 0, checked = length == bytes && length > 0;
    host->answer[0] = '\0';
    if (checked) status = p->ids(host->model, text, host->ids, p->max_source, &n, &fault);
    if (checked && status == RT_OK) {
        if (host->beam.results) status = host_beam_answer(&host->beam, host->ids, n, host->answer, p->answer_bytes);
        else status = p->text(host->model, host->state, text, host->answer, p->answer_bytes);
        if (status == RT_OK) return 0;
        fprintf(stderr, "%s: %s %zu: %s\n", p->name, place.kind, place.number, rt_status_text(status));
        host->answer[0] = '\0';
        return status == RT_BAD_WEIGHTS ? EXIT_DATA : EXIT_DEFECT;
    }
    fprintf(stderr, "%s: %s %zu: ", p->name, place.kind, place.number);
    if (length < bytes) fprintf(stderr, "a NUL at byte %zu\n", length + 1);
    else if (bytes == 0) fprintf(stderr, "empty; 1 to %d characters fit\n", p->max_source);
    else explain(p, text, status, n, &fault);
    host->refused = 1;
    return 0;
}

static int write_failed(const Host *host)
{
    fprintf(stderr, "%s: cannot write to standard output: %s\n", host->program->name, strerror(errno));
    return EXIT_IO;
}

static int host_text(Host *host, const char *text, size_t bytes, Place place)
{
    const int code = answer(host, text, bytes, place);
    if (fputs(host->answer, stdout) == EOF || putchar('\n') == EOF) return write_failed(host);
    if (host->flush && fflush(stdout)) return write_failed(host);
    return code;
}

/* ---- all texts ------------------------------------------------------------------------------------------ */

static int host_lines(Host *host)
{
    char *line = NULL;
    size_t room = 0;
    int code = 0;
    Place place = { "line", 0 };
    while (!code) {
        ssize_t n;
        errno = 0;
        if ((n = getline(&line, &room, stdin)) < 0) break;
        place.number++;
        if (n && line[n - 1] == '\n') line[--n] = '\0';
        if (n && line[n - 1] == '\r') line[--n] = '\0';
        code = host_text(host, line, (size_t)n, place);
    }
    if (!code && !feof(stdin)) {
        fprintf(stderr, "%s: cannot read standard input: %s\n", host->program->name, strerror(errno));
        code = EXIT_IO;
    }
    free(line);
    return code;
}

static int host_texts(Host *host, int n, char **texts)
{
    int code = n ? 0 : host_lines(host);
    for (int i = 0; i < n && !code; i++) {
        const Place place = { "argument", (size_t)i + 1 };
        code = strcmp(texts[i], "-") ? host_text(host, texts[i], strlen(texts[i]), place) : host_lines(host);
    }
    if (code != EXIT_IO && fflush(stdout)) code = write_failed(host);
    return code ? code : host->refused ? EXIT_DATA : 0;
}

int rt_host_main(const rt_program *program, int argc, char **argv)
{
    Host host = { .program = program };
    HostOptions options;
    const unsigned missing = rt_isa_missing(program->isa);
    int code;
    if (missing) {
        fprintf(stderr, "%s: this program was compiled for %s, which this processor lacks; "
                "rebuild with --isa portable\n", program->name, rt_isa_text(missing));
        return EXIT_MISSING;
    }
    signal(SIGPIPE, SIG_IGN);                                           /* a closed pipe is an error of write */
    if ((code = host_options(&options, program, argc, argv)) != 0) return code < 0 ? 0 : code;
    code = host_open(&host, &options, argv[0]);
    if (!code) code = host_texts(&host, argc - options.first, argv + options.first);
    host_close(&host);
    return code;
}
