/* command_run_batch.c: the lines of command_run_batch.h. */
#include "command_run_batch.h"

#include <stdlib.h>
#include <string.h>

#include "diag.h"

void batch_open(Batch *b, Arena *a, Vectors *v)
{
    const size_t most = (size_t)vectors_most(v), rows = (size_t)vectors_rows(v);
    *b = (Batch){ .vectors = v, .ids = arena_array(a, rows, sizeof(int)), .lengths = arena_array(a, most, sizeof(int)),
                  .firsts = arena_array(a, most, sizeof(int)), .items = arena_array(a, most, sizeof(BatchItem)), .texts = text_new(a) };
    b->said = open_memstream(&b->words, &b->word_bytes);
    if (!b->said) die("no memory");
}

void batch_close(Batch *b)
{
    if (!b->said) return;
    fclose(b->said);
    free(b->words);
}

bool batch_fits(const Batch *b, int n) { return vectors_fit(b->vectors, b->place, n); }

const char *batch_words(Batch *b)
{
    fputc('\0', b->said);
    if (fflush(b->said) != 0) die("no memory");
    rewind(b->said);
    return b->words;
}

void batch_add(Batch *b, const int *ids, int n, int first, const char *text, size_t bytes, size_t number)
{
    const char *words = batch_words(b);
    const size_t at = b->texts.size;
    text_add_bytes(&b->texts, text, bytes);
    text_add(&b->texts, words);
    b->items[b->count] = (BatchItem){ at, bytes, at + bytes, b->texts.size - at - bytes, number };
    memcpy(b->ids + b->rows, ids, (size_t)n * sizeof *ids);
    b->lengths[b->count] = n;
    b->firsts[b->count++] = first;
    b->rows += n;
    b->place += (n + 15) / 16 * 16;
}

void batch_clear(Batch *b)
{
    b->count = b->rows = b->place = 0;
    b->texts.size = 0;
}
