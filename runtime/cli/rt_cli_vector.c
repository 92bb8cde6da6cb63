/* rt_cli_vector.c: the answers of an encoder-only program: hidden states, vectors, the labels that
 * a classifier chooses, the most likely ids for masks, or the similarity of two texts. */
#include "rt_cli_parts.h"
#include "rt_logits.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Rows of numbers, `stride` floats apart. */
typedef struct Rows { const float *at; int count, width, stride; } Rows;

static Rows rows_of(const Cli *cli)
{
    const rt_program *p = cli->program;
    const int n = cli->answer.input_count;
    const size_t from = (size_t)cli->from;
    if (!p->vector) return (Rows){ p->hidden(cli->state) + from * (size_t)p->hidden_stride, n, p->width, p->hidden_stride };
    if (!p->vector_stride) return (Rows){ cli->pooled ? cli->pooled : p->vector(cli->state), 1, p->vector_width, 0 };
    return (Rows){ p->vector(cli->state) + from * (size_t)p->vector_stride, n, p->vector_width, p->vector_stride };
}

static const float *row(const Rows *r, int i) { return r->at + (size_t)i * (size_t)r->stride; }

/* ---- masks -------------------------------------------------------------------------------------------------- */

enum { MASK_ANSWERS = 5 };

/* The row of the next mask from row i on; r->count if there is none. */
static int next_mask(const Cli *cli, const Rows *r, int i)
{
    while (i < r->count && cli->answer.input[i] != cli->program->mask_id) i++;
    return i;
}

/* 1 if tokens are printed as text, not as ids. */
static int has_words(const Cli *cli) { return cli->tokenizer && !cli_numbers(cli); }

/* The text of a token, quoted; or its id. */
static void print_token(const Cli *cli, int id, FILE *to)
{
    char text[4096];
    size_t used = 0;
    if (has_words(cli) && cli->program->texts->token(cli->tokenizer, id, text, sizeof text, &used) == RT_OK) cli_json_text(to, text, used);
    else fprintf(to, "%d", id);
}

static void print_mask(const Cli *cli, const float *logits, int width, int json, FILE *to)
{
    int best[MASK_ANSWERS];
    const int n = rt_largest(logits, width, best, MASK_ANSWERS);
    for (int i = 0; i < n; i++) {
        const double p = rt_probability(logits, width, best[i]);
        if (json) fprintf(to, "%s{\"token\":%d", i ? "," : "", best[i]);
        else if (i) putc('\t', to);
        if (json && has_words(cli)) fputs(",\"token_str\":", to);
        if (!json || has_words(cli)) print_token(cli, best[i], to);
        if (json) fputs(",\"score\":", to), cli_json_number(to, p), putc('}', to);
        else fprintf(to, " %.4f", p);
    }
}

/* For each mask the most likely tokens with their probabilities, most likely first. */
static void print_masks(const Cli *cli, const Rows *r, FILE *to)
{
    for (int i = next_mask(cli, r, 0), again = 0; i < r->count; i = next_mask(cli, r, i + 1), again = 1) {
        if (again) fputs("\t|\t", to);
        print_mask(cli, row(r, i), r->width, 0, to);
    }
}

static void json_masks(const Cli *cli, const Rows *r)
{
    fputs(",\"masks\":[", stdout);
    for (int i = next_mask(cli, r, 0), again = 0; i < r->count; i = next_mask(cli, r, i + 1), again = 1) {
        fputs(again ? ",[" : "[", stdout);
        print_mask(cli, row(r, i), r->width, 1, stdout);
        putchar(']');
    }
    putchar(']');
}

/* ---- labels ------------------------------------------------------------------------------------------------- */

/* Characters that would break the line, or that a terminal would interpret, are escaped as in
 * JSON. */
static void print_label(const char *s, FILE *to)
{
    for (int length; *s; s += length) {
        const int c = cli_code_point(s, strlen(s), &length);
        if (c < 0) fputs("\\ufffd", to);
        else if (!cli_may_print(c)) fprintf(to, "\\u%04x", (unsigned)c);
        else fwrite(s, 1, (size_t)length, to);
    }
}

