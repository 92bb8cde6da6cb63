/* rt_cli_batch.c: encode several lines of standard input at once, in an encoder-only program: as
 * many as fit and are ready, without waiting for more. Answers and messages keep their order. */
#include "rt_cli_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A line of the batch. at: offset of its text in `texts`; number: its line number; whole: ids of
 * the uncut text. */
typedef struct Item { size_t at, bytes, number; int whole; } Item;

struct CliBatch {
    int *ids, *lengths, *firsts;    /* [max_source], [room] and [room] */
    Item *items;  int count, room;
    int rows, place;                /* ids so far; the same, with those of each line rounded up to a multiple of 16 */
    char *texts;  size_t text_bytes, text_room;
    /* [room][vector_width] if the model makes one vector per text, else NULL. */
    float *vectors;
};

int cli_batch_open(Cli *cli)
{
    const rt_program *p = cli->program;
    const size_t n = (size_t)p->max_source, room = (n + 15) / 16;
    if (p->labels && !(cli->places = malloc((size_t)p->vector_width * sizeof *cli->places))) return cli_no_memory(cli->program);
    if (p->max_target || !p->encode_batch) return 0;
    CliBatch *b = cli->batch = calloc(1, sizeof *b);
    if (!b) return cli_no_memory(cli->program);
    b->room = (int)room;
    b->ids = malloc((n + 2 * room) * sizeof *b->ids);
    b->items = malloc(room * sizeof *b->items);
    if (!b->ids || !b->items) return cli_no_memory(cli->program);
    if (p->vector && !p->vector_stride && !(b->vectors = malloc(room * (size_t)p->vector_width * sizeof *b->vectors)))
        return cli_no_memory(cli->program);
    b->lengths = b->ids + n, b->firsts = b->lengths + room;
    return 0;
}

void cli_batch_free(CliBatch *b)
{
    if (b) free(b->ids), free(b->items), free(b->vectors), free(b->texts);
    free(b);
}

/* Set up the answer of line t, whose ids begin at `from`, as if it had been a single text. */
static void take(Cli *cli, const CliBatch *b, int t, int from)
{
    CliAnswer *a = &cli->answer;
    memcpy(a->input, b->ids + from, (size_t)b->lengths[t] * sizeof *a->input);
    a->message[0] = '\0';
    a->input_count = b->lengths[t];
    a->first = b->firsts[t];
    a->whole = b->items[t].whole;
    cli->from = from;
    cli->pooled = b->vectors ? b->vectors + (size_t)t * (size_t)cli->program->vector_width : NULL;
}

int cli_batch_end(Cli *cli)
{
    CliBatch *b = cli->batch;
    const rt_program *p = cli->program;
    int code = 0;
    if (!b || !b->count) return 0;
    cli_weights_read(&cli->weights);
    rt_status status = p->encode_batch(cli->model, cli->state, b->ids, b->lengths, p->encode_pair ? b->firsts : NULL, b->count, b->vectors);
    if (status != RT_OK) code = cli_failed(cli, status);
    for (int t = 0, from = 0; t < b->count; from += b->lengths[t++]) {
        const Item *i = &b->items[t];
        if (status == RT_OK) take(cli, b, t, from);
        if (status == RT_OK && !p->vectors->good(cli)) code = cli_failed(cli, status = RT_NOT_FINITE);
        code = cli_show(cli, b->texts + i->at, i->bytes, (CliPlace){ "line", i->number }, code);
        if (code) break;
    }
    cli->pooled = NULL, cli->from = 0;
    b->count = b->rows = b->place = 0, b->text_bytes = 0;
    return code;
}

static int keep(Cli *cli, const char *text, size_t bytes, size_t number)
{
    CliBatch *b = cli->batch;
    const CliAnswer *a = &cli->answer;
    if (bytes + 1 > b->text_room - b->text_bytes) {
        char *more = realloc(b->texts, b->text_room = 2 * (b->text_room + bytes) + 4096);
        if (!more) return cli_no_memory(cli->program);
        b->texts = more;
    }
    memcpy(b->texts + b->text_bytes, text, bytes + 1);
    b->items[b->count] = (Item){ b->text_bytes, bytes, number, a->whole };
    memcpy(b->ids + b->rows, a->input, (size_t)a->input_count * sizeof *b->ids);
    b->lengths[b->count] = a->input_count;
    b->firsts[b->count++] = a->first;
    b->text_bytes += bytes + 1;
    b->rows += a->input_count;
    b->place += (a->input_count + 15) / 16 * 16;
    return 0;
}

int cli_batch_line(Cli *cli, const char *text, size_t bytes, size_t number)
{
    CliBatch *b = cli->batch;
    CliAnswer *a = &cli->answer;
    int code = 0;
    if (!cli_read(cli, text, bytes)) {
        char message[sizeof a->message];
        memcpy(message, a->message, sizeof message);
        code = cli_batch_end(cli);
        memcpy(a->message, message, sizeof message);
        return code ? code : cli_show(cli, text, bytes, (CliPlace){ "line", number }, 0);
    }
    if (b->place && a->input_count > cli->program->max_source - b->place) {
        code = cli_batch_end(cli);
        /* This cannot fail: the line was read before. */
        if (!code && !cli_read(cli, text, bytes)) code = RT_EXIT_DEFECT;
    }
    if (!code) code = keep(cli, text, bytes, number);
    if (code || rt_lines_ready(&cli->lines)) return code;
    return cli_batch_end(cli);
}
