/* rt_cli_bench.c: --bench: measure the speed of this program on this machine, with the tests of
 * `xformc bench`.
 *
 *   enc dec e2e     encoder-decoder: read a source; write a target after it; both. At full length
 *   ppN tgN         decoder: read N ids, up to 128 rows at a time; write N ids one by one
 *   b1xN            encoder: read a sentence of N ids
 * A run times the layers and the output layer, without tokenising or choosing ids. Each test warms
 * up, then repeats; a repetition is as many runs as fit into REPETITION_SECONDS, at least one.
 *
 * --json: {"rows":[{model_type model_size model_n_params backends isa n_threads test n_prompt n_gen
 * runs avg_ns stddev_ns avg_ts stddev_ts sentences_per_second samples_ns samples_ts}...]}, with the
 * keys of llama-bench where it has them. Tokens are those read or written; runs: per repetition. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "rt_cli_parts.h"

#include <math.h>
#include <stdio.h>
#include <time.h>

enum { MOST_TESTS = 3, USUAL_REPETITIONS = 5, MOST_REPETITIONS = 1000, MOST_ROWS = 128 };

/* Target time of a repetition; limit on the time of a test, unless --repetitions is given. */
static const double REPETITION_SECONDS = 0.2, TEST_SECONDS = 2.5;

typedef struct Test { char name[16]; int prompt, generated; int encode, decode; } Test;

typedef struct Bench {
    Cli *cli;
    Test tests[MOST_TESTS];
    int count;
    const Test *test;               /* the current one */
    int runs;                       /* per repetition */
    double samples[MOST_REPETITIONS];  int repetitions;     /* seconds of one run */
} Bench;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int lesser(int a, int b) { return a < b ? a : b; }
static int greater(int a, int b) { return a > b ? a : b; }

/* ---- tests -------------------------------------------------------------------------------------------------- */

static void add(Bench *b, const char *format, int prompt, int generated, int encode, int decode)
{
    Test *t = &b->tests[b->count++];
    *t = (Test){ .prompt = prompt, .generated = generated, .encode = encode, .decode = decode };
    snprintf(t->name, sizeof t->name, format, prompt ? prompt : generated);
}

/* In an encoder-decoder, the last id of a target is never fed. */
static void add_tests(Bench *b)
{
    const rt_program *p = b->cli->program;
    const int written = greater(p->max_target - 1, 1);
    static const int lengths[] = { 16, 128, 512 };
    if (p->max_source && p->max_target) {
        add(b, "enc", p->max_source, 0, 1, 0);
        add(b, "dec", 0, written, 0, 1);
        add(b, "e2e", p->max_source, written, 1, 1);
    } else if (p->max_target) {
        add(b, "pp%d", lesser(p->max_target, 512), 0, 0, 1);
        add(b, "tg%d", 0, lesser(p->max_target, 128), 0, 1);
    } else {
        for (int i = 0; i < MOST_TESTS && (i == 0 || lengths[i] <= p->max_source); i++)
            add(b, "b1x%d", lesser(lengths[i], p->max_source), 0, 1, 0);
    }
}

/* Arbitrary ids that vary. */
static int some_id(int i, int vocab) { return (int)((7 * (int64_t)i + 3) % vocab); }

static rt_status read_source(const Bench *b, int n)
{
    Cli *cli = b->cli;
    for (int i = 0; i < n; i++) cli->answer.input[i] = some_id(i, cli->program->source_vocab);
    return cli->program->encode(cli->model, cli->state, 0, cli->answer.input, n);
}

/* Clear slot 0 and feed it n ids, at most `most` per call. If most is 1, every row gives logits,
 * otherwise only the last. */
static rt_status decode(const Bench *b, int n, int most)
{
    const rt_program *p = b->cli->program;
    rt_status status = p->clear(b->cli->state, 0);
    for (int first = 0, count; first < n && status == RT_OK; first += count) {
        rt_token rows[MOST_ROWS];
        const int reads = most > 1 && first < n - 1;
        count = lesser(reads ? n - 1 - first : n - first, most);
        for (int i = 0; i < count; i++) rows[i] = (rt_token){ 0, first + i, some_id(first + i, p->vocab) };
        status = (reads ? p->prefill : p->decode)(b->cli->model, b->cli->state, rows, count);
    }
    return status;
}

static rt_status run(const Bench *b)
{
    const Test *t = b->test;
    rt_status status = t->encode ? read_source(b, t->prompt) : RT_OK;
    if (status != RT_OK || !t->decode) return status;
    if (t->generated) return decode(b, t->generated, 1);
    return decode(b, t->prompt, lesser(b->cli->program->rows, MOST_ROWS));
}

/* ---- measuring ---------------------------------------------------------------------------------------------- */

/* The time of `runs` runs in seconds; negative after a failure. */
static double measure(const Bench *b, int runs)
{
    const double begun = now();
    for (int i = 0; i < runs; i++)
        if (run(b) != RT_OK) return -1;
    return now() - begun;
}

