/* peer_ours.c: an emitted model as a worker, called as a program linked with libNAME.a would call
 * it.
 *
 * Compiled once for each model, with -DMODEL=name -DMODEL_UPPER=NAME -DMODEL_H='"name.h"',
 * -DSCORES=scores or -DSCORES=logits, and one of -DMODEL_DECODER, -DMODEL_ENCODER, -DMODEL_TEXTS
 * (an encoder-decoder with a character tokenizer).
 *
 *   weights=FILE threads=N work=decode|prefill|batch|encode|texts n=N batch=B texts=FILE width=N
 *   decode: n ids, one at a time, from an empty sequence; prefill: n ids, in calls of at most ROWS
 *   rows; batch: n greedy steps of `batch` sequences; encode: a sentence of n ids, `batch` times;
 *   texts: an answer for each line of FILE, `batch` at a time. width: of an encoder's hidden
 *   states. The packed file is opened as a program opens it. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "peer_worker.h"

#include MODEL_H
#include "rt_weights.h"

#define JOIN_(a, b) a##b
#define JOIN(a, b)  JOIN_(a, b)
#define CALL(name)  JOIN(MODEL, JOIN(_, name))
#define SIZE(name)  JOIN(MODEL_UPPER, _##name)

static CALL(state) state;
static MODEL model;
static int length, batch;

static int fine(rt_status s)
{
    if (s) fprintf(stderr, "worker: %s\n", rt_status_text(s));
    return s == RT_OK;
}

static void open_weights(void)
{
    RtWeights file;
    if (rt_weights_open(&file, argument("weights", ""))) give_up("the packed weights cannot be read");
    if (!fine(CALL(bind)(&model, file.data, file.bytes))) give_up("these are not this model's weights");
    if (!fine(CALL(threads)(&model, number("threads", 1)))) give_up("cannot use that many threads");
}

/* ---- encoder only ---------------------------------------------------------------------------- */

#ifdef MODEL_ENCODER
static int encode(void)
{
    int ids[SIZE(MAX_SOURCE)], good = length <= SIZE(MAX_SOURCE);
    for (int i = 0; i < length && good; i++) ids[i] = an_id(i, SIZE(SOURCE_VOCAB));
    for (int k = 0; k < batch && good; k++) good = fine(CALL(encode)(&model, &state, 0, ids, length));
    return good;
}

/* Write the hidden states: [length][width] floats. */
static int check_hidden(FILE *to)
{
    const size_t width = (size_t)number("width", 0);
    int good = encode();
    for (int i = 0; i < length && good; i++)
        good = fwrite(CALL(hidden)(&state) + i * SIZE(HIDDEN_STRIDE), sizeof(float), width, to) == width;
    return good;
}

static const PeerWork encode_work = { encode, check_hidden };
#endif

/* ---- a decoder ------------------------------------------------------------------------------- */

#ifdef MODEL_DECODER
/* Decode n rows, in calls of at most ROWS. The logits are those of the last call. */
static int rows(const rt_token *all, int n)
{
    for (int i = 0; i < n; i += SIZE(ROWS))
        if (!fine(CALL(decode)(&model, &state, all + i, n - i < SIZE(ROWS) ? n - i : SIZE(ROWS)))) return 0;
    return 1;
}

static int *greedy;                     /* [batch][length] */

static int decode(void)
{
    int good = fine(CALL(clear)(&state, 0));
    for (int i = 0; i < length && good; i++) good = fine(CALL(step)(&model, &state, an_id(i, SIZE(VOCAB))));
    return good;
}

static int prefill(void)
{
    static rt_token all[SIZE(MAX_TARGET)];
    for (int i = 0; i < length; i++) all[i] = (rt_token){ 0, i, an_id(i, SIZE(VOCAB)) };
    int good = fine(CALL(clear)(&state, 0));
    for (int i = 0, n; i < length - 1 && good; i += n) {
        n = length - 1 - i < SIZE(ROWS) ? length - 1 - i : SIZE(ROWS);
        good = fine(CALL(prefill)(&model, &state, all + i, n));
    }
    return good && rows(all + length - 1, 1);
}

static int decode_batch(void)
{
    rt_token next[SIZE(SLOTS)];
    int good = 1;
    for (int k = 0; k < batch; k++) {
        next[k] = (rt_token){ k, 0, an_id(k + 1, SIZE(VOCAB)) };
        good = good && fine(CALL(clear)(&state, k));
    }
    for (int i = 0; i < length && good; i++) {
        int ids[SIZE(SLOTS)];
        good = fine(CALL(decode_greedy)(&model, &state, next, batch, ids));
        for (int k = 0; k < batch && good; k++) {
            next[k].pos++;
            greedy[k * length + i] = next[k].id = ids[k];
        }
    }
    return good;
}

static int write_logits(FILE *to, int row)
{
    return fwrite(CALL(SCORES)(&state) + row * SIZE(LOGITS_STRIDE), sizeof(float), SIZE(VOCAB), to) == SIZE(VOCAB);
}

static int check_steps(FILE *to)
{
    int good = fine(CALL(clear)(&state, 0));
    for (int i = 0; i < CHECKED_IDS && good; i++)
        good = fine(CALL(step)(&model, &state, an_id(i, SIZE(VOCAB)))) && write_logits(to, 0);
    return good;
}

