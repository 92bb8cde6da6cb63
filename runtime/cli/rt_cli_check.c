/* rt_cli_check.c: check that the weights are as they were packed, and that this program computes
 * with them what the compiler's reference computed when they were packed. */
#include "rt_cli_parts.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "rt_packed.h"

static const char *place(const Cli *cli) { return *cli->weights.place ? cli->weights.place : "the embedded weights"; }

static int no_head(const Cli *cli)
{
    fprintf(stderr, "%s: %s: packed without the values that this check needs; pack the weights again\n",
            cli->program->name, place(cli));
    return RT_EXIT_DATA;
}

static uint64_t stored_hash(const Cli *cli) { return rt_packed_number((const char *)cli->weights.data + RT_PACKED_CONTENT_AT); }
static uint64_t found_hash(const Cli *cli) { return rt_packed_content(cli->weights.data, cli->program->weights_bytes); }

/* --json: {"check":"ok","content":HASH} */
int cli_check(Cli *cli)
{
    if (cli->program->weights_bytes < RT_PACKED_DATA_AT) return no_head(cli);
    const uint64_t stored = stored_hash(cli), found = found_hash(cli);
    if (stored != found) {
        fprintf(stderr, "%s: %s: corrupt: the hash of the content is %016" PRIx64 ", but was %016" PRIx64 " when packed\n",
                cli->program->name, place(cli), found, stored);
        return RT_EXIT_DATA;
    }
    if (cli->options->json) printf("{\"check\":\"ok\",\"content\":\"%016" PRIx64 "\"}\n", found);
    else printf("%s: the weights are intact: %016" PRIx64 "\n", cli->program->name, found);
    return 0;
}

/* Decode all rows but the last, as many per call as fit, then the last row by itself. */
static rt_status run_target(Cli *cli, float *values)
{
    const rt_program *p = cli->program;
    int ids[RT_SELFTEST_ROWS];
    const int n = rt_selftest_target(ids, p->max_target, p->vocab, p->start);
    rt_status status = p->clear(cli->state, 0);
    for (int first = 0, count; status == RT_OK && first < n; first += count) {
        rt_token rows[RT_SELFTEST_ROWS];
        count = first == n - 1 ? 1 : n - 1 - first < p->rows ? n - 1 - first : p->rows;
        for (int i = 0; i < count; i++) rows[i] = (rt_token){ 0, first + i, ids[first + i] };
        status = p->decode(cli->model, cli->state, rows, count);
        if (status == RT_OK) rt_selftest_keep(values, RT_SELFTEST_VALUES, n, p->vocab, p->logits(cli->state), first, count, p->logits_stride);
    }
    return status;
}

static rt_status run(Cli *cli, float *values)
{
    const rt_program *p = cli->program;
    int ids[RT_SELFTEST_SOURCE];
    const int n = p->max_source ? rt_selftest_source(ids, p->max_source, p->source_vocab) : 0;
    rt_status status = p->max_source ? p->encode(cli->model, cli->state, 0, ids, n) : RT_OK;
    if (status != RT_OK) return status;
    if (p->max_target) return run_target(cli, values);
    const int half = RT_SELFTEST_VALUES / 2, rows = p->vector_stride ? n : 1;
    rt_selftest_keep(values, p->vector ? half : RT_SELFTEST_VALUES, n, p->width, p->hidden(cli->state), 0, n, p->hidden_stride);
    if (p->vector) rt_selftest_keep(values + half, half, rows, p->vector_width, p->vector(cli->state), 0, rows, p->vector_stride);
    return RT_OK;
}

/* The input reaches most weights but not all: a ReLU unit may be inactive. So the self-test also
 * compares the hash.
 * --json: {"selftest":"ok" or "differs","distance":X,"tolerance":Y,"content":"ok" or "corrupt"}; X
 * is null if it is not finite. */
int cli_selftest(Cli *cli)
{
    const rt_program *p = cli->program;
    float values[RT_SELFTEST_VALUES] = { 0 }, expected[RT_SELFTEST_VALUES];
    if (p->weights_bytes < RT_PACKED_SELFTEST_AT + RT_SELFTEST_DIGITS) return no_head(cli);
    if (!rt_selftest_read(expected, (const char *)cli->weights.data + RT_PACKED_SELFTEST_AT)) return no_head(cli);
    const rt_status status = run(cli, values);
    if (status != RT_OK) {
        fprintf(stderr, "%s: cannot run the self-test: %s\n", p->name, rt_status_text(status));
        return RT_EXIT_DEFECT;
    }
    const double distance = rt_selftest_distance(values, expected);
    const int intact = stored_hash(cli) == found_hash(cli), ok = intact && distance <= p->tolerance;
    if (cli->options->json) {
        printf("{\"selftest\":\"%s\",\"distance\":", ok ? "ok" : "differs");
        cli_json_number(stdout, distance);
        printf(",\"tolerance\":%g,\"content\":\"%s\"}\n", p->tolerance, intact ? "ok" : "corrupt");
    } else {
        printf("%s: self-test %s: distance %.1e, tolerance %g%s\n", p->name, ok ? "ok" : "differs", distance, p->tolerance,
               intact ? "" : "; the weights are corrupt");
    }
    return ok ? 0 : RT_EXIT_DIFFERS;
}