/* needs: test.   gives: runs, samples, repetitions. Returns 0 after a failure. */
static int measure_test(Bench *b)
{
    const int asked = b->cli->options->repetitions, most = asked ? asked : USUAL_REPETITIONS;
    const double begun = now();
    double once = 0;
    if (!b->test->encode && b->cli->program->max_source && read_source(b, b->cli->program->max_source) != RT_OK) return 0;
    for (int i = 0; i == 0 || (i < 1000 && now() - begun < REPETITION_SECONDS); i++)
        if ((once = measure(b, 1)) < 0) return 0;
    b->runs = once > 0 && once < REPETITION_SECONDS ? (int)fmin(REPETITION_SECONDS / once, 1e6) : 1;
    for (b->repetitions = 0; b->repetitions < most; b->repetitions++) {
        const double seconds = measure(b, b->runs);
        if (seconds < 0) return 0;
        b->samples[b->repetitions] = seconds / b->runs;
        if (!asked && now() - begun + seconds > TEST_SECONDS) return ++b->repetitions;
    }
    return 1;
}

typedef struct Figure { double mean, stddev; } Figure;

/* Mean and standard deviation of the samples in tokens per second, or in seconds if `tokens` is
 * 0. */
static Figure figure(const Bench *b, double tokens)
{
    Figure f = { 0, 0 };
    double squares = 0;
    for (int i = 0; i < b->repetitions; i++) {
        const double x = tokens > 0 ? tokens / b->samples[i] : b->samples[i];
        f.mean += x / b->repetitions;
    }
    for (int i = 0; i < b->repetitions; i++) {
        const double x = (tokens > 0 ? tokens / b->samples[i] : b->samples[i]) - f.mean;
        squares += x * x;
    }
    if (b->repetitions > 1) f.stddev = sqrt(squares / (b->repetitions - 1));
    return f;
}

/* ---- printing ----------------------------------------------------------------------------------------------- */

static void print_head(const Bench *b)
{
    const int sentences = b->cli->program->max_source > 0;
    printf("| model | size | params | backend | threads | test | t/s |%s\n", sentences ? " sentences/s |" : "");
    printf("|---|---:|---:|---|---:|---:|---:|%s\n", sentences ? "---:|" : "");
}

static void print_row(const Bench *b)
{
    const rt_program *p = b->cli->program;
    const Test *t = b->test;
    const Figure tokens = figure(b, t->prompt + t->generated), sentences = figure(b, 1);
    printf("| %s | %.2f MiB | %.2f M | CPU %s | %d | %s | %.2f ± %.2f |", p->name, (double)p->weights_bytes / 1048576,
           (double)p->parameters / 1e6, rt_isa_text(p->isa), b->cli->threads, t->name, tokens.mean, tokens.stddev);
    if (p->max_source) printf(" %.2f ± %.2f |", sentences.mean, sentences.stddev);
    putchar('\n');
}

static void json_samples(const Bench *b, const char *key, double tokens)
{
    printf(",\"%s\":[", key);
    for (int i = 0; i < b->repetitions; i++) {
        if (i) putchar(',');
        cli_json_number(stdout, tokens > 0 ? tokens / b->samples[i] : 1e9 * b->samples[i]);
    }
    putchar(']');
}

static void json_row(const Bench *b)
{
    const rt_program *p = b->cli->program;
    const Test *t = b->test;
    const double tokens = t->prompt + t->generated;
    const Figure time = figure(b, 0), speed = figure(b, tokens);
    printf("%s{\"model_type\":\"%s\",\"model_size\":%zu,\"model_n_params\":%lld,\"backends\":\"CPU\",\"isa\":\"%s\"", t == b->tests ? "" : ",",
           p->name, p->weights_bytes, p->parameters, rt_isa_text(p->isa));
    printf(",\"n_threads\":%d,\"test\":\"%s\",\"n_prompt\":%d,\"n_gen\":%d,\"runs\":%d", b->cli->threads, t->name, t->prompt, t->generated, b->runs);
    printf(",\"avg_ns\":%.9g,\"stddev_ns\":%.9g,\"avg_ts\":%.9g,\"stddev_ts\":%.9g", 1e9 * time.mean, 1e9 * time.stddev, speed.mean, speed.stddev);
    if (p->max_source) printf(",\"sentences_per_second\":%.9g", figure(b, 1).mean);
    json_samples(b, "samples_ns", 0);
    json_samples(b, "samples_ts", tokens);
    putchar('}');
}

int cli_bench(Cli *cli)
{
    static Bench bench;
    Bench *b = &bench;
    const int json = cli->options->json;
    b->cli = cli;
    cli_weights_settle(&cli->weights);
    add_tests(b);
    if (json) fputs("{\"rows\":[", stdout);
    else print_head(b);
    for (int i = 0; i < b->count; i++) {
        b->test = &b->tests[i];
        if (!measure_test(b)) {
            fprintf(stderr, "%s: cannot run the %s test\n", cli->program->name, b->test->name);
            return RT_EXIT_DEFECT;
        }
        if (json) json_row(b);
        else print_row(b);
        fflush(stdout);
    }
    if (json) puts("]}");
    return 0;
}
