/* rt_cli_weights.c: see rt_cli_weights.h. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "rt_cli_weights.h"
#include "rt_cli_options.h"
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* On a Zen 4, copying 61 MB takes 15 ms, which pays off after 32 rows of 4 ms each. */
enum { READS_IN_PLACE = 32 };

/* The path of the program's weights file, next to the executable. */
static void default_path(const rt_program *p, const char *argv0, char *path, size_t room)
{
    char self[4096];
    const ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    const char *slash;
    if (n > 0) self[n] = '\0', argv0 = self;
    slash = strrchr(argv0, '/');
    snprintf(path, room, "%.*s%s", slash ? (int)(slash - argv0) + 1 : 0, argv0, p->weights_file);
}

/* Map the file with the weights: the program's own file if `own` is set and they are appended to
 * it, else w->place. w->place becomes "" for the program's own file. Returns 0 or an errno. */
static int map_file(CliWeights *w, int own)
{
    const rt_program *p = w->program;
    const int error = own ? rt_weights_map(&w->file, "/proc/self/exe", p->weights_bytes) : ENOENT;
    if (error == ENOMEM || error == EFBIG) {
        *w->place = '\0';
        return error;
    }
    if (!error && w->file.mapped && w->file.bytes == p->weights_bytes) {
        *w->place = '\0';
        return 0;
    }
    if (!error) rt_weights_close(&w->file);
    return rt_weights_map(&w->file, w->place, p->weights_bytes);
}

/* given: the user chose the file. */
static int open_file(CliWeights *w, int given)
{
    const rt_program *p = w->program;
    const int error = map_file(w, !given && p->weights_behind);
    if (!error) return 0;
    if (*w->place) fprintf(stderr, "%s: cannot read the weights %s: %s\n", p->name, w->place, strerror(error));
    else fprintf(stderr, "%s: cannot map the program's weights, %zu bytes: %s\n", p->name, p->weights_bytes, strerror(error));
    if (error == ENOMEM || error == EFBIG) return RT_EXIT_MISSING;
    if (error != ENOENT && error != ENOTDIR) return RT_EXIT_IO;
    if (given) return RT_EXIT_NO_INPUT;
    if (p->weights_behind)
        fprintf(stderr, "%s: the program does not contain them: it was stripped, truncated or extended, "
                "or cannot read its own file\n", p->name);
    fprintf(stderr, "%s: pass them with --weights FILE\n", p->name);
    return RT_EXIT_NO_INPUT;
}

static int bind(const CliWeights *w, size_t bytes)
{
    const rt_program *p = w->program;
    const rt_status status = p->bind(w->model, w->data, bytes);
    if (status == RT_OK) return 0;
    fprintf(stderr, "%s: %s: %s\n", p->name, *w->place ? w->place : "the embedded weights", rt_status_text(status));
    if (status == RT_BAD_WEIGHTS && bytes != p->weights_bytes)
        fprintf(stderr, "%s: expected %zu bytes, found %zu\n", p->name, p->weights_bytes, bytes);
    return status == RT_BAD_WEIGHTS ? RT_EXIT_DATA : status == RT_NO_ISA || status == RT_BYTE_ORDER ? RT_EXIT_MISSING : RT_EXIT_DEFECT;
}

/* Reading a mapped file beyond its end, after it was truncated, raises SIGBUS. */
static char cut_message[512];
static void cut(int number)
{
    (void)number;
    const ssize_t written = write(STDERR_FILENO, cut_message, strlen(cut_message));
    _exit(written < 0 ? RT_EXIT_DEFECT : RT_EXIT_IO);
}

static void notice_cuts(const CliWeights *w)
{
    struct sigaction action = { .sa_handler = cut };
    snprintf(cut_message, sizeof cut_message, "%s: %.400s was truncated while it was being read\n",
             w->program->name, *w->place ? w->place : "the program's file");
    if (w->file.mapped) sigaction(SIGBUS, &action, NULL);
}

/* Report weights that exceed the memory: they are read from the file repeatedly. */
static void tell_of_memory(const CliWeights *w)
{
#ifdef _SC_PHYS_PAGES
    const double gib = 1 << 30, bytes = (double)w->file.bytes;
    const double memory = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
    if (w->file.mapped && memory > 0 && bytes > memory)
        fprintf(stderr, "%s: %.1f GiB of weights exceed %.1f GiB of memory: they are read from the "
                "file repeatedly\n", w->program->name, bytes / gib, memory / gib);
#else
    (void)w;
#endif
}

int cli_weights_open(CliWeights *w, const rt_program *p, void *model, const char *path, const char *argv0)
{
    w->program = p, w->model = model, w->data = p->weights;
    if (!path && p->weights) return bind(w, p->weights_bytes);
    if (path) snprintf(w->place, sizeof w->place, "%s", path);
    else default_path(p, argv0, w->place, sizeof w->place);
    const int code = open_file(w, path != NULL);
    w->data = w->file.data;
    if (!code) tell_of_memory(w);
    notice_cuts(w);
    return code ? code : bind(w, w->file.bytes);
}

void cli_weights_read(CliWeights *w)
{
    if (w->data && w->reads < READS_IN_PLACE && ++w->reads == READS_IN_PLACE) cli_weights_settle(w);
}

/* Weights that were read, not mapped, are in the program's memory already. */
void cli_weights_settle(CliWeights *w)
{
    const rt_program *p = w->program;
    w->reads = READS_IN_PLACE;
    if (w->copy.data || (w->file.data && !w->file.mapped)) return;
    rt_weights_copy(&w->copy, w->data, p->weights_bytes);
    if (!w->copy.data) return;
    if (p->bind(w->model, w->copy.data, w->copy.bytes) == RT_OK) w->data = w->copy.data;
    else rt_weights_close(&w->copy);                            /* the file has changed in the meantime */
}

void cli_weights_close(CliWeights *w)
{
    rt_weights_close(&w->file);
    rt_weights_close(&w->copy);
}
