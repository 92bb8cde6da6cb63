/* rt_cli_batch.c: lines of standard input that an encoder alone reads at once, as many as fit and are there: nobody waits for a line
 * that has not come. Answers and messages keep their order. */
#include "rt_cli_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One line: its text, as an offset, and its number; ids stand one line's behind the other's. */
typedef struct Item { size_t at, bytes, number; int whole; } Item;

struct HostBatch {
    int *ids, *lengths, *firsts;    /* [max_source], then [room] */
    Item *items;  int count, room;
    int rows, place;                /* ids so far, and the same with each line's rounded up to 16 */
    char *texts;  size_t text_bytes, text_room;
    float *vectors;                 /* [room][vector_width], where there is one for a text */
};

int host_batch_open(Host *host)
{
    const rt_program *p = host->program;
    const size_t n = (size_t)p->max_source, room = (n + 15) / 16;
    if (p->labels && !(host->places = malloc((size_t)p->vector_width * sizeof *host->places))) return host_no_memory(host->program);
    if (p->max_target || !p->encode_batch) return 0;
    HostBatch *b = host->batch = calloc(1, sizeof *b);
    if (!b) return host_no_memory(host->program);
    b->room = (int)room;
    b->ids = malloc((n + 2 * room) * sizeof *b->ids);
    b->items = malloc(room * sizeof *b->items);
    b->vectors = malloc((p->vector ? room * (size_t)p->vector_width : 1) * sizeof *b->vectors);
    if (!b->ids || !b->items || !b->vectors) return host_no_memory(host->program);
    b->lengths = b->ids + n, b->firsts = b->lengths + room;
    return 0;
}

void host_batch_free(HostBatch *b)
{
    if (b) free(b->ids), free(b->items), free(b->vectors), free(b->texts);
    free(b);
}

/* The answer of one of them stands where that of a single text would. */
static void take(Host *host, const HostBatch *b, int t, int from)
{
    HostAnswer *a = &host->answer;
    memcpy(a->input, b->ids + from, (size_t)b->lengths[t] * sizeof *a->input);
    a->message[0] = '\0';
    a->input_count = b->lengths[t];
    a->first = b->firsts[t];
    a->whole = b->items[t].whole;
    host->from = from;
    host->pooled = b->vectors + (size_t)t * (size_t)host->program->vector_width;
}

int host_batch_end(Host *host)
{
    HostBatch *b = host->batch;
    const rt_program *p = host->program;
    int code = 0;
    if (!b || !b->count) return 0;
    host_weights_read(&host->weights);
    rt_status status = p->encode_batch(host->model, host->state, b->ids, b->lengths, p->encode_pair ? b->firsts : NULL, b->count, b->vectors);
    if (status != RT_OK) code = host_failed(host, status);
    for (int t = 0, from = 0; t < b->count; from += b->lengths[t++]) {
        const Item *i = &b->items[t];
        if (status == RT_OK) take(host, b, t, from);
        if (status == RT_OK && !p->vectors->good(host)) code = host_failed(host, status = RT_BAD_WEIGHTS);
        code = host_show(host, b->texts + i->at, i->bytes, (HostPlace){ "line", i->number }, code);
        if (code) break;
    }
    host->pooled = NULL, host->from = 0;
    b->count = b->rows = b->place = 0, b->text_bytes = 0;
    return code;
}

static int keep(Host *host, const char *text, size_t bytes, size_t number)
{
    HostBatch *b = host->batch;
    const HostAnswer *a = &host->answer;
    if (bytes + 1 > b->text_room - b->text_bytes) {
        char *more = realloc(b->texts, b->text_room = 2 * (b->text_room + bytes) + 4096);
        if (!more) return host_no_memory(host->program);
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

int host_batch_line(Host *host, const char *text, size_t bytes, size_t number)
{
    HostBatch *b = host->batch;
    HostAnswer *a = &host->answer;
    int code = 0;
    if (!host_read(host, text, bytes)) {
        char message[sizeof a->message];
        memcpy(message, a->message, sizeof message);
        code = host_batch_end(host);
        memcpy(a->message, message, sizeof message);
        return code ? code : host_show(host, text, bytes, (HostPlace){ "line", number }, 0);
    }
    if (b->place && a->input_count > host->program->max_source - b->place) {
        code = host_batch_end(host);
        if (!code && !host_read(host, text, bytes)) code = RT_EXIT_DEFECT;     /* it was read before */
    }
    if (!code) code = keep(host, text, bytes, number);
    if (code || rt_lines_ready(&host->lines)) return code;
    return host_batch_end(host);
}
