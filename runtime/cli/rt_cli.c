/* rt_cli.c: run a generated program: prepare its options, weights and threads, then answer texts
 * (rt_cli_inputs.c) or perform another action. */
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

static int cli_allocate(Cli *cli)
{
    const rt_program *p = cli->program;
    cli->model = allocate(p->model_bytes);
    cli->state = allocate(p->state_bytes);
    /* All zeros, so that cli_close finds no team in it. */
    if (cli->model) memset(cli->model, 0, p->model_bytes);
    if (cli->model && cli->state) return 0;
    fprintf(stderr, "%s: no memory for the model and its state, %zu bytes\n", p->name, p->model_bytes + p->state_bytes);
    return RT_EXIT_MISSING;
}

static int cli_threads(Cli *cli, const CliOptions *options)
{
    const rt_program *p = cli->program;
    const int usual = p->default_threads ? p->default_threads : rt_processors();
    const int threads = options->threads ? options->threads : usual < p->max_threads ? usual : p->max_threads;
    cli->threads = threads;
    if (threads > 1 && p->threads(cli->model, threads) != RT_OK) {
        fprintf(stderr, "%s: cannot start %d threads\n", p->name, threads);
        if (options->threads) return RT_EXIT_MISSING;
        cli->threads = 1;
    }
    if (options->pin && rt_team_pin(p->team(cli->model)) != RT_OK) {
        if (cli->threads == 1) fprintf(stderr, "%s: cannot pin the thread to a processor\n", p->name);
        else fprintf(stderr, "%s: cannot pin %d threads to separate processors\n", p->name, cli->threads);
        return RT_EXIT_MISSING;
    }
    return 0;
}

static int cli_open(Cli *cli, const CliOptions *options, const char *argv0)
{
    int code = cli_allocate(cli);
    if (!code) code = cli_weights_open(&cli->weights, cli->program, cli->model, options->weights, argv0);
    if (!code) code = cli_threads(cli, options);
    if (!code) code = cli_texts_open(cli);
    if (!code) cli->program->reset(cli->state);
    return code;
}

static void cli_close(Cli *cli)
{
    if (cli->model && cli->program->team(cli->model)) cli->program->threads(cli->model, 1);
    cli_texts_close(cli);
    cli_weights_close(&cli->weights);
    free(cli->model), free(cli->state);
}

/* Perform an action that replaces answering texts. */
static int cli_act(Cli *cli, CliAction action)
{
    static int (*const actions[])(Cli *) = {
        [CLI_INFO] = cli_info, [CLI_CHECK] = cli_check, [CLI_SELFTEST] = cli_selftest, [CLI_BENCH] = cli_bench,
    };
    const int code = actions[action](cli);
    return fflush(stdout) || ferror(stdout) ? cli_write_failed(cli) : code;
}

int rt_cli_main(const rt_program *program, int argc, char **argv)
{
    CliOptions options;
    Cli cli = { .program = program, .options = &options };
    const unsigned missing = rt_isa_missing(program->isa);
    int code;
    if (missing) {
        fprintf(stderr, "%s: this program was compiled for %s, which this processor lacks; "
                "rebuild with --isa portable\n", program->name, rt_isa_text(missing));
        return RT_EXIT_MISSING;
    }
    /* End silently if nobody reads the output; but if a file would exceed the limit on its size,
     * only the write fails. */
    signal(SIGPIPE, SIG_DFL);
    signal(SIGXFSZ, SIG_IGN);
    code = cli_options(&options, program, argc, argv);
    if (code) {
        cli_options_free(&options);
        return code < 0 ? 0 : code;
    }
    code = cli_open(&cli, &options, argv[0]);
    if (!code && options.action) code = cli_act(&cli, options.action);
    else if (!code) code = cli_texts(&cli, argc - options.first, argv + options.first);
    cli_close(&cli);
    cli_options_free(&options);
    return code;
}