static int check_rows(FILE *to)
{
    rt_token all[CHECKED_IDS];
    for (int i = 0; i < CHECKED_IDS; i++) all[i] = (rt_token){ 0, i, an_id(i, SIZE(VOCAB)) };
    int good = fine(CALL(clear)(&state, 0)) && rows(all, CHECKED_IDS);
    for (int i = 0; i < CHECKED_IDS && good; i++) good = write_logits(to, i);
    return good;
}

/* Write the logits of the first ids, then the greedy ids as 32-bit integers. */
static int check_batch(FILE *to)
{
    const size_t n = (size_t)batch * (size_t)length;
    return check_rows(to) && decode_batch() && fwrite(greedy, sizeof *greedy, n, to) == n;
}

static const PeerWork decode_work = { decode, check_steps }, prefill_work = { prefill, check_rows }, batch_work = { decode_batch, check_batch };
#endif

/* ---- texts ----------------------------------------------------------------------------------- */

#ifdef MODEL_TEXTS
enum { MOST_TEXTS = 1024, MOST_TEXT = 256 };
static char texts[MOST_TEXTS][MOST_TEXT], answers[MOST_TEXTS][MOST_TEXT];
static int text_count;

static void read_texts(void)
{
    FILE *f = fopen(argument("texts", ""), "r");
    if (!f) give_up("the texts cannot be read");
    while (text_count < MOST_TEXTS && fgets(texts[text_count], MOST_TEXT, f)) {
        texts[text_count][strcspn(texts[text_count], "\n")] = 0;
        text_count++;
    }
    fclose(f);
}

static int read_source(int slot, const char *text)
{
    int ids[SIZE(MAX_SOURCE)], n;
    return fine(CALL(tokenize)(&model, &state, text, ids, SIZE(MAX_SOURCE), &n, NULL)) && fine(CALL(encode)(&model, &state, slot, ids, n));
}

/* Take one step of the n unfinished sequences, append to their answers, and drop those that end.
 * Returns how many are left, or -1 after an error. */
static int step_texts(rt_token *next, int *which, size_t *used, int n, int first)
{
    int left = 0, ids[SIZE(SLOTS)];
    if (!fine(CALL(decode_greedy)(&model, &state, next, n, ids))) return -1;
    for (int i = 0; i < n; i++) {
        const int id = ids[i], k = which[i];
        if (id == SIZE(END) || next[i].pos + 2 > SIZE(MAX_TARGET)) continue;
        size_t bytes;
        if (!fine(CALL(detokenize)(&model, &id, 1, answers[first + k] + used[k], MOST_TEXT - used[k], &bytes))) return -1;
        used[k] += bytes;
        next[left] = (rt_token){ next[i].slot, next[i].pos + 1, id };
        which[left++] = k;
    }
    return left;
}

/* Answer texts first .. first + n - 1 together; n is at most SLOTS. */
static int answer_together(int first, int n)
{
    rt_token next[SIZE(SLOTS)];
    int which[SIZE(SLOTS)], left = n;
    size_t used[SIZE(SLOTS)] = { 0 };
    for (int k = 0; k < n; k++) {
        if (!fine(CALL(clear)(&state, k)) || !read_source(k, texts[first + k])) return 0;
        next[k] = (rt_token){ k, 0, SIZE(START) };
        which[k] = k;
        answers[first + k][0] = 0;
    }
    while (left > 0) left = step_texts(next, which, used, left, first);
    return left == 0;
}

/* Append a text to the answer `user`, which has room for MOST_TEXT bytes, including its NUL; false
 * if the text does not fit. */
static bool add(void *user, const char *text, size_t n)
{
    char *answer = user;
    const size_t bytes = strlen(answer);
    if (n >= MOST_TEXT - bytes) return false;
    memcpy(answer + bytes, text, n + 1);
    return true;
}

static int answer_texts(void)
{
    int good = 1;
    for (int i = 0; i < text_count && good; i += batch) {
        const int n = text_count - i < batch ? text_count - i : batch;
        answers[i][0] = 0;
        good = n > 1 ? answer_together(i, n) : fine(CALL(generate)(&model, &state, texts[i], NULL, add, answers[i]));
    }
    return good;
}

static int check_texts(FILE *to)
{
    const int good = answer_texts();
    for (int i = 0; i < text_count && good; i++) fprintf(to, "%s\n", answers[i]);
    return good;
}

static const PeerWork texts_work = { answer_texts, check_texts };
#endif

int main(int argc, char **argv)
{
    (void)argc;
    peer_arguments = argv + 1;
    length = number("n", 128);
    batch = number("batch", 1);
    const char *work = argument("work", "");
    open_weights();
#ifdef MODEL_ENCODER
    if (length <= SIZE(MAX_SOURCE) && strcmp(work, "encode") == 0) return serve(&encode_work);
#endif
#ifdef MODEL_DECODER
    if (length > SIZE(MAX_TARGET) || batch > SIZE(SLOTS)) give_up("the model has no room for that n or batch");
    greedy = calloc((size_t)batch * (size_t)length, sizeof *greedy);
    if (strcmp(work, "decode") == 0) return serve(&decode_work);
    if (strcmp(work, "prefill") == 0) return serve(&prefill_work);
    if (strcmp(work, "batch") == 0) return serve(&batch_work);
#endif
#ifdef MODEL_TEXTS
    if (batch > SIZE(SLOTS)) give_up("the model has no room for that batch");
    read_texts();
    if (strcmp(work, "texts") == 0) return serve(&texts_work);
#endif
    give_up("this model cannot do that work");
}