/* The label with the highest score, or all that apply, with their scores. */
static void print_labels(const Cli *cli, const Rows *r, FILE *to)
{
    const rt_program *p = cli->program;
    const int n = rt_answered(p->scoring, r->at, r->width, cli->places);
    for (int i = 0; i < n; i++) {
        if (i) putc('\t', to);
        print_label(p->labels[cli->places[i]], to);
        fprintf(to, " %.4f", rt_score(p->scoring, r->at, r->width, cli->places[i]));
    }
}

static void json_label(const char *s) { cli_json_text(stdout, s, strlen(s)); }

/* ---- numbers ------------------------------------------------------------------------------------------------ */

/* 1 if no row that is printed has NaN or +infinity: of a masked language model, the rows of masks
 * or, with --raw, all. */
static int good(const Cli *cli)
{
    const Rows r = rows_of(cli);
    const int masks = cli->program->has_mask && !cli->options->raw;
    for (int i = masks ? next_mask(cli, &r, 0) : 0; i < r.count; i = masks ? next_mask(cli, &r, i + 1) : i + 1)
        if (!rt_logits_good(row(&r, i), r.width)) return 0;
    return 1;
}

/* ---- one text ----------------------------------------------------------------------------------------------- */

static void print_vector(const Cli *cli, FILE *to)
{
    const rt_program *p = cli->program;
    const Rows r = rows_of(cli);
    if (p->has_mask) {
        print_masks(cli, &r, to);
        return;
    }
    if (p->labels) {
        print_labels(cli, &r, to);
        return;
    }
    for (int k = 0; k < r.count; k++)
        for (int i = 0; i < r.width; i++) fprintf(to, "%s%.9g", k || i ? " " : "", (double)row(&r, k)[i]);
}

/* 32-bit floats, little-endian. */
static void print_raw(const Cli *cli)
{
    const Rows r = rows_of(cli);
    if (cli->answer.message[0]) return;
    for (int k = 0; k < r.count; k++)
        for (int i = 0; i < r.width; i++) {
            union { float value; uint32_t bits; } x = { row(&r, k)[i] };
            for (int b = 0; b < 32; b += 8) putchar((int)(x.bits >> b & 0xff));
        }
}

static void json_labels(const Cli *cli, const Rows *r)
{
    const rt_program *p = cli->program;
    const int n = rt_answered(p->scoring, r->at, r->width, cli->places), several = p->scoring == RT_SCORING_SIGMOID && r->width > 1;
    fputs(several ? ",\"answer\":[" : ",\"answer\":", stdout);
    for (int i = 0; i < n; i++) {
        if (i) putchar(',');
        json_label(p->labels[cli->places[i]]);
    }
    if (several) putchar(']');
    else if (!n) fputs("null", stdout);
    fputs(",\"scores\":[", stdout);
    for (int i = 0; i < r->width; i++) {
        fputs(i ? ",{\"label\":" : "{\"label\":", stdout);
        json_label(p->labels[i]);
        fputs(",\"score\":", stdout);
        cli_json_number(stdout, rt_score(p->scoring, r->at, r->width, i));
        putchar('}');
    }
    putchar(']');
}

static void json_row(const Rows *r, int k)
{
    putchar('[');
    for (int i = 0; i < r->width; i++) {
        if (i) putchar(',');
        cli_json_number(stdout, (double)row(r, k)[i]);
    }
    putchar(']');
}

static void json_vector(const Cli *cli)
{
    const rt_program *p = cli->program;
    const Rows r = rows_of(cli);
    if (p->has_mask) {
        json_masks(cli, &r);
        return;
    }
    if (p->labels) json_labels(cli, &r);
    printf(",\"%s\":", !p->vector ? "hidden" : p->vector_stride ? "vectors" : "vector");
    if (p->vector && !p->vector_stride) {
        json_row(&r, 0);
        return;
    }
    for (int k = 0; k < r.count; k++) {
        putchar(k ? ',' : '[');
        json_row(&r, k);
    }
    putchar(']');
}

