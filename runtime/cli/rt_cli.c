/* rt_cli.c: the run of a generated program: its options, its weights, its threads, then rt_cli_inputs.c. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "rt_cli_parts.h"
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- before the first text ------------------------------------------------------------------------------ */

static void *allocate(size_t bytes) { return aligned_alloc(64, (bytes + 64) / 64 * 64); }

static int host_allocate(Host *host)
{
    const rt_program *p = host->program;
    host->model = allocate(p->model_bytes);
    host->state = allocate(p->state_bytes);
    if (host->model) memset(host->model, 0, p->model_bytes);            /* no team yet, for host_close */
    if (host->model && host->state) return 0;
    fprintf(stderr, "%s: no memory for the state of %zu bytes\n", p->name, p->state_bytes);
    return RT_EXIT_MISSING;
}

static int host_threads(Host *host, const HostOptions *options)
{
    const rt_program *p = host->program;
    const int usual = p->default_lanes ? p->default_lanes : rt_processors();
    const int lanes = options->threads ? options->threads : usual < p->lanes_max ? usual : p->lanes_max;
    host->lanes = lanes;
    if (lanes > 1 && p->threads(host->model, lanes) != RT_OK) {
        fprintf(stderr, "%s: the system gives no %d threads\n", p->name, lanes);
        if (options->threads) return RT_EXIT_MISSING;
        host->lanes = 1;
    }
    if (options->pin && rt_team_pin(p->team(host->model)) != RT_OK) {
        fprintf(stderr, "%s: cannot pin %d threads to processors of their own\n", p->name, lanes);
        return RT_EXIT_MISSING;
    }
    return 0;
}

static int host_open(Host *host, const HostOptions *options, const char *argv0)
{
    int code = host_allocate(host);
    if (!code) code = host_weights_open(&host->weights, host->program, host->model, options->weights, argv0);
    if (!code) code = host_threads(host, options);
    if (!code) code = host_texts_open(host);
    if (!code) host->program->reset(host->state);
    return code;
}

static void host_close(Host *host)
{
    if (host->model && host->program->team(host->model)) host->program->threads(host->model, 1);
    host_texts_close(host);
    host_weights_close(&host->weights);
    free(host->model), free(host->state);
}

/* One of the options that stand in the place of answers. */
static int host_act(Host *host, HostAction action)
{
    static int (*const actions[])(Host *) = {
        [HOST_INFO] = host_info, [HOST_CHECK] = host_check, [HOST_SELFTEST] = host_selftest, [HOST_BENCH] = host_bench,
    };
    const int code = actions[action](host);
    return fflush(stdout) || ferror(stdout) ? host_write_failed(host) : code;
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
        return RT_EXIT_MISSING;
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