/* ---- two texts ---------------------------------------------------------------------------------------------- */

/* Write the vector of texts[i] into to[vector_width]. Returns an exit code; *good: there is a
 * vector, otherwise a message has been printed. */
static int vector_of(Cli *cli, char **texts, int i, float *to, int *good)
{
    const rt_program *p = cli->program;
    const int code = cli_answer(cli, texts[i], strlen(texts[i]), 0);
    *good = !code && !cli->answer.message[0];
    if (!*good) fprintf(stderr, "%s: argument %d: %s\n", p->name, i + 1, cli->answer.message);
    else memcpy(to, p->vector(cli->state), (size_t)p->vector_width * sizeof *to);
    return code;
}

static void print_similar(const Cli *cli, char **texts, int good, double similarity)
{
    if (cli->options->json) {
        fputs("{\"input\":[", stdout);
        cli_json_text(stdout, texts[1], strlen(texts[1]));
        putchar(',');
        cli_json_text(stdout, texts[2], strlen(texts[2]));
        fputs("],\"similarity\":", stdout);
        if (good) cli_json_number(stdout, similarity);
        else fputs("null", stdout);
        putchar('}');
    } else if (good) {
        printf("%.9g", similarity);
    }
    putchar('\n');
}

static int similar(Cli *cli, char **texts)
{
    const int width = cli->program->vector_width;
    float *const vectors = malloc(2 * (size_t)width * sizeof *vectors);
    int first, second = 0;
    if (!vectors) {
        fprintf(stderr, "%s: no memory for two vectors\n", cli->program->name);
        return RT_EXIT_MISSING;
    }
    int code = vector_of(cli, texts, 1, vectors, &first);
    if (!code) code = vector_of(cli, texts, 2, vectors + width, &second);
    if (!code) print_similar(cli, texts, first && second, rt_similarity(cli->program->similarity, vectors, vectors + width, width));
    free(vectors);
    return code ? code : first && second ? 0 : cli->refused;
}

static const char *similarity(const rt_program *p)
{
    static const char *const words[] = {
        [RT_SIMILARITY_COSINE] = "cosine", [RT_SIMILARITY_DOT] = "dot product",
        [RT_SIMILARITY_EUCLIDEAN] = "negative Euclidean distance",
        [RT_SIMILARITY_MANHATTAN] = "negative Manhattan distance",
    };
    return words[p->similarity];
}

/* True if `similar` compares two texts. */
static int compares(const rt_program *p) { return p->vector && !p->vector_stride && !p->labels; }

static void show_help(const rt_program *p)
{
    if (p->has_mask) puts("For each mask, print the most likely tokens and their probabilities.\n");
    if (compares(p)) printf("'%s similar TEXT TEXT' prints the %s of the vectors of two texts.\n\n", p->name, similarity(p));
}

static void show_keys(const rt_program *p)
{
    if (p->has_mask)
        puts("  masks       for each mask, the most likely tokens, with token (the id),\n"
             "              token_str (the text) and score (the probability)");
    else if (!p->vector) puts("  hidden      a list of numbers for each id");
    else if (p->vector_stride) puts("  vectors     a list of numbers for each id");
    else puts("  vector      a list of numbers");
    if (compares(p)) printf("  similarity  the %s of the vectors of the two texts\n", similarity(p));
    if (p->labels)
        printf("  answer      %s\n"
               "  scores      each label and its score\n",
               p->scoring == RT_SCORING_SIGMOID && p->vector_width > 1 ? "the labels with a score above 0.5, most likely first"
                                                                       : "the label with the highest score");
}

const rt_cli_vectors rt_cli_vector = {
    .good = good, .show_help = show_help, .show_keys = show_keys, .print = print_vector, .json = json_vector, .raw = print_raw, .similar = similar,
    .batch_open = cli_batch_open, .batch_free = cli_batch_free, .batch_line = cli_batch_line, .batch_end = cli_batch_end,
};
